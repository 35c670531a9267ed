/**
 * Three questions in a row, each predict, then reveal, and the card that asks them. How far the learner is stands in the
 * scene, so every display shows the same, and undo brings a question back. While a prediction is open, what would give
 * it away is veiled; who would rather explore just moves something, or asks to be shown.
 *
 * A question brings its example with it, and an answer is about that example, whatever else was tried before.
 *
 * @import { Answer, Pair, Score } from "./maths.js"
 * @import { Store } from "../../toolkit/view/store.js"
 */

import { el, keepingFocus, setAttributes, setText } from "../../toolkit/view/dom.js";
import { numeral } from "../../toolkit/view/numbers.js";
import { SCORE_NAMES, scoresOf } from "./maths.js";

const LARGE = 10;
const HALF = 0.5;
const CLOSE = 0.01;
const EXAMPLE = { rho: 0.8, rho_hat: -0.8, scale: 1 };
const SCALED = { ...EXAMPLE, scale: LARGE };
const [PLAIN_SCORES, SCALED_SCORES] = [EXAMPLE, SCALED].map(scoresOf);
const EXAMPLE_NAMED = `ρ = ${numeral(EXAMPLE.rho)} and ρ̂ = ${numeral(EXAMPLE.rho_hat)}`;

const seen = (/** @type {number} */ value) => numeral(value, 3);

/**
 * @typedef {object} Question
 * @property {string} kind
 * @property {string} text
 * @property {"" | "scores" | "curves"} veils what stays hidden until the prediction; nothing where there is none
 * @property {Score | null} right the prediction that is right
 * @property {Partial<Pair>} start the example it begins with
 * @property {Partial<Pair>} act what is done when the prediction is made
 * @property {string} reply
 */

/** @type {Question[]} */
export const QUESTIONS = [
  {
    kind: "Predict",
    text:
      "The generated ŷ has exactly the distribution of y, but is paired with x differently. " +
      "Which score cannot see a wrong pairing?",
    veils: "scores",
    right: "mfid",
    start: EXAMPLE,
    act: {},
    reply:
      `MFID compares y with ŷ and ignores x: ${seen(PLAIN_SCORES.mfid)} for any pairing. RFID compares the two clouds ` +
      `and sees part of it; CFID compares y with ŷ at every x. With ${EXAMPLE_NAMED}, and α = 1, they are ` +
      `${seen(PLAIN_SCORES.rfid)} and ${seen(PLAIN_SCORES.cfid)}.`,
  },
  {
    kind: "Predict",
    text:
      `Now x is measured in a smaller unit, so that every x becomes ${LARGE} times as large. Neither y nor ŷ changes. ` +
      "Which score does?",
    veils: "curves",
    right: "rfid",
    start: EXAMPLE,
    act: SCALED,
    reply:
      `With ${EXAMPLE_NAMED}, RFID goes from ${seen(PLAIN_SCORES.rfid)} at α = 1 to ${seen(SCALED_SCORES.rfid)} at ` +
      `α = ${LARGE}: it adds squares of x to squares of y, so it depends on the unit of x. ` +
      `CFID stays at ${seen(SCALED_SCORES.cfid)}.`,
  },
  {
    kind: "Your turn",
    text: "Move the scale of x until RFID is half of CFID.",
    veils: "",
    right: null,
    start: SCALED,
    act: {},
    reply: "Done. The data and the generator are the same: only the unit of x decides how much RFID sees.",
  },
];

/** @param {Pair} scene */
function questionOf({ question }) {
  return QUESTIONS[question.step - 1];
}

/** What must not be seen yet. @param {Pair} scene */
export function veiledIn(scene) {
  return scene.question.answer === "open" ? questionOf(scene).veils : "";
}

/** Whether the prediction is made, or the task done. @param {Pair} scene */
export function isAnswered(scene) {
  if (questionOf(scene).right) return !["open", "explored"].includes(scene.question.answer);
  const { rfid, cfid } = scoresOf(scene);
  return Math.abs(rfid / cfid - HALF) <= CLOSE;
}

/**
 * The scene in which another question is asked.
 * @param {any} scene @param {number} step @param {boolean} isStill whether nothing may move @returns {any}
 */
export function withQuestion(scene, step, isStill) {
  const { start } = QUESTIONS[step - 1];
  return { ...scene, ...(isStill ? {} : start), question: { step, answer: "open" } };
}

/** Whether the example that the question came with is no longer what is shown. @param {any} scene */
export function isAway(scene) {
  return Object.entries(QUESTIONS[scene.question.step - 1].start).some(([name, value]) => scene[name] !== value);
}

/**
 * Where one was before this question was asked; the question before it where that is not known.
 * @param {any} scene @param {any[]} past the scenes before it, the latest last @param {boolean} isStill whether nothing may move @returns {any}
 */
export function withLastQuestion(scene, past, isStill) {
  const { step } = scene.question;
  const before = [...past].reverse().find(({ question }) => question.step !== step);
  if (!before) return withQuestion(scene, step - 1, isStill);
  return isStill ? { ...scene, question: before.question } : { ...before, rev: scene.rev };
}

/**
 * The scene in which the question is answered.
 * @param {any} scene @param {Answer} answer @param {boolean} isStill whether nothing may move @returns {any}
 */
export function withAnswer(scene, answer, isStill) {
  const { act } = questionOf(scene);
  return { ...scene, ...(isStill ? {} : act), question: { ...scene.question, answer } };
}

/** What is said of the answer, or of how far the task is; "" while a prediction is open. @param {Pair} scene */
export function replyOf(scene) {
  const { right, reply } = questionOf(scene);
  const { answer } = scene.question;
  if (isAnswered(scene)) {
    if (!right || answer === "shown") return reply;
    return `${answer === right ? "Yes" : `Not ${SCORE_NAMES[/** @type {Score} */ (answer)]}`}. ${reply}`;
  }
  const { rfid, cfid } = scoresOf(scene);
  if (right) return "";
  return cfid
    ? `RFID is now ${numeral(rfid / cfid)} of CFID.`
    : "Both are 0 here: with the right pairing there is nothing to see. Go back to the example.";
}

const CHOICES = /** @type {const} */ (["mfid", "rfid", "cfid"]);

export class QuestionCard {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.kind = el("strong");
    this.text = el("p", { tabindex: "-1" });
    this.choices = CHOICES.map((name) => this.button(SCORE_NAMES[name], () => this.answer(name), signal));
    this.skip = this.button("Just show me", () => this.answer("shown"), signal);
    this.next = this.button("Next", () => this.goOn(), signal);
    this.back = this.button("Back", () => this.goBack(), signal);
    this.example = this.button("Show the example again", () => this.ask(this.pair.question.step), signal);
    setAttributes(this.back, { title: "Go back to where you were before this question" });
    this.reply = el("p", { class: "nbm-pair-told", "aria-live": "polite" });
    const answers = el("div", { class: "nbm-group" }, [...this.choices, this.skip, this.next, this.example, this.back]);
    this.root = el("section", { class: "nbm-pair-ask", "aria-label": "Question" }, [
      el("div", { class: "nbm-pair-asked" }, [this.kind, this.text]),
      answers,
      this.reply,
    ]);
  }

  get pair() {
    return /** @type {Pair} */ (/** @type {any} */ (this.store.scene));
  }

  /** @param {string} text @param {() => void} call @param {AbortSignal} signal */
  button(text, call, signal) {
    const node = el("button", { type: "button" }, [text]);
    node.addEventListener("click", call, { signal });
    return node;
  }

  /** @param {Answer} answer */
  answer(answer) {
    if (isAnswered(this.pair)) return;
    this.store.edit(withAnswer(this.pair, answer, this.store.isLocked("drag")), "");
  }

  goOn() {
    this.ask((this.pair.question.step % QUESTIONS.length) + 1);
  }

  /** @param {number} step */
  ask(step) {
    this.store.edit(withQuestion(this.pair, step, this.store.isLocked("drag")), "");
  }

  goBack() {
    const { store } = this;
    store.edit(withLastQuestion(this.pair, store.history.past, store.isLocked("drag")), "");
  }

  /** @param {Pair} scene */
  paint(scene) {
    keepingFocus(
      this.root,
      () => this.paintParts(scene),
      () => (this.next.hidden ? this.text : this.next),
    );
  }

  /** @param {Pair} scene */
  paintParts(scene) {
    const { kind, text, right } = questionOf(scene);
    const { step } = scene.question;
    const isDone = isAnswered(scene);
    const isOver = isDone || (right === null && this.store.isLocked("drag")); // nobody can do a task that is locked
    setText(this.kind, `${kind}, ${step} of ${QUESTIONS.length}`);
    setText(this.text, text);
    this.choices.forEach((node, k) => this.paintChoice(node, CHOICES[k], scene));
    this.skip.hidden = right === null || isDone;
    this.next.hidden = !isOver;
    setText(this.next, step === QUESTIONS.length ? "Ask me again" : "Next question");
    this.back.hidden = step === 1;
    this.example.hidden = isDone || !isAway(scene) || this.store.isLocked("drag");
    setText(this.reply, replyOf(scene));
  }

  /** @param {HTMLElement} node @param {Score} name @param {Pair} scene */
  paintChoice(node, name, scene) {
    const { right } = questionOf(scene);
    const isDone = isAnswered(scene);
    const isRight = isDone && name === right;
    const isChosen = scene.question.answer === name;
    node.hidden = right === null;
    node.classList.toggle("nbm-pair-right", isRight);
    setAttributes(node, { "aria-pressed": String(isChosen), "aria-disabled": String(isDone) });
    setText(node, `${isRight ? "✓ " : isChosen ? "✗ " : ""}${SCORE_NAMES[name]}`);
  }
}
