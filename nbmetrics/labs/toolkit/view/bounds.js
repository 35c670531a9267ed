/**
 * Twin: labs/toolkit/fields.py · held by: tests/labs/toolkit/test_bounds.py
 *
 * From and to: of every number of every scene and lesson, by the name of its field; what Python refuses beyond them is
 * not drawn here either. No DOM.
 *
 * @import { Model } from "./types.js"
 */

import facts from "../bounds.json" with { type: "json" };

export const BOUNDS = /** @type {Record<string, [number, number]>} */ (/** @type {unknown} */ (facts.bounds));
/** Of them those that count. */
export const WHOLE = facts.whole;
export const LONGEST_NAME = facts.longest_name;
/** Steps of a history. */
export const REMEMBERED = facts.remembered;
/** What a name cannot hold: control characters, ends of lines, halves of pairs. */
export const UNPRINTABLE = /[\0-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]|\p{Cs}/u;

/** What of a lab's state is scenes, or holds them. */
const HOLDERS = ["scene", "history", "presets", "lessons"];
const MOST_NESTED = 12;

/** Why the state of a lab, such as an exported page that was edited, is not shown, or "". @param {Model} model */
export function whyStateRefused(model) {
  const why = HOLDERS.map((name) => beyondBounds(model.get(name), name, "", 0)).find(Boolean);
  return why ? `This lab is not shown: ${why}.` : "";
}

/** The first number of a scene from elsewhere that is beyond its bounds, in words, or "". @param {any} scene */
export function whyBeyond(scene) {
  return beyondBounds(scene, "scene", "", 0);
}

/**
 * The first number beyond its bounds, or without any, in words.
 * @param {any} value @param {string} where @param {string} field @param {number} depth @returns {string}
 */
function beyondBounds(value, where, field, depth) {
  if (depth > MOST_NESTED) return `${where} is nested too deep`;
  if (Array.isArray(value))
    return firstSaid(value.map((part, i) => () => beyondBounds(part, `${where}[${i}]`, field, depth + 1)));
  if (value && typeof value === "object") {
    const parts = Object.entries(value).filter(([key]) => key !== "about"); // its keys are users' names, its values too
    return firstSaid(
      parts.map(
        ([key, part]) =>
          () =>
            beyondBounds(part, `${where}.${key}`, key, depth + 1),
      ),
    );
  }
  const [low, high] = Object.hasOwn(BOUNDS, field) ? BOUNDS[field] : [NaN, NaN];
  if (typeof value === "string")
    return low <= high && value.trim() && Number.isFinite(Number(value)) ? `${where} is a text` : "";
  if (typeof value !== "number") return "";
  if (value >= low && value <= high)
    return WHOLE.includes(field) && !Number.isInteger(value)
      ? `${where} is ${value}, and should be a whole number`
      : "";
  return low <= high
    ? `${where} is ${value}, and should be from ${low} to ${high}`
    : `${where} is a number that no lab has`;
}

/** What the first of the calls says that says something. @param {(() => string)[]} calls */
function firstSaid(calls) {
  for (const call of calls) {
    const said = call();
    if (said) return said;
  }
  return "";
}
