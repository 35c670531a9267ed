/** What charts are drawn with: scales, ticks, curves, a frame of known size, and the table of their numbers. */
import { el, setAttributes, setText, svg } from "./dom.js";
import { tickText } from "./numbers.js";

/** Pixels of a value. @param {[number, number]} domain @param {[number, number]} pixels */
export function linear([a, b], [p, q]) {
  const slope = (q - p) / (b - a || 1);
  return { slope, at: (/** @type {number} */ value) => p + slope * (value - a) };
}

/** The round step that cuts a span into at most `most` parts. @param {number} span @param {number} most @param {number[]} units */
export function roundStep(span, most, units = [1, 2, 5]) {
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const unit = units.find((u) => u * power >= rough * (1 - 1e-9)) ?? 10 * units[0];
  return unit * power;
}

/** @param {[number, number]} domain @param {number} step */
export function ticksOf([low, high], step) {
  const [first, last] = [Math.ceil(low / step - 1e-6), Math.floor(high / step + 1e-6)];
  return Array.from({ length: last - first + 1 }, (_, k) => (first + k) * step);
}

/**
 * A range that holds [low, high] in round numbers, and the previous one as long as it still fits, so that an axis
 * changes seldom in a drag.
 * @param {[number, number] | null} previous @param {number} low @param {number} high @returns {[number, number]}
 */
export function calmRange(previous, low, high) {
  if (
    previous &&
    low >= previous[0] - 1e-6 * (high - low) &&
    high <= previous[1] &&
    high - low >= 0.4 * (previous[1] - previous[0])
  )
    return previous;
  const step = roundStep(high - low || Math.abs(high) || 1, 8);
  const from = Math.floor(low / step + 1e-6);
  return [step * from, step * Math.max(Math.ceil(high / step - 1e-6), from + 1)];
}

/** The `d` of a curve through points in pixels. @param {number[]} xs @param {number[]} ys */
export function curve(xs, ys) {
  return xs.map((x, k) => `${k ? "L" : "M"}${x.toFixed(1)} ${ys[k].toFixed(1)}`).join("");
}

/**
 * Places for labels that want to be at `wanted`, at least `space` apart, between `low` and `high`.
 * @param {number[]} wanted @param {number} space @param {number} low @param {number} high
 */
export function spreadOut(wanted, space, low, high) {
  const order = wanted.map((_, i) => i).sort((i, j) => wanted[i] - wanted[j]);
  const places = wanted.map((y) => Math.min(high, Math.max(low, y)));
  for (let k = 1; k < order.length; k++) places[order[k]] = Math.max(places[order[k]], places[order[k - 1]] + space);
  for (let k = order.length - 1, ceiling = high; k >= 0; k--, ceiling -= space)
    places[order[k]] = Math.min(places[order[k]], ceiling);
  return places;
}

/**
 * Exactly `count` children, made or taken away at the end, the others kept.
 * @template {Element} E
 * @param {Element} parent @param {number} count @param {(index: number) => E} make @returns {E[]}
 */
export function resizeChildren(parent, count, make) {
  while (parent.children.length > count) parent.lastElementChild?.remove();
  while (parent.children.length < count) parent.append(make(parent.children.length));
  return /** @type {E[]} */ ([...parent.children]);
}

/** @typedef {{left: number, right: number, top: number, bottom: number}} Pad */

// Pixels of a letter of a tick's label, at most.
const LETTER_WIDTH = 7;

/** A picture as large as it is shown, one unit a pixel, with the grid lines and tick labels of its axes. */
export class Plot {
  /** @param {Pad} pad @param {Record<string, string>} [attributes] */
  constructor(pad, attributes = {}) {
    this.pad = pad;
    this.width = 0;
    this.height = 0;
    this.gridX = svg("g", { class: "nbm-lines", "aria-hidden": "true" });
    this.gridY = svg("g", { class: "nbm-lines", "aria-hidden": "true" });
    this.root = svg("svg", { class: "nbm-chart", ...attributes }, [this.gridX, this.gridY]);
  }

  /** @param {number} width @param {number} height */
  resize(width, height) {
    this.width = width;
    this.height = height;
    setAttributes(this.root, { viewBox: `0 0 ${width} ${height}`, height });
  }

  /** @returns {{x: [number, number], y: [number, number]}} the pixels that the axes span, y upwards */
  get box() {
    const { left, right, top, bottom } = this.pad;
    return { x: [left, Math.max(left + 1, this.width - right)], y: [this.height - bottom, top] };
  }

  /** Into how many parts the x axis may be cut, so that its labels stay apart. */
  get mostTicks() {
    const [from, to] = this.box.x;
    return Math.max(2, Math.min(6, Math.floor((to - from) / 46)));
  }

  /** Vertical lines, labelled at `labelY`. @param {number[]} ticks @param {(value: number) => number} at @param {number} labelY @param {(value: number) => string} [text] */
  paintX(ticks, at, labelY, text = tickText) {
    const [y1, y2] = this.box.y;
    resizeChildren(this.gridX, ticks.length, makeTick).forEach((node, k) => {
      const x = at(ticks[k]);
      setAttributes(node.children[0], { x1: x, x2: x, y1, y2 });
      const label = text(ticks[k]);
      const rightmost = this.width - (label.length * LETTER_WIDTH) / 2; // where the last one is not cut
      setAttributes(node.children[1], { x: Math.min(x, rightmost), y: labelY, "text-anchor": "middle" });
      setText(node.children[1], label);
      node.classList.toggle("nbm-zero", ticks[k] === 0);
    });
  }

  /** Horizontal lines, labelled on the left. @param {number[]} ticks @param {(value: number) => number} at */
  paintY(ticks, at) {
    const [x1, x2] = this.box.x;
    resizeChildren(this.gridY, ticks.length, makeTick).forEach((node, k) => {
      const y = at(ticks[k]);
      setAttributes(node.children[0], { x1, x2, y1: y, y2: y });
      setAttributes(node.children[1], { x: x1 - 6, y: y + 4, "text-anchor": "end" });
      setText(node.children[1], tickText(ticks[k]));
      node.classList.toggle("nbm-zero", ticks[k] === 0);
    });
  }
}

function makeTick() {
  return svg("g", {}, [svg("line"), svg("text")]);
}

/** The numbers of a chart. */
export class NumberTable {
  /** @param {string} label */
  constructor(label) {
    this.head = el("tr");
    this.body = el("tbody");
    this.table = el("table", { class: "nbm-figures", "aria-label": label }, [el("thead", {}, [this.head]), this.body]);
    this.root = el("div", { class: "nbm-scroll nbm-tall", tabindex: "0" }, [this.table]);
    this.root.hidden = true;
  }

  /** @param {boolean} shown @param {() => {heads: string[], rows: string[][]}} content only made if it is shown */
  paint(shown, content) {
    this.root.hidden = !shown;
    if (!shown) return;
    const { heads, rows } = content();
    resizeChildren(this.head, heads.length, () => el("th", { scope: "col" })).forEach((node, k) =>
      setText(node, heads[k]),
    );
    resizeChildren(this.body, rows.length, () => el("tr")).forEach((row, r) => {
      const make = (/** @type {number} */ k) => (k ? el("td") : el("th", { scope: "row" }));
      resizeChildren(row, rows[r].length, make).forEach((cell, k) => setText(cell, rows[r][k]));
    });
  }
}
