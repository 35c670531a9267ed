/**
 * Twin: labs/playground/headline.py · held by: tests/labs/playground/test_headline_page.py
 *
 * The top of the lab: in one line which generator avg calls best, and which all; the metric; and what avg and all are,
 * each a switch that shows in the plane where its number comes from.
 *
 * @import { Aggregates, Scene } from "../../toolkit/view/types.js"
 * @import { Part, PlaygroundStore } from "./store.js"
 */
import { hasOwners } from "../../plane/view/edits.js";
import { placesOf } from "../../plane/view/scores.js";
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { markOf, setHue } from "../../toolkit/view/marks.js";
import { shortened } from "../../toolkit/view/name_width.js";
import { figure } from "../../toolkit/view/numbers.js";
import { CHARTED, drawnOf, editView } from "./metrics.js";

/** @typedef {(string | number)[]} Pieces words, and generators by index */

/**
 * @param {string} label @param {Aggregates} numbers @param {{higher: boolean, isKernel: boolean}} metric
 * @param {Partial<Record<Part, number[][]>>} [margins] of drawn points: scores of a pair that lie closer tie @returns {Pieces}
 */
export function headlineOf(label, { avg, all, intra, terms }, { higher, isKernel }, margins = {}) {
  if (avg.length === 1) {
    const own = intra ? ` Intra: ${figure(intra[0])}.` : "";
    return [`${label} averaged: ${figure(avg[0])}. Pooled: ${figure(all[0])}.${own}`];
  }
  const places = [placesOf(avg, higher, terms, margins.avg), placesOf(all, higher, terms, margins.all)];
  const [byAvg, byAll] = places.map(bestOf);
  const byIntra = intra ? bestOf(placesOf(intra, higher, terms, margins.intra)) : byAll;
  const own = byIntra.join() === byAll.join() ? [] : [" Best by intra: ", ...namesOf(byIntra), "."];
  if (byAvg.join() !== byAll.join()) {
    return ["Best on average: ", ...namesOf(byAvg), ". Best pooled: ", ...namesOf(byAll), ".", ...own];
  }
  const lead = isKernel ? `${label} averaged and pooled always agree: ` : "Best on average and pooled: ";
  const isSame = byAvg.length > 1 || places[0].join() === places[1].join();
  return [lead, ...namesOf(byAvg), isSame ? "." : ". The others change places.", ...own];
}

/**
 * The same beside what it rests on: few points, or scores that come with cautions, which stand under the table.
 * @param {Pieces} pieces @param {string} label @param {number} samples of each item, 0: exact distributions @param {string[]} cautions @returns {Pieces}
 */
export function withCautions(pieces, label, samples, cautions) {
  const isCautioned = cautions.some((line) => line.startsWith(`${label}:`) || line.startsWith(`${label} `));
  const first = samples ? [`From ${samples.toLocaleString("en")} points each: `] : [];
  return [...first, ...pieces, ...(isCautioned ? [" See the cautions."] : [])];
}

/** Who is first, several where they share the place. @param {number[]} places */
export function bestOf(places) {
  return places.flatMap((place, g) => (place === 1 ? [g] : []));
}

/** @param {number[]} best @returns {Pieces} */
function namesOf(best) {
  if (best.length === 1) return [best[0]];
  return best.length === 2 ? [best[0], " and ", best[1], " (tied)"] : [`${best.length} tied`];
}

/** @type {Record<Part, string>} */
const MEANINGS = {
  intra: "each client’s own ellipse alone, averaged",
  avg: "the mean of the clients’ own scores",
  all: "one score against the pooled clients",
};
const PARTS = /** @type {Part[]} */ (Object.keys(MEANINGS));
// Pixels of the headline that a name may take, of its letters, and of the lab where it is short.
const NAME_SHARE = 0.34;
const LETTER = { wide: 21, narrow: 17 };
const NARROW_PIXELS = 660;

export class Headline {
  /** @param {PlaygroundStore} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.signal = signal;
    this.shown = "";
    this.parts = PARTS.map((part) => this.makePart(part));
    this.best = el("button", { type: "button", class: "nbm-chip" }, ["Show the best possible"]);
    this.best.addEventListener("click", () => this.toggleBest(), { signal });
    const options = Object.entries(CHARTED).map(([value, { label }]) => el("option", { value }, [label]));
    this.metric = el("select", { "aria-label": "Metric" }, options);
    this.metric.addEventListener("change", () => editView(store, { metric: this.metric.value }), { signal });
    this.words = el("div", { class: "nbm-headline", role: "heading", "aria-level": "3" });
    this.root = el("div", { class: "nbm-head" }, [this.words, this.metric]);
    this.switches = el("div", { class: "nbm-meanings" }, [...this.parts, this.best]);
  }

  /** What an aggregate is; pointing at it, or pressing it, shows its parts in the plane. @param {Part} part */
  makePart(part) {
    const { store, signal } = this;
    const node = el("button", { type: "button", class: `nbm-chip nbm-of-${part}`, "aria-pressed": "false" }, [
      el("b", {}, [part]),
      el("span", {}, [MEANINGS[part]]),
    ]);
    node.addEventListener("click", () => store.pin(part), { signal });
    for (const event of ["pointerenter", "focus"]) node.addEventListener(event, () => store.point(part), { signal });
    for (const event of ["pointerleave", "blur"]) node.addEventListener(event, () => store.point(null), { signal });
    return node;
  }

  toggleBest() {
    this.store.showsBest = !this.store.showsBest;
    this.store.changed();
  }

  /** @param {Scene} scene @param {number} width of the lab */
  paint(scene, width) {
    const { pinned, showsBest } = this.store;
    const charted = drawnOf(this.store);
    if (this.metric.value !== charted.metric) this.metric.value = charted.metric;
    PARTS.forEach((part, i) => setAttributes(this.parts[i], { "aria-pressed": String(pinned === part) }));
    this.parts[PARTS.indexOf("intra")].hidden = !hasOwners(scene);
    setAttributes(this.best, { "aria-pressed": String(showsBest) });
    this.best.hidden = charted.metric !== "fid" || Boolean(scene.plane) || this.store.isAsked;
    for (const option of this.metric.options) {
      const { plane_only, weighs } = CHARTED[option.value];
      option.hidden = Boolean((scene.plane && plane_only) || (hasOwners(scene) && !weighs));
    }
    this.words.hidden = this.store.isAsked; // its question comes first
    this.words.classList.toggle("nbm-behind", !charted.isCurrent);
    this.paintWords(scene, charted, width);
  }

  /** @param {Scene} scene @param {ReturnType<typeof drawnOf>} charted @param {number} width */
  paintWords({ generators, samples = 0, plane }, { metric, label, numbers, higher }, width) {
    if (!numbers) return this.say([this.absence(label)], [], width);
    const { kernel = false } = CHARTED[metric];
    const names = generators.map(({ name }) => name);
    const { cautions = [], margins = {} } = this.store.model.get("result");
    const own = margins.samples === samples ? margins[metric] : {};
    const words = headlineOf(label, numbers, { higher, isKernel: kernel }, own);
    this.say(withCautions(words, label, samples, plane ? cautions : []), names, width);
  }

  /** Why there are no numbers. @param {string} label */
  absence(label) {
    const { saved, lost } = this.store;
    if (saved) return `${label} needs Python: open the lab in a notebook.`;
    return lost ? `${label} needs Python.` : `No ${label} yet: Python computes it.`;
  }

  /** @param {(string | number)[]} pieces @param {string[]} names @param {number} width */
  say(pieces, names, width) {
    const letter = width < NARROW_PIXELS ? LETTER.narrow : LETTER.wide;
    const short = names.map((name) => shortened(name, NAME_SHARE * width, letter));
    const key = pieces.map((piece) => (typeof piece === "number" ? `${piece} ${short[piece]}` : piece)).join("|");
    if (key === this.shown) return;
    this.shown = key;
    const nodes = pieces.map((piece) => {
      if (typeof piece === "string") return piece;
      const node = el("b", { class: "nbm-who" }, [markOf(piece), short[piece]]);
      setHue(node, piece);
      return node;
    });
    if (this.words.textContent !== "" && nodes.length === 1) setText(this.words, pieces.join(""));
    else this.words.replaceChildren(...nodes);
  }
}
