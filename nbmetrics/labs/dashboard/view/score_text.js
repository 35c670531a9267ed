/** Sentences that name scores, such as FID-avg. */
import { el } from "../../toolkit/view/dom.js";

// A metric and an aggregate in one word, such as FID-avg.
const SCORE_NAME = /(\S+-(?:avg|all|intra|worst)\b)/;

/**
 * Set a text as `setText` does, with no line break inside the name of a score.
 * @param {Element} node @param {string} text
 */
export function setScoreText(node, text) {
  if (node.textContent === text) return;
  const parts = text.split(SCORE_NAME).filter(Boolean);
  node.replaceChildren(
    ...parts.map((part) => (SCORE_NAME.test(part) ? el("span", { class: "nbm-score-name" }, [part]) : part)),
  );
}
