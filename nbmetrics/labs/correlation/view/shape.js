/**
 * Twin: labs/correlation/scene.py · held by: tests/labs/toolkit/test_share_page.py
 *
 * Why a scene from elsewhere is not shown. No DOM.
 */
import { choice, fields, number, text } from "../../toolkit/view/shapes.js";
import { SCORES } from "./maths.js";

const shape = fields({
  rev: number,
  preset: text,
  rho: number,
  rho_hat: number,
  scale: number,
  metric: choice(SCORES),
  question: fields({ step: number, answer: choice(["open", "explored", "shown", "mfid", "rfid", "cfid"]) }),
});

/** @param {any} scene @returns {string} "" where it is shown */
export function whySceneRefused(scene) {
  return shape(scene, "scene");
}
