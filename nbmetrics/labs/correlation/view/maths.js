/**
 * Twin: metrics/conditional.py · held by: tests/labs/correlation/test_correlation.py
 *
 * Closed forms for a pair of unit-variance numbers: y has correlation ρ with x, the generated ŷ has ρ̂, and x is
 * scaled by α. No DOM. With the angles arccos ρ and arccos ρ̂, CFID is the squared chord between them, and RFID
 * depends on the two only through it.
 */

import { bits } from "../../toolkit/view/random.js";
import declaration from "../scene.json" with { type: "json" };

/** @typedef {"mfid" | "rfid" | "cfid" | "squared_difference"} Score */
/** @typedef {"open" | "explored" | "shown" | "mfid" | "rfid" | "cfid"} Answer */
/** @typedef {{step: number, answer: Answer}} Asked  which question, from 1, and what became of it */
/**
 * @typedef {{rev: number, preset: string, rho: number, rho_hat: number, scale: number, metric: Score,
 *   question: Asked}} Pair
 */
/** @typedef {[number, number]} Point */

/** @type {Score[]} */
export const SCORES = /** @type {any} */ (declaration.fields.metric.choice);
/** @type {Record<Score, string>} */
export const SCORE_NAMES = { mfid: "MFID", rfid: "RFID", cfid: "CFID", squared_difference: "(ρ − ρ̂)²" };
// log₁₀ of the smallest and the largest scale of x
export const SCALE_ENDS = [-2, 1];

/** The part of y that x leaves open: its deviation given x. @param {number} rho */
export function spreadOf(rho) {
  return Math.sqrt((1 - rho) * (1 + rho));
}

/** @param {Pick<Pair, "rho" | "rho_hat" | "scale">} pair @returns {Record<Score, number>} */
export function scoresOf({ rho, rho_hat, scale }) {
  const squared = (rho - rho_hat) ** 2;
  const cfid = squared + (spreadOf(rho) - spreadOf(rho_hat)) ** 2;
  return { mfid: 0, rfid: rfidOf(cfid, scale), cfid, squared_difference: squared };
}

/**
 * RFID = Tr S + Tr Ŝ − 2√(Tr SŜ + 2√(det S det Ŝ)) = 2(t − √(t² − α² CFID)) with t = 1 + α², written without the
 * difference, which would lose small values.
 * @param {number} cfid @param {number} scale
 */
export function rfidOf(cfid, scale) {
  const square = scale * scale;
  const total = 1 + square;
  return (2 * square * cfid) / (total + Math.sqrt(Math.max(0, total * total - square * cfid)));
}

/**
 * Where a score has a value: the line on the side ρ̂ < ρ, from the right edge to the bottom; its mirror image is the
 * other one. Null where the score never gets there.
 * @param {Score} score @param {number} level above 0 @param {number} scale @returns {Point[] | null}
 */
export function levelLine(score, level, scale) {
  if (score === "mfid" || level >= highestOf(score, scale)) return null;
  if (score === "squared_difference")
    return [
      [1, 1 - Math.sqrt(level)],
      [Math.sqrt(level) - 1, -1],
    ];
  const square = scale * scale;
  const cfid = score === "cfid" ? level : ((1 + square) * level - (level * level) / 4) / square;
  const turn = 2 * Math.asin(Math.sqrt(Math.min(4, cfid)) / 2);
  const steps = 48;
  return Array.from({ length: steps + 1 }, (_, k) => {
    const angle = ((Math.PI - turn) * k) / steps;
    return [Math.cos(angle), Math.cos(angle + turn)];
  });
}

/** The largest value of a score over all pairs. @param {Score} score @param {number} scale */
export function highestOf(score, scale) {
  return score === "mfid" ? 0 : score === "rfid" ? rfidOf(4, scale) : 4;
}

/** The points where a score is below what `line` marks. @param {Point[]} line @returns {Point[]} */
export function regionWithin(line) {
  return [...line, [-1, -1], ...mirror(line).reverse(), [1, 1]];
}

/** @param {Point[]} line @returns {Point[]} */
export function mirror(line) {
  return line.map(([rho, rhoHat]) => [rhoHat, rho]);
}

/** Standard normal numbers, the same ones each time. @param {number} count @param {number} seed */
export function normals(count, seed) {
  const uniform = (/** @type {number} */ k) => (bits(seed, k) + 0.5) / 2 ** 32;
  const normal = (/** @type {number} */ k) =>
    Math.sqrt(-2 * Math.log(uniform(2 * k))) * Math.cos(2 * Math.PI * uniform(2 * k + 1));
  return Array.from({ length: count }, (_, k) => normal(k));
}

/** An edit of a scene: who moves something explores. @param {any} scene @param {Partial<Pair>} parts @returns {any} */
export function withParts(scene, parts) {
  const after = { ...scene, ...parts };
  const isMoved = ["rho", "rho_hat", "scale"].some((key) => after[key] !== scene[key]);
  if (!isMoved || after.question.answer !== "open") return after;
  return { ...after, question: { ...after.question, answer: "explored" } };
}

/** A correlation as a person would type it. @param {number} value */
export function correlationNear(value) {
  return Math.round(Math.min(1, Math.max(-1, value)) * 100) / 100 + 0;
}

/** The scale at a place of the logarithmic slider. @param {number} exponent */
export function scaleAt(exponent) {
  const [low, high] = SCALE_ENDS;
  return Number((10 ** Math.min(high, Math.max(low, exponent))).toPrecision(3));
}
