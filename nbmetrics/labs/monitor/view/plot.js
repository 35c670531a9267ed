/**
 * One plot over the steps: lines, marks at the edge for what is no number, alarms, best steps and the cursor. Lines are
 * made again only when the run, the weights or the size changed; a cursor that moves is one attribute.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Scrubber } from "./scrubber.js"
 */
import { Plot, resizeChildren } from "../../toolkit/view/chart.js";
import { setAttributes, setText, svg, watchSize } from "../../toolkit/view/dom.js";
import { bandOf, heightScale, lineOf, lonely, marksOf, stepScale, stepTicks } from "./scale.js";
import { stepText } from "./words.js";

/**
 * @typedef {{name: string, style: string, steps: Float64Array, values: Float64Array, bests?: number[], sets?: number[],
 *   band?: import("./scale.js").Band | null}} Drawn
 * `bests` are steps to be marked on the line, `sets` those that are as good but for chance
 */
const PAD = { left: 52, right: 14, top: 12, bottom: 20 };
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
   * @param {Float64Array} steps of the whole run @param {Drawn[]} drawn @param {number[]} alarms steps @param {number | null} step
   * @param {any[]} keys what the lines depend on @param {string} [text] in the corner
   */
  paint(steps, drawn, alarms, step, keys, text = "") {
    const { width } = this.plot;
    if (!width) return;
    setText(this.label, text);
    if ([width, ...keys].some((key, i) => key !== this.keys[i])) {
      this.keys = [width, ...keys];
      this.paintLines(steps, drawn);
      this.paintAlarms(alarms);
    }
    this.cursor.style.display = step === null ? "none" : "";
    if (step === null) return;
    const [x, [y1, y2]] = [this.atX(step), this.plot.box.y];
    setAttributes(this.cursor, { x1: x, x2: x, y1, y2 });
  }

  /** @param {Float64Array} steps @param {Drawn[]} drawn */
  paintLines(steps, drawn) {
    const { plot } = this;
    const scale = stepScale(steps, plot.box.x);
    [this.atX, this.slope, this.first] = [scale.at, scale.slope, steps.length ? steps[0] : 0];
    if (steps.length === 1) this.first = steps[0] - (plot.box.x[1] - plot.box.x[0]) / 2 / scale.slope;
    const heights = heightScale(
      drawn.map(({ values }) => values),
      plot.box.y,
      this.height > 100 ? 5 : 2,
      drawn.flatMap(({ band }) => band ?? []),
    );
    this.atY = heights.at;
    plot.paintX(this.hasAxis ? stepTicks(steps, plot.mostTicks) : [], scale.at, this.height - 5, stepText);
    plot.paintY(heights.ticks, heights.at);
    resizeChildren(this.lines, drawn.length, () => svg("g", {}, [svg("path"), svg("g")])).forEach((node, i) => {
      const { style, steps: at, values } = drawn[i];
      setAttributes(node, { class: style });
      setAttributes(node.children[0], { d: lineOf(at, values, scale.at, heights.at) });
      const dots = lonely(at, values);
      resizeChildren(node.children[1], dots.length, () => svg("circle", { r: 2 })).forEach((dot, k) =>
        setAttributes(dot, { cx: scale.at(at[dots[k]]), cy: heights.at(values[dots[k]]) }),
      );
    });
    resizeChildren(this.bands, drawn.length, () => svg("path")).forEach((node, i) => {
      const { style, steps: at, band } = drawn[i];
      setAttributes(node, { class: style, d: band ? bandOf(at, band, scale.at, heights.at, plot.box.y) : "" });
    });
    this.paintEdges(drawn);
    this.paintBests(drawn);
  }

  /** What is no number, at the edge. @param {Drawn[]} drawn */
  paintEdges(drawn) {
    const [bottom, top] = this.plot.box.y;
    const marks = drawn.flatMap(({ steps, values }) => marksOf(steps, values, this.atX));
    resizeChildren(this.edges, marks.length, () => svg("path")).forEach((node, i) => {
      const { x, is } = marks[i];
      setAttributes(node, {
        d: EDGE[is],
        class: `nbm-step-${is}`,
        transform: `translate(${x} ${is === "low" ? bottom - 4 : top + 4})`,
      });
    });
  }

  /** @param {Drawn[]} drawn */
  paintBests(drawn) {
    const found = drawn.flatMap(({ steps, values, style, bests = [] }) =>
      bests.map((step) => ({ style, x: this.atX(step), y: this.atY(values[steps.indexOf(step)]) })),
    );
    resizeChildren(this.bests, found.length, () => svg("path")).forEach((node, i) => {
      const { style, x, y } = found[i];
      const d = style.includes("all") ? "M0-6L6 0L0 6L-6 0Z" : "M-5 0A5 5 0 1 0 5 0A5 5 0 1 0-5 0Z";
      setAttributes(node, { d, class: style, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` });
    });
    const bottom = this.plot.box.y[0];
    const known = drawn.filter(({ sets }) => sets);
    const ticks = known.flatMap(({ style, sets = [] }, i) => {
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
