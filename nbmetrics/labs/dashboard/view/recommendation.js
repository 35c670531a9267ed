/**
 * Twin: labs/dashboard/recommendation.py · held by: tests/labs/dashboard/test_recommendation_page.py
 *
 * What to do after a verdict: which generator to ship, and which client pays most for it. No DOM.
 *
 * @import { Verdict } from "./verdict.js"
 */
import { lowest, sameScores } from "../../toolkit/view/ties.js";
import { listed } from "./verdict.js";

const [MIN_DECIMAL, MAX_DECIMAL] = [1e-4, 1e6];
const COMPARISON = " than with its best generator";

/** @typedef {(regret: number, generator: number, best: number, client: number) => boolean} IsChance */

/** One or two sentences, "" where nothing can be said yet. @param {Verdict} verdict @param {string[]} names @param {string[]} clients those that count @param {ArrayLike<number>[]} centres of each generator, with those clients @param {IsChance} isChance whether a regret is no more than chance @returns {string} */
export function recommendation({ state, avg, all }, names, clients, centres, isChance = () => false) {
  if (state === "size") return "Score more rows, or compare by KID, before you choose.";
  if (!["winner", "tie"].includes(state) || names.length < 2) return "";
  const shared = avg.filter((name) => all.includes(name));
  if (shared.length > 1)
    return `Choose among ${listed(shared, [...shared.keys()])} by price or speed, or score more rows.`;
  const losses = regret(centres);
  const costOf = (/** @type {string} */ name, /** @type {string} */ comparison) => {
    const g = names.indexOf(name);
    const isRegretChance = (/** @type {number} */ loss, /** @type {number} */ i) =>
      isChance(
        loss,
        g,
        losses.findIndex((row) => row[i] === 0),
        i,
      );
    return cost(losses[g], clients, comparison, isRegretChance);
  };
  if (shared.length) return `Ship ${shared[0]} (${costOf(shared[0], COMPARISON)}).`;
  if (state === "tie") return "Score more rows before you choose.";
  const each = costOf(avg[0], COMPARISON);
  const pool = costOf(all[0], each.endsWith(COMPARISON) ? "" : COMPARISON);
  return `For each client: ${firstOf(avg)} (${each}). For the pool: ${firstOf(all)} (${pool}).`;
}

/** What each client loses with each generator beside its own best one. @param {ArrayLike<number>[]} centres @returns {number[][]} */
export function regret(centres) {
  const best = Array.from(centres[0] ?? [], (_, i) =>
    centres.reduce((least, own) => (own[i] < least || Number.isNaN(least) ? own[i] : least), NaN),
  );
  return centres.map((own) => best.map((least, i) => (sameScores(own[i], least) ? 0 : own[i] - least)));
}

/** @param {string[]} best */
function firstOf(best) {
  return best.length === 1 ? best[0] : `${best[0]}, one of ${best.length} tied`;
}

/** Which client loses most beside its own best generator, and how much, with these words behind it; a loss that is no more than chance is none. @param {number[]} lost @param {string[]} clients @param {string} comparison @param {(loss: number, i: number) => boolean} isChance */
function cost(lost, clients, comparison, isChance) {
  const sure = lost.map((loss, i) => (loss > 0 && isChance(loss, i) ? 0 : loss));
  const most = lowest(sure.map((loss) => -loss));
  if (Number.isNaN(sure[most] ?? NaN)) return "the loss of each client is not known";
  if (sure[most] > 0) return `${clients[most]}: ${points(sure[most])} worse${comparison}`;
  return `no client has a better one${lost.some((loss) => loss > 0) ? " by more than chance" : ""}`;
}

/** A loss with two digits, as Python has it. @param {number} loss */
export function points(loss) {
  if (loss === Infinity) return "∞";
  const isDecimal = loss >= MIN_DECIMAL && loss < MAX_DECIMAL;
  return isDecimal ? String(Number(loss.toPrecision(2))) : loss.toExponential(1).replace("e+", "e");
}
