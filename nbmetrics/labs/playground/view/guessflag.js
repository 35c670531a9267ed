/**
 * The flag that a learner places on the axis of a sweep before the curves are shown.
 *
 * @import { Subject, Sweep } from "./sweep.js"
 * @import { PlaneStore } from "../../plane/view/store.js"
 */
import { AxisSlider } from "../../toolkit/view/axisslider.js";
import { setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { lockable } from "../../toolkit/view/locks.js";
import { indexNow, lessonOf } from "./lesson.js";
import { readValue } from "./sweep.js";

/** @typedef {{guess: number | null, revealed: boolean}} Asked */

/** The prediction over a sweep that the lesson asks for, if any; once it is revealed, only where that sweep is charted. @param {PlaneStore} store @param {number} g the generator charted @returns {Asked | null} */
export function askedOf({ model, scene }, g) {
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

export class GuessFlag {
  /** @param {PlaneStore} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.pole = svg("line", { class: "nbm-pole" });
    this.cloth = svg("path", { class: "nbm-mark" });
    this.text = svg("text", { "aria-hidden": "true" });
    this.upper = svg("rect", { class: "nbm-touch", width: 44, height: 34 });
    this.along = svg("rect", { class: "nbm-touch", x: -14, width: 28, rx: 6 });
    const foot = svg("circle", { class: "nbm-mark", r: 6 });
    this.slider = new AxisSlider(store, signal, [this.pole, this.along, this.upper, foot, this.cloth], "nbm-flag");
    lockable("", this.slider.node);
    this.root = svg("g", { class: "nbm-flagged" }, [this.slider.node, this.text]);
  }

  /** @param {Asked | null} asked @param {Sweep} sweep @param {Subject} subject @param {{y: [number, number]}} box @param {{at: (value: number) => number, slope: number}} x */
  paint(asked, { range }, subject, { y: [base, top] }, x) {
    const { slider, store } = this;
    this.root.toggleAttribute("hidden", !asked || (asked.revealed && asked.guess === null));
    if (!asked) return;
    const { guess, revealed } = asked;
    const value = Math.min(range[1], Math.max(range[0], guess ?? (range[0] + range[1]) / 2));
    const text = guess === null ? "not placed yet" : readValue(value, subject);
    const write = (/** @type {number} */ next) => ({
      ...store.scene,
      lesson: store.scene.lesson && { ...store.scene.lesson, guess: next },
    });
    slider.paint(
      { label: "Your guess", value, range, text, slope: x.slope, write, isPlaced: guess !== null, lock: "" },
      x.at(value),
      base,
    );
    if (revealed) slider.now = null;
    setAttributes(slider.node, { tabindex: revealed ? -1 : 0, "aria-disabled": String(revealed) });
    setAttributes(this.text, { transform: `translate(${x.at(value)} ${base})` });
    this.paintCloth(
      guess === null ? "Your guess?" : `Your guess: ${text}`,
      base - top - 8,
      value > (range[0] + 2 * range[1]) / 3,
    );
  }

  /** @param {string} text @param {number} height @param {boolean} isLeft flown to the left, near the right end */
  paintCloth(text, height, isLeft) {
    const side = isLeft ? -1 : 1;
    setAttributes(this.pole, { y1: 0, y2: -height });
    setAttributes(this.along, { y: -height, height: height + 14 });
    setAttributes(this.upper, { x: isLeft ? -32 : -12, y: -height - 6 });
    setAttributes(this.cloth, { d: `M0 ${-height}L${24 * side} ${8 - height}L0 ${16 - height}Z` });
    setAttributes(this.text, { x: 30 * side, y: 12 - height, "text-anchor": isLeft ? "end" : "start" });
    setText(this.text, text);
  }
}
