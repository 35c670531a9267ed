/**
 * Weights of the clients: a slider each, and by rows or equal at once.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Numbers, Scene } from "./types.js"
 */
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { shareText } from "../../toolkit/view/numbers.js";
import { slides } from "../../toolkit/view/slider.js";

export class Weights {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.signal = signal;
    this.list = el("div", { class: "nbm-dashboard-weights" });
    /** @type {{input: HTMLInputElement, text: HTMLElement}[]} */
    this.rows = [];
    this.root = el("section", { class: "nbm-dashboard-card", "aria-label": "Weights" }, [this.list]);
  }

  /** @param {Scene} _scene @param {Numbers} numbers */
  paint(_scene, { clients, shares }) {
    while (this.rows.length < clients.length) this.rows.push(this.makeRow(this.rows.length, clients));
    this.rows.forEach(({ input, text }, i) => {
      if (input.valueAsNumber !== shares[i]) input.value = String(shares[i]);
      setAttributes(input, { "aria-valuetext": shareText(shares[i]) });
      setText(text, shareText(shares[i]));
    });
  }

  /** @param {number} i @param {{name: string}[]} clients */
  makeRow(i, clients) {
    const input = el("input", { type: "range", min: "0", max: "1", step: "0.01" });
    setAttributes(input, { "aria-label": `${clients[i].name} weight` });
    const text = el("span", { class: "nbm-share" });
    slides(input, this.store, (value) => withShare(/** @type {any} */ (this.store.scene), i, value), this.signal);
    this.list.append(el("label", {}, [el("span", {}, [clients[i].name]), input, text]));
    return { input, text };
  }
}

/** One client's share moved, the others in proportion. @param {Scene} scene @param {number} i @param {number} value @returns {any} */
export function withShare(scene, i, value) {
  const total = scene.weights.reduce((sum, weight) => sum + weight, 0);
  const others = total - scene.weights[i];
  const weights = scene.weights.map((weight, j) => {
    if (j === i) return value;
    return (1 - value) * (others ? weight / others : 1 / (scene.weights.length - 1));
  });
  return { ...scene, weights };
}
