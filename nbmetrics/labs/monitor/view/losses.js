/**
 * The losses, in a plot of their own, with their names and values at the step on show.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Scrubber } from "./scrubber.js"
 * @import { Numbers, Scene } from "./types.js"
 */
import { resizeChildren } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { scoreText } from "./formatting.js";
import { nearest } from "./page_decoding.js";
import { StepPlot } from "./step_plot.js";

// Losses that are drawn.
const MOST = 8;

export class Losses {
  /** @param {Store} store @param {AbortSignal} signal @param {Scrubber} scrubber */
  constructor(store, signal, scrubber) {
    this.plot = new StepPlot(store, signal, scrubber, 96);
    this.legend = el("div", { class: "nbm-step-legend" });
    this.image = el("div", { role: "img" }, [this.plot.root]);
    this.title = el("div", { class: "nbm-step-title" }, ["Losses"]);
    this.root = el("div", { class: "nbm-step-figure" }, [this.title, this.legend, this.image]);
  }

  /** @param {Scene} _scene @param {Numbers} numbers */
  paint(_scene, { history, steps: all, alarms, step }) {
    const losses = history.losses.slice(0, MOST);
    this.root.hidden = !losses.length;
    if (!losses.length) return;
    const curves = losses.map(({ name, steps, values }, i) => ({
      name,
      style: `nbm-step-loss nbm-step-loss${i % 4} nbm-step-dash${i >> 2}`,
      steps,
      values,
    }));
    const alarmSteps = alarms.map((alarm) => alarm.step);
    this.plot.paint(all, curves, alarmSteps, step, [history.losses, all, alarms]);
    const make = () => el("span", {}, [el("i", { "aria-hidden": "true" }), el("span")]);
    const at = losses.map(({ steps, values }) =>
      scoreText(values[step === null ? steps.length - 1 : nearest(steps, step)] ?? NaN),
    );
    resizeChildren(this.legend, losses.length, make).forEach((node, i) => {
      setAttributes(node.children[0], { class: curves[i].style });
      setText(node.children[1], `${losses[i].name} ${at[i]}`);
    });
    const more = history.losses.length - losses.length;
    const values = losses.map(({ name }, i) => `${name} ${at[i]}`).join(", ");
    setAttributes(this.image, {
      "aria-label": `Losses at this step: ${values}${more > 0 ? `, and ${more} that are not drawn` : ""}`,
    });
  }
}
