/**
 * Twin: labs/twins/scene.py · held by: tests/labs/toolkit/test_share_page.py
 *
 * Why a scene from elsewhere is not shown. No DOM.
 */
import { clientList, whyApart } from "../../plane/view/shape.js";
import { choice, fields, flag, number, text } from "../../toolkit/view/shapes.js";
import { hasOneShape } from "./edits.js";

const shape = fields({
  rev: number,
  preset: text,
  half: number,
  shared: flag,
  construction: choice(["corrected", "printed", "published"]),
  clients: clientList(["gaussian"]),
});

/** @param {any} scene @returns {string} "" where it is shown */
export function whySceneRefused(scene) {
  const said = shape(scene, "scene") || whyApart(scene, {});
  return said || (!scene.shared || hasOneShape(scene.clients) ? "" : "the shapes of the clients differ");
}
