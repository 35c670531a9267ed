/**
 * The axis on which a score is guessed: a range input with a flag, and after Reveal a mark at the answer.
 *
 * @import { Prediction } from "./lesson.js"
 * @import { Progress } from "../../toolkit/view/types.js"
 * @import { PlaneStore } from "../../plane/view/store.js"
 */
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { lockable } from "../../toolkit/view/locks.js";
import { numeral } from "../../toolkit/view/numbers.js";
import { slides } from "../../toolkit/view/slider.js";
import { partLabel } from "./lesson.js";

const GUESS_STEPS = 100;
const GUESS_TICKS = 4;

export class GuessAxis {
  /** @param {PlaneStore} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.input = el("input", { type: "range", "aria-label": "Your guess" });
    lockable("", this.input);
    this.label = el("span", { class: "nbm-axis-label" });
    this.ticks = el("div", { class: "nbm-axis-ticks", "aria-hidden": "true" });
    this.answer = el("div", { class: "nbm-axis-answer", "aria-hidden": "true" });
    this.line = el("div", { class: "nbm-axis-line" }, [this.input, this.answer, this.ticks]);
    this.root = el("div", { class: "nbm-guess-axis" }, [this.line, this.label]);
    this.drawn = "";
    this.listen(signal);
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    const { input, store } = this;
    const placed = (/** @type {number} */ guess) => {
      const { scene } = store;
      return { ...scene, lesson: scene.lesson && { ...scene.lesson, guess } };
    };
    slides(input, store, placed, signal, { lock: "", stride: 1 });
    // A click, or Enter, on the flag where it stands places it there too: nothing changes, so no input event tells.
    const settle = () => {
      if (store.scene.lesson?.guess === null) store.preview(placed(input.valueAsNumber), "");
      store.finish();
    };
    input.addEventListener("click", settle, { signal });
    input.addEventListener(
      "keydown",
      (event) => {
        if (event.key === "Enter" || event.key === " ") settle();
      },
      { signal },
    );
  }

  /** @param {Prediction | null} predict @param {Progress} progress */
  paint(predict, { guess, revealed, answer }) {
    const { axis } = predict ?? {};
    this.root.hidden = !axis;
    if (!axis || !predict) return;
    const [low, high] = axis;
    this.draw(low, high);
    setText(this.label, partLabel(predict.metric, predict.aggregate));
    const shown = String(guess ?? (low + high) / 2);
    if (this.input.value !== shown) this.input.value = shown;
    this.input.disabled = revealed;
    this.line.classList.toggle("nbm-unplaced", guess === null);
    setAttributes(this.input, { "aria-valuetext": guess === null ? "not placed yet" : numeral(guess) });
    this.answer.hidden = answer === null;
    if (answer === null) return;
    const place = (/** @type {number} */ value) => Math.min(1, Math.max(0, (value - low) / (high - low)));
    const at = place(answer);
    this.answer.style.setProperty("--at", String(at));
    this.answer.style.setProperty("--from", String(place(guess ?? low))); // it is drawn in from the guess
    // Its number is written on the side away from the flag, where there is room.
    this.answer.classList.toggle("nbm-leftward", at > 0.1 && (guess ?? low) > answer);
    setText(this.answer, numeral(answer));
  }

  /** @param {number} low @param {number} high */
  draw(low, high) {
    const key = `${low} ${high}`;
    if (key === this.drawn) return;
    this.drawn = key;
    setAttributes(this.input, { min: low, max: high, step: (high - low) / GUESS_STEPS });
    const values = Array.from({ length: GUESS_TICKS + 1 }, (_, k) => low + (k * (high - low)) / GUESS_TICKS);
    this.ticks.replaceChildren(...values.map((value) => el("span", {}, [String(Number(value.toPrecision(3)))])));
  }
}
