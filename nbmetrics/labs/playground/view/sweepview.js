/**
 * Curves of avg, all and their gap over one parameter, with the present value as a marker that can be dragged. While a
 * lesson waits for a prediction the curves stay hidden, and there is a flag to place instead.
 *
 * @import { Best, Subject, Sweep } from "./sweep.js"
 * @import { View } from "../../toolkit/view/types.js"
 * @import { PlaneStore } from "../../plane/view/store.js"
 * @import { Chart } from "./explore.js"
 */

import { AxisSlider } from "../../toolkit/view/axisslider.js";
import { NumberTable, resizeChildren } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { figure } from "../../toolkit/view/numbers.js";
import { isTie } from "../../toolkit/view/ties.js";
import { CurvePlot, IDEAL, PARTS_SWEPT } from "./curves.js";
import { askedOf, GuessFlag } from "./guessflag.js";
import { CHARTED } from "./metrics.js";
import { PARAMETERS, readValue, subjectOf, sweepableOf, sweepKey, sweepOf, sweptMetric, sweptTo } from "./sweep.js";

const EACH_IN_TABLE = 3;

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
    this.root = el("div", { class: "nbm-sweep" }, [controls, this.words, this.curves.plot.root, this.numbers.root]);
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
    setText(
      this.words,
      isHidden
        ? "The curves are hidden until you reveal them. Drag the flag to where you expect the best place."
        : wordsOf(chart, subject, sweep),
    );
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
function wordsOf({ scene }, subject, sweep) {
  const metric = scene.view?.metric ?? "fid";
  const { label } = CHARTED[sweep.metric];
  const excuse =
    metric === sweep.metric ? "" : `${CHARTED[metric].label} has no closed form to sweep here; this is FID. `;
  const said = scene.view?.aligned ? alignedWords(label, sweep) : bestWords(label, subject, sweep);
  return excuse + said;
}

/** @param {string} label @param {Subject} subject @param {Sweep} sweep */
function bestWords(label, subject, { best }) {
  if (subject.parameter === "weight") return `${label}: the generator stays, its scores move with the weight.`;
  const [avg, all] = [best.avg, best.all].map(
    (extreme) => extreme && `${readValue(extreme.at, subject)}${extreme.isEnd ? " (edge)" : ""}`,
  );
  if (!avg && !all) return `${label}: neither avg nor all depends on it here.`;
  if (avg === all) return `${label}: avg and all are both best at ${avg}.`;
  if (!avg || !all)
    return `${label}: ${avg ? "avg" : "all"} is best at ${avg || all}, ${avg ? "all" : "avg"} does not depend on it.`;
  return `${label}: avg is best at ${avg}, all at ${all}.`;
}

/** @param {string} label @param {Sweep} sweep */
function alignedWords(label, { constant, spread, size }) {
  if (isTie(spread, 0, size))
    return `${label}: avg − ${figure(constant)} and all are one curve. The gap is a constant, so both rank alike.`;
  return `${label}: avg − ${figure(constant)}, the mean gap, and all do not coincide: the gap departs from it by up to ${figure(spread)}.`;
}

/** @param {Sweep} sweep @param {Subject} subject */
function sweepTable({ values, avg, all, gap, ideal }, subject) {
  const rows = values.map((value, k) => [
    readValue(value, subject),
    ...[avg, all, gap, ...(ideal ? [ideal] : [])].map((curve) => figure(curve[k])),
  ]);
  return {
    heads: [subject.parameter, "avg", "all", "gap", ...(ideal ? [IDEAL] : [])],
    rows: rows.filter((_, k) => k % EACH_IN_TABLE === 0),
  };
}
