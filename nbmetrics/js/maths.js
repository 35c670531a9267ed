/**
 * Closed forms for 2-D Gaussians, the numbers that move with the pointer. No DOM. Python is the reference:
 * both sides are held to the same golden vectors.
 *
 * @import { Item, Numbers, Scene } from "./types.js"
 */

/**
 * A law with mean (x, y), covariance [[a, b], [b, c]] and rootDet = √det, kept apart because a b² − a c
 * would lose it for flat ellipses.
 *
 * @typedef {{x: number, y: number, a: number, b: number, c: number, rootDet: number}} Law
 */

/** @param {Item} item @returns {Law} */
export function lawOf(item) {
  const [u, v] = axesOf(item);
  return {
    x: item.x,
    y: item.y,
    a: u[0] * u[0] + v[0] * v[0],
    b: u[0] * u[1] + v[0] * v[1],
    c: u[1] * u[1] + v[1] * v[1],
    rootDet: item.width * item.height,
  };
}

/** The two half-axes of the 1σ ellipse. @param {Item} item @returns {[number, number][]} */
export function axesOf({ width, height, angle }) {
  const turn = (angle * Math.PI) / 180;
  const cos = Math.cos(turn);
  const sin = Math.sin(turn);
  return [
    [width * cos, width * sin],
    [-height * sin, height * cos],
  ];
}

/** Weights divided by their sum. @param {Item[]} clients */
export function sharesOf(clients) {
  const total = clients.reduce((sum, client) => sum + (client.weight ?? 0), 0);
  return clients.map((client) => (client.weight ?? 0) / total);
}

/**
 * The Gaussian of the pooled clients: μ̂ = Σλμ, Ĉ = Σλ[C + (μ − μ̂)(μ − μ̂)ᵀ].
 * Its determinant is a sum of squares (Cauchy–Binet over all half-axes and shifts), so √det keeps every digit.
 *
 * @param {Item[]} clients
 * @returns {Law}
 */
export function pooledLaw(clients) {
  const shares = sharesOf(clients);
  const x = clients.reduce((sum, client, i) => sum + shares[i] * client.x, 0);
  const y = clients.reduce((sum, client, i) => sum + shares[i] * client.y, 0);
  const spokes = clients.flatMap((client, i) =>
    [...axesOf(client), [client.x - x, client.y - y]].map(([u, v]) => [Math.sqrt(shares[i]) * u, Math.sqrt(shares[i]) * v]),
  );
  let [a, b, c, det] = [0, 0, 0, 0];
  spokes.forEach(([u, v], i) => {
    a += u * u;
    b += u * v;
    c += v * v;
    for (let j = 0; j < i; j++) det += (u * spokes[j][1] - v * spokes[j][0]) ** 2;
  });
  return { x, y, a, b, c, rootDet: Math.sqrt(det) };
}

/** FID = ‖Δμ‖² + Tr S₁ + Tr S₂ − 2√(Tr S₁S₂ + 2√(det S₁ det S₂)). @param {Law} p @param {Law} q */
export function fidOf(p, q) {
  const product = p.a * q.a + 2 * p.b * q.b + p.c * q.c;
  const cross = Math.sqrt(product + 2 * p.rootDet * q.rootDet);
  const shift = (p.x - q.x) ** 2 + (p.y - q.y) ** 2;
  return shift + Math.max(0, p.a + p.c + q.a + q.c - 2 * cross);
}

/** E k(X, Y) for the cubic kernel (x·y/2 + 1)³. @param {Law} p @param {Law} q */
export function cubicMean(p, q) {
  const base = 1 + (p.x * q.x + p.y * q.y) / 2;
  const [qx, qy] = [q.a * p.x + q.b * p.y, q.b * p.x + q.c * p.y];
  const [px, py] = [p.a * q.x + p.b * q.y, p.b * q.x + p.c * q.y];
  const spread = p.x * qx + p.y * qy + q.x * px + q.y * py + p.a * q.a + 2 * p.b * q.b + p.c * q.c;
  return base ** 3 + 0.75 * base * spread + 0.75 * (qx * px + qy * py);
}

/** E k(X, Y) for the RBF kernel with bandwidth sigma. @param {number} sigma @returns {(p: Law, q: Law) => number} */
export function rbfMean(sigma) {
  const s2 = sigma * sigma;
  return (p, q) => {
    const [a, b, c] = [p.a + q.a + s2, p.b + q.b, p.c + q.c + s2];
    const [x, y] = [p.x - q.x, p.y - q.y];
    const det = a * c - b * b;
    return (s2 / Math.sqrt(det)) * Math.exp((-0.5 * (c * x * x - 2 * b * x * y + a * y * y)) / det);
  };
}

/**
 * Every score of a scene: client by client, averaged (avg) and on the pooled clients (all).
 *
 * @param {Scene} scene
 * @param {(p: Law, q: Law) => number} [kernelMean]
 * @returns {Numbers}
 */
export function numbersOf(scene, kernelMean = cubicMean) {
  const shares = sharesOf(scene.clients);
  const clients = scene.clients.map(lawOf);
  const generators = scene.generators.map(lawOf);
  const pooled = pooledLaw(scene.clients);
  const fid = generators.map((g) => clients.map((c) => fidOf(c, g)));
  const own = clients.map((c) => kernelMean(c, c));
  const real = dot(shares, clients.map((c) => dot(shares, clients.map((d) => kernelMean(c, d)))));
  const cross = generators.map((g) => clients.map((c) => kernelMean(c, g)));
  const made = generators.map((g) => kernelMean(g, g));
  const kid = generators.map((_, g) => clients.map((_, i) => own[i] + made[g] - 2 * cross[g][i]));
  return {
    fid: { byClient: fid, avg: fid.map((row) => dot(shares, row)), all: generators.map((g) => fidOf(pooled, g)) },
    kid: {
      byClient: kid,
      avg: kid.map((row) => dot(shares, row)),
      all: generators.map((_, g) => real + made[g] - 2 * dot(shares, cross[g])),
    },
  };
}

/** @param {number[]} weights @param {number[]} values */
function dot(weights, values) {
  return weights.reduce((sum, weight, i) => sum + weight * values[i], 0);
}

/** Places from 1 (lowest score, best); scores closer than rounding share a place. @param {number[]} scores */
export function placesOf(scores) {
  return scores.map((score) => 1 + scores.filter((other) => isLower(other, score)).length);
}

/** @param {number} a @param {number} b */
export function isLower(a, b) {
  return b - a > 1e-9 * Math.max(1e-3, Math.abs(a), Math.abs(b));
}
