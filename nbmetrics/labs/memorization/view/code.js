/**
 * Twin: labs/memorization/scene.py · held by: tests/labs/memorization/test_page_maths.py
 *
 * Python that rebuilds a scene of MemorizationLab. No DOM.
 *
 * @import { MemoScene } from "./maths.js"
 */
import { KNOB_NAMES, KNOBS } from "./maths.js";

/** @param {any} scene @param {boolean} [hasItems] whether images stand behind the user's own rows */
export function memoCode(scene, hasItems = false) {
  const { data, points, seed } = /** @type {MemoScene} */ (scene);
  const knobs = KNOB_NAMES.filter((name) => scene[name] !== KNOBS[name].neutral);
  const given = [
    `data=${JSON.stringify(data)}`,
    ...knobs.map((name) => `${name}=${scene[name]}`),
    `points=${points}`,
    `seed=${seed}`,
  ];
  const [items, images] = hasItems ? [", items=items", ", and their images"] : ["", ""];
  const own = `nm.MemorizationLab(train, test, generated${items}, seed=${seed})  # your own rows of features (n, d)${images}`;
  const lab = data === "own" ? own : `nm.MemorizationLab(${given.join(", ")})`;
  return ["import nbmetrics as nm", "", `lab = ${lab}`, "print(lab.scores())", "lab", ""].join("\n");
}
