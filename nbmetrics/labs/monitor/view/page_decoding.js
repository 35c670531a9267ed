/**
 * Decodes the run that Python encoded (page_encoding.py), once: what is past, and what came since. No DOM.
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

/** @typedef {{lines: Map<string, Stored>, losses: Map<string, Series>, leftOut: number}} DecodedPart */

/** @type {WeakMap<Packed, DecodedPart>} */
const decodedParts = new WeakMap();

/** @param {Packed} packed @returns {DecodedPart} */
function decodePart(packed) {
  let part = decodedParts.get(packed);
  if (!part) {
    const lines = Object.entries(packed.lines ?? {}).map(([name, line]) => [name, decodeLine(name, line)]);
    const losses = Object.entries(packed.losses ?? {}).map(([name, { steps, values }]) => [
      name,
      { name, steps: doubles(steps), values: doubles(values) },
    ]);
    const leftOut = packed.left_out ?? 0;
    part = { lines: new Map(/** @type {any} */ (lines)), losses: new Map(/** @type {any} */ (losses)), leftOut };
    decodedParts.set(packed, part);
  }
  return part;
}

/** @param {string} name @param {PackedLine} line @returns {Stored} */
function decodeLine(name, { metric, label, steps, clients, avg, all, gap, errors, moves = false }) {
  const scores = { avg: doubles(avg), all: doubles(all), gap: doubles(gap), errors: singles(errors) };
  return { name, metric, label, moves, steps: doubles(steps), clients: singles(clients), ...scores };
}

/** @type {Packed} */
const NOTHING = {};

/** @typedef {{lines: Stored[], losses: Series[], steps: Float64Array, leftOut: number}} DecodedRun */

/** @type {WeakMap<Packed, {recent: Packed, run: DecodedRun}>} */
const decodedRuns = new WeakMap();

/** The run with what came since, the same object as long as nothing came. @param {Packed} past @param {Packed} recent of this past, or passed over @returns {DecodedRun} */
export function decodeRun(past, recent) {
  const later = recent.of === past.id ? recent : NOTHING;
  if (decodedRuns.get(past)?.recent !== later) decodedRuns.set(past, { recent: later, run: joinParts(past, later) });
  return /** @type {any} */ (decodedRuns.get(past)).run;
}

/** @param {Packed} past @param {Packed} recent @returns {DecodedRun} */
function joinParts(past, recent) {
  const [a, b] = [decodePart(past), decodePart(recent)];
  const lines = allNames(a.lines, b.lines).map((name) => appendLater(a.lines.get(name), b.lines.get(name)));
  const losses = allNames(a.losses, b.losses).map((name) => appendLater(a.losses.get(name), b.losses.get(name)));
  const steps = unionOf([...lines, ...losses].map((part) => part.steps));
  return { lines, losses, steps, leftOut: a.leftOut };
}

/** @param {Map<string, any>} first @param {Map<string, any>} second */
function allNames(first, second) {
  return [...new Set([...first.keys(), ...second.keys()])];
}

/** A line or series with what came later. @param {any} first @param {any} second @returns {any} */
function appendLater(first, second) {
  if (!first || !second) return first ?? second;
  if (!second.steps.length) return first;
  const both = Object.entries(first).map(([key, part]) => [
    key,
    isNumbers(part) ? concatenate(part, second[key]) : key === "moves" ? part || second[key] : part,
  ]);
  return Object.fromEntries(both);
}

/** @param {unknown} part @returns {part is Float64Array | Float32Array} */
function isNumbers(part) {
  return part instanceof Float64Array || part instanceof Float32Array;
}

/** @param {Float64Array | Float32Array} first @param {Float64Array | Float32Array} second */
function concatenate(first, second) {
  const Kind = /** @type {any} */ (first.constructor);
  const whole = new Kind(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

/** Steps of all series, each once, in their order. @param {Float64Array[]} parts */
export function unionOf(parts) {
  const longest = parts.reduce((a, b) => (b.length > a.length ? b : a), new Float64Array());
  const inLongest = new Set(longest);
  const more = parts.flatMap((part) => (part === longest ? [] : [...part].filter((step) => !inLongest.has(step))));
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
