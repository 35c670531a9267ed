/**
 * By which aggregate the triangle of weights shows who wins: avg, which the page knows, or all, which Python computes for
 * the groups on show once it is chosen.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { MetricFacts, Scene } from "./types.js"
 * @import { Told, Winners } from "./winner_map.js"
 */
import { el, setAttributes } from "../../toolkit/view/dom.js";
import { winnersOf, withinOf } from "./winner_map.js";

export class WinnerChoice {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.by = "avg";
    this.asked = "";
    this.buttons = ["avg", "all"].map((by) => {
      const button = el("button", { type: "button" }, [by]);
      button.addEventListener("click", () => this.choose(by), { signal });
      return button;
    });
    this.root = el("div", { class: "nbm-group", role: "group", "aria-label": "Winner by" }, [
      el("span", {}, ["Winner by"]),
      ...this.buttons,
    ]);
  }

  /** @param {string} by */
  choose(by) {
    if (this.asked && by === "avg") this.store.send({ kind: "no winners" });
    this.by = by;
    this.asked = "";
    this.store.changed();
  }

  /** @returns {Told} */
  get told() {
    return this.store.model.get("winners") ?? {};
  }

  /** What is to be drawn by all; null where it is avg's. @param {Scene} scene @param {MetricFacts} facts @param {number[]} groups @param {number[]} shares @returns {Winners | null} */
  paint(scene, { same, pooled }, groups, shares) {
    const { store, told } = this;
    const within = withinOf(shares, groups);
    const winners = winnersOf(told, scene, groups, within);
    const isOpen = this.by === "all" || winners !== null || !store.saved;
    this.root.hidden = same || pooled === false || !isOpen;
    for (const button of this.buttons)
      setAttributes(button, { "aria-pressed": String(button.textContent === this.by) });
    if (this.root.hidden || this.by === "avg") return null;
    const isComplete = winners !== null && !told.doing;
    if (!isComplete && !store.before && !store.saved && !store.lost) this.ask(scene, groups, within);
    return winners;
  }

  /** Once for the same groups. @param {Scene} scene @param {number[]} groups @param {number[]} within */
  ask(scene, groups, within) {
    const key = JSON.stringify([scene.metric, scene.generators, groups, within.map((share) => share.toFixed(9))]);
    if (key === this.asked) return;
    this.asked = key;
    this.store.send({ kind: "winners", scene });
  }

  /** What the triangle shows. @param {MetricFacts} facts @param {Winners | null} winners */
  words({ label, same, pooled }, winners) {
    const { store, told } = this;
    const byAvg = `Who wins by ${label} avg`;
    if (same) return `${byAvg}; by all it is the same, as always with ${label}.`;
    if (pooled === false) return `${byAvg}.`;
    if (this.root.hidden) return `${byAvg}. By all: choose it in a notebook, and save the page there.`;
    if (this.by === "avg") return `${byAvg}.`;
    if (winners) {
      const further = told.doing ? ` Python goes on: ${told.doing} …` : "";
      const shifted = winners.shifted
        ? " The bias of few rows is taken off as it was at the weights then on show."
        : "";
      return `Who wins by ${label}-all: Python’s at ${winners.points.length} points, taken for straight in between.${shifted}${further}`;
    }
    if (store.saved) return `${byAvg}: by all a notebook computes it for these groups and weights within them.`;
    if (store.lost || store.waiting) return `${byAvg}: Python, which computes all, is busy or gone.`;
    if (told.error) return `${byAvg}: by all it is not known. Python: ${told.error}`;
    return `${byAvg}, until Python has computed all: ${told.doing || "it begins"} …`;
  }
}
