/** Numbers, and words, as people read them. No DOM. */
const SUFFIX = ["th", "st", "nd", "rd"];

// Of scores in the units of a plane, what is smaller is rounding.
const ROUNDING = 1e-9;
const LARGE_NUMBER = 1e5;

/** A score as read: three decimals, or four significant digits when large, two when small. @param {number} value */
export function figure(value) {
  return Math.abs(value) < ROUNDING ? "0.000" : figures(value).replaceAll("-", "−");
}

/** @param {number} value */
function figures(value) {
  const size = Math.abs(value);
  if (size < 0.00995) return size < 1e-4 ? value.toExponential(1) : value.toPrecision(2);
  if (size >= 1e6) return value.toExponential(3);
  return value.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

/** A score of any size, or a dash for none. @param {number | null | undefined} value */
export function shownNumber(value) {
  if (typeof value !== "number") return "–";
  return Math.abs(value) >= LARGE_NUMBER ? briefText(value) : figure(value);
}

/** A number as read, with a minus sign and never −0. @param {number} value @param {number} [digits] */
export function numeral(value, digits = 2) {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

/** On an axis. @param {number} value */
export function tickText(value) {
  return String(Number(value.toPrecision(6))).replace("-", "−");
}

/** In percent. @param {number} value */
export function shareText(value) {
  return `${Number((100 * value).toFixed(1))}\u00a0%`;
}

/** A small number as read. @param {number} value */
export function briefText(value) {
  if (value === 0) return "0";
  return Math.abs(value) < 1e-3 || Math.abs(value) >= 1e5
    ? shortPower(value)
    : String(Number(value.toPrecision(3))).replace("-", "−");
}

/** 2.1·10⁻⁴ for 0.00021. @param {number} value */
function shortPower(value) {
  const [digits, power] = value.toExponential(1).split("e");
  const raised = [...String(Number(power))].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)])).join("");
  return `${digits === "1.0" ? "" : `${digits.replace("-", "−").replace(".0", "")}·`}10${raised}`;
}

/** As a person would type it: three decimals, or three digits where that is less. @param {number} value */
export function typed(value) {
  return Math.abs(value) < 0.1 ? Number(Number(value.toPrecision(3)).toFixed(9)) : Number(value.toFixed(3));
}

/** @param {number} place */
export function ordinal(place) {
  const tens = place % 100;
  return `${place}${(tens > 10 && tens < 14 ? "" : SUFFIX[place % 10]) || "th"}`;
}

/** With a capital at its beginning. @param {string} text */
export function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}
