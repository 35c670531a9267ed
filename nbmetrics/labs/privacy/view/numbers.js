/**
 * Twin: labs/privacy/numbers.py · held by: tests/labs/privacy/test_privacy.py
 *
 * What the study says of one ε, metric, aggregate and run, in numbers and in words, and the shapes that the PrivacyLab's
 * modules share; see scene.py, study.py and numbers.py. No DOM.
 *
 * @typedef {{rev: number, preset: string, of: string, epsilon: number, metric: string, aggregate: string, run: number}} Scene
 * @typedef {{best: number, rival: number, kept: number, low: number, high: number, kept_if_reversed: number,
 *   reversed_low: number, reversed_high: number, apart: string, moved: string, survives: boolean}} Pair  see `_of_pair`
 *   of study.py
 * @typedef {{of: string, about: string, code: string, epsilons: number[], multipliers: number[],
 *   metrics: {name: string, label: string}[], generators: string[], exact: number[][][], clipped: number[][][],
 *   drawn: number[][][][][], pairs: Pair[][][], clips: boolean[][], delta: number, clip: number,
 *   rows: [number, number], clients: number}} Study  `drawn` by ε, run, metric, aggregate and generator; `pairs` by ε,
 *   metric and aggregate
 * @typedef {{place: number, epsilon: number, multiplier: number, order: number[], exact: number[], drawn: number[][],
 *   shown: number[], places: number[], first: number[],
 *   noise: number | null, kept: number, low: number, high: number, pair: Pair, same: number, clipped: number, clips: boolean,
 *   survives: number | null}} Numbers
 */
import { briefText, figure, ordinal, tickText } from "../../toolkit/view/numbers.js";
import { orderOf } from "../../toolkit/view/ties.js";
import declaration from "../scene.json" with { type: "json" };

export const AGGREGATES = declaration.fields.aggregate.choice;

/** @param {Scene} scene @param {{get(key: string): any}} model @returns {Numbers} */
export function numbersOf(scene, model) {
  const study = /** @type {Study} */ (model.get("study"));
  const e = nearest(study.epsilons, scene.epsilon);
  const { m, p } = placesOf(study, scene);
  const drawn = study.drawn[e].map((run) => run[m][p]);
  const [exact, shown] = [study.exact[m][p], drawn[scene.run - 1]];
  const order = rankingOf(exact);
  const pair = study.pairs[e][m][p];
  const firsts = drawn.map((run) => rankingOf(run)[0]);
  return {
    place: e,
    epsilon: study.epsilons[e],
    multiplier: study.multipliers[e],
    order,
    exact,
    drawn,
    shown,
    places: exact.map((_, g) => rankingOf(shown).indexOf(g) + 1),
    first: exact.map((_, g) => firsts.filter((first) => first === g).length),
    noise: noiseRatio(
      drawn.map((run) => run[order[0]]),
      exact[order[0]],
    ),
    kept: pair.kept,
    low: pair.low,
    high: pair.high,
    pair,
    same: drawn.filter((run) => String(rankingOf(run)) === String(order)).length,
    clipped: rankingOf(study.clipped[m][p])[0],
    clips: study.clips[m][p],
    survives: survives(study, m, p),
  };
}

/** How far the runs' scores lie from the one without noise, as a multiple of that; null where that is 0. @param {number[]} scores @param {number} exact */
function noiseRatio(scores, exact) {
  const away = scores.map((score) => Math.abs(score - exact)).sort((a, b) => a - b);
  const middle = (away[(away.length - 1) >> 1] + away[away.length >> 1]) / 2;
  return exact === 0 ? null : middle / Math.abs(exact);
}

/** Of the metric and the aggregate. @param {Study} study @param {Scene} scene */
export function placesOf({ metrics }, { metric, aggregate }) {
  return { m: metrics.findIndex(({ name }) => name === metric), p: AGGREGATES.indexOf(aggregate) };
}

/** The place of the ε that is nearest by its ratio. @param {number[]} epsilons @param {number} epsilon */
export function nearest(epsilons, epsilon) {
  const far = epsilons.map((e) => Math.abs(Math.log(e / epsilon)));
  return far.indexOf(Math.min(...far));
}

/** The generators from best to worst; what ties stays as given. @param {number[]} scores */
export function rankingOf(scores) {
  return orderOf(scores);
}

/** The smallest ε from which on the order of the best generator and its rivals survives. @param {Study} study @param {number} m @param {number} p */
export function survives({ epsilons, pairs }, m, p) {
  const last = pairs.map((one) => !one[m][p].survives).lastIndexOf(true);
  return epsilons[last + 1] ?? null;
}

/** How large the noise is beside the score, and who is first then. @param {Numbers} numbers */
export function headlineWords({ epsilon, noise, kept, pair, drawn, clips }) {
  const size = `At ε = ${epsilonText(epsilon)} the noise is ${timesText(noise)} the score`;
  if (pair.survives) return `${size}; the best stays first in ${kept} of ${drawn.length} runs.`;
  return `${size}, and ${clips ? "with clipping it " : ""}decides who is first.`;
}

/** @param {number | null} ratio of the noise to the score */
function timesText(ratio) {
  if (ratio === null) return "infinitely many times";
  if (ratio < 1) return `${Math.round(100 * ratio)}\u00a0% of`;
  return `${ratio < 10 ? ratio.toFixed(1) : Math.round(ratio)} times`;
}

/** The answer over all ε, and what makes it at the present one. @param {Study} study @param {Numbers} numbers */
export function survivalWords(
  { epsilons, generators },
  { survives, drawn, order, clipped, same, kept, low, high, pair, clips },
) {
  const [runs, best, rival] = [drawn.length, generators[pair.best], generators[pair.rival]];
  const least = Math.ceil(0.95 * runs - 1e-9);
  const sentences = [
    survives === null
      ? `Up to ε = ${epsilonText(epsilons[epsilons.length - 1])} the noise decides: the order survives at none of these ε.`
      : `From ε = ${epsilonText(survives)} on, the order survives: at least ${least} of the ${runs} runs show it, and as many would show the opposite order if it were the true one.`,
    `At this ε, ${clips ? "clipping and noise move" : "noise moves"} the difference between ${best} and ${rival} by about ± ${pair.moved}; without noise, it is ${pair.apart}.`,
    `${best} stays first in ${kept} of ${runs} runs (a chance of ${chance(low, high)}); if ${rival} were the better one by as much, it would be ahead in ${pair.kept_if_reversed} (${chance(pair.reversed_low, pair.reversed_high)}).`,
  ];
  if (generators.length > 2) sentences.push(`All ${generators.length} keep their places in ${same} of ${runs}.`);
  if (clipped !== order[0]) sentences.push(`Clipping alone, without noise, puts ${generators[clipped]} first.`);
  return sentences.join(" ");
}

/** The order that the picked run would show. @param {Study} study @param {Scene} scene @param {Numbers} numbers */
export function runWords({ generators }, { run }, { shown, drawn, places, order }) {
  const names = rankingOf(shown).map((g) => generators[g]);
  const place = places[order[0]];
  const best = place === 1 ? "the true best is first" : `the true best is only ${ordinal(place)}`;
  return `A release is one run. Run ${run} of ${drawn.length}, the marks, would show ${names.join(", ")}; ${best}.`;
}

/** What the chart's band is. @param {Study} study @param {Scene} scene */
export function bandWords({ drawn }, { aggregate }) {
  return `Band: the chance that the best by ${aggregate} stays first, a 95\u00a0% interval from the ${drawn[0].length} runs at each ε separately.`;
}

/** What its hatching is. @param {Scene} scene */
export function hatchWords({ aggregate }) {
  return `Hatched, open dots: the noise decides who is first by ${aggregate}, even if the best is often first.`;
}

/** What ε is, to whom it is new. */
export const EPSILON_WORDS = "Small ε: much noise, more privacy. Large ε: little noise, less privacy.";

/** Who takes part, for those to whom it is new. */
export const CLIENT_WORDS =
  "A client has real data, such as a hospital. A generator is a model that makes similar data.";

/** What the lab asks. */
export const QUESTION =
  "Clients add noise to what they send, to protect each row. How small can ε be before the ranks are chance?";

/** @param {Study} study @param {Numbers} numbers */
export function noiseText({ delta }, { epsilon, multiplier }) {
  return `ε = ${epsilonText(epsilon)}, δ = ${briefText(delta)}: noise of ${figure(multiplier)} times the effect of one row`;
}

/** What a reader must know before it is believed. @param {Study} study @param {Scene} scene */
export function conventionWords(study, scene) {
  const { about, clients, rows, delta, metrics, clip } = study;
  const size =
    rows[0] === rows[1]
      ? rows[0].toLocaleString("en")
      : `${rows[0].toLocaleString("en")} to ${rows[1].toLocaleString("en")}`;
  const together = metrics.length > 1 ? `, for ${metrics.map(({ label }) => label).join(" and ")} together` : "";
  const clipping = metrics.some(({ name }) => name === "fid")
    ? `; for FID rows are clipped to a distance of ${tickText(clip)} from the centre`
    : "";
  const moves =
    scene.metric === "fid"
      ? " Noise shifts FID itself, because negative eigenvalues are cut off, and this favours wider generators."
      : "";
  const kid = scene.metric === "kid" ? " KID-avg and KID-all rank generators alike, with and without noise." : "";
  return [
    `${about} ${clients} clients of ${size} rows.`.trim(),
    `(ε, δ = ${briefText(delta)}) protects each row of a client, one row replaced${together}${clipping}.`,
    `All generators of a run get the same noise, so compare within a run; its effect on them differs. At another ε it is only scaled: neighbouring points are not independent.${moves}${kid}`,
    "The study itself reads the rows and is not private: run it before a release, with public or simulated data like those to come.",
  ].join(" ");
}

/** @param {Study} study @param {Scene} scene */
export function scoreName(study, scene) {
  return `${study.metrics[placesOf(study, scene).m].label}-${scene.aggregate}`;
}

/** As Python’s :g writes it. @param {number} value */
export function epsilonText(value) {
  return String(Number(value.toPrecision(6)));
}

/** @param {number} low @param {number} high */
function chance(low, high) {
  return `${Math.round(100 * low)} to ${Math.round(100 * high)}\u00a0%`;
}
