/**
 * What the cells of clients and generators say: each score's regret, above the best that its client could have, whether
 * that is more than chance, and all of it in words. They depend on the data alone, not on the weights, and not on which
 * generators are on show. No DOM.
 *
 * @import { Model } from "../../toolkit/view/types.js"
 * @import { Board, MetricFacts, PackedDraws } from "./types.js"
 *
 * @typedef {Record<string, Record<string, PackedDraws>>} Draws  by metric and generator
 * @typedef {object} Cells
 * @property {MetricFacts} facts
 * @property {Record<string, Float64Array>} values  scores by generator, one a client; NaN where there is none
 * @property {Record<string, Float64Array>} scores  those that decisions use: of corrected ones the plain are `values`
 * @property {Record<string, Float64Array>} regret  0 at a client's best
 * @property {Record<string, Float64Array>} losses  of the scores, lower is better
 * @property {Record<string, boolean[]>} isScored  whether it was computed yet
 * @property {Record<string, Uint8Array> | null} chance  1 where the regret is no more than chance; null: not known
 * @property {string[]} blind  why a client cannot tell the generators apart, "" where it can
 * @property {{regret: Scale, raw: Scale}} scales
 *
 * @typedef {{from: number, to: number}} Scale  losses at which the colours begin and end; beyond it they do not grow
 */

import { read } from "../../toolkit/view/json_numbers.js";
import { numeral, shownNumber } from "../../toolkit/view/numbers.js";
import { sameScores } from "../../toolkit/view/ties.js";
import { isNoMoreThanChance } from "./cell_noise.js";
import { lossOf, scoreOf } from "./metric_view.js";
import { listed } from "./verdict.js";

const COLOUR_TOP_QUANTILE = 0.95;

/** @type {WeakMap<Board, {draws: Draws | undefined, metric: string, cells: Cells}>} */
const lastByBoard = new WeakMap();

/** Those that are known now, made once. @param {Model} model @param {string} metric @returns {Cells} */
export function cellsNow(model, metric) {
  const board = /** @type {Board} */ (model.get("board"));
  const draws = /** @type {Draws | undefined} */ (model.get("draws"));
  const last = lastByBoard.get(board);
  if (last && last.draws === draws && last.metric === metric) return last.cells;
  const cells = cellsOf(board, metric, draws ?? {});
  lastByBoard.set(board, { draws, metric, cells });
  return cells;
}

/** @param {Board} board @param {string} metric @param {Draws} draws @returns {Cells} */
export function cellsOf(board, metric, draws) {
  const facts = /** @type {MetricFacts} */ (board.metrics.find(({ name }) => name === metric));
  const generators = Object.keys(board.values[metric]);
  const each = (/** @type {(generator: string) => any} */ make) =>
    Object.fromEntries(generators.map((generator) => [generator, make(generator)]));
  const values = each((generator) => Float64Array.from(board.values[metric][generator], read));
  const centres = each((generator) => Float64Array.from(board.centres[metric][generator], read));
  const isScored = each((generator) => board.values[metric][generator].map((value) => value !== null));
  const isCentred = facts.corrected && facts.best === null; // a loss is no score where it is a distance
  const toScore = (/** @type {number} */ centre) => scoreOf(facts, centre);
  const scores = isCentred ? each((generator) => centres[generator].map(toScore)) : values;
  const losses = each((generator) => scores[generator].map((/** @type {number} */ score) => lossOf(facts, score)));
  const best = board.clients.map((_, i) => least(generators.map((generator) => centres[generator][i])));
  const regret = each((generator) =>
    centres[generator].map((/** @type {number} */ centre, /** @type {number} */ i) => above(centre, best[i])),
  );
  const packed = draws[metric];
  const chance = packed && generators.every((g) => packed[g]) ? chanceOf(generators, regret, packed) : null;
  const blind = blindOf(board, metric, generators, regret, chance);
  const scales = { regret: scaleOf(regret, 0), raw: scaleOf(losses) };
  return { facts, values, scores, regret, losses, isScored, chance, blind, scales };
}

/** What is no number says nothing of the best. @param {number[]} losses */
function least(losses) {
  const numbers = losses.filter((loss) => !Number.isNaN(loss));
  return numbers.length ? Math.min(...numbers) : NaN;
}

/** @param {number} centre @param {number} best */
function above(centre, best) {
  return sameScores(centre, best) ? 0 : centre - best;
}

/** @param {string[]} generators @param {Record<string, Float64Array>} regret @param {Record<string, PackedDraws>} packed */
function chanceOf(generators, regret, packed) {
  const clients = regret[generators[0]].length;
  const flags = generators.map(() => new Uint8Array(clients));
  for (let i = 0; i < clients; i++) {
    const best = generators.find((generator) => regret[generator][i] === 0);
    if (best !== undefined)
      generators.forEach((generator, g) => {
        flags[g][i] = Number(isNoMoreThanChance(regret[generator][i], packed[generator], packed[best], i));
      });
  }
  return Object.fromEntries(generators.map((generator, g) => [generator, flags[g]]));
}

/** Why a client cannot tell the generators apart. @param {Board} board @param {string} metric @param {string[]} generators @param {Record<string, Float64Array>} regret @param {Record<string, Uint8Array> | null} chance */
function blindOf(board, metric, generators, regret, chance) {
  const few = board.few?.[metric];
  return board.clients.map(({ rows }, i) => {
    const told = `n = ${rows.toLocaleString("en")}: cannot tell`;
    if (few?.[i]) return `${told}, ${few[i]}`;
    const isAllChance = chance && generators.every((g) => !(regret[g][i] > 0) || chance[g][i]);
    const isTie = generators.every((g) => !(regret[g][i] > 0));
    return isAllChance && !isTie && rows ? told : "";
  });
}

/** One scale for all cells; what is above most of them is as dark as it gets. @param {Record<string, Float64Array>} losses @param {number} [from] @returns {Scale} */
export function scaleOf(losses, from) {
  const all = Object.values(losses).flatMap((row) => [...row].filter(Number.isFinite));
  if (!all.length) return { from: from ?? 0, to: 1 };
  all.sort((a, b) => a - b);
  const low = from ?? all[0];
  const high = all[Math.min(all.length - 1, Math.ceil(COLOUR_TOP_QUANTILE * all.length) - 1)];
  return { from: low, to: high > low ? high : all[all.length - 1] };
}

/** @param {Scale} scale @param {number} loss */
export function levelOf({ from, to }, loss) {
  return to > from ? Math.max(0, (loss - from) / (to - from)) : 0;
}

/** As short as a cell is narrow. @param {number} value */
export function brief(value) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 100 && size < 1e4) return numeral(value, 0);
  const text = size >= 1e4 || size < 1e-3 ? value.toExponential(0).replace("e+", "e") : value.toPrecision(2);
  return text.replaceAll("-", "−");
}

/** @typedef {"score" | "nan" | "inf" | "-inf" | "unknown"} Kind */

/** @param {number} value @param {boolean} isKnown @returns {Kind} */
export function kindOf(value, isKnown) {
  if (!isKnown) return "unknown";
  if (Number.isNaN(value)) return "nan";
  return Number.isFinite(value) ? "score" : value > 0 ? "inf" : "-inf";
}

const KINDS = { nan: "no number (NaN)", inf: "infinite", "-inf": "minus infinity", unknown: "not computed yet" };

/** All of a cell. @param {Cells} cells @param {string} client @param {number} i @param {string} generator */
export function wordsOf(cells, client, i, generator) {
  const { values, isScored, blind } = cells;
  const value = values[generator][i];
  const kind = kindOf(value, isScored[generator][i]);
  const told =
    kind === "score" ? `${scoreWords(cells, i, generator)}, ${comparedWords(cells, i, generator)}` : KINDS[kind];
  return `${client}, ${generator}: ${told}${blind[i] ? `; ${blind[i]}` : ""}`;
}

/** The score that decisions use, and the plain one. @param {Cells} cells @param {number} i @param {string} generator */
export function scoreWords({ scores, values }, i, generator) {
  const plain = scores === values ? "" : ` (plain ${shownNumber(values[generator][i])})`;
  return `${shownNumber(scores[generator][i])}${plain}`;
}

/** How a score compares with the client's best, and whose that is. @param {Cells} cells @param {number} i @param {string} generator */
export function comparedWords({ regret, scores, facts, chance }, i, generator) {
  const apart = regret[generator][i];
  if (apart === 0) return "the client’s best";
  if (!Number.isFinite(apart))
    return Number.isNaN(apart) ? "the client’s best is not known" : "infinitely far from the client’s best";
  const side = facts.best !== null ? `farther from ${facts.best} than` : facts.higher ? "below" : "above";
  const best = Object.keys(regret).filter((name) => regret[name][i] === 0);
  const whose = `(${listed(best, [...best.keys()])}, ${shownNumber(scores[best[0]][i])})`;
  return `${shownNumber(apart)} ${side} the client’s best ${whose}${chance?.[generator][i] ? "; no more than chance" : ""}`;
}
