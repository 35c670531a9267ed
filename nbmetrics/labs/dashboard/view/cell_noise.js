/**
 * The draws of the scores' noise, and whether two scores with a client differ by more than chance. No DOM.
 *
 * @import { PackedDraws } from "./types.js"
 *
 * @typedef {{draws: Int8Array, scale: Float64Array}} Drawn  B × k draws, each client's in units of its scale
 */
import { once, readRow } from "../../toolkit/view/json_numbers.js";
import { bytesOf } from "../../toolkit/view/kid_gap.js";

// Of a difference beside its standard error: 95 %, cell by cell.
const CHANCE_ERRORS = 1.96;

/** @param {number} regret of the one beside the other @param {PackedDraws} one @param {PackedDraws} other @param {number} i the client's place */
export function isNoMoreThanChance(regret, one, other, i) {
  if (!(regret > 0) || one === other) return false;
  return regret <= CHANCE_ERRORS * errorOf(drawsOf(one), drawsOf(other), i);
}

/** Made once: a board comes with every score, and its draws hardly ever. @param {PackedDraws} packed @returns {Drawn} */
export function drawsOf(packed) {
  return once(packed, () => ({ draws: new Int8Array(bytesOf(packed.int8).buffer), scale: readRow(packed.scale) }));
}

/** The standard deviation of the difference of two scores with a client, whose rows they share. @param {Drawn} a @param {Drawn} b @param {number} i */
function errorOf(a, b, i) {
  const k = a.scale.length;
  let [sum, squares, count] = [0, 0, 0];
  for (let at = i; at < a.draws.length; at += k, count++) {
    const apart = a.scale[i] * a.draws[at] - b.scale[i] * b.draws[at];
    sum += apart;
    squares += apart * apart;
  }
  return Math.sqrt(Math.max(0, squares - (sum * sum) / count) / (count - 1));
}
