/**
 * The Scores table and what it means in words.
 *
 * @import { Aggregates, Numbers, Scene } from "./types.js"
 * @import { Store } from "./store.js"
 */
import { el, put, say } from "./dom.js";
import { isLower, placesOf } from "./maths.js";

const METRICS = /** @type {const} */ (["fid", "kid"]);
const PARTS = /** @type {const} */ (["avg", "all"]);
const SUFFIX = ["th", "st", "nd", "rd"];

export class Board {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.signal = signal;
    const heads = METRICS.flatMap((metric) => PARTS.map((part) => `${metric.toUpperCase()} ${part}`));
    this.body = el("tbody");
    this.table = el("table", { class: "nbm-scores", "aria-label": "Scores" }, [
      el("thead", {}, [el("tr", {}, ["Generator", ...heads].map((head) => el("th", { scope: "col" }, [head])))]),
      this.body,
    ]);
    this.words = el("ul", { class: "nbm-words" });
    this.root = el("div", { class: "nbm-board" }, [
      el("div", { class: "nbm-scroll" }, [this.table]),
      this.words,
      el("p", { class: "nbm-note" }, [
        "avg: the mean of the clients’ own scores. all: one score against the pooled clients. Lower is better. " +
          "Coordinates are used as they are, so FID is the plain Fréchet distance here: no Inception network.",
      ]),
    ]);
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paint(scene, numbers) {
    put(this.table, { "data-rev": scene.rev });
    const names = scene.generators.map((g) => g.name);
    while (this.body.rows.length > names.length) this.body.deleteRow(-1);
    while (this.body.rows.length < names.length) this.body.append(this.makeRow(this.body.rows.length));
    const places = METRICS.map((metric) => PARTS.map((part) => placesOf(numbers[metric][part])));
    names.forEach((name, g) => this.paintRow(g, name, numbers, places));
    const lines = METRICS.flatMap((metric) => sentences(metric.toUpperCase(), numbers[metric], names));
    while (this.words.children.length > lines.length) this.words.lastElementChild?.remove();
    while (this.words.children.length < lines.length) this.words.append(el("li"));
    lines.forEach(({ text, differs }, i) => {
      say(this.words.children[i], text);
      this.words.children[i].classList.toggle("nbm-differs", differs);
    });
  }

  /** @param {number} index */
  makeRow(index) {
    const mark = el("span", { class: "nbm-swatch", "aria-hidden": "true" });
    const cells = METRICS.flatMap(() => PARTS.map(() => el("td", {}, [el("span"), " ", el("small")])));
    const row = el("tr", {}, [el("th", { scope: "row" }, [mark, el("span", { class: "nbm-label" })]), ...cells]);
    const { signal } = this;
    row.addEventListener("pointerenter", () => this.store.hover({ kind: "generators", index }), { signal });
    row.addEventListener("pointerleave", () => this.store.hover(null), { signal });
    row.addEventListener("click", () => this.store.select({ kind: "generators", index }), { signal });
    return row;
  }

  /** @param {number} g @param {string} name @param {Numbers} numbers @param {number[][][]} places */
  paintRow(g, name, numbers, places) {
    const row = this.body.rows[g];
    const { hovered, selected } = this.store;
    row.classList.toggle("nbm-hovered", hovered?.kind === "generators" && hovered.index === g);
    row.classList.toggle("nbm-selected", selected?.kind === "generators" && selected.index === g);
    say(/** @type {Element} */ (row.cells[0].lastElementChild), name);
    METRICS.forEach((metric, m) => {
      const [avg, all] = places[m].map((list) => list[g]);
      PARTS.forEach((part, p) => {
        const cell = row.cells[1 + 2 * m + p];
        const [value, place] = cell.children;
        const own = p === 0 ? avg : all;
        const single = places[m][0].length === 1;
        say(value, figure(numbers[metric][part][g]));
        say(place, single ? "" : avg === all ? ordinal(own) : `${ordinal(own)} ≠`);
        cell.classList.toggle("nbm-differs", avg !== all);
        put(cell, {
          "data-value": numbers[metric][part][g],
          title: single || avg === all ? "" : `${ordinal(avg)} by avg, ${ordinal(all)} by all`,
        });
      });
    });
  }
}

/** A score as read: three decimals, or four significant digits when large. @param {number} value */
export function figure(value) {
  const size = Math.abs(value);
  if (size >= 1e6) return value.toExponential(3);
  const text = value.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
  return Number(text) === 0 ? text.replace("-", "") : text;
}

/** @param {number} place */
function ordinal(place) {
  const tens = place % 100;
  return `${place}${(tens > 10 && tens < 14 ? "" : SUFFIX[place % 10]) || "th"}`;
}

/**
 * Where avg and all order the generators differently, and how the gap behaves.
 * @param {string} label @param {Aggregates} numbers @param {string[]} names
 * @returns {{text: string, differs: boolean}[]}
 */
export function sentences(label, { avg, all }, names) {
  const gaps = avg.map((value, g) => value - all[g]);
  if (names.length === 1) return [{ text: `${label}: avg − all is ${figure(gaps[0])}.`, differs: false }];
  const pairs = [];
  for (let a = 0; a < names.length; a++) {
    for (let b = 0; b < names.length; b++) {
      if (isLower(avg[a], avg[b]) && isLower(all[b], all[a])) pairs.push([a, b]);
    }
  }
  const [low, high] = [figure(Math.min(...gaps)), figure(Math.max(...gaps))];
  const gap = low === high ? `avg − all is ${low} for every generator` : `avg − all runs from ${low} to ${high}`;
  if (pairs.length === 0) return [{ text: `${label}: avg and all rank alike; ${gap}.`, differs: false }];
  pairs.sort(([a, b], [c, d]) => avg[d] - avg[c] - (avg[b] - avg[a]));
  const [a, b] = pairs[0];
  const more = pairs.length > 1 ? ` (and ${pairs.length - 1} more ${pairs.length > 2 ? "pairs" : "pair"})` : "";
  const text = `${label} disagrees with itself: avg ranks ${names[a]} above ${names[b]}, all ranks ${names[b]} above ${names[a]}${more}; ${gap}.`;
  return [{ text, differs: true }];
}
