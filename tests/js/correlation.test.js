/** The CorrelationLab's closed forms; the vectors are written by tests/labs/correlation/test_correlation.py from Python's metrics. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { SCORES, correlationNear, highestOf, levelLine, mirror, normals, regionWithin, scaleAt, scoresOf, withParts } from "../../nbmetrics/labs/correlation/view/maths.js";
import { codeOf, declare } from "../../nbmetrics/labs/toolkit/view/schema.js";
import declaration from "../../nbmetrics/labs/correlation/scene.json" with { type: "json" };
import { numeral } from "../../nbmetrics/labs/toolkit/view/numbers.js";
import { QUESTIONS, isAnswered, isAway, replyOf, veiledIn, withAnswer, withLastQuestion, withQuestion } from "../../nbmetrics/labs/correlation/view/questions.js";
import { headlineWords } from "../../nbmetrics/labs/correlation/view/index.js";
import { FOLLOWED, NOISE, POINT_COUNT, XS, answersOf } from "../../nbmetrics/labs/correlation/view/clouds.js";

const near = (a, b, allowed = 1e-9) => assert.ok(Math.abs(a - b) <= allowed, `${a} for ${b}`);

test("the wrong sign: 0, 1.6, 2.56, 2.56", () => {
  const scores = scoresOf({ rho: 0.8, rho_hat: -0.8, scale: 1 });
  SCORES.forEach((score, k) => near(scores[score], [0, 1.6, 2.56, 2.56][k], 1e-12));
});

test("a level line is where the score has that value, whatever the score and the scale", () => {
  let points = 0;
  for (const score of ["rfid", "cfid", "squared_difference"]) {
    for (const scale of [0.05, 0.3, 1, 4, 10]) {
      for (const share of [0.001, 0.1, 0.5, 0.9, 0.999]) {
        const level = share * highestOf(score, scale);
        const line = levelLine(score, level, scale);
        for (const [rho, rhoHat] of [...line, ...mirror(line)]) {
          near(scoresOf({ rho, rho_hat: rhoHat, scale })[score], level, 1e-9);
          points++;
        }
        assert.ok(line.every(([rho, rhoHat]) => rho > rhoHat));
      }
    }
  }
  assert.equal(points, 25 * (2 * 98 + 4));
});

test("no line where a score never gets, and its highest value is at (1, −1)", () => {
  for (const scale of [0.01, 0.5, 1, 10]) {
    for (const score of SCORES) {
      const highest = highestOf(score, scale);
      near(scoresOf({ rho: 1, rho_hat: -1, scale })[score], highest, 1e-12);
      assert.equal(levelLine(score, highest + 1e-9, scale), null);
    }
  }
});

test("the region within a line holds the diagonal and has the line as its edge", () => {
  const line = levelLine("cfid", 0.5, 1);
  const region = regionWithin(line);
  assert.equal(region.length, 2 * line.length + 2);
  assert.ok(region.every(([rho, rhoHat]) => scoresOf({ rho, rho_hat: rhoHat, scale: 1 }).cfid <= 0.5 + 1e-12));
});

test("the noise is standard normal, is the same each time, and differs between seeds", () => {
  const many = normals(20000, 5);
  const mean = many.reduce((a, b) => a + b, 0) / many.length;
  near(mean, 0, 0.03);
  near(many.reduce((a, b) => a + (b - mean) ** 2, 0) / many.length, 1, 0.04);
  near(many.filter((z) => Math.abs(z) < 1).length / many.length, 0.6827, 0.015);
  assert.deepEqual(normals(50, 5), many.slice(0, 50));
  assert.notDeepEqual(normals(50, 6), many.slice(0, 50));
  assert.ok(many.every(Number.isFinite));
});

test("both clouds have the same x and noise: at ρ = 1 y is x, at ρ = 0 it is the noise", () => {
  assert.deepEqual(answersOf(1), XS);
  assert.deepEqual(answersOf(0), NOISE);
  assert.equal(XS.length, POINT_COUNT);
  assert.equal(new Set(FOLLOWED).size, 3);
});

test("numbers a person would type, and read", () => {
  assert.deepEqual([0.123, -1.4, 2, -0.001].map(correlationNear), [0.12, -1, 1, 0]);
  assert.ok(Object.is(correlationNear(-0.001), 0));
  assert.deepEqual([-2, -0.5, 0, 0.31, 1, 9].map(scaleAt), [0.01, 0.316, 1, 2.04, 10, 10]);
  assert.deepEqual([numeral(-0.8), numeral(-0.001), numeral(1.6, 3)], ["−0.80", "0.00", "1.600"]);
});

test("every step of the scale slider is another scale, and leads back to the same step", () => {
  for (let k = -200; k <= 100; k++) assert.equal(Math.round(100 * Math.log10(scaleAt(k / 100))), k);
});

const opened = { rev: 0, preset: "", rho: 0.8, rho_hat: -0.8, scale: 1, metric: "cfid", question: { step: 1, answer: "open" } };

test("what the questions call right is so, of any wrong pairing", () => {
  for (const [rho, rho_hat] of [[0.8, -0.8], [0.1, 0.9], [-0.9, 0.6]]) {
    const [small, large] = [1, 10].map((scale) => scoresOf({ rho, rho_hat, scale }));
    const names = ["mfid", "rfid", "cfid"];
    assert.deepEqual(names.filter((name) => small[name] === 0), [QUESTIONS[0].right]);
    assert.deepEqual(names.filter((name) => Math.abs(small[name] - large[name]) > 1e-9), [QUESTIONS[1].right]);
  }
});

test("the verdict and the words of it do not depend on what was tried before", () => {
  const asked = withQuestion(opened, 2, false);
  for (const tried of [{}, { scale: 10 }, { rho_hat: 0.8 }, { rho: 0.3, scale: 0.02 }]) {
    const answered = withAnswer(withParts(asked, tried), "rfid", false);
    assert.match(replyOf(answered), /^Yes\. With ρ = 0\.80 and ρ̂ = −0\.80, RFID goes from 1\.600 at α = 1 to 2\.551 at α = 10/);
    assert.deepEqual([answered.rho, answered.rho_hat, answered.scale], [0.8, -0.8, 10]);
    assert.match(replyOf(withAnswer(asked, "cfid", false)), /^Not CFID\. /);
  }
});

test("a question brings its example with it", () => {
  const elsewhere = { ...opened, rho: 0.1, rho_hat: 0.3, scale: 4 };
  const examples = [1, 2, 3].map((step) => withQuestion(elsewhere, step, false)).map(({ rho, rho_hat, scale }) => [rho, rho_hat, scale]);
  assert.deepEqual(examples, [[0.8, -0.8, 1], [0.8, -0.8, 1], [0.8, -0.8, 10]]);
});

test("where nothing may move, questions are asked and answered and the pair stays", () => {
  const own = { ...opened, rho: 0.1 };
  const answered = withAnswer(withQuestion(own, 2, true), "rfid", true);
  assert.deepEqual(answered, { ...own, question: { step: 2, answer: "rfid" } });
});

test("the veil is lifted by whoever moves something, and by an answer", () => {
  assert.equal(veiledIn(opened), "scores");
  assert.equal(veiledIn(withParts(opened, { metric: "mfid", rho: 0.8 })), "scores");
  const moved = withParts(opened, { rho: 0.7 });
  assert.deepEqual([veiledIn(moved), isAnswered(moved), replyOf(moved)], ["", false, ""]);
  assert.equal(veiledIn(withQuestion(moved, 2, false)), "curves");
  const answered = withAnswer(opened, "shown", false);
  assert.deepEqual([veiledIn(answered), isAnswered(answered)], ["", true]);
  assert.deepEqual(withParts(answered, { rho: 0 }).question, answered.question);
});

test("a task is done while it holds", () => {
  const asked = withQuestion(opened, 3, false);
  assert.deepEqual([isAnswered(asked), replyOf(asked)], [false, "RFID is now 1.00 of CFID."]);
  // RFID = 2(t − √(t² − α² CFID)), with t = 1 + α², is half of CFID where α² = 1 − CFID / 8
  const done = withParts(asked, { scale: Math.sqrt(1 - 2.56 / 8) });
  assert.deepEqual([isAnswered(done), replyOf(done).slice(0, 5)], [true, "Done."]);
  assert.ok(!isAnswered(withParts(asked, { rho_hat: 0.8 })), "nothing over nothing is no half");
  const shares = [2, 0.85, 0.84, 0.83, 0.82, 0.81, 0.8].map((scale) => {
    const moved = withParts(asked, { scale });
    const { rfid, cfid } = scoresOf(moved);
    return { share: rfid / cfid, isDone: isAnswered(moved) };
  });
  assert.ok(shares.some(({ share }) => share > 0.51 && share < 0.53) && shares.some(({ share }) => share < 0.49 && share > 0.47));
  for (const { share, isDone } of shares) assert.equal(isDone, share >= 0.49 && share <= 0.51, `${share} of CFID`);
});

test("the headline says how the generator pairs, and tells no score while that is asked", () => {
  const said = (rho, rho_hat, isVeiled = false) => headlineWords({ ...opened, rho, rho_hat }, isVeiled);
  assert.equal(said(0.8, -0.8), "The generator pairs ŷ with x the wrong way round: MFID sees nothing, RFID 1.60, CFID 2.56.");
  assert.equal(said(0.8, -0.8, true), "The generator pairs ŷ with x the wrong way round.");
  assert.match(said(0.5, 0.5), /no score sees a difference/);
  const how = [[0.8, 0.3], [0.3, 0.8], [-0.3, -0.8], [0.8, 0], [0, 0.8]].map(([rho, rhoHat]) => said(rho, rhoHat, true));
  assert.deepEqual(how, ["follows x too loosely", "follows x too closely", "follows x too closely", "ignores x", "follows x; the data do not"].map((words) => `The generator ${words}.`));
});

test("there is a way back: to the example, and to where one was before the question", () => {
  const asked = withQuestion(opened, 3, false);
  const gone = withParts(asked, { rho_hat: 0.8 });
  assert.deepEqual([isAway(asked), isAway(gone), isAway(withQuestion(gone, 3, false))], [false, true, false]);
  assert.match(replyOf(gone), /^Both are 0 here.*Go back to the example\.$/);
  const own = { ...opened, rev: 4, rho: 0.1, question: { step: 2, answer: "explored" } };
  assert.deepEqual(withLastQuestion({ ...asked, rev: 7 }, [opened, own, asked], false), { ...own, rev: 7 });
  assert.deepEqual(withLastQuestion(asked, [], false).question, { step: 2, answer: "open" });
  assert.deepEqual(withLastQuestion(asked, [own], true), { ...asked, question: own.question });
});

const vectors = process.env.NBMETRICS_CORRELATIONS;

test("golden vectors from Python", { skip: vectors ? false : "run by tests/labs/correlation/test_correlation.py, which writes them" }, () => {
  const cases = JSON.parse(readFileSync(vectors, "utf-8"));
  for (const { scene, scores, code } of cases) {
    const own = scoresOf(scene);
    for (const score of SCORES) near(own[score], scores[score], 1e-9 * Math.max(1, scene.scale ** 2));
    assert.equal(codeOf(declare(declaration), scene), code);
  }
  console.log(`compared ${cases.length} pairs`);
});
