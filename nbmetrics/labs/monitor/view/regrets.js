/**
 * How far each client is from its own best so far, at every step. No DOM.
 *
 * @import { MetricFacts } from "./types.js"
 */
import { nearest } from "./history.js";
import { lossOf } from "./numbers.js";

// What the strongest colour stands for, at least, as a ratio; and the share of all cells that are fainter.
const [LEAST_RATIO, SHARE] = [1.5, 0.95];

/**
 * As logarithms of ratios where all scores are above 0, else as differences.
 * @param {Float32Array} clients scores of all clients, step after step @param {number} count @param {MetricFacts} facts
 */
export function regretsOf(clients, count, facts) {
  const isRatio = facts.best === null && !facts.higher && clients.every((score) => !(score <= 0));
  const values = new Float32Array(clients.length);
  const least = new Float64Array(count).fill(Infinity);
  for (let at = 0; at < clients.length; at++) {
    const i = at % count;
    const loss = isRatio ? Math.log(clients[at]) : lossOf(clients[at], facts);
    if (loss < least[i]) least[i] = loss;
    values[at] = Number.isNaN(loss) ? NaN : Number.isFinite(loss) ? loss - least[i] : loss;
  }
  const known = values.filter((value) => Number.isFinite(value) && value > 0).sort();
  const cap = known.length ? known[Math.floor(SHARE * (known.length - 1))] : 0;
  return { values, cap: isRatio ? Math.max(cap, Math.log(LEAST_RATIO)) : cap || 1, isRatio };
}

/** From which to which place of the steps each column of pixels shows. @param {Float64Array} steps @param {number} wide @param {(x: number) => number} stepAt @returns {[number, number][]} */
export function columnsOf(steps, wide, stepAt) {
  return Array.from({ length: wide }, (_, x) => {
    const from = nearest(steps, stepAt(x));
    return [from, Math.max(from, nearest(steps, stepAt(x + 1)) - 1)];
  });
}

/** The client that is farthest from its best at a place of the steps, −1 where none is known. @param {Float32Array} values @param {number} count @param {number} place */
export function farthest(values, count, place) {
  let found = -1;
  for (let i = 0; i < count; i++) {
    const value = values[place * count + i];
    if (!Number.isNaN(value) && (found < 0 || value > values[place * count + found])) found = i;
  }
  return found;
}
