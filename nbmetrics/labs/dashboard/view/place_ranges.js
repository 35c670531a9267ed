/**
 * Twin: labs/dashboard/place_ranges.py · held by: tests/labs/dashboard/test_place_ranges_page.py
 * Twin: labs/dashboard/place_ranges.py · held by: tests/labs/dashboard/test_view_model.py
 *
 * Places as ranges, in every frame of a drag, orders of generators, and where two of them cross by more than chance. No
 * DOM. Noise is one array a generator, so that a pair is two runs of memory.
 *
 * @import { Aggregate } from "./verdict.js"
 */

/**
 * @typedef {{low: number[], high: number[], better: boolean[][], margins: number[][], errors: number[][] | null}} Ranges
 *   as in Python, and of each pair what its difference must exceed, and the standard error of that
 * @typedef {Float64Array[]} Noise  of each generator its draws, jointly over generators
 */

import { lowest, orderOf, sameScores, TIE, placesOf as tiedPlaces } from "../../toolkit/view/ties.js";

const NOISE_ROUNDING = 1e-9;
const CONFIDENCE_LEVEL = 0.95;

/** Σ λ_i value_i of each generator; what a client without weight scores does not count. @param {ArrayLike<number>[]} values @param {ArrayLike<number>} weights */
export function average(values, weights) {
  return values.map((own) => {
    let sum = 0;
    for (let i = 0; i < weights.length; i++) if (weights[i] > 0) sum += weights[i] * own[i];
    return sum;
  });
}

/** The noise of one generator's average: draws (B × k) in units of scale (k). @param {Int8Array} draws @param {ArrayLike<number>} scale @param {ArrayLike<number>} weights */
export function averageNoise(draws, scale, weights) {
  const k = weights.length;
  const unit = Float64Array.from({ length: k }, (_, i) => (weights[i] > 0 ? scale[i] * weights[i] : 0));
  const noise = new Float64Array(draws.length / k);
  for (let b = 0, at = 0; b < noise.length; b++) {
    let [even, odd, i] = [0, 0, 0];
    for (; i + 1 < k; i += 2, at += 2) {
      even += unit[i] * draws[at]; // two sums at a time are a third faster than one
      odd += unit[i + 1] * draws[at + 1];
    }
    if (i < k) even += unit[i] * draws[at++];
    noise[b] = even + odd;
  }
  return noise;
}

/** @param {ArrayLike<number>} losses @param {Noise | null} noise @param {number} [level] @returns {Ranges} */
export function leads(losses, noise, level = CONFIDENCE_LEVEL) {
  const size = losses.length;
  const better = Array.from({ length: size }, () => Array(size).fill(false));
  const { errors, beyond } = noise ? pairsOf(noise, level) : { errors: null, beyond: 0 };
  const margins = better.map((row) => row.map(() => Infinity));
  const [low, high] = [Array(size).fill(1), Array(size).fill(countPlaced(losses))];
  for (let a = 0; a < size; a++) {
    if (Number.isNaN(losses[a])) low[a] = high[a] = 0;
    for (let b = 0; errors && b < size; b++) {
      margins[a][b] = marginOf(losses, a, b, errors[a][b], beyond);
      better[a][b] = losses[a] - losses[b] < -margins[a][b];
      if (!better[a][b]) continue;
      low[b]++;
      high[a]--;
    }
  }
  return { low, high, better, margins, errors };
}

/** How many have a loss. @param {ArrayLike<number>} losses */
function countPlaced(losses) {
  let count = 0;
  for (let g = 0; g < losses.length; g++) if (!Number.isNaN(losses[g])) count++;
  return count;
}

/** Of all's noise, which moves in no drag, computed once. @type {WeakMap<Float64Array, {noise: Noise, level: number, pairs: Pairs}>} */
const compared = new WeakMap();

/** @typedef {{errors: number[][], beyond: number}} Pairs  how far apart noise alone brings two @param {Noise} noise @param {number} level @returns {Pairs} */
function pairsOf(noise, level) {
  const before = noise.length ? compared.get(noise[0]) : undefined;
  const isSame = before?.level === level && before.noise.length === noise.length;
  if (before && isSame && noise.every((draws, g) => draws === before.noise[g])) return before.pairs;
  const errors = errorsOf(noise);
  const pairs = { errors, beyond: beyondChance(noise, errors, level) };
  if (noise.length) compared.set(noise[0], { noise, level, pairs });
  return pairs;
}

/** What a difference must exceed. @param {ArrayLike<number>} losses @param {number} a @param {number} b @param {number} error @param {number} beyond */
function marginOf(losses, a, b, error, beyond) {
  const larger = Math.max(Math.abs(losses[a]), Math.abs(losses[b]));
  if (larger === Infinity) return 0;
  if (Number.isNaN(error)) return Infinity;
  return error > 0 ? beyond * error : TIE * larger;
}

/** The quantile of the largest difference of all pairs, in units of its error. @param {Noise} noise @param {number[][]} errors @param {number} level */
function beyondChance(noise, errors, level) {
  const count = noise[0]?.length ?? 0;
  const largest = new Float64Array(count);
  noise.forEach((first, a) => {
    for (let b = 0; b < a; b++) {
      if (!(errors[a][b] > 0)) continue;
      const [second, per] = [noise[b], 1 / errors[a][b]];
      for (let d = 0; d < count; d++) {
        const apart = Math.abs(first[d] - second[d]) * per;
        if (apart > largest[d]) largest[d] = apart;
      }
    }
  });
  return largest.sort()[Math.min(Math.ceil((count + 1) * level), count) - 1];
}

/** The standard error of each difference: exactly 0 where it is rounding of the noise itself. @param {Noise} noise */
function errorsOf(noise) {
  const centred = noise.map(aroundMean);
  const zero = new Float64Array(noise[0]?.length ?? 0);
  const own = centred.map((draws) => distance(draws, zero));
  const errors = noise.map(() => Array(noise.length).fill(0));
  for (let a = 0; a < noise.length; a++) {
    for (let b = 0; b < a; b++) {
      const error = distance(centred[a], centred[b]);
      errors[a][b] = errors[b][a] = error <= NOISE_ROUNDING * Math.max(own[a], own[b]) ? 0 : error;
    }
  }
  return errors;
}

/** @param {Float64Array} draws */
function aroundMean(draws) {
  let sum = 0;
  for (let d = 0; d < draws.length; d++) sum += draws[d];
  const mean = sum / draws.length;
  const centred = new Float64Array(draws.length);
  for (let d = 0; d < draws.length; d++) centred[d] = draws[d] - mean;
  return centred;
}

/** The root of the mean square of first − second. @param {Float64Array} first @param {Float64Array} second */
function distance(first, second) {
  let [even, odd, d] = [0, 0, 0];
  for (; d + 1 < first.length; d += 2) {
    even += (first[d] - second[d]) ** 2;
    odd += (first[d + 1] - second[d + 1]) ** 2;
  }
  if (d < first.length) even += (first[d] - second[d]) ** 2;
  if (even + odd > 1e-280 && even + odd < Infinity) return Math.sqrt((even + odd) / first.length);
  const away = first.map((x, at) => x - second[at]); // squares beyond all numbers: in units of the largest
  const unit = away.reduce((most, x) => Math.max(most, Math.abs(x)), 0) || 1;
  return unit * Math.sqrt(away.reduce((sum, x) => sum + (x / unit) ** 2, 0) / first.length);
}

/** The standard deviation. @param {Float64Array} draws */
export function deviation(draws) {
  return distance(aroundMean(draws), new Float64Array(draws.length));
}

/** The one with the least loss, and everyone that it is not shown to beat, in the order of their losses. @param {Ranges} ranges @param {ArrayLike<number>} losses */
export function leaders(ranges, losses) {
  const placed = orderOf(losses).filter((g) => !Number.isNaN(losses[g]));
  return placed.filter((g) => !ranges.better[placed[0]][g]);
}

/** The one with the least loss, and those that rounding cannot tell from it. @param {ArrayLike<number>} losses */
export function firstOf(losses) {
  const least = losses[lowest(losses)];
  return Array.from(losses, (_, g) => g).filter((g) => sameScores(losses[g], least));
}

/** |L_a − L_b| in units of its standard error: 0 for ties, ∞ beyond all noise, NaN where it is not known. @param {ArrayLike<number>} losses @param {Noise | null} noise @param {number} a @param {number} b */
export function apart(losses, noise, a, b) {
  return noise ? inErrors(losses, a, b, errorsOf([noise[a], noise[b]])[0][1]) : NaN;
}

/** The same, where the standard error is known. @param {ArrayLike<number>} losses @param {number} a @param {number} b @param {number} error */
export function inErrors(losses, a, b, error) {
  const [first, second] = [losses[a], losses[b]];
  if (Number.isNaN(first) || Number.isNaN(second)) return NaN;
  if (Math.max(Math.abs(first), Math.abs(second)) === Infinity) return first === second ? 0 : Infinity;
  if (!Number.isNaN(error) && sameScores(first, second)) return 0;
  return error === 0 ? Infinity : Math.abs(first - second) / error;
}

/** The one-sided p-value of the order of a and b, unadjusted; NaN where it is not known. @param {ArrayLike<number>} losses @param {Noise | null} noise @param {number} a @param {number} b */
export function flip(losses, noise, a, b) {
  return upperTail(apart(losses, noise, a, b));
}

/** P(N(0, 1) > z), z ≥ 0: a series of positive terms near 0, a continued fraction beyond. @param {number} z */
export function upperTail(z) {
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  if (!(z < 3)) {
    let below = z;
    for (let n = 60; n > 0; n--) below = z + n / below;
    return Number.isNaN(z) ? NaN : density / below;
  }
  let [sum, term] = [z, z];
  for (let n = 3; term > 1e-17 * sum; n += 2) sum += term *= (z * z) / n;
  return 0.5 - density * sum;
}

/** Least loss first; equal ones in the order given, those without a loss last. @param {ArrayLike<number>} losses */
export function sortByLoss(losses) {
  return orderOf(losses);
}

/** 1 + how many have less loss beyond rounding; 0 without a loss. @param {ArrayLike<number>} losses */
export function placesOf(losses) {
  return tiedPlaces(losses).map((place, g) => (Number.isNaN(losses[g]) ? 0 : place));
}

/** "2 " and "(1–4)", or "2" where it is certain, or a dash. @param {number} place @param {number} low @param {number} high */
export function placeTexts(place, low, high) {
  if (!place) return ["–", ""];
  return low === high ? [String(low), ""] : [`${place} `, `(${low}–${high})`];
}

/** "1–4", or "2". @param {number} low @param {number} high */
export function rangeText(low, high) {
  return low === high ? String(low || "–") : `${low}–${high}`;
}

/**
 * Groups, each anchored on its leader: it, and all that are left that it is not shown to beat. In a group the order is
 * the one given, so that noise moves nobody.
 * @param {Ranges} ranges @param {ArrayLike<number>} losses
 */
export function tiers(ranges, losses) {
  const left = Float64Array.from(losses);
  const groups = [];
  for (let group = leaders(ranges, left); group.length; group = leaders(ranges, left)) {
    groups.push(group.sort((a, b) => a - b));
    for (const g of group) left[g] = NaN;
  }
  return groups;
}

/**
 * The two orders of lines that go on from the rows of a table: on the left its rows, on the right the tiers in turn, and
 * in each the table's order, so that lines of who is not told apart do not cross.
 * @param {number[][][]} tiersOfSides @param {number[]} rows generators as the table has them
 */
export function ordersBeside([left, right], rows) {
  const at = (/** @type {number} */ g) => rows.indexOf(g);
  const known = left.flat();
  return [rows.filter((g) => known.includes(g)), right.flatMap((tier) => [...tier].sort((a, b) => at(a) - at(b)))];
}

/**
 * Of each generator whether its line is crossed, and whether by more than chance: by avg one of the pair is shown to be
 * better, and by all the other. Who is in one order alone crosses nobody.
 * @param {number[]} left orders, best first @param {number[]} right @param {Ranges} byLeft @param {Ranges} byRight
 * @returns {("" | "chance" | "real")[]} by generator
 */
export function crossings(left, right, byLeft, byRight) {
  /** @type {("" | "chance" | "real")[]} */
  const kinds = Array(byLeft.better.length).fill("");
  const at = right.reduce((map, g, row) => map.set(g, row), /** @type {Map<number, number>} */ (new Map()));
  left.forEach((a, row) => {
    for (const b of left.slice(row + 1)) {
      const [rowA, rowB] = [at.get(a), at.get(b)];
      if (rowA === undefined || rowB === undefined || rowA < rowB) continue;
      const isReal = byLeft.better[a][b] && byRight.better[b][a];
      for (const g of [a, b]) kinds[g] = isReal || kinds[g] === "real" ? "real" : "chance";
    }
  });
  return kinds;
}

/** A verdict in a few words. @param {import("./verdict.js").Verdict} verdict @param {string} [average] what the mean over clients is called */
export function briefly({ state, avg, all }, average = "avg") {
  if (state === "size") return "order explained by sample size";
  if (state === "testing") return "testing …";
  if (state === "unknown")
    return avg.length === 1 && all.length === 1 ? `${avg[0]}, not shown to be best` : "not enough data";
  const isSame = avg.length === all.length && avg.every((name) => all.includes(name));
  if (!isSame && state === "winner") return `${avg[0]} by ${average}, ${all[0]} by all`;
  const byBoth = avg.filter((name) => all.includes(name));
  if (!isSame) return byBoth.length === 1 ? `only ${byBoth[0]} by both` : "no single winner";
  return avg.length === 1 ? `${avg[0]} wins` : avg.length === 2 ? `${avg.join(" and ")} tie` : `${avg.length} tie`;
}

/** Choose a generator, or none where it was the one. @param {import("../../toolkit/view/store.js").Store} store @param {number} g */
export function choose(store, g) {
  const scene = /** @type {any} */ (store.scene);
  const name = scene.generators[g];
  store.edit({ ...scene, generator: scene.generator === name ? "" : name }, "");
}

/** Where the least is, the first of equals; -1 where there is none. @param {ArrayLike<number>} losses */
export function leastOf(losses) {
  const least = lowest(losses);
  return Number.isNaN(losses[least] ?? NaN) ? -1 : least;
}
