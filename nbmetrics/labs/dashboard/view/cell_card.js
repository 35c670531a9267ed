/**
 * One cell opened: how its score compares, what it is of the generator's avg, and, from Python, what it is made of.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Cells } from "./cell_values.js"
 * @import { Details } from "./cell_detail.js"
 * @import { Numbers, Scene } from "./types.js"
 */
import { el, setText } from "../../toolkit/view/dom.js";
import { shareText, shownNumber } from "../../toolkit/view/numbers.js";
import { cellDetail } from "./cell_detail.js";
import { comparedWords, kindOf, scoreWords, wordsOf } from "./cell_values.js";
import { scoreOf } from "./metric_view.js";

const SAVED =
  "Its terms and the rows that carry it need Python: choose the cell in a notebook, and save the page there.";

export class CellCard {
  /** @param {Store} store @param {AbortSignal} signal @param {() => void} close */
  constructor(store, signal, close) {
    this.store = store;
    this.asked = "";
    this.painted = "";
    this.head = el("span", { role: "heading", "aria-level": "3" });
    this.score = el("p");
    this.part = el("p");
    this.body = el("div");
    this.wait = el("p", { class: "nbm-note" });
    const button = el("button", { type: "button" }, ["Close"]);
    button.addEventListener("click", close, { signal });
    this.root = el("div", { class: "nbm-dashboard-cell", role: "group", "aria-label": "Chosen cell", hidden: "" }, [
      el("div", { class: "nbm-dashboard-cellhead" }, [this.head, button]),
      this.score,
      this.part,
      this.body,
      this.wait,
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
    setText(this.score, comparison(cells, scene, client, i));
    setText(this.part, shareWords(numbers, cells, scene, i, g));
    this.paintDetails(scene, numbers, cells.isScored[generator][i]);
  }

  /** @param {Scene} scene @param {Numbers} numbers @param {boolean} isKnown */
  paintDetails(scene, numbers, isKnown) {
    const { store } = this;
    const { client, generator, metric, weights } = scene;
    const key = JSON.stringify([client, generator, metric, weights, isKnown]);
    if (isKnown && !store.saved && !store.before && this.asked !== key) {
      this.asked = key;
      if (!isOf(this.details, scene)) store.send({ kind: "details", scene });
    }
    const { details } = this;
    const isHere = details.cell && [client, generator, metric].every((name, i) => name === details.cell[i]);
    const { label, corrected, pooled } = numbers.metrics[metric].facts; // of a plain table nothing but scores is known
    setText(this.wait, !isKnown || !pooled || !this.waits(scene) ? "" : this.waiting(isHere ? details.doing : ""));
    const painted = isHere ? JSON.stringify([details, weights]) : "";
    if (painted === this.painted) return;
    this.painted = painted;
    this.body.replaceChildren(
      ...(isHere ? cellDetail(details, corrected ? `Plain ${label}` : label, numbers.clients, weights) : []),
    );
  }

  /** @returns {Details} */
  get details() {
    return this.store.model.get("details") ?? {};
  }

  /** @param {Scene} scene */
  waits(scene) {
    return !isOf(this.details, scene) || this.details.doing;
  }

  /** @param {string} doing */
  waiting(doing) {
    const { store } = this;
    if (store.saved) return SAVED;
    if (store.waiting || store.lost) return "Python is busy or gone.";
    return `Python computes ${doing || "what it is made of"} …`;
  }
}

/** @param {Details} details @param {Scene} scene */
function isOf(details, { client, generator, metric, weights }) {
  const names = [client, generator, metric];
  return (
    details.cell !== undefined &&
    names.every((name, i) => name === details.cell[i]) &&
    weights.every((weight, i) => weight === details.weights[i])
  );
}

/** @param {Cells} cells @param {Scene} scene @param {string} client @param {number} i */
function comparison(cells, { generator }, client, i) {
  const value = cells.values[generator][i];
  if (kindOf(value, cells.isScored[generator][i]) !== "score") return `${wordsOf(cells, client, i, generator)}.`;
  const few = cells.blind[i] ? ` ${cells.blind[i]}.` : "";
  return `${cells.facts.label} ${scoreWords(cells, i, generator)}, ${comparedWords(cells, i, generator)}.${few}`;
}

/** What it is of the average that decisions use. @param {Numbers} numbers @param {Cells} cells @param {Scene} scene @param {number} i @param {number} g */
function shareWords({ metrics, clients }, { scores }, { metric, generator }, i, g) {
  const { avgLosses, counted, few, facts } = metrics[metric];
  const avg = scoreOf(facts, avgLosses[g]);
  const part = counted[i] * scores[generator][i];
  const begin = `${facts.label} of ${generator} is ${shownNumber(avg)} on average`;
  if (few.includes(i)) return `${begin}, which leaves out ${clients[i].name}.`;
  if (!Number.isFinite(part) || !Number.isFinite(avg)) return `${begin}.`;
  const share = avg > 0 && part >= 0 ? `, ${shareText(part / avg)} of it` : "";
  const of = few.length ? "of the weight of those that count" : "of the weight";
  return `${begin}; ${clients[i].name}, with ${shareText(counted[i])} ${of}, adds ${shownNumber(part)}${share}.`;
}
