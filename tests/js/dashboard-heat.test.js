/** The heat map without its canvas: what cells say, in which order clients stand, and how hundreds of them fold. */
import assert from "node:assert/strict";
import test from "node:test";
import { brief, cellsOf, levelOf, scaleOf, wordsOf } from "../../nbmetrics/labs/dashboard/view/cell_values.js";
import { groupOf } from "../../nbmetrics/labs/dashboard/view/heat_map.js";
import { Order, clientOrder, cut, linesOf } from "../../nbmetrics/labs/dashboard/view/client_order.js";
import { othersText } from "../../nbmetrics/labs/dashboard/view/regret_card.js";
import { colourAt, inkOn, luminance } from "../../nbmetrics/labs/toolkit/view/matrix_cell.js";

const FACTS = { name: "m", label: "M", higher: false, best: null };
const clients = (...rows) => rows.map((n, i) => ({ name: `c${i}`, rows: n, share: 1 / rows.length }));
const board = (values, more = {}, facts = FACTS) => ({
  clients: clients(...Object.values(values)[0].map(() => 50)),
  metrics: [facts],
  values: { m: values },
  centres: { m: values },
  ...more,
});
const packed = (rows) => ({
  scale: rows[0].map(() => 1),
  int8: Buffer.from(Int8Array.from(rows.flat()).buffer).toString("base64"),
});

test("a cell says its score and how far it is above the client's best; ties are both best", () => {
  const cells = cellsOf(board({ a: [1, 2, 5], b: [3, 2, "inf"], c: ["nan", null, "-inf"] }), "m", {});
  assert.equal(wordsOf(cells, "north", 0, "b"), "north, b: 3.000, 2.000 above the client’s best (a, 1.000)");
  assert.equal(wordsOf(cells, "north", 0, "a"), "north, a: 1.000, the client’s best");
  assert.equal(wordsOf(cells, "x", 1, "b"), "x, b: 2.000, the client’s best");
  assert.equal(wordsOf(cells, "x", 0, "c"), "x, c: no number (NaN)");
  assert.equal(wordsOf(cells, "x", 1, "c"), "x, c: not computed yet");
  assert.equal(wordsOf(cells, "x", 2, "b"), "x, b: infinite");
  assert.equal(wordsOf(cells, "x", 2, "a"), "x, a: 5.000, infinitely far from the client’s best");
});

test("which side of the best is worse depends on the metric", () => {
  const higher = cellsOf({ ...board({ a: [3], b: [1] }), centres: { m: { a: [-3], b: [-1] } }, metrics: [{ ...FACTS, higher: true }] }, "m", {});
  assert.equal(wordsOf(higher, "x", 0, "b"), "x, b: 1.000, 2.000 below the client’s best (a, 3.000)");
  const near = cellsOf({ ...board({ a: [-2], b: [1] }), centres: { m: { a: [2], b: [1] } }, metrics: [{ ...FACTS, best: 0 }] }, "m", {});
  assert.equal(wordsOf(near, "x", 0, "a"), "x, a: −2.000, 1.000 farther from 0 than the client’s best (b, 1.000)");
});

test("decisions' number comes first, the plain one in brackets, and colours are of the first", () => {
  const corrected = { ...board({ a: [3], b: [2.9] }), centres: { m: { a: [1], b: [2] } }, metrics: [{ ...FACTS, corrected: true }] };
  const cells = cellsOf(corrected, "m", {});
  assert.equal(wordsOf(cells, "x", 0, "b"), "x, b: 2.000 (plain 2.900), 1.000 above the client’s best (a, 1.000)");
  assert.deepEqual(cells.scales.raw, { from: 1, to: 2 });
});

test("a difference is chance by what the draws of both have not in common", () => {
  const shared = [9, -9, 9, -9, 9, -9];
  const own = [1, 1, -1, -1, 0, 0];
  const draws = { m: { a: packed(shared.map((x) => [x, x])), b: packed(shared.map((x, i) => [x + own[i], x + 9 * own[i]])) } };
  const cells = cellsOf(board({ a: [0, 0], b: [2, 2] }), "m", draws);
  assert.deepEqual([...cells.chance.b], [0, 1]); // errors 0.89 and 8.05
  assert.deepEqual([...cells.chance.a], [0, 0]);
  assert.deepEqual(cells.blind, ["", "n = 50: cannot tell"]);
  assert.equal(wordsOf(cells, "x", 1, "b"), "x, b: 2.000, 2.000 above the client’s best (a, 0.000); no more than chance; n = 50: cannot tell");
  assert.equal(cellsOf(board({ a: [0, 0], b: [2, 2] }), "m", {}).chance, null);
  const few = cellsOf(board({ a: [0, 0], b: [2, 2] }, { few: { m: ["fewer than 20", ""] } }), "m", {});
  assert.deepEqual(few.blind, ["n = 50: cannot tell, fewer than 20", ""]);
});

test("the colours end where most cells do, and know neither NaN nor infinities", () => {
  const losses = { a: Float64Array.from({ length: 100 }, (_, i) => i), b: Float64Array.from([NaN, Infinity, -Infinity]) };
  assert.deepEqual(scaleOf(losses, 0), { from: 0, to: 94 });
  assert.equal(levelOf({ from: 0, to: 94 }, 47), 0.5);
  assert.deepEqual(scaleOf({ a: Float64Array.from([0, 0, 0, 7]) }, 0), { from: 0, to: 7 });
  assert.equal(levelOf(scaleOf({ a: Float64Array.from([0, 0]) }, 0), 0), 0);
  assert.deepEqual(scaleOf({ a: Float64Array.from([NaN]) }, 0), { from: 0, to: 1 });
});

test("numbers are as short as cells are narrow", () => {
  const pairs = [[0, "0"], [0.2234, "0.22"], [2.96, "3.0"], [12.6, "13"], [123.4, "123"], [1969, "1969"], [31241, "3e4"], [2.1e-5, "2e−5"], [-0.5, "−0.50"]];
  for (const [value, text] of pairs) assert.equal(brief(value), text);
});

test("black or white reads on every colour of both themes", () => {
  for (const stops of [[[253, 243, 231], [229, 138, 60], [122, 34, 0]], [[43, 42, 44], [168, 85, 28], [255, 217, 168]]])
    for (let level = 0; level <= 1; level += 0.01) {
      const [colour, ink] = [colourAt(stops, level), inkOn(colourAt(stops, level))];
      const [low, high] = [luminance(colour), ink === "#000000" ? 0 : 1].sort((a, b) => a - b);
      assert.ok((high + 0.05) / (low + 0.05) >= 4.5);
    }
});

const scene = { metric: "m", order: "given", by: "avg", generators: ["a", "b"], colour: "regret" };
const numbers = (shares, avgLosses = [0, 1]) => ({
  clients: [{ name: "b10", rows: 5 }, { name: "b9", rows: 7 }, { name: "a", rows: 6 }],
  shares,
  metrics: { m: { facts: FACTS, centres: [[1, 2, 9], [4, 1, 8]].map((row) => Float64Array.from(row)), avgLosses } },
});

test("clients stand as they are asked to", () => {
  const by = (order, shares = [0.2, 0.5, 0.3]) => clientOrder({ ...scene, order }, numbers(shares), { leaves: [2, 0, 1] });
  assert.deepEqual(by("given"), [0, 1, 2]);
  assert.deepEqual(by("similarity"), [2, 0, 1]);
  assert.deepEqual(by("name"), [2, 1, 0]);
  assert.deepEqual(by("rows"), [1, 2, 0]);
  assert.deepEqual(by("weight"), [1, 2, 0]);
  assert.deepEqual(by("regret"), [1, 2, 0]); // under a: 0, 1, 1
  assert.deepEqual(by("worst"), [2, 0, 1]);
  assert.deepEqual(clientOrder({ ...scene, order: "similarity" }, numbers([1, 1, 1]), { leaves: [0, 0, 1] }), [0, 1, 2]);
});

test("an order by weights stays as it was until it is asked for", () => {
  const order = new Order();
  const weighed = { ...scene, order: "weight" };
  assert.deepEqual(order.of(weighed, numbers([0.5, 0.3, 0.2]), {}), [0, 1, 2]);
  assert.deepEqual(order.of(weighed, numbers([0.1, 0.3, 0.6]), {}), [0, 1, 2]);
  assert.equal(order.isStale, true);
  order.again();
  assert.deepEqual(order.of(weighed, numbers([0.1, 0.3, 0.6]), {}), [2, 1, 0]);
  assert.equal(order.isStale, false);
  const alike = { ...scene, order: "similarity" };
  assert.deepEqual(order.of(alike, numbers([1, 1, 1]), { leaves: [1, 0, 2] }), [1, 0, 2]);
  assert.deepEqual(order.of(alike, numbers([1, 1, 1]), { leaves: [2, 1, 0] }, true), [1, 0, 2]); // in a drag
});

test("a tree is cut from its top, and groups stand as its leaves do", () => {
  const tree = [[0, 3, 0.1], [1, 4, 0.2], [2, 5, 0.5], [6, 7, 0.9]];
  const leaves = [1, 4, 2, 3, 0];
  assert.deepEqual(cut(tree, leaves, 5).map(({ members }) => members), [[1], [4], [2], [3], [0]]);
  assert.deepEqual(cut(tree, leaves, 3).map(({ members }) => members), [[1, 4], [2], [3, 0]]);
  assert.deepEqual(cut(tree, leaves, 1).map(({ members }) => members), [leaves]);
});

test("hundreds fold along the tree, and who is worst has a row", () => {
  const count = 130;
  const order = Array.from({ length: count }, (_, i) => i);
  const tree = order.slice(1).map((i) => [i === 1 ? 0 : count + i - 2, i, i]); // a chain: one cluster grows
  const folded = { tree, leaves: order };
  const lines = linesOf(folded, order, new Set([3]), new Set());
  const [group] = lines;
  assert.equal(group.client, -1);
  assert.equal(group.members.includes(3), false);
  assert.deepEqual(lines[1], { client: 3, group: -1 });
  assert.equal(lines.length, 41);
  const seen = lines.flatMap((line) => (line.client < 0 ? line.members : [line.client])).sort((a, b) => a - b);
  assert.deepEqual(seen, order);
  const open = linesOf(folded, order, new Set([3]), new Set([group.group]));
  assert.equal(open.length, 41 + group.members.length);
  assert.equal(linesOf({ leaves: order }, order, new Set(), new Set()).length, count);
  const reversed = linesOf(folded, [...order].reverse(), new Set(), new Set());
  assert.equal(reversed[0].client, count - 1);
});

test("a group is the mean under the weights, with the span of what it is made of", () => {
  const cells = cellsOf(board({ a: [1, 2, 4, "nan", null], b: [0, 0, 0, 0, 0] }), "m", {});
  const of = (...members) => groupOf(cells, { generators: ["a", "b"], colour: "regret" }, [0.1, 0.3, 0.2, 0.2, 0.2], members);
  assert.equal(of(0, 1).words(0), "1.750 above the clients’ best on average, 1.000 to 2.000");
  assert.equal(of(0, 3).cell(0).is, "nan");
  assert.equal(of(4).cell(0).is, "unknown");
  assert.equal(of(1, 2, 4).words(0), "2.800 above the clients’ best on average, 2.000 to 4.000, so far");
  assert.deepEqual(of(0, 1, 2).cell(0).span, [1 / 4, 1]);
});

test("one client that is not shown is one client", () => {
  assert.equal(othersText(1), "1 more client, who loses less");
  assert.equal(othersText(7), "7 more clients, who lose less");
});
