/**
 * A slider on a chart's x axis, moved by dragging or by keys, and the flag of a prediction, which is one: placed before
 * the answer is revealed, which is drawn in once.
 *
 * @import { Scene } from "./types.js"
 * @import { Store } from "./store.js"
 */
import { roundStep } from "./chart.js";
import { setAttributes, setText, svg } from "./dom.js";
import { isOwnKey } from "./keys.js";
import { lockable } from "./locks.js";

/**
 * @typedef {object} Sliding
 * @property {string} label
 * @property {number} value
 * @property {[number, number]} range
 * @property {string} text the value in words
 * @property {number} slope pixels a unit
 * @property {(value: number) => Scene} write made when the drag begins, so that it goes on from what was there
 * @property {boolean} [isPlaced] false as long as a click or Enter should set it where it stands
 * @property {string} [lock] what refuses it, "drag" if not given
 */

export class AxisSlider {
  /** @param {Store} store @param {AbortSignal} signal @param {Element[]} marks what is seen of it @param {string} style */
  constructor(store, signal, marks, style) {
    this.store = store;
    /** @type {Sliding | null} */
    this.now = null;
    /** @type {{id: number, x: number, from: Sliding, moved: boolean} | null} */
    this.drag = null;
    this.node = svg("g", { class: `nbm-handle nbm-grip ${style}`, role: "slider", tabindex: 0 }, marks);
    const on = (/** @type {string} */ name, /** @type {(event: any) => void} */ call) =>
      this.node.addEventListener(name, call, { signal });
    on("pointerdown", (event) => this.press(event));
    on("pointermove", (event) => this.move(event));
    on("pointerup", () => this.release());
    on("pointercancel", () => this.giveUp());
    on("keydown", (event) => this.key(event));
    // touch-action does not reach inside an SVG.
    this.node.addEventListener("touchstart", (event) => event.preventDefault(), { signal, passive: false });
  }

  /** @param {PointerEvent} event */
  press(event) {
    if (event.button !== 0 || this.drag || !this.now) return;
    event.preventDefault();
    this.node.setPointerCapture(event.pointerId);
    this.node.focus({ preventScroll: true });
    this.drag = { id: event.pointerId, x: event.clientX, from: this.now, moved: false };
  }

  /** @param {PointerEvent} event */
  move(event) {
    const { drag, store } = this;
    if (!drag || event.pointerId !== drag.id) return;
    if (drag.moved && !store.before) this.drag = null; // Escape gave it up
    if (!this.drag || event.clientX === drag.x) return;
    drag.moved = true;
    const { value, range, slope, write, lock } = drag.from;
    const from = Math.min(range[1], Math.max(range[0], value));
    store.preview(write(roundTo(from + (event.clientX - drag.x) / slope, range, 500)), lock);
  }

  release() {
    const { drag } = this;
    this.drag = null;
    if (drag?.moved) this.store.finish();
    else if (drag) this.settle();
  }

  settle() {
    if (this.now?.isPlaced === false) this.store.edit(this.now.write(this.now.value), this.now.lock);
  }

  giveUp() {
    const { drag } = this;
    this.drag = null;
    if (drag?.moved) this.store.cancel();
  }

  /** Arrows move a hundredth of the range, with Shift a tenth. @param {KeyboardEvent} event */
  key(event) {
    if (!isOwnKey(event) || !this.now) return;
    const { value, range, write, lock = "drag" } = this.now;
    const step = roundStep(range[1] - range[0], 100) * (event.shiftKey ? 10 : 1);
    /** @type {Record<string, number>} */
    const next = {
      ArrowRight: value + step,
      ArrowUp: value + step,
      ArrowLeft: value - step,
      ArrowDown: value - step,
      Home: range[0],
      End: range[1],
    };
    const sets = event.key === "Enter" || event.key === " ";
    if (!sets && !(event.key in next)) return;
    event.preventDefault();
    if (sets) return this.settle();
    const wanted = roundTo(next[event.key], range, 500);
    this.store.edit(write(wanted), lock);
    if (!this.store.isLocked(lock)) this.now = { ...this.now, value: wanted }; // the next key may come before the next paint
  }

  /** @param {Sliding} now @param {number} x @param {number} y */
  paint(now, x, y) {
    this.now = now;
    setAttributes(this.node, {
      transform: `translate(${x} ${y})`,
      "aria-label": now.label,
      "aria-valuenow": now.value,
      "aria-valuemin": Math.min(now.range[0], now.value),
      "aria-valuemax": Math.max(now.range[1], now.value),
      "aria-valuetext": now.text,
    });
  }
}

/** Within the range, in round parts of it, as a person would type. @param {number} value @param {[number, number]} range @param {number} parts */
function roundTo(value, [low, high], parts) {
  const step = roundStep(high - low, parts);
  return Math.min(high, Math.max(low, Number((Math.round(value / step) * step).toFixed(9))));
}

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
const CAPTION_PIXELS = 36;
const TOUCH = { wide: 44, behind: 12 };
// Of the axis, from where a flag is flown to the left.
const LEFTWARD = 0.6;
/** Milliseconds that an answer is drawn in; chart.css says how. */
const DRAW_IN_MS = 1600;

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
    setAttributes(this.text, { x: CAPTION_PIXELS * side, y: 12 - height, "text-anchor": side < 0 ? "end" : "start" });
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
    if (isNew) setTimeout(() => this.node.classList.remove("nbm-drawing"), DRAW_IN_MS);
    if (isNew || !isShown) this.node.classList.toggle("nbm-drawing", isNew);
  }
}
