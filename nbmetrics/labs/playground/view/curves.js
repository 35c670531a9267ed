/**
 * The picture of a sweep: curves with their names at their ends, and their lowest points.
 *
 * @import { Best, Sweep } from "./sweep.js"
 */
import { calmRange, curve, linear, Plot, roundStep, spreadOut, ticksOf } from "../../toolkit/view/chart.js";
import { setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { shortened } from "../../toolkit/view/names.js";
import { tickText } from "../../toolkit/view/numbers.js";

export const PARTS_SWEPT = /** @type {const} */ (["avg", "all"]);
const CURVE_NAMES = /** @type {const} */ (["avg", "all", "gap", "ideal"]);
/** What "ideal" stands for. */
export const IDEAL = "avg of the pooled data as a generator";
const BEST_MARKS = { avg: "M0-4.5A4.5 4.5 0 1 1 0 4.5A4.5 4.5 0 1 1 0-4.5Z", all: "M-4-4H4V4H-4Z" };
const SWEEP_PAD = { left: 46, right: 42, top: 20, bottom: 42 };
const SWEEP_HEIGHT = 250;
// Steep curves leave the frame at the top rather than press the others flat.
const MOST_MEDIANS = 6;

export class CurvePlot {
  constructor() {
    this.plot = new Plot(SWEEP_PAD, { role: "group", "aria-label": "Sweep" });
    // An inner SVG cuts off what leaves its frame, without the ids that a clip path needs.
    this.curves = svg(
      "svg",
      { "aria-hidden": "true" },
      CURVE_NAMES.map((name) => svg("path", { class: `nbm-curve nbm-of-${name}` })),
    );
    this.ends = svg(
      "g",
      { "aria-hidden": "true" },
      CURVE_NAMES.map((name) =>
        svg("text", { class: `nbm-of-${name}` }, [name, ...(name === "ideal" ? [svg("title", {}, [IDEAL])] : [])]),
      ),
    );
    this.best = svg(
      "g",
      { "aria-hidden": "true" },
      PARTS_SWEPT.map((part) =>
        svg("g", { class: `nbm-best nbm-of-${part}` }, [
          svg("path", { d: BEST_MARKS[part] }),
          svg("text", { "text-anchor": "middle" }),
        ]),
      ),
    );
    this.label = svg("text", { class: "nbm-axislabel", "text-anchor": "middle" });
    this.plot.root.append(this.curves, this.ends, this.best, this.label);
    /** @type {[number, number] | null} */
    this.levels = null;
    this.y = linear([0, 1], [1, 0]);
  }

  /** The frame and the x axis. @param {number} width @param {[number, number]} range @param {string} label @param {string} unit */
  paintFrame(width, range, label, unit) {
    this.plot.resize(width, SWEEP_HEIGHT);
    const { x, y } = this.plot.box;
    const across = linear(range, x);
    const units = unit === "°" ? [1.5, 3, 4.5, 9] : undefined;
    this.plot.paintX(
      ticksOf(range, roundStep(range[1] - range[0], this.plot.mostTicks, units)),
      across.at,
      y[0] + 21,
      (value) => tickText(value) + unit,
    );
    setAttributes(this.label, { x: (x[0] + x[1]) / 2, y: y[0] + 37 });
    setText(this.label, shortened(label, width));
    return across;
  }

  /**
   * Every curve that is shown, or none.
   * @param {Sweep | null} sweep @param {boolean} isAligned @param {(value: number) => number} at pixels of a swept value
   * @param {string[]} words the values at the lowest points of avg and all
   */
  paintCurves(sweep, isAligned, at, words) {
    for (const layer of [this.curves, this.ends, this.best, this.plot.gridY]) layer.toggleAttribute("hidden", !sweep);
    if (!sweep) return;
    const shown = shownCurves(sweep, isAligned);
    const values = Object.values(shown).flat();
    this.levels = calmRange(this.levels, Math.min(0, ...values), topOf(values));
    const { x, y } = this.plot.box;
    this.y = linear(this.levels, y);
    this.plot.paintY(ticksOf(this.levels, roundStep(this.levels[1] - this.levels[0], 5)), this.y.at);
    const frame = { x: x[0], y: y[1] - 1, width: x[1] - x[0], height: y[0] - y[1] + 2 };
    setAttributes(this.curves, { ...frame, viewBox: Object.values(frame).join(" ") });
    const xs = sweep.values.map(at);
    CURVE_NAMES.forEach((name, k) =>
      setAttributes(this.curves.children[k], { d: shown[name] ? curve(xs, shown[name].map(this.y.at)) : "M0 0" }),
    );
    this.paintEnds(shown);
    PARTS_SWEPT.forEach((part, k) =>
      this.paintBest(
        this.best.children[k],
        sweep.best[part],
        isAligned && part === "avg" ? sweep.constant : 0,
        at,
        words[k],
        part === "all",
      ),
    );
  }

  /** @param {Record<string, number[]>} shown */
  paintEnds(shown) {
    const { x, y } = this.plot.box;
    const names = CURVE_NAMES.filter((name) => shown[name]);
    const last = names.map((name) => this.y.at(/** @type {number} */ (shown[name].at(-1))));
    const spots = spreadOut(last, 13, y[1] + 4, y[0] - 2);
    CURVE_NAMES.forEach((name, k) => {
      const place = names.indexOf(name);
      this.ends.children[k].toggleAttribute("hidden", place < 0);
      if (place >= 0) setAttributes(this.ends.children[k], { x: x[1] + 6, y: spots[place] + 4 });
    });
  }

  /** @param {Element} node @param {Best | null} best @param {number} less @param {(value: number) => number} at @param {string} word @param {boolean} isBelow where the word goes, if there is room */
  paintBest(node, best, less, at, word, isBelow) {
    const y = best ? this.y.at(best.score - less) : 0;
    node.toggleAttribute("hidden", !best || y < this.plot.box.y[1]);
    if (!best) return;
    setAttributes(node, { transform: `translate(${at(best.at).toFixed(1)} ${y.toFixed(1)})` });
    setAttributes(node.children[1], { y: isBelow && y < this.plot.box.y[0] - 18 ? 17 : -9 });
    setText(node.children[1], word);
  }
}

/** The curves of a view: all of them, or avg without the mean gap beside all. @param {Sweep} sweep @param {boolean} isAligned @returns {Record<string, number[]>} */
function shownCurves({ avg, all, gap, ideal, constant }, isAligned) {
  if (isAligned) return { avg: avg.map((value) => value - constant), all };
  return { avg, all, gap, ...(ideal ? { ideal } : {}) };
}

/** @param {number[]} values */
function topOf(values) {
  const middle = [...values].sort((a, b) => a - b)[values.length >> 1];
  const low = Math.min(0, ...values);
  return Math.min(Math.max(...values), low + MOST_MEDIANS * Math.max(middle - low, 0) || Infinity);
}
