/**
 * Twin: evaluation/kid_gap.py · held by: tests/labs/dashboard/test_kid_gap_page.py
 *
 * KID-avg − KID-all under any weights: one number for all generators, so that KID-all moves with the weights here. No DOM.
 *
 * @import { Written } from "./written.js"
 */
import { read } from "./written.js";

/** @typedef {{cross: string, own: number[], n: Written[]}} PackedGap  `cross` is base64 of the float64 upper triangle, by rows */
/** @typedef {{cross: Float64Array, own: number[], rows: number[]}} Gap */

/** @type {WeakMap<PackedGap, Gap>} */
const unpacked = new WeakMap();

/** @param {PackedGap} packed @returns {Gap} */
function gapOf(packed) {
  let found = unpacked.get(packed);
  if (!found) {
    const bytes = Uint8Array.from(atob(packed.cross), (letter) => letter.charCodeAt(0));
    found = { cross: new Float64Array(bytes.buffer), own: packed.own, rows: packed.n.map(read) };
    unpacked.set(packed, found);
  }
  return found;
}

/** @param {PackedGap} packed @param {number[]} shares @returns {number} */
export function kidGap(packed, shares) {
  const { cross, own, rows } = gapOf(packed);
  let [avg, pooled, lost] = [0, 0, 0];
  for (let i = 0, at = 0; i < shares.length; i++) {
    const share = shares[i];
    for (let j = i; j < shares.length; j++, at++) {
      if (!share || !shares[j]) continue;
      const part = share * shares[j] * cross[at];
      pooled += i === j ? part - (share * share * own[i]) / rows[i] : 2 * part;
      if (i === j) avg += (share * (cross[at] - own[i] / rows[i])) / (1 - 1 / rows[i]);
    }
    lost += (share * share) / rows[i];
  }
  return avg - pooled / (1 - lost);
}
