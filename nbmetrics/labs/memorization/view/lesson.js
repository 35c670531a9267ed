/**
 * Predict, then reveal: two flags on the axis of shares say where FID-test and FLD will notice; then the curves do.
 *
 * @import { NoticeLesson } from "./maths.js"
 * @import { Prediction } from "../../toolkit/view/predict.js"
 * @import { MemoState } from "./state.js"
 */
import { el, setText } from "../../toolkit/view/dom.js";
import { shareText } from "../../toolkit/view/numbers.js";
import { DrawIn, PredictionFlag } from "../../toolkit/view/predict.js";
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
    this.flags = GUESSED.map(
      ({ name, cloth }) => new PredictionFlag(state.store, signal, { style: `nbm-memo-of-${name}`, cloth }),
    );
    this.drawIn = new DrawIn(this.root);
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
    this.drawIn.paint(isAsked, revealed);
    const [base, top] = box.y;
    GUESSED.forEach((guessed, k) =>
      this.flags[k].paint(isAsked ? this.predictionOf(guessed) : null, x, base, guessed.height * (base - top)),
    );
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

  /** @param {typeof GUESSED[number]} guessed @returns {Prediction} */
  predictionOf({ name, label, start }) {
    const { guess, revealed } = lessonNow(this.state);
    const write = (/** @type {number} */ share) => {
      const lesson = lessonNow(this.state);
      return withMemo(this.state.scene, {
        lesson: { ...lesson, guess: { fid_test: null, fld: null, ...lesson.guess, [name]: share } },
      });
    };
    return {
      label: `${label} notices at`,
      guess: guess?.[name] ?? null,
      start,
      range: [0, 1],
      revealed,
      read: shareText,
      caption: (text) => (text === null ? `${label}?` : `${label} ${text}`),
      write,
    };
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
