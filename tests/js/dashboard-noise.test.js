/** The Dashboard's noise in a drag: what is moved from where the drag began is what adding up in full gives. */
import assert from "node:assert/strict";
import test from "node:test";
import { withWeight } from "../../nbmetrics/labs/dashboard/view/certificate.js";
import { changeOf, noiseUnder } from "../../nbmetrics/labs/dashboard/view/metric_view.js";
import { averageNoise, firstOf, leaders, leads } from "../../nbmetrics/labs/dashboard/view/place_ranges.js";

const [COUNT, B] = [100, 64];
const int8 = Int8Array.from({ length: B * COUNT }, (_, at) => Math.round(127 * Math.sin(at * at)));
const scaleOf = (changes = {}) => Array.from({ length: COUNT }, (_, i) => changes[i] ?? 0.01 * (1 + (i % 7)));
const packedOf = (scale) => ({ scale, int8: Buffer.from(int8.buffer).toString("base64") });
const alike = Array(COUNT).fill(1 / COUNT);

function assertExact(packed, weights) {
  const exact = averageNoise(int8, packed.scale.map(Number), weights);
  const largest = Math.max(...exact.map(Math.abs));
  noiseUnder(packed, weights).forEach((value, b) => {
    if (Number.isNaN(exact[b])) assert.ok(Number.isNaN(value));
    else assert.ok(Math.abs(value - exact[b]) <= 1e-12 * largest, `${value} is not ${exact[b]}`);
  });
}

test("noise that is moved agrees with noise that is added up, wherever the weights go", () => {
  const packed = packedOf(scaleOf());
  for (const value of [0.01, 0.3, 0.99, 1, 0, 0.02]) assertExact(packed, withWeight(alike, 3, value));
  const [most, held] = [withWeight(alike, 5, 0.9), [7, 8]];
  for (const value of [0, 1e-9, 0.5]) assertExact(packed, withWeight(most, 5, value));
  for (const value of [0, 0.4]) assertExact(packed, withWeight(most, 3, value, held));
  assertExact(packed, alike.map((share, i) => (2 * i * share) / (COUNT - 1)));
});

test("a client without noise of its own is unknown where it counts, and only there", () => {
  const packed = packedOf(scaleOf({ 3: "nan" }));
  for (const value of [0.2, 0, 0.4, 0]) assertExact(packed, withWeight(alike, 3, value));
});

test("a drag of one weight changes one client beside the others", () => {
  assert.deepEqual(changeOf(withWeight(alike, 3, 0.2), withWeight(alike, 3, 0.5)).clients, [3]);
  assert.equal(changeOf(alike, alike.map((share, i) => share * (1 + (i % 2) / 2))), null);
});

test("the first are the leaders where there is no noise", () => {
  for (const losses of [[2, 1, 1 + 1e-12, NaN], [Infinity, 3], [NaN], [-Infinity, 0, -Infinity], [Infinity, Infinity], [0, -1e-12]])
    assert.deepEqual(firstOf(losses), leaders(leads(losses, losses.map(() => new Float64Array(1))), losses));
});
