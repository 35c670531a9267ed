/** Lessons without a page: progress, tasks, and answers beside the ones that tests/labs/playground/test_lessons.py computes in Python. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { whyNotRemovable, withName, withRemoved } from "../../nbmetrics/labs/plane/view/edits.js";
import { guessedItem } from "../../nbmetrics/labs/playground/view/guess_outline.js";
import { answerOf, indexNow, lessonOf, outcomeOf, revealedScene, solvedScene, verdictOf } from "../../nbmetrics/labs/playground/view/lesson.js";
import { numbersOf } from "../../nbmetrics/labs/plane/view/scores.js";

const round = (name, x, width, rest = {}) => ({ name, x, y: 0, width, height: 1, angle: 0, ...rest });
const client = (name, x, weight = 1) => round(name, x, 1, { weight });
const progress = (given = {}) => ({ name: "L", guess: null, revealed: false, about: { g: "g" }, answer: null, other: null, ...given });
const scene = (generators, given = {}) => ({
  rev: 7, preset: "L", half: 5, clients: [client("a", -1), client("b", 1)], generators,
  view: { metric: "fid", panel: "sweep", sweep: "variance", aligned: false }, lesson: progress(), ...given,
});
const lowest = { metric: "fid", aggregate: "avg", generator: "g", best: "min", sweep: "variance" };
const lesson = (given = {}) => ({ name: "L", question: "?", scene: scene([round("g", 0, 1)]), after: scene([round("g", 0, 2)]), predict: lowest, check: null, reveal: "", tries: [], ...given });

test("a lesson is under way where the scene names one that the lab has", () => {
  const lessons = { L: lesson() };
  assert.equal(lessonOf(lessons, scene([]))?.name, "L");
  assert.equal(lessonOf(lessons, scene([], { lesson: null })), null);
  assert.equal(lessonOf(lessons, scene([], { lesson: progress({ name: "another lab's" }) })), null);
  assert.equal(lessonOf(undefined, scene([])), null);
});

/** A lowest point is read between the values of a grid. */
const near = (found, wanted) => assert.ok(Math.abs(found - wanted) < 1e-3, `${found} for ${wanted}`);

test("Reveal keeps the learner's items and guess and opens the chart in question, or shows the changed scene", () => {
  const mine = scene([round("g", 3, 1)], { lesson: progress({ guess: 2 }) });
  const wandered = { ...mine, view: { metric: "kid", panel: "terms", sweep: "x", aligned: true } };
  const { answer, other, ...kept } = revealedScene(lesson(), wandered).lesson;
  near(answer, 1);
  near(other, 2);
  assert.deepEqual(revealedScene(lesson(), wandered), { ...mine, lesson: { ...progress({ guess: 2, revealed: true }), ...kept, answer, other } });
  assert.deepEqual(revealedScene(lesson({ predict: null }), wandered), { ...wandered, lesson: progress({ guess: 2, revealed: true }) });
  const value = lesson({ predict: { ...lowest, best: "value", sweep: undefined, axis: [0, 1] } });
  const shown = revealedScene(value, mine);
  assert.equal(shown.generators[0].width, 2);
  const asked = numbersOf(shown).fid.avg[0];
  assert.deepEqual([shown.rev, shown.lesson], [7, progress({ guess: 2, revealed: true, answer: asked })]);
});

test("the distance is from the guess to the lowest point as it was at Reveal, whatever is moved before and after", () => {
  const told = (mine) => outcomeOf(lesson(), mine);
  const guessed = (guess, items = [round("g", 0, 0.6)], given = {}) => scene(items, { lesson: progress({ guess }), ...given });
  const shown = revealedScene(lesson(), guessed(1.5));
  const words = "FID avg is lowest at 1.00: your guess 1.50 is 0.50 away. FID all is lowest at 2.00.";
  assert.equal(told(shown), words);
  assert.match(told(revealedScene(lesson(), guessed(1))), /exactly right/);
  assert.match(told({ ...shown, lesson: { ...shown.lesson, guess: -1e-17 } }), /your guess 0\.00 is 1\.00 away/);
  const apart = [client("a", -1.5), client("b", 1.5)]; // the pooled variance along x is 1 + 1.5²
  const after = told({ ...shown, clients: apart, view: { ...shown.view, metric: "kid" } });
  assert.equal(after, words.replaceAll("is lowest", "was lowest"));
  const before = told(revealedScene(lesson(), guessed(1.5, [round("g", 0, 0.6)], { clients: apart })));
  assert.match(before, /FID all is lowest at 3\.25\.$/);
  const removed = told(withRemoved({ ...shown, generators: [...shown.generators, round("h", 0, 1)] }, { kind: "generators", index: 0 }));
  assert.equal(removed, words.replaceAll("is lowest", "was lowest"));
});

test("a lesson goes on about a generator that is renamed, which cannot be removed while the question is open", () => {
  const place = { kind: "generators", index: 1 };
  const open = scene([round("h", 0, 1), round("g", 0, 0.6)], { lesson: progress({ guess: 1.5 }) });
  const renamed = withName(withName(open, place, "Mine"), { kind: "generators", index: 0 }, "g");
  assert.equal(indexNow(renamed, "g"), 1);
  near(answerOf(lowest, renamed).answer, 1);
  assert.match(outcomeOf(lesson(), revealedScene(lesson(), renamed)), /^FID avg is lowest at 1\.00/);
  const below = { kind: "below", aggregate: "avg", generator: "g", value: 100 };
  assert.equal(verdictOf(below, renamed, numbersOf(renamed)).done, true);
  assert.equal(whyNotRemovable(renamed, place), "The question is about this one");
  assert.equal(whyNotRemovable(renamed, { kind: "generators", index: 0 }), "");
  assert.equal(whyNotRemovable(revealedScene(lesson(), renamed), place), "");
  assert.equal(withName({ ...open, lesson: null }, place, "Mine").lesson, null);
});

/** @param {any} check @param {any} made @param {any} given */
const verdict = (check, made, given = {}) => verdictOf(check, scene(made, given), numbersOf(scene(made, given)));

test("an inversion has to be as large as asked on both sides", () => {
  const quarrel = [round("narrow", 0, 0.8), round("wide", 0, 1.6)];
  assert.equal(verdict({ kind: "inversion", by: 0.3 }, quarrel).done, true);
  assert.match(verdict({ kind: "inversion", by: 0.3 }, quarrel).text, /FID avg ranks narrow above wide by 0\.32.*FID all ranks wide above narrow by 0\.34/);
  const weak = verdict({ kind: "inversion", by: 0.5 }, quarrel);
  assert.equal(weak.done, false);
  assert.match(weak.text, /ranks narrow above/);
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
  assert.match(verdict({ kind: "below", aggregate: "avg", generator: "gone", value: 1 }, quarrel).text, /gone is no longer here/);
});

test("without a metric of its own a task follows the charted one, and says so where the page cannot compute it", () => {
  const quarrel = [round("narrow", 0, 0.8), round("wide", 0, 1.6)];
  const view = (metric) => ({ view: { metric, panel: "clients", sweep: "variance", aligned: false } });
  assert.equal(verdict({ kind: "inversion", by: 0.1 }, quarrel, view("fid")).done, true);
  assert.equal(verdict({ kind: "inversion", by: 0.1 }, quarrel, view("kid")).done, false);
  assert.match(verdict({ kind: "inversion", by: 0.1 }, quarrel, view("fld")).text, /FLD is not/);
});

const given = process.env.NBMETRICS_LESSONS;

test("answers from Python", { skip: given ? false : "run by tests/labs/playground/test_lessons.py, which computes them" }, () => {
  const { cases } = JSON.parse(readFileSync(given, "utf-8"));
  for (const { name, predict, scene: shown, answer, other, tolerance } of cases) {
    const found = answerOf(predict, shown);
    assert.ok(Math.abs(found.answer - answer) <= tolerance, `${name}: ${found.answer} for ${answer}`);
    if (other !== null) assert.ok(Math.abs(found.other - other) <= tolerance, `${name}: ${found.other} for ${other}`);
  }
  console.log(`compared the answers of ${cases.length} lessons`);
});

test("in the solution of a lesson its task is done, and not before", { skip: !given }, () => {
  const { solutions } = JSON.parse(readFileSync(given, "utf-8"));
  for (const { lesson: one } of solutions) {
    const done = (shown) => verdictOf(one.check, shown, numbersOf(shown)).done;
    const start = one.predict ? one.after : one.scene;
    assert.deepEqual([done(start), done(solvedScene(one.solution, start))], [false, true], one.name);
  }
  console.log(`compared ${solutions.length} solutions`);
});

test("Show me keeps what the learner came to, and calls the generators by their own names again", () => {
  const mine = scene([round("mine", 0, 1)], { lesson: progress({ guess: 2, revealed: true, about: { g: "mine" } }) });
  const solved = solvedScene(scene([round("g", 0, 3)], { rev: 0, preset: "else", lesson: null }), mine);
  assert.deepEqual(solved.lesson, progress({ guess: 2, revealed: true }));
  assert.deepEqual([solved.rev, solved.preset, solved.generators[0].width], [7, "L", 3]);
});

test("the guess in the plane is the generator with the swept number as guessed, wherever it is now", () => {
  const items = [round("h", 0, 1), round("g", 2, 1)];
  const guess = (given, sweep = "variance") =>
    guessedItem(lesson({ predict: { ...lowest, sweep } }), scene(items, { lesson: progress({ guess: 4, ...given }) }));
  assert.deepEqual(guess({}).item, round("g", 2, 2));
  assert.deepEqual([guess({}, "x").item.x, guess({}, "x").parameter, guess({}).index], [4, "x", 1]);
  assert.equal(guess({ about: { g: "h" } }).item.name, "h");
  assert.deepEqual([guess({ guess: null }), guess({ about: { g: "gone" } }), guess({}, "psi")], [null, null, null]);
  const value = lesson({ predict: { ...lowest, best: "value", sweep: undefined, axis: [0, 1] } });
  assert.equal(guessedItem(value, scene(items, { lesson: progress({ guess: 1 }) })), null);
  assert.equal(guessedItem(null, scene(items, { lesson: null })), null);
});
