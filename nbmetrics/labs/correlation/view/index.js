/**
 * The CorrelationLab: a headline, a question, the map of correlations, the scores, the clouds, the angles and the scale of
 * x.
 *
 * @import { Pair } from "./maths.js"
 * @import { Store } from "../../toolkit/view/store.js"
 */

import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { lab } from "../../toolkit/view/lab.js";
import { numeral, tickText } from "../../toolkit/view/numbers.js";
import { codeOf, declare } from "../../toolkit/view/schema.js";
import { agreement, Toolbar } from "../../toolkit/view/toolbar.js";
import declaration from "../scene.json" with { type: "json" };
import { AnglePicture } from "./angle.js";
import { PairFields, ScoreBoard, ScoreSwitch } from "./board.js";
import { PairClouds } from "./clouds.js";
import { CorrelationMap } from "./map.js";
import { SCORES, scoresOf, withParts } from "./maths.js";
import { QuestionCard, veiledIn } from "./questions.js";
import { ScaleChart } from "./scale.js";
import { PairTables } from "./tables.js";

/** @param {Pair} scene @param {boolean} isVeiled whether the scores are not to be told yet */
export function headlineWords(scene, isVeiled) {
  const { rho, rho_hat } = scene;
  if (rho === rho_hat) return "The generator pairs ŷ with x as the data do: no score sees a difference.";
  const how = `The generator ${pairingWords(rho, rho_hat)}`;
  if (isVeiled) return `${how}.`;
  const { rfid, cfid } = scoresOf(scene);
  return `${how}: MFID sees nothing, RFID ${numeral(rfid)}, CFID ${numeral(cfid)}.`;
}

/** @param {number} rho @param {number} rhoHat another one */
function pairingWords(rho, rhoHat) {
  if (rhoHat === 0) return "ignores x";
  if (rho === 0) return "follows x; the data do not";
  if (rho * rhoHat < 0) return "pairs ŷ with x the wrong way round";
  return Math.abs(rhoHat) < Math.abs(rho) ? "follows x too loosely" : "follows x too closely";
}

const declared = declare(declaration);

export default lab("CorrelationLab", scoresOf, correlationView, { declared });

/** @param {Store} store @param {AbortSignal} signal */
function correlationView(store, signal) {
  const pairNow = () => /** @type {Pair} */ (/** @type {any} */ (store.scene));
  const question = new QuestionCard(store, signal);
  const map = new CorrelationMap(store, signal);
  const choice = new ScoreSwitch(store, signal);
  const fields = new PairFields(store, signal);
  const board = new ScoreBoard(store, signal);
  const clouds = new PairClouds(store, signal);
  const angle = new AnglePicture(store, signal);
  const scale = new ScaleChart(store, signal);
  const tables = new PairTables(signal);
  const toolbar = new PairToolbar(store, signal, {
    code: (scene) => codeOf(declared, scene),
    table: (shown) => {
      tables.show(shown);
      store.changed();
    },
    picture: () => ({ drawing: map.sheet.root, words: [pairWords(pairNow())], table: board.root }),
    isSecret: () => veiledIn(pairNow()) !== "",
    compared: ({ scores }) =>
      agreement(SCORES.map((score) => [scores[score], /** @type {any} */ (store.numbers)[score]])),
  });
  const headline = el("p", { class: "nbm-pair-headline", role: "heading", "aria-level": "2" });
  const body = el("div", { class: "nbm-pair" }, [
    question.root,
    el("div", { class: "nbm-pair-place" }, [
      map.sheet.root,
      el("details", { class: "nbm-fold nbm-pair-details" }, [
        el("summary", {}, ["Details"]),
        choice.root,
        fields.root,
        cloudNote(),
        angle.root,
      ]),
    ]),
    el("div", { class: "nbm-pair-side" }, [cloudCard(clouds), board.root, scale.root]),
    tables.root,
  ]);
  const paint = () => {
    const scene = pairNow();
    const veiled = veiledIn(scene);
    setText(headline, headlineWords(scene, veiled === "scores"));
    for (const part of [question, choice, clouds, angle, scale]) part.paint(scene);
    map.paint(scene, veiled === "scores");
    tables.paint(scene, veiled !== "");
    fields.paint();
    board.paint(scene, /** @type {any} */ (store.numbers));
    veil(body, veiled);
    setAttributes(body, { "data-step": scene.question.step });
    toolbar.paint(scene);
  };
  return { nodes: [headline, toolbar.root, body, toolbar.status, toolbar.fold, toolbar.codeFold], paint };
}

/** @param {Pair} pair */
function pairWords({ rho, rho_hat, scale }) {
  return `Correlation of x and y ${numeral(rho)}, of x and the generated ŷ ${numeral(rho_hat)}; scale of x ${tickText(scale)}.`;
}

/** A preset, and Reset, are about the pair: the question stays as it stands. */
class PairToolbar extends Toolbar {
  /** @param {string} name */
  presetOf(name) {
    const start = super.presetOf(name);
    const { scene } = this.store;
    return start && withParts(scene, { ...start, question: /** @type {any} */ (scene).question });
  }
}

/**
 * Hide what would give the answer away, from the eye and from screen readers; drawings are hidden from those anyway.
 * @param {HTMLElement} body @param {"" | "scores" | "curves"} what
 */
function veil(body, what) {
  if (body.dataset.veiled === what) return;
  body.dataset.veiled = what;
  for (const node of body.querySelectorAll(".nbm-pair-secret")) {
    const isInsight = node.closest(".nbm-pair-sees, .nbm-pair-scale-chart") !== null;
    const isVeiled = what === "scores" || (what === "curves" && isInsight);
    node.classList.toggle("nbm-pair-veiled", isVeiled);
    if (node instanceof HTMLElement) setAttributes(node, { "aria-hidden": String(isVeiled) });
  }
}

/** @param {PairClouds} clouds */
function cloudCard(clouds) {
  return el("section", { class: "nbm-pair-card", "aria-label": "Clouds" }, [clouds.sheet.root]);
}

function cloudNote() {
  return el("p", { class: "nbm-note" }, [
    "Both clouds use the same x and the same noise; a, b and c mark the same inputs. Between them: the distributions of y and ŷ",
    el("span", { class: "nbm-pair-secret" }, [", all that MFID compares"]),
    ". Ellipses: 1σ.",
  ]);
}
