/**
 * Twin: labs/monitor/scene.py · held by: tests/labs/monitor/test_scene.py
 *
 * Why a scene from elsewhere is not shown. No DOM.
 *
 * @import { Model } from "../../toolkit/view/types.js"
 */
import { fields, list, number, orNull, text } from "../../toolkit/view/shapes.js";
import facts from "../facts.json" with { type: "json" };

const shape = fields({
  rev: number,
  preset: text,
  metric: text,
  weights: list(number, facts.most_clients),
  shown: orNull(number),
  client: text,
});

/** @param {any} scene @param {Model} model @returns {string} "" where it is shown */
export function whySceneRefused(scene, model) {
  return shape(scene, "scene") || whyOfOthers(scene, model);
}

/** @param {any} scene @param {Model} model */
function whyOfOthers({ weights, metric, client }, model) {
  const { clients, metrics } = model.get("run");
  if (!weights.some((/** @type {number} */ weight) => weight > 0)) return "all weights are 0";
  if (weights.length !== clients.length) return `it is of ${weights.length} clients, not ${clients.length}`;
  if (client && !clients.includes(client)) return `there is no client ${client}`;
  return metrics.some((/** @type {any} */ { name }) => name === metric) ? "" : "its metric is not here";
}
