/**
 * What a scene from elsewhere must look like before it is shown: every field there and of its kind, none unknown. Of
 * numbers only the kind is asked here, bounds.js has their bounds. No DOM.
 *
 * @typedef {(value: any, where: string) => string} Shape  what is wrong with a value, or ""
 */
import { LONGEST_NAME, UNPRINTABLE } from "./bounds.js";

/** @type {Shape} */
export const number = (value, where) => (typeof value === "number" ? "" : `${where} is no number`);

/** @type {Shape} */
export const flag = (value, where) => (typeof value === "boolean" ? "" : `${where} is neither true nor false`);

/** @type {Shape} */
export const text = (value, where) =>
  typeof value === "string" && [...value].length <= LONGEST_NAME && !UNPRINTABLE.test(value.replace(/[\t\n\r]/g, ""))
    ? ""
    : `${where} is no text that can be shown`;

/** @type {Shape} */
export const name = (value, where) =>
  text(value, where) || (value.trim() && !UNPRINTABLE.test(value) ? "" : `${where} is no name`);

/** @param {Iterable<string>} names @returns {Shape} */
export function choice(names) {
  const known = [...names];
  return (value, where) => (known.includes(value) ? "" : `${where} is none of ${known.join(", ")}`);
}

/** @param {Shape} shape @returns {Shape} */
export function orNull(shape) {
  return (value, where) => (value === null ? "" : shape(value, where));
}

/** @param {Shape} shape @param {number} most @returns {Shape} 1 to so many */
export function list(shape, most) {
  return (value, where) => {
    if (!Array.isArray(value) || !value.length || value.length > most) return `${where} is no list of 1 to ${most}`;
    return first(value.map((part, i) => () => shape(part, `${where}[${i}]`)));
  };
}

/** @param {Record<string, Shape>} shapes @param {Record<string, Shape>} [others] that may be missing @returns {Shape} */
export function fields(shapes, others = {}) {
  const all = { ...shapes, ...others };
  return (value, where) => {
    if (!isRecord(value)) return `${where} has no fields`;
    const missing = Object.keys(shapes).find((key) => !Object.hasOwn(value, key));
    if (missing) return `${where} has no ${missing}`;
    const entries = Object.entries(value);
    if (entries.some(([key]) => !Object.hasOwn(all, key))) return `${where} has a field that is not known`;
    return first(
      entries.map(
        ([key, part]) =>
          () =>
            all[key](part, `${where}.${key}`),
      ),
    );
  };
}

/** Each field a name, by a name. @param {number} most @returns {Shape} */
export function names(most) {
  return (value, where) => {
    if (!isRecord(value) || Object.keys(value).length > most) return `${where} is no list of names`;
    return first(Object.entries(value).flatMap((pair) => pair.map((part) => () => name(part, where))));
  };
}

/** As another value is: for labs that tell nothing more. @param {any} like @returns {Shape} */
export function alike(like) {
  if (isRecord(like)) return fields(Object.fromEntries(Object.entries(like).map(([key, part]) => [key, alike(part)])));
  if (typeof like === "number") return number;
  if (typeof like === "string") return text;
  return (value, where) => (kindOf(value) === kindOf(like) ? "" : `${where} is of another kind`);
}

/** @param {any} value */
function kindOf(value) {
  return Array.isArray(value) ? "list" : value === null ? "null" : typeof value;
}

/** @param {any} value */
function isRecord(value) {
  return kindOf(value) === "object";
}

/** What the first call says that says something. @param {(() => string)[]} calls */
export function first(calls) {
  for (const call of calls) {
    const said = call();
    if (said) return said;
  }
  return "";
}
