/**
 * Twin: labs/toolkit/history.py · held by: tests/labs/toolkit/test_history_page.py
 *
 * Undo and redo of scenes, whatever they are. No DOM.
 *
 * @import { History, Scene } from "./types.js"
 */
import common from "../scene.json" with { type: "json" };

/** @param {History} history @param {Scene} before @returns {History} */
export function recorded(history, before) {
  return { past: [...history.past, before].slice(-common.remembered), future: [] };
}

/** @param {History} history @param {Scene} now @returns {{history: History, scene: Scene} | null} */
export function undone({ past, future }, now) {
  const scene = past.at(-1);
  return scene ? { scene, history: { past: past.slice(0, -1), future: [now, ...future] } } : null;
}

/** @param {History} history @param {Scene} now @returns {{history: History, scene: Scene} | null} */
export function redone({ past, future }, now) {
  const scene = future[0];
  return scene ? { scene, history: { past: [...past, now], future: future.slice(1) } } : null;
}

/** Whether two scenes show the same, whatever their revision. @param {Scene} a @param {Scene} b */
export function sameScene(a, b) {
  return JSON.stringify({ ...a, rev: 0 }) === JSON.stringify({ ...b, rev: 0 });
}

// What is only a way to look at a scene, or what became of its question.
const LOOKS = new Set(["rev", "preset", "view", "lesson", "question", "selected", "metric"]);

/** Whether two scenes are about the same, however one looks at them. @param {Scene} a @param {Scene} b */
export function sameContent(a, b) {
  const content = (/** @type {Scene} */ scene) =>
    JSON.stringify(Object.entries(scene).filter(([field]) => !LOOKS.has(field)));
  return content(a) === content(b);
}
