/**
 * Who wins by all in the weights of three groups, of what Python computed: see winner_regions.py. Its small triangles are taken
 * for flat. No DOM.
 *
 * @import { Written } from "./types.js"
 */

import { readRow } from "../../toolkit/view/json_numbers.js";
import { leastOf } from "./decision_inputs.js";
import { polygons } from "./winner_regions.js";

const SAME_SHARE = 1e-9;
const EDGE_SHARE = 1e-6;

/**
 * @typedef {{metric: string, generators: string[], groups: number[], within: number[], unit: number, points: number[][],
 *   triangles: number[][], losses: Written[][], shifted?: boolean}} Winners
 * @typedef {Partial<Winners> & {doing?: string, error?: string}} Told
 * @typedef {import("./winner_regions.js").Polygon} Polygon
 */

/** The proportions that clients keep within their group; alike where it has no weight. @param {number[]} shares @param {number[]} groups */
export function withinOf(shares, groups) {
  const totals = [0, 0, 0];
  const counts = [0, 0, 0];
  groups.forEach((group, i) => {
    totals[group] += shares[i];
    counts[group] += 1;
  });
  return shares.map((share, i) => (totals[groups[i]] > 0 ? share / totals[groups[i]] : 1 / counts[groups[i]]));
}

/** What Python computed, where it is of these generators, groups and proportions; null elsewhere. @param {Told} told @param {{metric: string, generators: string[]}} scene @param {number[]} groups @param {number[]} within @returns {Winners | null} */
export function winnersOf(told, { metric, generators }, groups, within) {
  const { triangles, losses, points } = told;
  if (!(triangles && losses && points) || told.metric !== metric) return null;
  const isOf =
    generators.every((name) => told.generators?.includes(name)) &&
    groups.every((group, i) => group === told.groups?.[i]) &&
    within.every((share, i) => Math.abs(share - (told.within?.[i] ?? NaN)) < SAME_SHARE);
  return isOf ? /** @type {Winners} */ (told) : null;
}

/** Each small triangle: its corners, and the losses of the generators at them. @param {Winners} winners @param {string[]} names */
function tiles({ generators, points, unit, triangles, losses }, names) {
  const places = names.map((name) => generators.indexOf(name));
  return triangles.map((triangle) => ({
    corners: triangle.map((p) => points[p].map((part) => part / unit)),
    losses: places.map((g) => triangle.map((p) => readRow(losses[p])[g])),
  }));
}

/** For each generator the polygons that it wins. @param {Winners} winners @param {string[]} names @returns {Polygon[][]} */
export function patches(winners, names) {
  /** @type {Polygon[][]} */
  const polygonsByWinner = names.map(() => []);
  for (const { corners, losses } of tiles(winners, names))
    polygons(losses).forEach((polygon, g) => {
      if (polygon.length) polygonsByWinner[g].push(polygon.map((local) => mixCorners(corners, local)));
    });
  return polygonsByWinner;
}

/** The lines between who wins, as pairs of points: within a small triangle, or where two of them meet. @param {Winners} winners @param {string[]} names @returns {[number[], number[]][]} */
export function turns(winners, names) {
  /** @type {[number[], number[]][]} */
  const lines = [];
  for (const { corners, losses } of tiles(winners, names))
    for (const polygon of polygons(losses))
      polygon.forEach((q, n) => {
        const p = polygon[n ? n - 1 : polygon.length - 1];
        const isSide = p.some((share, m) => share < EDGE_SHARE && q[m] < EDGE_SHARE);
        if (!isSide) lines.push([mixCorners(corners, p), mixCorners(corners, q)]);
      });
  return lines;
}

/** Who wins at a point, -1 where nobody is known to. @param {Winners} winners @param {string[]} names @param {number[]} point */
export function winnerAt(winners, names, point) {
  for (const { corners, losses } of tiles(winners, names)) {
    const local = localOf(corners, point);
    if (local.every((share) => share >= -EDGE_SHARE))
      return leastOf(losses.map((own) => own.reduce((sum, loss, m) => sum + local[m] * loss, 0)));
  }
  return -1;
}

/** @param {number[][]} corners @param {number[]} shares */
function mixCorners(corners, shares) {
  return [0, 1, 2].map((axis) => corners.reduce((sum, corner, m) => sum + shares[m] * corner[axis], 0));
}

/** A point as weights of three corners, by areas. @param {number[][]} corners @param {number[]} point */
function localOf([a, b, c], point) {
  const areaOf = (/** @type {number[]} */ p, /** @type {number[]} */ q, /** @type {number[]} */ r) =>
    (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
  const whole = areaOf(a, b, c);
  return [areaOf(point, b, c) / whole, areaOf(a, point, c) / whole, areaOf(a, b, point) / whole];
}
