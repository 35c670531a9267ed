/** Answer strings of the page beside those that tests/labs/playground/test_answers.py makes in Python. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { answerString, answersIn } from "../../nbmetrics/labs/playground/view/answers.js";

const given = process.env.NBMETRICS_ANSWERS;
const skip = given ? false : "run by tests/labs/playground/test_answers.py, which makes them";

test("the page reads what Python writes, and refuses what Python refuses", { skip }, () => {
  const { progress, strings, broken } = JSON.parse(readFileSync(given, "utf-8"));
  const { answers, unreadable } = answersIn(`Ada: ${strings.join("\nBob - ")}, and so on`);
  const wanted = progress.filter(({ guess }) => guess !== null);
  assert.equal(unreadable, 0);
  assert.deepEqual(answers.map(({ lesson }) => lesson), wanted.map(({ name }) => name));
  const near = (a, b) => assert.ok(a === b || Math.abs(a - b) <= 1e-5 * Math.abs(b), `${a} for ${b}`);
  answers.forEach((answer, k) => ["guess", "answer"].forEach((part) => near(answer[part], wanted[k][part])));
  for (const text of broken) assert.deepEqual([answersIn(text).answers, answersIn(text).unreadable], [[], 1], text);
  console.log(`strings ${JSON.stringify(progress.map(answerString))}`);
});

test("a page has no more flags and reads no more text than it can show", () => {
  const string = answerString({ name: "L", guess: 1, answer: null });
  const many = answersIn(`${string} `.repeat(2500));
  assert.deepEqual([many.answers.length, many.isTooMuch], [2000, true]);
  assert.equal(answersIn(`${" ".repeat(1_000_000)}${string}`).answers.length, 0);
  assert.equal(answersIn(`${" ".repeat(1_000_000)}${string}`).isTooMuch, true);
  assert.deepEqual(answersIn(""), { answers: [], unreadable: 0, isTooMuch: false });
});
