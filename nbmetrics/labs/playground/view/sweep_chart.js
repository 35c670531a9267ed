/**
 * The chart of a sweep: curves of avg, all and their gap over one parameter, with the present value as a marker that can
 * be dragged. While a lesson waits for a prediction the curves stay hidden, and there is a flag to place instead.
 *
 * @import { Best, Subject, Sweep } from "./sweep.js"
 * @import { PlaneStore } from "../../plane/view/store.js"
 * @import { View } from "../../toolkit/view/types.js"
 * @import { Chart } from "./explore.js"
 */

import { AxisSlider, PredictionFlag } from "../../toolkit/view/axis_slider.js";
import {
  calmRange,
  curve,
  linear,
  NumberTable,
  Plot,
  resizeChildren,
  roundStep,
  spreadOut,
  ticksOf,
} from "../../toolkit/view/chart.js";
import { el, setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { shortened } from "../../toolkit/view/name_width.js";
import { figure, tickText } from "../../toolkit/view/numbers.js";
import { isTie } from "../../toolkit/view/ties.js";
import { indexNow, lessonOf } from "./lesson.js";
import { CHARTED } from "./metrics.js";
import { PARAMETERS, readValue, subjectOf, sweepableOf, sweepKey, sweepOf, sweptMetric, sweptTo } from "./sweep.js";

/** @typedef {{guess: number | null, revealed: boolean}} Asked */

/** The prediction over a sweep that the lesson asks for, if any; once it is revealed, only where that sweep is charted. @param {PlaneStore} store @param {number} g the generator charted @returns {Asked | null} */
function askedOf({ model, scene }, g) {
  const { lesson, view } = scene;
  const predict = lessonOf(model.get("lessons"), scene)?.predict;
  if (!lesson || !predict?.sweep || predict.sweep !== view?.sweep) return null;
  const isOther = predict.metric !== view.metric || indexNow(scene, predict.generator) !== g;
  return lesson.revealed && isOther ? null : lesson;
}

/** The generator whose sweep a lesson asks about and still hides, −1 if there is none. @param {PlaneStore} store */
export function hiddenSweepOf({ model, scene }) {
  const predict = lessonOf(model.get("lessons"), scene)?.predict;
  return predict?.sweep && !scene.lesson?.revealed ? indexNow(scene, predict.generator) : -1;
}

class GuessFlag {
  /** @param {PlaneStore} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.flag = new PredictionFlag(store, signal);
    this.root = this.flag.node;
  }

  /** @param {Asked | null} asked @param {Sweep} sweep @param {Subject} subject @param {{y: [number, number]}} box @param {{at: (value: number) => number, slope: number}} x */
  paint(asked, { range }, subject, { y: [base, top] }, x) {
    const { store } = this;
    const write = (/** @type {number} */ guess) => ({
      ...store.scene,
      lesson: store.scene.lesson && { ...store.scene.lesson, guess },
    });
    const prediction = asked && {
      ...asked,
      label: "Your guess",
      start: (range[0] + range[1]) / 2,
      range,
      read: (/** @type {number} */ value) => readValue(value, subject),
      caption: (/** @type {string | null} */ text) => (text === null ? "Your guess?" : `Your guess: ${text}`),
      write,
    };
    this.flag.paint(prediction, x, base, base - top - 8);
  }
}

const PARTS_SWEPT = /** @type {const} */ (["avg", "all"]);
const CURVE_NAMES = /** @type {const} */ (["avg", "all", "gap", "ideal"]);
/** What "ideal" stands for. */
const IDEAL = "avg of the pooled data as a generator";
const BEST_MARKS = { avg: "M0-4.5A4.5 4.5 0 1 1 0 4.5A4.5 4.5 0 1 1 0-4.5Z", all: "M-4-4H4V4H-4Z" };
const SWEEP_PAD = { left: 46, right: 42, top: 20, bottom: 42 };
const SWEEP_HEIGHT = 250;
// Steep curves leave the frame at the top rather than press the others flat.
const MAX_MEDIANS_SHOWN = 6;

class CurvePlot {
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
  return Math.min(Math.max(...values), low + MAX_MEDIANS_SHOWN * Math.max(middle - low, 0) || Infinity);
}

const TABLE_EVERY_NTH = 3;

export class SweepView {
  /** @param {PlaneStore} store @param {AbortSignal} signal @param {(change: Partial<View>) => void} edit what the scene charts */
  constructor(store, signal, edit) {
    this.store = store;
    this.parameter = el("select", { "aria-label": "Parameter" });
    this.aligned = el("input", { type: "checkbox" });
    const aligned = el("label", { class: "nbm-check" }, [this.aligned, "Subtract the constant"]);
    this.words = el("p", { class: "nbm-said" });
    this.curves = new CurvePlot();
    this.dots = svg(
      "g",
      { class: "nbm-now", "aria-hidden": "true" },
      PARTS_SWEPT.map((part) => svg("circle", { r: 3.5, class: `nbm-of-${part}` })),
    );
    this.pole = svg("line", { class: "nbm-pole" });
    this.value = svg("text", { "text-anchor": "middle" });
    this.along = svg("rect", { class: "nbm-touch", x: -12, width: 24, rx: 6 });
    this.marker = new AxisSlider(
      store,
      signal,
      [this.pole, this.along, svg("path", { class: "nbm-mark", d: "M0-7L8 2V9H-8V2Z" }), this.value],
      "nbm-marker",
    );
    this.flag = new GuessFlag(store, signal);
    this.curves.plot.root.append(this.dots, this.marker.node, this.flag.root);
    this.numbers = new NumberTable("Sweep");
    const controls = el("div", { class: "nbm-controls" }, [el("label", {}, ["Vary ", this.parameter]), aligned]);
    this.root = el("div", { class: "nbm-sweep" }, [this.words, this.curves.plot.root, controls, this.numbers.root]);
    this.parameter.addEventListener("change", () => edit({ sweep: this.parameter.value }), { signal });
    this.aligned.addEventListener("change", () => edit({ aligned: this.aligned.checked }), { signal });
    /** @type {{key: string, data: object, sweep: Sweep} | null} */
    this.memo = null;
  }

  /** @param {Chart} chart */
  paint(chart) {
    const subject = subjectOf(chart.scene, chart.g, chart.c);
    const sweep = this.sweepOf(chart, subject);
    const asked = askedOf(this.store, chart.g);
    const isHidden = asked !== null && !asked.revealed;
    this.paintControls(chart, subject);
    this.parameter.disabled = isHidden; // another parameter would show what is asked
    const isAligned = chart.scene.view?.aligned ?? false;
    const { label, unit } = PARAMETERS[subject.parameter];
    const x = this.curves.paintFrame(chart.width, sweep.range, `${label} of ${subject.item.name}`, unit);
    const words = PARTS_SWEPT.map((part) => this.bestWord(sweep.best[part], subject, x.at));
    this.curves.paintCurves(isHidden ? null : sweep, isAligned, x.at, words);
    this.paintMarker(chart, subject, sweep, x, isHidden);
    this.flag.paint(asked, sweep, subject, this.curves.plot.box, x);
    setText(this.words, isHidden ? "" : wordsOf(chart, subject, sweep));
    this.numbers.paint(chart.isFull && !isHidden, () => sweepTable(sweep, subject));
  }

  /** Where a curve is lowest, unless the marker's own value is written there. @param {Best | null} best @param {Subject} subject @param {(value: number) => number} at */
  bestWord(best, subject, at) {
    if (!best || Math.abs(at(best.at) - at(PARAMETERS[subject.parameter].get(subject.item))) < 20) return "";
    return readValue(best.at, subject);
  }

  /** @param {Chart} chart @param {Subject} subject @returns {Sweep} */
  sweepOf({ scene, data, g }, subject) {
    const metric = sweptMetric(scene, data, g);
    const key = sweepKey(scene, metric, subject, g);
    if (this.memo?.key !== key || this.memo.data !== data)
      this.memo = { key, data, sweep: sweepOf(scene, data, metric, subject, g) };
    return this.memo.sweep;
  }

  /** @param {Chart} chart @param {Subject} subject */
  paintControls({ scene, g, c }, { parameter }) {
    const names = [...sweepableOf(scene.generators[g]), "weight"];
    const options = /** @type {HTMLOptionElement[]} */ (
      resizeChildren(this.parameter, names.length, () => el("option"))
    );
    options.forEach((option, k) => {
      setAttributes(option, { value: names[k] });
      setText(option, names[k] === "weight" ? `Weight of ${scene.clients[c].name}` : PARAMETERS[names[k]].label);
    });
    if (this.parameter.value !== parameter) this.parameter.value = parameter;
    this.aligned.checked = scene.view?.aligned ?? false;
  }

  /** @param {Chart} chart @param {Subject} subject @param {Sweep} sweep @param {{at: (value: number) => number, slope: number}} x @param {boolean} isHidden */
  paintMarker({ scene, g }, subject, sweep, x, isHidden) {
    for (const node of [this.marker.node, this.dots]) node.toggleAttribute("hidden", isHidden);
    if (isHidden) return;
    const value = PARAMETERS[subject.parameter].get(subject.item);
    const { range } = sweep;
    const within = Math.min(range[1], Math.max(range[0], value));
    const [base, top] = this.curves.plot.box.y;
    const text = readValue(value, subject);
    const write = (/** @type {number} */ next) => sweptTo(this.store.scene, subject, next);
    this.marker.paint(
      { label: `${subject.parameter} of ${subject.item.name}`, value, range, text, slope: x.slope, write },
      x.at(within),
      base,
    );
    setAttributes(this.pole, { y1: 0, y2: top - base });
    setAttributes(this.along, { y: top - base, height: base - top + 14 });
    setAttributes(this.value, { y: top - base - 6 });
    setText(this.value, value > range[1] ? `${text} ›` : value < range[0] ? `‹ ${text}` : text);
    const numbers = this.store.numbers[sweep.metric];
    const less = scene.view?.aligned ? sweep.constant : 0;
    const levels = [numbers.avg[g] - less, numbers.all[g]].map(this.curves.y.at);
    levels.forEach((y, k) => {
      setAttributes(this.dots.children[k], { cx: x.at(within), cy: y });
      this.dots.children[k].toggleAttribute("hidden", y < top - 2 || value !== within);
    });
  }
}

/** What the curves say. @param {Chart} chart @param {Subject} subject @param {Sweep} sweep */
function wordsOf({ scene, g }, subject, sweep) {
  const kept = scene.generators[g].parts
    ? "the ellipses stay fixed; their shares and the scores change"
    : "the generator stays fixed; its scores change";
  const metric = scene.view?.metric ?? "fid";
  const { label } = CHARTED[sweep.metric];
  const excuse =
    metric === sweep.metric ? "" : `${CHARTED[metric].label} has no closed form to sweep here; this is FID. `;
  const said = scene.view?.aligned ? alignedWords(label, sweep) : bestWords(label, subject, sweep, kept);
  return excuse + said;
}

/** @param {string} label @param {Subject} subject @param {Sweep} sweep @param {string} kept what a weight leaves as it is */
function bestWords(label, subject, { best }, kept) {
  if (subject.parameter === "weight") return `${label}: ${kept} with the weight.`;
  const [avg, all] = [best.avg, best.all].map(
    (extreme) => extreme && `${readValue(extreme.at, subject)}${extreme.isEnd ? " (edge)" : ""}`,
  );
  if (!avg && !all) return `${label}: here neither avg nor all depends on this parameter.`;
  if (avg === all) return `${label}: avg and all are both best at ${avg}.`;
  if (!avg || !all)
    return `${label}: ${avg ? "avg" : "all"} is best at ${avg || all}, ${avg ? "all" : "avg"} does not depend on it.`;
  return `${label}: avg is best at ${avg}, all at ${all}.`;
}

/** @param {string} label @param {Sweep} sweep */
function alignedWords(label, { constant, spread, size }) {
  if (isTie(spread, 0, size))
    return `${label}: avg − ${figure(constant)} and all are one curve. The gap is constant, so both rank generators alike.`;
  return `${label}: avg − ${figure(constant)}, the mean gap, and all do not coincide: the gap differs from its mean by up to ${figure(spread)}.`;
}

/** @param {Sweep} sweep @param {Subject} subject */
function sweepTable({ values, avg, all, gap, ideal }, subject) {
  const rows = values.map((value, k) => [
    readValue(value, subject),
    ...[avg, all, gap, ...(ideal ? [ideal] : [])].map((curve) => figure(curve[k])),
  ]);
  return {
    heads: [subject.parameter, "avg", "all", "gap", ...(ideal ? [IDEAL] : [])],
    rows: rows.filter((_, k) => k % TABLE_EVERY_NTH === 0),
  };
}
