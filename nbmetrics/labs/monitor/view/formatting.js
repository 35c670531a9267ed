/** Steps, scores and times as people read them. No DOM. */
import { shownNumber } from "../../toolkit/view/numbers.js";

const STEPS = new Intl.NumberFormat("en");
const TIMES = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

/** @param {number} step */
export function stepText(step) {
  return STEPS.format(step);
}

/** @param {number} score */
export function scoreText(score) {
  if (Number.isNaN(score)) return "NaN";
  return Number.isFinite(score) ? shownNumber(score) : score > 0 ? "∞" : "−∞";
}

/**
 * The time of day of the last step, and how many minutes ago that was.
 * @param {number | undefined} seconds since 1970; left out where no step comes any more
 * @param {number} [now] milliseconds since 1970; left out on a saved page
 */
export function lastStepText(seconds, now = 0) {
  if (seconds === undefined) return "";
  const minutes = Math.floor((now / 1000 - seconds) / 60);
  const ago = minutes < 1 ? "" : minutes === 1 ? ", 1 minute ago" : `, ${STEPS.format(minutes)} minutes ago`;
  return `The last step came at ${TIMES.format(1000 * seconds)}${ago}.`;
}
