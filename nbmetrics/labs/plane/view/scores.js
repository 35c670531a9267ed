/**
 * Twin: metrics/fid/metric.py, metrics/kid/metric.py, metrics/conditional.py · held by: tests/labs/plane/test_scores_page.py
 *
 * Closed forms for distributions in the plane, the numbers that move with the pointer. No DOM. Python is the reference.
 *
 * @import { Aggregates, Data, Distribution, Numbers, Scene } from "../../toolkit/view/types.js"
 */
import { isTie } from "../../toolkit/view/ties.js";
import { distributionsOf, phiOf } from "./distributions.js";

/** FID = ‖Δμ‖² + Tr S₁ + Tr S₂ − 2√(Tr S₁S₂ + 2√(det S₁ det S₂)). @param {Distribution} p @param {Distribution} q */
export function fidOf(p, q) {
  const product = p.a * q.a + 2 * p.b * q.b + p.c * q.c;
  const cross = Math.sqrt(product + 2 * p.rootDet * q.rootDet);
  const shift = (p.x - q.x) ** 2 + (p.y - q.y) ** 2;
  return shift + Math.max(0, p.a + p.c + q.a + q.c - 2 * cross);
}

/** E k(X, Y) for the cubic kernel (x·y/2 + 1)³. @param {Distribution} p @param {Distribution} q */
export function cubicMean(p, q) {
  const [first, second] = [phiOf(p), phiOf(q)];
  let sum = 0;
  for (let t = 0; t < first.length; t++) sum += first[t] * second[t];
  return sum;
}

/** E k(X, Y) for the RBF kernel with bandwidth sigma, of Gaussians and their mixtures. @param {number} sigma @returns {(p: Distribution, q: Distribution) => number} */
export function rbfMean(sigma) {
  const s2 = sigma * sigma;
  const single = (/** @type {Distribution} */ p, /** @type {Distribution} */ q) => {
    const [a, b, c] = [p.a + q.a + s2, p.b + q.b, p.c + q.c + s2];
    const [x, y] = [p.x - q.x, p.y - q.y];
    const det = a * c - b * b;
    return (s2 / Math.sqrt(det)) * Math.exp((-0.5 * (c * x * x - 2 * b * x * y + a * y * y)) / det);
  };
  const parts = (/** @type {Distribution} */ distribution) => distribution.parts ?? [{ distribution, weight: 1 }];
  return (p, q) => {
    let sum = 0;
    for (const r of parts(p))
      for (const s of parts(q)) sum += r.weight * s.weight * single(r.distribution, s.distribution);
    return sum;
  };
}

/** Whether x varies by more than rounding, as Python decides it (joint.py). @param {Distribution} distribution */
function varies(distribution) {
  return Math.sqrt(distribution.a) > 2 ** -46 * Math.abs(distribution.x);
}

/** The generator's y given x, put on the x of the real distribution: its mean of y, covariance with x, and variance given x. @param {Distribution} real @param {Distribution} generated */
function regressionImage(real, generated) {
  const slope = varies(generated) ? generated.b / generated.a : 0;
  const rest = varies(generated) ? generated.rootDet ** 2 / generated.a : generated.c;
  return { y: generated.y + slope * (real.x - generated.x), b: slope * real.a, rest, c: slope * slope * real.a + rest };
}

/** @type {Record<string, (p: Distribution, q: Distribution) => number[]>} the addends of each score of the conditional family, axes read as x → y */
const CONDITIONAL = {
  mfid: (p, q) => {
    const g = regressionImage(p, q);
    return [(p.y - g.y) ** 2, (Math.sqrt(p.c) - Math.sqrt(g.c)) ** 2];
  },
  rfid: (p, q) => {
    const g = regressionImage(p, q);
    const cross = Math.sqrt(p.a * p.a + 2 * p.b * g.b + p.c * g.c + 2 * p.rootDet * Math.sqrt(p.a * g.rest));
    return [(p.y - g.y) ** 2, Math.max(0, 2 * p.a + p.c + g.c - 2 * cross)];
  },
  cfid: (p, q) => {
    const g = regressionImage(p, q);
    const rest = varies(p) ? p.rootDet ** 2 / p.a : p.c;
    return [(p.y - g.y) ** 2, varies(p) ? (p.b - g.b) ** 2 / p.a : 0, (Math.sqrt(rest) - Math.sqrt(g.rest)) ** 2];
  },
};

/** Bandwidth of KID (RBF): √d in the plane. */
export const SIGMA = Math.SQRT2;
const RBF = rbfMean(SIGMA);
const CLOSED = ["fid", "kid", ...Object.keys(CONDITIONAL)];

/** Whether the page can compute a metric of these distributions. @param {string} metric @param {Distribution[]} distributions */
export function isClosed(metric, distributions) {
  const isSmooth = (/** @type {Distribution} */ distribution) =>
    !distribution.points && (distribution.parts ?? []).every((part) => !part.distribution.points);
  return metric === "kid_rbf" ? distributions.every(isSmooth) : CLOSED.includes(metric);
}

/** E k(X, X′) without the pairs of a row with itself. @param {Distribution} distribution @param {(p: Distribution, q: Distribution) => number} mean @param {number} [diagonal] Σλ²k(x,x)/n */
function selfMean(distribution, mean, diagonal = distribution.lostDiagonal) {
  return (mean(distribution, distribution) - diagonal) / (1 - distribution.lost);
}

/** The addends of one score. @param {string} metric @param {Distribution} p the real distribution @param {Distribution} q the generator @returns {number[]} */
export function addendsOf(metric, p, q) {
  if (metric === "fid") {
    const shift = (p.x - q.x) ** 2 + (p.y - q.y) ** 2;
    const traces = [p.a + p.c, q.a + q.c];
    return [shift, ...traces, fidOf(p, q) - shift - traces[0] - traces[1]];
  }
  if (metric === "kid") return [selfMean(p, cubicMean), selfMean(q, cubicMean), -2 * cubicMean(p, q)];
  if (metric === "kid_rbf") return [selfMean(p, RBF, p.lost), selfMean(q, RBF, q.lost), -2 * RBF(p, q)];
  return CONDITIONAL[metric](p, q);
}

/** One score of every client and of the pooled clients. @param {string} metric @param {Omit<ReturnType<typeof distributionsOf>, "make">} distributions @returns {Aggregates & {terms: number[]}} */
export function computeScores(metric, { clients, generators, pooled, shares }) {
  const kernel = metric === "kid" ? cubicMean : metric === "kid_rbf" ? RBF : null;
  /** @type {(p: Distribution, q: Distribution, real: number, made: number) => number} */
  const score = kernel
    ? (p, q, real, generatedTerms) => real + generatedTerms - 2 * kernel(p, q)
    : metric === "fid"
      ? fidOf
      : (p, q) => CONDITIONAL[metric](p, q).reduce((s, t) => s + t);
  const own = (/** @type {Distribution} */ distribution) =>
    kernel ? selfMean(distribution, kernel, kernel === RBF ? distribution.lost : distribution.lostDiagonal) : 0;
  const [real, together, generatedTerms] = [clients.map(own), own(pooled), generators.map(own)];
  const byClient = generators.map((q, g) => clients.map((p, i) => score(p, q, real[i], generatedTerms[g])));
  const avg = byClient.map((row) => dot(shares, row));
  const all = generators.map((q, g) => score(pooled, q, together, generatedTerms[g]));
  const forEach = generators.map((q, g) =>
    q.own ? q.own.map((part, i) => score(clients[i], part, real[i], own(part))) : byClient[g],
  );
  const intra = generators.some((q) => q.own) ? { intra: forEach.map((row) => dot(shares, row)), own: forEach } : {};
  const kernels = [...real, together].reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const spread = (/** @type {Distribution} */ distribution) => distribution.a + distribution.c;
  const widest = clients.reduce((most, distribution) => Math.max(most, spread(distribution)), spread(pooled));
  // Of each score: |kernel means| of both sides and of their pairs, or both traces twice and the squared shift.
  const terms = generators.map((q, g) => {
    const shown = Math.max(Math.abs(avg[g]), Math.abs(all[g]), Math.abs(intra.intra?.[g] ?? 0));
    const parts = [q, ...(q.own ?? [])];
    const largest = Math.max(...parts.map((part) => (kernel ? Math.abs(own(part)) : spread(part))));
    return 2 * ((kernel ? kernels : widest) + largest) + shown;
  });
  return { byClient, avg, all, ...intra, terms };
}

/**
 * Scores of a scene: client by client, averaged (avg) and on the pooled clients (all); each client with what is for it
 * (own), averaged (intra), where some generator has an ellipse for each client. FID and KID always, and the
 * metric of the scene's view where the page can compute it.
 * @param {Scene} scene @param {Record<string, Data>} [data] @param {string[]} [metrics]
 * @returns {Numbers}
 */
export function numbersOf(scene, data, metrics = ["fid", "kid", scene.view?.metric ?? "fid"]) {
  const distributions = distributionsOf(scene, data);
  const all = [...distributions.clients, ...distributions.generators];
  /** @type {Record<string, Aggregates>} */
  const numbersByMetric = {};
  for (const metric of metrics)
    if (!numbersByMetric[metric] && isClosed(metric, all))
      numbersByMetric[metric] = computeScores(metric, distributions);
  return /** @type {Numbers} */ (numbersByMetric);
}

/** @param {number[]} weights @param {number[]} values */
function dot(weights, values) {
  return weights.reduce((sum, weight, i) => sum + weight * values[i], 0);
}

/** Places from 1 (best); scores that differ by rounding alone share a place. @param {number[]} scores @param {boolean} [higherIsBetter] @param {number[]} [terms] of each score the sum of the absolute values of its terms, where that is known @param {number[][]} [margin] of each pair how far apart they must lie */
export function placesOf(scores, higherIsBetter = false, terms = [], margin = []) {
  const isBeaten = (/** @type {number} */ g, /** @type {number} */ by) => {
    const [low, high] = higherIsBetter ? [g, by] : [by, g];
    const isApart = Math.abs(scores[g] - scores[by]) > (margin[g]?.[by] ?? 0);
    return isApart && isLower(scores[low], scores[high], terms[g], terms[by]);
  };
  return scores.map((_, g) => 1 + scores.filter((_, by) => isBeaten(g, by)).length);
}

/** Whether a is lower by more than rounding. @param {number} a @param {number} b @param {number[]} terms of both, where they are known */
export function isLower(a, b, ...terms) {
  const sizes = terms.filter((size) => size !== undefined);
  return a < b && !isTie(a, b, Math.max(Math.abs(a), Math.abs(b), ...sizes));
}
