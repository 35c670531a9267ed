/**
 * Why a scene from elsewhere, whose fields are as declared, is not shown in a Dashboard. No DOM.
 *
 * @import { Model } from "../../toolkit/view/types.js"
 * @import { Scene } from "./types.js"
 */
import { sameClients } from "./regroup.js";

/** @param {any} scene @param {Model} model @returns {string} "" where it is shown */
export function refusal(scene, model) {
  return whyPartsRefused(scene) || whyOthersRefused(scene, model);
}

/** Whether the parts of a scene fit one another. @param {Scene} scene */
function whyPartsRefused({ weights, groups, generators, held }) {
  if (!weights.some((weight) => weight > 0)) return "all weights are 0";
  if (groups.length && groups.length !== weights.length) return "its groups are not those of its clients";
  if (held.length > weights.length) return "it holds more clients than there are";
  return [generators, held].some((names) => new Set(names).size < names.length) ? "a name appears twice" : "";
}

/** @param {any} scene @param {Model} model */
function whyOthersRefused(scene, model) {
  const { clients, generators, metrics, regroup } = model.get("board");
  if (!sameClients(scene, { regroup })) return "its clients are regrouped otherwise than here";
  if (scene.weights.length !== clients.length) return `it is of ${scene.weights.length} clients, not ${clients.length}`;
  const unknown = scene.generators.find((/** @type {string} */ generator) => !Object.hasOwn(generators, generator));
  if (unknown !== undefined) return `there is no generator ${unknown}`;
  return metrics.some((/** @type {any} */ metric) => metric.name === scene.metric) ? "" : "its metric is not here";
}
