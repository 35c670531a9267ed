/**
 * Something on a chart's x axis that is dragged, or moved by keys.
 *
 * @import { Scene } from "./types.js"
 * @import { Store } from "./store.js"
 */
import { roundStep } from "./chart.js";
import { setAttributes, svg } from "./dom.js";

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
    store.preview(write(rounded(from + (event.clientX - drag.x) / slope, range, 500)), lock);
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
    if (event.key === "Tab" || event.ctrlKey || event.metaKey || event.altKey || !this.now) return;
    event.stopPropagation();
    if (event.key === "Escape") return this.store.cancel();
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
    const wanted = rounded(next[event.key], range, 500);
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
function rounded(value, [low, high], parts) {
  const step = roundStep(high - low, parts);
  return Math.min(high, Math.max(low, Number((Math.round(value / step) * step).toFixed(9))));
}
