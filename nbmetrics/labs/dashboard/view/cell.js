/**
 * One cell opened: how its score compares, what it is of the generator's avg, and, from Python, what it is made of.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Cells } from "./cells.js"
 * @import { Numbers, Scene } from "./types.js"
 */
import { el, setText } from "../../toolkit/view/dom.js";
import { shareText, shownNumber } from "../../toolkit/view/numbers.js";
import { comparedWords, kindOf, wordsOf } from "./cells.js";

export class CellCard {
  /** @param {Store} store @param {AbortSignal} signal @param {() => void} close */
  constructor(store, signal, close) {
    this.store = store;
    this.head = el("span", { role: "heading", "aria-level": "3" });
    this.score = el("p");
    this.part = el("p");
    const button = el("button", { type: "button" }, ["Close"]);
    button.addEventListener("click", close, { signal });
    this.root = el("div", { class: "nbm-dashboard-cell", role: "group", "aria-label": "Chosen cell", hidden: "" }, [
      el("div", { class: "nbm-dashboard-cellhead" }, [this.head, button]),
      this.score,
      this.part,
    ]);
  }

  /** @param {Scene} scene @param {Numbers} numbers @param {Cells} cells */
  paint(scene, numbers, cells) {
    const { client, generator } = scene;
    const i = numbers.clients.findIndex(({ name }) => name === client);
    const g = scene.generators.indexOf(generator);
    this.root.hidden = i < 0 || g < 0;
    if (this.root.hidden) return;
    setText(this.head, `${client}, ${generator}`);
    setText(this.score, scoreWords(cells, scene, client, i));
    setText(this.part, shareWords(numbers, scene, i, g));
  }
}

/** @param {Cells} cells @param {Scene} scene @param {string} client @param {number} i */
function scoreWords(cells, { generator, generators }, client, i) {
  const value = cells.values[generator][i];
  if (kindOf(value, cells.known[generator][i]) !== "score") return `${wordsOf(cells, client, i, generator)}.`;
  const best = generators.filter((name) => cells.regret[name][i] === 0);
  const others = best.length && !best.includes(generator) ? ` (${best.join(", ")})` : "";
  return `${cells.facts.label} ${shownNumber(value)}: ${comparedWords(cells, i, generator)}${others}.`;
}

/** What it is of the average. @param {Numbers} numbers @param {Scene} scene @param {number} i @param {number} g */
function shareWords({ metrics, shares, clients }, { metric, generator }, i, g) {
  const { values, avg, facts } = metrics[metric];
  const part = shares[i] * values[g][i];
  const begin = `${facts.label} of ${generator} is ${shownNumber(avg[g])} on average`;
  if (!Number.isFinite(part) || !Number.isFinite(avg[g])) return `${begin}.`;
  const share = avg[g] > 0 && part >= 0 ? `, ${shareText(part / avg[g])} of it` : "";
  return `${begin}; ${clients[i].name}, with ${shareText(shares[i])} of the weight, adds ${shownNumber(part)}${share}.`;
}
