/**
 * The page for the projector: a teacher pastes the answer strings of a class, and every guess stands as a flag on the axis
 * of its lesson; Reveal draws the answer in. Nobody's name is shown, and nothing leaves the page.
 *
 * @import { Lesson } from "./lesson.js"
 */

import { linear, Plot, resizeChildren, roundStep, ticksOf } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText, svg, watchSize } from "../../toolkit/view/dom.js";
import { numeral } from "../../toolkit/view/numbers.js";
import { answersIn } from "./answers.js";
import { answerOf } from "./lesson.js";
import { whyLessonsRefused } from "./scene.js";
import { rangeOf, subjectOf } from "./sweep.js";

const PAD = { left: 34, right: 40, top: 44, bottom: 40 };
const AXIS_HEIGHT = 380;
// Pixels of a flag, and how small it may become.
const FLAG = { wide: 26, high: 44, cloth: 19, least: 0.4 };
const FLAG_PATH = "M0 0V-40L24 -32L0 -24";

class FlagPlot {
  constructor() {
    this.plot = new Plot(PAD, { role: "img", "aria-label": "Flags" });
    this.flags = svg("g", { class: "nbm-class-flags" });
    this.line = svg("line", { class: "nbm-class-line" });
    this.text = svg("text", { "text-anchor": "middle" });
    this.answer = svg("g", { class: "nbm-class-answer" }, [this.line, this.text]);
    this.axis = svg("line", { class: "nbm-class-axis" });
    this.plot.root.append(this.axis, this.answer, this.flags);
    this.root = this.plot.root;
  }

  /** @param {number[]} values @param {[number, number]} range @param {number | null} answer */
  paint(values, range, answer) {
    this.plot.resize(this.root.clientWidth || 600, AXIS_HEIGHT);
    const { x, y } = this.plot.box;
    const { at } = linear(range, x);
    this.plot.paintX(ticksOf(range, roundStep(range[1] - range[0], this.plot.mostTicks)), at, y[0] + 28);
    setAttributes(this.axis, { x1: x[0], x2: x[1], y1: y[0], y2: y[0] });
    const places = [...values].sort((a, b) => a - b).map((value) => at(Math.min(range[1], Math.max(range[0], value))));
    const levels = levelsOf(places);
    const step = Math.min(FLAG.high, (y[0] - y[1] - FLAG.high) / Math.max(1, ...levels));
    const scale = Math.min(1, Math.max(FLAG.least, step / FLAG.cloth)); // small where many stand on each other
    resizeChildren(this.flags, values.length, () => svg("path", { d: FLAG_PATH })).forEach((flag, k) => {
      const place = `${places[k].toFixed(1)} ${(y[0] - step * levels[k]).toFixed(1)}`;
      setAttributes(flag, { transform: `translate(${place}) scale(${scale.toFixed(2)})` });
    });
    this.answer.toggleAttribute("hidden", answer === null);
    const said = answer === null ? "" : `, the answer ${numeral(answer)}`;
    setAttributes(this.root, { "aria-label": `Flags: ${values.length} guesses${said}` });
    if (answer === null) return;
    const place = at(answer);
    setAttributes(this.line, { x1: place, x2: place, y1: y[0], y2: y[1] - 14 });
    setAttributes(this.text, { x: place, y: y[1] - 22 });
    setText(this.text, numeral(answer));
  }
}

/** How high each flag stands: on those before it that it would hide. @param {number[]} places pixels */
function levelsOf(places) {
  /** @type {Map<number, number>} */
  const heights = new Map();
  return places.map((place) => {
    const bin = Math.round(place / FLAG.wide);
    const level = heights.get(bin) ?? 0;
    heights.set(bin, level + 1);
    return level;
  });
}

/** @typedef {{text: string, lessons: Record<string, Lesson>}} State */

class Collector {
  /** @param {State} state @param {AbortSignal} signal */
  constructor({ text, lessons }, signal) {
    this.lessons = lessons;
    /** The lessons whose answer is shown. @type {Set<string>} */
    this.revealed = new Set();
    this.heading = el("h1", { class: "nbm-class-question" });
    this.which = el("select", { "aria-label": "Lesson" });
    this.said = el("p", { class: "nbm-class-said", role: "status" });
    this.reveal = el("button", { type: "button", class: "nbm-reveal" }, ["Reveal"]);
    this.plot = new FlagPlot();
    this.paste = el("textarea", {
      "aria-label": "Answer strings",
      rows: "5",
      spellcheck: "false",
      placeholder: "Paste what your class copied with “Copy my answer”: one string or a whole chat.",
    });
    this.paste.value = text;
    this.count = el("p", { class: "nbm-note", role: "status" });
    this.paste.addEventListener("input", () => this.paint(), { signal });
    this.which.addEventListener("change", () => this.paint(), { signal });
    this.reveal.addEventListener("click", () => this.show(), { signal });
    const head = el("div", { class: "nbm-class-head" }, [this.reveal, this.said, this.which]);
    this.root = el("div", { class: "nbm nbm-class", role: "group", "aria-label": "Answers of a class" }, [
      this.heading,
      head,
      this.plot.root,
      this.paste,
      this.count,
    ]);
    watchSize(this.plot.root, signal, () => this.paint());
  }

  show() {
    const name = this.which.value;
    if (!this.revealed.delete(name)) this.revealed.add(name);
    this.paint();
  }

  paint() {
    const { answers, unreadable, isTooMuch } = answersIn(this.paste.value);
    const answered = [...new Set(answers.map(({ lesson }) => lesson))];
    this.offer(answered.length ? answered : Object.keys(this.lessons).filter((name) => this.lessons[name].predict));
    const name = this.which.value;
    const guesses = answers.filter(({ lesson }) => lesson === name);
    const { range, answer } = axisOf(this.lessons[name], guesses);
    const isShown = this.revealed.has(name) && answer !== null;
    setText(this.heading, this.lessons[name]?.question ?? (name || "What does the class say?"));
    this.reveal.disabled = answer === null || guesses.length === 0;
    setText(this.reveal, isShown ? "Hide" : "Reveal");
    const values = guesses.map(({ guess }) => guess);
    setText(this.said, saidOf(values, isShown ? answer : null));
    this.plot.paint(values, range, isShown ? answer : null);
    setText(this.count, readOf(answers.length, unreadable, isTooMuch));
  }

  /** @param {string[]} names of the lessons that are answered; before the first answer, of all that ask for a guess */
  offer(names) {
    const [before, after] = [[...this.which.options].map(({ value }) => value), names.length ? names : [""]];
    this.which.hidden = names.length < 2;
    if (before.join("\n") === after.join("\n")) return;
    const chosen = this.which.value;
    this.which.replaceChildren(...after.map((name) => el("option", { value: name }, [name])));
    if (after.includes(chosen)) this.which.value = chosen;
  }
}

/**
 * The axis of a lesson and its true answer; of a lesson that is not known, what the strings say of both.
 * @param {Lesson | undefined} lesson @param {{guess: number, answer: number | null}[]} guesses
 * @returns {{range: [number, number], answer: number | null}}
 */
function axisOf(lesson, guesses) {
  const predict = lesson?.predict;
  if (lesson && predict) {
    const { scene, after } = lesson;
    const { answer } = answerOf(predict, predict.sweep ? scene : after);
    if (predict.axis) return { range: [predict.axis[0], predict.axis[1]], answer };
    const g = scene.generators.findIndex((item) => item.name === predict.generator);
    return { range: rangeOf(scene, subjectOf(scene, g, 0)), answer };
  }
  const answers = guesses.flatMap(({ answer }) => (answer === null ? [] : [answer]));
  const values = [...guesses.map(({ guess }) => guess), ...answers];
  const [low, high] = values.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
  const pad = (high - low || Math.abs(high) || 1) / 10;
  return { range: [low - pad, high + pad], answer: answers.length ? median(answers) : null };
}

/** @param {number[]} values */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** @param {number[]} values @param {number | null} answer */
function saidOf(values, answer) {
  if (!values.length) return "No flags yet: paste answers below.";
  const flags = values.length === 1 ? "1 flag" : `${values.length} flags, their median at ${numeral(median(values))}`;
  return answer === null ? `${flags}.` : `${flags}. The answer is ${numeral(answer)}.`;
}

/** @param {number} count @param {number} unreadable @param {boolean} isTooMuch */
function readOf(count, unreadable, isTooMuch) {
  const broken = unreadable ? ` ${unreadable} could not be read: copy ${unreadable === 1 ? "it" : "them"} again.` : "";
  return `${count} ${count === 1 ? "answer" : "answers"} read.${broken}${isTooMuch ? " The rest is over the limit." : ""}`;
}

const state = JSON.parse(document.scripts[0].text);
const refused = whyLessonsRefused(state.lessons);
const collector = refused ? null : new Collector(state, new AbortController().signal);
document
  .getElementsByClassName("lab")[0]
  .append(collector?.root ?? el("p", { class: "nbm", role: "alert" }, [refused]));
collector?.paint();
