/**
 * Twin: evaluation/heterogeneity.py · held by: tests/labs/dashboard/test_kid_gap_page.py
 *
 * KID-avg − KID-all under any weights: one number for all generators, so that KID-all moves with the weights here. No DOM.
 */

/** @typedef {{means: string}} PackedGap  base64 of the float64 upper triangle, by rows, of kernel means of every two clients */

/** @type {WeakMap<PackedGap, Float64Array>} */
const unpacked = new WeakMap();

/** @param {PackedGap} packed @returns {Float64Array} */
function meansOf(packed) {
  let means = unpacked.get(packed);
  if (!means) {
    means = new Float64Array(bytesOf(packed.means).buffer);
    unpacked.set(packed, means);
  }
  return means;
}

/** The bytes behind base64, by the browser itself where it can: a loop over letters takes milliseconds. @param {string} base64 @returns {Uint8Array<ArrayBuffer>} */
export function bytesOf(base64) {
  const decode = /** @type {any} */ (Uint8Array).fromBase64;
  if (decode) return decode.call(Uint8Array, base64);
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  return bytes;
}

/** Σ λᵢ Mᵢᵢ − λᵀMλ; clients of weight 0 take no part. @param {PackedGap} packed @param {number[]} shares @returns {number} */
export function kidGap(packed, shares) {
  const means = meansOf(packed);
  let [avg, pooled] = [0, 0];
  for (let i = 0, at = 0; i < shares.length; i++) {
    for (let j = i; j < shares.length; j++, at++) {
      if (!shares[i] || !shares[j]) continue;
      const part = shares[i] * shares[j] * means[at];
      pooled += i === j ? part : 2 * part;
      if (i === j) avg += shares[i] * means[at];
    }
  }
  return avg - pooled;
}
