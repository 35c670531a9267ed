/**
 * One figure a metric: avg solid, all dashed, and the gap in a small plot of its own below; of intra one line alone. The
 * best steps are marked, and the chosen client's own scores are a thin line.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Curve } from "./step_plot.js"
 * @import { Band } from "./step_plot.js"
 * @import { Scrubber } from "./scrubber.js"
 * @import { Line, Numbers, Run, Scene } from "./types.js"
 */
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { scoreText, stepText } from "./formatting.js";
import { nearest } from "./page_decoding.js";
import { StepPlot } from "./step_plot.js";

// Standard errors on either side of a score that 95 % of its noise lies within.
const REACH = 1.96;
const UNKNOWN =
  "Not known for these weights where the generator has one distribution for each client, as their mixture changes too.";

export class MetricFigure {
  /** @param {Store} store @param {AbortSignal} signal @param {Scrubber} scrubber */
  constructor(store, signal, scrubber) {
    this.store = store;
    /** @type {{keys: any[], scores: Curve[], gaps: Curve[]}} */
    this.curves = { keys: [], scores: [], gaps: [] };
    this.title = el("div");
    this.second = el("div", { class: "nbm-step-second nbm-step-other" });
    const head = el("div", { class: "nbm-step-title", "aria-hidden": "true" }, [this.title, this.second]);
    this.scores = new StepPlot(store, signal, scrubber, 136, { hasAxis: false });
    this.gap = new StepPlot(store, signal, scrubber, 66);
    this.intra = new StepPlot(store, signal, scrubber, 150);
    this.main = this.scores;
    this.image = el("div", { role: "img" }, [this.scores.root, this.gap.root, this.intra.root]);
    this.note = el("p", { class: "nbm-note" });
    this.root = el("div", { class: "nbm-step-figure" }, [head, this.image, this.note]);
  }

  /** @param {Scene} scene @param {Numbers} numbers @param {Line} line */
  paint({ client }, { judgement, alarms, step, steps, other }, line) {
    const { stored, facts } = line;
    const run = /** @type {Run} */ (this.store.model.get("run"));
    const who = run.clients.indexOf(client);
    const beside = other?.lines.find(({ stored: { name } }) => name === stored.name);
    const keys = [line, steps, beside, client, alarms, judgement];
    if (keys.some((key, i) => key !== this.curves.keys[i])) {
      const own = who < 0 || !line.clients ? [] : [column(line.clients, who, run.clients.length)];
      const bands = bandsOf(line);
      const scores = [
        ...(beside ? curvesOf(beside, "nbm-step-other") : []),
        ...own.map((values) => ({ name: client, style: "nbm-step-one", steps: stored.steps, values })),
        ...curvesOf(line, "", bands, judgement?.[stored.name]?.sets),
      ];
      const gaps = [...(beside ? gapOf(beside, "nbm-step-other") : []), ...gapOf(line, "", bands[2])];
      const rounding = line.gap === stored.gap ? 1e-9 : 1e-6; // under other weights, that of single precision
      this.curves = { keys, scores, gaps: facts.kind === "kid" ? gaps.map((one) => steadyCurve(one, rounding)) : gaps };
    }
    const alarmSteps = alarms.map((alarm) => alarm.step);
    this.main = facts.of ? this.intra : this.scores;
    for (const plot of [this.scores, this.gap, this.intra])
      plot.root.style.display = (plot === this.intra) === !!facts.of ? "" : "none";
    this.main.paint(steps, this.curves.scores, alarmSteps, step, keys);
    if (!facts.of) this.gap.paint(steps, this.curves.gaps, alarmSteps, step, keys, "gap");
    this.paintWords(line, beside, step, who < 0 ? "" : client);
  }

  /** @param {Line} line @param {Line | undefined} beside @param {number | null} step @param {string} client */
  paintWords(line, beside, step, client) {
    const { stored, avg, isFirstOrder } = line;
    const { steps } = stored;
    const { clients } = /** @type {Run} */ (this.store.model.get("run"));
    const place = step === null ? -1 : nearest(steps, step);
    const own = client && line.clients?.[place * clients.length + clients.indexOf(client)];
    const more = place < 0 || own === "" || own === undefined ? "" : `: ${client} ${scoreText(own)}`;
    setText(this.title, place < 0 ? stored.label : `${stored.label}${nearby(line, step)}${more}`);
    setText(this.second, beside && step !== null ? otherRunText(beside, step) : "");
    this.second.hidden = !this.second.textContent;
    const last = steps.length - 1;
    const shown = place >= 0 && place !== last ? `; at step ${stepText(steps[place])}: ${scoresText(line, place)}` : "";
    const theirs = this.second.textContent ? `; ${this.second.textContent}` : "";
    const label =
      last < 0
        ? `${stored.label}: no scores yet`
        : `${stored.label} over ${stepText(last + 1)} steps, at the last, ${stepText(steps[last])}: ${scoresText(line, last)}${shown}${theirs}`;
    setAttributes(this.image, { "aria-label": label });
    const { saved } = this.store;
    const isUnknown = stored.moves && avg !== stored.avg && avg?.some(Number.isNaN);
    const firstOrder = isFirstOrder ? "All for these weights is a first-order approximation." : "";
    const why = awaited(line, !!saved) || (isUnknown ? UNKNOWN : firstOrder);
    setText(this.note, why);
    this.note.hidden = !why;
  }
}

/** What of the scores Python has to say first. @param {Line} line @param {boolean} saved */
function awaited({ avg, all, facts }, saved) {
  if (!avg) return `Scores for these weights ${saved ? "need a notebook" : "are being computed"}.`;
  return all || facts.of ? "" : `All for these weights ${saved ? "needs a notebook" : "is being computed"}.`;
}

/** @type {WeakMap<Float64Array, {errors: Float32Array, band: Band | null}>} */
const bandCache = new WeakMap();

/** Of avg, all and gap: what 95 % of the noise lies within, null where none is known; the same as long as they are. @param {Line} line @returns {(Band | null)[]} */
function bandsOf({ avg, all, gap, errors, facts }) {
  const floor = facts.kind === "fid" ? 0 : -Infinity; // below it there are no scores
  return [avg, all, gap].map((values, c) => {
    if (!values || !errors) return null;
    const cached = bandCache.get(values);
    if (cached?.errors === errors) return cached.band;
    const band = bandAround(values, errors, c, c < 2 ? floor : -Infinity);
    bandCache.set(values, { errors, band });
    return band;
  });
}

/** @param {Float64Array} values @param {Float32Array} errors of avg, all and gap @param {number} c which of them @param {number} floor @returns {Band | null} */
function bandAround(values, errors, c, floor) {
  const [low, high] = [new Float64Array(values.length), new Float64Array(values.length)];
  let isKnown = false;
  for (let i = 0; i < values.length; i++) {
    const reach = REACH * errors[3 * i + c];
    low[i] = Math.max(floor, values[i] - reach);
    high[i] = values[i] + reach;
    isKnown ||= !Number.isNaN(reach);
  }
  return isKnown ? { low, high } : null;
}

/** avg and all of a run. @param {Line} line @param {string} style @param {(Band | null)[]} bands @param {{avg: number[], all: number[]} | null} [sets] @returns {Curve[]} */
function curvesOf({ stored: { steps }, avg, all, best }, style, bands = [], sets) {
  const of = (/** @type {"avg" | "all"} */ part, /** @type {Float64Array} */ values, band = bands[0]) => ({
    name: part,
    style: `nbm-step-${part} ${style}`,
    steps,
    values,
    band,
    bests: some(best[part]),
    sets: sets?.[part],
  });
  return [...(avg ? [of("avg", avg)] : []), ...(all ? [of("all", all, bands[1])] : [])];
}

/** @param {Line} line @param {string} style @param {Band | null} [band] @returns {Curve[]} */
function gapOf({ stored: { steps }, gap }, style, band) {
  return gap ? [{ name: "gap", style: `nbm-step-gap ${style}`, steps, values: gap, band }] : [];
}

/** @param {Line} line @param {number} place */
function scoresText({ avg, all, gap, facts }, place) {
  if (!avg) return "not known yet";
  if (facts.of) return scoreText(avg[place]);
  const parts = [`avg ${scoreText(avg[place])}`, all ? `all ${scoreText(all[place])}` : "all not known yet"];
  return [...parts, ...(gap ? [`gap ${scoreText(gap[place])}`] : [])].join(", ");
}

/** Where it has no score at a step, the nearest that has one. @param {Line} line @param {number | null} step */
function nearby({ stored: { steps } }, step) {
  const nearestStep = step === null ? step : steps[nearest(steps, step)];
  return nearestStep === null || nearestStep === step ? "" : ` at step ${stepText(nearestStep)}`;
}

/** @param {Line} beside @param {number} step */
function otherRunText(beside, step) {
  return `Other run${nearby(beside, step)}: ${scoresText(beside, nearest(beside.stored.steps, step))}`;
}

/** One client's scores. @param {Float32Array} clients @param {number} who @param {number} count */
export function column(clients, who, count) {
  return Float64Array.from({ length: clients.length / count }, (_, s) => clients[s * count + who]);
}

/** @param {number | null} step */
function some(step) {
  return step === null ? [] : [step];
}

/** What is constant by theorem is drawn as that: its rounding is no picture. @param {Curve} curve @param {number} rounding @returns {Curve} */
function steadyCurve(curve, rounding) {
  const { values } = curve;
  const first = values.find(Number.isFinite) ?? 0;
  if (values.every((value) => value === first)) return curve;
  const isStill = values.every(
    (value) => !Number.isFinite(value) || Math.abs(value - first) <= rounding * Math.max(1, Math.abs(first)),
  );
  return isStill ? { ...curve, values: values.map((value) => (Number.isFinite(value) ? first : value)) } : curve;
}
