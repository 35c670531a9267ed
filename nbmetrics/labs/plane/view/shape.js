/**
 * Twin: labs/plane/items.py · held by: tests/labs/toolkit/test_share_page.py
 *
 * What clients and generators of a scene from elsewhere must look like. No DOM.
 *
 * @import { Item } from "../../toolkit/view/types.js"
 * @import { Shape } from "../../toolkit/view/shapes.js"
 */
import { choice, fields, first, list, name, number } from "../../toolkit/view/shapes.js";
import { MOST } from "./edits.js";

const PLACE = { x: number, y: number, width: number, height: number, angle: number };
/** @type {Record<string, Record<string, Shape>>} */
const KINDS = {
  gaussian: PLACE,
  bumps: PLACE,
  truncated: { psi: number },
  copycat: { of: name, count: number },
  data: PLACE,
};

/** @param {Record<string, Shape>} more what these items have beside the fields of their kind @param {string[]} kinds @returns {Shape} */
function item(more, kinds) {
  return (value, where) => {
    const kind = value?.kind ?? "gaussian";
    const said = choice(kinds)(kind, `${where}.kind`);
    if (said) return said;
    const others = { kind: choice([kind]), ...(kind === "data" ? { data: name } : {}) };
    return fields({ name, ...KINDS[kind], ...more }, others)(value, where);
  };
}

/** @param {string[]} kinds @returns {Shape} */
export function clientList(kinds) {
  return list(item({ weight: number }, kinds), MOST.clients);
}

/** @type {Shape} */
export const generatorList = list(item({}, Object.keys(KINDS)), MOST.generators);

/** What the parts of a scene must be to one another. @param {{clients: Item[], generators?: Item[]}} scene @param {Record<string, any>} data what the lab holds */
export function whyApart({ clients, generators = [] }, data) {
  const items = [...clients, ...generators];
  const given = items.map((one) => one.name);
  const held = (/** @type {Item} */ one) => one.kind !== "data" || Object.hasOwn(data, one.data ?? one.name);
  return first([
    () => (new Set(given).size === given.length ? "" : "two items have one name"),
    () => (clients.some((one) => (one.weight ?? 0) > 0) ? "" : "all weights are 0"),
    () =>
      generators.every((g) => g.kind !== "copycat" || clients.some((c) => c.name === g.of))
        ? ""
        : "a copycat copies nobody",
    () =>
      items.every(held) ? "" : `${items.find((one) => !held(one))?.name} stands for data, which a link does not hold`,
  ]);
}
