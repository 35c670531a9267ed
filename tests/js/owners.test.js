/** Generators with an ellipse for each client: what holds of their scores, edits that keep them whole, sweeps over a weight. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { distributionsOf, phiOf } from "../../nbmetrics/labs/plane/view/distributions.js";
import { itemAt, shownPlaces, whyItemsRefused, whyNotRemovable, withAdded, withItem, withName, withRemoved, withSwapped } from "../../nbmetrics/labs/plane/view/edits.js";
import { numbersOf } from "../../nbmetrics/labs/plane/view/scores.js";
import { sameItems } from "../../nbmetrics/labs/plane/view/store.js";
import { noise } from "../../nbmetrics/labs/toolkit/view/random.js";
import { swappedPair } from "../../nbmetrics/labs/playground/view/owners.js";
import { refusal } from "../../nbmetrics/labs/playground/view/refusal.js";
import { subjectOf, sweepableOf, sweepOf } from "../../nbmetrics/labs/playground/view/sweep.js";

const draws = noise(5, 0, 5000);
let used = 0;
const random = () => draws[3 * used++ + 2];
const item = (name, more = {}) => ({
  name, x: 6 * random() - 3, y: 6 * random() - 3, width: 0.2 + 2 * random(), height: 0.2 + random(), angle: 180 * random(), ...more,
});
const owned = (count, weight = () => 0.1 + random(), more = {}) => {
  const clients = Array.from({ length: count }, (_, i) => item(`C${i}`, { weight: weight() }));
  const parts = clients.map(({ name }) => item(name)).reverse();
  return { rev: 0, preset: "", half: 5, samples: 0, seed: 2, lesson: null, clients, generators: [{ name: "G", kind: "by_client", parts }, item("One")], ...more };
};
const near = (a, b, size = 1) => assert.ok(Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(size)), `${a} for ${b}`);

test("KID intra − all = Σ λᵢ ‖δᵢ − Σ λⱼ δⱼ‖², and FID intra is never below FID all", () => {
  for (let k = 0; k < 20; k++) {
    const scene = owned(1 + (k % 4));
    const { fid, kid } = numbersOf(scene);
    const { clients, generators, shares } = distributionsOf(scene);
    const deltas = clients.map((client, i) => phiOf(client).map((value, t) => value - phiOf(generators[0].own[i])[t]));
    const middle = deltas[0].map((_, t) => deltas.reduce((sum, delta, i) => sum + shares[i] * delta[t], 0));
    const spread = deltas.reduce((sum, delta, i) => sum + shares[i] * delta.reduce((s, value, t) => s + (value - middle[t]) ** 2, 0), 0);
    near(kid.intra[0] - kid.all[0], spread, kid.terms[0]);
    assert.ok(fid.intra[0] >= fid.all[0] - 1e-9 * fid.terms[0]);
    near(fid.intra[1], fid.avg[1]);
    assert.deepEqual(fid.own[1], fid.byClient[1]);
  }
});

test("a swap among clients of one weight leaves avg and all, of points too; scenes without such generators have no intra", () => {
  for (const samples of [0, 30]) {
    const scene = owned(3, () => 1, { samples });
    const [before, after] = [scene, withSwapped(scene, 0, [0, 2])].map((one) => numbersOf(one));
    for (const metric of ["fid", "kid"]) {
      for (const part of ["avg", "all"]) near(after[metric][part][0], before[metric][part][0], before[metric].terms[0]);
      assert.ok(Math.abs(after[metric].intra[0] - before[metric].intra[0]) > 1e-3);
    }
  }
  const plain = owned(2);
  assert.equal("intra" in numbersOf({ ...plain, generators: [plain.generators[1]] }).fid, false);
});

test("edits keep an ellipse for each client, under its name", () => {
  const scene = owned(3);
  const owners = ({ generators }) => generators[0].parts.map((part) => part.name).sort().join();
  const names = ({ clients }) => clients.map((client) => client.name).sort().join();
  const added = withAdded(scene, "clients");
  const made = withAdded(added, "generators", "by_client");
  const renamed = withName(made, { kind: "clients", index: 1 }, "Dogs");
  const removed = withRemoved(renamed, { kind: "clients", index: 0 });
  for (const one of [added, made, renamed, removed]) {
    assert.equal(owners(one), names(one));
    assert.equal(whyItemsRefused(one, {}), "");
    assert.ok(Number.isFinite(numbersOf(one).fid.intra[0]));
  }
  assert.equal(made.generators[2].parts.length, 4);
  assert.match(whyItemsRefused({ ...scene, clients: scene.clients.slice(1) }, {}), /G has not one ellipse for each client/);
  assert.equal(whyNotRemovable(scene, { kind: "generators", index: 0, part: 1 }), "");
  assert.equal(sameItems(scene, added), false);
});

test("an ellipse is an item of its own, called after both, and moves without its name", () => {
  const scene = owned(2);
  const place = { kind: "generators", index: 0, part: 1 };
  assert.deepEqual(shownPlaces(scene).map(({ kind, index, part }) => `${kind[0]}${index}${part ?? ""}`), ["c0", "c1", "g00", "g01", "g1"]);
  const part = itemAt(scene, place);
  assert.equal(part.name, "G for C0");
  assert.equal(itemAt(scene, place), part);
  const moved = withItem(scene, place, { ...part, x: 9 });
  assert.deepEqual(moved.generators[0].parts.map(({ name, x }) => [name, x === 9]), [["C1", false], ["C0", true]]);
  assert.deepEqual(scene.generators[0].parts[1].x === 9, false);
  assert.equal(itemAt(withName(scene, { kind: "generators", index: 0 }, "H"), place).name, "H for C0");
});

test("the button swaps the chosen ellipse with the next, else the first two", () => {
  const { parts } = owned(3).generators[0];
  assert.deepEqual([undefined, 0, 1, 2].map((chosen) => swappedPair(parts, chosen)), [[0, 1], [0, 1], [1, 2], [2, 0]]);
});

test("a metric without a score of mixtures refuses such a scene", () => {
  const model = { get: (key) => (key === "scene" ? owned(2) : undefined) };
  const view = (metric) => ({ metric, panel: "clients", sweep: "variance", aligned: false });
  assert.match(refusal({ ...owned(2), view: view("cfid") }, model), /CFID has no avg and all of an ellipse for each client/);
  for (const metric of ["fid", "kid", "kid_rbf"]) assert.equal(refusal({ ...owned(2), view: view(metric) }, model), "");
});

test("no ellipse is swept, and the share of each follows its client's weight", () => {
  assert.deepEqual(sweepableOf(owned(2).generators[0]), []);
  const path = process.env.NBMETRICS_SWEEPS;
  const { cases } = path ? JSON.parse(readFileSync(path, "utf-8")) : { cases: [] };
  for (const { scene, metric, at: [k, value], expected } of cases) {
    const subject = subjectOf(scene, 0, 0);
    assert.equal(subject.parameter, "weight");
    const { values, ...curves } = sweepOf(scene, {}, metric, subject, 0);
    near(values[k], value);
    for (const part of ["avg", "all"]) near(curves[part][k], expected[part], curves.size);
  }
});
