/**
 * A plot over the steps: lines, marks at the edge for what is no number, alarms, best steps and the cursor; and the
 * legend of its marks. Lines are made again only when the run, the weights or the size changed; a cursor that moves is
 * one attribute. Of what shares a column of pixels only the first, the least, the largest and the last are drawn.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Scrubber } from "./scrubber.js"
 * @import { Numbers, Scene } from "./types.js"
 */
import { calmRange, linear, Plot, resizeChildren, roundStep, ticksOf } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText, svg, watchSize } from "../../toolkit/view/dom.js";
import { stepText } from "./formatting.js";

/**
 * @typedef {{name: string, style: string, steps: Float64Array, values: Float64Array, bests?: number[], sets?: number[],
 *   band?: Band | null}} Curve
 * `bests` are steps to be marked on the line, `sets` those that are as good but for chance
 */
const PAD = { left: 52, right: 14, top: 12, bottom: 20 };
const MAX_STEP_TICKS = 4;
const CROSS = "M-3-3L3 3M-3 3L3-3";
/** @type {Record<string, string>} */
const EDGE = { nan: CROSS, high: "M0-4L4 3H-4Z", low: "M0 4L4-3H-4Z" };

export class StepPlot {
  /** @param {Store} store @param {AbortSignal} signal @param {Scrubber} scrubber @param {number} height @param {{label?: string, hasAxis?: boolean}} [more] */
  constructor(store, signal, scrubber, height, { label = "", hasAxis = true } = {}) {
    this.plot = new Plot({ ...PAD, bottom: hasAxis ? PAD.bottom : 6 }, { class: "nbm-chart nbm-step-plot" });
    this.hasAxis = hasAxis;
    this.height = height;
    this.bands = svg("g", { class: "nbm-step-bands" });
    this.lines = svg("g");
    this.edges = svg("g", { class: "nbm-step-edges" });
    this.alarms = svg("g", { class: "nbm-step-alarms" });
    this.sets = svg("g", { class: "nbm-step-sets" });
    this.bests = svg("g", { class: "nbm-step-bests" });
    this.cursor = svg("line", { class: "nbm-step-cursor" });
    this.label = svg("text", { class: "nbm-quiet", x: PAD.left + 4, y: 10 }, [label]);
    this.root = this.plot.root;
    this.root.append(this.bands, this.lines, this.sets, this.edges, this.alarms, this.bests, this.cursor, this.label);
    /** @type {any[]} */
    this.keys = [];
    this.atX = (/** @type {number} */ _step) => 0;
    this.slope = 1;
    this.first = 0;
    this.atY = this.atX;
    watchSize(this.root, signal, ({ width }) => {
      if (!width || width === this.plot.width) return;
      this.plot.resize(width, height);
      store.changed();
    });
    scrubber.follows(this.root, (x) => this.stepAt(x), signal);
  }

  /** @param {number} x pixels from the left edge */
  stepAt(x) {
    return this.first + (x - this.plot.box.x[0]) / this.slope;
  }

  /**
   * @param {Float64Array} steps of the whole run @param {Curve[]} curves @param {number[]} alarms steps @param {number | null} step
   * @param {any[]} keys what the lines depend on @param {string} [text] in the corner
   */
  paint(steps, curves, alarms, step, keys, text = "") {
    const { width } = this.plot;
    if (!width) return;
    setText(this.label, text);
    if ([width, ...keys].some((key, i) => key !== this.keys[i])) {
      this.keys = [width, ...keys];
      this.paintLines(steps, curves);
      this.paintAlarms(alarms);
    }
    this.cursor.style.display = step === null ? "none" : "";
    if (step === null) return;
    const [x, [y1, y2]] = [this.atX(step), this.plot.box.y];
    setAttributes(this.cursor, { x1: x, x2: x, y1, y2 });
  }

  /** @param {Float64Array} steps @param {Curve[]} curves */
  paintLines(steps, curves) {
    const { plot } = this;
    const scale = stepScale(steps, plot.box.x);
    [this.atX, this.slope, this.first] = [scale.at, scale.slope, steps.length ? steps[0] : 0];
    if (steps.length === 1) this.first = steps[0] - (plot.box.x[1] - plot.box.x[0]) / 2 / scale.slope;
    const heights = heightScale(
      curves.map(({ values }) => values),
      plot.box.y,
      this.height > 100 ? 4 : 2,
      curves.flatMap(({ band }) => band ?? []),
    );
    this.atY = heights.at;
    plot.paintX(
      this.hasAxis ? stepTicks(steps, Math.min(MAX_STEP_TICKS, plot.mostTicks)) : [],
      scale.at,
      this.height - 5,
      stepText,
    );
    plot.paintY(heights.ticks, heights.at);
    resizeChildren(this.lines, curves.length, () => svg("g", {}, [svg("path"), svg("g")])).forEach((node, i) => {
      const { style, steps: at, values } = curves[i];
      setAttributes(node, { class: style });
      setAttributes(node.children[0], { d: linePath(at, values, scale.at, heights.at) });
      const dots = isolatedPoints(at, values);
      resizeChildren(node.children[1], dots.length, () => svg("circle", { r: 2 })).forEach((dot, k) =>
        setAttributes(dot, { cx: scale.at(at[dots[k]]), cy: heights.at(values[dots[k]]) }),
      );
    });
    resizeChildren(this.bands, curves.length, () => svg("path")).forEach((node, i) => {
      const { style, steps: at, band } = curves[i];
      setAttributes(node, { class: style, d: band ? bandPath(at, band, scale.at, heights.at, plot.box.y) : "" });
    });
    this.paintEdges(curves);
    this.paintBests(curves);
  }

  /** What is no number, at the edge. @param {Curve[]} curves */
  paintEdges(curves) {
    const [bottom, top] = this.plot.box.y;
    const marks = curves.flatMap(({ steps, values }) => nonFiniteMarks(steps, values, this.atX));
    resizeChildren(this.edges, marks.length, () => svg("path")).forEach((node, i) => {
      const { x, is } = marks[i];
      setAttributes(node, {
        d: EDGE[is],
        class: `nbm-step-${is}`,
        transform: `translate(${x} ${is === "low" ? bottom - 4 : top + 4})`,
      });
    });
  }

  /** @param {Curve[]} curves */
  paintBests(curves) {
    const bests = curves.flatMap(({ steps, values, style, bests = [] }) =>
      bests.map((step) => ({ style, x: this.atX(step), y: this.atY(values[steps.indexOf(step)]) })),
    );
    resizeChildren(this.bests, bests.length, () => svg("path")).forEach((node, i) => {
      const { style, x, y } = bests[i];
      const d = style.includes("all") ? "M0-6L6 0L0 6L-6 0Z" : "M-5 0A5 5 0 1 0 5 0A5 5 0 1 0-5 0Z";
      setAttributes(node, { d, class: style, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` });
    });
    const bottom = this.plot.box.y[0];
    const withSets = curves.filter(({ sets }) => sets);
    const ticks = withSets.flatMap(({ style, sets = [] }, i) => {
      const columns = new Set(sets.map((step) => Math.round(this.atX(step))));
      return columns.size ? [{ style, d: [...columns].map((x) => `M${x} ${bottom - 5 * i}v-4`).join("") }] : [];
    });
    resizeChildren(this.sets, ticks.length, () => svg("path")).forEach((node, i) => {
      setAttributes(node, { d: ticks[i].d, class: ticks[i].style });
    });
  }

  /** @param {number[]} alarms */
  paintAlarms(alarms) {
    const [y1, y2] = this.plot.box.y;
    const columns = [...new Set(alarms.map((step) => Math.round(this.atX(step))))];
    const make = () => svg("g", {}, [svg("line"), svg("path", { d: "M0-7L5 2H-5Z" })]);
    resizeChildren(this.alarms, columns.length, make).forEach((node, i) => {
      setAttributes(node.children[0], { x1: columns[i], x2: columns[i], y1, y2 });
      setAttributes(node.children[1], { transform: `translate(${columns[i]} ${y2 - 2})` });
    });
  }
}

// Scores are on a logarithmic axis where the largest is more than so many times the least.
const MIN_LOG_RATIO = 50;
// Of a score: less than it is no difference, and is not to fill a plot.
const SCORE_ROUNDING = 1e-11;

/** @typedef {{low: Float64Array, high: Float64Array}} Band */
/** @typedef {{at: (value: number) => number, ticks: number[], isLog: boolean}} Scale */

/** @param {ArrayLike<number>[]} series @returns {[number, number, boolean]} the least and the largest finite value; whether all are above 0 */
export function extentOf(series) {
  let [low, high] = [Infinity, -Infinity];
  for (const values of series)
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (value < low && value > -Infinity) low = value;
      if (value > high && value < Infinity) high = value;
    }
  return low <= high ? [low, high, low > 0] : [0, 1, false];
}

// Widths of a band that its middle is taken from.
const MAX_WIDTHS = 500;

/** The middle one of a band's widths. @param {Band} band */
function middleOf({ low, high }) {
  const stride = Math.ceil(low.length / MAX_WIDTHS);
  const widths = Array.from({ length: Math.ceil(low.length / stride) }, (_, k) => high[k * stride] - low[k * stride]);
  const finite = widths.filter(Number.isFinite).sort((a, b) => a - b);
  return finite.length ? finite[finite.length >> 1] : 0;
}

/** Of scores, with room for their bands. @param {ArrayLike<number>[]} series @param {[number, number]} pixels from the bottom @param {number} most parts @param {Band[]} [bands] @returns {Scale} */
export function heightScale(series, pixels, most, bands = []) {
  const [least, largest, isPositive] = extentOf(series);
  const isLog = isPositive && largest / least > MIN_LOG_RATIO;
  const room = Math.max(largest - least, ...bands.map(middleOf)); // a few wide bands must not flatten the lines
  const high = Math.min(largest + room, extentOf([[largest], ...bands.map((band) => band.high)])[1]);
  if (!isLog) {
    const low = Math.max(least - room, extentOf([[least], ...bands.map((band) => band.low)])[0]);
    const range = calmRange(null, high - low > SCORE_ROUNDING * Math.abs(high) ? low : high, high);
    return { at: linear(range, pixels).at, ticks: ticksOf(range, roundStep(range[1] - range[0], most)), isLog: false };
  }
  const range = /** @type {[number, number]} */ ([Math.log10(least), Math.log10(high)]);
  const { at } = linear(range, pixels);
  const stride = Math.max(1, Math.ceil((range[1] - range[0]) / most));
  const powers = ticksOf([Math.ceil(range[0]), Math.floor(range[1])], stride);
  return { at: (value) => at(Math.log10(value)), ticks: powers.map((power) => 10 ** power), isLog: true };
}

/** Of steps. @param {ArrayLike<number>} steps in their order @param {[number, number]} pixels */
export function stepScale(steps, pixels) {
  const [first, last] = steps.length ? [steps[0], steps[steps.length - 1]] : [0, 1];
  return linear(first < last ? [first, last] : [first - 1, first + 1], pixels);
}

/** @param {ArrayLike<number>} steps @param {number} most parts */
export function stepTicks(steps, most) {
  const [first, last] = steps.length ? [steps[0], steps[steps.length - 1]] : [0, 1];
  if (first === last) return [first];
  return ticksOf([first, last], Math.max(1, roundStep(last - first, most)));
}

/**
 * The `d` of a line, broken where a value is no finite number. Of a column only what is drawn is brought to pixels.
 * @param {ArrayLike<number>} steps @param {ArrayLike<number>} values @param {(step: number) => number} atX @param {(value: number) => number} atY
 */
export function linePath(steps, values, atX, atY) {
  const parts = /** @type {string[]} */ ([]);
  let [column, first, least, most, last] = [NaN, NaN, NaN, NaN, NaN];
  let pen = "M";
  const put = (/** @type {number} */ value) => {
    parts.push(`${pen}${column} ${Math.round(10 * atY(value)) / 10}`);
    pen = "L";
  };
  const flush = () => {
    if (Number.isNaN(column)) return;
    put(first);
    if (least < Math.min(first, last)) put(least);
    if (most > Math.max(first, last)) put(most);
    if (last !== first) put(last);
    column = NaN;
  };
  for (let i = 0; i < steps.length; i++) {
    const value = values[i];
    if (!Number.isFinite(value)) {
      flush();
      pen = "M";
      continue;
    }
    const x = Math.round(atX(steps[i]));
    if (x !== column) {
      flush();
      [column, first, least, most] = [x, value, value, value];
    }
    last = value;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  flush();
  return parts.join("");
}

/**
 * The outline of a band: of what shares a column of pixels, from the least to the largest; broken where it is not known.
 * @param {ArrayLike<number>} steps @param {Band} band @param {(step: number) => number} atX @param {(value: number) => number} atY @param {[number, number]} pixels from the bottom
 */
export function bandPath(steps, { low, high }, atX, atY, [bottom, top]) {
  const parts = /** @type {string[]} */ ([]);
  let columns = /** @type {[number, number, number][]} */ ([]); // x, highest and lowest pixel
  const flush = () => {
    if (columns.length === 1) columns = [-2, 2].map((by) => [columns[0][0] + by, columns[0][1], columns[0][2]]);
    const there = columns.map(([x, y]) => `${x} ${y.toFixed(1)}`);
    const back = columns.map(([x, , y]) => `${x} ${y.toFixed(1)}`).reverse();
    if (there.length) parts.push(`M${[...there, ...back].join("L")}Z`);
    columns = [];
  };
  for (let i = 0; i < steps.length; i++) {
    if (Number.isNaN(low[i]) || Number.isNaN(high[i])) {
      flush();
      continue;
    }
    const x = Math.round(atX(steps[i]));
    const [from, to] = [atY(high[i]), atY(low[i])].map((y) =>
      Math.min(bottom, Math.max(top, Number.isNaN(y) ? bottom : y)),
    );
    const last = columns.at(-1);
    if (last?.[0] === x) [last[1], last[2]] = [Math.min(last[1], from), Math.max(last[2], to)];
    else columns.push([x, from, to]);
  }
  flush();
  return parts.join("");
}

/** Points on a line that has no neighbours to be joined to. @param {ArrayLike<number>} steps @param {ArrayLike<number>} values */
export function isolatedPoints(steps, values) {
  const places = [];
  for (let i = 0; i < steps.length; i++)
    if (Number.isFinite(values[i]) && !Number.isFinite(values[i - 1]) && !Number.isFinite(values[i + 1]))
      places.push(i);
  return places;
}

/** Values that are no finite numbers, one for each column of pixels. @param {ArrayLike<number>} steps @param {ArrayLike<number>} values @param {(step: number) => number} atX */
export function nonFiniteMarks(steps, values, atX) {
  const marks = new Map();
  for (let i = 0; i < steps.length; i++) {
    if (Number.isFinite(values[i])) continue;
    const x = Math.round(atX(steps[i]) / 4) * 4;
    const is = Number.isNaN(values[i]) ? "nan" : values[i] > 0 ? "high" : "low";
    marks.set(`${x} ${is}`, { x, is });
  }
  return [...marks.values()];
}

// What the bands are, and what they are not.
const KID_GAP =
  "No generator can change the gap of KID, so it is a check: if it changes, clients or features have changed.";
const INTRA = "intra: the weighted mean of the clients’ scores, each with what was made for it alone.";
const BANDS =
  "Bands: 95 % of the scores that other rows would give. All steps share the clients’ rows, so overlapping bands are not a test; the small ticks are.";

// What the marks in the plots mean: their class, and a path.
/** @type {[string, string, string][]} */
const MARKS = [
  ["nbm-step-avg", "M-9 0H9", "avg"],
  ["nbm-step-all", "M-9 0H-3M1 0H7", "all"],
  ["nbm-step-band", "M-9-6H9V6H-9Z", "95 % of its noise"],
  ["nbm-step-avg", "M-5 0A5 5 0 1 0 5 0A5 5 0 1 0-5 0Z", "best by avg"],
  ["nbm-step-all", "M0-6L6 0L0 6L-6 0Z", "best by all"],
  ["nbm-step-avg", "M-6-2v5M-2-2v5M2-2v5M6-2v5", "not worse by more than chance"],
  ["nbm-step-alarms", "M0-6L5 4H-5Z", "alarm"],
];

export class Legend {
  constructor() {
    const entries = MARKS.map(([style, d, text]) => el("span", {}, [markOf(style, d), text]));
    this.name = el("span");
    this.other = el("span", {}, [markOf("nbm-step-avg nbm-step-other", "M-9 0H9"), this.name]);
    this.note = el("p", { class: "nbm-note" }, [BANDS]);
    this.check = el("p", { class: "nbm-note" }, [KID_GAP]);
    this.intra = el("p", { class: "nbm-note" }, [INTRA]);
    const marks = el("div", { class: "nbm-legend nbm-step-marks" }, [...entries, this.other]);
    this.root = el("div", {}, [marks, this.intra, this.note, this.check]);
  }

  /** @param {Scene} _scene @param {Numbers} numbers */
  paint(_scene, { history, other }) {
    this.note.hidden = !history.lines.some(({ errors }) => errors?.some(Number.isFinite));
    this.intra.hidden = !history.lines.some(({ facts }) => facts.of);
    this.check.hidden = !history.lines.some(({ facts }) => facts.kind === "kid");
    this.other.hidden = !other;
    setText(this.name, `other run${other?.name ? `: ${other.name}` : ""}`);
  }
}

/** @param {string} style @param {string} d */
function markOf(style, d) {
  return svg("svg", { class: style, viewBox: "-10 -8 20 16", "aria-hidden": "true" }, [svg("path", { d })]);
}
