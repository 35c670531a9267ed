/**
 * What a finite sample does to FID and KID, and to the gap between avg and all: the exact value, the estimate from the
 * points drawn now, and the mean and spread of estimates that Python finds by redrawing. Everything is shown as a
 * distance from the exact value. Python says too what gap so many points would show if all clients were alike.
 *
 * @import { Scene } from "../../toolkit/view/types.js"
 * @import { PlaneStore } from "../../plane/view/store.js"
 * @import { Chart } from "./explore.js"
 */

import { numbersOf } from "../../plane/view/scores.js";
import { calmRange, linear, NumberTable, Plot, resizeChildren, roundStep, ticksOf } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { lockable } from "../../toolkit/view/locks.js";
import { figure, tickText } from "../../toolkit/view/numbers.js";
import { slides } from "../../toolkit/view/slider.js";
import { sameScene } from "../../toolkit/view/store.js";

const POINT_COUNTS = [0, 10, 20, 50, 100, 200, 500, 1000];
const DRAWN_METRICS = /** @type {const} */ (["fid", "kid"]);
const DRAWN_PARTS = /** @type {const} */ (["avg", "all", "gap"]);
const DRAWN_ROW = 34;
const REDRAWS = 20;
// From the 5 % to the 95 % quantile there are 3.3 standard deviations.
const BAND_SIGMAS = 3.3;

/** @typedef {{name: string, exact: number, now: number | null, alike?: number, band: {mean: number, low: number, high: number} | null}} Estimate */

export class SamplesView {
  /** @param {PlaneStore} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.slider = el("input", {
      type: "range",
      min: "0",
      max: String(POINT_COUNTS.length - 1),
      step: "1",
      "aria-label": "Points",
    });
    this.count = el("output", { class: "nbm-count" });
    this.redraw = el("button", { type: "button" }, ["Redraw"]);
    lockable("drag", this.redraw);
    slides(this.slider, store, (place) => ({ ...store.scene, samples: POINT_COUNTS[place] }), signal, { stride: 1 });
    this.redraw.addEventListener("click", () => store.edit({ ...store.scene, seed: (store.scene.seed ?? 0) + 1 }), {
      signal,
    });
    this.charts = DRAWN_METRICS.map((metric) => new ErrorChart(metric));
    this.ofRedraws = [
      el("span", {}, [el("i", { class: "nbm-sample-band" }), `5–95 % of ${REDRAWS} redraws`]),
      el("span", {}, [el("i", { class: "nbm-sample-mean" }), "their mean"]),
    ];
    this.legend = el("div", { class: "nbm-legend" }, [
      el("span", {}, [el("i", { class: "nbm-sample-now" }), "these points"]),
      ...this.ofRedraws,
    ]);
    this.wait = el("p", { class: "nbm-note" });
    this.words = el("ul", { class: "nbm-bias" });
    this.numbers = new NumberTable("Estimates");
    const controls = el("div", { class: "nbm-controls" }, [
      el("label", { class: "nbm-points" }, ["Points ", this.slider]),
      this.count,
      this.redraw,
    ]);
    this.root = el("div", {}, [
      controls,
      ...this.charts.map((chart) => chart.plot.root),
      this.legend,
      this.wait,
      this.words,
      this.numbers.root,
    ]);
    /** @type {Scene | null} what Python's last answer was about */
    this.answered = null;
    /** @type {{scene: Scene, data: object, numbers: ReturnType<typeof numbersOf>} | null} */
    this.memo = null;
  }

  /** @param {Chart} chart */
  paint(chart) {
    const { scene, width, isFull } = chart;
    const samples = scene.samples ?? 0;
    this.paintControls(samples);
    const { bands, rev } = this.store.model.get("result");
    if (rev === scene.rev) this.answered = scene;
    const isBack = this.answered !== null && sameScene({ ...scene, view: this.answered.view }, this.answered);
    const isCurrent = rev === scene.rev || (Boolean(this.store.saved) && isBack);
    // live, the last answer stands until the next; on a saved page none follows
    const fits =
      samples > 0 && (isCurrent || !this.store.saved) && bands?.fid.avg.exact.length === scene.generators.length;
    const estimates = this.estimates(chart, samples, fits ? bands : null);
    this.charts.forEach((errors, m) =>
      errors.paint(estimates.slice(DRAWN_PARTS.length * m, DRAWN_PARTS.length * (m + 1)), width, isCurrent),
    );
    this.legend.hidden = samples === 0;
    for (const entry of this.ofRedraws) entry.hidden = !fits;
    setText(this.wait, this.waiting(samples, fits));
    this.wait.hidden = this.wait.textContent === "";
    this.words.hidden = !fits;
    this.words.classList.toggle("nbm-behind", !isCurrent);
    if (fits && isCurrent) {
      resizeChildren(this.words, estimates.length, () => el("li")).forEach((node, k) =>
        setText(node, biasWords(estimates[k], samples)),
      );
    }
    this.numbers.paint(isFull, () => estimatesTable(estimates));
  }

  /** @param {number} samples */
  paintControls(samples) {
    const nearest = POINT_COUNTS.reduce(
      (best, count, k) => (Math.abs(count - samples) < Math.abs(POINT_COUNTS[best] - samples) ? k : best),
      0,
    );
    if (this.slider.valueAsNumber !== nearest) this.slider.value = String(nearest);
    const text = samples ? `${samples} points` : "exact";
    setAttributes(this.slider, { "aria-valuetext": text });
    setText(this.count, text);
    this.redraw.disabled = samples === 0;
  }

  /** @param {number} samples @param {boolean} fits */
  waiting(samples, fits) {
    if (!samples)
      return "These are exact distributions, as if from infinitely many points. Move Points to draw samples from each client and generator.";
    if (fits) return "";
    if (this.store.saved)
      return "The band of redraws, and the gap if all clients were alike, need Python: open the lab in a notebook.";
    return this.store.waiting ? "The band waits for Python." : "Python computes the band…";
  }

  /** @param {Chart} chart @param {number} samples @param {any} bands @returns {Estimate[]} */
  estimates({ scene, data, g }, samples, bands) {
    if (this.memo?.scene !== scene || this.memo.data !== data) {
      this.memo = { scene, data, numbers: numbersOf({ ...scene, samples: 0 }, data, [...DRAWN_METRICS]) };
    }
    const { numbers } = this.memo;
    return DRAWN_METRICS.flatMap((metric) =>
      DRAWN_PARTS.map((part) => {
        const exact = aggregate(numbers[metric], part)[g];
        const bandsOfPart = bands?.[metric][part];
        const shift = bandsOfPart ? exact - bandsOfPart.exact[g] : 0; // an older answer is moved to the present value
        const band = bandsOfPart && {
          mean: bandsOfPart.mean[g] + shift,
          low: bandsOfPart.low[g] + shift,
          high: bandsOfPart.high[g] + shift,
        };
        const now = samples ? aggregate(this.store.numbers[metric], part)[g] : null;
        return { name: `${metric.toUpperCase()} ${part}`, exact, now, band, alike: bandsOfPart?.alike?.[g] };
      }),
    );
  }
}

/** @param {{avg: ArrayLike<number>, all: ArrayLike<number>}} numbers @param {"avg" | "all" | "gap"} part */
function aggregate({ avg, all }, part) {
  if (part !== "gap") return part === "avg" ? avg : all;
  return Array.from(avg, (value, g) => value - all[g]);
}

/** The three rows of one metric, on one axis of distances from the exact value. */
class ErrorChart {
  /** @param {string} metric */
  constructor(metric) {
    this.plot = new Plot(
      { left: 82, right: 18, top: 4, bottom: 22 },
      { role: "img", "aria-label": `${metric.toUpperCase()} of samples` },
    );
    this.exact = svg("line", { class: "nbm-exact" });
    this.rows = svg("g");
    this.plot.root.append(this.exact, this.rows);
    /** @type {[number, number] | null} */
    this.range = null;
  }

  /** @param {Estimate[]} estimates @param {number} width @param {boolean} isCurrent */
  paint(estimates, width, isCurrent) {
    this.plot.resize(width, DRAWN_PARTS.length * DRAWN_ROW + 28);
    const errors = estimates.flatMap(({ exact, now, band }) =>
      [now, band?.low, band?.high].map((value) => (value ?? exact) - exact),
    );
    const least = 0.02 * Math.max(1, ...estimates.map(({ exact }) => Math.abs(exact)));
    this.range = calmRange(this.range, Math.min(-least, ...errors), Math.max(least, ...errors));
    const { at } = linear(this.range, this.plot.box.x);
    const signed = (/** @type {number} */ value) =>
      Math.abs(value) < 1e-12 ? "exact" : `${value > 0 ? "+" : ""}${tickText(value)}`;
    this.plot.paintX(
      ticksOf(this.range, roundStep(this.range[1] - this.range[0], Math.min(5, this.plot.mostTicks))),
      at,
      this.plot.height - 6,
      signed,
    );
    const [bottom, top] = this.plot.box.y;
    setAttributes(this.exact, { x1: at(0), x2: at(0), y1: top, y2: bottom });
    resizeChildren(this.rows, estimates.length, makeErrorRow).forEach((row, k) =>
      paintErrorRow(row, estimates[k], at, top + (k + 0.5) * DRAWN_ROW),
    );
    this.rows.classList.toggle("nbm-stale", !isCurrent);
    setAttributes(this.plot.root, { "aria-label": estimates.map(spokenEstimate).join("; ") });
  }
}

function makeErrorRow() {
  return svg("g", {}, [
    svg("text", { class: "nbm-strong" }),
    svg("text", { class: "nbm-quiet" }),
    svg("rect", { class: "nbm-band", height: 12, rx: 3 }),
    svg("path", { class: "nbm-bandmean" }),
    svg("circle", { class: "nbm-drawn", r: 5 }),
  ]);
}

/** @param {Element} row @param {Estimate} estimate @param {(error: number) => number} at @param {number} y */
function paintErrorRow(row, { name, exact, now, band }, at, y) {
  const [label, value, bar, mean, dot] = row.children;
  setAttributes(label, { x: 0, y: y - 2 });
  setText(label, name);
  setAttributes(value, { x: 0, y: y + 12 });
  setText(value, `exact ${figure(exact)}`);
  for (const node of [bar, mean]) node.toggleAttribute("hidden", !band);
  if (band) {
    const [low, high] = [at(band.low - exact), at(band.high - exact)];
    setAttributes(bar, { x: low, y: y - 6, width: Math.max(1, high - low) });
    setAttributes(mean, { d: `M${at(band.mean - exact).toFixed(1)} ${y - 9}V${y + 9}` });
  }
  dot.toggleAttribute("hidden", now === null);
  if (now !== null) setAttributes(dot, { cx: at(now - exact), cy: y });
}

/** @param {Estimate} estimate @param {number} samples */
function biasWords({ name, exact, now, band, alike }, samples) {
  if (!band) return "";
  if (alike !== undefined && now !== null)
    return `${name}: ${figure(now)} in these points; about ${figure(alike)} would remain even if all clients were alike.`;
  const bias = band.mean - exact;
  const chance = (2 * (band.high - band.low)) / BAND_SIGMAS / Math.sqrt(REDRAWS);
  if (Math.abs(bias) <= chance) return `${name} is right on average with ${samples} points (within chance).`;
  return `${name} is ${figure(Math.abs(bias))} too ${bias > 0 ? "high" : "low"} on average with ${samples} points.`;
}

/** @param {Estimate} estimate */
function spokenEstimate({ name, exact, now, band }) {
  const drawn = now === null ? "" : `, drawn now ${figure(now)}`;
  return `${name}: exact ${figure(exact)}${drawn}${band ? `, 5 to 95 % of redraws ${figure(band.low)} to ${figure(band.high)}` : ""}`;
}

/** @param {Estimate[]} estimates */
function estimatesTable(estimates) {
  const shown = (/** @type {number | null | undefined} */ value) =>
    value === null || value === undefined ? "" : figure(value);
  return {
    heads: ["Score", "exact", "now", "mean", "5 %", "95 %"],
    rows: estimates.map(({ name, exact, now, band }) => [
      name,
      ...[exact, now, band?.mean, band?.low, band?.high].map(shown),
    ]),
  };
}
