/**
 * The noise of aggregates, from Python's draws. In a drag of one weight the others keep their proportions: then it is
 * that of where the drag began, made smaller or larger, and what the one client changes. No DOM.
 *
 * @import { PackedDraws } from "./types.js"
 *
 * @typedef {{draws: Int8Array, scale: Float64Array}} Drawn  B × k draws, each client's in units of its scale
 * @typedef {{weights: ArrayLike<number>, noise: Float64Array}} Anchor  noise that was added up in full
 * @typedef {{share: number, clients: number[], by: number[]}} Change  weights = share · those before + by, of the clients
 */

import { once, readRow } from "../../toolkit/view/json_numbers.js";
import { averageNoise } from "./place_ranges.js";

// Of the clients: where more than these leave the proportions, all is added up anew.
const MAX_CHANGED_SHARE = 0.1;
// Of a weight: what is closer is rounding. It must not grow by more than this.
const WEIGHT_ROUNDING = 1e-14;
const MAX_GROWTH = 100;

/** @param {PackedDraws} packed @returns {Drawn} */
function drawsOf(packed) {
  return once(packed, () => {
    const draws = Int8Array.from(atob(packed.int8), (letter) => letter.charCodeAt(0));
    return { draws, scale: readRow(packed.scale) };
  });
}

/** @type {WeakMap<PackedDraws, Anchor>} */
const anchors = new WeakMap();

/** The noise of one generator's average: `averageNoise`, to rounding. @param {PackedDraws} packed @param {ArrayLike<number>} weights @returns {Float64Array} */
export function noiseUnder(packed, weights) {
  const drawn = drawsOf(packed);
  const anchor = anchors.get(packed);
  const change = anchor && !Number.isNaN(anchor.noise[0]) ? changeBetween(anchor.weights, weights) : null;
  if (anchor && change) return moveNoise(anchor.noise, drawn, change);
  const noise = averageNoise(drawn.draws, drawn.scale, weights);
  anchors.set(packed, { weights, noise });
  return noise;
}

/** Noise that depends on no weights of the page. @param {PackedDraws} packed of one column */
export function noiseOfOne(packed) {
  const { draws, scale } = drawsOf(packed);
  return once(draws, () => Float64Array.from(draws, (draw) => draw * scale[0]));
}

/** @param {Float64Array} noise @param {Drawn} drawn @param {Change} change */
function moveNoise(noise, { draws, scale }, { share, clients, by }) {
  const k = scale.length;
  const sums = new Float64Array(noise.length);
  for (let b = 0; b < sums.length; b++) sums[b] = share * noise[b];
  clients.forEach((i, n) => {
    const unit = by[n] * scale[i];
    for (let b = 0, at = i; b < sums.length; b++, at += k) sums[b] += unit * draws[at];
  });
  return sums;
}

/** The last one: all generators ask for the same. @type {{from: ArrayLike<number>, to: ArrayLike<number>, change: Change | null}} */
let last = { from: [], to: [], change: null };

/** @param {ArrayLike<number>} from @param {ArrayLike<number>} to */
function changeBetween(from, to) {
  if (last.from !== from || last.to !== to) last = { from, to, change: changeOf(from, to) };
  return last.change;
}

/** Null where it is not short. @param {ArrayLike<number>} from @param {ArrayLike<number>} to @returns {Change | null} */
export function changeOf(from, to) {
  const everyone = Array.from(to, (_, i) => i);
  const ratios = Float64Array.from(everyone.filter((i) => from[i] > 0).map((i) => to[i] / from[i])).sort();
  const share = ratios[ratios.length >> 1] ?? Infinity;
  if (share > MAX_GROWTH) return null;
  const clients = everyone.filter((i) => Math.abs(to[i] - share * from[i]) > WEIGHT_ROUNDING * to[i]);
  return clients.length > MAX_CHANGED_SHARE * to.length
    ? null
    : { share, clients, by: clients.map((i) => to[i] - share * from[i]) };
}
