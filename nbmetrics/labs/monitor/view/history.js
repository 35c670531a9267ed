/**
 * The run as Python wrote it, unpacked once: what is past, and what came since. No DOM.
 *
 * @import { Model } from "../../toolkit/view/types.js"
 * @import { Packed, PackedLine, Series, Stored } from "./types.js"
 */

/** @param {string} text base64 of float64 */
export function doubles(text) {
  return new Float64Array(bytesOf(text).buffer);
}

/** @param {string} text base64 of float32 */
export function singles(text) {
  return new Float32Array(bytesOf(text).buffer);
}

/** @param {string} text base64 */
export function bytesOf(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/** @typedef {{lines: Map<string, Stored>, losses: Map<string, Series>, leftOut: number}} Unpacked */

/** @type {WeakMap<Packed, Unpacked>} */
const unpacked = new WeakMap();

/** @param {Packed} packed @returns {Unpacked} */
function partOf(packed) {
  let found = unpacked.get(packed);
  if (!found) {
    const lines = Object.entries(packed.lines ?? {}).map(([name, line]) => [name, storedOf(name, line)]);
    const losses = Object.entries(packed.losses ?? {}).map(([name, { steps, values }]) => [
      name,
      { name, steps: doubles(steps), values: doubles(values) },
    ]);
    const leftOut = packed.left_out ?? 0;
    found = { lines: new Map(/** @type {any} */ (lines)), losses: new Map(/** @type {any} */ (losses)), leftOut };
    unpacked.set(packed, found);
  }
  return found;
}

/** @param {string} name @param {PackedLine} line @returns {Stored} */
function storedOf(name, { metric, label, steps, clients, avg, all, gap, errors }) {
  const scores = { avg: doubles(avg), all: doubles(all), gap: doubles(gap), errors: singles(errors) };
  return { name, metric, label, steps: doubles(steps), clients: singles(clients), ...scores };
}

/** @type {Packed} */
const NOTHING = {};

/** @typedef {{lines: Stored[], losses: Series[], steps: Float64Array, leftOut: number}} Joined */

/** @type {WeakMap<Packed, {recent: Packed, found: Joined}>} */
const known = new WeakMap();

/** All that is known of the run, the same as long as nothing came. @param {Packed} past @param {Packed} recent of this past, or passed over @returns {Joined} */
export function joined(past, recent) {
  const later = recent.of === past.id ? recent : NOTHING;
  if (known.get(past)?.recent !== later) known.set(past, { recent: later, found: joinedAnew(past, later) });
  return /** @type {any} */ (known.get(past)).found;
}

/** @param {Packed} past @param {Packed} recent @returns {Joined} */
function joinedAnew(past, recent) {
  const [a, b] = [partOf(past), partOf(recent)];
  const lines = namesOf(a.lines, b.lines).map((name) => withLater(a.lines.get(name), b.lines.get(name)));
  const losses = namesOf(a.losses, b.losses).map((name) => withLater(a.losses.get(name), b.losses.get(name)));
  const steps = unionOf([...lines, ...losses].map((part) => part.steps));
  return { lines, losses, steps, leftOut: a.leftOut };
}

/** @param {Map<string, any>} first @param {Map<string, any>} second */
function namesOf(first, second) {
  return [...new Set([...first.keys(), ...second.keys()])];
}

/** A line or series with what came later. @param {any} first @param {any} second @returns {any} */
function withLater(first, second) {
  if (!first || !second) return first ?? second;
  if (!second.steps.length) return first;
  const both = Object.entries(first).map(([key, part]) => [key, isNumbers(part) ? appended(part, second[key]) : part]);
  return Object.fromEntries(both);
}

/** @param {unknown} part @returns {part is Float64Array | Float32Array} */
function isNumbers(part) {
  return part instanceof Float64Array || part instanceof Float32Array;
}

/** @param {Float64Array | Float32Array} first @param {Float64Array | Float32Array} second */
function appended(first, second) {
  const Kind = /** @type {any} */ (first.constructor);
  const whole = new Kind(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

/** Steps of all series, each once, in their order. @param {Float64Array[]} parts */
export function unionOf(parts) {
  const longest = parts.reduce((a, b) => (b.length > a.length ? b : a), new Float64Array());
  const known = new Set(longest);
  const more = parts.flatMap((part) => (part === longest ? [] : [...part].filter((step) => !known.has(step))));
  return more.length ? Float64Array.from(new Set([...longest, ...more])).sort() : longest;
}

/** The place of the step that is nearest to `step`, −1 where there is none. @param {Float64Array} steps in their order @param {number} step */
export function nearest(steps, step) {
  let [low, high] = [0, steps.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle] < step) low = middle + 1;
    else high = middle;
  }
  return low > 0 && step - steps[low - 1] <= steps[low] - step ? low - 1 : high < 0 ? -1 : low;
}
