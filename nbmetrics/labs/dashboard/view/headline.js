/**
 * The verdict, first of all: on the metric in view in a sentence, on each other one in a few words, then what avg and all
 * are, how sure the verdict is and what was checked. Room for all of it is kept, so that nothing below moves.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Numbers, Scene } from "./types.js"
 */
import { resizeChildren } from "../../toolkit/view/chart.js";
import { el, keepRoom, setAttributes, setText } from "../../toolkit/view/dom.js";
import { briefly } from "./place_ranges.js";

const MEANINGS = [
  ["avg", "the mean of the clients’ own scores, each by its weight"],
  ["all", "one score against the clients’ data pooled by weight"],
];

export class Headline {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.signal = signal;
    this.main = el("p", { class: "nbm-dashboard-headline", role: "heading", "aria-level": "2" });
    this.others = el("div", { class: "nbm-dashboard-others", role: "group", "aria-label": "Other metrics" });
    this.why = el("p", { class: "nbm-dashboard-why" });
    this.meanings = MEANINGS.map(([name, words]) => el("li", {}, [el("b", {}, [name]), ` ${words}`]));
    for (const part of [this.main, this.why]) keepRoom(part, signal);
    this.root = el("div", { class: "nbm-dashboard-verdict" }, [
      this.main,
      this.others,
      this.why,
      el("ul", { class: "nbm-dashboard-meanings" }, this.meanings),
    ]);
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paint(scene, { metrics, filled }) {
    const shown = metrics[scene.metric];
    if (!shown) return setText(this.main, filled.doing);
    const [headline, ...rest] = shown.verdict.sentences;
    const doing = filled.done < filled.total ? [`${filled.doing} …`] : [];
    setAttributes(this.root, { "data-state": shown.verdict.state });
    this.meanings[1].hidden = shown.facts.pooled === false;
    setText(this.main, headline);
    setText(this.why, [...rest, ...doing].join(" "));
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paintOthers({ metric }, { metrics }) {
    const others = Object.keys(metrics)
      .filter((name) => name !== metric)
      .map((name) => metrics[name]);
    this.others.hidden = !others.length;
    resizeChildren(this.others, others.length, () => this.makeOther()).forEach((button, k) => {
      const { facts, verdict, isNear } = others[k];
      setAttributes(button, { "data-metric": facts.name });
      setText(button.children[0], `${facts.label}:`);
      setText(button.children[1], `${briefly(verdict)}${isNear ? " by avg" : ""}`);
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
