/**
 * Predict, then reveal: three questions in a row. While a prediction is open, what would give it away is veiled;
 * who would rather explore just moves something, or asks to be shown.
 *
 * @import { Pair, Score } from "./correlation_maths.js"
 * @import { Store } from "./store.js"
 */
import { numeral, SCORE_NAMES, scoresOf, withParts } from "./correlation_maths.js";
import { el, put, say } from "./dom.js";

const CHOICES = /** @type {const} */ (["mfid", "rfid", "cfid"]);
const WRONG = { rho: 0.8, rho_hat: -0.8 };
const EXAMPLE = scoresOf({ ...WRONG, scale: 1 });
const LARGE = 10;
const HALF = 0.5;
const CLOSE = 0.01;

/** @typedef {Record<Score, number>} Scores */
/**
 * @typedef {object} Question
 * @property {string} kind
 * @property {string} text
 * @property {"" | "scores" | "curves"} veils what stays hidden until the prediction
 * @property {(scene: Pair) => Partial<Pair>} start what the question needs to begin with
 * @property {(scene: Pair) => Partial<Pair>} act what is done when the prediction is made
 * @property {(before: Scores, after: Scores, name: Score) => boolean} holds whether a choice is right
 * @property {(before: Scores, after: Scores) => string} tell
 */

const isWrong = (/** @type {Pair} */ scene) => scoresOf(scene).cfid > 0.05;
const seen = (/** @type {number} */ value) => numeral(value, 3);

/** @type {Question[]} */
const QUESTIONS = [
  {
    kind: "Predict",
    text:
      "The generator gets y right: ŷ is spread exactly like it. But it pairs ŷ with x in its own way. " +
      "Which score cannot see a wrong pairing?",
    veils: "scores",
    start: () => ({}),
    act: () => ({}),
    holds: (_, __, name) => EXAMPLE[name] === 0,
    tell: () =>
      `MFID compares y with ŷ and forgets x: ${seen(EXAMPLE.mfid)} for any pairing. RFID compares the two clouds and ` +
      `sees something: ${seen(EXAMPLE.rfid)} for the wrong sign. CFID compares y with ŷ at every x: ${seen(EXAMPLE.cfid)}.`,
  },
  {
    kind: "Predict",
    text:
      `Now x is measured in a smaller unit, so that every x becomes ${LARGE} times as large. Neither y nor ŷ changes. ` +
      "Which score does?",
    veils: "curves",
    start: (scene) => ({ scale: 1, ...(isWrong(scene) ? {} : WRONG) }),
    act: () => ({ scale: LARGE }),
    holds: (before, after, name) => Math.abs(after[name] - before[name]) > 1e-9,
    tell: (before, after) =>
      `RFID went from ${seen(before.rfid)} to ${seen(after.rfid)}: it adds squares of x to squares of y, so it depends ` +
      `on the unit of x. CFID stays at ${seen(after.cfid)}.`,
  },
  {
    kind: "Your turn",
    text: "Move the scale of x until RFID is half of CFID.",
    veils: "",
    start: (scene) => (isWrong(scene) ? {} : WRONG),
    act: () => ({}),
    holds: ({ rfid, cfid }) => cfid > 0 && Math.abs(rfid / cfid - HALF) <= CLOSE,
    tell: () => "There. The same data and the same generator: only the unit of x decides how much RFID sees.",
  },
];

export class QuestionCard {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.step = 0;
    /** @type {{choice: Score | null, before: Scores, after: Scores} | null} */
    this.answer = null;
    this.isLifted = false;
    this.asked = this.pair;
    this.kind = el("strong");
    this.text = el("p", { tabindex: "-1" });
    this.choices = CHOICES.map((name) => this.button(SCORE_NAMES[name], () => this.choose(name), signal));
    this.skip = this.button("Just show me", () => this.reveal(), signal);
    this.next = this.button("Next", () => this.ask((this.step + 1) % QUESTIONS.length), signal);
    this.told = el("p", { class: "nbm-pair-told", "aria-live": "polite" });
    const answers = el("div", { class: "nbm-group" }, [...this.choices, this.skip, this.next]);
    this.root = el("section", { class: "nbm-pair-ask", "aria-label": "Question" }, [
      el("div", { class: "nbm-pair-asked" }, [this.kind, this.text]),
      answers,
      this.told,
    ]);
  }

  get pair() {
    return /** @type {Pair} */ (/** @type {any} */ (this.store.scene));
  }

  get question() {
    return QUESTIONS[this.step];
  }

  /** @param {string} text @param {() => void} call @param {AbortSignal} signal */
  button(text, call, signal) {
    const node = el("button", { type: "button" }, [text]);
    node.addEventListener("click", call, { signal });
    return node;
  }

  /** What must not be seen yet. */
  get veiled() {
    return this.answer || this.isLifted ? "" : this.question.veils;
  }

  /** @param {number} step */
  ask(step) {
    this.step = step;
    this.answer = null;
    this.isLifted = false;
    this.change(this.question.start(this.pair));
    this.asked = this.pair;
    say(this.text, this.question.text);
    this.text.focus({ preventScroll: true }); // the button that was pressed is about to go
    this.store.changed();
  }

  /** @param {Score | null} choice null to be shown */
  choose(choice) {
    if (this.answer) return;
    const act = this.question.act(this.pair);
    const [before, after] = [scoresOf(this.pair), scoresOf({ ...this.pair, ...act })];
    this.answer = { choice, before, after };
    this.change(act);
    this.store.changed();
  }

  reveal() {
    this.choose(null);
    this.next.hidden = false;
    this.next.focus({ preventScroll: true });
  }

  /** @param {Partial<Pair>} parts */
  change(parts) {
    if (Object.keys(parts).length) this.store.edit(withParts(this.store.scene, parts));
  }

  /** @param {Pair} scene @param {Scores} scores */
  paint(scene, scores) {
    const { question, asked } = this;
    const isPrediction = question.veils !== "";
    if (scene.rho !== asked.rho || scene.rho_hat !== asked.rho_hat || scene.scale !== asked.scale) this.isLifted = true;
    if (!isPrediction && !this.answer && question.holds(scores, scores, "rfid"))
      this.answer = { choice: null, before: scores, after: scores };
    say(this.kind, `${question.kind} · ${this.step + 1} of ${QUESTIONS.length}`);
    say(this.text, question.text);
    this.choices.forEach((node, k) => this.paintChoice(node, CHOICES[k], isPrediction));
    this.skip.hidden = !isPrediction || this.answer !== null;
    this.next.hidden = this.answer === null;
    say(this.next, this.step + 1 === QUESTIONS.length ? "Ask me again" : "Next question");
    say(
      this.told,
      this.answer
        ? this.verdict(this.answer)
        : isPrediction
          ? ""
          : `RFID is now ${numeral(scores.rfid / scores.cfid || 0)} of CFID.`,
    );
  }

  /** @param {HTMLElement} node @param {Score} name @param {boolean} isPrediction */
  paintChoice(node, name, isPrediction) {
    const { answer } = this;
    const isRight = answer !== null && this.question.holds(answer.before, answer.after, name);
    node.hidden = !isPrediction;
    node.classList.toggle("nbm-pair-right", isRight);
    put(node, { "aria-pressed": String(answer?.choice === name), "aria-disabled": String(answer !== null) });
    say(node, `${isRight ? "✓ " : answer?.choice === name ? "✗ " : ""}${SCORE_NAMES[name]}`);
  }

  /** @param {{choice: Score | null, before: Scores, after: Scores}} answer */
  verdict({ choice, before, after }) {
    const { holds, tell } = this.question;
    const opening = choice === null ? "" : holds(before, after, choice) ? "Yes. " : `Not ${SCORE_NAMES[choice]}. `;
    return opening + tell(before, after);
  }
}
