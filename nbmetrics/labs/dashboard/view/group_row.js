/**
 * A row for clients that are alike: the mean of their scores under the weights, and the span between the least and the
 * largest. What is no number in one of them shows in the mean. No DOM.
 *
 * @import { Cell } from "../../toolkit/view/matrix_cell.js"
 * @import { Cells } from "./cell_values.js"
 * @import { Scene } from "./types.js"
 */
import { shownNumber } from "../../toolkit/view/numbers.js";
import { brief, kindOf, levelOf } from "./cell_values.js";

const KINDS = { nan: "some have no number (NaN)", inf: "some are infinite", "-inf": "some are minus infinity" };

/** @param {Cells} cells @param {Scene} scene @param {number[]} shares @param {number[]} members */
export function groupOf(cells, { generators, colour }, shares, members) {
  const isRaw = colour === "raw";
  const scale = cells.scales[colour];
  const total = members.reduce((sum, i) => sum + shares[i], 0);
  const share = (/** @type {number} */ i) => (total ? shares[i] / total : 1 / members.length);
  const columns = generators.map((generator) => {
    const scored = members.filter((i) => cells.isScored[generator][i]);
    const numbers = (isRaw ? cells.scores : cells.regret)[generator];
    const losses = (isRaw ? cells.losses : cells.regret)[generator];
    const part = scored.reduce((sum, i) => sum + share(i), 0);
    const weigh = (/** @type {Float64Array} */ of) =>
      scored.reduce((sum, i) => sum + (part ? share(i) / part : 1 / scored.length) * of[i], 0);
    const all = scored.map((i) => numbers[i]);
    return {
      mean: weigh(numbers),
      loss: weigh(losses),
      span: [Math.min(...all), Math.max(...all)],
      levels: scored.map((i) => levelOf(scale, losses[i])),
      isKnown: scored.length > 0,
      isAll: scored.length === members.length,
    };
  });
  return {
    /** @param {number} column @returns {Cell} */
    cell: (column) => {
      const { mean, loss, levels, isKnown } = columns[column];
      const level = levelOf(scale, loss);
      const is = kindOf(mean, isKnown);
      const span = /** @type {[number, number]} */ ([Math.min(...levels), Math.max(...levels)]);
      return { is, level, text: brief(mean), span, isBeyond: is === "score" && level > 1 + 1e-9 };
    },
    /** @param {number} column */
    words: (column) => {
      const { mean, span, isKnown, isAll } = columns[column];
      const is = kindOf(mean, isKnown);
      if (is === "unknown") return "not computed yet";
      if (is !== "score") return KINDS[is];
      const what = isRaw ? "" : cells.facts.higher ? " below their bests" : " above their bests";
      const soFar = isAll ? "" : ", so far";
      return `${shownNumber(mean)}${what} on average, ${span.map(shownNumber).join(" to ")}${soFar}`;
    },
  };
}
