/**
 * The table view: the numbers behind every picture of the CorrelationLab.
 *
 * @import { Pair } from "./maths.js"
 */

import { el, scroller, setText } from "../../toolkit/view/dom.js";
import { numeral } from "../../toolkit/view/numbers.js";
import { answersOf, FOLLOWED, POINT_COUNT, XS } from "./clouds.js";
import { SCORE_NAMES, scoresOf, spreadOf } from "./maths.js";

const GRID = [-1, -0.8, -0.4, 0, 0.4, 0.8, 1];
const SCALES_SHOWN = [0.01, 0.1, 0.3, 1, 3, 10];

/** @typedef {{caption: string, heads: string[], rows: string[][]}} TableContent */

export class PairTables {
  /** @param {AbortSignal} signal */
  constructor(signal) {
    this.signal = signal;
    /** @type {HTMLTableElement[]} */
    this.tables = [];
    this.root = el("div", { class: "nbm-pair-tables" });
    this.root.hidden = true;
  }

  /** @param {boolean} shown */
  show(shown) {
    this.root.hidden = !shown;
  }

  /** @param {Pair} scene @param {boolean} isVeiled whether the scores against the scale are not to be told yet */
  paint(scene, isVeiled) {
    if (this.root.hidden) return;
    const contents = [mapTable(scene), scaleTable(scene, isVeiled), angleTable(scene), cloudTable(scene)];
    if (!this.tables.length) {
      this.tables = contents.map(emptyTable);
      const labels = ["Map", "Scale", "Angle", "Clouds"];
      this.root.append(...this.tables.map((table, t) => scroller(labels[t], table, this.signal)));
    }
    contents.forEach(({ caption, rows }, t) => {
      setText(/** @type {Element} */ (this.tables[t].caption), caption);
      rows.forEach((row, r) => row.forEach((text, c) => setText(this.tables[t].tBodies[0].rows[r].cells[c], text)));
    });
  }
}

/** @param {TableContent} content */
function emptyTable({ heads, rows }) {
  const body = rows.map((row) =>
    el(
      "tr",
      {},
      row.map((_, c) => (c ? el("td") : el("th", { scope: "row" }))),
    ),
  );
  const head = el(
    "tr",
    {},
    heads.map((text) => el("th", { scope: "col" }, [text])),
  );
  return el("table", {}, [el("caption"), el("thead", {}, [head]), el("tbody", {}, body)]);
}

/** @param {Pair} scene @returns {TableContent} */
function mapTable({ metric, scale }) {
  const rows = [...GRID]
    .reverse()
    .map((rhoHat) => [
      numeral(rhoHat, 1),
      ...GRID.map((rho) => numeral(scoresOf({ rho, rho_hat: rhoHat, scale })[metric])),
    ]);
  return {
    caption: `${SCORE_NAMES[metric]} for ρ (across) and ρ̂ (down)`,
    heads: ["ρ̂ \\ ρ", ...GRID.map((rho) => numeral(rho, 1))],
    rows,
  };
}

/** @param {Pair} scene @param {boolean} isVeiled @returns {TableContent} */
function scaleTable(scene, isVeiled) {
  const rows = SCALES_SHOWN.map((scale) => {
    const { mfid, rfid, cfid } = scoresOf({ ...scene, scale });
    return [`α = ${scale}`, ...[mfid, rfid, cfid].map((value) => (isVeiled ? "?" : numeral(value, 4)))];
  });
  return { caption: "The scores of this pair against the scale of x", heads: ["", "MFID", "RFID", "CFID"], rows };
}

/** @param {Pair} scene @returns {TableContent} */
function angleTable({ rho, rho_hat }) {
  const row = (/** @type {string} */ name, /** @type {number} */ value) => [
    name,
    numeral(value),
    numeral(spreadOf(value), 3),
    `${numeral((Math.acos(value) * 180) / Math.PI, 1)}°`,
  ];
  const heads = ["", "correlation", "spread of y given x", "angle"];
  return {
    caption: "The two directions on the half circle",
    heads,
    rows: [row("real", rho), row("generated", rho_hat)],
  };
}

/** @param {Pair} scene @returns {TableContent} */
function cloudTable({ rho, rho_hat, scale }) {
  const [real, generated] = [answersOf(rho), answersOf(rho_hat)];
  const rest = XS.map((_, i) => i)
    .filter((i) => !FOLLOWED.includes(i))
    .slice(0, 5);
  const rows = [...FOLLOWED, ...rest].map((i, k) => [
    k < 3 ? "abc"[k] : String(k + 1),
    numeral(scale * XS[i]),
    numeral(real[i]),
    numeral(generated[i]),
  ]);
  return { caption: `The clouds: 8 of ${POINT_COUNT} pairs`, heads: ["", "αx", "y", "ŷ"], rows };
}
