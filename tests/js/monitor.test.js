/** A run of many steps in few columns of pixels, what is no number, and the clients' regrets. */
import assert from "node:assert/strict";
import test from "node:test";
import { lastStepText } from "../../nbmetrics/labs/monitor/view/formatting.js";
import { decodeRun, nearest, unionOf } from "../../nbmetrics/labs/monitor/view/page_decoding.js";
import { avgOf, bestOf, withShare } from "../../nbmetrics/labs/monitor/view/reweighting.js";
import { clientRegrets, stepColumns } from "../../nbmetrics/labs/monitor/view/client_heatmap.js";
import { bandPath, heightScale, linePath, nonFiniteMarks } from "../../nbmetrics/labs/monitor/view/step_plot.js";

const FID = { name: "fid", label: "FID", higher: false, best: null, kind: "fid" };
const text = (values, Kind = Float64Array) => Buffer.from(Kind.from(values).buffer).toString("base64");
const packed = (steps) => ({
  lines: { fid: { metric: 0, label: "FID", steps: text(steps), avg: text(steps), all: text(steps), gap: text(steps), clients: text(steps.flatMap((s) => [s, -s]), Float32Array), errors: text(steps.flatMap(() => [1, 2, NaN]), Float32Array) } },
});

test("a line of many steps keeps the extremes of every column of pixels", () => {
  const steps = Float64Array.from({ length: 20_000 }, (_, s) => s);
  const values = steps.map((s) => Math.sin(s) + (s === 7_777 ? 50 : 0));
  const d = linePath(steps, values, (s) => s / 100, (v) => v);
  const points = d.slice(1).split(/[ML]/).map((pair) => pair.split(" ").map(Number));
  assert.ok(points.length <= 4 * 402 && points.length > 200);
  const found = points.filter(([x]) => x === 78).map(([, y]) => y);
  assert.ok(Math.max(...found) > 48, "one step that leaps is seen");
  assert.ok(points.every(([x], i) => !i || x >= points[i - 1][0]));
});

test("rounding does not fill a plot, and what is more does", () => {
  const height = (gap) => {
    const { at } = heightScale([Float64Array.of(20.2, 20.2 + gap)], [100, 0], 5);
    return Math.abs(at(20.2 + gap) - at(20.2));
  };
  assert.ok(height(4e-15) < 1e-6 && height(1e-9) > 50);
});

test("a line breaks where there is no number, and the edge has a mark for it", () => {
  const [steps, values] = [Float64Array.of(0, 10, 20, 30, 40), Float64Array.of(1, NaN, 3, Infinity, -Infinity)];
  assert.equal(linePath(steps, values, (s) => s, (v) => v), "M0 1M20 3");
  assert.deepEqual(nonFiniteMarks(steps, values, (s) => s).map(({ is }) => is), ["nan", "high", "low"]);
});

test("a band holds the widest of every column, breaks where it is not known, and ends at the edges", () => {
  const steps = Float64Array.of(0, 0.2, 5, 9, 12, 20);
  const band = { low: Float64Array.of(2, 1, 3, NaN, -4, -Infinity), high: Float64Array.of(3, 2, 4, 5, 6, Infinity) };
  const d = bandPath(steps, band, (s) => s, (v) => 10 - v, [10, 0]);
  assert.equal(d, "M0 7.0L5 6.0L5 7.0L0 9.0ZM12 4.0L20 0.0L20 10.0L12 10.0Z");
  assert.match(bandPath(Float64Array.of(4), { low: Float64Array.of(1), high: Float64Array.of(2) }, (s) => s, (v) => 10 - v, [10, 0]), /^M2 8\.0L6/);
});

test("scores far apart are on a logarithmic axis, if all are above 0", () => {
  const is = (values) => heightScale([Float64Array.from(values)], [100, 0], 5).isLog;
  assert.deepEqual([is([1, 49]), is([1, 51]), is([0, 51]), is([-1, 900]), is([NaN, 1, 900, Infinity])], [false, true, false, false, true]);
});

test("a plot has room for bands, and a wide one does not flatten the lines", () => {
  const values = [Float64Array.of(1, 2, 3, 2)];
  const pixels = (reach) => {
    const band = { low: values[0].map((v, i) => v - reach[i]), high: values[0].map((v, i) => v + reach[i]) };
    const { at } = heightScale(values, [100, 0], 5, [band]);
    return [at(1) - at(3), at(band.low[0]), at(band.high[0])].map(Math.round);
  };
  const [alone, low, high] = pixels([0.5, 0.5, 0.5, 0.5]);
  assert.ok(alone >= 50 && low <= 100 && high >= 0);
  assert.ok(pixels([1000, 0.1, 0.1, 0.1])[0] >= 25);
});

test("the nearest step, of two alike the earlier", () => {
  const steps = Float64Array.of(0, 100, 300);
  assert.deepEqual([-5, 0, 49, 50, 51, 200, 201, 999].map((step) => nearest(steps, step)), [0, 0, 0, 0, 1, 1, 2, 2]);
  assert.equal(nearest(new Float64Array(), 3), -1);
  assert.deepEqual([...unionOf([Float64Array.of(1, 3), Float64Array.of(2, 3, 9)])], [1, 2, 3, 9]);
});

test("what is recent is joined to its own past alone", () => {
  const past = { id: 2, ...packed([0, 1]) };
  const steps = (recent) => [...decodeRun(past, recent).steps];
  assert.deepEqual(steps({ of: 2, ...packed([2, 3]) }), [0, 1, 2, 3]);
  assert.deepEqual(steps({ of: 1, ...packed([1, 3]) }), [0, 1]);
  assert.deepEqual(steps({}), [0, 1]);
  assert.deepEqual([...decodeRun(past, { of: 2, ...packed([2]) }).lines[0].clients], [0, -0, 1, -1, 2, -2]);
});

test("avg under other weights leaves a client of no weight out, NaN and all", () => {
  const clients = Float32Array.of(1, 3, NaN, 2, 4, NaN);
  assert.deepEqual([...avgOf(clients, [0.25, 0.75, 0])], [2.5, 3.5]);
  assert.ok(avgOf(clients, [0.25, 0.5, 0.25]).every(Number.isNaN));
  assert.equal(bestOf(Float64Array.of(5, 6, 7), Float64Array.of(NaN, 2, 2), FID), 6);
  assert.equal(bestOf(Float64Array.of(5, 6, 7), Float64Array.of(0.2, 0.8, 1.1), { ...FID, best: 1 }), 7);
  assert.deepEqual(withShare([1, 1, 2], 2, 0.8).map((share) => Number(share.toFixed(9))), [0.1, 0.1, 0.8]);
  assert.deepEqual(withShare([0, 1], 1, 0.4), [0.6, 0.4]);
});

test("regrets are from a client's own best so far", () => {
  const { values, isRatio } = clientRegrets(Float32Array.of(4, 1, 2, 2, 8, NaN), 2, FID);
  assert.ok(isRatio);
  assert.deepEqual([...values].map((v) => Number(Math.exp(v).toFixed(5))), [1, 1, 1, 2, 4, NaN]);
  assert.ok(!clientRegrets(Float32Array.of(1, -1), 1, FID).isRatio);
  assert.deepEqual(stepColumns(Float64Array.of(0, 10, 20), 4, (x) => 5.1 * x), [[0, 0], [1, 1], [1, 1], [2, 2]]);
});

test("the last step is said by its time of day, and live by the minutes since", () => {
  const time = new Date(2026, 0, 2, 9, 5).getTime();
  const text = (minutes) => lastStepText(time / 1000, time + 60_000 * minutes);
  assert.deepEqual([0, 1.5, 1440].map(text), ["", ", 1 minute ago", ", 1,440 minutes ago"].map((ago) => `The last step came at 09:05${ago}.`));
  assert.equal(lastStepText(time / 1000), "The last step came at 09:05.", "a saved page counts no minutes");
  assert.equal(lastStepText(undefined, time), "");
});
