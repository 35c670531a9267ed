/**
 * What the clients say of the two generators: in a sentence, as a picture, and in the Scores table.
 *
 * @import { Distribution } from "../../toolkit/view/types.js"
 * @import { PlaneStore } from "../../plane/view/store.js"
 * @import { PairScores } from "./maths.js"
 */

import { ellipseOf } from "../../plane/view/geometry.js";
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { figure, numeral } from "../../toolkit/view/numbers.js";
import { TwinDots } from "./dots.js";

/**
 * @typedef {object} Shown what one display shows
 * @property {string[]} names of the clients
 * @property {string[]} heads of the two generators
 * @property {PairScores} scores
 * @property {string} headline
 * @property {string} why
 * @property {boolean} isApart whether the headline is a warning
 * @property {Distribution[]} distributions of the generators, where they are in the plane
 * @property {number} near relative to the larger score, differences that count as near
 * @property {(value: number) => string} figures a score as read
 */

const LIKENESS = 1e-8;
const LAW_HEADS = ["x", "y", "width", "height", "angle"];

export class TwinsBoard {
  /** @param {PlaneStore} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.signal = signal;
    this.headline = el("p", { class: "nbm-twin-headline", role: "heading", "aria-level": "2" });
    this.why = el("p", { class: "nbm-twin-why" });
    this.dots = new TwinDots();
    this.heads = ["FID with", "", "", "Difference"].map((head) => el("th", { scope: "col" }, [head]));
    this.body = el("tbody");
    this.table = el("table", { class: "nbm-scores nbm-twin-scores", "aria-label": "Scores" }, [
      el("thead", {}, [el("tr", {}, this.heads)]),
      this.body,
    ]);
    this.distributionBody = el("tbody");
    this.distributionTable = el("table", { class: "nbm-items", "aria-label": "Generators" }, [
      el("thead", {}, [
        el(
          "tr",
          {},
          ["Generator", ...LAW_HEADS].map((head) => el("th", { scope: "col" }, [head])),
        ),
      ]),
      this.distributionBody,
    ]);
    this.distributionPart = el("div", { class: "nbm-scroll" }, [this.distributionTable]);
    this.distributionPart.hidden = true;
    this.root = el("div", { class: "nbm-board" }, [
      this.headline,
      this.why,
      this.dots.root,
      el("div", { class: "nbm-scroll" }, [this.table]),
      this.distributionPart,
      el("p", { class: "nbm-note" }, [
        "avg: the mean of the clients’ own scores. all: one score against the pooled clients. Lower is better.",
      ]),
    ]);
  }

  /** @param {number} rev @param {Shown} shown */
  paint(rev, shown) {
    setText(this.headline, shown.headline);
    this.headline.classList.toggle("nbm-differs", shown.isApart);
    setText(this.why, shown.why);
    setAttributes(this.table, { "data-rev": rev });
    shown.heads.forEach((head, i) => setText(this.heads[i + 1], head));
    const { first, second } = shown.scores;
    const rows = [...shown.names, "avg", "all"].map((name, i) => {
      const pair = { name, first: first[i], second: second ? second[i] : null };
      const likeness = pair.second === null ? "" : likenessOf(pair.first, pair.second, first, shown.near);
      return {
        ...pair,
        likeness,
        apart: likeness === "=" || pair.second === null ? likeness : signed(pair.second - pair.first, shown.figures),
      };
    });
    this.dots.paint(rows, shown.heads, shown.headline);
    while (this.body.rows.length > rows.length) this.body.deleteRow(-1);
    while (this.body.rows.length < rows.length) this.body.append(this.makeRow(this.body.rows.length));
    rows.forEach((row, i) => this.paintRow(i, row, rows.length - 2, shown.figures));
    if (!this.distributionPart.hidden) this.paintDistributions(shown);
  }

  /** @param {number} index */
  makeRow(index) {
    const row = el("tr", {}, [el("th", { scope: "row" }), ...[0, 1, 2].map(() => el("td"))]);
    const { store, signal } = this;
    const client = () =>
      index < store.scene.clients.length ? { kind: /** @type {const} */ ("clients"), index } : null;
    row.addEventListener("pointerenter", () => store.hover(client()), { signal });
    row.addEventListener("pointerleave", () => store.hover(null), { signal });
    return row;
  }

  /** @param {number} i @param {import("./dots.js").DotRow & {likeness: string}} row @param {number} clients how many rows are clients' @param {(value: number) => string} figures */
  paintRow(i, { name, first, second, likeness, apart }, clients, figures) {
    const node = this.body.rows[i];
    const { hovered } = this.store;
    node.classList.toggle("nbm-hovered", i < clients && hovered?.kind === "clients" && hovered.index === i);
    node.classList.toggle("nbm-twin-sum", i === clients);
    setText(node.cells[0], name);
    const difference = second === null ? null : second - first;
    const texts = [
      figures(first),
      second === null ? "…" : figures(second),
      likeness === "" ? "…" : likeness === "=" ? "= 0" : `${likeness} ${apart}`,
    ];
    [first, second, difference].forEach((value, k) => {
      const cell = node.cells[k + 1];
      if (value === null) cell.removeAttribute("data-value");
      else setAttributes(cell, { "data-value": value });
      setText(cell, texts[k]);
      cell.classList.toggle("nbm-differs", k === 2 && likeness === "≠");
    });
  }

  /** @param {Shown} shown */
  paintDistributions({ heads, distributions }) {
    const rows = distributions.map((distribution, i) => {
      const { width, height, angle } = ellipseOf(distribution);
      const cells = [distribution.x, distribution.y, width, height]
        .map((value) => figure(value))
        .concat(`${numeral(angle, 1)}°`);
      return el("tr", {}, [el("th", { scope: "row" }, [heads[i]]), ...cells.map((text) => el("td", {}, [text]))]);
    });
    this.distributionBody.replaceChildren(...rows);
  }
}

/** Whether two scores are one, rounding apart. @param {number} first @param {number} second @param {number[]} scores */
export function isAlike(first, second, scores) {
  return Math.abs(second - first) <= LIKENESS * Math.max(...scores);
}

/** "=" for one number, rounding apart, "≈" for near ones, else "≠". @param {number} first @param {number} second @param {number[]} scores @param {number} near */
function likenessOf(first, second, scores, near) {
  if (isAlike(first, second, scores)) return "=";
  return Math.abs(second - first) <= near * Math.max(first, second) ? "≈" : "≠";
}

/** @param {number} value @param {(value: number) => string} figures */
function signed(value, figures) {
  return `${value < 0 ? "−" : "+"}${figures(Math.abs(value))}`;
}

/** In words, what the scores of a pair say. @param {PairScores & {second: number[]}} scores @param {boolean} isCorrected */
export function pairWords({ first, second }, isCorrected) {
  const differences = second.map((value, i) => value - first[i]);
  const [clients, gap] = [differences.slice(0, -2), differences[differences.length - 1]];
  const pooled = isAlike(gap, 0, first)
    ? "Pooled, they are alike as well."
    : `Pooled, the twin is ${figure(Math.abs(gap))} ${gap > 0 ? "worse" : "better"}.`;
  if (second.slice(0, -2).every((value, i) => isAlike(first[i], value, first))) {
    return { headline: `Every client scores both alike. ${pooled}`, isApart: false };
  }
  const [low, high] = [figure(Math.min(...clients)), figure(Math.max(...clients))];
  const range = low === high ? `by ${low}` : `by ${low} to ${high}`;
  return {
    headline: `${isCorrected ? "Not quite twins" : "Not twins"}: the clients’ scores differ ${range}.`,
    isApart: true,
  };
}
