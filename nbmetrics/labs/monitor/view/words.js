/**
 * What each aggregate would keep, in a sentence, and numbers of steps as people read them. No DOM.
 *
 * @import { Judged, Line } from "./types.js"
 */
import { shownNumber } from "../../toolkit/view/numbers.js";

const STEPS = new Intl.NumberFormat("en");

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
 * Python says it whole once it has compared the steps; it says it of the same steps or not at all.
 * @param {Line} line @param {Judged | undefined} judged @returns {string}
 */
export function keptWords({ stored, facts, best }, judged) {
  const label = facts.label;
  if (best.avg === null) return `${stored.label} has no score yet.`;
  if (judged?.words && judged.best.avg === best.avg && judged.best.all === best.all) return judged.words;
  if (best.all === null) return `${label}: avg would keep step ${stepText(best.avg)}.`;
  if (best.avg === best.all) return `${label}: avg and all would both keep step ${stepText(best.avg)}.`;
  return `${label}: avg would keep step ${stepText(best.avg)}, all step ${stepText(best.all)}.`;
}
