/**
 * The card above the columns that asks a lesson's question, with the select that opens lessons, the axis on which a score
 * is guessed, the hint offered after a while, and the learner's answer as a string for the teacher.
 *
 * The learner commits first: Reveal opens when a guess is placed (the flag of the sweep chart, or the card's own) or a
 * task is done. All of it is in the scene, so undo brings the question back. Room for the hint is kept from the
 * beginning, so that nothing moves under the pointer when it comes.
 *
 * @import { Lesson, Prediction } from "./lesson.js"
 * @import { Numbers, Progress, Scene } from "../../toolkit/view/types.js"
 * @import { PlaneStore } from "../../plane/view/store.js"
 */
import { dataOf } from "../../plane/view/distributions.js";
import { DrawIn } from "../../toolkit/view/axis_slider.js";
import { el, keepingFocus, setAttributes, setText } from "../../toolkit/view/dom.js";
import { isOwnKey } from "../../toolkit/view/keys.js";
import { lockable } from "../../toolkit/view/locks.js";
import { numeral } from "../../toolkit/view/numbers.js";
import { slides } from "../../toolkit/view/slider.js";
import { answerString } from "./answers.js";
import { indexNow, lessonOf, outcomeOf, partLabel, revealedScene, solvedScene, verdictOf } from "./lesson.js";

/** Milliseconds at one question. */
const HINT_AFTER_MS = 30_000;

class LessonHelp {
  /** @param {() => void} onShow @param {() => void} changed @param {AbortSignal} signal */
  constructor(onShow, changed, signal) {
    this.changed = changed;
    /** What is asked: the timer begins anew with it. */
    this.asked = "";
    this.isLate = false;
    this.isOpen = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.hint = el("button", { type: "button", class: "nbm-help" }, ["Hint"]);
    this.show = el("button", { type: "button", class: "nbm-help" }, ["Show me"]);
    this.text = el("p", { class: "nbm-hint", role: "status" });
    this.hint.addEventListener("click", () => this.open(), { signal });
    this.show.addEventListener("click", onShow, { signal });
    signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  open() {
    this.isOpen = true;
    this.changed();
  }

  /** @param {string} asked */
  begin(asked) {
    this.asked = asked;
    this.isLate = this.isOpen = false;
    clearTimeout(this.timer);
    if (!asked) return;
    this.timer = setTimeout(() => {
      this.isLate = true;
      this.changed();
    }, HINT_AFTER_MS);
  }

  /** @param {Lesson | null} lesson @param {boolean} isShown whether it is revealed @param {boolean} canShow whether a task is open that can be shown */
  paint(lesson, isShown, canShow) {
    const asked = lesson ? `${isShown} ${lesson.name}` : "";
    if (asked !== this.asked) this.begin(asked);
    const hint = isShown ? "" : (lesson?.hint ?? "");
    this.hint.hidden = hint === "" || this.isOpen;
    this.show.hidden = !canShow;
    for (const node of [this.hint, this.show]) node.classList.toggle("nbm-early", !this.isLate);
    this.text.hidden = !(hint && this.isOpen);
    setText(this.text, this.isOpen ? hint : "");
  }
}

const GUESS_STEPS = 100;
const GUESS_TICKS = 4;

class GuessAxis {
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
        if (isOwnKey(event) && (event.key === "Enter" || event.key === " ")) settle();
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

const COPY = "Copy my answer";
/** Milliseconds that the button says what it did. */
const COPIED_SHOWN_MS = 2000;

class CopyAnswer {
  /** @param {PlaneStore} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.button = el("button", { type: "button", title: "For your teacher to collect" }, [COPY]);
    this.field = el("input", {
      class: "nbm-verbatim nbm-answer-string",
      readonly: "",
      "aria-label": "My answer as a string",
    });
    this.field.hidden = true;
    this.button.addEventListener("click", () => this.copy(), { signal });
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(this.field.value);
      setText(this.button, "✓ Copied");
      setTimeout(() => setText(this.button, COPY), COPIED_SHOWN_MS);
      this.store.say("Answer copied: send it to your teacher.");
    } catch {
      this.field.hidden = false;
      this.field.select();
      this.store.say("Copy the selected answer for your teacher.");
    }
  }

  /** Its room is kept from the beginning: placing the flag must not move it. @param {Progress} progress @param {boolean} isAsked whether there is a flag to place */
  paint(progress, isAsked) {
    const text = answerString(progress);
    this.button.hidden = !isAsked;
    this.button.classList.toggle("nbm-early", text === "");
    if (text === "") this.field.hidden = true;
    if (this.field.value !== text) this.field.value = text;
  }
}

const TO_DO = {
  min: "Drag the flag to your guess, then press Reveal.",
  value: "Drag the flag to your guess, then press Reveal.",
  task: "Drag the generators and their handles until it says Done, then press Reveal.",
  none: "Look at the picture, then press Reveal.",
};

export class LessonCard {
  /** @param {PlaneStore} store @param {() => void} showChart bring the chart that was asked about into view @param {AbortSignal} signal */
  constructor(store, showChart, signal) {
    this.store = store;
    this.showChart = showChart;
    this.select = el("select", { "aria-label": "Lesson" }, [el("option", { value: "" })]);
    this.select.append(...Object.keys(this.lessons).map((name) => el("option", { value: name }, [name])));
    this.select.addEventListener("change", () => this.open(this.select.value), { signal });
    lockable("presets", this.select);
    this.name = el("p", { class: "nbm-lesson-name" });
    this.question = el("h3", { class: "nbm-question", tabindex: "-1" });
    this.toDo = el("p", { class: "nbm-to-do" });
    this.axis = new GuessAxis(store, signal);
    this.reveal = el("button", { type: "button", class: "nbm-reveal" }, ["Reveal"]);
    this.reveal.addEventListener("click", () => this.show(), { signal });
    this.guess = el("span", { class: "nbm-guess" });
    this.act = el("div", { class: "nbm-act" }, [
      this.reveal,
      el("div", { class: "nbm-act-words" }, [this.toDo, this.guess]),
    ]);
    this.verdict = new VerdictLine();
    this.help = new LessonHelp(
      () => this.showTask(),
      () => store.changed(),
      signal,
    );
    this.act.append(this.help.hint);
    this.task = el("div", { class: "nbm-task" }, [this.verdict.root, this.help.show]);
    this.answer = new AnswerPart(store, () => this.open(this.nextName), signal);
    this.copy = new CopyAnswer(store, signal);
    this.root = el("section", { class: "nbm-lesson", "aria-label": "Question" }, [
      el("div", { class: "nbm-lesson-head" }, [this.name, el("div", {}, [this.copy.button, this.answer.next])]),
      this.copy.field,
      this.question,
      this.help.text,
      this.axis.root,
      this.task,
      this.act,
      this.answer.root,
    ]);
    this.root.hidden = true;
    this.drawIn = new DrawIn(this.root);
    this.selectGenerator();
  }

  /** @returns {Record<string, Lesson>} */
  get lessons() {
    return this.store.model.get("lessons") ?? {};
  }

  /** The scenes that lessons open with, by name; of one that is called like a preset only while it is under way. */
  get starts() {
    const { model, scene } = this.store;
    const isTaken = (/** @type {string} */ name) => name in model.get("presets") && name !== scene.lesson?.name;
    const named = Object.entries(this.lessons).filter(([name]) => !isTaken(name));
    return Object.fromEntries(named.map(([name, lesson]) => [name, lesson.scene]));
  }

  get nextName() {
    const names = Object.keys(this.lessons);
    return names[names.indexOf(this.store.scene.lesson?.name ?? "") + 1] ?? "";
  }

  /** @param {string} name a lesson's, or "" for none */
  open(name) {
    const { store } = this;
    const scene = this.lessons[name]?.scene ?? { ...store.scene, preset: "", lesson: null };
    store.edit({ ...scene, rev: store.scene.rev }, "presets");
    store.select(null);
    this.selectGenerator();
  }

  /** The sweep view is about the selected generator, or else the first. */
  selectGenerator() {
    const { scene } = this.store;
    const wanted = lessonOf(this.lessons, scene)?.predict?.generator;
    const index = wanted === undefined ? -1 : indexNow(scene, wanted);
    if (index > 0) this.store.select({ kind: "generators", index });
  }

  show() {
    const { store } = this;
    const lesson = lessonOf(this.lessons, store.scene);
    if (!lesson) return;
    store.edit(revealedScene(lesson, store.scene, dataOf(store.model)), "");
    if (!lesson.predict?.sweep) return;
    store.select(null);
    this.selectGenerator();
    this.showChart();
  }

  /** The task done; where no lesson says how, what Reveal says of it. */
  showTask() {
    const { store } = this;
    const lesson = lessonOf(this.lessons, store.scene);
    if (!lesson?.solution) return this.show();
    store.edit(solvedScene(lesson.solution, store.scene), "");
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paint(scene, numbers) {
    keepingFocus(
      this.root,
      () => this.paintParts(scene, numbers),
      () => (this.root.hidden ? this.select : scene.lesson?.revealed ? this.answer.root : this.question),
    );
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paintParts(scene, numbers) {
    const lesson = lessonOf(this.lessons, scene);
    this.root.hidden = lesson === null;
    const name = lesson?.name ?? "";
    setText(this.select.options[0], lesson ? "No lesson" : `Lessons (${this.select.options.length - 1})`);
    if (this.select.value !== name) this.select.value = name;
    this.drawIn.paint(lesson !== null, scene.lesson?.revealed ?? false);
    this.root.parentElement?.classList.toggle("nbm-asking", lesson !== null && !scene.lesson?.revealed);
    if (!lesson) return this.help.paint(null, false, false);
    const { predict, check } = lesson;
    const progress = /** @type {Progress} */ (scene.lesson);
    const { guess, revealed: isShown } = progress;
    const isTask = check !== null && !this.store.isLocked("drag"); // else nobody could do it
    const verdict = check && (isShown || !predict) ? verdictOf(check, scene, numbers) : null;
    this.root.classList.toggle("nbm-answered", isShown);
    this.root.classList.toggle("nbm-about-chart", Boolean(predict?.sweep));
    this.root.classList.toggle("nbm-about-value", Boolean(predict && !predict.sweep));
    setText(this.name, isShown ? `${name} · ✓ answered` : name);
    setText(this.question, lesson.question);
    setText(this.toDo, TO_DO[predict?.best ?? (isTask ? "task" : "none")]);
    this.verdict.paint(verdict, isShown);
    this.act.hidden = isShown;
    this.toDo.classList.toggle("nbm-early", guess !== null);
    this.reveal.disabled = predict ? guess === null : isTask && !verdict?.done;
    setText(this.guess, guess === null ? "" : `Your guess: ${numeral(guess)}`);
    const isStuck = isTask && verdict !== null && !verdict.done;
    this.help.paint(lesson, isShown, isStuck && (!isShown || lesson.solution !== null));
    this.copy.paint(progress, predict !== null);
    this.answer.paint(lesson, scene, isShown, this.nextName !== "");
    this.axis.paint(predict, progress);
  }
}

/** How a task goes, in words. */
class VerdictLine {
  constructor() {
    this.mark = el("strong");
    this.text = el("span");
    this.root = el("p", { class: "nbm-verdict", role: "status" }, [this.mark, " ", this.text]);
  }

  /** After Reveal a task is an offer, and nothing that went wrong. @param {{done: boolean, text: string} | null} verdict @param {boolean} isShown */
  paint(verdict, isShown) {
    this.root.hidden = verdict === null;
    if (!verdict) return;
    this.root.classList.toggle("nbm-done", verdict.done);
    setText(this.mark, verdict.done ? "✓ Done!" : isShown ? "Your turn:" : "Not yet:");
    setText(this.text, `${verdict.text}.`);
  }
}

/** On a site each lesson has a page. @param {string | undefined} onward the next one's address @param {() => void} call @param {AbortSignal} signal */
function nextOf(onward, call, signal) {
  if (onward) return el("a", { class: "nbm-onward", href: onward }, ["Next lesson"]);
  const next = el("button", { type: "button" }, ["Next lesson"]);
  next.addEventListener("click", call, { signal });
  lockable("presets", next);
  return next;
}

/** What Reveal shows: how far the guess was off, what it means, and what to try next. */
class AnswerPart {
  /** @param {PlaneStore} store @param {() => void} onNext @param {AbortSignal} signal */
  constructor(store, onNext, signal) {
    this.store = store;
    /** @type {{scene: Scene, text: string} | null} what was last said, and of which scene */
    this.shownOutcome = null;
    this.outcome = el("p", { class: "nbm-outcome" });
    this.meaning = el("p", { class: "nbm-meaning" });
    this.tries = el("ul", { class: "nbm-tries" });
    this.next = nextOf(store.model.get("onward"), onNext, signal);
    this.more = el("div", {}, [el("p", { class: "nbm-now-try" }, ["Now try"]), this.tries]);
    this.root = el("div", { class: "nbm-answer", tabindex: "-1" }, [
      this.outcome,
      el("div", { class: "nbm-so-what" }, [this.meaning, this.more]),
    ]);
  }

  /** @param {Lesson} lesson @param {Scene} scene @param {boolean} isShown @param {boolean} hasNext */
  paint(lesson, scene, isShown, hasNext) {
    this.root.hidden = !isShown;
    this.next.hidden = !isShown || !hasNext;
    if (!isShown) return;
    if (this.shownOutcome?.scene !== scene)
      this.shownOutcome = { scene, text: outcomeOf(lesson, scene, dataOf(this.store.model)) };
    this.outcome.hidden = !lesson.predict;
    setText(this.outcome, this.shownOutcome.text);
    setText(this.meaning, lesson.reveal);
    this.more.hidden = lesson.tries.length === 0;
    while (this.tries.children.length > lesson.tries.length) this.tries.lastElementChild?.remove();
    while (this.tries.children.length < lesson.tries.length) this.tries.append(el("li"));
    lesson.tries.forEach((text, i) => setText(this.tries.children[i], text));
  }
}
