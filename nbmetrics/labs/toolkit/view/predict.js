/**
 * Predict, then reveal: a flag on a chart's axis, and the answer that is drawn in once when it is revealed.
 *
 * @import { Scene } from "./types.js"
 * @import { Store } from "./store.js"
 */
import { AxisSlider } from "./axisslider.js";
import { setAttributes, setText, svg } from "./dom.js";
import { lockable } from "./locks.js";

/**
 * @typedef {object} Prediction
 * @property {string} label of the slider
 * @property {number | null} guess null until the flag is placed
 * @property {number} start where the flag waits
 * @property {[number, number]} range
 * @property {boolean} revealed
 * @property {(value: number) => string} read a value in words
 * @property {(text: string | null) => string} caption beside the cloth, of the guess in words or of none
 * @property {(value: number) => Scene} write
 */

const PENNANT = "M0 0L24 8L0 16Z";
const UNPLACED = "not placed yet";
// Pixels: from the pole to its caption, and what takes a finger.
const CAPTION = 36;
const TOUCH = { wide: 44, behind: 12 };
// Of the axis, from where a flag is flown to the left.
const LEFTWARD = 0.6;
/** Milliseconds that an answer is drawn in; chart.css says how. */
const DRAWN_IN = 1600;

/** A flag: placed by dragging it, by arrow keys, or by a click or Enter where it stands. It stays after Reveal. */
export class PredictionFlag {
  /** @param {Store} store @param {AbortSignal} signal @param {{style?: string, cloth?: string}} [look] */
  constructor(store, signal, { style = "", cloth = PENNANT } = {}) {
    this.pole = svg("line", { class: "nbm-pole" });
    this.cloth = svg("path", { class: "nbm-mark", d: cloth });
    this.touch = svg("rect", { class: "nbm-touch", width: TOUCH.wide, rx: 6 });
    this.text = svg("text", { "aria-hidden": "true" });
    const foot = svg("circle", { class: "nbm-mark", r: 6 });
    const marks = [this.pole, this.touch, foot, this.cloth, this.text];
    this.slider = new AxisSlider(store, signal, marks, `nbm-flag ${style}`);
    this.node = this.slider.node;
    lockable("", this.node);
  }

  /**
   * @param {Prediction | null} asked null where nothing is asked @param {{at: (value: number) => number, slope: number}} x
   * @param {number} base pixels of the axis @param {number} height
   */
  paint(asked, x, base, height) {
    this.node.toggleAttribute("hidden", !asked || (asked.revealed && asked.guess === null));
    if (!asked) return;
    const { label, guess, start, range, revealed, read, caption, write } = asked;
    const [low, high] = range;
    const value = Math.min(high, Math.max(low, guess ?? start));
    const text = guess === null ? UNPLACED : read(value);
    const isPlaced = guess !== null;
    this.slider.paint({ label, value, range, text, slope: x.slope, write, isPlaced, lock: "" }, x.at(value), base);
    if (revealed) this.slider.now = null;
    setAttributes(this.node, { tabindex: revealed ? -1 : 0, "aria-disabled": String(revealed) });
    setText(this.text, caption(isPlaced ? text : null));
    this.fly(height, value > low + LEFTWARD * (high - low) ? -1 : 1);
  }

  /** @param {number} height @param {number} side −1 to the left, where there is more room */
  fly(height, side) {
    setAttributes(this.pole, { y1: 0, y2: -height });
    const x = side < 0 ? TOUCH.behind - TOUCH.wide : -TOUCH.behind;
    setAttributes(this.touch, { x, y: -height - 4, height: height + 14 });
    setAttributes(this.cloth, { transform: `translate(0 ${-height}) scale(${side} 1)` });
    setAttributes(this.text, { x: CAPTION * side, y: 12 - height, "text-anchor": side < 0 ? "end" : "start" });
  }
}

/** Marks a node while the answer to a question that was open is drawn in, once. */
export class DrawIn {
  /** @param {Element} node */
  constructor(node) {
    this.node = node;
    this.wasOpen = false;
  }

  /** @param {boolean} isOpen whether a question is asked @param {boolean} isShown whether it is revealed */
  paint(isOpen, isShown) {
    const isNew = isShown && this.wasOpen;
    this.wasOpen = isOpen && !isShown;
    if (isNew) setTimeout(() => this.node.classList.remove("nbm-drawing"), DRAWN_IN);
    if (isNew || !isShown) this.node.classList.toggle("nbm-drawing", isNew);
  }
}
