/**
 * Where steps and scores lie in a plot, and lines of any number of them: of what shares a column of pixels only the first,
 * the least, the largest and the last are drawn. No DOM.
 */
import { calmRange, linear, roundStep, ticksOf } from "../../toolkit/view/chart.js";

// Scores are on a logarithmic axis where the largest is more than so many times the least.
const LOG_RATIO = 50;
// Of a score: less than it is no difference, and is not to fill a plot.
const ROUNDING = 1e-11;

/** @typedef {{low: Float64Array, high: Float64Array}} Band */
/** @typedef {{at: (value: number) => number, ticks: number[], isLog: boolean}} Scale */

/** @param {ArrayLike<number>[]} series @returns {[number, number, boolean]} the least and the largest finite value; whether all are above 0 */
export function extentOf(series) {
  let [low, high] = [Infinity, -Infinity];
  for (const values of series)
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (value < low && value > -Infinity) low = value;
      if (value > high && value < Infinity) high = value;
    }
  return low <= high ? [low, high, low > 0] : [0, 1, false];
}

// Widths of a band that its middle is taken from.
const TAKEN = 500;

/** The middle one of a band's widths. @param {Band} band */
function middleOf({ low, high }) {
  const stride = Math.ceil(low.length / TAKEN);
  const widths = Array.from({ length: Math.ceil(low.length / stride) }, (_, k) => high[k * stride] - low[k * stride]);
  const known = widths.filter(Number.isFinite).sort((a, b) => a - b);
  return known.length ? known[known.length >> 1] : 0;
}

/** Of scores, with room for their bands. @param {ArrayLike<number>[]} series @param {[number, number]} pixels from the bottom @param {number} most parts @param {Band[]} [bands] @returns {Scale} */
export function heightScale(series, pixels, most, bands = []) {
  const [least, largest, isPositive] = extentOf(series);
  const isLog = isPositive && largest / least > LOG_RATIO;
  const room = Math.max(largest - least, ...bands.map(middleOf)); // a few wide bands must not flatten the lines
  const high = Math.min(largest + room, extentOf([[largest], ...bands.map((band) => band.high)])[1]);
  if (!isLog) {
    const low = Math.max(least - room, extentOf([[least], ...bands.map((band) => band.low)])[0]);
    const range = calmRange(null, high - low > ROUNDING * Math.abs(high) ? low : high, high);
    return { at: linear(range, pixels).at, ticks: ticksOf(range, roundStep(range[1] - range[0], most)), isLog: false };
  }
  const range = /** @type {[number, number]} */ ([Math.log10(least), Math.log10(high)]);
  const { at } = linear(range, pixels);
  const stride = Math.max(1, Math.ceil((range[1] - range[0]) / most));
  const powers = ticksOf([Math.ceil(range[0]), Math.floor(range[1])], stride);
  return { at: (value) => at(Math.log10(value)), ticks: powers.map((power) => 10 ** power), isLog: true };
}

/** Of steps. @param {ArrayLike<number>} steps in their order @param {[number, number]} pixels */
export function stepScale(steps, pixels) {
  const [first, last] = steps.length ? [steps[0], steps[steps.length - 1]] : [0, 1];
  return linear(first < last ? [first, last] : [first - 1, first + 1], pixels);
}

/** @param {ArrayLike<number>} steps @param {number} most parts */
export function stepTicks(steps, most) {
  const [first, last] = steps.length ? [steps[0], steps[steps.length - 1]] : [0, 1];
  if (first === last) return [first];
  return ticksOf([first, last], Math.max(1, roundStep(last - first, most)));
}

/**
 * The `d` of a line, broken where a value is no finite number. Of a column only what is drawn is brought to pixels.
 * @param {ArrayLike<number>} steps @param {ArrayLike<number>} values @param {(step: number) => number} atX @param {(value: number) => number} atY
 */
export function lineOf(steps, values, atX, atY) {
  const parts = /** @type {string[]} */ ([]);
  let [column, first, least, most, last] = [NaN, NaN, NaN, NaN, NaN];
  let pen = "M";
  const put = (/** @type {number} */ value) => {
    parts.push(`${pen}${column} ${Math.round(10 * atY(value)) / 10}`);
    pen = "L";
  };
  const flush = () => {
    if (Number.isNaN(column)) return;
    put(first);
    if (least < Math.min(first, last)) put(least);
    if (most > Math.max(first, last)) put(most);
    if (last !== first) put(last);
    column = NaN;
  };
  for (let i = 0; i < steps.length; i++) {
    const value = values[i];
    if (!Number.isFinite(value)) {
      flush();
      pen = "M";
      continue;
    }
    const x = Math.round(atX(steps[i]));
    if (x !== column) {
      flush();
      [column, first, least, most] = [x, value, value, value];
    }
    last = value;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  flush();
  return parts.join("");
}

/**
 * The outline of a band: of what shares a column of pixels, from the least to the largest; broken where it is not known.
 * @param {ArrayLike<number>} steps @param {Band} band @param {(step: number) => number} atX @param {(value: number) => number} atY @param {[number, number]} pixels from the bottom
 */
export function bandOf(steps, { low, high }, atX, atY, [bottom, top]) {
  const parts = /** @type {string[]} */ ([]);
  let columns = /** @type {[number, number, number][]} */ ([]); // x, highest and lowest pixel
  const flush = () => {
    if (columns.length === 1) columns = [-2, 2].map((by) => [columns[0][0] + by, columns[0][1], columns[0][2]]);
    const there = columns.map(([x, y]) => `${x} ${y.toFixed(1)}`);
    const back = columns.map(([x, , y]) => `${x} ${y.toFixed(1)}`).reverse();
    if (there.length) parts.push(`M${[...there, ...back].join("L")}Z`);
    columns = [];
  };
  for (let i = 0; i < steps.length; i++) {
    if (Number.isNaN(low[i]) || Number.isNaN(high[i])) {
      flush();
      continue;
    }
    const x = Math.round(atX(steps[i]));
    const [from, to] = [atY(high[i]), atY(low[i])].map((y) =>
      Math.min(bottom, Math.max(top, Number.isNaN(y) ? bottom : y)),
    );
    const last = columns.at(-1);
    if (last?.[0] === x) [last[1], last[2]] = [Math.min(last[1], from), Math.max(last[2], to)];
    else columns.push([x, from, to]);
  }
  flush();
  return parts.join("");
}

/** Points on a line that has no neighbours to be joined to. @param {ArrayLike<number>} steps @param {ArrayLike<number>} values */
export function lonely(steps, values) {
  const found = [];
  for (let i = 0; i < steps.length; i++)
    if (Number.isFinite(values[i]) && !Number.isFinite(values[i - 1]) && !Number.isFinite(values[i + 1])) found.push(i);
  return found;
}

/** Values that are no finite numbers, one for each column of pixels. @param {ArrayLike<number>} steps @param {ArrayLike<number>} values @param {(step: number) => number} atX */
export function marksOf(steps, values, atX) {
  const found = new Map();
  for (let i = 0; i < steps.length; i++) {
    if (Number.isFinite(values[i])) continue;
    const x = Math.round(atX(steps[i]) / 4) * 4;
    const is = Number.isNaN(values[i]) ? "nan" : values[i] > 0 ? "high" : "low";
    found.set(`${x} ${is}`, { x, is });
  }
  return [...found.values()];
}
