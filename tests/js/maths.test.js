/** The page's maths against the golden vectors that tests/labs/plane/test_scores_page.py writes; see there for the tolerances. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { isLower, numbersOf, placesOf } from "../../nbmetrics/labs/plane/view/scores.js";

test("places: the lowest score is 1st and scores closer than rounding share a place", () => {
  assert.deepEqual(placesOf([3, 1, 2]), [3, 1, 2]);
  assert.deepEqual(placesOf([1, 1 + 1e-14, 2]), [1, 1, 3]);
  assert.equal(isLower(0, 1e-13, 1), false);
  assert.equal(isLower(0, 1e-13), true);
  assert.equal(isLower(0, 1e-9, 1), true);
  assert.deepEqual(placesOf([0, 1e-13, 1e-9], false, [1, 1, 1]), [1, 1, 3]);
});

test("the papers' toy: FID-avg = 1 + (1 − √v)², FID-all = (√2 − √v)², a KID gap that does not move", () => {
  const client = (x) => ({ name: `${x}`, x, y: 0, width: 1, height: 1, angle: 0, weight: 1 });
  for (const v of [0, 0.3, 1, 2, 4]) {
    const generator = { name: "g", x: 0, y: 0, width: Math.sqrt(v), height: 1, angle: 0 };
    const { fid, kid } = numbersOf({ rev: 0, preset: "", half: 5, clients: [client(-1), client(1)], generators: [generator] });
    assert.ok(Math.abs(fid.avg[0] - (1 + (1 - Math.sqrt(v)) ** 2)) < 1e-12);
    assert.ok(Math.abs(fid.all[0] - (Math.SQRT2 - Math.sqrt(v)) ** 2) < 1e-12);
    assert.ok(Math.abs(kid.avg[0] - kid.all[0] - 3.875) < 1e-12);
  }
});

const vectors = process.env.NBMETRICS_VECTORS;

test("golden vectors from Python", { skip: vectors ? false : "run by tests/labs/plane/test_scores_page.py, which writes the vectors" }, () => {
  const { cases } = JSON.parse(readFileSync(vectors, "utf-8"));
  let compared = 0;
  for (const { scene, expected, data } of cases) {
    const found = numbersOf(scene, data, Object.keys(expected));
    for (const [metric, parts] of Object.entries(expected)) {
      for (const part of ["intra", "avg", "all"]) {
        assert.equal(part in found[metric], part in parts);
        parts[part]?.forEach((value, g) => {
          const own = found[metric][part][g];
          const allowed = parts.tolerance[g] * parts.scale[g];
          assert.ok(Math.abs(own - value) <= allowed, `${metric} ${part}: ${own} for ${value}, ${JSON.stringify(scene)}`);
          compared++;
        });
      }
    }
  }
  console.log(`compared ${compared} numbers of ${cases.length} scenes`);
  assert.ok(cases.length >= 165);
});
