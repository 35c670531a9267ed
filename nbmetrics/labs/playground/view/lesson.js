/**
 * Twin: labs/playground/lessons.py · held by: tests/labs/playground/test_lessons.py
 *
 * Lessons: how far the learner is, what the answer is, how far off the guess was, and whether a task is done. No DOM.
 *
 * @import { Aggregates, Data, Numbers, Progress, Scene, View } from "../../toolkit/view/types.js"
 */

import { isLower, numbersOf } from "../../plane/view/scores.js";
import { capital, figure, numeral } from "../../toolkit/view/numbers.js";
import { lowest } from "../../toolkit/view/ties.js";
import { CHARTED } from "./metrics.js";
import { subjectOf, sweepOf } from "./sweep.js";

/**
 * @typedef {"intra" | "avg" | "all" | "gap"} Part
 * @typedef {{metric: string, aggregate: Part, generator: string, best: "min" | "value", sweep?: string, axis?: number[],
 *   redraws?: number}} Prediction
 * @typedef {{answer: number | null, other: number | null}} Found
 * @typedef {{kind: "inversion" | "agreement" | "gap_constant" | "below", metric?: string, by?: number, within?: number,
 *   aggregate?: Part, generator?: string, value?: number}} Check
 * @typedef {{name: string, question: string, scene: Scene, after: Scene, predict: Prediction | null,
 *   check: Check | null, reveal: string, tries: string[], hint: string, solution: Scene | null}} Lesson  as
 *   nbmetrics/labs/playground/lessons.py writes it; `scene` is what it opens with, `after` what Reveal shows, and in
 *   `solution` the task is done
 */

/** The lesson under way, if this lab has it. @param {Record<string, Lesson> | undefined} lessons @param {Scene} scene @returns {Lesson | null} */
export function lessonOf(lessons, scene) {
  return (scene.lesson && lessons?.[scene.lesson.name]) ?? null;
}

/** What a generator that the lesson names is called now. @param {Scene} scene @param {string} name */
function nameNow({ lesson }, name) {
  return lesson?.about[name] ?? name;
}

/** Where a generator that the lesson names is now; −1 if it is gone. @param {Scene} scene @param {string} name */
export function indexNow(scene, name) {
  return scene.generators.findIndex((item) => item.name === nameNow(scene, name));
}

/**
 * What Reveal shows: the scene as the learner left it, with the chart in question; or the lesson's own, changed. The
 * answer is that of this scene, and stays when the learner goes on.
 * @param {Lesson} lesson @param {Scene} scene @param {Record<string, Data>} [data] @returns {Scene}
 */
export function revealedScene({ predict, after }, scene, data = {}) {
  const shown = predict?.best === "value" ? { ...after, rev: scene.rev } : scene;
  const { about } = /** @type {Progress} */ (shown.lesson);
  const answers = predict ? answerOf(predict, shown, data) : {};
  const lesson = { .../** @type {Progress} */ (scene.lesson), ...answers, about, revealed: true };
  if (!predict?.sweep) return { ...shown, lesson };
  return { ...shown, view: { metric: predict.metric, panel: "sweep", sweep: predict.sweep, aligned: false }, lesson };
}

/** What Show me shows: the task done, and what the learner came to so far. @param {Scene} solution @param {Scene} scene @returns {Scene} */
export function solvedScene(solution, { rev, preset, lesson }) {
  const progress = /** @type {Progress} */ (lesson);
  const about = Object.fromEntries(Object.keys(progress.about).map((name) => [name, name])); // its own names again
  return { ...solution, rev, preset, lesson: { ...progress, about } };
}

/** @param {Aggregates} numbers @param {Part} part @param {number} g */
export function partOf(numbers, part, g) {
  if (part === "gap") return numbers.avg[g] - numbers.all[g];
  return part === "intra" ? (numbers.intra ?? numbers.avg)[g] : numbers[part][g]; // of one distribution, intra is avg
}

/** Such as "FID avg" or "the gap of FID". @param {string} metric @param {Part} part */
export function partLabel(metric, part) {
  const { label } = CHARTED[metric];
  return part === "gap" ? `the gap of ${label}` : `${label} ${part}`;
}

/**
 * The true answer, from the page's closed forms, and that of the other aggregate where a sweep has both; null where
 * there is none: the generator is gone, or the curve is flat.
 * @param {Prediction} predict @param {Scene} scene @param {Record<string, Data>} [data] @returns {Found}
 */
export function answerOf({ metric, aggregate, generator, sweep, redraws }, scene, data = {}) {
  const index = indexNow(scene, generator);
  if (index < 0) return { answer: null, other: null };
  if (sweep) {
    const subject = subjectOf({ ...scene, view: { .../** @type {View} */ (scene.view), sweep } }, index, 0);
    const { best } = sweepOf(scene, data, metric, subject, index);
    const [answer, other] = aggregate === "all" ? [best.all, best.avg] : [best.avg, best.all];
    return { answer: answer?.at ?? null, other: other?.at ?? null };
  }
  const first = scene.seed ?? 0;
  const seeds = redraws ? Array.from({ length: redraws }, (_, k) => first + 1 + k) : [first];
  const scores = seeds.map((seed) => partOf(numbersOf({ ...scene, seed }, data, [metric])[metric], aggregate, index));
  return { answer: scores.reduce((sum, score) => sum + score, 0) / scores.length, other: null };
}

/**
 * What Reveal found, in words beside the learner's guess; as of the past once the lowest points are elsewhere.
 * @param {Lesson} lesson @param {Scene} scene @param {Record<string, Data>} [data]
 */
export function outcomeOf({ predict }, scene, data = {}) {
  if (!predict) return "";
  const { guess, answer, other } = /** @type {Progress} */ (scene.lesson);
  const { metric, aggregate, generator, sweep, redraws } = predict;
  const label = capital(partLabel(metric, aggregate));
  if (answer === null)
    return `${label} of ${nameNow(scene, generator)} has no lowest point here. Undo to return to the question.`;
  const isLowest =
    sweep && isMoved({ answer, other }, answerOf(predict, scene, data)) ? "was lowest at" : "is lowest at";
  const outcome = `${label} ${sweep ? isLowest : "comes to"} ${numeral(answer)}${redraws ? `, the mean of ${redraws} draws` : ""}`;
  const off = guess === null ? "" : `: your guess ${numeral(guess)} is ${awayOf(guess, answer)}`;
  const second =
    other === null ? "" : ` ${partLabel(metric, aggregate === "avg" ? "all" : "avg")} ${isLowest} ${numeral(other)}.`;
  return `${outcome}${off}.${second}`;
}

/** Whether what is found now reads otherwise. @param {Found} before @param {Found} now */
function isMoved(before, now) {
  return /** @type {const} */ (["answer", "other"]).some(
    (part) => numeral(before[part] ?? NaN) !== numeral(now[part] ?? NaN),
  );
}

/** @param {number} guess @param {number} answer */
function awayOf(guess, answer) {
  const away = Math.abs(guess - answer).toFixed(2);
  return Number(away) === 0 ? "exactly right" : `${away} away`;
}

/**
 * Whether a task is done, and in words how far it is.
 * @param {Check} check @param {Scene} scene @param {Numbers} numbers @returns {{done: boolean, text: string}}
 */
export function verdictOf(check, scene, numbers) {
  const metric = check.metric ?? scene.view?.metric ?? "fid";
  const aggregates = /** @type {Aggregates | undefined} */ (numbers[metric]);
  const { label } = CHARTED[metric];
  if (!aggregates)
    return { done: false, text: `choose a metric that is computed in the page, such as FID; ${label} is not` };
  const names = scene.generators.map((item) => item.name);
  if (check.kind === "below") return belowVerdict(check, metric, aggregates, scene);
  if (names.length < 2) return { done: false, text: "this needs two generators" };
  if (check.kind === "gap_constant") return gapVerdict(check, label, aggregates);
  const pair = sharpestPair(aggregates);
  const [a, b] = [pair.first, pair.second].map((g) => names[g]);
  if (check.kind === "agreement") {
    const done = pair.avg <= 0;
    return {
      done,
      text: done
        ? `${label} avg and ${label} all rank alike`
        : `${label} avg ranks ${a} above ${b}, ${label} all ranks ${b} above ${a}`,
    };
  }
  return inversionVerdict(check.by ?? 0, label, pair, a, b);
}

/** @param {Check} check @param {string} metric @param {Aggregates} aggregates @param {Scene} scene */
function belowVerdict({ aggregate = "avg", generator = "", value = 0 }, metric, aggregates, scene) {
  const index = indexNow(scene, generator);
  if (index < 0) return { done: false, text: `${nameNow(scene, generator)} is no longer here` };
  const now = partOf(aggregates, aggregate, index);
  const done = now < value;
  return {
    done,
    text: `${partLabel(metric, aggregate)} is ${figure(now)}${done ? ", below" : "; bring it below"} ${value}`,
  };
}

/** @param {Check} check @param {string} label @param {Aggregates} found */
function gapVerdict({ within = 0 }, label, { avg, all, terms = [] }) {
  const gaps = avg.map((value, g) => value - all[g]);
  const [low, high] = [Math.min(...gaps), Math.max(...gaps)];
  const done = !isLower(low + within, high, ...terms);
  const text = done
    ? `the gap of ${label} is ${figure(low)} for every generator`
    : `the gap of ${label} runs from ${figure(low)} to ${figure(high)}`;
  return { done, text };
}

/**
 * The two generators that avg and all order most differently: avg ranks the first above by `avg`, all the second by `all`;
 * both are 0 or less where every pair is ordered alike.
 * @param {Aggregates} found
 */
function sharpestPair({ avg, all, terms = [] }) {
  let best = { first: 0, second: 1, avg: -Infinity, all: -Infinity };
  for (let first = 0; first < avg.length; first++) {
    for (let second = 0; second < avg.length; second++) {
      if (first === second) continue;
      const pair = {
        first,
        second,
        avg: lead(avg[first], avg[second], terms),
        all: lead(all[second], all[first], terms),
      };
      if (Math.min(pair.avg, pair.all) > Math.min(best.avg, best.all)) best = pair;
    }
  }
  if (Math.min(best.avg, best.all) > 0) return best;
  return { first: lowest(avg), second: lowest(all), avg: 0, all: 0 };
}

/** By how much the lower score leads, nothing where the difference is rounding. @param {number} low @param {number} high @param {number[]} terms */
function lead(low, high, terms) {
  return isLower(low, high, ...terms) ? high - low : Math.min(0, high - low);
}

/** @param {number} by @param {string} label @param {{avg: number, all: number}} pair @param {string} a @param {string} b */
function inversionVerdict(by, label, pair, a, b) {
  if (pair.avg <= 0) return { done: false, text: `${label} avg and ${label} all both prefer ${a}` };
  const [byAvg, byAll] = [figure(pair.avg), figure(pair.all)];
  const text = `${label} avg ranks ${a} above ${b} by ${byAvg}, ${label} all ranks ${b} above ${a} by ${byAll}`;
  return { done: Math.min(pair.avg, pair.all) >= by, text };
}
