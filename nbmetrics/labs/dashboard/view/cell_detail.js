/**
 * What Python says of a chosen cell: the terms of its score, each client's part of FID-all, the rows that carry it, and
 * likely copies.
 *
 * @import { Written } from "./types.js"
 *
 * @typedef {{row: number, pull?: Written, score?: Written, picture?: string}} Carrier
 * @typedef {{cell: string[], weights: number[], error?: string, doing: string, terms: [string, Written][] | null,
 *   why: string, rows: {client: Carrier[], generator: Carrier[], of: number[], looked: number[]} | null,
 *   parts: {parts: Written[], rest: Written, total: Written} | null,
 *   copies: {rows: Carrier[], looked: number} | null}} Details  see details.py
 */
import { el } from "../../toolkit/view/dom.js";
import { read } from "../../toolkit/view/json_numbers.js";
import { shareText, shownNumber } from "../../toolkit/view/numbers.js";
import { orderOf } from "../../toolkit/view/ties.js";

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
  if (Math.abs(read(rest)) > 1e-3 * Math.abs(all)) lines.push(line("what few rows leave over", read(rest)));
  return section(
    `Each client’s part of FID-all: how far the map from all clients together to the generator carries its data. They add up to ${shownNumber(all)}.`,
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
  const some = (/** @type {number} */ side) => (looked[side] < of[side] ? `, of ${looked[side]} looked at` : "");
  return [
    section(`Rows of ${name} that ${generatorName} misses most${some(0)}, with KID’s witness:`, chips(client, "pull")),
    section(
      `Rows of ${generatorName} that ${name} has least like${some(1)}, with KID’s witness:`,
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
    : el("p", {}, ["None: each is as likely on the other side."]);
}
