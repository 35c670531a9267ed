/**
 * Whether two scores with a client differ by more than chance, from the draws of their noise. No DOM.
 *
 * @import { PackedDraws } from "./types.js"
 */
import { read } from "../../toolkit/view/json_numbers.js";

// Of a difference beside its standard error: 95 %, cell by cell.
const CHANCE_ERRORS = 1.96;

/** @param {number} regret of the one beside the other @param {PackedDraws} one @param {PackedDraws} other @param {number} i the client's place */
export function isNoMoreThanChance(regret, one, other, i) {
  if (!(regret > 0) || one === other) return false;
  return regret <= CHANCE_ERRORS * errorOf(unpack(one), unpack(other), i);
}

/** @type {WeakMap<PackedDraws, {scale: Float64Array, draws: Int8Array}>} */
const unpacked = new WeakMap();

/** Made once: a board comes with every score, and its draws hardly ever. @param {PackedDraws} packed @returns {{scale: Float64Array, draws: Int8Array}} */
function unpack(packed) {
  let noise = unpacked.get(packed);
  if (!noise) {
    const letters = atob(packed.int8);
    const draws = new Int8Array(letters.length);
    for (let at = 0; at < letters.length; at++) draws[at] = letters.charCodeAt(at);
    noise = { scale: Float64Array.from(packed.scale, read), draws };
    unpacked.set(packed, noise);
  }
  return noise;
}

/** The standard deviation of the difference of two scores with a client, whose rows they share. @param {{scale: Float64Array, draws: Int8Array}} a @param {{scale: Float64Array, draws: Int8Array}} b @param {number} i */
function errorOf(a, b, i) {
  const k = a.scale.length;
  let [sum, squares, count] = [0, 0, 0];
  for (let at = i; at < a.draws.length; at += k, count++) {
    const apart = a.scale[i] * a.draws[at] - b.scale[i] * b.draws[at];
    sum += apart;
    squares += apart * apart;
  }
  return Math.sqrt(Math.max(0, squares - (sum * sum) / count) / (count - 1));
}
