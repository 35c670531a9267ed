/**
 * Twin: labs/dashboard/scene.py · held by: tests/labs/dashboard/test_code_page.py
 *
 * Python that shows a scene again. No DOM.
 *
 * @import { Board, Scene } from "./types.js"
 */

/** @param {Scene} scene @param {Board} board */
export function dashboardCode(scene, board) {
  const { rev: _, ...shown } = scene;
  return codeOf(board, `lab.scene = ${JSON.stringify(shown, null, 4)}`);
}

/** Python that opens a share string. @param {string} text @param {Board} board */
export function openingCode(text, board) {
  return codeOf(board, `lab.from_share("${text}")`);
}

/** @param {Board} board @param {string} line what is done with the Dashboard of the same data */
function codeOf({ metrics }, line) {
  return `import nbmetrics as nm\n\n${metrics[0].pooled === false ? ofTable(metrics[0]) : ofRows(metrics)}\n${line}\nlab\n`;
}

/** @param {Board["metrics"]} metrics */
function ofRows(metrics) {
  const names = metrics.map(({ name }) => JSON.stringify(name)).join(", ");
  return `# federation and generators are those that this Dashboard was made of
lab = nm.Dashboard(federation, generators, [${names}])`;
}

/** @param {Board["metrics"][0]} metric */
function ofTable({ label, higher }) {
  const direction = higher ? "True" : "False";
  return `# table is the one that this Dashboard was made of
lab = nm.Dashboard.from_table(table, label=${JSON.stringify(label)}, higher_is_better=${direction})`;
}
