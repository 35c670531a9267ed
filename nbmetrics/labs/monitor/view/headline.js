/**
 * Which step to keep: of the chosen metric as the headline, of all with their numbers on the second level; and the scores
 * at the step on show.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Judgement, Line, Numbers, Scene } from "./types.js"
 */
import { resizeChildren } from "../../toolkit/view/chart.js";
import { el, keepRoom, scroller, setAttributes, setText } from "../../toolkit/view/dom.js";
import { scoreText, stepText } from "./formatting.js";
import { nearest } from "./page_decoding.js";

export class Headline {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.heading = el("h3", { class: "nbm-step-headline", role: "heading", "aria-level": "2", "aria-live": "off" });
    this.others = el("div", { class: "nbm-step-others" });
    this.versus = el("p", { class: "nbm-step-versus" });
    this.note = el("p", { class: "nbm-note" });
    this.root = el("div", { class: "nbm-step-head" }, [this.heading, this.versus]);
    this.details = el("div", {}, [this.others, this.note]);
    keepRoom(this.root, signal);
    /** @type {string[]} */
    this.names = [];
    const choose = (/** @type {Event} */ event) => {
      const button = /** @type {Element} */ (event.target).closest("button");
      const place = button ? [...this.others.children].indexOf(button) : -1;
      if (place >= 0) store.edit(/** @type {any} */ ({ ...store.scene, metric: this.names[place] }), "");
    };
    this.others.addEventListener("click", choose, { signal });
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paint({ metric }, { history, judgement, versus }) {
    const own = ownLines(history.lines, metric);
    const words = own.map((line) => headlineOf(line, judgement?.[line.stored.name]));
    setText(
      this.heading,
      words[0] ?? (history.steps.length ? "Nothing is scored yet." : "Waiting for the first step."),
    );
    setText(this.versus, own.length ? (versus[own[0].stored.name] ?? "") : "");
    this.versus.hidden = !this.versus.textContent;
    const { lines } = history;
    this.names = lines.map(({ facts }) => facts.name);
    resizeChildren(this.others, lines.length, () => el("button", { type: "button" })).forEach((node, i) =>
      setText(node, `${lines[i].stored.label}: ${checkpointSentence(lines[i], judgement?.[lines[i].stored.name])}`),
    );
    const notes = lines.map(({ stored }) =>
      judgement?.[stored.name]?.note ? `${stored.label}. ${judgement[stored.name].note}` : "",
    );
    setText(this.note, notes.filter(Boolean).join(" "));
    this.note.hidden = !this.note.textContent;
  }
}

/** The lines of a metric; where each client has a distribution of its own at the newest step, its intra before them, which hears what avg and all cannot. @param {Line[]} lines @param {string} metric */
function ownLines(lines, metric) {
  const own = lines.filter(({ facts }) => facts.name === metric);
  const last = Math.max(...own.map(({ stored }) => stored.steps[stored.steps.length - 1]));
  const intra = lines.filter(({ facts, stored }) => facts.of === metric && stored.steps.includes(last));
  return [...intra, ...own];
}

/** Scores of all lines at the step on show. */
export class ScoreTable {
  /** @param {AbortSignal} signal */
  constructor(signal) {
    const heads = ["Metric", "avg", "all", "gap"];
    this.body = el("tbody");
    const row = el(
      "tr",
      {},
      heads.map((head) => (head === "Metric" ? el("td") : el("th", { scope: "col", "aria-label": head }, [head]))),
    );
    this.table = el("table", { class: "nbm-scores nbm-step-scores", "aria-label": "Scores" }, [
      el("thead", {}, [row]),
      this.body,
    ]);
    this.root = scroller("Scores at this step", this.table, signal);
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paint({ rev }, { history, other, step }) {
    setAttributes(this.table, { "data-rev": rev });
    const make = () => el("tr", {}, [el("th", { scope: "row" }), ...Array.from({ length: 3 }, () => el("td"))]);
    const lines = [history.lines, other?.lines ?? []].flatMap((of, run) => of.map((line) => ({ line, run })));
    resizeChildren(this.body, lines.length, make).forEach((row, n) => {
      const { stored, avg, all, gap } = lines[n].line;
      const place = step === null ? -1 : nearest(stored.steps, step);
      setText(row.children[0], lines[n].run ? `${stored.label}, other run` : stored.label);
      const scores = [avg, all, gap].map((values) => (values ? values[place] : undefined));
      scores.forEach((score, c) => {
        setText(row.children[c + 1], score === undefined ? "–" : scoreText(score));
        if (score === undefined) row.children[c + 1].removeAttribute("data-value");
        else setAttributes(row.children[c + 1], { "data-value": score });
      });
    });
  }
}

/**
 * What avg and all would keep, in sentences: Python's, once it has compared the same steps, and a shorter one until then.
 * @param {Line} line @param {Judgement | undefined} judgement @returns {string}
 */
export function checkpointSentence(line, judgement) {
  return isOfSameBest(line, judgement) ? (judgement?.words ?? "") : headlineOf(line, undefined);
}

/** Which step to keep. @param {Line} line @param {Judgement | undefined} judgement @returns {string} */
function headlineOf(line, judgement) {
  const { facts, stored, best } = line;
  const label = facts.label;
  if (best.avg === null)
    return (
      judgement?.headline ?? `${stored.label} ${line.avg ? "has no score yet" : "is not known for these weights"}.`
    );
  if (judgement?.headline && isOfSameBest(line, judgement)) return judgement.headline;
  const newest = best.avg === stored.steps[stored.steps.length - 1] ? ", the newest" : "";
  if (facts.of) return `Keep step ${stepText(best.avg)}${newest}, best by ${label}.`;
  if (best.all === null) return `Best by ${label}-avg: step ${stepText(best.avg)}.`;
  if (best.avg !== best.all)
    return `Best by ${label}-avg: step ${stepText(best.avg)}; by ${label}-all: step ${stepText(best.all)}.`;
  return `Keep step ${stepText(best.all)}${newest}, best by ${label}-avg and ${label}-all.`;
}

/** @param {Line} line @param {Judgement | undefined} judgement */
function isOfSameBest({ best }, judgement) {
  return !!judgement?.words && judgement.best.avg === best.avg && judgement.best.all === best.all;
}
