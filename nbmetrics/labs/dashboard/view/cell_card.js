/**
 * One cell opened: how its score compares, what it is of the generator's avg, and, from Python, what it is made of.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Cells } from "./cell_values.js"
 * @import { Numbers, Scene, Written } from "./types.js"
 */
import { el, setText } from "../../toolkit/view/dom.js";
import { read } from "../../toolkit/view/json_numbers.js";
import { shareText, shownNumber } from "../../toolkit/view/numbers.js";
import { orderOf } from "../../toolkit/view/ties.js";
import { comparedWords, kindOf, scoreWords, wordsOf } from "./cell_values.js";
import { scoreOf } from "./metric_view.js";

const SAVED = "Its terms and most influential rows need Python: choose the cell in a notebook and save the page there.";

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
    const { by_client: isOwn } = this.store.model.get("board").generators[generator] ?? {};
    const own = isOwn ? ` Compared with what ${generator} made for ${client}; its row numbers refer to that.` : "";
    setText(this.score, `${comparison(cells, scene, client, i)}${own}`);
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
    if (store.waiting || store.lost) return "Python is busy or unreachable.";
    return `Python computes ${doing || "the details"} …`;
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
  const share = avg > 0 && part >= 0 ? ` (${shareText(part / avg)})` : "";
  const of = few.length ? "of the weight that counts" : "of the weight";
  return `${begin}; ${clients[i].name}, with ${shareText(counted[i])} ${of}, adds ${shownNumber(part)}${share}.`;
}

/**
 * What Python says of a chosen cell: the terms of its score, each client's part of FID-all, the rows that carry it, and
 * likely copies.
 *
 *
 * @typedef {{row: number, pull?: Written, score?: Written, picture?: string}} Carrier
 * @typedef {{cell: string[], weights: number[], error?: string, doing: string, terms: [string, Written][] | null,
 *   why: string, rows: {client: Carrier[], generator: Carrier[], of: number[], looked: number[]} | null,
 *   parts: {parts: Written[], rest: Written, total: Written} | null,
 *   copies: {rows: Carrier[], looked: number} | null}} Details  see details.py
 */

const MAX_PARTS_SHOWN = 6;

/** @param {Details} details @param {string} label of the metric @param {{name: string}[]} clients @param {number[]} weights on show @returns {Node[]} */
export function cellDetail(details, label, clients, weights) {
  const { cell, terms, why, rows, parts, copies } = details;
  if (details.error) return [el("p", {}, [`Python: ${details.error}`])];
  const isOfWeights = weights.every((weight, i) => weight === details.weights[i]);
  return [
    ...(terms ? [el("p", {}, [termWords(label, terms)])] : why ? [el("p", {}, [`No score: ${why}`])] : []),
    ...(parts && isOfWeights ? [partList(parts, clients, cell[0])] : []),
    ...(rows ? carriers(rows, cell) : []),
    ...(copies ? [copyList(copies, cell)] : []),
  ];
}

/** @param {string} label @param {[string, Written][]} terms */
function termWords(label, terms) {
  const values = terms.map(([, value]) => read(value));
  const parts = terms.map(
    ([name], i) =>
      `${i ? (values[i] < 0 ? " − " : " + ") : values[i] < 0 ? "−" : ""}${name} ${shownNumber(Math.abs(values[i]))}`,
  );
  const total = values.reduce((sum, value) => sum + value, 0);
  return `${label} ${shownNumber(total)} = ${parts.join("")}`;
}

/** @param {{parts: Written[], rest: Written, total: Written}} parts @param {{name: string}[]} clients @param {string} chosen */
function partList({ parts, rest, total }, clients, chosen) {
  const all = read(total);
  const values = parts.map(read);
  const order = orderOf(values.map((value) => -value));
  const at = clients.findIndex(({ name }) => name === chosen);
  const first = order.slice(0, MAX_PARTS_SHOWN);
  const shown = first.includes(at) ? first : [...first.slice(0, -1), at];
  const others = order.filter((i) => !shown.includes(i));
  const line = (/** @type {string} */ name, /** @type {number} */ value, isChosen = false) =>
    bar(name, value, values[order[0]], `${shownNumber(value)}, ${shareText(value / all)}`, isChosen);
  const lines = shown.map((i) => line(clients[i].name, values[i], i === at));
  if (others.length)
    lines.push(
      line(
        `${others.length} others`,
        others.reduce((sum, i) => sum + values[i], 0),
      ),
    );
  if (Math.abs(read(rest)) > 1e-3 * Math.abs(all)) lines.push(line("remainder from few rows", read(rest)));
  return section(
    `Each client’s part of FID-all: how far the map from the pooled clients to the generator moves its data. The parts add up to ${shownNumber(all)}.`,
    el("ul", { class: "nbm-cell-bars" }, lines),
  );
}

/** @param {string} name @param {number} value @param {number} most @param {string} words @param {boolean} isChosen */
function bar(name, value, most, words, isChosen) {
  const length = most > 0 ? Math.max(0, Math.min(1, value / most)) : 0;
  const mark = el("span", {
    class: "nbm-cell-bar",
    style: `width: ${Math.round(100 * length)}%`,
    "aria-hidden": "true",
  });
  return el("li", isChosen ? { class: "nbm-cell-own" } : {}, [el("span", {}, [name]), mark, el("span", {}, [words])]);
}

/** @param {{client: Carrier[], generator: Carrier[], of: number[], looked: number[]}} rows @param {string[]} cell */
function carriers({ client, generator, of, looked }, [name, generatorName]) {
  const some = (/** @type {number} */ side) => (looked[side] < of[side] ? `, of ${looked[side]} examined` : "");
  return [
    section(
      `Rows of ${name} that ${generatorName} misses most${some(0)}, by KID’s witness function:`,
      chips(client, "pull"),
    ),
    section(
      `Rows of ${generatorName} least like those of ${name}${some(1)}, by KID’s witness function:`,
      chips(generator, "pull"),
    ),
  ];
}

/** @param {{rows: Carrier[], looked: number}} copies @param {string[]} cell */
function copyList({ rows, looked }, [name, generatorName]) {
  return section(
    `Likeliest copies of rows of ${name} among ${looked} rows of ${generatorName}, with FLD’s memorization score (19.08: an exact copy):`,
    chips(rows, "score"),
  );
}

/** @param {string} words @param {HTMLElement} content */
function section(words, content) {
  return el("div", { class: "nbm-cell-part" }, [el("p", {}, [words]), content]);
}

/** @param {Carrier[]} rows @param {"pull" | "score"} of */
function chips(rows, of) {
  const items = rows.map((carrier) => {
    const value = shownNumber(read(carrier[of]));
    const picture = carrier.picture ? [el("img", { src: carrier.picture, alt: "" })] : [];
    return el("li", {}, [...picture, el("span", {}, [`row ${carrier.row}`]), el("small", {}, [value])]);
  });
  return items.length
    ? el("ol", { class: "nbm-cell-rows" }, items)
    : el("p", {}, ["None: every row is as likely on the other side."]);
}
