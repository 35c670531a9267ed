/** Declared scenes in the page: the same fields, defaults, refusals and code as in Python (tests/labs/toolkit/test_schema_page.py). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { whyNameRefused } from "../../nbmetrics/labs/plane/view/edits.js";
import { whyLessonsRefused } from "../../nbmetrics/labs/playground/view/scene.js";
import { whyStateRefused } from "../../nbmetrics/labs/toolkit/view/lab.js";
import { codeOf, declare, filled, literal, openingOf, whyRefused } from "../../nbmetrics/labs/toolkit/view/schema.js";

test("a name that Python would refuse is refused here", () => {
  const scene = { clients: [{ name: "A" }], generators: [] };
  assert.equal(whyNameRefused(scene, "ü😀".repeat(150), "A"), "");
  for (const name of ["n".repeat(301), "a\x1bb", "a\ud800b", "a\u2028b", "a\x9bb"]) assert.notEqual(whyNameRefused(scene, name, "A"), "");
});

test("what is nested without end is read no further than a scene is declared", () => {
  let deep = {};
  for (let k = 0; k < 1e5; k++) deep = { deep };
  const declared = declare({ fields: { x: { record: { y: { number: [0, 1] } } } } });
  for (const x of [deep, { y: deep }, [deep]]) assert.notEqual(whyRefused(declared, filled(declared, { x })), "");
});

const path = process.env.NBMETRICS_SCENES;
const given = path ? JSON.parse(readFileSync(path, "utf8")) : null;
const options = { skip: given ? false : "asked for by tests/labs/toolkit/test_schema_page.py" };

test("scenes are declared as in Python", options, () => {
  for (const { content, types, declared } of given.labs) assert.deepEqual(declare(content, types), declared);
});

test("what is left out is filled in as in Python", options, () => {
  for (const { declared, shorter } of given.labs)
    for (const { scene, whole } of shorter) {
      const own = filled(declared, scene);
      assert.deepEqual({ why: whyRefused(declared, own), own }, { why: "", own: whole });
    }
});

test("what Python refuses of a number, or as a field, is refused", options, (t) => {
  let count = 0;
  for (const { declared, bad } of given.labs)
    for (const scene of bad) {
      assert.notEqual(whyRefused(declared, filled(declared, scene)), "", JSON.stringify(scene));
      count++;
    }
  t.diagnostic(`${count} refused`);
});

test("no part of a state hides a bad scene", options, () => {
  for (const { declared, good, bad } of given.labs) {
    const whyOf = (state) => {
      const all = { scene: good, history: { past: [good], future: [] }, presets: { "": good }, ...state };
      return whyStateRefused(declared, { get: (name) => all[name] });
    };
    assert.equal(whyOf({}), "");
    const scene = bad.at(-1);
    for (const state of [{ scene }, { history: { past: [scene], future: [] } }, { history: { past: [], future: [scene] } }, { presets: { "": scene } }])
      assert.match(whyOf(state), /^This lab is not shown: /);
  }
});

test("lessons are shown, and none with a number out of bounds", options, () => {
  const { lessons, bad } = given.lessons;
  assert.equal(whyLessonsRefused(lessons), "");
  for (const lesson of bad) assert.match(whyLessonsRefused({ lesson }), /^This lab is not shown: /);
});

test("values are written as in Python", options, () => {
  for (const [value, text] of given.numbers) assert.equal(literal(value, { number: [-Infinity, Infinity] }), text);
});

test("code is that of Python", options, () => {
  for (const { declared, codes } of given.labs)
    for (const { scene, template, texts, code } of codes) assert.equal(codeOf(declared, scene, texts, template), code);
  for (const { making, text, code } of given.openings) assert.equal(openingOf(making, text), code);
});

test("what was renamed since has its present name", options, () => {
  for (const { declared, old, now } of given.renamed) assert.deepEqual(filled(declared, old), now);
});
