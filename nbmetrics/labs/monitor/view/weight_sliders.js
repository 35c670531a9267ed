/**
 * Weights of the clients, which may be moved long after the run: avg and best steps follow in the same frame.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Numbers, Run, Scene } from "./types.js"
 */
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { shareText } from "../../toolkit/view/numbers.js";
import { slides } from "../../toolkit/view/slider.js";
import { orderOf } from "../../toolkit/view/ties.js";
import { withShare } from "./reweighting.js";

// Clients that have a slider, those of the largest weights.
const MOST = 60;

export class WeightSliders {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    const { clients, weights } = /** @type {Run} */ (store.model.get("run"));
    const largestFirst = orderOf(
      clients.map((_, i) => -weights[i]),
      1,
    );
    this.places = largestFirst.slice(0, MOST).sort((i, j) => i - j);
    this.rows = this.places.map((i) => {
      const input = el("input", {
        type: "range",
        min: "0",
        max: "1",
        step: "0.01",
        "aria-label": `${clients[i]} weight`,
      });
      const text = el("output");
      slides(
        input,
        store,
        (value) =>
          /** @type {any} */ ({
            ...store.scene,
            weights: withShare(/** @type {any} */ (store.scene).weights, i, value),
          }),
        signal,
      );
      return {
        input,
        text,
        root: el("div", { class: "nbm-step-weight" }, [el("span", { title: clients[i] }, [clients[i]]), input, text]),
      };
    });
    const head = el("span", { class: "nbm-card-head", role: "heading", "aria-level": "3" }, ["Weights of the clients"]);
    const more = clients.length - this.rows.length;
    const left = more > 0 ? [el("p", { class: "nbm-note" }, [`The other ${more} clients change in proportion.`])] : [];
    this.list = el(
      "div",
      { class: "nbm-step-weights" },
      this.rows.map(({ root }) => root),
    );
    this.root = el("section", { class: "nbm-step-card", "aria-label": "Weights" }, [head, this.list, ...left]);
  }

  /** @param {Scene} _scene @param {Numbers} numbers */
  paint(_scene, { shares }) {
    this.rows.forEach(({ input, text }, n) => {
      const share = shares[this.places[n]];
      input.value = String(share);
      setAttributes(input, { "aria-valuetext": shareText(share) });
      setText(text, shareText(share));
    });
  }
}
