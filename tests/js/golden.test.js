/** A run as the page of an earlier release was sent it: this one reads the same numbers. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { decodeRun } from "../../nbmetrics/labs/monitor/view/page_decoding.js";

const path = process.env.NBMETRICS_RUN;
const kept = path ? JSON.parse(readFileSync(path, "utf8")) : null;
const skip = kept ? false : "asked for by tests/test_golden.py, which has what was kept";

/** @param {ArrayLike<number>} found @param {number[]} wanted */
function assertNear(found, wanted, what) {
  assert.equal(found.length, wanted.length, what);
  wanted.forEach((value, i) => assert.ok(Math.abs(found[i] - value) <= 1e-9 * Math.abs(value) + 1e-12, `${what}: ${found[i]}, and was ${value}`));
}

/** What the table of Python has of a line, at some steps. */
const tableOf = (name, steps) => kept.table.filter(({ metric, step }) => metric === name && (!steps || steps.includes(step)));

test("past and recent steps are all there", { skip }, () => {
  const { lines, losses, steps, leftOut } = decodeRun(kept.sent.past, kept.sent.recent);
  assert.ok(kept.sent.recent.of && leftOut === 0);
  assertNear(steps, kept.losses.map(({ step }) => step), "steps");
  assert.deepEqual(lines.map(({ name }) => name).sort(), ["fid", "kid"]);
  for (const line of lines) {
    const wanted = tableOf(line.name);
    assertNear(line.steps, wanted.map(({ step }) => step), "steps");
    for (const part of ["avg", "all", "gap"]) assertNear(line[part], wanted.map((row) => row[part]), part);
    const clients = kept.scores.filter(({ metric }) => metric === line.name).map(({ value }) => Math.fround(value));
    assertNear(line.clients, clients, "clients");
  }
  assertNear(losses[0].values, kept.losses.map(({ loss }) => loss), "loss");
});

test("a run that was too long for one message says what it leaves out", { skip }, () => {
  const { lines, losses, leftOut } = decodeRun(kept.thinned, {});
  assert.ok(leftOut > 0 && losses[0].steps.length < kept.losses.length && losses[0].steps.length > 10);
  for (const line of lines) {
    const wanted = tableOf(line.name, [...line.steps]);
    for (const part of ["avg", "all", "gap"]) assertNear(line[part], wanted.map((row) => row[part]), part);
  }
});
