/** Other clients of the Dashboard: what can be done to them, and that nothing is shown of the ones before. */
import assert from "node:assert/strict";
import test from "node:test";
import { BoardStore } from "../../nbmetrics/labs/dashboard/view/dashboard_store.js";
import { numbersOf } from "../../nbmetrics/labs/dashboard/view/metric_view.js";
import { mergedName, sameClients, whyNot } from "../../nbmetrics/labs/dashboard/view/regroup.js";

globalThis.requestAnimationFrame = () => 0;
const DROP = [{ do: "drop", clients: ["c"], name: "" }];

test("merged clients are called after the first of them, in no more letters than Python takes", () => {
  assert.equal(mergedName(["a", "b"]), "a + b");
  assert.equal(mergedName(["a", "b", "c", "d"]), "a + b + c + d");
  assert.equal(mergedName(["a", "b", "c", "d", "e"]), "a + b + c + 2 more");
  assert.equal(mergedName(["😀".repeat(200), "b".repeat(100)]), "2 clients");
});

test("what cannot be done to the chosen clients says why", () => {
  const [a, b, c] = [{ name: "a", classes: ["0", "1"] }, { name: "b", classes: ["0"] }, { name: "c" }];
  const can = (chosen, clients) => Object.entries(whyNot(chosen, clients)).filter(([, why]) => !why).map(([what]) => what);
  assert.deepEqual(can([], [a, b, c]), []);
  assert.deepEqual(can([a], [a, b, c]), ["drop", "split", "move"]);
  assert.deepEqual(can([b], [a, b, c]), ["drop"]);
  assert.deepEqual(can([c], [a, b, c]), ["drop"]);
  assert.deepEqual(can([a], [a, c]), ["drop", "split"]);
  assert.deepEqual(can([a, c], [a, b, c]), ["merge", "drop"]);
  assert.deepEqual(can([a, b, c], [a, b, c]), ["merge"]);
});

/** @param {any} state */
function storeOf(state) {
  const held = { history: { past: [], future: [] }, locked: [], result: { rev: 3 }, ...state };
  const model = { get: (name) => held[name], set: (name, value) => (held[name] = value), save_changes() {}, send() {}, on() {}, off() {} };
  return { held, store: new BoardStore(model, undefined, () => ({})) };
}

test("without Python no undo and no preset leads to other clients", () => {
  const [whole, few] = [{ rev: 0, weights: [1, 1, 1], regroup: [] }, { rev: 3, weights: [1, 1], regroup: DROP }];
  const start = { scene: few, board: { regroup: DROP } };
  const history = { past: [whole, { ...few, rev: 2, weights: [1, 2] }], future: [] };
  const { held, store } = storeOf({ ...start, history, saved: "A saved page." });
  store.undo();
  assert.deepEqual(held.scene.weights, [1, 2]);
  store.undo();
  store.open(whole, "presets");
  assert.deepEqual([held.scene.weights, store.notice], [[1, 2], "That changes the clients, which needs Python."]);
  const live = storeOf({ ...start, history });
  live.store.undo();
  live.store.undo();
  assert.deepEqual([live.held.scene.weights, live.store.isAtHand], [[1, 1, 1], false]);
  live.store.edit({ ...live.store.scene, weights: [9, 9, 9] });
  assert.deepEqual(live.held.scene.weights, [1, 1, 1]); // what is not on show is not edited
  assert.ok(live.store.yieldsTo(few) && !live.store.yieldsTo({ ...whole, rev: 9 }));
});

test("an answer about the clients before says nothing of those at hand", () => {
  const facts = { name: "fid", label: "FID", higher: false, best: null, same: false, corrected: false, sure: false };
  const scene = { metric: "fid", weights: [0.5, 0.5], generators: ["g", "h"], regroup: DROP };
  const board = {
    regroup: DROP, clients: [{ name: "a" }, { name: "b" }], metrics: [facts],
    values: { fid: { g: [1, 2], h: [2, 3] } }, centres: { fid: { g: [1, 2], h: [2, 3] } },
  };
  const answer = { weights: [0.5, 0.5], all: { fid: { g: 7, h: 8 } }, all_centres: { fid: { g: 7, h: 8 } } };
  const allOf = (regroup) => numbersOf(scene, { get: (name) => ({ board, draws: {}, result: { ...answer, regroup } })[name] }).metrics.fid.all;
  assert.deepEqual(allOf(DROP), [7, 8]);
  assert.deepEqual(allOf([]), [NaN, NaN]);
  assert.ok(sameClients({}, { regroup: [] }) && !sameClients({}, { regroup: DROP }));
});
