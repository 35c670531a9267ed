/** What the Scores table says in words and figures, and which names can be taken. */
import assert from "node:assert/strict";
import test from "node:test";
import { figure } from "../../nbmetrics/labs/toolkit/view/numbers.js";
import { sentences } from "../../nbmetrics/labs/playground/view/score_table.js";
import { moveByKey, sliderValues } from "../../nbmetrics/labs/plane/view/geometry.js";
import { whyNameRefused } from "../../nbmetrics/labs/plane/view/edits.js";
import { sameItems } from "../../nbmetrics/labs/plane/view/store.js";

const said = (avg, all, higher) => sentences("M", { avg, all }, ["a", "b", "c"].slice(0, avg.length), higher)[0];

test("words and marks agree: alike, the other way round, and where only one of the two can tell", () => {
  assert.equal(said([1, 2], [3, 5]).text, "M: avg and all rank generators alike; avg − all is between −3.000 and −2.000, depending on the generator.");
  assert.match(said([1, 2], [5, 3]).text, /^M disagrees with itself: avg ranks a above b, all ranks b above a;/);
  assert.match(said([1, 2], [5, 3], true).text, /avg ranks b above a, all ranks a above b;/);
  const twins = said([2, 2 + 1e-15], [1, 3]);
  assert.match(twins.text, /^M: avg cannot tell a from b, all ranks a above b;/);
  assert.equal(twins.differs, true);
  assert.match(said([2, 2], [1, 3], true).text, /avg cannot tell b from a, all ranks b above a;/);
  assert.match(said([4, 3, 2], [1, 1, 1]).text, /^M: all cannot tell c from a, avg ranks c above a \(and 2 more pairs\);/);
  assert.equal(said([2, 2], [3, 3]).differs, false);
});

test("a gap is every generator's only where it is", () => {
  assert.match(said([1, 2], [0.5, 1.5]).text, /avg − all is 0\.500 for every generator/);
  assert.match(said([1, 2], [0.5, 1.49999]).text, /avg − all is about 0\.500 for every generator/);
  assert.match(said([2e-4, 3e-4], [1e-4, 1e-4]).text, /between 0\.00010 and 0\.00020/);
});

test("small scores keep two digits, and rounding reads as 0", () => {
  const pairs = [[1e-16, "0.000"], [-3e-12, "0.000"], [0, "0.000"], [1.25e-5, "1.3e−5"], [0.00123, "0.0012"], [0.0099, "0.0099"]];
  for (const [value, text] of [...pairs, [0.0123, "0.012"], [1.5, "1.500"], [12.5, "12.50"], [1234.5, "1235"], [-0.5, "−0.500"], [2.5e6, "2.500e+6"]]) {
    assert.equal(figure(value), text);
  }
});

test("spaces around a name make no other name", () => {
  const scene = { clients: [{ name: "a" }, { name: "b" }], generators: [{ name: "g" }] };
  for (const name of ["b", "b ", " b", "\u00a0b", "g "]) assert.equal(whyNameRefused(scene, name, "a"), "That name is taken");
  assert.equal(whyNameRefused(scene, " a ", "a"), "");
  assert.equal(whyNameRefused(scene, "  ", "a"), "A name cannot be empty");
});

test("scenes hold the same items wherever those lie", () => {
  const scene = (x, ...names) => ({ clients: [{ name: "a", x }], generators: names.map((name) => ({ name, x })) });
  assert.equal(sameItems(scene(0, "g"), scene(5, "g")), true);
  assert.equal(sameItems(scene(0, "g"), scene(0, "g", "h")), false);
  assert.equal(sameItems({ half: 1 }, { half: 2 }), true);
});

test("keys step 0.1 in a plane of the usual size, and as far for its size in any other", () => {
  const item = { name: "a", x: 0.2, y: 0, width: 0.02, height: 0.01, angle: 0 };
  const after = (half, handle, shift = false) => moveByKey(item, handle, "ArrowRight", shift, half);
  for (const half of [2, 5, 15]) assert.deepEqual([after(half, "mean").x, after(half, "mean", true).x], [0.3, 1.2]);
  assert.deepEqual([after(0.5, "mean").x, after(0.05, "width").width, after(0.05, "angle").angle], [0.21, 0.021, 1]);
  assert.equal(after(500, "mean").x, 10.2);
  assert.equal(sliderValues(item, "width", 0.05).text, "0.0200");
  assert.equal(sliderValues(item, "mean", 5).text, "x 0.20, y 0.00");
});
