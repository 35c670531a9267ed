/**
 * The card that asks the questions. All that it shows is in the scene, so every display shows the same, and undo brings
 * a question back.
 *
 * @import { Answer, Pair, Score } from "./maths.js"
 * @import { Store } from "../../toolkit/view/store.js"
 */

import { el, keepingFocus, setAttributes, setText } from "../../toolkit/view/dom.js";
import { SCORE_NAMES } from "./maths.js";
import {
  isAnswered,
  isAway,
  QUESTIONS,
  questionOf,
  toldOf,
  withAnswer,
  withLastQuestion,
  withQuestion,
} from "./questions.js";

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
    this.example = this.button("Its example again", () => this.ask(this.pair.question.step), signal);
    setAttributes(this.back, { title: "To where you were before this question" });
    this.told = el("p", { class: "nbm-pair-told", "aria-live": "polite" });
    const answers = el("div", { class: "nbm-group" }, [...this.choices, this.skip, this.next, this.example, this.back]);
    this.root = el("section", { class: "nbm-pair-ask", "aria-label": "Question" }, [
      el("div", { class: "nbm-pair-asked" }, [this.kind, this.text]),
      answers,
      this.told,
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
    setText(this.kind, `${kind} · ${step} of ${QUESTIONS.length}`);
    setText(this.text, text);
    this.choices.forEach((node, k) => this.paintChoice(node, CHOICES[k], scene));
    this.skip.hidden = right === null || isDone;
    this.next.hidden = !isOver;
    setText(this.next, step === QUESTIONS.length ? "Ask me again" : "Next question");
    this.back.hidden = step === 1;
    this.example.hidden = isDone || !isAway(scene) || this.store.isLocked("drag");
    setText(this.told, toldOf(scene));
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
