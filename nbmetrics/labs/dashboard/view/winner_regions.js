/**
 * Twin: labs/dashboard/winner_regions.py · held by: tests/labs/dashboard/test_winner_regions_page.py
 *
 * Who wins where in the weights of three groups, and what each client loses. No DOM. Shares of all weightings do not
 * depend on the weights, so they come from Python.
 *
 * @import { Board, Scene, Written } from "./types.js"
 */
import { readRow } from "../../toolkit/view/json_numbers.js";
import { isTie, sameScores } from "../../toolkit/view/ties.js";
import { leastOf } from "./place_ranges.js";

/** @typedef {number[][]} Polygon  its corners, each the weights of the three groups; empty where a generator wins nowhere */

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

/* Who wins by all in the weights of three groups, of what Python computed: see winner_regions.py. Its small triangles are taken for flat. No DOM. */

const SAME_SHARE = 1e-9;
const EDGE_SHARE = 1e-6;

/**
 * @typedef {{metric: string, generators: string[], groups: number[], within: number[], unit: number, points: number[][],
 *   triangles: number[][], losses: Written[][], shifted?: boolean}} Winners
 * @typedef {Partial<Winners> & {doing?: string, error?: string}} Told
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

/* Three groups of clients, the corners of the triangle of weights: by thirds of their order, or the largest branches of the tree of clients that are alike. No DOM. */

/** The first, second and last third in the order given. @param {number} count */
export function thirds(count) {
  return Array.from({ length: count }, (_, i) => Math.floor((3 * i) / count));
}

/** The three branches that are left when the two highest joins of a tree are cut; null without a tree. @param {Board} board @returns {number[] | null} */
export function branches({ clients, tree, leaves }) {
  const count = clients.length;
  if (!tree || tree.length !== count - 1 || count < 3) return null;
  /** @type {number[][]} members by cluster; those joined last are cut */
  const members = clients.map((_, i) => [i]);
  for (const [left, right] of tree.slice(0, -2)) members.push([...members[left], ...members[right]]);
  /** @type {Set<number>} */
  const joined = new Set();
  for (const [left, right] of tree.slice(0, -2)) joined.add(left).add(right);
  const tops = members.filter((_, at) => !joined.has(at));
  const order = leaves ?? clients.map((_, i) => i);
  tops.sort((a, b) => order.indexOf(a[0]) - order.indexOf(b[0]));
  const groups = Array(count).fill(0);
  tops.forEach((inside, group) => {
    for (const i of inside) groups[i] = group;
  });
  return groups;
}

/** The weights of three groups. @param {number[]} shares @param {number[]} groups */
export function totals(shares, groups) {
  return [0, 1, 2].map((group) => shares.reduce((sum, share, i) => (groups[i] === group ? sum + share : sum), 0));
}

/** Shares with these weights of the groups: within one in proportion, or alike where none has any. @param {number[]} shares @param {number[]} groups @param {number[]} wanted */
export function withTotals(shares, groups, wanted) {
  const now = totals(shares, groups);
  const counts = [0, 1, 2].map((group) => groups.filter((own) => own === group).length);
  return shares.map((share, i) => {
    const group = groups[i];
    return now[group] > 0 ? (share * wanted[group]) / now[group] : wanted[group] / counts[group];
  });
}

/** A group by its first client and the number of others: "north +2". @param {{name: string}[]} clients @param {number[]} groups @param {number} group */
export function nameOf(clients, groups, group) {
  const inside = clients.filter((_, i) => groups[i] === group);
  const more = inside.length > 1 ? ` +${inside.length - 1}` : "";
  return { first: inside[0]?.name ?? "", more };
}

/** The groups of a scene, or thirds where it has none. @param {Scene} scene @param {number} count */
export function groupsOf({ groups }, count) {
  return groups.length === count ? groups : thirds(count);
}
