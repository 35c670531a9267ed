/**
 * What is seen now, in one sentence: how the generator pairs ŷ with x, and which score sees it. No DOM.
 *
 * @import { Pair } from "./maths.js"
 */

import { numeral } from "../../toolkit/view/numbers.js";
import { scoresOf } from "./maths.js";

/** @param {Pair} scene @param {boolean} isVeiled whether the scores are not to be told yet */
export function headlineWords(scene, isVeiled) {
  const { rho, rho_hat } = scene;
  if (rho === rho_hat) return "The generator pairs ŷ with x as the data do: no score has anything to see.";
  const how = `The generator ${pairingWords(rho, rho_hat)}`;
  if (isVeiled) return `${how}.`;
  const { rfid, cfid } = scoresOf(scene);
  return `${how}: MFID sees nothing, RFID ${numeral(rfid)}, CFID ${numeral(cfid)}.`;
}

/** @param {number} rho @param {number} rhoHat another one */
function pairingWords(rho, rhoHat) {
  if (rhoHat === 0) return "takes no notice of x";
  if (rho === 0) return "follows x, and the data do not";
  if (rho * rhoHat < 0) return "pairs ŷ with x the wrong way round";
  return Math.abs(rhoHat) < Math.abs(rho) ? "follows x too loosely" : "follows x too closely";
}
