/** When a notebook is scrolled to a lab that a cell has just shown, and by how much. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { wasJustRun, wayIntoView } from "../../nbmetrics/labs/toolkit/view/keep_in_view.js";

const VIEW = { top: 100, bottom: 700 };

test("a lab that is seen, and one that is elsewhere, stays where it is", () => {
  for (const [top, bottom] of [[100, 1500], [400, 1500], [500, 650], [-2000, 50], [750, 1500]])
    assert.equal(wayIntoView(VIEW, { top, bottom }), 0, `${top} to ${bottom}`);
});

test("a lab that was pushed up, or is seen in part, comes into the view as far as it fits", () => {
  for (const [top, bottom] of [[-500, 300], [401, 1500], [401, 801], [60, 500]]) {
    const way = wayIntoView(VIEW, { top, bottom });
    const [first, last] = [top - way, bottom - way];
    assert.ok(first >= VIEW.top && Math.min(last, VIEW.bottom) - first >= Math.min(300, last - first));
    assert.ok(last <= VIEW.bottom || first === VIEW.top + 8);
  }
});

/** A model with a line to Python, or without one. @param {object} state */
function modelOf(state) {
  const model = { ...state, saved: 0, get: (name) => model[name], save_changes: () => (model.saved += 1) };
  model.set = (name, value) => (model[name] = value);
  return model;
}

/** Whether somebody has clicked or pressed a key in the page. @param {boolean} hasBeenActive */
const touched = (hasBeenActive) =>
  Object.defineProperty(globalThis, "navigator", { value: { userActivation: { hasBeenActive } }, configurable: true });

test("a page that shows a lab before anybody has touched it has run nothing for a user", () => {
  touched(false);
  assert.equal(wasJustRun(modelOf({ is_new: true, layout: { comm_live: true } })), false);
});

test("a run is told once, and neither a lab that was shown before nor one without Python was just run", () => {
  touched(true);
  const model = modelOf({ is_new: true, layout: { comm_live: true } });
  assert.deepEqual([wasJustRun(model), model.is_new, model.saved], [true, false, 1]);
  assert.deepEqual([wasJustRun(model), model.saved], [false, 1]);
  for (const state of [{ is_new: true, layout: { comm_live: false } }, { is_new: true }, { layout: { comm_live: true } }])
    assert.equal(wasJustRun(modelOf(state)), false);
});
