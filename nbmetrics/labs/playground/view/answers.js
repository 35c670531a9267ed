/**
 * Twin: labs/playground/answers.py · held by: tests/labs/playground/test_answers.py
 *
 * Predictions as short strings that a learner copies and a teacher collects. No DOM.
 *
 * @import { Progress } from "../../toolkit/view/types.js"
 */
import { whyName, whyOf } from "../../toolkit/view/schema.js";
import facts from "../answers.json" with { type: "json" };
import declaration from "../scene.json" with { type: "json" };

const STRING = new RegExp(`\\b${facts.mark}\\.([A-Za-z0-9_-]+)`, "g");

/** @typedef {{lesson: string, guess: number, answer: number | null}} Answer */

/** The string of a prediction, with what Reveal found; "" where no flag was placed. @param {Progress} progress */
export function answerString({ name, guess, answer }) {
  if (guess === null) return "";
  const text = JSON.stringify([name, brief(guess), answer === null ? null : brief(answer)]);
  const bytes = String.fromCharCode(...new TextEncoder().encode(text));
  return `${facts.mark}.${btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** @param {number} value */
const brief = (value) => Number(value.toPrecision(facts.digits));

/**
 * What a text holds, whatever stands around the strings.
 * @param {string} text @returns {{answers: Answer[], unreadable: number, isTooMuch: boolean}}
 */
export function answersIn(text) {
  const read = [...text.slice(0, facts.largest).matchAll(STRING)].map(([, body]) => unpacked(body));
  const answers = read.filter((answer) => answer !== null);
  return {
    answers: answers.slice(0, facts.most),
    unreadable: read.length - answers.length,
    isTooMuch: answers.length > facts.most || text.length > facts.largest,
  };
}

/** @param {string} body @returns {Answer | null} */
function unpacked(body) {
  if (body.length > facts.longest) return null;
  try {
    const bytes = Uint8Array.from(atob(body.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (!Array.isArray(value) || value.length !== 3) return null;
    const [lesson, guess, answer] = value;
    const fields = /** @type {any} */ (declaration.fields.lesson.record);
    const why =
      whyName(lesson, "") ||
      (guess === null ? "none" : whyOf(guess, fields.guess, "")) ||
      whyOf(answer, fields.answer, "");
    return why ? null : { lesson, guess, answer };
  } catch {
    return null; // no base64, no UTF-8, or no JSON
  }
}
