/**
 * Twin: labs/playground/numbers.py · held by: tests/labs/playground/test_sweep_page.py
 *
 * Sweeps: one number of a generator, or the weight of a client, runs over its range while the rest of the scene stays.
 * No DOM.
 *
 * @import { Item, Distribution, Place, Scene } from "../../toolkit/view/types.js"
 */

import { distributionsOf, mixture, ofOwn, sharesOf } from "../../plane/view/distributions.js";
import { withItem } from "../../plane/view/edits.js";
import { computeScores, isClosed } from "../../plane/view/scores.js";
import { numeral } from "../../toolkit/view/numbers.js";
import { isTie, lowest } from "../../toolkit/view/ties.js";

/**
 * @typedef {{parameter: string, place: Place, item: Item, digits: number}} Subject  what is swept, and the decimals to read
 * @typedef {{at: number, score: number, isEnd: boolean}} Best
 * @typedef {{metric: string, range: [number, number], values: number[], avg: number[], all: number[], gap: number[],
 *   ideal: number[] | null, best: Record<"avg" | "all", Best | null>, constant: number, spread: number, size: number}} Sweep
 *   `ideal` is the avg of the clients' mixture as a generator; `best` is null where a curve is flat, or nothing is to be
 *   best; `constant` is the mean gap and `spread` how far the gap departs from it;
 *   `size` is the largest sum of the terms of a score
 */

const SWEEP_POINTS = 61;
const REFINED_POINTS = 20;

/** @param {Item} item the length that `scale` sets: the larger σ */
const longer = (item) => Math.max(item.width, item.height);

/** Both lengths by one factor; a point has no shape to keep and becomes round. @param {Item} item @param {number} value @returns {Item} */
function scaleItem(item, value) {
  const now = longer(item);
  return now > 0
    ? { ...item, width: (item.width * value) / now, height: (item.height * value) / now }
    : { ...item, width: value, height: value };
}

/**
 * What can be swept. Ranges depend on the square in view alone, so that no axis jumps in a drag; a weight's on the other
 * clients' weights.
 * @type {Record<string, {label: string, unit: string, range: (half: number) => [number, number],
 *   get: (item: Item) => number, set: (item: Item, value: number) => Item}>}
 */
export const PARAMETERS = {
  variance: {
    label: "Variance along width",
    unit: "",
    range: (half) => [0, 0.2 * half * half],
    get: (item) => item.width ** 2,
    set: (item, value) => ({ ...item, width: Math.sqrt(value) }),
  },
  height: {
    label: "Height (σ)",
    unit: "",
    range: (half) => [0, half / 2],
    get: (item) => item.height,
    set: (item, height) => ({ ...item, height }),
  },
  scale: { label: "Scale (longer σ)", unit: "", range: (half) => [half / 250, half / 2], get: longer, set: scaleItem },
  x: {
    label: "Mean x",
    unit: "",
    range: (half) => [-half, half],
    get: (item) => item.x,
    set: (item, x) => ({ ...item, x }),
  },
  y: {
    label: "Mean y",
    unit: "",
    range: (half) => [-half, half],
    get: (item) => item.y,
    set: (item, y) => ({ ...item, y }),
  },
  angle: {
    label: "Angle",
    unit: "°",
    range: () => [-90, 90], // turned by 180°, an ellipse is the same
    get: (item) => item.angle - 180 * Math.round(item.angle / 180),
    set: (item, angle) => ({ ...item, angle }),
  },
  psi: {
    label: "Truncation ψ",
    unit: "",
    range: () => [0, 1.5],
    get: (item) => item.psi ?? 1,
    set: (item, psi) => ({ ...item, psi }),
  },
  weight: {
    label: "Weight",
    unit: "",
    range: () => [0, 4],
    get: (item) => item.weight ?? 0,
    set: (item, weight) => ({ ...item, weight }),
  },
};

const GEOMETRIC = ["variance", "height", "scale", "x", "y", "angle"];

/** The parameters that an item of this kind has, a generator's own. @param {Item} item */
export function sweepableOf({ kind }) {
  if (kind === "truncated") return ["psi"];
  return kind === "copycat" || kind === "data" || kind === "by_client" ? [] : GEOMETRIC;
}

/** What the scene sweeps: the wanted parameter where it fits, else the first that does. @param {Scene} scene @param {number} g the generator @param {number} c the client whose weight it may be @returns {Subject} */
export function subjectOf(scene, g, c) {
  const wanted = scene.view?.sweep ?? "variance";
  const fitting = sweepableOf(scene.generators[g]);
  const parameter = wanted === "weight" || fitting.includes(wanted) ? wanted : (fitting[0] ?? "weight");
  const place = /** @type {Place} */ (
    parameter === "weight" ? { kind: "clients", index: c } : { kind: "generators", index: g }
  );
  const subject = { parameter, place, item: scene[place.kind][place.index], digits: 0 };
  const [low, high] = rangeOf(scene, subject);
  return PARAMETERS[parameter].unit === "°"
    ? subject
    : { ...subject, digits: Math.max(2, Math.ceil(1.5 - Math.log10(high - low))) };
}

/** @param {Scene} scene @param {Subject} subject @returns {[number, number]} */
export function rangeOf(scene, { parameter, place }) {
  const [low, high] = PARAMETERS[parameter].range(scene.half);
  if (parameter !== "weight") return [low, high];
  const others = scene.clients.filter((_, i) => i !== place.index).map((client) => client.weight ?? 0);
  const mean = others.reduce((sum, weight) => sum + weight, 0) / (others.length || 1);
  return mean > 0 ? [0, high * mean] : [high / SWEEP_POINTS, high];
}

/** The scene with the swept number at a value. @param {Scene} scene @param {Subject} subject @param {number} value */
export function sweptTo(scene, { parameter, place, item }, value) {
  return withItem(scene, place, PARAMETERS[parameter].set(item, value));
}

/** A swept value as read. @param {number} value @param {Subject} subject */
export function readValue(value, { parameter, digits }) {
  const { unit } = PARAMETERS[parameter];
  return `${numeral(value, digits)}${unit}`;
}

/** The metric to sweep: the charted one where the page can compute it, else FID. @param {Scene} scene @param {Record<string, any>} data @param {number} g */
export function sweptMetric(scene, data, g) {
  const { clients, generators } = distributionsOf(scene, data);
  const metric = scene.view?.metric ?? "fid";
  return isClosed(metric, [...clients, generators[g]]) ? metric : "fid";
}

/** Equal for scenes with the same sweep, wherever the swept number itself is. @param {Scene} scene @param {string} metric @param {Subject} subject @param {number} g */
export function sweepKey(scene, metric, subject, g) {
  const { clients, generators, half, samples, seed } = sweptTo(scene, subject, rangeOf(scene, subject)[0]);
  const written = [metric, subject.parameter, g, clients, generators[g], half, samples, seed];
  // Scaling there and back leaves rounding behind.
  return JSON.stringify(written, (_, value) => (typeof value === "number" ? Number(value.toPrecision(12)) : value));
}

/**
 * The curves of one generator. @param {Scene} scene @param {Record<string, any>} data @param {string} metric
 * @param {Subject} subject @param {number} g @returns {Sweep}
 */
export function sweepOf(scene, data, metric, subject, g) {
  const range = rangeOf(scene, subject);
  const values = Array.from(
    { length: SWEEP_POINTS },
    (_, k) => range[0] + ((range[1] - range[0]) * k) / (SWEEP_POINTS - 1),
  );
  const isWeight = subject.parameter === "weight";
  const curves = (isWeight ? weightCurves : itemCurves)(scene, data, metric, subject, g);
  const { avg, all, ideal, size } = curves(values, true);
  const best = (/** @type {"avg" | "all"} */ part, /** @type {number[]} */ scores) =>
    isWeight ? null : lowestPoint(values, scores, size, scene.samples ? null : (finer) => curves(finer, false)[part]);
  const gap = avg.map((value, k) => value - all[k]);
  const constant = gap.reduce((sum, value) => sum + value, 0) / SWEEP_POINTS;
  const spread = Math.max(...gap.map((value) => Math.abs(value - constant)));
  return {
    metric,
    range,
    values,
    avg,
    all,
    gap,
    ideal,
    best: { avg: best("avg", avg), all: best("all", all) },
    constant,
    spread,
    size,
  };
}

/** @typedef {(values: number[], withIdeal: boolean) => {avg: number[], all: number[], ideal: number[] | null, size: number}} Curves */

/** Only the generator moves: one set of clients serves every value. @param {Scene} scene @param {Record<string, any>} data @param {string} metric @param {Subject} subject @param {number} g @returns {Curves} */
function itemCurves(scene, data, metric, { parameter, item }, g) {
  const distributions = distributionsOf(scene, data);
  const { set } = PARAMETERS[parameter];
  const ideal = /** @type {Item} */ ({ name: "", kind: "truncated", psi: 1 });
  return (values, withIdeal) => {
    const items = values.map((value) => set(item, value));
    const make = () => items.map((other) => distributions.make(other, g));
    const isKept = scene.samples && item.kind !== "truncated";
    const kept = isKept
      ? drawnOnce(JSON.stringify([items[0], items.at(-1), items.length, g, scene.samples, scene.seed]), make)
      : make();
    const generators = withIdeal ? [...kept, distributions.make(ideal, g)] : kept;
    const { avg, all, terms } = computeScores(metric, { ...distributions, generators });
    const end = values.length;
    return {
      avg: avg.slice(0, end),
      all: all.slice(0, end),
      ideal: withIdeal ? values.map(() => avg[end]) : null,
      size: Math.max(...terms),
    };
  };
}

/** @type {{key: string, distributions: Distribution[]}} */
let drawnBefore = { key: "", distributions: [] };

/** Distributions of drawn points are dear, and while a client is dragged they stay. @param {string} key @param {() => Distribution[]} make */
function drawnOnce(key, make) {
  if (drawnBefore.key !== key) drawnBefore = { key, distributions: make() };
  return drawnBefore.distributions;
}

/** Only the weights change. Of drawn points there is no ideal: the pooled points are the clients' own. @param {Scene} scene @param {Record<string, any>} data @param {string} metric @param {Subject} subject @param {number} g @returns {Curves} */
function weightCurves(scene, data, metric, subject, g) {
  const { clients, generators } = distributionsOf(scene, data);
  const isExact = clients.every((distribution) => !distribution.lost);
  return (values) => {
    const scores = values.map((value) => {
      const shares = sharesOf(sweptTo(scene, subject, value).clients);
      const pooled = mixture(clients.map((distribution, i) => ({ distribution, weight: shares[i] })));
      const { own } = generators[g];
      const generator = own ? ofOwn(own, shares) : generators[g];
      return computeScores(metric, { clients, pooled, shares, generators: [generator, pooled] });
    });
    return {
      avg: scores.map(({ avg }) => avg[0]),
      all: scores.map(({ all }) => all[0]),
      ideal: isExact ? scores.map(({ avg }) => avg[1]) : null,
      size: Math.max(...scores.map(({ terms }) => terms[0])),
    };
  };
}

/** Where a curve is lowest. @param {number[]} values @param {number[]} scores @param {number} size @param {((values: number[]) => number[]) | null} again more of the curve, if it is cheap @returns {Best | null} */
function lowestPoint(values, scores, size, again) {
  const [least, most] = [Math.min(...scores), Math.max(...scores)];
  if (isTie(most, least, size)) return null;
  const [low, high] = [values[0], values[values.length - 1]];
  const k = lowest(scores, Array(scores.length).fill(size));
  const [from, to] = [values[Math.max(0, k - 1)], values[Math.min(values.length - 1, k + 1)]];
  const finer = Array.from({ length: REFINED_POINTS + 1 }, (_, j) => from + ((to - from) * j) / REFINED_POINTS);
  const { at, score } = again ? vertex(finer, again(finer), size) : vertex(values, scores, size);
  return { at, score, isEnd: at === low || at === high };
}

/** The lowest point of a curve on an even grid, between its values by a parabola. @param {number[]} values @param {number[]} scores @param {number} size */
function vertex(values, scores, size) {
  const k = lowest(scores, Array(scores.length).fill(size));
  if (k === 0 || k === values.length - 1) return { at: values[k], score: scores[k] };
  const bend = scores[k - 1] - 2 * scores[k] + scores[k + 1];
  const shift = bend > 0 ? (scores[k - 1] - scores[k + 1]) / (2 * bend) : 0;
  return { at: values[k] + shift * (values[k + 1] - values[k]), score: scores[k] };
}
