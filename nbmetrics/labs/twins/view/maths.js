/**
 * Twin: theory/twins.py · held by: tests/labs/twins/test_twins.py
 *
 * The pair of generators in closed form, so that the twin moves with the pointer. No DOM.
 *
 * @import { Item, Distribution } from "../../toolkit/view/types.js"
 */

import { distributionOf, mixture, sharesOf } from "../../plane/view/distributions.js";
import { ellipseOf } from "../../plane/view/geometry.js";
import { fidOf } from "../../plane/view/scores.js";
import { lowest } from "../../toolkit/view/ties.js";

/**
 * The first generator, the second where there is a closed form, and how it was made: an "offset" √u β, another
 * "covariance", as "printed"; "search" is for Python to find, and for "none" there is a `reason`. `other` is the mirror
 * image of an offset twin, a twin as well, or the corrected twin beside the printed one; where that has none, the
 * `reason`. The printed second is the first itself where u is 0.
 *
 * @typedef {{how: "offset" | "covariance" | "printed" | "search" | "none", first: Distribution, second: Distribution | null, u: number,
 *   beta: [number, number] | null, other: Distribution | null, reason: string}} Pair
 * @typedef {{rev: number, preset: string, half: number, shared: boolean, construction: string, clients: Item[]}} TwinsScene
 * @typedef {{first: number[], second: number[] | null}} PairScores  with each client, then avg, then all
 */

// As in theory/twins.py: relative to the trace, what counts as the same; relative to the scores, the least gap worth the name.
const TWIN_SAME = 1e-12;
const TWIN_APART = 1e-6;
const COV_PARTS = /** @type {const} */ (["a", "b", "c"]);
const ALL_ALIKE = "All clients with weight are alike, so the score of each equals FID-all.";
const NEARLY_ONE = "The clients nearly coincide: FID-all of no twin reaches a millionth of FID-avg.";
const MEANS_SPAN =
  "The printed construction needs a direction orthogonal to the means, and these means span the plane.";

/** @param {TwinsScene} scene @returns {Pair} */
export function pairOf({ clients, construction }) {
  if (construction !== "printed") return correctedPair(clients);
  const pair = printedPair(clients);
  if (!pair.second) return pair;
  const { second: other, reason } = correctedPair(clients);
  return { ...pair, other, reason };
}

/** FID of both generators with each client, averaged, and pooled. @param {Item[]} clients @param {Distribution} first @param {Distribution | null} second @returns {PairScores} */
export function pairScores(clients, first, second) {
  const shares = sharesOf(clients);
  const distributions = clients.map(distributionOf);
  const scores = (/** @type {Distribution} */ distribution) => {
    const own = distributions.map((client) => fidOf(client, distribution));
    return [...own, own.reduce((sum, value, i) => sum + shares[i] * value, 0), fidOf(first, distribution)];
  };
  return { first: scores(first), second: second && scores(second) };
}

/** The closed forms of `nm.theory.twin`. @param {Item[]} clients @returns {Pair} */
export function correctedPair(clients) {
  const [distributions, shares] = [clients.map(distributionOf), sharesOf(clients)];
  const first = mixture(distributions.map((distribution, i) => ({ distribution, weight: shares[i] })));
  const slack = TWIN_SAME * (first.a + first.c);
  const isAlike = distributions.every(
    (distribution) => Math.max(...COV_PARTS.map((k) => Math.abs(distribution[k] - distributions[0][k]))) <= slack,
  );
  const heavy = distributions.filter((_, i) => shares[i] > 0);
  const isOne = heavy.every(
    (distribution) =>
      bures(distribution, first) <= slack && distribution.x === heavy[0].x && distribution.y === heavy[0].y,
  );
  if (isOne) return noPair(first, ALL_ALIKE);
  if (!isAlike) return { how: "search", first, second: null, u: NaN, beta: null, other: null, reason: "" };
  const u = bures(distributions[0], first);
  const away = distributions.map((distribution) => [distribution.x - first.x, distribution.y - first.y]);
  const avg = u + away.reduce((sum, [x, y], i) => sum + shares[i] * (x * x + y * y), 0);
  if (4 * u <= TWIN_APART * avg) return noPair(first, NEARLY_ONE);
  const { isLine, beta } = lineOf(away, Math.sqrt(slack * TWIN_SAME));
  const pair = isLine ? offsetPair(first, distributions[0], u, beta) : covariancePair(first, distributions[0], u);
  return pair.second && fidOf(first, pair.second) <= slack ? noPair(first, ALL_ALIKE) : pair;
}

/** The papers' construction as printed, which is wrong. @param {Item[]} clients @returns {Pair} */
export function printedPair(clients) {
  const [distributions, shares] = [clients.map(distributionOf), sharesOf(clients)];
  const parts = distributions.map((distribution, i) => ({ distribution, weight: shares[i] }));
  const first = mixture(parts);
  const u = distributions.reduce(
    (sum, distribution, i) => sum + shares[i] * ((distribution.x - first.x) ** 2 + (distribution.y - first.y) ** 2),
    0,
  );
  const { isLine, beta } = lineOf(
    distributions.map((distribution) => [distribution.x, distribution.y]),
    null,
  );
  if (!isLine) return noPair(first, MEANS_SPAN);
  if (u <= TWIN_SAME * (first.a + first.c))
    return { how: "printed", first, second: first, u: 0, beta: null, other: null, reason: "" };
  const within = mixture(
    parts.map(({ distribution, weight }) => ({ distribution: { ...distribution, x: 0, y: 0 }, weight })),
  );
  return {
    how: "printed",
    first,
    second: shift({ ...within, x: first.x, y: first.y }, beta, Math.sqrt(u)),
    u,
    beta,
    other: null,
    reason: "",
  };
}

/** N(μ̂ + √u β, C), and its image on the other side. @param {Distribution} first @param {Distribution} shape @param {number} u @param {[number, number]} beta @returns {Pair} */
function offsetPair(first, shape, u, beta) {
  const centre = { ...shape, x: first.x, y: first.y };
  const [second, other] = [1, -1].map((side) => shift(centre, beta, side * Math.sqrt(u)));
  return { how: "offset", first, second, u, beta, other, reason: "" };
}

/** N(μ̂, S) with Bures²(C, S) = u: multiples of C, and Ĉ mirrored in C. @param {Distribution} first @param {Distribution} shape @param {number} u @returns {Pair} */
function covariancePair(first, shape, u) {
  const trace = shape.a + shape.c;
  const step = Math.sqrt(u / trace);
  const centre = { ...shape, x: first.x, y: first.y };
  const candidates =
    trace === 0 ? [] : [1 + step, 1 - step].filter((s) => s >= 0).map((s) => mapped2(centre, [s, 0, s], s * s));
  const mirror = trace === 0 ? null : mirrorOf(shape, first);
  if (mirror) candidates.push(mapped2(centre, mirror.matrix, mirror.det));
  const gaps = candidates.map((distribution) => fidOf(first, distribution));
  const best = lowest(gaps.map((gap) => -gap));
  const second = gaps[best] > TWIN_APART * u ? candidates[best] : null;
  return { how: second ? "covariance" : "search", first, second, u, beta: null, other: null, reason: "" };
}

/**
 * The map 2I − T, where T carries N(0, C) to N(0, Ĉ); null where there is none. T is the geometric mean of C⁻¹ and Ĉ,
 * for 2 × 2 matrices a multiple of C⁻¹/√det C⁻¹ + Ĉ/√det Ĉ.
 * @param {Distribution} shape @param {Distribution} first @returns {{matrix: [number, number, number], det: number} | null}
 */
function mirrorOf(shape, first) {
  const { width } = ellipseOf(shape);
  if (shape.rootDet ** 2 <= TWIN_SAME * width ** 4) return null;
  const [a, b, c] = [shape.c, -shape.b, shape.a].map((value) => value / shape.rootDet);
  const [p, q, r] = [first.a, first.b, first.c].map((value) => value / first.rootDet);
  const factor = Math.sqrt(first.rootDet / shape.rootDet / (2 + a * r + c * p - 2 * b * q));
  const [x, y, z] = [factor * (a + p), factor * (b + q), factor * (c + r)];
  const [middle, spread] = [(x + z) / 2, Math.hypot((x - z) / 2, y)];
  if (2 - middle - spread < 0) return null;
  return { matrix: [2 - x, -y, 2 - z], det: (2 - middle - spread) * (2 - middle + spread) };
}

/** The distribution with every half-axis mapped by the symmetric [[p, q], [q, r]]. @param {Distribution} distribution @param {number[]} matrix @param {number} det @returns {Distribution} */
function mapped2(distribution, [p, q, r], det) {
  const spokes = distribution.spokes.map(([u, v]) => [p * u + q * v, q * u + r * v]);
  const sum = (/** @type {number} */ i, /** @type {number} */ j) =>
    spokes.reduce((total, spoke) => total + spoke[i] * spoke[j], 0);
  return { ...distribution, spokes, a: sum(0, 0), b: sum(0, 1), c: sum(1, 1), rootDet: det * distribution.rootDet };
}

/**
 * Whether vectors lie on a line through 0, and the unit vector orthogonal to it, its larger part positive.
 * The smaller singular value comes from a sum of squares, so that it keeps its digits.
 * @param {number[][]} vectors @param {number | null} slack what counts as 0; relative to the larger one where null
 * @returns {{isLine: boolean, beta: [number, number]}}
 */
function lineOf(vectors, slack) {
  let [a, b, c, det] = [0, 0, 0, 0];
  vectors.forEach(([x, y], i) => {
    a += x * x;
    b += x * y;
    c += y * y;
    for (let j = 0; j < i; j++) det += (x * vectors[j][1] - y * vectors[j][0]) ** 2;
  });
  const { width: large, angle } = ellipseOf({ a, b, c });
  const small = large > 0 ? Math.sqrt(det) / large : 0;
  const turn = (angle * Math.PI) / 180;
  const [x, y] = [-Math.sin(turn), Math.cos(turn)];
  const side = (Math.abs(x) >= Math.abs(y) ? x : y) < 0 ? -1 : 1;
  return { isLine: small <= (slack ?? TWIN_SAME * large), beta: [side * x, side * y] };
}

/** @param {Distribution} distribution @param {[number, number]} beta @param {number} by @returns {Distribution} */
function shift(distribution, [x, y], by) {
  return { ...distribution, x: distribution.x + by * x, y: distribution.y + by * y };
}

/** The squared Bures distance of two covariances. @param {Distribution} p @param {Distribution} q */
function bures(p, q) {
  return fidOf({ ...p, x: 0, y: 0 }, { ...q, x: 0, y: 0 });
}

/** @param {Distribution} first @param {string} reason @returns {Pair} */
function noPair(first, reason) {
  return { how: "none", first, second: null, u: 0, beta: null, other: null, reason };
}
