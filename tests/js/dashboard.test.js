/** Orders of the Dashboard's generators, the ribbon between two of them, and what the leaderboard says of its numbers. */
import assert from "node:assert/strict";
import test from "node:test";
import { numbersOf } from "../../nbmetrics/labs/dashboard/view/metric_view.js";
import { briefly, crossings, leads, ordersBeside, placeTexts, placesOf, sortByLoss, tiers } from "../../nbmetrics/labs/dashboard/view/place_ranges.js";
import { hintOf, plainTable, rowsOf, scoreText } from "../../nbmetrics/labs/dashboard/view/leaderboard_rows.js";
import { Scale, Whisker, spansOf } from "../../nbmetrics/labs/dashboard/view/whiskers.js";

/** Noise of equal size, independent between generators, so that a difference of a few sizes is real. */
const noiseOf = (count, size) => Array.from({ length: count }, (_, g) =>
  Float64Array.from({ length: 256 }, (_, b) => size * Math.sin(1 + 37.7 * b * (g + 1) + g)));

test("equal ones stay in the order given, and those without a loss come last without a place", () => {
  assert.deepEqual(sortByLoss([2, NaN, 1, 2, Infinity]), [2, 0, 3, 4, 1]);
  assert.deepEqual(placesOf([2, NaN, 1, 2, Infinity]), [2, 0, 1, 2, 4]);
  assert.equal(placeTexts(2, 1, 4).join(""), "2 (1–4)");
  assert.equal(placeTexts(2, 2, 2).join(""), "2");
  assert.equal(placeTexts(0, 0, 0).join(""), "–");
});

test("noise moves nobody: tied ones stand in the order given", () => {
  const losses = [1.02, 1.0, 9, 1.01, NaN];
  const ranges = leads(losses, noiseOf(5, 0.5));
  assert.deepEqual(tiers(ranges, losses), [[0, 1, 3], [2]]);
});

test("lines from the rows of a table cross only where the pooled scores tell the two apart", () => {
  const rows = [2, 0, 1];
  assert.deepEqual(ordersBeside([[[0, 2]], [[0, 1, 2]]], rows), [[2, 0], [2, 0, 1]]);
  assert.deepEqual(ordersBeside([[[0, 1, 2]], [[1], [0, 2]]], rows), [rows, [1, 2, 0]]);
});

test("a crossing is real only where both orders are more than chance", () => {
  const noise = noiseOf(3, 0.1);
  const real = [leads([1, 5, 9], noise), leads([5, 1, 9], noise)];
  assert.deepEqual(crossings([0, 1, 2], [1, 0, 2], ...real), ["real", "real", ""]);
  const doubtful = leads([1.02, 1, 9], noise);
  assert.deepEqual(crossings([0, 1, 2], [1, 0, 2], real[0], doubtful), ["chance", "chance", ""]);
  assert.deepEqual(crossings([0, 1, 2], [0, 1, 2], real[0], doubtful), ["", "", ""]);
  assert.deepEqual(crossings([0, 1, 2], [2, 0], ...real), ["chance", "", "chance"], "who has no all crosses nobody");
});

test("the bar of a generator ends before the leader exactly where the leader is better", () => {
  const losses = [1, 1.1, 2, 5];
  const ranges = leads(losses, noiseOf(4, 0.3));
  const spans = spansOf(losses, [0.2, 0.2, 0.2, 0.2], ranges.margins[0]);
  losses.forEach((_, g) => g && assert.equal(spans[g].nearest > losses[0], ranges.better[0][g]));
  assert.ok(ranges.better[0][3] && !ranges.better[0][1]);
});

test("a scale holds its spans in order, and a wide one is logarithmic", () => {
  for (const [values, isLog] of [[[1, 2, 3], false], [[0.01, 1, 900], true], [[-1, 0, 900], false], [[4, 4, 4], false]]) {
    const scale = new Scale();
    scale.fit("fid", spansOf(values, null, undefined));
    const at = values.map(scale.at);
    assert.equal(scale.isLog, isLog);
    assert.ok(at.every((x, k) => x >= 1 && x <= 107 && (!k || x > at[k - 1] || values[k] === values[k - 1])), String(at));
  }
});

test("a mean that leaves clients out says over how many it is", () => {
  const shown = { average: "avg", facts: { pooled: true }, isScored: [new Array(10).fill(true)] };
  assert.equal(hintOf({ ...shown, few: [] }), "avg: mean over clients. all: clients pooled.");
  const words = "avg: mean over the 6 of 10 clients with enough rows. all: clients pooled.";
  assert.equal(hintOf({ ...shown, few: [4, 5, 6, 8] }), words);
});

test("what is no finite number is said", () => {
  assert.deepEqual([NaN, Infinity, -Infinity, 1.5].map(scoreText), ["NaN", "∞", "−∞", "1.500"]);
});

test("a verdict in a few words", () => {
  const said = (state, avg, all = avg) => briefly({ state, avg, all, sentences: [] });
  assert.equal(said("winner", ["A"]), "A wins");
  assert.equal(said("winner", ["A"], ["B"]), "A by avg, B by all");
  assert.equal(said("tie", ["A", "B"]), "A and B tie");
  assert.equal(said("tie", ["A", "B", "C"]), "3 tie");
  assert.equal(said("tie", ["A", "B"], ["A"]), "only A by both");
  assert.equal(said("tie", ["A", "B", "C"], ["A", "B"]), "no single winner");
  assert.equal(said("tie", ["A"], ["B"]), "no single winner");
  assert.equal(said("size", ["A"], ["B"]), "order explained by sample size");
  assert.equal(said("unknown", ["A", "B"]), "not enough data");
});

test("what is not known yet has no place, and what is no finite number is shown", () => {
  const facts = { name: "fid", label: "FID", higher: false, best: null, same: false, pooled: true, corrected: false, sure: true, note: "" };
  const cells = { A: [1, 2, 3], B: [2, null, null], C: [1, "nan", 4], D: [1, "inf", 2] };
  const draws = (count) => ({ scale: Array(count).fill(0.001), int8: btoa(String.fromCharCode(...Array.from({ length: 8 * count }, (_, i) => (41 * i * i) % 128))) });
  const each = (make) => Object.fromEntries(Object.keys(cells).map((name) => [name, make(name)]));
  const traits = {
    board: { clients: ["x", "y", "z"].map((name) => ({ name, rows: 9, share: 1 / 3 })), metrics: [facts], values: { fid: cells }, centres: { fid: cells } },
    progress: { done: 10, total: 12, doing: "B" },
    draws: { fid: each(() => draws(3)) },
    result: { weights: [1 / 3, 1 / 3, 1 / 3], all: { fid: { A: 1, B: 2, C: 3, D: "nan" } }, all_centres: { fid: { A: 1, B: 2, C: 3, D: "nan" } }, all_draws: { fid: each(() => draws(1)) }, p: null },
  };
  const scene = { metric: "fid", weights: [1, 1, 1], generators: Object.keys(cells), by: "avg", generator: "" };
  const numbers = numbersOf(scene, { get: (name) => traits[name] });
  const rows = rowsOf(scene, numbers, numbers.metrics.fid);
  const texts = Object.fromEntries(rows.map(({ name, cells: of }) => [name, [of.avg.text, of.avgPlace.text, of.all.text, of.worst.text, of.worst.small]]));
  assert.deepEqual(texts, {
    A: ["2.000", "1", "1.000", "3.000", "z"],
    B: ["1 of 3 clients", "–", "2.000", "…", ""],
    C: ["NaN", "–", "3.000", "NaN", ""],
    D: ["∞", "2", "NaN", "∞", "y"],
  });
  assert.match(numbers.metrics.fid.verdict.sentences[0], /^So far, 1 of 3 clients: /);
});

test("the table of numbers has a head for each column, with and without gaps by size, by avg and by intra", () => {
  const facts = { name: "kid", label: "KID", higher: false, best: null, same: true, pooled: true, corrected: false, sure: false, note: "" };
  const cells = { A: [1, 2], B: [2, 3] };
  const told = { kid: { A: 1, B: 2 } };
  for (const size of [undefined, told])
    for (const own of [{}, { by_client: true, unpooled: [] }]) {
      const clients = ["x", "y"].map((name) => ({ name, rows: 9, share: 0.5 }));
      const board = { clients, generators: { A: own, B: {} }, metrics: [facts], values: { kid: cells }, centres: { kid: cells } };
      const traits = { board, progress: { done: 4, total: 4, doing: "" }, result: { weights: [0.5, 0.5], all: told, all_centres: told, size, p: null } };
      const scene = { metric: "kid", weights: [1, 1], generators: ["A", "B"], by: "avg", generator: "" };
      const numbers = numbersOf(scene, { get: (name) => traits[name] });
      const { heads, rows } = plainTable(scene, numbers, numbers.metrics.kid);
      for (const row of rows) assert.equal(row.length, heads.length);
      const isIntra = Boolean(own.by_client);
      assert.equal(heads.includes("gap by size"), size !== undefined && !isIntra);
      assert.deepEqual([heads.includes("intra"), heads.includes("intra − all"), heads.includes("avg")], [isIntra, isIntra, !isIntra]);
      assert.equal(rows[0][heads.indexOf("worst")], "2");
    }
});
test("an all that is refused is NaN once all is known, and only then has the cross of one", () => {
  const facts = { name: "fid", label: "FID", higher: false, best: null, same: false, pooled: true, corrected: false, sure: false, note: "" };
  const allOf = (doing) => {
    const told = { fid: { A: 1, B: null } };
    const board = { clients: ["x", "y"].map((name) => ({ name, rows: 9, share: 0.5 })), metrics: [facts], values: { fid: { A: [1, 2], B: [2, 3] } }, centres: { fid: { A: [1, 2], B: [2, 3] } } };
    const traits = { board, progress: { done: 4, total: 4, doing }, result: { weights: [0.5, 0.5], all: told, all_centres: told, p: null } };
    const scene = { metric: "fid", weights: [1, 1], generators: ["A", "B"], by: "all", generator: "" };
    const numbers = numbersOf(scene, { get: (name) => traits[name] });
    return rowsOf(scene, numbers, numbers.metrics.fid).find(({ name }) => name === "B").cells.all;
  };
  assert.deepEqual(["", "FID of B"].map((doing) => allOf(doing).text), ["NaN", "…"]);
  const marksOf = (isAwaited) => {
    const marks = Array.from({ length: 4 }, () => ({ text: "", setAttribute(_, text) { this.text = text; } }));
    const whisker = Object.assign(Object.create(Whisker.prototype), { parts: marks, points: ["", "", "", ""], isOdd: true });
    whisker.paint({ value: NaN, low: NaN, high: NaN, nearest: NaN, farthest: NaN }, new Scale(), 1, false, isAwaited);
    return marks[3].text;
  };
  assert.equal(marksOf(allOf("FID of B").isOld), "");
  assert.notEqual(marksOf(allOf("").isOld), "");
});

test("a first guess of all is none where the weights are far away, or where it is a score that cannot be", () => {
  const facts = { name: "fid", label: "FID", higher: false, best: null, same: false, pooled: true, corrected: false, sure: false, note: "" };
  const cells = { A: [1, 2], B: [2, 3] };
  const told = { fid: { A: 0.1, B: 0.5 } };
  const traits = {
    board: { clients: ["x", "y"].map((name) => ({ name, rows: 9, share: 0.5 })), metrics: [facts], values: { fid: cells }, centres: { fid: cells } },
    progress: { done: 1, total: 1, doing: "" },
    result: { weights: [0.5, 0.5], all: told, all_centres: told, slope: { fid: { A: [-1, 1], B: [-0.1, 0.1] } }, p: null },
  };
  const shownAt = (share) => {
    const scene = { metric: "fid", weights: [share, 1 - share], generators: ["A", "B"], by: "avg", generator: "" };
    const numbers = numbersOf(scene, { get: (name) => traits[name] });
    const [first] = rowsOf(scene, numbers, numbers.metrics.fid);
    return [first.cells.all.text, first.cells.gap.text, Boolean(first.cells.all.isFar), numbers.metrics.fid.verdict.sentences[0]];
  };
  assert.deepEqual(shownAt(0.45).slice(0, 3), ["≈\u00a00.200", "≈\u00a01.350", false]);
  assert.match(shownAt(0.45)[3], /The winner by all is not computed for these weights yet/);
  for (const share of [0.6, 0.2]) {
    assert.deepEqual(shownAt(share).slice(0, 3), ["–", "–", true]);
    assert.match(shownAt(share)[3], /On FID avg, A is first/);
  }
});
