/** The triangle of three weights in pixels of its drawing. No DOM. */

/** Corners: left, right, top. */
export const CORNERS = [
  [14, 196],
  [246, 196],
  [130, -4],
];
// Pixels between two spans that are one.
const SEAM_PX = 0.6;

/** Pixels of three weights. @param {number[]} parts */
export function spot(parts) {
  return [0, 1].map((axis) => parts.reduce((sum, part, n) => sum + part * CORNERS[n][axis], 0));
}

/** Three weights at a pixel. @param {number} x @param {number} y */
export function partsAt(x, y) {
  const [left, right, top] = CORNERS;
  const up = (left[1] - y) / (left[1] - top[1]);
  const across = (x - left[0] - up * (top[0] - left[0])) / (right[0] - left[0]);
  return [1 - up - across, across, up];
}

/** On the triangle, in steps of a thousandth, of sum 1. @param {number[]} parts */
export function roundParts(parts) {
  const kept = parts.map((part) => Math.max(0, part));
  const total = kept.reduce((sum, part) => sum + part, 0);
  const [first, second] = kept.map((part) => Math.round((1000 * part) / total) / 1000);
  return [first, Math.min(second, 1 - first), Math.max(0, 1 - first - second)];
}

/** @param {number[][]} points */
export function pathOf(points) {
  return `M${points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}Z`;
}

/** Where convex polygons together are widest: a place for a name, and how much room there is. @param {number[][][]} polygons */
export function middle(polygons) {
  const ys = polygons.flatMap((points) => points.map(([, y]) => y));
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  let best = { x: 0, y: 0, room: 0 };
  for (let n = 1; n < 8; n++) {
    const y = low + ((high - low) * n) / 8;
    for (const [from, to] of spansAt(polygons, y))
      if (to - from > best.room && Math.min(y - low, high - y) > 6) best = { x: (from + to) / 2, y, room: to - from };
  }
  return best;
}

/** @param {number[][][]} polygons @param {number} y @returns {[number, number][]} */
function spansAt(polygons, y) {
  /** @type {[number, number][]} */
  const spans = [];
  for (const points of polygons) {
    const xs = points.flatMap(([x, at], m) => {
      const [other, beyond] = points[(m + 1) % points.length];
      return at < y === beyond < y ? [] : [x + ((other - x) * (y - at)) / (beyond - at)];
    });
    if (xs.length) spans.push([Math.min(...xs), Math.max(...xs)]);
  }
  spans.sort((a, b) => a[0] - b[0]);
  /** @type {[number, number][]} */
  const joined = [];
  for (const [from, to] of spans) {
    const last = joined[joined.length - 1];
    if (last && from <= last[1] + SEAM_PX) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}
