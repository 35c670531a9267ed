/**
 * Twin: theory/best_mixture.py · held by: tests/labs/dashboard/test_mixture_page.py
 *
 * KID of any mixture of generators, and its shares as one of them is moved. No DOM.
 *
 * @import { Written } from "./types.js"
 */

import { readRow } from "../../toolkit/view/json_numbers.js";
import { withWeight } from "./certificate.js";

/** @typedef {{alone: Written[], by_client: Written[][], apart: Written[][]}} Terms  see mixture.py */

/** KID of a mixture with all clients together, and with each. @param {Terms} terms @param {number[]} alpha */
export function mixtureScores({ alone, by_client: byClient, apart }, alpha) {
  const served = alpha.map((_, j) => j).filter((j) => alpha[j] > 0);
  let less = 0;
  for (const j of served) {
    const own = readRow(apart[j]);
    for (const l of served) if (l > j) less += alpha[j] * alpha[l] * own[l];
  }
  const scoreOf = (/** @type {Written[]} */ singles) => {
    const scores = readRow(singles);
    return served.reduce((sum, j) => sum + alpha[j] * scores[j], 0) - less;
  };
  return { all: scoreOf(alone), clients: byClient.map(scoreOf) };
}

/** α with another share of one: of the others in proportion, or as in `best` where they have none. @param {number[]} alpha @param {number} j @param {number} share @param {number[]} best */
export function withShareOf(alpha, j, share, best) {
  const isAlone = alpha.every((own, l) => l === j || !(own > 0));
  return withWeight(isAlone ? best : alpha, j, Math.min(1, Math.max(0, share)));
}
