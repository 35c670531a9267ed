/**
 * What Python wrote, as numbers: arrays are made once of each, as they are the same in every frame. No DOM.
 *
 * @typedef {number | "nan" | "inf" | "-inf" | null} Written  a number as JSON has it; null where it is not known yet
 */

const TEXTS = { nan: NaN, inf: Infinity, "-inf": -Infinity };

/** @param {Written | undefined} value @returns {number} NaN for what is not known, too */
export function read(value) {
  return typeof value === "number" ? value : typeof value === "string" ? TEXTS[value] : NaN;
}

/** @type {WeakMap<object, any>} */
const results = new WeakMap();

/** @template T @param {object} key @param {() => T} make @returns {T} */
export function once(key, make) {
  if (!results.has(key)) results.set(key, make());
  return results.get(key);
}

/** @param {Written[]} row */
export const readRow = (row) => once(row, () => Float64Array.from(row, read));
