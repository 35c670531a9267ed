/**
 * Twin: labs/memorization/scene.py · held by: tests/labs/toolkit/test_share_page.py
 *
 * Why a scene from elsewhere is not shown. No DOM.
 *
 * @import { Model } from "../../toolkit/view/types.js"
 */
import { choice, fields, flag, number, orNull, text } from "../../toolkit/view/shapes.js";
import { fitsBase, KNOB_NAMES } from "./maths.js";

const share = orNull(number);
const shape = fields({
  rev: number,
  preset: text,
  data: choice(["moons", "digits", "own"]),
  ...Object.fromEntries(KNOB_NAMES.map((name) => [name, number])),
  points: number,
  seed: number,
  view: fields({
    panel: choice(["cards", "curve", "items", "interactions"]),
    sweep: choice(KNOB_NAMES),
    sort: choice(["memorization", "quality"]),
  }),
  selected: orNull(number),
  lesson: orNull(fields({ name: text, guess: orNull(fields({}, { fid_test: share, fld: share })), revealed: flag })),
});

/** A page without Python holds the points of one scene, and shows them alone. @param {any} scene @param {Model} model @returns {string} "" where it is shown */
export function whySceneRefused(scene, model) {
  const said = shape(scene, "scene");
  if (said) return said;
  const now = model.get("scene");
  const isSame = (scene.data === "own") === (now.data === "own") && fitsBase(model.get("base"), scene);
  if (!isSame) return "it is about points that this page does not hold";
  const isOwn = scene.data === "own";
  if (isOwn && ["points", "seed", ...KNOB_NAMES].some((name) => scene[name] !== now[name]))
    return "the rows that this page holds are shown as they are";
  return scene.selected !== null && scene.selected >= scene.points ? "scene.selected is no point of it" : "";
}
