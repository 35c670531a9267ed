/**
 * The places of all generators by avg and by all, joined by lines: where lines cross, the two disagree.
 *
 * @import { Scene } from "../../toolkit/view/types.js"
 * @import { PlaneStore } from "../../plane/view/store.js"
 * @import { Chart } from "./explore.js"
 */

import { placesOf } from "../../plane/view/scores.js";
import { NumberTable, Plot, resizeChildren } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { shortened } from "../../toolkit/view/names.js";
import { ordinal } from "../../toolkit/view/numbers.js";

const RIBBON_ROW = 22;
const TOP_ROOM = 16;
const SIDE = 138;
// What stays for the lines, and for a place beside a name.
const LINES_ROOM = 48;
const PLACE_ROOM = 58;

export class Ribbon {
  /** @param {PlaneStore} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.signal = signal;
    this.plot = new Plot({ left: SIDE, right: SIDE, top: 4, bottom: 4 }, { role: "img" });
    this.lines = svg("g");
    this.title = el("h4", { class: "nbm-title" });
    this.heads = svg("g", { "aria-hidden": "true" }, [
      svg("text", { class: "nbm-quiet", y: 12, "text-anchor": "end" }, ["by avg"]),
      svg("text", { class: "nbm-quiet", y: 12 }, ["by all"]),
    ]);
    this.plot.root.append(this.heads, this.lines);
    this.numbers = new NumberTable("Places");
    this.root = el("div", { class: "nbm-ribbon" }, [this.title, this.plot.root, this.numbers.root]);
  }

  /** @param {Chart} chart */
  paint({ scene, width, g, charted, isFull }) {
    const { numbers, label, higher, isCurrent } = charted;
    const names = scene.generators.map((item) => item.name);
    this.root.hidden = names.length < 2 || !numbers;
    if (this.root.hidden || !numbers) return;
    this.root.classList.toggle("nbm-behind", !isCurrent);
    setText(this.title, `Ranks by ${label}`);
    const [avg, all] = [placesOf(numbers.avg, higher), placesOf(numbers.all, higher)];
    this.plot.pad.left = this.plot.pad.right = Math.min(SIDE, (width - LINES_ROOM) / 2);
    this.plot.resize(width, TOP_ROOM + names.length * RIBBON_ROW);
    setAttributes(this.plot.root, {
      "aria-label": names.map((name, i) => `${name}: ${ordinal(avg[i])} by avg, ${ordinal(all[i])} by all`).join("; "),
    });
    this.plot.box.x.forEach((x, k) => setAttributes(this.heads.children[k], { x: k ? x + 4 : x - 4 }));
    const [left, right] = [rowsOf(avg), rowsOf(all)];
    resizeChildren(this.lines, names.length, (index) => this.makeLine(index)).forEach((line, i) => {
      this.paintLine(line, names[i], [avg[i], all[i]], [left[i], right[i]]);
      line.classList.toggle("nbm-chosen", i === g);
    });
    this.numbers.paint(isFull, () => ({
      heads: ["Generator", "by avg", "by all"],
      rows: names.map((name, i) => [name, ordinal(avg[i]), ordinal(all[i])]),
    }));
  }

  /** @param {Element} line @param {string} name @param {number[]} places @param {number[]} rows */
  paintLine(line, name, places, rows) {
    const [x1, x2] = this.plot.box.x;
    const [y1, y2] = rows.map((row) => TOP_ROOM + (row + 0.5) * RIBBON_ROW);
    const differs = places[0] !== places[1];
    const { hovered } = this.store;
    const [hit, path, from, to] = line.children;
    for (const node of [hit, path]) setAttributes(node, { d: `M${x1 + 4} ${y1}L${x2 - 4} ${y2}` });
    const short = shortened(name, this.plot.pad.left - PLACE_ROOM);
    setAttributes(from, { x: x1 - 4, y: y1 + 4, "text-anchor": "end" });
    setAttributes(to, { x: x2 + 4, y: y2 + 4 });
    setText(from, `${short}  ${ordinal(places[0])}`);
    setText(to, `${ordinal(places[1])}${differs ? " ≠" : ""}  ${short}`);
    line.classList.toggle("nbm-differs", differs);
    line.classList.toggle(
      "nbm-hovered",
      hovered?.kind === "generators" && hovered.index === Number(line.getAttribute("data-index")),
    );
  }

  /** @param {number} index */
  makeLine(index) {
    const { store, signal } = this;
    const parts = [svg("path", { class: "nbm-hit" }), svg("path"), svg("text"), svg("text")];
    const line = svg("g", { class: "nbm-slope", "data-index": index }, parts);
    line.addEventListener("pointerenter", () => store.hover({ kind: "generators", index }), { signal });
    line.addEventListener("pointerleave", () => store.hover(null), { signal });
    line.addEventListener("click", () => store.select({ kind: "generators", index }), { signal });
    return line;
  }
}

/** A row for every place, one below the other where places are shared. @param {number[]} places */
function rowsOf(places) {
  return places.map((place, i) => places.filter((other, j) => other < place || (other === place && j < i)).length);
}
