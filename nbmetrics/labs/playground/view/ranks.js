/**
 * The scores of all generators by avg and by all, best on top, joined by lines: where lines cross, the two disagree.
 *
 * @import { Aggregates, Scene } from "../../toolkit/view/types.js"
 * @import { PlaygroundStore } from "./store.js"
 */

import { placesOf } from "../../plane/view/scores.js";
import { NumberTable, Plot, resizeChildren } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText, svg, watchSize } from "../../toolkit/view/dom.js";
import { setHue, shapeOfMark } from "../../toolkit/view/marks.js";
import { nameWidth, shortened } from "../../toolkit/view/name_width.js";
import { figure, ordinal } from "../../toolkit/view/numbers.js";
import { drawnOf } from "./metrics.js";

const ROW = { few: 40, many: 22 };
const MAX_GENERATORS_ROOMY = 4;
const TOP_ROOM = 24;
// What stays for the lines; of a side, for the mark and the number; and the most that a side takes.
const LINES_ROOM = 30;
const NUMBER_ROOM = 64;
const [MIN_SIDE_PIXELS, MAX_SIDE_PIXELS] = [110, 190];
// A name is bold where its line is chosen.
const NAME_MARGIN = 1.15;

export class Ribbon {
  /** @param {PlaygroundStore} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.signal = signal;
    this.isFull = false;
    this.width = 400;
    this.plot = new Plot({ left: MAX_SIDE_PIXELS, right: MAX_SIDE_PIXELS, top: 4, bottom: 4 }, { role: "img" });
    this.lines = svg("g");
    this.heads = svg("g", { "aria-hidden": "true" }, [
      svg("text", { class: "nbm-of-avg", y: 15, "text-anchor": "end" }),
      svg("text", { class: "nbm-of-all", y: 15 }),
    ]);
    this.plot.root.append(this.heads, this.lines);
    this.numbers = new NumberTable("Places");
    this.root = el("div", { class: "nbm-ribbon" }, [this.plot.root, this.numbers.root]);
    watchSize(this.root, signal, ({ width }) => {
      if (width > 0) this.width = Math.round(width);
      store.changed();
    });
  }

  /** @param {Scene} scene */
  paint(scene) {
    const { numbers, label, higher, isCurrent } = drawnOf(this.store);
    this.root.classList.toggle("nbm-unknown", !numbers); // it keeps its room
    this.root.hidden = scene.generators.length < 2;
    if (this.root.hidden || !numbers) return;
    this.root.classList.toggle("nbm-behind", !isCurrent);
    const names = scene.generators.map((item) => item.name);
    const places = [numbers.avg, numbers.all].map((scores) => placesOf(scores, higher, numbers.terms));
    this.fit(names, label);
    setAttributes(this.plot.root, { "aria-label": spokenOf(label, names, numbers, places) });
    const rows = places.map(rowsOf);
    resizeChildren(this.lines, names.length, (index) => this.makeLine(index)).forEach((line, g) => {
      const ends = [numbers.avg[g], numbers.all[g]];
      const isCrossed = names.some((_, h) => (places[0][g] - places[0][h]) * (places[1][g] - places[1][h]) < 0);
      this.paintLine(line, g, names[g], ends, [rows[0][g], rows[1][g]]);
      line.classList.toggle("nbm-differs", isCrossed || places[0][g] !== places[1][g]);
    });
    this.numbers.paint(this.isFull, () => ({
      heads: ["Generator", "by avg", "by all"],
      rows: names.map((name, g) => [name, ordinal(places[0][g]), ordinal(places[1][g])]),
    }));
  }

  /** The sides take what the names need, and the lines the rest. @param {string[]} names @param {string} label */
  fit(names, label) {
    const { plot, width } = this;
    const count = names.length;
    const needed = Math.max(
      MIN_SIDE_PIXELS,
      NAME_MARGIN * Math.max(...names.map((name) => nameWidth(name))) + NUMBER_ROOM,
    );
    this.row = count <= MAX_GENERATORS_ROOMY ? ROW.few : ROW.many;
    plot.pad.left = plot.pad.right = Math.min(MAX_SIDE_PIXELS, (width - LINES_ROOM) / 2, needed);
    plot.resize(width, TOP_ROOM + count * this.row);
    plot.box.x.forEach((x, k) => {
      setAttributes(this.heads.children[k], { x: k ? x + 4 : x - 4 });
      setText(this.heads.children[k], `${label} ${k ? "all" : "avg"}`);
    });
  }

  /** @param {Element} line @param {number} g @param {string} name @param {number[]} values @param {number[]} rows */
  paintLine(line, g, name, values, rows) {
    const { hovered, charted } = this.store;
    const [x1, x2] = this.plot.box.x;
    const [y1, y2] = rows.map((row) => TOP_ROOM + (row + 0.5) * (this.row ?? ROW.few));
    const [hit, path, from, to, first, second] = line.children;
    for (const node of [hit, path]) setAttributes(node, { d: `M${x1 + 8} ${y1}L${x2 - 8} ${y2}` });
    const short = shortened(name, this.plot.pad.left - NUMBER_ROOM);
    setAttributes(first, { d: shapeOfMark(g), transform: `translate(${x1} ${y1})` });
    setAttributes(second, { d: shapeOfMark(g), transform: `translate(${x2} ${y2})` });
    setAttributes(from, { x: x1 - 12, y: y1 + 4.5, "text-anchor": "end" });
    setAttributes(to, { x: x2 + 12, y: y2 + 4.5 });
    paintEnd(from, [short, figure(values[0])]);
    paintEnd(to, [figure(values[1]), short]);
    setHue(line, g);
    line.classList.toggle("nbm-chosen", g === charted);
    line.classList.toggle("nbm-hovered", hovered?.kind === "generators" && hovered.index === g);
  }

  /** @param {number} index */
  makeLine(index) {
    const { store, signal } = this;
    const end = () => svg("text", {}, [svg("tspan"), svg("tspan", { dx: 7 })]);
    const parts = [svg("path", { class: "nbm-hit" }), svg("path"), end(), end()];
    const marks = [svg("path", { class: "nbm-end" }), svg("path", { class: "nbm-end" })];
    const line = svg("g", { class: "nbm-slope", "data-index": index }, [...parts, ...marks]);
    parts.slice(2).forEach((text, k) => {
      text.addEventListener("pointerenter", () => store.point(k ? "all" : "avg"), { signal });
      text.addEventListener("pointerleave", () => store.point(null), { signal });
    });
    line.addEventListener("pointerenter", () => store.hover({ kind: "generators", index }), { signal });
    line.addEventListener("pointerleave", () => store.hover(null), { signal });
    line.addEventListener("click", () => store.select({ kind: "generators", index }), { signal });
    return line;
  }
}

/** @param {Element} text @param {string[]} words */
function paintEnd(text, words) {
  words.forEach((word, k) => setText(text.children[k], word));
}

/** @param {string} label @param {string[]} names @param {Aggregates} numbers @param {number[][]} places */
function spokenOf(label, names, { avg, all }, places) {
  const one = (/** @type {string} */ name, /** @type {number} */ g) =>
    `${name}: ${ordinal(places[0][g])} by avg, ${ordinal(places[1][g])} by all (${figure(avg[g])}, ${figure(all[g])})`;
  return `Ranks by ${label}. ${names.map(one).join("; ")}`;
}

/** A row for every place, one below the other where places are shared. @param {number[]} places */
function rowsOf(places) {
  return places.map((place, i) => places.filter((other, j) => other < place || (other === place && j < i)).length);
}
