/** What the PrivacyLab says of its study: true also where less noise keeps the first place less often, and of any metrics. */
import assert from "node:assert/strict";
import test from "node:test";
import { numbersOf } from "../../nbmetrics/labs/privacy/view/numbers.js";
import { bandWords, conventionWords, survivalWords } from "../../nbmetrics/labs/privacy/view/words.js";

const RUNS = 20;

/** A study of two generators by one metric, the first of which stays first in so many runs at each ε. @param {number[]} kept */
function studyOf(kept, name = "fid") {
  const runs = (/** @type {number} */ count) =>
    Array.from({ length: RUNS }, (_, r) => [[0, 1].map(() => (r < count ? [1, 2] : [2, 1]))]);
  const both = (/** @type {number} */ value) => [[value, value]];
  return {
    ...{ of: "own", about: "", code: "", delta: 1e-5, clip: 2, rows: [100, 100], clients: 3 },
    epsilons: kept.map((_, e) => 10 ** (e - 1)),
    multipliers: kept.map(() => 1),
    metrics: [{ name, label: name.toUpperCase() }],
    generators: ["wide", "narrow"],
    exact: [[0, 1].map(() => [1, 2])],
    clipped: [[0, 1].map(() => [1, 2])],
    drawn: kept.map(runs),
    kept: kept.map(both),
    low: kept.map(() => both(0)),
    high: kept.map(() => both(1)),
  };
}

/** @param {number[]} kept */
function said(kept) {
  const study = /** @type {any} */ (studyOf(kept));
  const scene = { rev: 0, preset: "", of: "own", epsilon: 1, metric: "fid", aggregate: "all", run: 1 };
  return survivalWords(study, numbersOf(scene, { get: () => study }));
}

test("the band says what it is, and whose", () => {
  const study = /** @type {any} */ (studyOf([20, 20]));
  const scene = { rev: 0, preset: "", of: "own", epsilon: 1, metric: "fid", aggregate: "avg", run: 1 };
  assert.match(bandWords(study, scene), /^Band: the chance that the best by avg stays first, a 95\s% interval of the 20 runs at each ε /);
});

test("from which ε on the first place is kept", () => {
  assert.match(said([0, 19, 20]), /^From ε = 1 on it stays first in at least 19 of the 20 runs\./);
  assert.match(said([20, 3, 19]), /^From ε = 10 on /);
});

test("where the least noise does not keep it, an ε at which it was kept is not denied", () => {
  const words = said([20, 6, 0]);
  assert.match(words, /^Up to ε = 10 there is none from which on it stays first in at least 19 of the 20 runs\./);
});

test("only FID is clipped, and only of FID is it said", () => {
  const words = (/** @type {string} */ metric) =>
    conventionWords(/** @type {any} */ (studyOf([20], metric)), /** @type {any} */ ({ metric }));
  assert.match(words("fid"), /one row replaced; for FID rows are clipped to a distance of 2 from the centre\./);
  assert.match(words("kid"), /one row replaced\. All generators/);
  assert.doesNotMatch(words("kid"), /clipped|FID/);
});
