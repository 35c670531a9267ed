/**
 * The flag that a learner places on the axis of a sweep before the curves are shown.
 *
 * @import { Subject, Sweep } from "./sweep.js"
 * @import { PlaneStore } from "../../plane/view/store.js"
 */
import { PredictionFlag } from "../../toolkit/view/predict.js";
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
