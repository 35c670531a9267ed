/**
 * Twin: labs/playground/words.py · held by: tests/labs/playground/test_words_page.py
 *
 * The headline: which generator avg calls best, which all, in one line. No DOM.
 *
 * @import { Aggregates } from "../../toolkit/view/types.js"
 */
import { placesOf } from "../../plane/view/scores.js";
import { figure } from "../../toolkit/view/numbers.js";

/** @typedef {(string | number)[]} Pieces words, and generators by index */

/**
 * @param {string} label @param {Aggregates} numbers @param {{higher: boolean, isKernel: boolean}} metric @returns {Pieces}
 */
export function headlineOf(label, { avg, all, terms }, { higher, isKernel }) {
  if (avg.length === 1) return [`${label} averaged: ${figure(avg[0])}. Pooled: ${figure(all[0])}.`];
  const places = [avg, all].map((scores) => placesOf(scores, higher, terms));
  const [byAvg, byAll] = places.map(bestOf);
  const lead = isKernel ? `${label} agrees with itself: ` : "";
  const both = lead ? "both " : "Both ";
  if (byAvg.join() !== byAll.join()) return ["Average ", ...saysOf(byAvg), ". Pooled ", ...saysOf(byAll), "."];
  if (byAvg.length > 1) return [`${lead}${both}`, ...saysOf(byAvg, "see"), "."];
  const isSame = places[0].join() === places[1].join();
  return [`${lead}${both}say `, byAvg[0], isSame ? "." : ", and order the others differently."];
}

/**
 * The same beside what it rests on: few points, or scores that come with cautions, which stand under the table.
 * @param {Pieces} pieces @param {string} label @param {number} samples of each item, 0: exact distributions @param {string[]} cautions @returns {Pieces}
 */
export function hedged(pieces, label, samples, cautions) {
  const isCautioned = cautions.some((line) => line.startsWith(`${label}:`) || line.startsWith(`${label} `));
  const first = samples ? [`From ${samples.toLocaleString("en")} points each: `] : [];
  return [...first, ...pieces, ...(isCautioned ? [" But see the cautions."] : [])];
}

/** Who is first, several where they share the place. @param {number[]} places */
export function bestOf(places) {
  return places.flatMap((place, g) => (place === 1 ? [g] : []));
}

/** @param {number[]} best @param {string} [see] @returns {Pieces} */
function saysOf(best, see = "sees") {
  if (best.length === 1) return ["says ", best[0]];
  return best.length === 2 ? [`${see} `, best[0], " and ", best[1], " level"] : [`${see} ${best.length} level`];
}
