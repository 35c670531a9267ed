/**
 * The one scrubber: the slider Step, Play and Pause, Follow, and every plot that is pressed. Where it follows, the newest
 * step is on show; once it was touched, new steps move nothing.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Numbers, Scene } from "./types.js"
 */
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { isOwnKey } from "../../toolkit/view/keys.js";
import { lockable } from "../../toolkit/view/locks.js";
import { stepText } from "./formatting.js";
import { nearest } from "./page_decoding.js";

// Milliseconds between two frames of Play, and seconds that a long run takes.
const FRAME = 60;
const SECONDS = 12;

export class Scrubber {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.timer = undefined;
    this.slider = el("input", { type: "range", "aria-label": "Step", step: "1" });
    lockable("", this.slider);
    this.play = el("button", { type: "button" }, ["Play"]);
    this.pause = el("button", { type: "button", hidden: "" }, ["Pause"]);
    this.follow = el("button", { type: "button" }, ["Follow"]);
    this.words = el("output", { class: "nbm-step-words" });
    this.root = el("div", { class: "nbm-step-scrubber" }, [
      this.play,
      this.pause,
      this.slider,
      this.words,
      this.follow,
    ]);
    const on = (
      /** @type {HTMLElement} */ node,
      /** @type {string} */ name,
      /** @type {(event: any) => void} */ call,
    ) => node.addEventListener(name, call, { signal });
    on(this.slider, "input", () => this.preview(this.slider.valueAsNumber));
    on(this.slider, "change", () => this.store.finish());
    on(this.slider, "keydown", (event) => this.key(event));
    on(this.play, "click", () => this.start());
    on(this.pause, "click", () => this.stop());
    on(this.follow, "click", () => this.go(null));
    signal.addEventListener("abort", () => this.stop());
  }

  get steps() {
    return /** @type {Numbers} */ (/** @type {unknown} */ (this.store.numbers)).steps;
  }

  /** The place of the step on show. */
  get place() {
    const { step } = /** @type {Numbers} */ (/** @type {unknown} */ (this.store.numbers));
    return step === null ? -1 : nearest(this.steps, step);
  }

  /** @param {number | null} step @returns {any} */
  sceneAt(step) {
    const { steps } = this;
    return { ...this.store.scene, shown: step === null || !steps.length ? null : steps[nearest(steps, step)] };
  }

  /** Show a step, null for the newest from now on. @param {number | null} step */
  go(step) {
    this.stop();
    this.store.edit(this.sceneAt(step), "");
  }

  /** While a pointer moves. @param {number} step */
  preview(step) {
    this.pauseOnly();
    this.store.preview(this.sceneAt(step), "");
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!isOwnKey(event)) return;
    const { place, steps } = this;
    const page = Math.max(1, Math.round(steps.length / 10));
    const one = event.shiftKey ? 10 : 1;
    /** @type {Record<string, number>} */
    const moves = { ArrowRight: one, ArrowUp: one, ArrowLeft: -one, ArrowDown: -one, PageUp: page, PageDown: -page };
    if (event.key === "Home") this.go(steps.length ? steps[0] : null);
    else if (event.key === "End") this.go(null);
    else if (event.key in moves && steps.length)
      this.go(steps[Math.min(steps.length - 1, Math.max(0, place + moves[event.key]))]);
    else return;
    event.preventDefault();
  }

  /** A plot that is pressed or dragged shows the step there. @param {SVGSVGElement | HTMLCanvasElement} node @param {(x: number) => number} stepAt @param {AbortSignal} signal */
  follows(node, stepAt, signal) {
    let held = -1;
    const show = (/** @type {PointerEvent} */ event) =>
      this.preview(stepAt(event.clientX - node.getBoundingClientRect().left));
    const on = (/** @type {string} */ name, /** @type {(event: any) => void} */ call) =>
      node.addEventListener(name, call, { signal });
    on("pointerdown", (event) => {
      if (event.button !== 0 || held >= 0 || !this.steps.length) return;
      held = event.pointerId;
      event.preventDefault(); // the press would take the focus
      this.slider.focus({ preventScroll: true });
      node.setPointerCapture(held);
      show(event);
    });
    on("pointermove", (event) => event.pointerId === held && show(event));
    on("pointerup", () => held >= 0 && this.store.finish());
    on("pointercancel", () => held >= 0 && this.store.cancel());
    on("lostpointercapture", () => (held = -1));
  }

  start() {
    const { steps } = this;
    if (steps.length < 2) return;
    const stride = Math.max(1, Math.ceil((steps.length * FRAME) / (1000 * SECONDS)));
    const isAtEnd = this.place >= steps.length - 1;
    let place = isAtEnd ? -stride : this.place;
    this.timer ??= setInterval(() => {
      place += stride;
      const { steps } = this;
      if (place >= steps.length - 1) this.go(null);
      else this.store.preview(/** @type {any} */ ({ ...this.store.scene, shown: steps[place] }), "");
    }, FRAME);
    this.store.changed();
  }

  stop() {
    if (this.timer === undefined) return;
    this.pauseOnly();
    this.store.finish();
  }

  pauseOnly() {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** @param {Scene} _scene @param {Numbers} numbers */
  paint(_scene, { steps, step, isFollowing }) {
    const [first, last] = steps.length ? [steps[0], steps[steps.length - 1]] : [0, 0];
    setAttributes(this.slider, { min: first, max: last });
    this.slider.value = String(step ?? 0);
    const text = step === null ? "no step yet" : `step ${stepText(step)}${isFollowing ? ", the newest" : ""}`;
    setAttributes(this.slider, { "aria-valuetext": text });
    setText(this.words, step === null ? "No step yet" : `Step ${stepText(step)} of ${stepText(last)}`);
    const had = [this.play, this.pause].includes(/** @type {any} */ (document.activeElement));
    const isPlaying = this.timer !== undefined;
    [this.play.hidden, this.pause.hidden] = [isPlaying, !isPlaying];
    if (had) (isPlaying ? this.pause : this.play).focus({ preventScroll: true });
    const hadFollow = this.follow === document.activeElement;
    this.follow.hidden = isFollowing;
    if (hadFollow && isFollowing) this.slider.focus({ preventScroll: true });
  }
}
