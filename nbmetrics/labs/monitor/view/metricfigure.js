/**
 * One figure a metric: avg solid, all dashed, and the gap in a small plot of its own below; the best steps marked, and
 * the chosen client's own scores as a thin line.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Scrubber } from "./scrubber.js"
 * @import { Line, Numbers, Run, Scene } from "./types.js"
 */
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { nearest } from "./history.js";
import { StepPlot } from "./plot.js";
import { scoreText, stepText } from "./words.js";

// Standard errors on either side of a score that 95 % of its noise lies within.
const REACH = 1.96;

export class MetricFigure {
  /** @param {Store} store @param {AbortSignal} signal @param {Scrubber} scrubber */
  constructor(store, signal, scrubber) {
    this.store = store;
    /** @type {{line: Line, bands: (import("./scale.js").Band | null)[]} | null} */
    this.banded = null;
    this.title = el("div", { class: "nbm-step-title", "aria-hidden": "true" });
    this.scores = new StepPlot(store, signal, scrubber, 180, { hasAxis: false });
    this.gap = new StepPlot(store, signal, scrubber, 78);
    this.image = el("div", { role: "img" }, [this.scores.root, this.gap.root]);
    this.note = el("p", { class: "nbm-note" });
    this.root = el("div", { class: "nbm-step-figure" }, [this.title, this.image, this.note]);
  }

  /** @param {Scene} scene @param {Numbers} numbers @param {Line} line */
  paint({ client }, { history, judged, alarms, step }, line) {
    const { stored, facts, avg, all, gap, best } = line;
    const bands = this.bandsOf(line);
    const run = /** @type {Run} */ (this.store.model.get("run"));
    const who = run.clients.indexOf(client);
    const sets = judged?.[stored.name]?.sets;
    const drawn = [
      ...(who < 0
        ? []
        : [
            {
              name: client,
              style: "nbm-step-one",
              steps: stored.steps,
              values: column(stored.clients, who, run.clients.length),
            },
          ]),
      {
        name: "avg",
        style: "nbm-step-avg",
        steps: stored.steps,
        values: avg,
        band: bands[0],
        bests: some(best.avg),
        sets: sets?.avg,
      },
      ...(all
        ? [
            {
              name: "all",
              style: "nbm-step-all",
              steps: stored.steps,
              values: all,
              band: bands[1],
              bests: some(best.all),
              sets: sets?.all,
            },
          ]
        : []),
    ];
    const keys = [history, client, alarms, judged];
    const told = alarms.map((alarm) => alarm.step);
    this.scores.paint(history.steps, drawn, told, step, keys);
    const between = gap
      ? [{ name: "gap", style: "nbm-step-gap", steps: stored.steps, values: gap, band: bands[2] }]
      : [];
    this.gap.paint(history.steps, steadied(between, facts.kind), told, step, keys, "gap, avg − all");
    this.paintWords(line, step, client, who, run.clients.length);
  }

  /** Of avg, all and gap, the same as long as the line is. @param {Line} line */
  bandsOf(line) {
    if (this.banded?.line !== line) {
      const { avg, all, gap, errors, facts } = line;
      const least = facts.kind === "fid" ? 0 : -Infinity;
      const of = (/** @type {Float64Array | null} */ values, /** @type {number} */ c, floor = -Infinity) =>
        values && errors && bandAround(values, errors, c, floor);
      this.banded = { line, bands: [of(avg, 0, least), of(all, 1, least), of(gap, 2)] };
    }
    return this.banded.bands;
  }

  /** @param {Line} line @param {number | null} step @param {string} client @param {number} who @param {number} count */
  paintWords({ stored, avg, all, gap, facts, isFirstOrder }, step, client, who, count) {
    const { steps } = stored;
    const place = step === null ? -1 : nearest(steps, step);
    const said = (/** @type {number} */ i) =>
      [
        `avg ${scoreText(avg[i])}`,
        all ? `all ${scoreText(all[i])}` : "all not known yet",
        ...(gap ? [`gap ${scoreText(gap[i])}`] : []),
      ].join(", ");
    const own = who < 0 || place < 0 ? "" : `, ${client} ${scoreText(stored.clients[place * count + who])}`;
    const nearby = place >= 0 && steps[place] !== step ? ` at step ${stepText(steps[place])}` : "";
    setText(this.title, place < 0 ? stored.label : `${stored.label}${nearby}: ${said(place)}${own}`);
    const last = steps.length - 1;
    const shown = place >= 0 && place !== last ? `; at step ${stepText(steps[place])}: ${said(place)}` : "";
    const label =
      last < 0
        ? `${stored.label}: no scores yet`
        : `${stored.label} over ${stepText(last + 1)} steps, at the last, ${stepText(steps[last])}: ${said(last)}${shown}`;
    setAttributes(this.image, { "aria-label": label });
    const { saved } = this.store;
    const why = !all
      ? saved
        ? "All under these weights needs a notebook."
        : "All under these weights is being computed."
      : isFirstOrder
        ? "All under these weights is known to first order."
        : facts.kind === "kid"
          ? "No generator can move this gap: it is a check. Where it moves, clients or features have changed."
          : "";
    setText(this.note, why);
    this.note.hidden = !why;
  }
}

/** What 95 % of the noise lies within; null where none is known. @param {Float64Array} values @param {Float32Array} errors of avg, all and gap @param {number} c which of them @param {number} floor below it there are no scores */
function bandAround(values, errors, c, floor) {
  const reach = Float64Array.from(values, (_, i) => REACH * errors[3 * i + c]);
  if (reach.every(Number.isNaN)) return null;
  return {
    low: values.map((value, i) => Math.max(floor, value - reach[i])),
    high: values.map((value, i) => value + reach[i]),
  };
}

/** One client's scores. @param {Float32Array} clients @param {number} who @param {number} count */
export function column(clients, who, count) {
  return Float64Array.from({ length: clients.length / count }, (_, s) => clients[s * count + who]);
}

/** @param {number | null} step */
function some(step) {
  return step === null ? [] : [step];
}

/** What is constant by theorem is drawn as that: its rounding is no picture. @param {import("./plot.js").Drawn[]} drawn @param {string} kind */
function steadied(drawn, kind) {
  if (kind !== "kid" || !drawn.length) return drawn;
  const [{ values }] = drawn;
  const first = values.find(Number.isFinite) ?? 0;
  const isStill = values.every(
    (value) => !Number.isFinite(value) || Math.abs(value - first) <= 1e-9 * Math.max(1, Math.abs(first)),
  );
  return isStill ? [{ ...drawn[0], values: values.map((value) => (Number.isFinite(value) ? first : value)) }] : drawn;
}
