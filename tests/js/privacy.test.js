/** What the PrivacyLab says of its study: true also where less noise keeps the first place less often, and of any metrics. */
import assert from "node:assert/strict";
import test from "node:test";
import { bandWords, conventionWords, hatchWords, headlineWords, numbersOf, survivalWords } from "../../nbmetrics/labs/privacy/view/numbers.js";

const RUNS = 20;

/** What is said of two generators at an ε. @param {number} kept @param {number} opposite */
function pairOf(kept, opposite) {
  const ends = { low: 0, high: 1, reversed_low: 0, reversed_high: 1 };
  const survives = Math.min(kept, opposite) >= 0.95 * RUNS;
  return { best: 0, rival: 1, kept, kept_if_reversed: opposite, ...ends, apart: "0.16", moved: "55", survives };
}

/**
 * A study of two generators by one metric: in how many runs the first stays first at each ε, and would come second if it
 * were the worse one.
 * @param {number[]} kept @param {number[]} [opposite]
 */
function studyOf(kept, opposite = kept.map(() => RUNS), name = "fid") {
  const runs = (/** @type {number} */ count) =>
    Array.from({ length: RUNS }, (_, r) => [[0, 1].map(() => (r < count ? [1, 2] : [2, 1]))]);
  return {
    ...{ of: "own", about: "", code: "", delta: 1e-5, clip: 2, rows: [100, 100], clients: 3 },
    epsilons: kept.map((_, e) => 10 ** (e - 1)),
    multipliers: kept.map(() => 1),
    metrics: [{ name, label: name.toUpperCase() }],
    generators: ["wide", "narrow"],
    exact: [[0, 1].map(() => [1, 2])],
    clipped: [[0, 1].map(() => [1, 2])],
    clips: [[false, false]],
    drawn: kept.map(runs),
    pairs: kept.map((count, e) => [[0, 1].map(() => pairOf(count, opposite[e]))]),
  };
}

const SCENE = { rev: 0, preset: "", of: "own", epsilon: 1, metric: "fid", aggregate: "all", run: 1 };

/** @param {any} study */
const numbersAt = (study) => numbersOf(SCENE, { get: () => study });

/** @param {number[]} kept @param {number[]} [opposite] */
function said(kept, opposite) {
  const study = /** @type {any} */ (studyOf(kept, opposite));
  return survivalWords(study, numbersAt(study));
}

/** @param {number[]} kept @param {number[]} [opposite] @param {boolean} [clips] */
function headline(kept, opposite, clips = false) {
  const study = { .../** @type {any} */ (studyOf(kept, opposite)), clips: [[clips, clips]] };
  return headlineWords(numbersAt(study));
}

/** The headline where the noise is so many times the score. @param {number | null} noise */
const sized = (noise) => headlineWords({ ...numbersAt(/** @type {any} */ (studyOf([19, 19]))), noise });

test("the band says what it is, and whose", () => {
  const study = /** @type {any} */ (studyOf([20, 20]));
  assert.match(
    bandWords(study, { ...SCENE, aggregate: "avg" }),
    /^Band: the chance that the best by avg stays first, a 95\s% interval from the 20 runs at each ε /,
  );
});

test("what is hatched says whose first place noise decides", () => {
  assert.match(
    hatchWords({ ...SCENE, aggregate: "avg" }),
    /^Hatched, open dots: the noise decides who is first by avg/,
  );
});

test("from which ε on the order survives", () => {
  assert.match(
    said([0, 19, 20]),
    /^From ε = 1 on, the order survives: at least 19 of the 20 runs show it, and as many /,
  );
  assert.match(said([20, 3, 19]), /^From ε = 10 on, /);
});

test("an order that noise makes does not survive, though the best is first in every run", () => {
  assert.match(said([20, 20, 20], [0, 0, 20]), /^From ε = 10 on, /);
  const words = said([20, 20, 20], [0, 0, 18]);
  assert.match(words, /^Up to ε = 10 the noise decides: the order survives at none of these ε\./);
  assert.match(
    words,
    / wide stays first in 20 of 20 runs \(.*\); if narrow were the better one by as much, it would be ahead in 0 \(/,
  );
});

test("where the least noise does not keep it, an ε at which it was kept is not denied", () => {
  assert.match(said([20, 6, 0]), /^Up to ε = 10 the noise decides: the order survives at none of these ε\./);
});

test("the headline says how large the noise is, and whether it decides who is first", () => {
  assert.equal(headline([20, 20], [0, 0]), "At ε = 1 the noise is 0\u00a0% of the score, and decides who is first.");
  assert.match(headline([20, 20], [0, 0], true), /, and with clipping it decides who is first\.$/);
  assert.match(headline([19, 19]), /; the best stays first in 19 of 20 runs\.$/);
  assert.match(sized(24.6), /^At ε = 1 the noise is 25 times the score;/);
  assert.match(sized(1.25), /the noise is 1\.[23] times the score;/);
  assert.match(sized(0.456), /the noise is 46\u00a0% of the score;/);
  assert.match(sized(null), /the noise is infinitely many times the score;/);
});

test("only FID is clipped, and only of FID is it said", () => {
  const words = (/** @type {string} */ metric) =>
    conventionWords(/** @type {any} */ (studyOf([20], [20], metric)), /** @type {any} */ ({ metric }));
  assert.match(words("fid"), /one row replaced; for FID rows are clipped to a distance of 2 from the centre\./);
  assert.match(words("kid"), /one row replaced\. All generators/);
  assert.doesNotMatch(words("kid"), /clipped|FID/);
});
