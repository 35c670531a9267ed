/**
 * The verdict, first of all: one sentence, and below it what it rests on.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Numbers, Scene } from "./types.js"
 */
import { el, setText } from "../../toolkit/view/dom.js";

export class Headline {
  constructor() {
    this.main = el("p", { class: "nbm-dashboard-headline", role: "heading", "aria-level": "2" });
    this.why = el("p", { class: "nbm-note" });
    this.root = el("div", { class: "nbm-dashboard-verdict" }, [this.main, this.why]);
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paint(scene, numbers) {
    const shown = numbers.metrics[scene.metric];
    if (!shown) return;
    const least = shown.avgLosses.indexOf(Math.min(...shown.avgLosses));
    setText(this.main, `${shown.facts.label} on average: ${scene.generators[least] ?? "nobody"} is best.`);
  }
}
