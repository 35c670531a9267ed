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
  const metrics = board.metrics.map(({ name }) => JSON.stringify(name)).join(", ");
  return `import nbmetrics as nm

# federation and generators are those that this Dashboard was made of
lab = nm.Dashboard(federation, generators, [${metrics}])
lab.scene = ${JSON.stringify(shown, null, 4)}
lab
`;
}
