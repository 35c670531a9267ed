/**
 * Twin: labs/privacy/numbers.py · held by: tests/labs/privacy/test_privacy.py
 *
 * What the study says of one ε, metric, aggregate and run. No DOM.
 *
 * @import { Numbers, Scene, Study } from "./types.js"
 */
import declaration from "../scene.json" with { type: "json" };

export const AGGREGATES = declaration.fields.aggregate.choice;

/** @param {Scene} scene @param {{get(key: string): any}} model @returns {Numbers} */
export function numbersOf(scene, model) {
  const study = /** @type {Study} */ (model.get("study"));
  const e = nearest(study.epsilons, scene.epsilon);
  const { m, p } = placesOf(study, scene);
  const drawn = study.drawn[e].map((run) => run[m][p]);
  const [exact, shown] = [study.exact[m][p], drawn[scene.run - 1]];
  const order = ordered(exact);
  const pair = study.pairs[e][m][p];
  const firsts = drawn.map((run) => ordered(run)[0]);
  return {
    place: e,
    epsilon: study.epsilons[e],
    multiplier: study.multipliers[e],
    order,
    exact,
    drawn,
    shown,
    places: exact.map((_, g) => ordered(shown).indexOf(g) + 1),
    first: exact.map((_, g) => firsts.filter((first) => first === g).length),
    kept: pair.kept,
    low: pair.low,
    high: pair.high,
    pair,
    same: drawn.filter((run) => String(ordered(run)) === String(order)).length,
    clipped: ordered(study.clipped[m][p])[0],
    clips: study.clips[m][p],
    survives: survives(study, m, p),
  };
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

/** The generators from best to worst. @param {number[]} scores */
export function ordered(scores) {
  return scores.map((_, g) => g).sort((g, h) => scores[g] - scores[h]);
}

/** The smallest ε from which on the order of the best generator and its rivals survives. @param {Study} study @param {number} m @param {number} p */
export function survives({ epsilons, pairs }, m, p) {
  const last = pairs.map((one) => !one[m][p].survives).lastIndexOf(true);
  return epsilons[last + 1] ?? null;
}
