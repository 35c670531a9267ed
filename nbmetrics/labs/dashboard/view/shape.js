/**
 * Twin: labs/dashboard/scene.py · held by: tests/labs/toolkit/test_share_page.py
 *
 * Why a scene from elsewhere is not shown. No DOM.
 *
 * @import { Model } from "../../toolkit/view/types.js"
 * @import { Scene } from "./types.js"
 */
import { choice, fields, first, list, name, number, text } from "../../toolkit/view/shapes.js";
import facts from "../facts.json" with { type: "json" };
import { sameClients } from "./regroup.js";

const none = (/** @type {any} */ value, /** @type {string} */ where) =>
  Array.isArray(value) && !value.length ? "" : `${where} is no empty list`;
/** @param {import("../../toolkit/view/shapes.js").Shape} shape @param {number} most @returns {import("../../toolkit/view/shapes.js").Shape} */
const some = (shape, most) => (value, where) => (none(value, where) ? list(shape, most)(value, where) : "");

const shape = fields(
  {
    rev: number,
    preset: text,
    metric: text,
    weights: list(number, facts.most_clients),
    generators: list(name, facts.most_generators),
    held: some(name, facts.most_clients),
    by: choice(facts.aggregates),
    colour: choice(facts.colours),
    order: choice(facts.orders),
    client: text,
    generator: text,
    groups: some(number, facts.most_clients),
  },
  { regroup: () => "" },
);

/** @param {any} scene @param {Model} model @returns {string} "" where it is shown */
export function whySceneRefused(scene, model) {
  return shape(scene, "scene") || first([() => whyOfParts(scene), () => whyOfOthers(scene, model)]);
}

/** Whether the parts of a scene fit one another. @param {Scene} scene */
function whyOfParts({ weights, groups, generators, held }) {
  if (!weights.some((weight) => weight > 0)) return "all weights are 0";
  if (groups.length && groups.length !== weights.length) return "its groups are not those of its clients";
  return [generators, held].some((names) => new Set(names).size < names.length) ? "a name appears twice" : "";
}

/** @param {any} scene @param {Model} model */
function whyOfOthers(scene, model) {
  const { clients, generators, metrics, regroup } = model.get("board");
  if (!sameClients(scene, { regroup })) return "its clients are regrouped otherwise than here";
  if (scene.weights.length !== clients.length) return `it is of ${scene.weights.length} clients, not ${clients.length}`;
  const unknown = scene.generators.find((/** @type {string} */ generator) => !Object.hasOwn(generators, generator));
  if (unknown !== undefined) return `there is no generator ${unknown}`;
  return metrics.some((/** @type {any} */ metric) => metric.name === scene.metric) ? "" : "its metric is not here";
}
