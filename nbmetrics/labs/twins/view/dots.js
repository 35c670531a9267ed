/** The scores of both generators as marks on a line, a row for each client and for avg and all. */
import { setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { nameWidth, shortened } from "../../toolkit/view/names.js";
import { TWIN_MARKS } from "./stage.js";

/** @typedef {{name: string, first: number, second: number | null, apart: string}} DotRow what is said of their difference is `apart` */

const ROW = 24;
const TOP = 6;
const AXIS = 24;
const NAMES = 98;
const RIGHT = 64;

export class TwinDots {
  constructor() {
    this.axis = svg("g", { class: "nbm-twin-axis" });
    this.lines = svg("g");
    this.root = svg("svg", { class: "nbm-twin-dots", role: "img" }, [this.axis, this.lines]);
    /** @type {DotLine[]} */
    this.rows = [];
    this.drawn = "";
    this.wide = 420;
  }

  /** @param {DotRow[]} rows @param {string[]} heads @param {string} words */
  paint(rows, heads, words) {
    const wide = (this.wide = this.root.clientWidth || this.wide);
    const high = TOP + ROW * rows.length + AXIS;
    setAttributes(this.root, {
      viewBox: `0 0 ${wide} ${high}`,
      height: high,
      "aria-label": `FID of ${heads.join(" and ")}. ${words}`,
    });
    const room = Math.min(NAMES, Math.max(...rows.map((row) => nameWidth(row.name))));
    const left = room + 14;
    const most = roundUp(Math.max(...rows.flatMap((row) => [row.first, row.second ?? 0])));
    const x = (/** @type {number} */ value) => left + ((wide - left - RIGHT) * value) / most;
    this.paintAxis(x, most, high, wide);
    while (this.rows.length > rows.length) this.rows.pop()?.node.remove();
    while (this.rows.length < rows.length) {
      this.rows.push(new DotLine());
      this.lines.append(this.rows[this.rows.length - 1].node);
    }
    rows.forEach((row, i) => {
      const isSum = i >= rows.length - 2;
      this.rows[i].paint(row, TOP + ROW * (i + 0.5), x, room, isSum);
    });
  }

  /** @param {(value: number) => number} x @param {number} most @param {number} high @param {number} wide */
  paintAxis(x, most, high, wide) {
    const key = [x(0), most, high, wide].join();
    if (key === this.drawn) return;
    this.drawn = key;
    const count = wide < 340 ? 2 : 4;
    const nodes = Array.from({ length: count + 1 }, (_, k) => (k * most) / count).flatMap((value) => [
      svg("line", { x1: x(value), x2: x(value), y1: TOP, y2: high - AXIS }),
      svg("text", { x: x(value), y: high - 9, "text-anchor": "middle" }, [String(Number(value.toPrecision(3)))]),
    ]);
    const rule = high - AXIS - 2 * ROW;
    this.axis.replaceChildren(...nodes, svg("line", { class: "nbm-twin-rule", x1: 0, x2: wide, y1: rule, y2: rule }));
  }
}

class DotLine {
  constructor() {
    this.name = svg("text", { class: "nbm-twin-row" });
    this.bar = svg("line", { class: "nbm-twin-bar" });
    this.first = svg("path", { class: "nbm-twin-mark", d: TWIN_MARKS.first });
    this.second = svg("path", { class: "nbm-twin-mark", d: TWIN_MARKS.second });
    this.difference = svg("text", { class: "nbm-twin-apart" });
    const marks = [
      svg("g", { class: "nbm-twin-first" }, [this.first]),
      svg("g", { class: "nbm-twin-second" }, [this.second]),
    ];
    this.title = svg("title");
    this.node = svg("g", {}, [this.title, this.name, this.bar, ...marks, this.difference]);
  }

  /** @param {DotRow} row @param {number} y @param {(value: number) => number} x @param {number} room of the name @param {boolean} isSum */
  paint({ name, first, second, apart }, y, x, room, isSum) {
    const short = shortened(name, room);
    setText(this.name, short);
    setText(this.title, short === name ? "" : name);
    setAttributes(this.name, { x: 0, y: y + 4 });
    this.node.classList.toggle("nbm-twin-summed", isSum);
    setAttributes(this.first, { transform: `translate(${x(first)} ${y})` });
    for (const node of [this.second, this.bar, this.difference])
      node.classList.toggle("nbm-twin-hidden", second === null);
    if (second === null) return;
    setAttributes(this.second, { transform: `translate(${x(second)} ${y})` });
    setAttributes(this.bar, { x1: x(first), x2: x(second), y1: y, y2: y });
    setAttributes(this.difference, { x: Math.max(x(first), x(second)) + 14, y: y + 4 });
    setText(this.difference, apart);
  }
}

/** The next of 1, 2, 3, 4, 6, 8, 10, …; 1 where there is nothing but rounding. @param {number} value */
function roundUp(value) {
  if (value < 1e-9) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 3, 4, 6, 8, 10].find((step) => step * power >= value * 0.999) ?? 10);
}
