/**
 * Twin: labs/privacy/numbers.py · held by: tests/labs/privacy/test_privacy.py
 *
 * What the lab says of its numbers. No DOM.
 *
 * @import { Numbers, Scene, Study } from "./types.js"
 */
import { briefText, figure, ordinal, tickText } from "../../toolkit/view/numbers.js";
import { ordered, placesOf } from "./numbers.js";

/** @param {Study} study @param {Scene} scene @param {Numbers} numbers */
export function headlineWords(study, scene, { epsilon, kept, drawn, order }) {
  const name = scoreName(study, scene);
  const runs = `${kept} of ${drawn.length} runs`;
  return `At ε = ${epsilonText(epsilon)} the best by ${name} stays first in ${runs}; without noise it is ${study.generators[order[0]]}.`;
}

/** The answer over all ε. @param {Study} study @param {Numbers} numbers */
export function survivalWords(study, { survives, drawn, order, clipped, low, high, same }) {
  const { epsilons, generators } = study;
  const least = Math.ceil(0.95 * drawn.length - 1e-9);
  const kept = `it stays first in at least ${least} of the ${drawn.length} runs.`;
  const first =
    survives === null
      ? `Up to ε = ${epsilonText(epsilons[epsilons.length - 1])} there is none from which on ${kept}`
      : `From ε = ${epsilonText(survives)} on ${kept}`;
  const reach = `At the present ε its chance to stay first may be ${share(low)} to ${share(high)} (95 % interval of ${drawn.length} runs); all ${generators.length} keep their places in ${same} of ${drawn.length}.`;
  const bent = clipped === order[0] ? "" : ` Clipping alone, without noise, puts ${generators[clipped]} first.`;
  return `${first} ${reach}${bent}`;
}

/** The order that the picked run would show. @param {Study} study @param {Scene} scene @param {Numbers} numbers */
export function runWords({ generators }, { run }, { shown, drawn, places, order }) {
  const names = ordered(shown).map((g) => generators[g]);
  const place = places[order[0]];
  const best = place === 1 ? "the right one first" : `the true first only ${ordinal(place)}`;
  return `A release is one run. Run ${run} of ${drawn.length}, the marks, would show ${names.join(", ")}; ${best}.`;
}

/** What the chart's band is. @param {Study} study @param {Scene} scene */
export function bandWords({ drawn }, { aggregate }) {
  return `Band: the chance that the best by ${aggregate} stays first, a 95\u00a0% interval of the ${drawn[0].length} runs at each ε by itself.`;
}

/** @param {Study} study @param {Numbers} numbers */
export function noiseText({ delta }, { epsilon, multiplier }) {
  return `ε = ${epsilonText(epsilon)}, δ = ${briefText(delta)}: noise of ${figure(multiplier)} times what one row can move`;
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
  const moves = scene.metric === "fid" ? " Noise moves FID itself, as negative eigenvalues are cut off." : "";
  const kid = scene.metric === "kid" ? " KID-avg and KID-all order alike, with noise and without." : "";
  return [
    `${about} ${clients} clients of ${size} rows.`.trim(),
    `(ε, δ = ${briefText(delta)}) protects each row of a client, one row replaced${together}${clipping}.`,
    `All generators of a run meet the same noise, so compare within a run. At other ε it is only scaled: neighbouring points are not independent.${moves}${kid}`,
    "The study itself reads the rows and is not private: make it before a release, of public or simulated data like those to come.",
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

/** @param {number} value */
function share(value) {
  return `${Math.round(100 * value)}\u00a0%`;
}
