/** Lessons without a page: progress, tasks, and answers beside the ones that tests/test_lessons.py computes in Python. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { answerOf, isPredicting, lessonOf, outcomeOf, revealedScene, verdictOf } from "../../nbmetrics/js/lesson.js";
import { numbersOf } from "../../nbmetrics/js/maths.js";

const round = (name, x, width, rest = {}) => ({ name, x, y: 0, width, height: 1, angle: 0, ...rest });
const client = (name, x, weight = 1) => round(name, x, 1, { weight });
const progress = (given = {}) => ({ name: "L", guess: null, revealed: false, ...given });
const scene = (generators, given = {}) => ({
  rev: 7, preset: "L", half: 5, clients: [client("a", -1), client("b", 1)], generators,
  view: { metric: "fid", panel: "sweep", sweep: "variance", aligned: false }, lesson: progress(), ...given,
});
const lowest = { metric: "fid", aggregate: "avg", generator: "g", best: "min", sweep: "variance" };
const lesson = (given = {}) => ({ name: "L", question: "?", scene: scene([round("g", 0, 1)]), after: scene([round("g", 0, 2)]), predict: lowest, check: null, reveal: "", tries: [], ...given });

test("a lesson is under way where the scene names one that the lab has, and waits for a guess until it is revealed", () => {
  const lessons = { L: lesson(), task: lesson({ predict: null }) };
  assert.equal(lessonOf(lessons, scene([]))?.name, "L");
  assert.equal(lessonOf(lessons, scene([], { lesson: null })), null);
  assert.equal(lessonOf(lessons, scene([], { lesson: progress({ name: "another lab's" }) })), null);
  assert.equal(lessonOf(undefined, scene([])), null);
  assert.equal(isPredicting(lessons, scene([])), true);
  assert.equal(isPredicting(lessons, scene([], { lesson: progress({ revealed: true }) })), false);
  assert.equal(isPredicting(lessons, scene([], { lesson: progress({ name: "task" }) })), false);
  assert.equal(isPredicting(lessons, scene([], { lesson: progress({ name: "another lab's" }) })), false);
});

test("Reveal keeps the learner's items and guess and opens the chart in question, or shows the changed scene", () => {
  const mine = scene([round("g", 3, 1)], { lesson: progress({ guess: 2 }) });
  const wandered = { ...mine, view: { metric: "kid", panel: "terms", sweep: "x", aligned: true } };
  assert.deepEqual(revealedScene(lesson(), wandered), { ...mine, lesson: progress({ guess: 2, revealed: true }) });
  assert.deepEqual(revealedScene(lesson({ predict: null }), wandered), { ...wandered, lesson: progress({ guess: 2, revealed: true }) });
  const value = lesson({ predict: { ...lowest, best: "value", sweep: undefined, axis: [0, 1] } });
  const shown = revealedScene(value, mine);
  assert.equal(shown.generators[0].width, 2);
  assert.deepEqual([shown.rev, shown.lesson], [7, progress({ guess: 2, revealed: true })]);
});

test("the distance is from the guess to the lowest point of the curve as it is now", () => {
  const mine = scene([round("g", 0, 0.6)], { lesson: progress({ guess: 1.5, revealed: true }) });
  assert.match(outcomeOf(lesson(), mine).text, /^FID avg is lowest at 1\.00: your guess 1\.50 is 0\.50 away\. FID all is lowest at 2\.00\.$/);
  const right = { ...mine, lesson: progress({ guess: 1, revealed: true }) };
  assert.match(outcomeOf(lesson(), right).text, /exactly right/);
  const gone = scene([round("other", 0, 1)]);
  assert.match(outcomeOf(lesson(), gone).text, /no lowest point here/);
});

/** @param {any} check @param {any} made @param {any} given */
const verdict = (check, made, given = {}) => verdictOf(check, scene(made, given), numbersOf(scene(made, given)));

test("an inversion has to be as large as asked on both sides", () => {
  const quarrel = [round("narrow", 0, 0.8), round("wide", 0, 1.6)];
  assert.equal(verdict({ kind: "inversion", by: 0.3 }, quarrel).done, true);
  assert.match(verdict({ kind: "inversion", by: 0.3 }, quarrel).text, /FID avg prefers narrow by 0\.32.*FID all prefers wide by 0\.34/);
  const weak = verdict({ kind: "inversion", by: 0.5 }, quarrel);
  assert.equal(weak.done, false);
  assert.match(weak.text, /prefers narrow/);
  const alike = verdict({ kind: "inversion", by: 0.1 }, [round("near", 0, 1), round("far", 4, 1)]);
  assert.deepEqual([alike.done, alike.text], [false, "FID avg and FID all both prefer near"]);
  assert.equal(verdict({ kind: "inversion", by: 0.1 }, [round("alone", 0, 1)]).done, false);
});

test("no two generators of any size make KID disagree with itself", () => {
  for (let a = 0; a < 4; a += 0.37) {
    for (let b = 0; b < 4; b += 0.41) {
      assert.equal(verdict({ kind: "inversion", metric: "kid", by: 0 }, [round("g", 0, a), round("h", 1, b)]).done, false);
    }
  }
});

test("agreement, a constant gap and a score below a bound are told from their opposites", () => {
  const quarrel = [round("narrow", 0, 0.8), round("wide", 0, 1.6)];
  assert.equal(verdict({ kind: "agreement" }, quarrel).done, false);
  assert.equal(verdict({ kind: "agreement", metric: "kid" }, quarrel).done, true);
  assert.equal(verdict({ kind: "gap_constant", within: 1e-9 }, quarrel).done, false);
  assert.match(verdict({ kind: "gap_constant", within: 1e-9, metric: "kid" }, quarrel).text, /3\.875 for every generator/);
  const below = (value) => verdict({ kind: "below", aggregate: "gap", generator: "wide", value }, quarrel);
  assert.deepEqual([below(10).done, below(0.1).done], [true, false]);
  assert.match(verdict({ kind: "below", aggregate: "avg", generator: "gone", value: 1 }, quarrel).text, /no gone here/);
});

test("without a metric of its own a task follows the charted one, and says so where the page cannot compute it", () => {
  const quarrel = [round("narrow", 0, 0.8), round("wide", 0, 1.6)];
  const view = (metric) => ({ view: { metric, panel: "clients", sweep: "variance", aligned: false } });
  assert.equal(verdict({ kind: "inversion", by: 0.1 }, quarrel, view("fid")).done, true);
  assert.equal(verdict({ kind: "inversion", by: 0.1 }, quarrel, view("kid")).done, false);
  assert.match(verdict({ kind: "inversion", by: 0.1 }, quarrel, view("fld")).text, /FLD is not/);
});

const given = process.env.NBMETRICS_LESSONS;

test("answers from Python", { skip: given ? false : "run by tests/test_lessons.py, which computes them" }, () => {
  const cases = JSON.parse(readFileSync(given, "utf-8"));
  for (const { name, predict, scene: shown, answer, other, tolerance } of cases) {
    const found = answerOf(predict, shown);
    assert.ok(Math.abs(found.answer - answer) <= tolerance, `${name}: ${found.answer} for ${answer}`);
    if (other !== null) assert.ok(Math.abs(found.other - other) <= tolerance, `${name}: ${found.other} for ${other}`);
  }
  console.log(`compared the answers of ${cases.length} lessons`);
});
