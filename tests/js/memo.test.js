/** MemorizationLab's page without a browser; the vectors are written by tests/labs/memorization/test_page_maths.py. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import declaration from "../../nbmetrics/labs/memorization/scene.json" with { type: "json" };
import { approach, shade, tint } from "../../nbmetrics/labs/memorization/view/canvas_layers.js";
import { CARD_NAMES, SCALES, departure, firstNotice, fitsBase, generatedOf, nearestPoint, orderOf, roundHalfEven, settingsKey, squeeze, sweepKey, templateOf, verdictOf } from "../../nbmetrics/labs/memorization/view/maths.js";
import { headlineWords } from "../../nbmetrics/labs/memorization/view/sentences.js";
import { codeOf, declare } from "../../nbmetrics/labs/toolkit/view/schema.js";
import { briefText } from "../../nbmetrics/labs/toolkit/view/numbers.js";

const memoCode = (given, hasItems) => codeOf(declare(declaration), given, {}, templateOf(given, hasItems));
const scene = {
  rev: 3, preset: "Honest", data: "moons", copied: 0, jitter: 0, bandwidth: 0, spread: 1, points: 4, seed: 0,
  view: { panel: "cards", sweep: "copied", sort: "memorization" }, selected: null, lesson: null,
};
const base = {
  key: "moons 4 0", projected: false,
  train: [[0, 0], [1, 0], [2, 0], [3, 0]], test: [], fresh: [[0, 1], [1, 1], [2, 1], [3, 1]],
  kde: [0, 0, 1, 1], kde_noise: [[1, 1], [1, 1], [1, 1], [1, 1]], partner: [3, 2, 1, 0], noise: [[0, 1], [0, 1], [0, 1], [0, 1]], rank: [2, 0, 3, 1],
};

test("half a point rounds to the even count, as in Python", () => {
  assert.deepEqual([0.5, 1.5, 2.5, 2.4, 2.6, 3].map(roundHalfEven), [0, 2, 2, 2, 3, 3]);
});

test("copies take over by rank, honest points come fresh or around train, and all shrink about their mean", () => {
  const at = (parts) => [...generatedOf({ ...scene, ...parts }, base).points];
  assert.deepEqual(at({}), base.fresh.flat());
  assert.deepEqual(at({ copied: 0.25 }), [0, 1, 2, 0, 2, 1, 3, 1]);
  assert.deepEqual(at({ copied: 0.5, jitter: 0.1 }), [0, 1, 2, 0.1, 2, 1, 0, 0.1]);
  assert.deepEqual(at({ bandwidth: 2 }), [2, 2, 2, 2, 3, 2, 3, 2]);
  assert.deepEqual(at({ spread: 0.5 }), [0.75, 1, 1.25, 1, 1.75, 1, 2.25, 1]);
  assert.deepEqual([...generatedOf({ ...scene, copied: 0.5 }, base).isCopy], [0, 1, 0, 1]);
  const own = { ...base, kde: [], kde_noise: [], partner: [], noise: [], rank: [] };
  assert.deepEqual([...generatedOf({ ...scene, data: "own" }, own).points], base.fresh.flat());
});

test("a base fits its data, points and seed, and one's own rows always", () => {
  assert.ok(fitsBase(base, scene));
  assert.ok(!fitsBase(base, { ...scene, seed: 1 }));
  assert.ok(fitsBase(base, { ...scene, data: "own", seed: 1 }));
});

test("looking at something else leaves the numbers as they are, moving a slider does not", () => {
  assert.equal(settingsKey(scene), settingsKey({ ...scene, rev: 9, selected: 2, preset: "x", lesson: {}, view: {} }));
  for (const name of ["copied", "jitter", "bandwidth", "spread", "points", "seed", "data"]) {
    assert.notEqual(settingsKey(scene), settingsKey({ ...scene, [name]: 0.3 }), name);
  }
  assert.equal(sweepKey(scene), sweepKey({ ...scene, copied: 0.7 }));
  assert.notEqual(sweepKey(scene), sweepKey({ ...scene, jitter: 0.7 }));
});

test("every position of a slider has a value that leads back to it, and the left end is 0", () => {
  for (const [name, scale] of Object.entries(SCALES)) {
    for (let position = 0; position <= scale.steps; position++) {
      assert.equal(Math.round(scale.position(scale.value(position))), position, `${name} ${position}`);
    }
  }
  assert.deepEqual([SCALES.jitter, SCALES.bandwidth].map((s) => [s.value(0), s.value(1), s.value(s.steps)]), [[0, 1e-4, 1], [0, 1e-4, 10]]);
});

test("a card notices beyond 3 honest standard deviations, on the bad side only", () => {
  const [honest, noise] = [{ fld: 1, fid_train: 1, c_t: 0, recall: 0.9, precision: null }, { fld: 2, fid_train: 0.1, c_t: 1, recall: 0.01, precision: 1 }];
  const said = (name, value) => verdictOf(name, departure(name, value, honest, noise));
  assert.equal(said("fld", 7.1), "notices");
  assert.equal(said("fld", 6.9), "quiet");
  assert.equal(said("fid_train", 0.5), "fooled");
  assert.equal(said("c_t", -3.1), "notices");
  assert.equal(said("c_t", 5), "above");
  assert.equal(said("recall", 0.8), "notices");
  assert.equal(said("precision", 0.8), "unknown");
  assert.equal(departure("fld", 3, honest, null), null);
  assert.equal(departure("fld", null, honest, noise), null);
});

test("the scale of departures keeps signs and order, and the first notice is the first value beyond the band", () => {
  const levels = [-1e4, -3, -0.1, 0, 0.1, 3, 1e16].map(squeeze);
  assert.deepEqual(levels, [...levels].sort((a, b) => a - b));
  assert.equal(firstNotice([0, 0.1, 0.2], [0, null, 3.5]), 0.2);
  assert.equal(firstNotice([0, 0.1], [0, -9]), null);
});

test("the nearest point, within reach, and ties in order", () => {
  const points = Float64Array.from([0, 0, 1, 0, 5, 5]);
  assert.equal(nearestPoint(points, 0.9, 0.1, 1), 1);
  assert.equal(nearestPoint(points, 3, 3, 1), -1);
  assert.equal(nearestPoint(points, 0.9, 0.1, 9, (i) => i !== 1), 0, "what is not drawn is not there");
  assert.deepEqual(orderOf([2, 5, 5, 1]), [1, 2, 0, 3]);
  assert.deepEqual(orderOf([2, 5, 5, 1], true), [3, 0, 1, 2]);
});

test("the headline names the share and the metrics that notice it", () => {
  const said = (noticing, parts = {}, unknown = []) =>
    headlineWords({
      answer: { rev: 1 }, about: new Map([[1, { ...scene, ...parts }]]), isOwn: false, noise: {},
      departureOf: (name) => (unknown.includes(name) ? null : noticing.includes(name) ? 9 : 0), isCurrent: true,
    });
  assert.equal(said([]), "Nothing copied: none of 9 metrics notices.");
  assert.equal(said(["fld_gap"], { copied: 0.3 }), "30\u00a0% copied: FLD gap notices, the other 8 do not.");
  assert.equal(said(["fld", "c_t"], { copied: 0.3, jitter: 0.01 }), "30\u00a0% copied, jitter of copies 0.01: FLD and C_T notice, the other 7 do not.");
  assert.equal(said(["fld"], {}, ["c_t", "recall"]), "Nothing copied: FLD notices, the other 6 do not; 2 cannot tell.");
  assert.equal(said([], {}, ["c_t"]), "Nothing copied: none of 8 metrics notices; 1 cannot tell.");
  assert.equal(said([], {}, CARD_NAMES), "Nothing copied: no metric can tell.");
  const five = ["fld", "fld_gap", "c_t", "auth_pct", "recall"];
  assert.equal(said(five, { spread: 0.2 }), "Nothing copied, spread × 0.2: FLD, FLD gap, C_T and 2 more notice, the other 4 do not.");
  assert.match(headlineWords({ answer: { rev: 1 }, about: new Map(), scene, isOwn: true, noise: null }), /^Your generator: Python is redrawing honest points/);
});

test("the shading holds all of the mass, of bumps wide and collapsed", () => {
  const grid = { left: 0, top: 10, cell: 0.1, columns: 100, rows: 100 };
  const out = new Float32Array(10000);
  for (const sigma of [0.5, 0.05, 1e-9]) {
    shade(Float64Array.from([3, 4, 6, 7]), new Float64Array(4).fill(sigma), grid, out);
    const mass = out.reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(mass - 1) < 0.02, `σ ${sigma}: ${mass}`);
    const top = out.indexOf(Math.max(...out));
    assert.ok([[30, 60], [60, 30]].some(([x, y]) => Math.abs((top % 100) - x) <= 1 && Math.abs(Math.floor(top / 100) - y) <= 1));
  }
  shade(Float64Array.from([-50, 4]), Float64Array.from([1, 1]), grid, out);
  assert.ok(out.every((value) => value === 0));
  const pixels = new Uint8ClampedArray(8);
  tint(Float32Array.from([0, 1]), 1e-3, [1, 2, 3], 0.5, pixels);
  assert.deepEqual([...pixels], [1, 2, 3, 0, 1, 2, 3, 128]);
});

test("bumps reach their new size, in a few steps or at once", () => {
  const [shown, wanted] = [Float64Array.from([0.1, 1e-9]), Float64Array.from([1e-9, 0.1])];
  let steps = 1;
  while (!approach(shown, wanted, 0.2)) steps++;
  assert.ok(steps > 5 && steps < 80, `${steps}`);
  assert.deepEqual([...shown], [...wanted]);
  const quick = Float64Array.from([1, 1]);
  assert.ok(approach(quick, wanted, 1));
  assert.deepEqual([...quick], [...wanted]);
});

test("numbers as read", () => {
  assert.deepEqual([0, 0.046, -1.5, 0.00021, 1e-4, 3.053e16].map(briefText), ["0", "0.046", "−1.5", "2.1·10⁻⁴", "10⁻⁴", "3.1·10¹⁶"]);
});

const vectors = process.env.NBMETRICS_MEMO;

test("Python's points and code", { skip: vectors ? false : "run by tests/labs/memorization/test_page_maths.py, which writes the vectors" }, () => {
  const { bases, cases, own } = JSON.parse(readFileSync(vectors, "utf-8"));
  let worst = 0;
  for (const { at, scene: given, points, copies, code } of cases) {
    const made = generatedOf(given, bases[at]);
    assert.deepEqual([...made.isCopy].flatMap((flag, i) => (flag ? [i] : [])), copies);
    const reach = Math.max(1, ...points.flat().map(Math.abs));
    points.flat().forEach((value, k) => (worst = Math.max(worst, Math.abs(made.points[k] - value) / reach)));
    assert.equal(memoCode(given, false), code);
  }
  for (const { scene: given, items, code } of own) assert.equal(memoCode(given, items), code);
  assert.ok(worst < 1e-12, `${worst}`);
  console.log(`compared ${cases.length} scenes on ${bases.length} bases, worst ${worst}`);
});
