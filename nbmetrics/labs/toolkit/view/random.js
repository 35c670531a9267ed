/**
 * Twin: labs/plane/distributions.py · held by: tests/labs/plane/test_scores_page.py
 *
 * Points drawn in the page, the same as Python draws: a counter-based generator, so that point k of an
 * item is a function of the seed, the item and k alone, and clouds follow a drag without flicker. No DOM.
 */

/** Which sequence an item draws from. @param {number} seed @param {number} stream */
export function counterOf(seed, stream) {
  return (Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(stream + 1, 0x85ebca6b)) >>> 0;
}

/** 32 bits, number `k` of a sequence: mulberry32 on a counter. @param {number} counter @param {number} k */
export function bits(counter, k) {
  const a = (counter + Math.imul(k + 1, 0x6d2b79f5)) | 0;
  let t = Math.imul(a ^ (a >>> 15), 1 | a);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return (t ^ (t >>> 14)) >>> 0;
}

/** Number `k` of a sequence, in [0, 1). @param {number} counter @param {number} k */
export function uniform(counter, k) {
  return bits(counter, k) / 4294967296;
}

/** @type {Map<string, Float64Array>} */
const drawn = new Map();
const MAX_DRAWS_KEPT = 64;

/**
 * Standard normals and a uniform for each of `n` points: [z₁, z₂, u, z₁, z₂, u, …].
 * @param {number} seed @param {number} stream @param {number} n
 */
export function noise(seed, stream, n) {
  const key = `${seed} ${stream} ${n}`;
  const remembered = drawn.get(key);
  if (remembered) return remembered;
  const counter = counterOf(seed, stream);
  const normals = new Float64Array(3 * n);
  for (let k = 0; k < n; k++) {
    const radius = Math.sqrt(-2 * Math.log(1 - uniform(counter, 3 * k)));
    const turn = 2 * Math.PI * uniform(counter, 3 * k + 1);
    normals[3 * k] = radius * Math.cos(turn);
    normals[3 * k + 1] = radius * Math.sin(turn);
    normals[3 * k + 2] = uniform(counter, 3 * k + 2);
  }
  if (drawn.size >= MAX_DRAWS_KEPT) drawn.clear();
  drawn.set(key, normals);
  return normals;
}
