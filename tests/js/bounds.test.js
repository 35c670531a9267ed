/** What numbers the page takes: all that labs send it, and none beyond the bounds. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { BOUNDS, WHOLE, whyStateRefused } from "../../nbmetrics/labs/toolkit/view/bounds.js";
import { whyNameRefused } from "../../nbmetrics/labs/plane/view/edits.js";

const modelOf = (state) => ({ get: (name) => state[name] });
const copycat = (count) => ({ scene: { clients: [], generators: [{ name: "cc", kind: "copycat", of: "A", count }] } });

/** The paths of all numbers in JSON. */
function numbers(value, path = []) {
  if (typeof value === "number") return [path];
  return value && typeof value === "object" ? Object.entries(value).flatMap(([key, part]) => numbers(part, [...path, key])) : [];
}

function replaced(state, path, by) {
  const copy = structuredClone(state);
  let part = copy;
  for (const key of path.slice(0, -1)) part = part[key];
  part[path.at(-1)] = by;
  return copy;
}

test("a count that would take all memory is named, with its bounds", () => {
  assert.equal(whyStateRefused(modelOf(copycat(20))), "");
  assert.match(whyStateRefused(modelOf(copycat(1e9))), /scene\.generators\[0\]\.count is 1000000000, and should be from 2 to 2000/);
  for (const count of [1, "1000000000", Infinity, -5]) assert.notEqual(whyStateRefused(modelOf(copycat(count))), "");
});

test("what counts is whole", () => {
  assert.match(whyStateRefused(modelOf(copycat(2.5))), /scene\.generators\[0\]\.count is 2\.5, and should be a whole number/);
  for (const scene of [{ question: { step: 1.5 } }, { samples: 2.5 }, { seed: 1.5 }]) assert.match(whyStateRefused(modelOf({ scene })), /whole/);
  assert.equal(whyStateRefused(modelOf({ scene: { half: 2.5 } })), "");
});

test("it may hide nowhere in the state", () => {
  const { scene } = copycat(1e9);
  for (const state of [{ history: { past: [], future: [scene] } }, { presets: { "": scene } }, { lessons: { L: { after: scene } } }]) {
    assert.notEqual(whyStateRefused(modelOf(state)), "");
  }
  assert.match(whyStateRefused(modelOf({ scene: { width: { x: { y: NaN } } } })), /y is NaN/);
  assert.match(whyStateRefused(modelOf({ scene: { strange: 3 } })), /strange is a number that no lab has/);
  let deep = {};
  for (let k = 0; k < 1e5; k++) deep = { deep };
  assert.match(whyStateRefused(modelOf({ scene: deep })), /nested too deep/);
});

test("names are names, whatever fields are called", () => {
  const about = { count: "12", x: "1e9" };
  assert.equal(whyStateRefused(modelOf({ scene: { lesson: { about, answer: 1 }, question: { step: 1, answer: "open" } } })), "");
});

test("a name that Python would refuse is refused here", () => {
  const scene = { clients: [{ name: "A" }], generators: [] };
  assert.equal(whyNameRefused(scene, "ü😀".repeat(150), "A"), "");
  for (const name of ["n".repeat(301), "a\x1bb", "a\ud800b", "a\u2028b", "a\x9bb"]) assert.notEqual(whyNameRefused(scene, name, "A"), "");
});

const given = process.env.NBMETRICS_STATES;
test("Python's states are shown, and none with a number out of bounds", { skip: given ? false : "asked for by tests/labs/toolkit/test_bounds.py" }, (t) => {
  const states = JSON.parse(readFileSync(String(given), "utf8"));
  for (const state of states) {
    assert.equal(whyStateRefused(modelOf(state)), "");
    for (const path of numbers(state)) {
      const field = path.findLast((key) => Number.isNaN(Number(key)));
      const [low, high] = BOUNDS[field];
      for (const wild of [low - Math.abs(low) / 9 - 1, high * 1.1 + 1, 1e300, -1e300, NaN]) {
        assert.notEqual(whyStateRefused(modelOf(replaced(state, path, wild))), "", path.join("."));
      }
      const broken = whyStateRefused(modelOf(replaced(state, path, low + 0.5)));
      assert.equal(broken !== "", WHOLE.includes(field), path.join("."));
    }
  }
  t.diagnostic(`of ${states.length} states`);
});
