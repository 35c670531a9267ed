/**
 * The generators by avg and by all, joined by straight lines. Who is not told apart stands in the order given, tied by a
 * bracket, so that noise crosses no lines; a crossing is dark only where both orders are more than chance.
 *
 * @import { Scene, Shown } from "./types.js"
 * @import { Store } from "../../toolkit/view/store.js"
 */
import { resizeChildren } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText, svg, watchSize } from "../../toolkit/view/dom.js";
import { shortened } from "../../toolkit/view/name_width.js";
import { choose, crossings, ordersBeside, rangeText, tiers } from "./place_ranges.js";

/** @typedef {{order: number[], row: number}} Beside  rows of a table that the lines go on from: their generators, and pixels of a row */

const ROW_PX = { few: 28, many: 21 };
const MAX_GENERATORS_WIDE_ROWS = 8;
const HEAD_PX = 20;
// Of the head of the table that it stands beside, as in style.css.
const BESIDE_HEAD_PX = 28;
const [LINES_PX, MAX_SIDE_PX] = [44, 170];
const LETTER_PX = 6.6;
const GUTTERS_PX = 18;
const MIN_LEFT_PX = 50;
// Where names have less room than this, those by avg are left away.
const MIN_NAME_PX = 66;

export class Ribbon {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.signal = signal;
    this.width = 300;
    this.ends = [100, 200];
    this.top = HEAD_PX;
    this.rooms = [80, 80];
    this.heads = [0, 1].map(() => svg("text", { class: "nbm-quiet" }));
    this.lines = svg("g");
    this.brackets = svg("g", { class: "nbm-dashboard-brackets" });
    this.drawing = svg("svg", { class: "nbm-chart", role: "img" }, [...this.heads, this.brackets, this.lines]);
    this.root = el("div", { class: "nbm-dashboard-ribbon" }, [this.drawing]);
    watchSize(this.root, signal, ({ width }) => {
      if (!width || Math.round(width) === this.width) return;
      this.width = Math.round(width);
      store.changed();
    });
  }

  /** @param {Scene} scene @param {Shown} shown @param {Beside | null} [beside] where it stands beside a table, whose names it does not repeat */
  paint({ generators, generator }, { average, byAvg, byAll: known, facts, isOne, isFar }, beside = null) {
    this.root.hidden = isOne || generators.length < 2;
    if (this.root.hidden) return;
    this.root.style.visibility = isFar || !known ? "hidden" : ""; // its room is kept
    const byAll = known ?? byAvg;
    const sides = [byAvg, byAll];
    const groups = sides.map(({ ranges, centres }) => tiers(ranges, centres));
    const orders = beside ? ordersBeside(groups, beside.order) : groups.map((side) => side.flat());
    const row = beside?.row ?? (generators.length <= MAX_GENERATORS_WIDE_ROWS ? ROW_PX.few : ROW_PX.many);
    const crossed = crossings(orders[0], orders[1], byAvg.ranges, byAll.ranges);
    const words = generators.map((_, g) => sides.map(({ ranges }) => rangeText(ranges.low[g], ranges.high[g])));
    this.fit(
      generators.length,
      row,
      LETTER_PX * Math.max(...words.flat().map(({ length }) => length)),
      beside !== null,
    );
    resizeChildren(this.lines, generators.length, (g) => this.makeLine(g)).forEach((line, g) => {
      const rows = orders.map((order) => order.indexOf(g));
      line.classList.toggle("nbm-selected", generators[g] === generator);
      this.paintLine(
        line,
        generators[g],
        beside && byAvg.ranges.low[g] === byAvg.ranges.high[g] ? ["", words[g][1]] : words[g],
        rows.map((at) => (at < 0 ? NaN : this.top + (at + 0.5) * row)),
      );
      setAttributes(line, { "data-generator": generators[g], "data-crossed": crossed[g] });
    });
    this.paintBrackets(groups, row);
    for (const [k, label] of [average, "all"].entries()) setText(this.heads[k], `by ${label}`);
    const spoken = generators.map((name, g) => `${name} ${words[g][0]} by ${average}, ${words[g][1]} by all`);
    setAttributes(this.drawing, { "aria-label": `Places on ${facts.label}: ${spoken.join("; ")}` });
  }

  /** @param {number} count @param {number} row @param {number} range pixels of the longest range @param {boolean} isBeside */
  fit(count, row, range, isBeside) {
    const half = Math.min(MAX_SIDE_PX, (this.width - LINES_PX) / 2);
    this.rooms = [half - range - GUTTERS_PX, half - range - GUTTERS_PX];
    if (this.rooms[0] < MIN_NAME_PX) this.rooms = [0, this.width - LINES_PX - MIN_LEFT_PX - range - GUTTERS_PX];
    const left = Math.max(MIN_LEFT_PX, this.rooms[0] + range + GUTTERS_PX);
    this.ends = [left, this.rooms[0] ? this.width - left : left + LINES_PX];
    if (isBeside) {
      this.rooms = [0, Math.min(MAX_SIDE_PX, this.width / 2 - range - GUTTERS_PX)];
      this.ends = [range + GUTTERS_PX, this.width - this.rooms[1] - range - GUTTERS_PX];
    }
    const top = isBeside ? BESIDE_HEAD_PX : HEAD_PX;
    this.top = top;
    setAttributes(this.drawing, {
      viewBox: `0 0 ${this.width} ${top + count * row}`,
      height: top + count * row,
    });
    this.heads.forEach((head, k) => {
      const isNarrow = isBeside && !k; // what is left of the lines has room for places, and none for a head
      setAttributes(head, {
        x: this.ends[k] + (k ? 12 : isNarrow ? 0 : -12),
        y: isBeside ? 18 : 12,
        "text-anchor": k ? "start" : isNarrow ? "middle" : "end",
      });
    });
  }

  /** @param {Element} line @param {string} name @param {string[]} ranges @param {number[]} ys */
  paintLine(line, name, ranges, [y1, y2]) {
    const [x1, x2] = this.ends;
    const has = !Number.isNaN(y1 + y2);
    line.classList.toggle("nbm-unknown", !has);
    if (!has) return;
    const [title, hit, path, ...ends] = line.children;
    setText(title, name);
    for (const node of [hit, path]) setAttributes(node, { d: `M${x1} ${y1}L${x2} ${y2}` });
    ends.forEach((text, k) => {
      const anchor = k ? "start" : "end";
      setAttributes(text, { x: this.ends[k] + (k ? 12 : -12), y: (k ? y2 : y1) + 4, "text-anchor": anchor });
      const short = this.rooms[k] > 0 ? shortened(name, this.rooms[k]) : "";
      const words = k ? [`${ranges[1]} `, short] : [short, ` ${ranges[0]}`];
      words.forEach((word, part) => setText(text.children[part], word));
    });
  }

  /** @param {number[][][]} groups @param {number} row */
  paintBrackets(groups, row) {
    const marks = groups.flatMap((side, k) => {
      let at = 0;
      return side.map((group) => {
        const [x, y1] = [this.ends[k] + (k ? 5 : -5), this.top + (at + 0.2) * row];
        at += group.length;
        return group.length > 1 ? `M${x} ${y1.toFixed(1)}V${(this.top + (at - 0.2) * row).toFixed(1)}` : "";
      });
    });
    const paths = marks.filter(Boolean);
    resizeChildren(this.brackets, paths.length, () => svg("path")).forEach((path, k) =>
      setAttributes(path, { d: paths[k] }),
    );
  }

  /** @param {number} g */
  makeLine(g) {
    const end = (/** @type {string} */ name) =>
      svg("text", { class: `nbm-dashboard-${name}` }, [svg("tspan"), svg("tspan")]);
    const line = svg("g", { class: "nbm-dashboard-slope" }, [
      svg("title"),
      svg("path", { class: "nbm-hit" }),
      svg("path", { class: "nbm-dashboard-line" }),
      end("left"),
      end("right"),
    ]);
    line.addEventListener("click", () => choose(this.store, g), { signal: this.signal });
    return line;
  }
}
