/**
 * Why a scene from elsewhere, whose fields are as declared, is not shown in a Playground. No DOM.
 *
 * @import { Model, Scene, Shadow } from "../../toolkit/view/types.js"
 */
import { hasOwners, whyItemsRefused } from "../../plane/view/edits.js";
import { wideNumbers } from "./high_dimensional.js";
import { CHARTED } from "./metrics.js";

const MIN_SAMPLES = 5;

/** @param {any} scene @param {Model} model @returns {string} "" where it is shown */
export function refusal(scene, model) {
  const plane = planeOf(model);
  if (scene.plane) return whyWideRefused(scene, plane, model);
  if (plane && [...scene.clients, ...scene.generators].some(({ kind }) => kind === "data"))
    return "its rows have two features; those of this page have more";
  if (scene.samples > 0 && scene.samples < MIN_SAMPLES) return `scene.samples is below ${MIN_SAMPLES}`;
  if (scene.lesson && !Object.hasOwn(model.get("lessons") ?? {}, scene.lesson.name))
    return `its lesson ${JSON.stringify(scene.lesson.name)} was made by a teacher and is not part of the link`;
  if (hasOwners(scene) && !CHARTED[scene.view.metric].weighs)
    return `${CHARTED[scene.view.metric].label} has no avg and all of an ellipse for each client`;
  return whyItemsRefused(scene, model.get("data") ?? {});
}

/** The plane in which this page shows wider rows, wherever it was led since. @param {Model} model @returns {Shadow | undefined} */
function planeOf(model) {
  const scenes = /** @type {Scene[]} */ ([model.get("scene"), ...Object.values(model.get("presets") ?? {})]);
  return scenes.find((scene) => scene.plane)?.plane;
}

/** A page has the numbers of wider rows for the weights alone with which it was saved. @param {any} scene @param {Shadow | undefined} own @param {Model} model */
function whyWideRefused(scene, own, model) {
  if (!own || !isSame(scene.plane, own)) return "it is about other rows, which a link does not contain";
  const items = [...scene.clients, ...scene.generators];
  if (
    items.some(({ kind }) => kind !== "data") ||
    scene.samples ||
    scene.lesson ||
    CHARTED[scene.view.metric].plane_only
  )
    return `it is about the plane, and this page shows rows with ${own.dim} features`;
  const apart = whyItemsRefused(scene, model.get("data") ?? {});
  if (apart) return apart;
  const { fid } = wideNumbers(scene, model);
  return fid && !fid.isBehind ? "" : "Python has to compute its numbers: open it in a notebook";
}

/** @param {any} one @param {any} other */
function isSame(one, other) {
  const parts = (/** @type {any} */ plane) => JSON.stringify(Object.entries(plane).sort());
  return parts(one) === parts(other);
}
