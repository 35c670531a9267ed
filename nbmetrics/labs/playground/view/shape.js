/**
 * Twin: labs/playground/scene.py · held by: tests/labs/toolkit/test_share_page.py
 *
 * Why a scene from elsewhere is not shown. No DOM.
 *
 * @import { Model } from "../../toolkit/view/types.js"
 */
import { MOST } from "../../plane/view/edits.js";
import { clientList, generatorList, whyApart } from "../../plane/view/shape.js";
import { choice, fields, flag, name, names, number, orNull, text } from "../../toolkit/view/shapes.js";
import { CHARTED } from "./metrics.js";
import { PARAMETERS } from "./sweep.js";

const LEAST_SAMPLES = 5;
const guessed = orNull(number);
const shape = fields({
  rev: number,
  preset: text,
  half: number,
  clients: clientList(["gaussian", "data"]),
  generators: generatorList,
  samples: number,
  seed: number,
  view: fields({
    metric: choice(Object.keys(CHARTED)),
    panel: choice(["clients", "terms", "sweep", "samples"]),
    sweep: choice(Object.keys(PARAMETERS)),
    aligned: flag,
  }),
  lesson: orNull(
    fields({
      name,
      guess: guessed,
      revealed: flag,
      about: names(MOST.generators),
      answer: guessed,
      other: guessed,
    }),
  ),
});

/** @param {any} scene @param {Model} model @returns {string} "" where it is shown */
export function whySceneRefused(scene, model) {
  const said = shape(scene, "scene");
  if (said) return said;
  if (scene.samples > 0 && scene.samples < LEAST_SAMPLES) return `scene.samples is below ${LEAST_SAMPLES}`;
  if (scene.lesson && !Object.hasOwn(model.get("lessons") ?? {}, scene.lesson.name))
    return `its lesson ${JSON.stringify(scene.lesson.name)} is a teacher’s own, which is not in the link`;
  return whyApart(scene, model.get("data") ?? {});
}
