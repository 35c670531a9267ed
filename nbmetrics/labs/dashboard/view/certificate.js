/**
 * Twin: labs/dashboard/certificate.py · held by: tests/labs/dashboard/test_certificate_page.py
 *
 * Who wins along one client's weight, and the least change of the weights that dethrones the winner by avg. No DOM.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Decided } from "./decision_inputs.js"
 * @import { Numbers, Scene } from "./types.js"
 */
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { isTie, lowest, orderOf } from "../../toolkit/view/ties.js";
import { inWords, sharesOf } from "./metric_view.js";
import { average } from "./place_ranges.js";
import { listed, percent } from "./verdict.js";

/**
 * @typedef {{winner: number, rival: number, moved: number, sources: [number, number][], target: number | null}} Reweighting
 *   as in Python: which generators, the share of the weight that moves, (client, share) pairs that give it, and who gets it
 */

/** The weights with λ_i = value: the others in proportion, or alike where they have none; those held stay. @param {ArrayLike<number>} weights @param {number} i @param {number} value @param {number[]} [held] */
export function withWeight(weights, i, value, held = []) {
  const free = Array.from(weights, (_, j) => j).filter((j) => j !== i && !held.includes(j));
  const moved = Array.from(weights);
  const rest = free.reduce((sum, j) => sum + moved[j], 0);
  const left = 1 - value - moved.reduce((sum, weight, j) => (j === i || free.includes(j) ? sum : sum + weight), 0);
  for (const j of free) moved[j] = rest > 0 ? moved[j] * (left / rest) : left / free.length;
  moved[i] = value;
  return moved;
}

/** Who wins by avg where λ_i runs from 0 to all that is not held: [from, to, generator], without gaps. @param {ArrayLike<number>[]} centres @param {ArrayLike<number>} weights @param {number} i @param {number[]} [held] @returns {[number, number, number][]} */
export function breakpoints(centres, weights, i, held = []) {
  const others = [...new Set(held)].filter((j) => j !== i);
  const top = 1 - others.reduce((sum, j) => sum + weights[j], 0);
  const [start, end] = [0, top].map((t) => average(centres, withWeight(weights, i, t, held)));
  const rivals = centres.map((_, g) => g).filter((g) => Number.isFinite(start[g]) && Number.isFinite(end[g]));
  if (!rivals.length) return [];
  const scale = scaleOf(centres);
  if (weights.length - others.length < 2) return [[0, top, lowestOf(rivals, end, scale)]];
  const least = Math.min(...rivals.map((g) => start[g]));
  let winner = lowestOf(
    rivals.filter((g) => isTie(start[g], least, scale)),
    end,
    scale,
  );
  /** @type {[number, number, number][]} */
  const stretches = [];
  let at = 0;
  while (at < 1) {
    const [to, after] = nextWinner(start, end, winner, at, rivals, scale);
    if (!isTie(to, at, 1)) stretches.push([at * top, to * top, winner]);
    [winner, at] = [after, to];
  }
  return stretches;
}

/** Where the winner is overtaken, from `at` on, and by whom: of those that tie there, the one that ends lowest. @param {number[]} start @param {number[]} end @param {number} winner @param {number} at @param {number[]} rivals @param {number} scale */
function nextWinner(start, end, winner, at, rivals, scale) {
  let [to, after] = [1, winner];
  for (const g of rivals) {
    const [ahead, behind] = [start[g] - start[winner], end[g] - end[winner]];
    if (g === winner || isTie(behind, 0, scale) || !(behind < Math.min(ahead, 0))) continue;
    const crossing = Math.max(at, ahead / (ahead - behind));
    if (isTie(crossing, to, 1)) {
      if (to < 1 && end[g] < end[after] && !isTie(end[g], end[after], scale)) after = g;
    } else if (crossing < to) [to, after] = [crossing, g];
  }
  return [to, after];
}

/** The largest score of a client: no average under any weights has larger terms. @param {ArrayLike<number>[]} centres */
function scaleOf(centres) {
  let scale = 0;
  for (const own of centres)
    for (let i = 0; i < own.length; i++) if (Number.isFinite(own[i])) scale = Math.max(scale, Math.abs(own[i]));
  return scale;
}

/** @param {number[]} among @param {number[]} scores @param {number} scale */
function lowestOf(among, scores, scale) {
  return among[
    lowest(
      among.map((g) => scores[g]),
      among.map(() => scale),
    )
  ];
}

/** The least total variation of the weights that dethrones the winner; null where no weighting does. @param {ArrayLike<number>[]} centres @param {ArrayLike<number>} weights @returns {Reweighting | null} */
export function leastReweighting(centres, weights) {
  const scores = average(centres, weights);
  const placed = scores.map((_, g) => g).filter((g) => !Number.isNaN(scores[g]));
  if (!placed.length) return null;
  const scale = scaleOf(centres);
  const winner = lowestOf(placed, scores, scale);
  /** @type {Reweighting | null} */
  let least = null;
  let most = Infinity;
  for (const g of placed) {
    const change = g === winner ? null : leastReweightingTo(centres, weights, winner, g, most, scale);
    if (change && (!least || (change.moved < most && !isTie(change.moved, most, 1))))
      [least, most] = [change, change.moved];
  }
  return least;
}

/** Null, too, where it surely takes as much as `most`, which spares a drag the order of the clients. @param {ArrayLike<number>[]} centres @param {ArrayLike<number>} weights @param {number} winner @param {number} rival @param {number} most @param {number} scale @returns {Reweighting | null} */
function leastReweightingTo(centres, weights, winner, rival, most, scale) {
  const behind = Array.from(weights, (_, i) => centres[rival][i] - centres[winner][i]);
  const to = lowest(behind, Array(behind.length).fill(scale));
  if (!behind.every(Number.isFinite) || (behind[to] > 0 && !isTie(behind[to], 0, scale))) return null;
  let missing = behind.reduce((sum, value, i) => sum + value * weights[i], 0);
  const steepest = behind.reduce((best, value) => Math.max(best, value), -Infinity) - behind[to];
  if (missing > 0 && missing / steepest >= most) return null;
  /** @type {[number, number][]} */
  const sources = [];
  for (const i of orderOf(
    behind.map((value) => -value),
    scale,
  )) {
    const gain = behind[i] - behind[to];
    if (missing <= 0 || isTie(missing, 0, scale) || isTie(gain, 0, scale)) break;
    const share = Math.min(weights[i], missing / gain);
    missing -= share * gain;
    if (share > 0) sources.push([i, share]);
  }
  const moved = sources.reduce((sum, [, share]) => sum + share, 0);
  const largestFirst = orderOf(
    sources.map(([, share]) => -share),
    1,
  ).map((place) => sources[place]);
  return { winner, rival, moved, sources: largestFirst, target: sources.length ? to : null };
}

/** What it takes to dethrone the winner. @param {Reweighting | null} change @param {string[]} generators @param {string[]} clients */
export function certificateSentence(change, generators, clients) {
  if (!change) return "No change of the weights makes another generator win.";
  const [winner, rival] = [generators[change.winner], generators[change.rival]];
  if (change.target === null) return `${rival} is already level with ${winner}.`;
  const from = listed(
    clients,
    change.sources.map(([i]) => i),
  );
  const way = `from ${from} to ${clients[change.target]}`;
  return `Move ${percent(change.moved)} of the weight ${way}, and ${rival} overtakes ${winner}.`;
}

/* How firmly the winner by avg sits: the least change of the weights that dethrones it. */

const headOf = (/** @type {string} */ average) => `How stable is the winner by ${average}?`;
// Of the weight, so that the rival is ahead and not level.
const EXTRA_WEIGHT_SHARE = 1e-3;

export class CertificateCard {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.least = el("p");
    this.button = el("button", { type: "button", "data-lock": "drag" }, ["Try these weights"]);
    this.note = el("p", { class: "nbm-note" });
    const way = el("div", { class: "nbm-decision-way" }, [this.least, this.button]);
    this.root = card(headOf("avg"), [way, this.note]);
    this.button.addEventListener("click", () => this.try(), { signal });
  }

  /** @param {Scene} scene @param {Numbers} numbers @param {Decided} decided */
  paint(scene, { clients, progress }, decided) {
    const { winner, counted, centres, weights, average } = decided;
    nameCard(this.root, headOf(average));
    this.root.hidden = scene.generators.length < 2;
    if (this.root.hidden) return;
    const names = counted.map((i) => inWords(clients[i].name));
    const generators = scene.generators.map(inWords);
    this.change = winner < 0 ? null : leastReweighting(centres, weights);
    this.decided = decided;
    setText(this.least, winner < 0 ? "Not known yet." : certificateSentence(this.change, generators, names));
    this.button.style.visibility = this.change?.sources.length ? "" : "hidden"; // its room is kept
    const isFilled = progress.done === progress.total; // what is still to come is not odd
    setText(this.note, isFilled ? noteOf(clients.length - counted.length, generators, centres) : "");
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
  const scores = odd.length ? `Without ${listed(names, odd)}: some scores are not finite.` : "";
  return [clients, scores].filter(Boolean).join(" ");
}

/** Call a card by another name. @param {Element} root @param {string} head */
export function nameCard(root, head) {
  setAttributes(root, { "aria-label": head });
  setText(root.children[0], head);
}

/** @param {string} head @param {Node[]} content */
export function card(head, content) {
  const heading = el("span", { class: "nbm-card-head", role: "heading", "aria-level": "3" }, [head]);
  return el("section", { class: "nbm-dashboard-card nbm-decision", "aria-label": head }, [heading, ...content]);
}
