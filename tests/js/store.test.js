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

const START = { scene: { rev: 0, clients: [], generators: [] }, result: { rev: 0 } };

test("a lab whose kernel is gone is lost after an edit, one whose kernel is busy only waits", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const dead = () => {
    throw new Error("Cannot send");
  };
  for (const [send, isLost] of [[dead, true], [() => {}, false]]) {
    const store = new Store({ ...modelOf(START), send }, undefined, () => ({}));
    store.edit({ ...store.scene, half: 2 });
    assert.deepEqual([store.waiting, store.lost], [false, false]);
    context.mock.timers.tick(1500);
    assert.deepEqual([store.waiting, store.lost], [true, isLost]);
  }
});

test("a lab that its notebook remembers and its kernel does not is lost, until the kernel has it", () => {
  const heard = [];
  const layout = { comm_live: false, on: (_name, call) => heard.push(call), off() {} };
  const store = new Store(modelOf({ ...START, layout }), undefined, () => ({}));
  assert.deepEqual([store.waiting, store.lost], [true, true]);
  layout.comm_live = true;
  for (const call of heard) call();
  assert.deepEqual([store.waiting, store.lost], [false, false]);
});
