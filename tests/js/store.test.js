/** What the store of a page does with revisions. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Store } from "../../nbmetrics/labs/toolkit/view/store.js";

globalThis.requestAnimationFrame = () => 0;

/** A model that keeps what is set. @param {object} state */
function modelOf(state) {
  const held = { history: { past: [], future: [] }, locked: [], ...state };
  return { held, get: (name) => held[name], set: (name, value) => (held[name] = value), save_changes() {}, on() {}, off() {} };
}

test("an edit comes after what Python answered to a page that was closed in the middle of a drag", () => {
  const model = modelOf({ scene: { rev: 5, clients: [], generators: [] }, result: { rev: 9 }, saved: "yes" });
  const store = new Store(model, undefined, () => ({}));
  store.edit({ ...store.scene, half: 2 });
  assert.equal(model.held.scene.rev, 10);
  store.undo();
  assert.equal(model.held.scene.rev, 11);
});
