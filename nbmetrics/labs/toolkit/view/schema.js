/**
 * Twin: labs/toolkit/schema.py · held by: tests/labs/toolkit/test_schema_page.py
 *
 * A lab's scene as its scene.json declares it (schema.py says how): what is left out filled in, why one from elsewhere
 * is not shown, and the Python that rebuilds it. No DOM.
 *
 * @typedef {{number?: number[], whole?: number[], flag?: boolean, choice?: string[], text?: number, name?: boolean,
 *   names?: number, list?: Field, from?: number, to?: number, record?: Fields, kinds?: Record<string, Fields>,
 *   code?: Record<string, string>, default?: any, optional?: boolean, null?: boolean}} Field
 * @typedef {Record<string, Field>} Fields
 * @typedef {{fields: Fields, code: string[], opening: string[], aliases?: Record<string, Record<string, string | null>>}} Declared
 */
import common from "../scene.json" with { type: "json" };

export const LONGEST_NAME = common.longest_name;
/** What a name cannot hold: control characters, ends of lines, halves of pairs. */
export const UNPRINTABLE = /[\0-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]|\p{Cs}/u;
/** Why a scene is refused that has a field which is not declared here. */
const LATER = "it was made by a later version of nbmetrics; open it with a newer one, or on the current site";

/**
 * The content of a scene.json with the fields of every scene, and with types in place of their names.
 * @param {any} content @param {Record<string, any>} [types] @returns {any}
 */
export function declare(content, types = {}) {
  const fields = mapped({ ...content.fields, ...common.fields }, (one) => resolve(one, types));
  return { code: common.code, opening: common.opening, ...content, fields };
}

/** @param {any} one @param {Record<string, any>} types @returns {Field} */
function resolve(one, types) {
  if (typeof one === "string") return resolve(types[one], types);
  if (one.list) return { ...one, list: resolve(one.list, types) };
  if (one.record) return { ...one, record: mapped(one.record, (part) => resolve(part, types)) };
  if (!one.kinds) return one;
  const fieldsOf = (/** @type {string[]} */ names) =>
    Object.fromEntries(names.map((name) => [name, resolve(types[name], types)]));
  return { ...one, kinds: mapped(one.kinds, fieldsOf) };
}

/** @param {Record<string, any>} record @param {(part: any, name: string) => any} change */
function mapped(record, change) {
  return Object.fromEntries(Object.entries(record).map(([name, part]) => [name, change(part, name)]));
}

/** A scene by present names, with what it may leave out. @param {Declared} declared @param {any} scene */
export function filled({ fields, aliases = {} }, scene) {
  const renames = Object.entries(aliases);
  const renamed = renames.reduce((now, [path, names]) => rename(now, path ? path.split(".") : [], names), scene);
  return fill({ record: fields }, renamed);
}

/** @param {any} value @param {string[]} path @param {Record<string, string | null>} names @returns {any} */
function rename(value, path, names) {
  if (Array.isArray(value)) return value.map((part) => rename(part, path, names));
  const present = (/** @type {string} */ name) => (Object.hasOwn(names, name) ? names[name] : name);
  if (!path.length && typeof value === "string") return present(value);
  if (!isRecord(value)) return value;
  if (!path.length) {
    const parts = Object.entries(value).map(([name, part]) => [present(name), part]);
    return Object.fromEntries(parts.filter(([name]) => name !== null));
  }
  const [first, ...rest] = path;
  return Object.hasOwn(value, first) ? { ...value, [first]: rename(value[first], rest, names) } : value;
}

/** @param {Field} one @param {any} value @returns {any} */
function fill(one, value) {
  const { list } = one;
  if (list) return Array.isArray(value) ? value.map((part) => fill(list, part)) : value;
  const fields = one.record ?? (one.kinds && fieldsOfKind(one.kinds, value));
  if (!fields || !isRecord(value)) return value;
  const parts = Object.entries(fields).flatMap(([name, part]) => {
    if (Object.hasOwn(value, name)) return [[name, fill(part, value[name])]];
    return "default" in part ? [[name, fill(part, part.default)]] : [];
  });
  const others = Object.entries(value).filter(([name]) => !Object.hasOwn(fields, name));
  return Object.fromEntries([...parts, ...others]);
}

/** The fields of a record that says its kind. @param {Record<string, Fields>} kinds @param {any} value @returns {Fields | undefined} */
function fieldsOfKind(kinds, value) {
  const kind = value?.kind ?? Object.keys(kinds)[0];
  return Object.hasOwn(kinds, kind) ? { ...kinds[kind], kind: { choice: [kind], optional: true } } : undefined;
}

/** Why a filled scene is not shown, or "". @param {Declared} declared @param {any} scene */
export function whyRefused({ fields }, scene) {
  return whyOf(scene, { record: fields }, "scene");
}

/** What is wrong with a value, or "". @param {any} value @param {Field} one @param {string} where @returns {string} */
export function whyOf(value, one, where) {
  if (value === null && one.null) return "";
  if (one.number) return whyNumber(value, one.number, where);
  if (one.whole) return whyWhole(value, one.whole, where);
  if (one.flag) return typeof value === "boolean" ? "" : `${where} is neither true nor false`;
  if (one.choice) return one.choice.includes(value) ? "" : `${where} is not one of ${one.choice.join(", ")}`;
  if (one.text) return whyText(value, one.text, where);
  if (one.name) return whyName(value, where);
  if (one.names) return whyNames(value, one.names, where);
  if (one.list) return whyList(value, one, where);
  const fields = one.record ?? fieldsOfKind(one.kinds ?? {}, value);
  return fields
    ? whyRecord(value, fields, where)
    : `${where}.kind is not one of ${Object.keys(one.kinds ?? {}).join(", ")}`;
}

/** @param {any} value @param {number[]} bounds @param {string} where */
function whyNumber(value, [low, high], where) {
  if (typeof value !== "number") return `${where} is not a number`;
  return value >= low && value <= high ? "" : `${where} is ${value}, but should be from ${low} to ${high}`;
}

/** @param {any} value @param {number[]} bounds @param {string} where */
function whyWhole(value, bounds, where) {
  const why = whyNumber(value, bounds, where);
  return why || (Number.isInteger(value) ? "" : `${where} is ${value}, but should be a whole number`);
}

/** @param {any} value @param {number} most letters @param {string} where */
function whyText(value, most, where) {
  const isText = typeof value === "string" && [...value].length <= most;
  return isText && !UNPRINTABLE.test(value.replace(/[\t\n\r]/g, "")) ? "" : `${where} is not a text that can be shown`;
}

/** @param {any} value @param {string} where */
export function whyName(value, where) {
  return (
    whyText(value, LONGEST_NAME, where) || (value.trim() && !UNPRINTABLE.test(value) ? "" : `${where} is not a name`)
  );
}

/** @param {any} value @param {number} most @param {string} where */
function whyNames(value, most, where) {
  if (!isRecord(value) || Object.keys(value).length > most) return `${where} is not a list of names`;
  return firstOf(Object.entries(value).flat(), (name) => whyName(name, where));
}

/** @param {any} value @param {Field} one @param {string} where */
function whyList(value, { list = {}, from = 0, to = 0 }, where) {
  if (!Array.isArray(value) || value.length < from || value.length > to)
    return `${where} is not a list of ${from} to ${to} items`;
  return firstOf(value, (part, i) => whyOf(part, list, `${where}[${i}]`));
}

/** @param {any} value @param {Fields} fields @param {string} where */
function whyRecord(value, fields, where) {
  if (!isRecord(value)) return `${where} has no fields`;
  const missing = Object.keys(fields).find((name) => !Object.hasOwn(value, name) && !fields[name].optional);
  if (missing) return `${where} has no ${missing}`;
  return firstOf(Object.entries(value), ([name, part]) =>
    Object.hasOwn(fields, name) ? whyOf(part, fields[name], `${where}.${name}`) : LATER,
  );
}

/** The first text that is not empty. @template T @param {T[]} parts @param {(part: T, i: number) => string} why */
export function firstOf(parts, why) {
  for (const [i, part] of parts.entries()) {
    const said = why(part, i);
    if (said) return said;
  }
  return "";
}

/** @param {any} value */
function isRecord(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/**
 * Python that rebuilds a scene: the lines of a template, with values and texts in their places.
 * @param {Declared} declared @param {any} scene @param {Record<string, string>} [texts] @param {string} [template]
 */
export function codeOf(declared, scene, texts = {}, template = "code") {
  const lines = /** @type {any} */ (declared)[template];
  const { rev: _, ...shown } = declared.fields;
  const all = { scene: literal(scene, { record: shown }), ...texts };
  return filledIn([...lines, ""].join("\n"), declared.fields, scene, all);
}

/** Python that opens a share string in the lab that `making` makes. @param {string} making @param {string} text */
export function openingOf(making, text) {
  return filledIn([...common.opening, ""].join("\n"), {}, {}, { making, string: JSON.stringify(text) });
}

/** @param {string} template @param {Fields} fields @param {any} scene @param {Record<string, string>} texts */
function filledIn(template, fields, scene, texts) {
  const at = (/** @type {string} */ path) =>
    path
      .split(".")
      .reduce(
        (/** @type {any} */ [one, value], name) => [one.record?.[name] ?? {}, value?.[name]],
        [{ record: fields }, scene],
      );
  const isDefault = (/** @type {string} */ path) => {
    const [one, value] = at(path);
    return value === (one.default ?? 0);
  };
  const kept = template.replace(/«([^«»]*)»/g, (_, segment) =>
    [...segment.matchAll(PLACE)].every(([, path]) => isDefault(path)) ? "" : segment,
  );
  return kept.replace(PLACE, (all, path) => {
    if (Object.hasOwn(texts, path)) return texts[path];
    const [one, value] = at(path);
    if (!one.code) return Object.keys(one).length ? literal(value, one) : all;
    return value.map((/** @type {any} */ item) => filledItem(item, one, fields, scene)).join("\n");
  });
}

const PLACE = /\{(\w+(?:\.\w+)*)\}/g;

/** @param {any} item @param {any} one @param {Fields} fields @param {any} scene */
function filledItem(item, { list: { kinds }, code }, fields, scene) {
  const kind = item.kind ?? Object.keys(kinds)[0];
  return filledIn(code[kind], { ...fields, ...kinds[kind] }, { ...scene, ...item }, {});
}

/**
 * A value as Python writes it, four spaces a level; a field that is null stays out.
 * @param {any} value @param {Field} one @param {string} [indent] @returns {string}
 */
export function literal(value, one, indent = "\n") {
  if (value === null) return "None";
  if (one.number) return floatText(value);
  if (one.flag) return value ? "True" : "False";
  const deeper = `${indent}    `;
  const inside = (/** @type {string[]} */ parts) => (parts.length ? deeper + parts.join(`,${deeper}`) + indent : "");
  const { list } = one;
  if (list) return `[${inside(value.map((/** @type {any} */ part) => literal(part, list, deeper)))}]`;
  if (one.names) {
    const pairs = Object.entries(value).map(([name, other]) => `${JSON.stringify(name)}: ${JSON.stringify(other)}`);
    return `{${inside(pairs)}}`;
  }
  const fields = one.record ?? (one.kinds && fieldsOfKind(one.kinds, value));
  if (!fields) return JSON.stringify(value);
  const [order, whole] = one.kinds ? [value, fields] : [fields, value];
  const names = Object.keys(order).filter((name) => Object.hasOwn(whole, name) && value[name] !== null);
  return `{${inside(names.map((name) => `"${name}": ${literal(value[name], fields[name], deeper)}`))}}`;
}

/** A float as Python's `repr` writes it: 1.0, 1e-05, 1e+16. @param {number} value */
function floatText(value) {
  if (Number.isInteger(value) && Math.abs(value) < 1e16) return Object.is(value, -0) ? "-0.0" : value.toFixed(1);
  const [digits, exponent] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 16) return String(value);
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}
