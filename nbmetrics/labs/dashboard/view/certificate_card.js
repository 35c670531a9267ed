/**
 * How firmly the winner by avg sits: in what share of weightings it is first, and the least change that dethrones it.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Decided } from "./decision_inputs.js"
 * @import { Numbers, Scene } from "./types.js"
 */
import { el, setText } from "../../toolkit/view/dom.js";
import { read } from "../../toolkit/view/json_numbers.js";
import { certificateSentence, leastReweighting } from "./certificate.js";
import { inWords, sharesOf } from "./metric_view.js";
import { listed, percent } from "./verdict.js";

const HEAD = "How firm is the winner by avg?";
// Of the weight, so that the rival is ahead and not level.
const EXTRA_WEIGHT_SHARE = 1e-3;

export class CertificateCard {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.share = el("p");
    this.least = el("p");
    this.button = el("button", { type: "button", "data-lock": "drag" }, ["Try these weights"]);
    this.note = el("p", { class: "nbm-note" });
    this.root = card(HEAD, [this.share, this.least, this.button, this.note]);
    this.button.addEventListener("click", () => this.try(), { signal });
  }

  /** @param {Scene} scene @param {Numbers} numbers @param {Decided} decided */
  paint(scene, { clients, answer }, decided) {
    const { winner, counted, centres, weights } = decided;
    this.root.hidden = scene.generators.length < 2;
    if (this.root.hidden) return;
    const names = counted.map((i) => inWords(clients[i].name));
    const generators = scene.generators.map(inWords);
    this.change = winner < 0 ? null : leastReweighting(centres, weights);
    this.decided = decided;
    setText(this.share, shareWords(scene, winner, answer));
    setText(this.least, winner < 0 ? "Not known yet." : certificateSentence(this.change, generators, names));
    this.button.hidden = !this.change?.sources.length;
    setText(this.note, noteOf(clients.length - counted.length, generators, centres));
  }

  /** Show the weights at which the rival is just ahead. */
  try() {
    const { change, decided } = this;
    const scene = /** @type {Scene} */ (/** @type {any} */ (this.store.scene));
    if (!decided || !change || change.target === null) return;
    const weights = sharesOf(scene.weights);
    const part = decided.counted.reduce((sum, i) => sum + weights[i], 0);
    const to = decided.counted[change.target];
    const beyond = 1 + EXTRA_WEIGHT_SHARE / Math.max(change.moved, EXTRA_WEIGHT_SHARE);
    for (const [i, share] of change.sources) {
      const moved = Math.min(weights[decided.counted[i]], share * part * beyond);
      weights[decided.counted[i]] -= moved;
      weights[to] += moved;
    }
    this.store.edit(/** @type {any} */ ({ ...scene, weights }));
  }
}

/** What it is without. @param {number} few @param {string[]} names @param {Float64Array[]} centres */
function noteOf(few, names, centres) {
  const odd = names.map((_, g) => g).filter((g) => !centres[g].every(Number.isFinite));
  const clients = few ? `Without ${few === 1 ? "the client" : `the ${few} clients`} with too few rows.` : "";
  const scores = odd.length ? `Without ${listed(names, odd)}, not of finite score with every client.` : "";
  return [clients, scores].filter(Boolean).join(" ");
}

/** @param {string} head @param {Node[]} content */
export function card(head, content) {
  const heading = el("span", { class: "nbm-card-head", role: "heading", "aria-level": "3" }, [head]);
  return el("section", { class: "nbm-dashboard-card nbm-decision", "aria-label": head }, [heading, ...content]);
}

/** @param {Scene} scene @param {number} winner @param {any} answer */
function shareWords({ metric, generators }, winner, answer) {
  const won = answer.won?.[metric];
  if (winner < 0 || !won || Object.keys(won).length !== generators.length) return "";
  const name = generators[winner];
  const [share, error] = (won[name] ?? [NaN, NaN]).map(read);
  if (!(share >= 0)) return "";
  const sure = error > 0 ? ` (± ${percent(error)})` : "";
  return `By the numbers as they stand (chance not counted), ${inWords(name)} is first in ${percent(share)}${sure} of weightings drawn at random.`;
}
