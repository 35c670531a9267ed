/**
 * The run under the weights on show: avg at all steps here, all where Python logged it or the gap is a theorem, and
 * else as Python answers; so too avg and the clients where a mixture of what was made for each moves. No DOM.
 *
 * @import { Model } from "../../toolkit/view/types.js"
 * @import { Beside, History, Judgement, Line, MetricFacts, Numbers, Other, Packed, Run, Scene, Stored } from "./types.js"
 */
import { kidGap } from "../../toolkit/view/kid_gap.js";
import { lowest } from "../../toolkit/view/ties.js";
import { decodeRun, doubles, nearest, singles, unionOf } from "./page_decoding.js";

const MAX_SHARE_ROUNDING = 1e-9;

/** @type {WeakMap<Model, {keys: any[], history: History}>} */
const historyCache = new WeakMap();

/** @param {Scene} scene @param {Model} model @returns {Numbers} */
export function numbersOf(scene, model) {
  const [run, result] = [/** @type {Run} */ (model.get("run")), model.get("result")];
  const shares = sharesOf(scene.weights);
  const judgement = isAlike(shares, result.weights) ? result.lines : null;
  const history = historyOf(model, run, shares, judgement);
  const other = otherOf(model, shares, result);
  const steps = stepsOf(history.steps, other);
  const last = history.steps.length ? history.steps[history.steps.length - 1] : null; // of this run, which may go on
  const step = scene.shown === null || last === null ? last : steps[nearest(steps, scene.shown)];
  const { why = "" } = /** @type {Beside} */ (model.get("beside") ?? {});
  const versus = why ? apartWords(history, why) : judgement ? (result.beside?.words ?? {}) : {};
  const isFollowing = scene.shown === null;
  return { history, shares, judgement, alarms: result.alarms ?? [], step, steps, other, versus, isFollowing };
}

/** @type {WeakMap<Beside, {keys: any[], other: Other}>} */
const otherCache = new WeakMap();

/** The run beside this one, the same as long as nothing came. @param {Model} model @param {number[]} shares @param {any} result @returns {Other | null} */
function otherOf(model, shares, result) {
  const beside = /** @type {Beside} */ (model.get("beside") ?? {});
  const { run, past, name = "" } = beside;
  if (!run || !past) return null;
  const judgement = isAlike(shares, result.weights) ? result.beside?.lines : null;
  const keys = [judgement, shares.join()];
  const cached = otherCache.get(beside);
  if (cached?.keys.every((key, i) => key === keys[i])) return cached.other;
  const { lines, steps } = decodeRun(past, {});
  const isOwn = isAlike(shares, sharesOf(run.weights));
  const other = {
    name,
    steps,
    lines: lines.map((stored) => reweightLine(stored, run, shares, isOwn, judgement?.[stored.name])),
  };
  otherCache.set(beside, { keys, other });
  return other;
}

/** @type {WeakMap<Float64Array, {theirs: Float64Array, both: Float64Array}>} */
const stepsCache = new WeakMap();

/** Of both runs, the same array as long as they are. @param {Float64Array} own @param {Other | null} other */
function stepsOf(own, other) {
  if (!other) return own;
  const cached = stepsCache.get(own);
  if (cached?.theirs === other.steps) return cached.both;
  const both = unionOf([own, other.steps]);
  stepsCache.set(own, { theirs: other.steps, both });
  return both;
}

/** @param {History} history @param {string} why */
function apartWords({ lines }, why) {
  return Object.fromEntries(lines.map(({ stored }) => [stored.name, `The other run ${why}.`]));
}

/** The same for every scene that is looked at under the same weights. @param {Model} model @param {Run} run @param {number[]} shares @param {Record<string, Judgement> | null} judgement */
function historyOf(model, run, shares, judgement) {
  const [past, recent] = /** @type {Packed[]} */ ([model.get("past"), model.get("recent")]);
  const keys = [past, recent, run, judgement, shares.join()];
  const cached = historyCache.get(model);
  if (cached?.keys.every((key, i) => key === keys[i])) return cached.history;
  const { lines, losses, steps, leftOut } = decodeRun(past, recent);
  const isOwn = isAlike(shares, sharesOf(run.weights));
  const reweighted = lines.map((stored) => reweightLine(stored, run, shares, isOwn, judgement?.[stored.name]));
  const history = { steps, lines: reweighted, losses, leftOut };
  historyCache.set(model, { keys, history });
  return history;
}

/** @param {Stored} stored @param {Run} run @param {number[]} shares @param {boolean} isOwn whether these are the run's own weights @param {Judgement} [judgement] @returns {Line} */
function reweightLine(stored, run, shares, isOwn, judgement) {
  const facts = run.metrics[stored.metric];
  const isFirstOrder = !isOwn && judgement?.kind === "first order";
  const errors = isOwn ? stored.errors : judgement?.errors ? alignErrors(stored.steps, judgement) : null;
  const isMoved = stored.moves && !isOwn;
  const clients = isMoved ? alignClients(stored, shares.length, judgement) : stored.clients;
  const avg = isMoved ? alignAvg(stored, judgement) : isOwn ? stored.avg : avgOf(stored.clients, shares);
  const bestAvg = avg && bestOf(stored.steps, avg, facts);
  if (facts.of)
    return {
      stored,
      facts,
      clients,
      avg,
      all: null,
      gap: null,
      errors,
      isFirstOrder,
      best: { avg: bestAvg, all: null },
    };
  const packed = Object.hasOwn(run.gaps, facts.name) ? run.gaps[facts.name] : null;
  const constant = packed && !isOwn ? kidGap(packed, shares) : NaN;
  const all = isOwn
    ? stored.all
    : packed
      ? (avg?.map((value) => value - constant) ?? null)
      : judgement?.all
        ? alignToSteps(stored.steps, doubles(judgement.steps ?? ""), doubles(judgement.all))
        : null;
  const gap = isOwn
    ? stored.gap
    : packed
      ? avg && new Float64Array(avg.length).fill(constant)
      : all && (avg?.map((value, i) => value - all[i]) ?? null);
  const best = { avg: bestAvg, all: all && bestOf(stored.steps, all, facts) };
  return { stored, facts, clients, avg, all, gap, errors, isFirstOrder, best };
}

/** avg as Python says it, null until it has. @param {Stored} stored @param {Judgement} [judgement] */
function alignAvg({ steps }, judgement) {
  return judgement?.avg ? alignToSteps(steps, doubles(judgement.steps ?? ""), doubles(judgement.avg)) : null;
}

/** The clients' scores as Python says them, null until it has. @param {Stored} stored @param {number} count of clients @param {Judgement} [judgement] */
function alignClients({ steps }, count, judgement) {
  if (!judgement?.clients) return null;
  const [at, rows] = [doubles(judgement.steps ?? ""), singles(judgement.clients)];
  const places = alignToSteps(steps, at, Float64Array.from(at.keys()));
  return Float32Array.from({ length: steps.length * count }, (_, n) => {
    const place = places[Math.floor(n / count)];
    return Number.isNaN(place) ? NaN : rows[place * count + (n % count)];
  });
}

/** Means of the clients' scores at every step. @param {Float32Array} clients @param {number[]} shares */
export function avgOf(clients, shares) {
  const k = shares.length;
  const means = new Float64Array(clients.length / k);
  for (let s = 0, at = 0; s < means.length; s++, at += k) {
    let sum = 0;
    for (let i = 0; i < k; i++) if (shares[i]) sum += shares[i] * clients[at + i];
    means[s] = sum;
  }
  return means;
}

/** Values at some steps, aligned to all steps asked for, NaN at others; both in their order. @param {Float64Array} steps @param {Float64Array} ownSteps @param {Float64Array} values */
function alignToSteps(steps, ownSteps, values) {
  const aligned = new Float64Array(steps.length).fill(NaN);
  for (let i = 0, j = 0; i < steps.length; i++) {
    while (j < ownSteps.length && ownSteps[j] < steps[i]) j++;
    if (ownSteps[j] === steps[i]) aligned[i] = values[j];
  }
  return aligned;
}

/** Standard errors of avg, all and gap as Python says them at some steps, at those asked for. @param {Float64Array} steps @param {Judgement} judgement */
function alignErrors(steps, { steps: ownSteps = "", errors = "" }) {
  const [at, rows] = [doubles(ownSteps), singles(errors)];
  const columns = [0, 1, 2].map((c) =>
    alignToSteps(
      steps,
      at,
      Float64Array.from(at, (_, i) => rows[3 * i + c]),
    ),
  );
  return Float32Array.from({ length: 3 * steps.length }, (_, i) => columns[i % 3][Math.floor(i / 3)]);
}

/** What steps are ranked by, lower is better. @param {number} score @param {MetricFacts} facts */
export function lossOf(score, { higher, best }) {
  return best !== null ? Math.abs(score - best) : higher ? -score : score;
}

/** The first step with the best score, null where there is none. @param {Float64Array} steps @param {Float64Array} scores @param {MetricFacts} facts */
export function bestOf(steps, scores, facts) {
  const losses = scores.map((score) => lossOf(score, facts)).map((loss) => (Number.isFinite(loss) ? loss : NaN));
  const first = lowest(losses);
  return Number.isFinite(losses[first] ?? NaN) ? steps[first] : null;
}

/** @param {number[]} weights */
export function sharesOf(weights) {
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / sum);
}

/** @param {number[]} shares @param {number[] | undefined} others */
export function isAlike(shares, others) {
  return (
    others?.length === shares.length && shares.every((share, i) => Math.abs(share - others[i]) < MAX_SHARE_ROUNDING)
  );
}

/** Shares with one set, the others in proportion. @param {number[]} weights @param {number} i @param {number} value from 0 to 1 */
export function withShare(weights, i, value) {
  const shares = sharesOf(weights);
  const rest = 1 - shares[i];
  const others = shares.length - 1;
  if (!others) return shares;
  return shares.map((share, j) =>
    j === i ? value : rest > 1e-12 ? (share * (1 - value)) / rest : (1 - value) / others,
  );
}
