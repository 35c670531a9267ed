/**
 * Twin: labs/plane/laws.py, labs/playground/scene.py · held by: tests/labs/plane/test_scores_page.py
 *
 * What items stand for: laws with moments, mixtures of Gaussians, or rows; in Python `Scene.federation` and
 * `Scene.sources`. No DOM.
 *
 * @import { Data, Item, Law, Model, Part, Scene } from "../../toolkit/view/types.js"
 */
import { noise } from "../../toolkit/view/random.js";

// The cubic kernel (x·y/2 + 1)³ is the inner product of z ⊗ z ⊗ z with z = (1, x/√2, y/√2): ten distinct numbers.
const ROOT_GAMMA = Math.SQRT1_2;
/** @type {[number, number, number][]} */
const TRIPLES = [
  [0, 0, 0],
  [0, 0, 1],
  [0, 0, 2],
  [0, 1, 1],
  [0, 1, 2],
  [0, 2, 2],
  [1, 1, 1],
  [1, 1, 2],
  [1, 2, 2],
  [2, 2, 2],
];
const ROOT_OFTEN = [1, 3, 3, 3, 6, 3, 1, 3, 3, 1].map(Math.sqrt);

/** What Python says of rows that the page cannot draw itself, by name. @param {Model} model @returns {Record<string, Data>} */
export function dataOf(model) {
  return model.get("data") ?? NO_DATA;
}

/** The two half-axes of the 1σ ellipse. @param {{width: number, height: number, angle: number}} ellipse @returns {[number, number][]} */
export function axesOf({ width, height, angle }) {
  const turn = (angle * Math.PI) / 180;
  const cos = Math.cos(turn);
  const sin = Math.sin(turn);
  return [
    [width * cos, width * sin],
    [-height * sin, height * cos],
  ];
}

/** The Gaussian with two half-axes; √det is kept apart, since b² − a c would lose it for flat ellipses.
 * @param {number} x @param {number} y @param {number[][]} spokes @param {number} rootDet @returns {Law} */
function gaussian(x, y, spokes, rootDet) {
  const [u, v] = spokes;
  return {
    x,
    y,
    spokes,
    rootDet,
    a: u[0] * u[0] + v[0] * v[0],
    b: u[0] * u[1] + v[0] * v[1],
    c: u[1] * u[1] + v[1] * v[1],
    count: Infinity,
    parts: null,
    phi: null,
    lost: 0,
    lostDiagonal: 0,
    points: null,
  };
}

/** The Gaussian of an ellipse. @param {Item} item @returns {Law} */
export function lawOf(item) {
  return gaussian(item.x, item.y, axesOf(item), item.width * item.height);
}

/** A law by its covariance [[a, b], [b, c]]. @param {number} x @param {number} y @param {number} a @param {number} b @param {number} c @param {number} rootDet @returns {Law} */
function byMoments(x, y, a, b, c, rootDet) {
  const root = Math.sqrt(a);
  /** @type {[number, number][]} */
  const spokes =
    root > 0
      ? [
          [root, b / root],
          [0, rootDet / root],
        ]
      : [
          [0, 0],
          [0, Math.sqrt(c)],
        ];
  return { ...gaussian(x, y, spokes, rootDet), a, b, c };
}

/** Weights divided by their sum. @param {{weight?: number}[]} clients */
export function sharesOf(clients) {
  const total = clients.reduce((sum, client) => sum + (client.weight ?? 0), 0);
  return clients.map((client) => (client.weight ?? 0) / total);
}

/**
 * Moments of a mixture: μ̂ = Σλμ, Ĉ = Σλ[C(1 − 1/n) + (μ − μ̂)(μ − μ̂)ᵀ]/(1 − Σλ²/n), n = ∞ for exact laws.
 * Its determinant is a sum of squares (Cauchy–Binet over all half-axes and shifts), so √det keeps every digit.
 * @param {Part[]} parts @returns {Law}
 */
export function mixture(parts) {
  const x = parts.reduce((sum, { law, weight }) => sum + weight * law.x, 0);
  const y = parts.reduce((sum, { law, weight }) => sum + weight * law.y, 0);
  const lost = parts.reduce((sum, { law, weight }) => sum + weight * weight * law.lost, 0);
  const scale = 1 / (1 - lost);
  const spokes = parts.flatMap(({ law, weight }) => {
    const [within, between] = [Math.sqrt(scale * weight * (1 - 1 / law.count)), Math.sqrt(scale * weight)];
    return [...law.spokes.map(([u, v]) => [within * u, within * v]), [between * (law.x - x), between * (law.y - y)]];
  });
  let [a, b, c, det] = [0, 0, 0, 0];
  spokes.forEach(([u, v], i) => {
    a += u * u;
    b += u * v;
    c += v * v;
    for (let j = 0; j < i; j++) det += (u * spokes[j][1] - v * spokes[j][0]) ** 2;
  });
  const lostDiagonal = parts.reduce((sum, { law, weight }) => sum + weight * weight * law.lostDiagonal, 0);
  const flat = parts.flatMap(({ law, weight }) =>
    (law.parts ?? [{ law, weight: 1 }]).map((p) => ({ law: p.law, weight: weight * p.weight })),
  );
  return {
    ...byMoments(x, y, a, b, c, Math.sqrt(det)),
    count: lost ? 1 / lost : Infinity,
    lost,
    lostDiagonal,
    parts: flat,
  };
}

/** Rows taken as a sample: moments with ddof 1, and what its kernel means need. @param {Float64Array} points x, y, x, y, … @returns {Law} */
export function ofRows(points) {
  const n = points.length / 2;
  let [x, y] = [0, 0];
  for (let k = 0; k < points.length; k += 2) {
    x += points[k] / n;
    y += points[k + 1] / n;
  }
  let [a, b, c, diagonal] = [0, 0, 0, 0];
  const sums = new Float64Array(10);
  for (let k = 0; k < points.length; k += 2) {
    const u = points[k] - x;
    const v = points[k + 1] - y;
    a += u * u;
    b += u * v;
    c += v * v;
    const p = ROOT_GAMMA * points[k];
    const q = ROOT_GAMMA * points[k + 1];
    const pp = p * p;
    const pq = p * q;
    const qq = q * q;
    // In the order of TRIPLES; written out, since this runs for every point in every frame.
    sums[1] += p;
    sums[2] += q;
    sums[3] += pp;
    sums[4] += pq;
    sums[5] += qq;
    sums[6] += pp * p;
    sums[7] += pp * q;
    sums[8] += p * qq;
    sums[9] += qq * q;
    diagonal += (1 + pp + qq) ** 3 / n;
  }
  [a, b, c] = [a / (n - 1), b / (n - 1), c / (n - 1)];
  sums[0] = n;
  const phi = Array.from(sums, (sum, t) => (ROOT_OFTEN[t] * sum) / n);
  const rootDet = Math.sqrt(Math.max(0, a * c - b * b));
  return { ...byMoments(x, y, a, b, c, rootDet), count: n, phi, lost: 1 / n, lostDiagonal: diagonal / n, points };
}

/** Rows that Python summarised. @param {Data} data @returns {Law} */
function ofData({ count, mean, cov, phi, diagonal, points }) {
  const [a, b, c] = cov;
  const law = byMoments(mean[0], mean[1], a, b, c, Math.sqrt(Math.max(0, a * c - b * b)));
  const lost = count ? 1 / count : 0;
  return {
    ...law,
    count: count || Infinity,
    phi,
    lost,
    lostDiagonal: lost * diagonal,
    points: Float64Array.from(points.flat()),
  };
}

/** E φ(X), φ(x)·φ(y) = (x·y/2 + 1)³; linear in the law. @param {Law} law @returns {number[]} */
export function phiOf(law) {
  if (law.phi) return law.phi;
  if (law.parts) {
    const parts = law.parts.map((part) => ({ phi: phiOf(part.law), weight: part.weight }));
    law.phi = TRIPLES.map((_, t) => parts.reduce((sum, { phi, weight }) => sum + weight * phi[t], 0));
    return law.phi;
  }
  const m = [1, ROOT_GAMMA * law.x, ROOT_GAMMA * law.y];
  const cov = [
    [0, 0, 0],
    [0, law.a / 2, law.b / 2],
    [0, law.b / 2, law.c / 2],
  ];
  law.phi = TRIPLES.map(
    ([i, j, k], t) => ROOT_OFTEN[t] * (m[i] * m[j] * m[k] + m[i] * cov[j][k] + m[j] * cov[i][k] + m[k] * cov[i][j]),
  );
  return law.phi;
}

/** A population shrunk about a point: every x becomes o + ψ(x − o). @param {Law} law @param {number} psi @param {[number, number]} o @returns {Law} */
export function shrunk(law, psi, o) {
  if (law.parts) return mixture(law.parts.map((part) => ({ ...part, law: shrunk(part.law, psi, o) })));
  const [x, y] = [o[0] + psi * (law.x - o[0]), o[1] + psi * (law.y - o[1])];
  const made = gaussian(
    x,
    y,
    law.spokes.map(([u, v]) => [psi * u, psi * v]),
    psi * psi * law.rootDet,
  );
  if (!law.points) return made;
  const affine = [
    [1, 0, 0],
    [ROOT_GAMMA * (1 - psi) * o[0], psi, 0],
    [ROOT_GAMMA * (1 - psi) * o[1], 0, psi],
  ];
  return {
    ...made,
    phi: mapped(phiOf(law), affine),
    points: law.points.map((value, k) => o[k % 2] + psi * (value - o[k % 2])),
  };
}

/** φ after z ← A z: the tensor E z ⊗ z ⊗ z mapped along each of its sides. @param {number[]} phi @param {number[][]} A */
function mapped(phi, A) {
  const at = (/** @type {number[]} */ ijk) => {
    const sorted = [...ijk].sort().join();
    const t = TRIPLES.findIndex((triple) => triple.join() === sorted);
    return phi[t] / ROOT_OFTEN[t];
  };
  const axes = [0, 1, 2];
  return TRIPLES.map(([i, j, k], t) => {
    let sum = 0;
    for (const p of axes)
      for (const q of axes) for (const r of axes) sum += A[i][p] * A[j][q] * A[k][r] * at([p, q, r]);
    return ROOT_OFTEN[t] * sum;
  });
}

/** The two equal bumps at the ends of an item's width, each round with σ = height. @param {Item} item @returns {Part[]} */
export function bumpsOf(item) {
  const [[u, v]] = axesOf(item);
  return [1, -1].map((sign) => ({
    law: lawOf({ ...item, x: item.x + sign * u, y: item.y + sign * v, width: item.height, angle: 0 }),
    weight: 0.5,
  }));
}

/** `n` points of a law: of a Gaussian by its half-axes, of a mixture after a choice of part. @param {Law} law @param {number} seed @param {number} stream @param {number} n @returns {Float64Array} */
function sampled(law, seed, stream, n) {
  const random = noise(seed, stream, n);
  const parts = law.parts ?? [{ law, weight: 1 }];
  const points = new Float64Array(2 * n);
  for (let k = 0; k < n; k++) {
    const z = random[3 * k];
    const w = random[3 * k + 1];
    const choice = random[3 * k + 2];
    let index = 0;
    let reached = parts[0].weight;
    while (choice >= reached && index < parts.length - 1) reached += parts[++index].weight;
    const { law: part } = parts[index];
    if (part.points) {
      const row = Math.min(
        part.points.length / 2 - 1,
        Math.floor(((choice - reached + parts[index].weight) / parts[index].weight) * (part.points.length / 2)),
      );
      points[2 * k] = part.points[2 * row];
      points[2 * k + 1] = part.points[2 * row + 1];
      continue;
    }
    const u = part.spokes[0];
    const v = part.spokes[1];
    points[2 * k] = part.x + z * u[0] + w * v[0];
    points[2 * k + 1] = part.y + z * u[1] + w * v[1];
  }
  return points;
}

/** A law of the plane, or of the lab's data. @param {Item} item @param {Record<string, Data>} data @returns {Law} */
function given(item, data) {
  if (item.kind === "data" && data[item.data ?? item.name]) return ofData(data[item.data ?? item.name]);
  return item.kind === "bumps" ? mixture(bumpsOf(item)) : lawOf(item);
}

/** @typedef {{clients: Law[], generators: Law[], pooled: Law, shares: number[], make: (item: Item, g: number) => Law}} Laws
 *   `make` gives the law that generator `g` would have as another item */

/** @type {WeakMap<Scene, {data: object, laws: Laws}>} scenes are never changed in place */
const knownLaws = new WeakMap();
const NO_DATA = {};

/**
 * The laws of all items, made once for a scene.
 * @param {Scene} scene @param {Record<string, Data>} [data] what Python says of rows, by name
 */
export function lawsOf(scene, data = NO_DATA) {
  const known = knownLaws.get(scene);
  if (known?.data === data) return known.laws;
  const laws = madeLaws(scene, data);
  knownLaws.set(scene, { data, laws });
  return laws;
}

/** Clients first, since generators may be made of them. @param {Scene} scene @param {Record<string, Data>} data @returns {Laws} */
function madeLaws(scene, data) {
  const { samples = 0, seed = 0 } = scene;
  const shares = sharesOf(scene.clients);
  const weighted = (/** @type {Law[]} */ laws) => mixture(laws.map((law, i) => ({ law, weight: shares[i] })));
  const rows = (/** @type {Item} */ item, /** @type {Law} */ law, /** @type {number} */ stream) =>
    samples && item.kind !== "data" ? ofRows(sampled(law, seed, stream, samples)) : law;
  const exact = scene.clients.map((client) => given(client, data));
  const clients = exact.map((law, i) => rows(scene.clients[i], law, 2 * i));
  const union = weighted(exact.map(asPopulation));
  const make = (/** @type {Item} */ item, /** @type {number} */ g) => {
    const made =
      item.kind === "truncated"
        ? shrunk(union, item.psi ?? 1, [union.x, union.y])
        : item.kind === "copycat"
          ? copied(scene, item, exact)
          : given(item, data);
    return rows(item, made, 2 * g + 1);
  };
  return { clients, generators: scene.generators.map(make), pooled: weighted(clients), shares, make };
}

/** Rows as the population they are. @param {Law} law @returns {Law} */
function asPopulation(law) {
  if (!law.lost) return law;
  const inner = 1 - 1 / law.count;
  return {
    ...byMoments(law.x, law.y, inner * law.a, inner * law.b, inner * law.c, inner * law.rootDet),
    phi: law.phi,
    points: law.points,
  };
}

/** The first points that a client draws, and no others. @param {Scene} scene @param {Item} item @param {Law[]} exact */
function copied(scene, item, exact) {
  const index = Math.max(
    0,
    scene.clients.findIndex((client) => client.name === item.of),
  );
  const { points } = exact[index];
  const count = item.count ?? 20;
  return asPopulation(
    ofRows(points ? points.slice(0, 2 * count) : sampled(exact[index], scene.seed ?? 0, 2 * index, count)),
  );
}
