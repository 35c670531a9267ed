/**
 * Twin: labs/plane/distributions.py, labs/playground/scene.py · held by: tests/labs/plane/test_scores_page.py
 *
 * What items stand for: distributions with moments, mixtures of Gaussians, or rows; in Python `Scene.federation` and
 * `Scene.sources`. No DOM.
 *
 * @import { Data, Item, Distribution, Kind, Model, Part, Place, Scene } from "../../toolkit/view/types.js"
 */
import { noise } from "../../toolkit/view/random.js";
import types from "../items.json" with { type: "json" };

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
 * @param {number} x @param {number} y @param {number[][]} spokes @param {number} rootDet @returns {Distribution} */
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

/** The Gaussian of an ellipse. @param {Item} item @returns {Distribution} */
export function distributionOf(item) {
  return gaussian(item.x, item.y, axesOf(item), item.width * item.height);
}

/** A distribution by its covariance [[a, b], [b, c]]. @param {number} x @param {number} y @param {number} a @param {number} b @param {number} c @param {number} rootDet @returns {Distribution} */
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
 * Moments of a mixture: μ̂ = Σλμ, Ĉ = Σλ[C(1 − 1/n) + (μ − μ̂)(μ − μ̂)ᵀ]/(1 − Σλ²/n), n = ∞ for exact distributions.
 * Its determinant is a sum of squares (Cauchy–Binet over all half-axes and shifts), so √det keeps every digit.
 * @param {Part[]} parts @returns {Distribution}
 */
export function mixture(parts) {
  const x = parts.reduce((sum, { distribution, weight }) => sum + weight * distribution.x, 0);
  const y = parts.reduce((sum, { distribution, weight }) => sum + weight * distribution.y, 0);
  const lost = parts.reduce((sum, { distribution, weight }) => sum + weight * weight * distribution.lost, 0);
  const scale = 1 / (1 - lost);
  const spokes = parts.flatMap(({ distribution, weight }) => {
    const [within, between] = [Math.sqrt(scale * weight * (1 - 1 / distribution.count)), Math.sqrt(scale * weight)];
    return [
      ...distribution.spokes.map(([u, v]) => [within * u, within * v]),
      [between * (distribution.x - x), between * (distribution.y - y)],
    ];
  });
  let [a, b, c, det] = [0, 0, 0, 0];
  spokes.forEach(([u, v], i) => {
    a += u * u;
    b += u * v;
    c += v * v;
    for (let j = 0; j < i; j++) det += (u * spokes[j][1] - v * spokes[j][0]) ** 2;
  });
  const lostDiagonal = parts.reduce(
    (sum, { distribution, weight }) => sum + weight * weight * distribution.lostDiagonal,
    0,
  );
  const flat = parts.flatMap(({ distribution, weight }) =>
    (distribution.parts ?? [{ distribution, weight: 1 }]).map((p) => ({
      distribution: p.distribution,
      weight: weight * p.weight,
    })),
  );
  return {
    ...byMoments(x, y, a, b, c, Math.sqrt(det)),
    count: lost ? 1 / lost : Infinity,
    lost,
    lostDiagonal,
    parts: flat,
  };
}

/** Rows taken as a sample: moments with ddof 1, and what its kernel means need. @param {Float64Array} points x, y, x, y, … @returns {Distribution} */
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

/** Rows that Python summarised. @param {Data} data @returns {Distribution} */
function ofData({ count, mean, cov, phi, diagonal, points }) {
  const [a, b, c] = cov;
  const distribution = byMoments(mean[0], mean[1], a, b, c, Math.sqrt(Math.max(0, a * c - b * b)));
  const lost = count ? 1 / count : 0;
  return {
    ...distribution,
    count: count || Infinity,
    phi,
    lost,
    lostDiagonal: lost * diagonal,
    points: Float64Array.from(points.flat()),
  };
}

/** E φ(X), φ(x)·φ(y) = (x·y/2 + 1)³; linear in the distribution. @param {Distribution} distribution @returns {number[]} */
export function phiOf(distribution) {
  if (distribution.phi) return distribution.phi;
  if (distribution.parts) {
    const parts = distribution.parts.map((part) => ({ phi: phiOf(part.distribution), weight: part.weight }));
    distribution.phi = TRIPLES.map((_, t) => parts.reduce((sum, { phi, weight }) => sum + weight * phi[t], 0));
    return distribution.phi;
  }
  const m = [1, ROOT_GAMMA * distribution.x, ROOT_GAMMA * distribution.y];
  const cov = [
    [0, 0, 0],
    [0, distribution.a / 2, distribution.b / 2],
    [0, distribution.b / 2, distribution.c / 2],
  ];
  distribution.phi = TRIPLES.map(
    ([i, j, k], t) => ROOT_OFTEN[t] * (m[i] * m[j] * m[k] + m[i] * cov[j][k] + m[j] * cov[i][k] + m[k] * cov[i][j]),
  );
  return distribution.phi;
}

/** A population shrunk about a point: every x becomes o + ψ(x − o). @param {Distribution} distribution @param {number} psi @param {[number, number]} o @returns {Distribution} */
export function shrunk(distribution, psi, o) {
  if (distribution.parts)
    return mixture(distribution.parts.map((part) => ({ ...part, distribution: shrunk(part.distribution, psi, o) })));
  const [x, y] = [o[0] + psi * (distribution.x - o[0]), o[1] + psi * (distribution.y - o[1])];
  const shape = gaussian(
    x,
    y,
    distribution.spokes.map(([u, v]) => [psi * u, psi * v]),
    psi * psi * distribution.rootDet,
  );
  if (!distribution.points) return shape;
  const affine = [
    [1, 0, 0],
    [ROOT_GAMMA * (1 - psi) * o[0], psi, 0],
    [ROOT_GAMMA * (1 - psi) * o[1], 0, psi],
  ];
  return {
    ...shape,
    phi: mapMoments(phiOf(distribution), affine),
    points: distribution.points.map((value, k) => o[k % 2] + psi * (value - o[k % 2])),
  };
}

/** φ after z ← A z: the tensor E z ⊗ z ⊗ z mapped along each of its sides. @param {number[]} phi @param {number[][]} A */
function mapMoments(phi, A) {
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
    distribution: distributionOf({ ...item, x: item.x + sign * u, y: item.y + sign * v, width: item.height, angle: 0 }),
    weight: 0.5,
  }));
}

/** `n` points of a distribution: of a Gaussian by its half-axes, of a mixture after a choice of part. @param {Distribution} distribution @param {number} seed @param {number} stream @param {number} n @returns {Float64Array} */
function samplePoints(distribution, seed, stream, n) {
  const random = noise(seed, stream, n);
  const parts = distribution.parts ?? [{ distribution, weight: 1 }];
  const points = new Float64Array(2 * n);
  for (let k = 0; k < n; k++) {
    const z = random[3 * k];
    const w = random[3 * k + 1];
    const choice = random[3 * k + 2];
    let index = 0;
    let reached = parts[0].weight;
    while (choice >= reached && index < parts.length - 1) reached += parts[++index].weight;
    const { distribution: part } = parts[index];
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

/** A distribution of the plane, or of the lab's data. @param {Item} item @param {Record<string, Data>} data @returns {Distribution} */
function ownDistribution(item, data) {
  if (item.kind === "data" && data[item.data ?? item.name]) return ofData(data[item.data ?? item.name]);
  return item.kind === "bumps" ? mixture(bumpsOf(item)) : distributionOf(item);
}

/** @typedef {{clients: Distribution[], generators: Distribution[], pooled: Distribution, shares: number[], make: (item: Item, g: number) => Distribution}} Distributions
 *   `make` gives the distribution that generator `g` would have as another item */

/** @type {WeakMap<Scene, {data: object, distributions: Distributions}>} scenes are never changed in place */
const distributionsByScene = new WeakMap();
const NO_DATA = {};

/**
 * The distributions of all items, made once for a scene.
 * @param {Scene} scene @param {Record<string, Data>} [data] what Python says of rows, by name
 */
export function distributionsOf(scene, data = NO_DATA) {
  const remembered = distributionsByScene.get(scene);
  if (remembered?.data === data) return remembered.distributions;
  const distributions = computeDistributions(scene, data);
  distributionsByScene.set(scene, { data, distributions });
  return distributions;
}

/** Clients first, since generators may be made of them. @param {Scene} scene @param {Record<string, Data>} data @returns {Distributions} */
function computeDistributions(scene, data) {
  const { samples = 0, seed = 0 } = scene;
  const shares = sharesOf(scene.clients);
  const weighted = (/** @type {Distribution[]} */ distributions) =>
    mixture(distributions.map((distribution, i) => ({ distribution, weight: shares[i] })));
  const rows = (/** @type {Item} */ item, /** @type {Distribution} */ distribution, /** @type {number} */ stream) =>
    samples && item.kind !== "data" ? ofRows(samplePoints(distribution, seed, stream, samples)) : distribution;
  const exact = scene.clients.map((client) => ownDistribution(client, data));
  const clients = exact.map((distribution, i) => rows(scene.clients[i], distribution, 2 * i));
  const union = weighted(exact.map(asPopulation));
  /** @type {(item: Item, g: number) => Distribution} */
  const make = (item, g) => {
    if (item.parts) return byClient(scene, shares, item.parts, (part, k) => make(part, g + MOST * (k + 1)));
    const ideal =
      item.kind === "truncated"
        ? shrunk(union, item.psi ?? 1, [union.x, union.y])
        : item.kind === "copycat"
          ? copycatRows(scene, item, exact)
          : ownDistribution(item, data);
    return rows(item, ideal, 2 * g + 1);
  };
  return { clients, generators: scene.generators.map(make), pooled: weighted(clients), shares, make };
}

const MOST = types.generators.to;

/**
 * One distribution for each client, pooled by the clients' shares; each part draws its own points, whoever it is for.
 * @param {Scene} scene @param {number[]} shares @param {Item[]} parts @param {(part: Item, k: number) => Distribution} make @returns {Distribution}
 */
function byClient({ clients }, shares, parts, make) {
  const made = new Map(parts.map((part, k) => [part.name, make(part, k)]));
  return ofOwn(
    clients.map(({ name }) => /** @type {Distribution} */ (made.get(name))),
    shares,
  );
}

/** The distribution of a generator by what it is for each client. @param {Distribution[]} own @param {number[]} shares @returns {Distribution} */
export function ofOwn(own, shares) {
  return { ...mixture(own.map((distribution, i) => ({ distribution, weight: shares[i] }))), own };
}

/** What stands at a place: the distribution of an item, or of one of its parts. @param {Scene} scene @param {Pick<Distributions, Kind>} distributions @param {Place} place @returns {Distribution} */
export function distributionAt(scene, distributions, { kind, index, part }) {
  const whole = distributions[kind][index];
  if (part === undefined || !whole.own) return whole;
  const owner = scene.generators[index].parts?.[part].name;
  return whole.own[scene.clients.findIndex(({ name }) => name === owner)];
}

/** Rows as the population they are. @param {Distribution} distribution @returns {Distribution} */
function asPopulation(distribution) {
  if (!distribution.lost) return distribution;
  const inner = 1 - 1 / distribution.count;
  return {
    ...byMoments(
      distribution.x,
      distribution.y,
      inner * distribution.a,
      inner * distribution.b,
      inner * distribution.c,
      inner * distribution.rootDet,
    ),
    phi: distribution.phi,
    points: distribution.points,
  };
}

/** The first points that a client draws, and no others. @param {Scene} scene @param {Item} item @param {Distribution[]} exact */
function copycatRows(scene, item, exact) {
  const index = Math.max(
    0,
    scene.clients.findIndex((client) => client.name === item.of),
  );
  const { points } = exact[index];
  const count = item.count ?? 20;
  return asPopulation(
    ofRows(points ? points.slice(0, 2 * count) : samplePoints(exact[index], scene.seed ?? 0, 2 * index, count)),
  );
}
