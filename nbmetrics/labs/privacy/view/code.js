/**
 * Twin: labs/privacy/scene.py · held by: tests/labs/privacy/test_privacy.py
 *
 * Python that shows a scene again. No DOM.
 *
 * @import { Scene, Study } from "./numbers.js"
 */

/** @param {Scene} scene @param {Study} study */
export function privacyCode(scene, study) {
  const { epsilon, metric, aggregate, run, of, preset } = scene;
  const shown = JSON.stringify({ epsilon: 0, metric, aggregate, run, of, preset }, null, 4);
  return codeOf(study, `lab.scene = ${shown.replace('"epsilon": 0', `"epsilon": ${written(epsilon)}`)}`);
}

/** Python that opens a share string. @param {string} text @param {Study} study */
export function openingCode(text, study) {
  return codeOf(study, `lab.from_share("${text}")`);
}

/** @param {Study} study @param {string} line */
function codeOf({ code }, line) {
  return `import nbmetrics as nm\n\n${code}\n${line}\nlab\n`;
}

/** As Python writes a float. @param {number} value */
function written(value) {
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}
