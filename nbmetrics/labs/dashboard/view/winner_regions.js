/**
 * Twin: labs/dashboard/winner_regions.py · held by: tests/labs/dashboard/test_winner_regions_page.py
 *
 * Who wins where in the weights of three groups, and what each client loses. No DOM. Shares of all weightings do not
 * depend on the weights, so they come from Python.
 */

/** @typedef {number[][]} Polygon  its corners, each the weights of the three groups; empty where a generator wins nowhere */

import { isTie, sameScores } from "../../toolkit/view/ties.js";

const MIN_AREA_SHARE = 1e-12;

/** Where each generator wins by avg, as in Python. @param {ArrayLike<number>[]} centres @param {number[]} groups @param {ArrayLike<number>} weights @returns {Polygon[]} */
export function regions(centres, groups, weights) {
  const members = [0, 1, 2].map((group) => groups.map((_, i) => i).filter((i) => groups[i] === group));
  if (members.some((inside) => !inside.length)) return centres.map(() => []);
  const totals = members.map((inside) => inside.reduce((sum, i) => sum + weights[i], 0));
  const cornersOf = (/** @type {ArrayLike<number>} */ own) =>
    members.map((inside, group) => {
      const total = totals[group];
      if (total <= 0) return inside.reduce((sum, i) => sum + own[i] / inside.length, 0);
      return inside.reduce((sum, i) => (weights[i] > 0 ? sum + (own[i] * weights[i]) / total : sum), 0);
    });
  return polygons(centres.map(cornersOf));
}

/** The same from the losses at the three corners. @param {number[][]} corners @returns {Polygon[]} */
export function polygons(corners) {
  const areFinite = corners.map((own) => own.every(Number.isFinite));
  return corners.map((own, g) => {
    /** @type {Polygon} */
    let polygon = areFinite[g]
      ? [
          [1, 0, 0],
          [0, 1, 0],
          [0, 0, 1],
        ]
      : [];
    corners.forEach((other, h) => {
      if (!areFinite[h]) return;
      if (!isSame(own, other))
        polygon = clip(
          polygon,
          other.map((value, m) => value - own[m]),
        );
      else if (h < g) polygon = [];
    });
    return areaOf(polygon) > MIN_AREA_SHARE ? polygon : [];
  });
}

/** @param {number[]} first @param {number[]} second */
function isSame(first, second) {
  const most = (/** @type {number[]} */ values) => Math.max(...values.map(Math.abs));
  const scale = Math.max(most(first), most(second));
  return first.every((value, m) => isTie(value, second[m], scale));
}

/** The part of a convex polygon where a linear function, given at the corners of the simplex, is not negative. @param {Polygon} polygon @param {number[]} ahead */
function clip(polygon, ahead) {
  const values = polygon.map((point) => point.reduce((sum, share, m) => sum + share * ahead[m], 0));
  /** @type {Polygon} */
  const kept = [];
  polygon.forEach((q, n) => {
    const before = n ? n - 1 : polygon.length - 1;
    const [p, a, b] = [polygon[before], values[before], values[n]];
    if (a < 0 !== b < 0) kept.push(p.map((share, m) => share + (q[m] - share) * (a / (a - b))));
    if (b >= 0) kept.push(q);
  });
  return kept;
}

/** As a share of the triangle. @param {Polygon} polygon */
function areaOf(polygon) {
  const next = (/** @type {number} */ n) => polygon[(n + 1) % polygon.length];
  return Math.abs(polygon.reduce((sum, [x, y], n) => sum + x * next(n)[1] - y * next(n)[0], 0));
}

/** What each client loses with each generator beside its own best one. @param {ArrayLike<number>[]} centres @returns {number[][]} */
export function regret(centres) {
  const best = Array.from(centres[0] ?? [], (_, i) =>
    centres.reduce((least, own) => (own[i] < least || Number.isNaN(least) ? own[i] : least), NaN),
  );
  return centres.map((own) => best.map((least, i) => (sameScores(own[i], least) ? 0 : own[i] - least)));
}

/** The largest loss of a client with a weight, of each generator. @param {ArrayLike<number>[]} centres @param {ArrayLike<number>} weights */
export function worst(centres, weights) {
  return centres.map((own) => Math.max(...Array.from(own).filter((_, i) => weights[i] > 0)));
}
