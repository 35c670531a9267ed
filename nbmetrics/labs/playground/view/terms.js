/**
 * The formula of the charted metric with its addends as live numbers: a row for every client, then avg and all. What
 * the pointer rests on is lit everywhere: an item in the plane, its row, an addend in the formula and its column.
 *
 * @import { Item, Distribution, Place, Scene } from "../../toolkit/view/types.js"
 * @import { PlaneStore } from "../../plane/view/store.js"
 * @import { Chart } from "./explore.js"
 */

import { distributionsOf } from "../../plane/view/distributions.js";
import { addendsOf, isClosed } from "../../plane/view/scores.js";
import { resizeChildren } from "../../toolkit/view/chart.js";
import { el, scroller, setText } from "../../toolkit/view/dom.js";
import { figure } from "../../toolkit/view/numbers.js";
import { CHARTED } from "./metrics.js";

export class TermsView {
  /** @param {PlaneStore} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.signal = signal;
    this.lit = -1;
    this.charted = 0;
    this.shown = "";
    this.formula = el("div", { class: "nbm-formula" });
    this.head = el("tr");
    this.body = el("tbody");
    this.table = el("table", { class: "nbm-figures nbm-terms", "aria-label": "Terms" }, [
      el("thead", {}, [this.head]),
      this.body,
    ]);
    this.absent = el("p", { class: "nbm-empty" });
    this.note = el("p", { class: "nbm-note" }, [
      "Point at a row, a number or a part of the formula to highlight what it describes.",
    ]);
    this.root = el("div", {}, [this.formula, scroller("Terms", this.table, signal), this.absent, this.note]);
  }

  /** @param {Chart} chart */
  paint({ scene, g, charted, data }) {
    const { metric, label } = charted;
    const distributions = distributionsOf(scene, data);
    const isSum = isClosed(metric, [...distributions.clients, distributions.generators[g]]);
    for (const node of [this.formula, this.table, this.note]) node.hidden = !isSum;
    this.absent.hidden = isSum;
    setText(
      this.absent,
      isSum ? "" : (CHARTED[metric].no_sum ?? `Python computes ${label} from points, without its parts.`),
    );
    if (!isSum) return;
    this.keepFormula(metric, label);
    const parts = distributions.clients.map((distribution) =>
      addendsOf(metric, distribution, distributions.generators[g]),
    );
    const avg = parts[0].map((_, k) => parts.reduce((sum, part, i) => sum + distributions.shares[i] * part[k], 0));
    const rows = [...parts, avg, addendsOf(metric, distributions.pooled, distributions.generators[g])];
    this.paintRows([...scene.clients.map((client) => client.name), "avg", "all"], rows);
    this.light(metric, g);
  }

  /** @param {string} metric @param {string} label */
  keepFormula(metric, label) {
    if (this.shown === metric) return;
    this.shown = metric;
    const { addends = [], symbols = [] } = CHARTED[metric];
    const parts = symbols.flatMap((symbol, k) => {
      const minus = symbol.startsWith("−");
      const part = el("span", { class: "nbm-part" }, typeset(minus ? symbol.slice(1) : symbol));
      this.lightOn(part, k, true);
      return [el("span", { class: "nbm-sign" }, [k ? (minus ? "−" : "+") : minus ? "−" : ""]), part];
    });
    this.formula.replaceChildren(el("span", { class: "nbm-sign" }, [`${label} =`]), ...parts);
    const heads = addends.map((symbol, k) => {
      const head = el("th", { scope: "col" }, typeset(symbol));
      this.lightOn(head, k, true);
      return head;
    });
    this.head.replaceChildren(
      el("th", { scope: "col" }, ["Client"]),
      ...heads,
      el("th", { scope: "col", class: "nbm-sum" }, [label]),
    );
    this.body.replaceChildren();
  }

  /** An addend as a whole also points at the generator, if it is the generator's own. @param {Element} node @param {number} k @param {boolean} [isWhole] not just one client's */
  lightOn(node, k, isWhole = false) {
    const { store, signal } = this;
    const point = (/** @type {number} */ lit) => {
      this.lit = lit;
      if (!isWhole || k !== CHARTED[this.shown].own) return store.changed();
      store.hover(lit < 0 ? null : { kind: "generators", index: this.charted });
    };
    node.addEventListener("pointerenter", () => point(k), { signal });
    node.addEventListener("pointerleave", () => point(-1), { signal });
  }

  /** @param {string[]} names @param {number[][]} rows */
  paintRows(names, rows) {
    const { hovered, selected } = this.store;
    const nodes = /** @type {HTMLTableRowElement[]} */ (
      resizeChildren(this.body, names.length, (r) => this.makeRow(r, rows[0].length))
    );
    nodes.forEach((row, r) => {
      const isClient = r < names.length - 2;
      const here = (/** @type {Place | null} */ place) => isClient && place?.kind === "clients" && place.index === r;
      setText(row.cells[0], names[r]);
      [...rows[r], rows[r].reduce((sum, value) => sum + value, 0)].forEach((value, k) =>
        setText(row.cells[k + 1], figure(value).replace("-", "−")),
      );
      row.classList.toggle("nbm-total", !isClient);
      row.classList.toggle("nbm-hovered", here(hovered));
      row.classList.toggle("nbm-selected", here(selected));
    });
  }

  /** @param {number} index @param {number} count */
  makeRow(index, count) {
    const { store, signal } = this;
    const cells = Array.from({ length: count }, (_, k) => {
      const cell = el("td");
      this.lightOn(cell, k);
      return cell;
    });
    const row = el("tr", {}, [el("th", { scope: "row" }), ...cells, el("td", { class: "nbm-sum" })]);
    const place = () => (index < store.scene.clients.length ? /** @type {Place} */ ({ kind: "clients", index }) : null);
    row.addEventListener("pointerenter", () => store.hover(place()), { signal });
    row.addEventListener("pointerleave", () => store.hover(null), { signal });
    row.addEventListener("click", () => place() && store.select(place()), { signal });
    return row;
  }

  /** Light one addend in the formula and in every row; the generator's own also when the generator is pointed at. @param {string} metric @param {number} g */
  light(metric, g) {
    this.charted = g;
    const { hovered } = this.store;
    const isPointed = hovered?.kind === "generators" && hovered.index === g;
    const lit = this.lit < 0 && isPointed ? (CHARTED[metric].own ?? -1) : this.lit;
    this.formula.querySelectorAll(".nbm-part").forEach((part, k) => part.classList.toggle("nbm-lit", k === lit));
    for (const row of this.table.rows)
      [...row.cells].forEach((cell, k) => cell.classList.toggle("nbm-lit", k === lit + 1 && lit >= 0));
  }
}

/** Readable symbols: `_G` is set below the line and `^½` above it. @param {string} symbol @returns {(Node | string)[]} */
function typeset(symbol) {
  return symbol
    .split(/(_[\wŷ|]+|\^[½\w]+)/u)
    .map((piece) =>
      piece.startsWith("_")
        ? el("sub", {}, [piece.slice(1)])
        : piece.startsWith("^")
          ? el("sup", {}, [piece.slice(1)])
          : piece,
    );
}
