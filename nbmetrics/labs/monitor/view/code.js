/**
 * Twin: labs/monitor/scene.py · held by: tests/labs/monitor/test_scene.py
 *
 * Python that shows a scene again. No DOM.
 *
 * @import { Run, Scene } from "./types.js"
 */

/** @param {Scene} scene @param {Run} run @param {boolean} [isBeside] whether another run is beside it */
export function monitorCode(scene, run, isBeside = false) {
  const { rev: _, shown, ...rest } = scene;
  const kept = shown === null ? rest : { ...rest, shown };
  return codeOf(run, `lab.scene = ${JSON.stringify(kept, null, 4)}`, isBeside);
}

/** Python that opens a share string. @param {string} text @param {Run} run @param {boolean} [isBeside] */
export function openingCode(text, run, isBeside = false) {
  return codeOf(run, `lab.from_share("${text}")`, isBeside);
}

/** @param {Run} run @param {string} line what is done with the Monitor of the same run @param {boolean} isBeside */
function codeOf({ metrics, kept }, line, isBeside) {
  const names = metrics.map(({ name }) => JSON.stringify(name)).join(", ");
  const made = kept
    ? "# path is the folder of this run\nlab = nm.Monitor.open(path)"
    : `# federation is the one of this run, whose steps are to be logged again\nlab = nm.Monitor(federation, [${names}])`;
  const beside = isBeside ? "\nlab.compare(other)  # other is the run beside it" : "";
  return `import nbmetrics as nm\n\n${made}${beside}\n${line}\nlab\n`;
}
