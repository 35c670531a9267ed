/**
 * Twin: labs/privacy/scene.py · held by: tests/labs/toolkit/test_share_page.py
 *
 * Why a scene from elsewhere is not shown. No DOM.
 *
 * @import { Model } from "../../toolkit/view/types.js"
 */
import { choice, fields, number, text } from "../../toolkit/view/shapes.js";
import { AGGREGATES } from "./numbers.js";

const shape = fields({
  rev: number,
  preset: text,
  of: choice(["digits", "own"]),
  epsilon: number,
  metric: text,
  aggregate: choice(AGGREGATES),
  run: number,
});

/** @param {any} scene @param {Model} model @returns {string} "" where it is shown */
export function whySceneRefused(scene, model) {
  const said = shape(scene, "scene");
  if (said) return said;
  const { of, metrics, drawn } = model.get("study");
  if (scene.of !== of) return "it is about other data";
  if (scene.run > drawn[0].length) return `there are ${drawn[0].length} runs`;
  return metrics.some((/** @type {any} */ { name }) => name === scene.metric) ? "" : "its metric is not here";
}
