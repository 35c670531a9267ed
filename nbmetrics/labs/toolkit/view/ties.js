/**
 * Twin: orders.py · held by: tests/test_ties.py
 *
 * When two sums are the same but for rounding, so that no decision hangs on the order of adding. No DOM.
 */
const TIE = 1e-12;

/** Whether a and b differ by rounding alone; `scale`: the sum of the absolute values of their terms. @param {number} a @param {number} b @param {number} scale */
export function isTie(a, b, scale) {
  return a === b || Math.abs(a - b) <= TIE * (Number.isFinite(scale) ? scale : 0);
}

/** The first of those that tie with the lowest score; NaN never, unless there is nothing else. @param {ArrayLike<number>} scores @param {ArrayLike<number>} scale the sums of the absolute values of their terms */
export function lowest(scores, scale) {
  let least = 0;
  for (let g = 1; g < scores.length; g++)
    if (scores[g] < scores[least] || (Number.isNaN(scores[least]) && !Number.isNaN(scores[g]))) least = g;
  for (let g = 0; g < least; g++) if (isTie(scores[g], scores[least], Math.max(scale[g], scale[least]))) return g;
  return least;
}
