/**
 * The numbers on show: every aggregate under the weights on show. avg is linear in the weights, so it is exact here; all is
 * Python's, and under other weights a first guess by its slopes until Python has answered.
 *
 * @import { Model } from "../../toolkit/view/types.js"
 * @import { Board, MetricFacts, Numbers, Scene, Shown, Written } from "./types.js"
 */

const TEXTS = { nan: NaN, inf: Infinity, "-inf": -Infinity };

/** @param {Written | undefined} value @returns {number} NaN for what is not known, too */
export function read(value) {
  return typeof value === "number" ? value : typeof value === "string" ? TEXTS[value] : NaN;
}

/** @param {any} scene @param {Model} model @returns {Numbers} */
export function numbersOf(scene, model) {
  const board = /** @type {Board} */ (model.get("board"));
  const result = model.get("result");
  if (!board.clients) return { shares: [], clients: [], metrics: {} };
  const shares = sharesOf(scene.weights);
  const metrics = board.metrics.map((facts) => [facts.name, shownOf(facts, board, scene, shares, result)]);
  return { shares, clients: board.clients, metrics: Object.fromEntries(metrics) };
}

/** λ: weights divided by their sum. @param {number[]} weights */
export function sharesOf(weights) {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** Lower is better. @param {MetricFacts} facts @param {number} score */
export function lossOf({ best, higher }, score) {
  return best !== null ? Math.abs(score - best) : higher ? -score : score;
}

/** @param {MetricFacts} facts @param {Board} board @param {Scene} scene @param {number[]} shares @param {any} result @returns {Shown} */
function shownOf(facts, board, scene, shares, result) {
  const { name } = facts;
  const rows = (/** @type {import("./types.js").Cells} */ cells) =>
    scene.generators.map((generator) => Float64Array.from(cells[name][generator] ?? [], read));
  const values = rows(board.values);
  const centres = rows(board.centres);
  const known = scene.generators.map((generator) => (board.values[name][generator] ?? []).map((cell) => cell !== null));
  const slopes = result.slope?.[name];
  const moved = shares.map((share, i) => share - (result.weights?.[i] ?? share));
  const isNear = moved.some((by) => Math.abs(by) > 1e-12);
  const all = (/** @type {string} */ which) =>
    scene.generators.map((generator) => {
      const value = read(result[which]?.[name]?.[generator]);
      if (!isNear) return value;
      const slope = slopes?.[generator];
      return slope ? value + moved.reduce((sum, by, i) => sum + (by ? by * read(slope[i]) : 0), 0) : NaN;
    });
  return {
    facts,
    values,
    centres,
    known,
    avg: values.map((row) => average(row, shares)),
    all: all("all"),
    worst: values.map((row) => worstOf(facts, row, shares)),
    avgLosses: centres.map((row) => average(row, shares)),
    allLosses: all("all_centres"),
    worstLosses: centres.map((row) => Math.max(...row.filter((_, i) => shares[i] > 0))),
    isNear,
  };
}

/** A client of weight 0 does not count, whatever its score. @param {Float64Array} row @param {number[]} shares */
function average(row, shares) {
  let sum = 0;
  for (let i = 0; i < row.length; i++) if (shares[i]) sum += shares[i] * row[i];
  return sum;
}

/** @param {MetricFacts} facts @param {Float64Array} row @param {number[]} shares */
function worstOf(facts, row, shares) {
  let client = -1;
  for (let i = 0; i < row.length; i++)
    if (shares[i] > 0 && !(lossOf(facts, row[i]) <= lossOf(facts, row[client]))) client = i;
  return { value: client < 0 ? NaN : row[client], client };
}
