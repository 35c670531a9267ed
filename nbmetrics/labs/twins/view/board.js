/**
 * What the clients say of the two generators: in a sentence, as marks on a line for each client, avg and all, and in the
 * Scores table.
 *
 * @import { Distribution } from "../../toolkit/view/types.js"
 * @import { PlaneStore } from "../../plane/view/store.js"
 * @import { PairScores } from "./maths.js"
 */
import { ellipseOf } from "../../plane/view/geometry.js";
import { el, scroller, setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { nameWidth, shortened } from "../../toolkit/view/name_width.js";
import { figure, numeral } from "../../toolkit/view/numbers.js";
import { TWIN_MARKS } from "./stage.js";

/** @typedef {{name: string, first: number, second: number | null, apart: string}} DotRow what is said of their difference is `apart` */

const ROW_PIXELS = 24;
const TOP_PIXELS = 6;
const AXIS_PIXELS = 24;
const NAMES_PIXELS = 98;
const RIGHT_PIXELS = 64;

class TwinDots {
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
    const high = TOP_PIXELS + ROW_PIXELS * rows.length + AXIS_PIXELS;
    setAttributes(this.root, {
      viewBox: `0 0 ${wide} ${high}`,
      height: high,
      "aria-label": `FID of ${heads.join(" and ")}. ${words}`,
    });
    const room = Math.min(NAMES_PIXELS, Math.max(...rows.map((row) => nameWidth(row.name))));
    const left = room + 14;
    const most = roundUp(Math.max(...rows.flatMap((row) => [row.first, row.second ?? 0])));
    const x = (/** @type {number} */ value) => left + ((wide - left - RIGHT_PIXELS) * value) / most;
    this.paintAxis(x, most, high, wide);
    while (this.rows.length > rows.length) this.rows.pop()?.node.remove();
    while (this.rows.length < rows.length) {
      this.rows.push(new DotLine());
      this.lines.append(this.rows[this.rows.length - 1].node);
    }
    rows.forEach((row, i) => {
      const isSum = i >= rows.length - 2;
      this.rows[i].paint(row, TOP_PIXELS + ROW_PIXELS * (i + 0.5), x, room, isSum);
    });
  }

  /** @param {(value: number) => number} x @param {number} most @param {number} high @param {number} wide */
  paintAxis(x, most, high, wide) {
    const key = [x(0), most, high, wide].join();
    if (key === this.drawn) return;
    this.drawn = key;
    const count = wide < 340 ? 2 : 4;
    const nodes = Array.from({ length: count + 1 }, (_, k) => (k * most) / count).flatMap((value) => [
      svg("line", { x1: x(value), x2: x(value), y1: TOP_PIXELS, y2: high - AXIS_PIXELS }),
      svg("text", { x: x(value), y: high - 9, "text-anchor": "middle" }, [String(Number(value.toPrecision(3)))]),
    ]);
    const rule = high - AXIS_PIXELS - 2 * ROW_PIXELS;
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

/**
 * @typedef {object} Shown what one display shows
 * @property {string[]} names of the clients
 * @property {string[]} heads of the two generators
 * @property {PairScores} scores
 * @property {string} headline
 * @property {string} why
 * @property {boolean} isApart whether the headline is a warning
 * @property {Distribution[]} distributions of the generators, where they are in the plane
 * @property {number} near relative to the larger score, differences that count as near
 * @property {(value: number) => string} figures a score as read
 */

const LIKENESS = 1e-8;
const LAW_HEADS = ["x", "y", "width", "height", "angle"];

export class TwinsBoard {
  /** @param {PlaneStore} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.signal = signal;
    this.headline = el("p", { class: "nbm-twin-headline", role: "heading", "aria-level": "2" });
    this.why = el("p", { class: "nbm-twin-why" });
    this.dots = new TwinDots();
    this.heads = ["FID with", "", "", "Difference"].map((head) => el("th", { scope: "col" }, [head]));
    this.body = el("tbody");
    this.table = el("table", { class: "nbm-scores nbm-twin-scores", "aria-label": "Scores" }, [
      el("thead", {}, [el("tr", {}, this.heads)]),
      this.body,
    ]);
    this.distributionBody = el("tbody");
    this.distributionTable = el("table", { class: "nbm-items", "aria-label": "Generators" }, [
      el("thead", {}, [
        el(
          "tr",
          {},
          ["Generator", ...LAW_HEADS].map((head) => el("th", { scope: "col" }, [head])),
        ),
      ]),
      this.distributionBody,
    ]);
    this.distributionPart = scroller("Generators", this.distributionTable, signal);
    this.distributionPart.hidden = true;
    this.root = el("div", { class: "nbm-board" }, [
      scroller("Scores", this.table, signal),
      this.distributionPart,
      el("p", { class: "nbm-note" }, [
        "avg: the mean of the clients’ own scores. all: one score against the pooled clients. Lower is better.",
      ]),
    ]);
  }

  /** @param {number} rev @param {Shown} shown */
  paint(rev, shown) {
    setText(this.headline, shown.headline);
    this.headline.classList.toggle("nbm-differs", shown.isApart);
    setText(this.why, shown.why);
    setAttributes(this.table, { "data-rev": rev });
    shown.heads.forEach((head, i) => setText(this.heads[i + 1], head));
    const { first, second } = shown.scores;
    const rows = [...shown.names, "avg", "all"].map((name, i) => {
      const pair = { name, first: first[i], second: second ? second[i] : null };
      const likeness = pair.second === null ? "" : likenessOf(pair.first, pair.second, first, shown.near);
      return {
        ...pair,
        likeness,
        apart:
          likeness === "=" || pair.second === null ? likeness : signedText(pair.second - pair.first, shown.figures),
      };
    });
    this.dots.paint(rows, shown.heads, shown.headline);
    while (this.body.rows.length > rows.length) this.body.deleteRow(-1);
    while (this.body.rows.length < rows.length) this.body.append(this.makeRow(this.body.rows.length));
    rows.forEach((row, i) => this.paintRow(i, row, rows.length - 2, shown.figures));
    if (!this.distributionPart.hidden) this.paintDistributions(shown);
  }

  /** @param {number} index */
  makeRow(index) {
    const row = el("tr", {}, [el("th", { scope: "row" }), ...[0, 1, 2].map(() => el("td"))]);
    const { store, signal } = this;
    const client = () =>
      index < store.scene.clients.length ? { kind: /** @type {const} */ ("clients"), index } : null;
    row.addEventListener("pointerenter", () => store.hover(client()), { signal });
    row.addEventListener("pointerleave", () => store.hover(null), { signal });
    return row;
  }

  /** @param {number} i @param {DotRow & {likeness: string}} row @param {number} clients how many rows are clients' @param {(value: number) => string} figures */
  paintRow(i, { name, first, second, likeness, apart }, clients, figures) {
    const node = this.body.rows[i];
    const { hovered } = this.store;
    node.classList.toggle("nbm-hovered", i < clients && hovered?.kind === "clients" && hovered.index === i);
    node.classList.toggle("nbm-twin-sum", i === clients);
    setText(node.cells[0], name);
    const difference = second === null ? null : second - first;
    const texts = [
      figures(first),
      second === null ? "…" : figures(second),
      likeness === "" ? "…" : likeness === "=" ? "= 0" : `${likeness} ${apart}`,
    ];
    [first, second, difference].forEach((value, k) => {
      const cell = node.cells[k + 1];
      if (value === null) cell.removeAttribute("data-value");
      else setAttributes(cell, { "data-value": value });
      setText(cell, texts[k]);
      cell.classList.toggle("nbm-differs", k === 2 && likeness === "≠");
    });
  }

  /** @param {Shown} shown */
  paintDistributions({ heads, distributions }) {
    const rows = distributions.map((distribution, i) => {
      const { width, height, angle } = ellipseOf(distribution);
      const cells = [distribution.x, distribution.y, width, height]
        .map((value) => figure(value))
        .concat(`${numeral(angle, 1)}°`);
      return el("tr", {}, [el("th", { scope: "row" }, [heads[i]]), ...cells.map((text) => el("td", {}, [text]))]);
    });
    this.distributionBody.replaceChildren(...rows);
  }
}

/** Whether two scores are one, rounding apart. @param {number} first @param {number} second @param {number[]} scores */
export function isAlike(first, second, scores) {
  return Math.abs(second - first) <= LIKENESS * Math.max(...scores);
}

/** "=" for one number, rounding apart, "≈" for near ones, else "≠". @param {number} first @param {number} second @param {number[]} scores @param {number} near */
function likenessOf(first, second, scores, near) {
  if (isAlike(first, second, scores)) return "=";
  return Math.abs(second - first) <= near * Math.max(first, second) ? "≈" : "≠";
}

/** @param {number} value @param {(value: number) => string} figures */
function signedText(value, figures) {
  return `${value < 0 ? "−" : "+"}${figures(Math.abs(value))}`;
}

/** In words, what the scores of a pair say. @param {PairScores & {second: number[]}} scores @param {boolean} isCorrected */
export function pairWords({ first, second }, isCorrected) {
  const differences = second.map((value, i) => value - first[i]);
  const [clients, gap] = [differences.slice(0, -2), differences[differences.length - 1]];
  const pooled = isAlike(gap, 0, first)
    ? "Pooled, they are alike as well."
    : `Pooled, the twin is ${figure(Math.abs(gap))} ${gap > 0 ? "worse" : "better"}.`;
  if (second.slice(0, -2).every((value, i) => isAlike(first[i], value, first))) {
    return { headline: `Every client scores both alike. ${pooled}`, isApart: false };
  }
  const [low, high] = [figure(Math.min(...clients)), figure(Math.max(...clients))];
  const range = low === high ? `by ${low}` : `by ${low} to ${high}`;
  return {
    headline: `${isCorrected ? "Not quite twins" : "Not twins"}: the clients’ scores differ ${range}.`,
    isApart: true,
  };
}
