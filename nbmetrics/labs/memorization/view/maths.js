/**
 * Twin: labs/memorization/study.py · held by: tests/labs/memorization/test_page_maths.py
 *
 * What MemorizationLab's page computes itself: the generated points of a scene, in every frame, and how far a metric is
 * from what it says of an honest generator. No DOM.
 *
 * @typedef {"copied" | "jitter" | "bandwidth" | "spread"} Knob  what the curve runs over, and a slider sets
 * @typedef {"fld" | "fld_train" | "fld_gap" | "fid_train" | "fid_test" | "c_t" | "auth_pct" | "precision" | "recall"} CardName
 * @typedef {{name: string, guess: {fid_test: number | null, fld: number | null} | null, revealed: boolean}} NoticeLesson
 * @typedef {{panel: string, sweep: Knob, sort: "memorization" | "quality"}} MemoPanels
 * @typedef {{rev: number, preset: string, data: string, copied: number, jitter: number, bandwidth: number, spread: number,
 *   points: number, seed: number, view: MemoPanels, selected: number | null, lesson: NoticeLesson | null}} MemoScene
 * @typedef {[number, number][]} Rows2
 * @typedef {{key: string, train: Rows2, test: Rows2, fresh: Rows2, kde: number[], kde_noise: Rows2, partner: number[],
 *   noise: Rows2, rank: number[], projected: boolean, bump?: [number, number], units?: string, about?: string, features?: number,
 *   stand_in?: string}} MemoBase
 * @typedef {Record<CardName, number | null>} CardNumbers
 * @typedef {{rev: number, seconds?: number, error?: {message: string}, doing?: string, done?: number, cards: CardNumbers, honest: CardNumbers | null,
 *   noise?: CardNumbers | null, comparable?: CardNumbers | null, missing?: Record<string, string>, uncompared?: Record<string, string>, sigma: Rows2 | null, variance: number[], memorization: number[], quality: number[],
 *   nearest: number[], distance: number[], apart?: number[]}} MemoAnswer
 * @typedef {{points: Float64Array, isCopy: Uint8Array, copies: number}} Made  x and y in turn
 */

import { briefText, shareText } from "../../toolkit/view/numbers.js";
import { orderOf as orderByScore } from "../../toolkit/view/ties.js";
import cards from "../cards.json" with { type: "json" };
import declaration from "../scene.json" with { type: "json" };
import sliders from "../sliders.json" with { type: "json" };

/** Half to the even side, as Python rounds. @param {number} value */
export function roundHalfEven(value) {
  const low = Math.floor(value);
  const rest = value - low;
  return rest < 0.5 || (rest === 0.5 && low % 2 === 0) ? low : low + 1;
}

/** @param {MemoBase} base @param {MemoScene} scene */
export function fitsBase(base, { data, points, seed }) {
  return data === "own" || base.key === `${data} ${points} ${seed}`;
}

/**
 * The generated points: honest ones, fresh or drawn around train points, and copies in their place, all drawn towards
 * their mean. The share of copies grows point by point, so that a drag changes single points.
 * @param {MemoScene} scene @param {MemoBase} base @returns {Made}
 */
export function generatedOf(
  { copied, jitter, bandwidth, spread },
  { train, fresh, kde, kde_noise, partner, noise, rank },
) {
  const count = fresh.length;
  const copies = rank.length ? roundHalfEven(copied * count) : 0;
  const points = new Float64Array(2 * count);
  const isCopy = new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    isCopy[i] = Number(copies > 0 && rank[i] < copies);
    for (const axis of /** @type {const} */ ([0, 1])) {
      const honest =
        bandwidth > 0 && kde.length ? train[kde[i]][axis] + bandwidth * kde_noise[i][axis] : fresh[i][axis];
      points[2 * i + axis] = isCopy[i] ? train[partner[i]][axis] + jitter * noise[i][axis] : honest;
    }
  }
  if (spread !== 1) shrink(points, spread);
  return { points, isCopy, copies };
}

/** Draw points towards their mean, or away from it. @param {Float64Array} points @param {number} spread */
function shrink(points, spread) {
  for (const axis of [0, 1]) {
    let mean = 0;
    for (let k = axis; k < points.length; k += 2) mean += points[k];
    mean /= points.length / 2;
    for (let k = axis; k < points.length; k += 2) points[k] = mean + spread * (points[k] - mean);
  }
}

/** What the numbers of a scene depend on, as text. @param {MemoScene} scene */
export function settingsKey({ data, copied, jitter, bandwidth, spread, points, seed }) {
  return JSON.stringify([data, copied, jitter, bandwidth, spread, points, seed]);
}

/** What the curve over a knob depends on, as text. @param {MemoScene} scene */
export function sweepKey(scene) {
  return `${scene.view.sweep} ${settingsKey({ ...scene, [scene.view.sweep]: 0 })}`;
}

/** The same scene but for some parts. @param {any} scene @param {Partial<MemoScene>} parts @returns {any} */
export function withMemo(scene, parts) {
  return { ...scene, ...parts };
}

/**
 * @typedef {object} Slider  as ../sliders.json says
 * @property {string} label
 * @property {string} hint
 * @property {number | null} step null where it is logarithmic
 * @property {string} [zero] what 0 is called
 * @property {number[]} [range] narrower than the bounds of the field
 */
/** @typedef {Slider & {ticks: number[]}} KnobSlider */

export const KNOBS = /** @type {Record<Knob, KnobSlider> & {points: Slider}} */ (sliders);
export const KNOB_NAMES = /** @type {Knob[]} */ (Object.keys(sliders).filter((name) => name !== "points"));
const FIELDS = /** @type {Record<string, any>} */ (declaration.fields);

/** Whether a slider of a scene stands as an honest generator has it. @param {any} scene @param {Knob} name */
export function isNeutral(scene, name) {
  return scene[name] === FIELDS[name].default;
}

/** Which template writes the code of a scene. @param {any} scene @param {boolean} hasItems whether images stand behind the user's own rows */
export function templateOf({ data }, hasItems) {
  if (data !== "own") return "code";
  return hasItems ? "own_items" : "own";
}

// Positions are whole steps; on a logarithmic slider position 0 is 0 and each decade has as many steps.
const STEPS_PER_DECADE = 20;
const LEAST = 1e-4;

/**
 * @typedef {object} Scale
 * @property {number} steps the last position
 * @property {(position: number) => number} value
 * @property {(value: number) => number} position not rounded
 */

/** @param {number} low @param {number} high @param {number} step @returns {Scale} */
function evenScale(low, high, step) {
  return {
    steps: Math.round((high - low) / step),
    value: (position) => Number((low + position * step).toFixed(6)),
    position: (value) => (value - low) / step,
  };
}

/** @param {number} high @returns {Scale} */
function logScale(high) {
  return {
    steps: 1 + Math.round(STEPS_PER_DECADE * Math.log10(high / LEAST)),
    value: (position) =>
      position < 0.5 ? 0 : Number((LEAST * 10 ** ((position - 1) / STEPS_PER_DECADE)).toPrecision(3)),
    position: (value) => (value < LEAST ? 0 : 1 + STEPS_PER_DECADE * Math.log10(value / LEAST)),
  };
}

/** @param {Knob | "points"} name @returns {Scale} */
function scaleOf(name) {
  const { step, range } = KNOBS[name];
  const [low, high] = range ?? FIELDS[name].number;
  return step === null ? logScale(high) : evenScale(low, high, step);
}

export const SCALES = /** @type {Record<Knob | "points", Scale>} */ (
  Object.fromEntries([...KNOB_NAMES, /** @type {const} */ ("points")].map((name) => [name, scaleOf(name)]))
);

/** @type {Record<Knob, (value: number) => string>} */
export const KNOB_WORDS = {
  copied: shareText,
  jitter: (value) => zeroText("jitter", value) ?? briefText(value),
  bandwidth: (value) => zeroText("bandwidth", value) ?? briefText(value),
  spread: (value) => `× ${briefText(value)}`,
};

/** What 0 is called, where it is something special. @param {Knob} name @param {number} value */
export function zeroText(name, value) {
  return value === 0 ? KNOBS[name].zero : undefined;
}

// A card notices what is farther from the honest value than this many standard deviations of honest redraws.
export const NOTICED = 3;

export const CARD_NAMES = /** @type {CardName[]} */ (Object.keys(cards));

/** Whether a card is best near some value. @param {CardName} name */
export function isNear(name) {
  return cards[name].better.startsWith("near");
}

/**
 * How much worse than honest a value is, in standard deviations of honest redraws; below 0 if it looks better.
 * @param {CardName} name @param {number | null | undefined} value @param {CardNumbers | null | undefined} honest
 * @param {CardNumbers | null | undefined} noise @returns {number | null}
 */
export function departure(name, value, honest, noise) {
  const [from, unit] = [honest?.[name], noise?.[name]];
  if (typeof value !== "number" || typeof from !== "number" || typeof unit !== "number" || !(unit > 0)) return null;
  const bad = cards[name].better === "lower" ? 1 : -1;
  return (bad * (value - from)) / unit;
}

/** @typedef {"unknown" | "notices" | "fooled" | "above" | "quiet"} Verdict */

/**
 * What a card says of its value. One that is best near honest is not fooled by a value on the far side: it is above it.
 * @param {CardName} name @param {number | null} away @returns {Verdict}
 */
export function verdictOf(name, away) {
  if (away === null) return "unknown";
  if (away > NOTICED) return "notices";
  if (away >= -NOTICED) return "quiet";
  return isNear(name) ? "above" : "fooled";
}

/** The common scale of departures: even near 0, logarithmic far away. @param {number} away */
export function squeeze(away) {
  return Math.sign(away) * Math.log10(1 + Math.abs(away));
}

/**
 * Where along a curve a metric first notices; null if it never does.
 * @param {number[]} values @param {(number | null)[]} aways
 */
export function firstNotice(values, aways) {
  const index = aways.findIndex((away) => away !== null && away > NOTICED);
  return index < 0 ? null : values[index];
}

/** The order of numbers, largest first, or smallest. @param {number[]} numbers @param {boolean} [isRising] */
export function orderOf(numbers, isRising = false) {
  return orderByScore(isRising ? numbers : numbers.map((value) => -value));
}

/** Index of the point nearest to a place, within a reach; −1 if none is. @param {Float64Array} points @param {number} x @param {number} y @param {number} reach @param {(i: number) => boolean} [isThere] */
export function nearestPoint(points, x, y, reach, isThere = () => true) {
  let [best, nearest] = [reach * reach, -1];
  for (let i = 0; i < points.length / 2; i++) {
    const square = (points[2 * i] - x) ** 2 + (points[2 * i + 1] - y) ** 2;
    if (square <= best && isThere(i)) [best, nearest] = [square, i];
  }
  return nearest;
}
