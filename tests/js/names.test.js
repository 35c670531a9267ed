/** Names in the plane: short enough, apart from one another and from the marks, and in the picture. */
import assert from "node:assert/strict";
import test from "node:test";
import { labelSpots, projection } from "../../nbmetrics/labs/plane/view/geometry.js";
import { nameWidth, shortened } from "../../nbmetrics/labs/toolkit/view/name_width.js";

const LINE = 14;
const SIZE = 540;
const HALF = 5;
const client = (name, x, y, width = 1, height = 1) => ({ name, x, y, width, height, angle: 0, weight: 1 });
const FRAME = { width: SIZE, height: SIZE, scale: SIZE / (2 * HALF) };
const { at } = projection(FRAME);

/** Of each label, in pixels: left, right, top, bottom. */
const boxesOf = (items, labels) => labels.map(({ text, x, y }, i) => {
  const [meanX, meanY] = at(items[i].x, items[i].y);
  const half = nameWidth(text) / 2;
  return [meanX + x - half, meanX + x + half, meanY + y - LINE + 3, meanY + y + 3];
});
const overlap = ([a, b, c, d], [p, q, r, s]) => Math.min(b, q) - Math.max(a, p) > 0.01 && Math.min(d, s) - Math.max(c, r) > 0.01;

test("a name that fits stays, another loses its middle and keeps its number", () => {
  assert.equal(shortened("Client 12", 80, 12), "Client 12");
  for (const name of ["Universitätsklinikum Hamburg-Eppendorf 17", "W".repeat(40) + "17", "東京大学医学部附属病院".repeat(3) + "17", "😀".repeat(30) + "17"]) {
    for (const room of [60, 85, 160]) {
      const short = shortened(name, room, 12);
      assert.ok(nameWidth(short) <= room, `${short} in ${room}`);
      assert.match(short, /^.+….*17$/u);
    }
  }
  assert.equal(shortened("WWWW", 1), "W…");
  assert.equal(shortened("Generator 1", 75), "Generator 1"); // in a chart
});

test("wide letters count for more than narrow ones", () => {
  assert.ok(nameWidth("WWWW") > 13 * 4 && nameWidth("illi") < 7 * 4);
});

test("names keep off earlier names, all means and what is to be kept clear", () => {
  const items = [client("Client 1", -0.4, 0), client("Client 2", 0.4, 0), client("Client 3", 0, 1.4, 0.2, 0.2), client("Client 4", 0, 1.4, 0.2, 0.2)];
  const clear = [{ x: 270, y: 150, wide: 40, high: 40 }];
  const boxes = boxesOf(items, labelSpots(FRAME, items, clear));
  const marks = items.map(({ x, y }) => at(x, y)).map(([x, y]) => [x - 8, x + 8, y - 8, y + 8]);
  const taken = [...marks, [250, 290, 130, 170]];
  boxes.forEach((box, i) => {
    for (const other of [...boxes.slice(0, i), ...taken]) assert.ok(!overlap(box, other), `${box} and ${other}`);
  });
});

test("a name keeps out of the ellipse of another, whose name it would seem to be", () => {
  const narrow = { ...client("Narrow", 0, 0.9), weight: undefined };
  const wide = { ...client("Wide", 0, -0.9, 2.7, 1), weight: undefined };
  const [above, below] = labelSpots(FRAME, [narrow, wide]);
  assert.ok(above.y < 0 && below.y > 0, "Narrow is named above, Wide below");
  const [alone] = labelSpots(FRAME, [narrow]);
  assert.ok(alone.y > 0, "with nothing there, below");
});

test("a dozen clients of one mean show the names that there is room for, the chosen and the pointed one always", () => {
  const items = Array.from({ length: 12 }, (_, i) => client(`Client ${i}`, 0, 0));
  const shown = (labels) => labels.filter(({ text }) => text);
  assert.equal(new Set(shown(labelSpots(FRAME, items)).map(({ y }) => y)).size, 8);
  const labels = labelSpots(FRAME, items, [], { chosen: 11, pointed: 10 });
  assert.deepEqual([labels[10].text, labels[11].text], ["Client 10", "Client 11"]);
});

test("in 200 random scenes of up to 8 items no name hides another, or a mark", () => {
  let seed = 1;
  const random = (low, high) => low + ((high - low) * (seed = (48271 * seed) % 2147483647)) / 2147483647;
  let hidden = 0;
  for (let k = 0; k < 200; k++) {
    const items = Array.from({ length: 1 + (k % 8) }, (_, i) => ({
      ...client(`${i % 2 ? "Generator" : "Client"} ${i}`, random(-4, 4), random(-4, 4), random(0.1, 2.5), random(0.1, 2.5)),
      angle: random(-90, 90),
      ...(i % 2 ? { weight: undefined } : {}),
    }));
    const labels = labelSpots(FRAME, items);
    const boxes = boxesOf(items, labels).filter((_, i) => labels[i].text);
    hidden += items.length - boxes.length;
    const marks = items.map(({ x, y }) => at(x, y)).map(([x, y]) => [x - 8, x + 8, y - 8, y + 8]);
    boxes.forEach((box, i) => {
      for (const other of [...boxes.slice(0, i), ...marks]) assert.ok(!overlap(box, other), `${box} and ${other}`);
      assert.ok(box[0] >= 0 && box[1] <= SIZE && box[2] >= 0 && box[3] <= SIZE, `${box}`);
    });
  }
  assert.ok(hidden < 20, `${hidden} names have no room`);
});

test("a name stays in the picture, wherever its item lies", () => {
  for (const [x, y, width] of [[5, 5, 1], [-5, -5, 1], [0, 0, 5], [7, 9, 1]]) {
    const item = client("Universitätsklinikum Hamburg-Eppendorf", x, y, width, width);
    const [[left, right, top, bottom]] = boxesOf([item], labelSpots(FRAME, [item]));
    assert.ok(left >= 0 && right <= SIZE && top >= 0 && bottom <= SIZE, `${[left, right, top, bottom]}`);
  }
});
