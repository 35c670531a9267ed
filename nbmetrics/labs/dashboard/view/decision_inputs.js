/**
 * What decisions by avg are made from: clients with too few rows are left out, as in Python's metric_view.py. No DOM.
 *
 * @import { Shown } from "./types.js"
 */
import { decidedShares } from "./metric_view.js";
import { leastOf } from "./place_ranges.js";

/**
 * @typedef {object} Decided
 * @property {number[]} counted the clients that count, by position
 * @property {number[]} weights theirs, of sum 1
 * @property {Float64Array[]} centres of each generator, with those clients
 * @property {Float64Array[]} lined of each generator with all clients, 0 with those that do not count: under any weights
 *   of all clients the order by avg is that of the decision
 * @property {number} winner by avg, -1 for none
 * @property {string} average what the mean over clients is called
 */

/** @param {Shown} shown @param {number[]} shares @param {string[] | undefined} few @returns {Decided} */
export function decidedOf({ centres, average, avgLosses }, shares, few) {
  const decided = few?.some(Boolean) ? decidedShares(shares, few) : null;
  const winner = leastOf(avgLosses);
  const everyone = shares.map((_, i) => i);
  if (!decided) return { counted: everyone, weights: shares, centres, lined: centres, winner, average };
  const counted = everyone.filter((i) => !few?.[i]);
  return {
    counted,
    weights: counted.map((i) => decided[i]),
    centres: centres.map((own) => Float64Array.from(counted, (i) => own[i])),
    lined: centres.map((own) => own.map((centre, i) => (few?.[i] ? 0 : centre))),
    winner,
    average,
  };
}

/**
 * How much each client decides, of sum 1: its weight times how far the generators lie apart with it, the standard
 * deviation of their centres.
 * @param {Float64Array[]} lined @param {number[]} shares
 */
export function influencesOf(lined, shares) {
  const says = shares.map((share, i) => share * spreadOf(lined, i));
  const total = says.reduce((sum, say) => sum + say, 0);
  return total > 0 ? says.map((say) => say / total) : says;
}

/** The standard deviation of one client's centres. @param {Float64Array[]} lined @param {number} i */
function spreadOf(lined, i) {
  let [sum, squares, count] = [0, 0, 0];
  for (const centres of lined)
    if (Number.isFinite(centres[i])) {
      sum += centres[i];
      count++;
    }
  for (const centres of lined) if (Number.isFinite(centres[i])) squares += (centres[i] - sum / count) ** 2;
  return count ? Math.sqrt(squares / count) : 0;
}

/** Who wins by avg along a weight, in words. @param {[number, number, number][]} parts of `breakpoints` @param {string[]} names @param {string} client @param {(share: number) => string} text @param {string} [average] what the mean over clients is called */
export function trackWords(parts, names, client, text, average = "avg") {
  if (!parts.length) return `Not known yet: who wins by ${average} as the weight of ${client} changes.`;
  const [[, , first], ...rest] = parts;
  if (!rest.length) return `${names[first]} wins by ${average} whatever the weight of ${client}.`;
  const [[from]] = rest;
  const turns = rest.map(([at, , g]) => `from ${text(at)} on ${names[g]} wins by ${average}`);
  return `${client}: below ${text(from)} ${names[first]} wins by ${average}, ${turns.join(", ")}.`;
}
