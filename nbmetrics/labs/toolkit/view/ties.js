/**
 * Twin: ranking.py · held by: tests/test_ties.py
 *
 * When two sums are the same but for rounding, so that no decision hangs on the order of adding. No DOM.
 */
export const TIE = 1e-12;

/** Whether a and b differ by rounding alone; `scale`: the sum of the absolute values of their terms. @param {number} a @param {number} b @param {number} scale */
export function isTie(a, b, scale) {
  return a === b || Math.abs(a - b) <= TIE * (Number.isFinite(scale) ? scale : 0);
}

/** Whether scores differ by rounding alone, where their terms are not known: beside their own sizes. @param {number} a @param {number} b */
export function sameScores(a, b) {
  return isTie(a, b, Math.max(Math.abs(a), Math.abs(b)));
}

/** From 1 for the lowest; what is the same but for rounding shares a place, and NaN comes last. @param {ArrayLike<number>} scores */
export function placesOf(scores) {
  const all = Array.from(scores);
  const isBeaten = (/** @type {number} */ a, /** @type {number} */ b) => b < a && !sameScores(a, b);
  return all.map((a) => (Number.isNaN(a) ? all.length : 1 + all.filter((b) => isBeaten(a, b)).length));
}

/** Least first, NaN last; what ties with its neighbour stays as given. @param {ArrayLike<number>} scores @param {number} [scale] the sum of the absolute values of the terms; without it the scores' own sizes */
export function orderOf(scores, scale) {
  const last = (/** @type {number} */ g) => Number(Number.isNaN(scores[g]));
  const at = Array.from(scores, (_, g) => g).sort(
    (a, b) => last(a) - last(b) || (scores[a] < scores[b] ? -1 : Number(scores[a] > scores[b])) || a - b,
  );
  const groups = new Float64Array(at.length);
  for (let n = 1; n < at.length; n++) {
    const [low, high] = [scores[at[n - 1]], scores[at[n]]];
    groups[at[n]] =
      groups[at[n - 1]] + Number(!(scale === undefined ? sameScores(low, high) : isTie(low, high, scale)));
  }
  return at.sort((a, b) => groups[a] - groups[b] || a - b);
}

/** The first of those that tie with the lowest score; NaN never, unless there is nothing else. @param {ArrayLike<number>} scores @param {ArrayLike<number>} [scale] the sums of the absolute values of their terms; without it the scores' own sizes */
export function lowest(scores, scale = Array.from(scores, Math.abs)) {
  let least = 0;
  for (let g = 1; g < scores.length; g++)
    if (scores[g] < scores[least] || (Number.isNaN(scores[least]) && !Number.isNaN(scores[g]))) least = g;
  for (let g = 0; g < least; g++) if (isTie(scores[g], scores[least], Math.max(scale[g], scale[least]))) return g;
  return least;
}
