/** The page's sweeps: against the sweeps that tests/labs/playground/test_sweep_page.py has Python compute, and what holds by itself. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { PARAMETERS, rangeOf, readValue, subjectOf, sweepKey, sweepOf, sweptMetric, sweptTo } from "../../nbmetrics/labs/playground/view/sweep.js";
import { numbersOf } from "../../nbmetrics/labs/plane/view/scores.js";

const client = (name, x, weight = 1) => ({ name, x, y: 0, width: 1, height: 1, angle: 0, weight });
const toy = (view, generator = {}) => ({
  rev: 0, preset: "", half: 5, samples: 0, seed: 0, lesson: null,
  view: { metric: "fid", panel: "sweep", sweep: "variance", aligned: false, ...view },
  clients: [client("A", -1), client("B", 1)],
  generators: [{ name: "G", x: 0, y: 0, width: 1.2, height: 1, angle: 0, ...generator }],
});
const swept = (scene, c = 0) => {
  const subject = subjectOf(scene, 0, c);
  return sweepOf(scene, {}, sweptMetric(scene, {}, 0), subject, 0);
};

test("the toy's minima: FID-avg at 1, FID-all at 2, and KID's both at 2", () => {
  const fid = swept(toy({}));
  assert.ok(Math.abs(fid.best.avg.at - 1) < 1e-4 && Math.abs(fid.best.all.at - 2) < 1e-4);
  const kid = swept(toy({ metric: "kid" }));
  assert.ok(Math.abs(kid.best.avg.at - 2) < 1e-4 && Math.abs(kid.best.all.at - 2) < 1e-4);
});

test("without the mean gap KID's curves coincide and FID's do not", () => {
  const kid = swept(toy({ metric: "kid" }));
  assert.ok(Math.abs(kid.constant - 3.875) < 1e-12 && kid.spread < 1e-12);
  assert.ok(swept(toy({})).spread > 0.5);
});

test("a curve that does not move has no best place", () => {
  const { best } = swept(toy({ sweep: "angle" }, { width: 1, height: 1 }));
  assert.equal(best.avg, null);
  assert.ok(swept(toy({ sweep: "x" })).best.avg.at ** 2 < 1e-12);
});

test("the curves are the same wherever the swept value is, and pass through the page's own numbers", () => {
  for (const sweep of Object.keys(PARAMETERS).filter((name) => name !== "psi")) {
    const scene = toy({ sweep }, { angle: 20 });
    const subject = subjectOf(scene, 0, 0);
    const { values, avg, all } = swept(scene);
    for (const k of [7, 30, 55]) {
      const moved = sweptTo(scene, subject, values[k]);
      const { fid } = numbersOf(moved, {}, ["fid"]);
      assert.ok(Math.abs(fid.avg[0] - avg[k]) < 1e-12 && Math.abs(fid.all[0] - all[k]) < 1e-12, sweep);
      assert.equal(sweepKey(moved, "fid", subjectOf(moved, 0, 0), 0), sweepKey(scene, "fid", subject, 0), sweep);
      const other = sweptTo(scene, { ...subject, parameter: "y" === sweep ? "x" : "y", item: scene.generators[0], place: { kind: "generators", index: 0 } }, 1.5);
      assert.notEqual(sweepKey(other, "fid", subjectOf(other, 0, 0), 0), sweepKey(scene, "fid", subject, 0), sweep);
      assert.ok(swept(moved).avg.every((value, j) => Math.abs(value - avg[j]) < 1e-12), sweep);
    }
  }
});

test("what fits: ψ for a truncated generator, a weight for all, else the first that does", () => {
  const truncated = toy({ sweep: "variance" }, { kind: "truncated", psi: 0.5 });
  assert.equal(subjectOf(truncated, 0, 0).parameter, "psi");
  assert.deepEqual(subjectOf(toy({ sweep: "weight" }), 0, 1).place, { kind: "clients", index: 1 });
  assert.equal(subjectOf(toy({ sweep: "psi" }), 0, 0).parameter, "variance");
  const copycat = toy({ sweep: "x" }, { kind: "copycat", of: "A", count: 5 });
  assert.equal(subjectOf(copycat, 0, 0).parameter, "weight");
});

test("ranges depend on the square in view, and a weight's on the others: it can be 0 only beside them", () => {
  const scene = toy({ sweep: "weight" });
  assert.deepEqual(rangeOf(scene, subjectOf(scene, 0, 0)), [0, 4]);
  const alone = { ...scene, clients: [client("A", -1)] };
  const [low] = rangeOf(alone, subjectOf(alone, 0, 0));
  assert.ok(low > 0);
  assert.ok([...swept(alone).avg, ...swept(scene).all].every(Number.isFinite));
});

test("drawn points: the curve passes through the page's numbers, also after the clients moved", () => {
  const scene = { ...toy({}), samples: 50, seed: 3 };
  for (const dx of [0, 0.3]) {
    const moved = { ...scene, clients: [client("A", -1 - dx), client("B", 1)] };
    const { values, avg } = swept(moved);
    const { fid } = numbersOf(sweptTo(moved, subjectOf(moved, 0, 0), values[20]), {}, ["fid"]);
    assert.ok(Math.abs(fid.avg[0] - avg[20]) < 1e-9);
  }
});

test("a metric that only Python has is swept as FID", () => {
  assert.equal(sweptMetric(toy({ metric: "fld" }), {}, 0), "fid");
  assert.equal(sweptMetric(toy({ metric: "cfid" }), {}, 0), "cfid");
});

test("values as they are read", () => {
  const variance = subjectOf(toy({}), 0, 0);
  assert.deepEqual([1, -0.5, -0.001].map((value) => readValue(value, variance)), ["1.00", "−0.50", "0.00"]);
  assert.equal(readValue(-29.7, subjectOf(toy({ sweep: "angle" }), 0, 0)), "−30°");
  const tiny = { ...toy({}), half: 0.05 };
  assert.equal(readValue(0.000123, subjectOf(tiny, 0, 0)), "0.00012");
});

const sweeps = process.env.NBMETRICS_SWEEPS;

test("sweeps that Python computed", { skip: sweeps ? false : "run by tests/labs/playground/test_sweep_page.py, which writes them" }, () => {
  let compared = 0;
  for (const { scene, metric, at, expected } of JSON.parse(readFileSync(sweeps, "utf-8"))) {
    const subject = subjectOf(scene, 0, 0);
    const found = sweepOf(scene, {}, metric, subject, 0);
    assert.ok(Math.abs(found.values[at[0]] - at[1]) < 1e-9, `${subject.parameter} ${found.values[at[0]]} ${at[1]}`);
    for (const [curve, value] of Object.entries(expected)) {
      const own = found[curve][at[0]];
      assert.ok(Math.abs(own - value) <= 1e-9 * Math.max(1, Math.abs(value)), `${metric} ${curve} at ${subject.parameter} ${at}: ${own} for ${value}`);
      compared++;
    }
  }
  console.log(`compared ${compared} numbers`);
});
