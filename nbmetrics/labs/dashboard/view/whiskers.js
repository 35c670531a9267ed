/**
 * A number as a dot on a line: its 95 % interval, and as a bar how far the leader may be from it. The dots of a column
 * stand on one scale.
 *
 * @import { Aggregate } from "./verdict.js"
 */
import { calmRange, linear } from "../../toolkit/view/chart.js";
import { svg } from "../../toolkit/view/dom.js";

export const WHISKER = { width: 108, height: 11 };
const { width: WIDTH, height: HEIGHT } = WHISKER;
const PAD = 5;
const MIDDLE = HEIGHT / 2;
const INTERVAL_ERRORS = 1.959964;
// Beyond this ratio small numbers would all lie at one end.
const LOG_SCALE_RATIO = 30;

/** @typedef {{value: number, low: number, high: number, nearest: number, farthest: number}} Span  a number, its interval, and where the bar goes */

/**
 * @param {number[]} values as shown @param {number[] | null} errors @param {number[] | undefined} margins of the leader, by
 * generator @returns {Span[]}
 */
export function spansOf(values, errors, margins) {
  return values.map((value, g) => {
    const error = INTERVAL_ERRORS * (errors?.[g] || 0);
    const margin = errors && Number.isFinite(margins?.[g]) ? /** @type {number[]} */ (margins)[g] : 0;
    return { value, low: value - error, high: value + error, nearest: value - margin, farthest: value + margin };
  });
}

/** The scale of a column; it moves seldom in a drag. */
export class Scale {
  constructor() {
    /** @type {[number, number] | null} */
    this.range = null;
    this.isLog = false;
    this.key = "";
    this.at = (/** @type {number} */ _value) => 0;
  }

  /** @param {string} key of what is drawn @param {Span[]} spans */
  fit(key, spans) {
    const ends = spans.flatMap(({ low, high }) => [low, high]).filter(Number.isFinite);
    const [low, high] = ends.length ? [Math.min(...ends), Math.max(...ends)] : [0, 1];
    if (this.key !== key) {
      this.isLog = low > 0 && high / low > LOG_SCALE_RATIO;
      this.range = null;
    }
    if (this.isLog && !(low > 0)) [this.isLog, this.range] = [false, null];
    this.key = key;
    const { isLog } = this;
    const on = (/** @type {number} */ value) => (isLog ? Math.log10(Math.max(value, 1e-300)) : value);
    this.range = calmRange(this.range, on(low), on(high));
    const scale = linear(this.range, [PAD, WIDTH - PAD]);
    this.at = (/** @type {number} */ value) => Math.min(WIDTH - 1, Math.max(1, scale.at(on(value))));
  }
}

/** Of polylines: points cost no style, as `d` of a path does. */
export class Whisker {
  constructor() {
    this.parts = [
      svg("polyline", { class: "nbm-dashboard-best" }),
      svg("polyline", { class: "nbm-dashboard-interval" }),
      svg("polyline", { class: "nbm-dashboard-paired" }),
      svg("polyline", { class: "nbm-dashboard-dot", "stroke-linecap": "round" }),
    ];
    this.root = svg(
      "svg",
      { class: "nbm-dashboard-whisker", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" },
      this.parts,
    );
    /** What is drawn of each, so that a frame asks the page nothing. */
    this.points = ["", "", "", ""];
    this.isOdd = false;
  }

  /** @param {Span} span @param {Scale} scale @param {number} best the leader's number @param {boolean} isLeader @param {boolean} [isAwaited] the number is not known yet, which no mark says */
  paint(span, scale, best, isLeader, isAwaited = false) {
    const hasPlace = Number.isFinite(span.value);
    const x = place(scale.at(best));
    this.draw(0, Number.isFinite(best) ? `${x},0 ${x},${HEIGHT}` : "");
    this.draw(1, hasPlace ? across(scale, span.low, span.high) : "");
    this.draw(2, hasPlace && !isLeader ? across(scale, span.nearest, span.farthest) : "");
    this.draw(3, isAwaited && Number.isNaN(span.value) ? "" : markOf(span.value, scale));
    if (this.isOdd === !hasPlace) return;
    this.isOdd = !hasPlace;
    this.parts[3].classList.toggle("nbm-dashboard-odd", this.isOdd);
  }

  /** @param {number} k @param {string} points */
  draw(k, points) {
    if (this.points[k] === points) return;
    this.points[k] = points;
    this.parts[k].setAttribute("points", points);
  }
}

/** @param {Scale} scale @param {number} from @param {number} to */
function across(scale, from, to) {
  return from < to ? `${place(scale.at(from))},${MIDDLE} ${place(scale.at(to))},${MIDDLE}` : "";
}

/** A dot; an arrow out of the picture for an infinite number, a cross for none. @param {number} value @param {Scale} scale */
function markOf(value, scale) {
  if (Number.isNaN(value)) return "2,2.5 8,8.5 5,5.5 8,2.5 2,8.5 5,5.5";
  const points = value === Infinity ? ARROW : value === -Infinity ? ARROW.map(([x, y]) => [WIDTH - x, y]) : null;
  if (points) return points.join(" ");
  const x = place(scale.at(value));
  return `${x},${MIDDLE} ${x}1,${MIDDLE}`; // so short a line that its round ends are a dot
}

/** @param {number} x */
const place = (x) => x.toFixed(1);

/** @type {[number, number][]} out to the right */
const ARROW = [
  [WIDTH - 9, MIDDLE],
  [WIDTH - 1, MIDDLE],
  [WIDTH - 5, 2],
  [WIDTH - 5, HEIGHT - 2],
  [WIDTH - 1, MIDDLE],
];
