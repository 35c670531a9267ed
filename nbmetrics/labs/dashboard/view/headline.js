/**
 * The verdict, first of all: on the metric in view in a sentence, and what to do next, or how far Python is. How sure it
 * is, what was checked and what other metrics say stands in `details`, on a tab. Room for all of it
 * is kept, so that nothing below moves.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Progress } from "./generator_menu.js"
 * @import { Numbers, Scene } from "./types.js"
 */
import { resizeChildren } from "../../toolkit/view/chart.js";
import { el, keepRoom, setAttributes, setText } from "../../toolkit/view/dom.js";
import { briefly } from "./place_ranges.js";

const POINTS = "Points: how far the client’s score is from the score of its best generator.";

export class Headline {
  /** @param {Store} store @param {AbortSignal} signal @param {Progress} progress */
  constructor(store, signal, progress) {
    this.store = store;
    this.signal = signal;
    this.progress = progress;
    this.main = el("p", { class: "nbm-dashboard-headline", role: "heading", "aria-level": "2" });
    this.todo = el("p", { class: "nbm-dashboard-todo", title: POINTS });
    this.others = el("div", { class: "nbm-dashboard-others", role: "group", "aria-label": "Other metrics" });
    this.why = el("p", { class: "nbm-dashboard-why" });
    for (const part of [this.main, this.todo]) keepRoom(part, signal);
    this.root = el("div", { class: "nbm-dashboard-verdict" }, [this.main, this.todo, progress.root]);
    this.details = el("div", { class: "nbm-dashboard-details" }, [this.why, this.others]);
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paint(scene, { shares, metrics, progress, answer }) {
    const shown = metrics[scene.metric];
    if (!shown) return setText(this.main, progress.doing);
    const { sentences, state, todo } = shown.verdict;
    setAttributes(this.root, { "data-state": state });
    setText(this.main, sentences[0]);
    this.todo.hidden = !this.progress.root.hidden || answer.tested === false;
    const ofModels = answer.models?.[scene.metric];
    const isOld = shares.some((share, i) => Math.abs(share - (answer.weights?.[i] ?? share)) > 1e-9);
    this.todo.classList.toggle("nbm-old", Boolean(ofModels) && isOld);
    setText(this.todo, ofModels || todo);
  }

  /** What is on a tab. @param {Scene} scene @param {Numbers} numbers */
  paintDetails({ metric }, { metrics }) {
    const { verdict } = metrics[metric];
    setText(this.why, verdict.sentences.slice(verdict.todo ? 2 : 1).join(" "));
    const others = Object.keys(metrics)
      .filter((name) => name !== metric)
      .map((name) => metrics[name]);
    this.others.hidden = !others.length;
    resizeChildren(this.others, others.length, () => this.makeOther()).forEach((button, k) => {
      const { facts: own, verdict: its, isNear, average } = others[k];
      setAttributes(button, { "data-metric": own.name });
      setText(button.children[0], `${own.label}:`);
      setText(button.children[1], `${briefly(its, average)}${isNear ? ` by ${average}` : ""}`);
    });
  }

  /** A button that looks at its metric. */
  makeOther() {
    const { store, signal } = this;
    const button = el("button", { type: "button" }, [el("b"), el("span")]);
    const look = () => store.edit(/** @type {any} */ ({ ...store.scene, metric: button.dataset.metric }), "");
    button.addEventListener("click", look, { signal });
    return button;
  }
}
