/** Numbers, and words, as people read them. No DOM. */
const SUFFIX = ["th", "st", "nd", "rd"];

// Of scores in the units of a plane, what is smaller is rounding.
const ROUNDING = 1e-9;

/** A score as read: three decimals, or four significant digits when large, two when small. @param {number} value */
export function figure(value) {
  const size = Math.abs(value);
  if (size < ROUNDING) return "0.000";
  if (size < 0.00995) return size < 1e-4 ? value.toExponential(1) : value.toPrecision(2);
  if (size >= 1e6) return value.toExponential(3);
  return value.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
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
