/**
 * Predict, then reveal: two flags on the axis of shares say where FID-test and FLD will notice; then the curves do.
 *
 * @import { NoticeLesson } from "./maths.js"
 * @import { MemoState } from "./state.js"
 */
import { AxisSlider } from "../../toolkit/view/axisslider.js";
import { el, setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { lockable } from "../../toolkit/view/locks.js";
import { shareText } from "../../toolkit/view/numbers.js";
import { withMemo } from "./maths.js";

const LESSON_NAME = "notice";
/** @typedef {"fid_test" | "fld"} Guessed */
const GUESSED = /** @type {const} */ ([
  { name: "fld", label: "FLD", start: 0.35, height: 0.9, cloth: "M0 0L26 8L0 16Z" },
  { name: "fid_test", label: "FID-test", start: 0.65, height: 0.66, cloth: "M0 0H24V16H0Z" },
]);

export class MemoLesson {
  /** @param {MemoState} state @param {AbortSignal} signal */
  constructor(state, signal) {
    this.state = state;
    this.text = el("p", { class: "nbm-memo-told", "aria-live": "polite" });
    const button = (/** @type {string} */ text, /** @type {() => void} */ call) => {
      const node = el("button", { type: "button" }, [text]);
      node.addEventListener("click", call, { signal });
      return node;
    };
    this.reveal = button("Reveal", () => this.write({ revealed: true }));
    this.skip = button("Just show me", () => this.write({ revealed: true, guess: null }));
    this.again = button("Predict again", () => this.write(null));
    this.root = el("section", { class: "nbm-memo-lesson", "aria-label": "Prediction" }, [
      this.text,
      el("div", { class: "nbm-group" }, [this.reveal, this.skip, this.again]),
    ]);
    this.flags = GUESSED.map((guessed) => new NoticeFlag(state, signal, guessed));
  }

  /** @param {Partial<NoticeLesson> | null} parts null to begin anew */
  write(parts) {
    this.state.look({ lesson: parts && { ...lessonNow(this.state), ...parts } });
  }

  /**
   * @param {{x: [number, number], y: [number, number]}} box @param {{at: (value: number) => number, slope: number}} x
   * @param {Record<Guessed, number | null>} places where each notices @param {boolean} isKnown whether all of the curve is there
   * @param {boolean} isOffered whether it is or will be there, with these sliders or others
   */
  paint(box, x, places, isKnown, isOffered) {
    const { scene, store } = this.state;
    const isAsked = isOffered && scene.view.sweep === "copied";
    const { guess, revealed } = lessonNow(this.state);
    this.root.hidden = !isAsked;
    for (const flag of this.flags) flag.paint(isAsked, box, x);
    if (!isAsked) return;
    this.reveal.hidden = this.skip.hidden = revealed;
    this.again.hidden = !revealed;
    this.reveal.disabled = GUESSED.some(({ name }) => typeof guess?.[name] !== "number");
    setText(
      this.text,
      revealed
        ? toldWords(guess, places, isKnown, store)
        : "Predict: at what share copied will FLD notice? And FID-test? Place the two flags, then reveal the curves.",
    );
  }
}

/** One flag: placed by dragging it, by arrow keys, or by a click or Enter where it stands. */
class NoticeFlag {
  /** @param {MemoState} state @param {AbortSignal} signal @param {typeof GUESSED[number]} guessed */
  constructor(state, signal, guessed) {
    this.state = state;
    this.guessed = guessed;
    this.pole = svg("line", { class: "nbm-pole" });
    this.cloth = svg("path", { class: "nbm-mark", d: guessed.cloth });
    this.touch = svg("rect", { class: "nbm-touch", x: -12, width: 44 });
    this.text = svg("text");
    this.slider = new AxisSlider(
      state.store,
      signal,
      [this.pole, this.touch, svg("circle", { class: "nbm-mark", r: 6 }), this.cloth, this.text],
      `nbm-flag nbm-memo-of-${guessed.name}`,
    );
    lockable("", this.slider.node);
  }

  /** @param {boolean} isAsked @param {{y: [number, number]}} box @param {{at: (value: number) => number, slope: number}} x */
  paint(isAsked, { y: [base, top] }, x) {
    const { slider, state, guessed } = this;
    const { guess, revealed } = lessonNow(state);
    const placed = guess?.[guessed.name] ?? null;
    slider.node.toggleAttribute("hidden", !isAsked || (revealed && placed === null));
    if (!isAsked) return;
    const value = placed ?? guessed.start;
    const text = placed === null ? "not placed yet" : shareText(value);
    const write = (/** @type {number} */ next) => {
      const now = lessonNow(state);
      return withMemo(state.scene, {
        lesson: { ...now, guess: { fid_test: null, fld: null, ...now.guess, [guessed.name]: next } },
      });
    };
    slider.paint(
      {
        label: `${guessed.label} notices at`,
        value,
        range: [0, 1],
        text,
        slope: x.slope,
        write,
        isPlaced: placed !== null,
        lock: "",
      },
      x.at(value),
      base,
    );
    if (revealed) slider.now = null;
    setAttributes(slider.node, { tabindex: revealed ? -1 : 0, "aria-disabled": String(revealed) });
    const height = guessed.height * (base - top);
    const isLeft = value > 0.6;
    setAttributes(this.pole, { y1: 0, y2: -height });
    setAttributes(this.touch, { y: -height - 4, height: height + 14, x: isLeft ? -32 : -12 });
    setAttributes(this.cloth, { transform: `translate(0 ${-height}) scale(${isLeft ? -1 : 1} 1)` });
    setAttributes(this.text, { x: isLeft ? -32 : 32, y: 12 - height, "text-anchor": isLeft ? "end" : "start" });
    setText(this.text, `${guessed.label}${placed === null ? "?" : ` ${text}`}`);
  }
}

/** @param {MemoState} state @returns {NoticeLesson} */
function lessonNow({ scene }) {
  return scene.lesson ?? { name: LESSON_NAME, guess: null, revealed: false };
}

/** @param {NoticeLesson["guess"]} guess @param {Record<Guessed, number | null>} places @param {boolean} isKnown @param {MemoState["store"]} store */
function toldWords(guess, places, isKnown, { saved, lost }) {
  if (!isKnown && saved) return "These curves are of the scene that was saved: with other sliders they need Python.";
  if (!isKnown && lost) return "The curves wait for Python.";
  if (!isKnown) return "The curves come as Python computes them.";
  return GUESSED.map(({ name, label }) => {
    const [place, said] = [places[name], guess?.[name]];
    const truth = place === null ? `${label} never notices` : `${label} notices from ${shareText(place)}`;
    return `${truth}${typeof said === "number" ? ` (you said ${shareText(said)})` : ""}.`;
  }).join(" ");
}
