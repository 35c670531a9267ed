/**
 * The Monitor: which checkpoint each aggregate would keep, a figure a metric, one scrubber for all, alarms, losses, the
 * clients' strip, samples, and weights that ask a new question of an old run.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Numbers, Run, Scene } from "./types.js"
 */
import { NumberTable } from "../../toolkit/view/chart.js";
import { el, setText } from "../../toolkit/view/dom.js";
import { lab } from "../../toolkit/view/lab.js";
import { themeOf } from "../../toolkit/view/matrix_cell.js";
import { codeOf, declare, openingOf } from "../../toolkit/view/schema.js";
import { watchTheme } from "../../toolkit/view/themes.js";
import { Toolbar } from "../../toolkit/view/toolbar.js";
import declaration from "../scene.json" with { type: "json" };
import { AlarmList } from "./alarm_list.js";
import { ClientHeatmap } from "./client_heatmap.js";
import { lastStepText, scoreText, stepText } from "./formatting.js";
import { checkpointSentence, Headline, ScoreTable } from "./headline.js";
import { Losses } from "./losses.js";
import { MetricFigure } from "./metric_figure.js";
import { nearest } from "./page_decoding.js";
import { numbersOf } from "./reweighting.js";
import { SamplePreviews } from "./sample_previews.js";
import { Scrubber } from "./scrubber.js";
import { Legend } from "./step_plot.js";
import { WeightSliders } from "./weight_sliders.js";

// Rows of the table of clients.
const MAX_TABLE_ROWS = 500;
// Between two times that the minutes since the last step are counted.
const STATUS_MILLISECONDS = 20_000;
// After which the last step is worth a word.
const LATE_SECONDS = 60;

const declared = declare(declaration);

export default lab("Monitor", numbersOf, monitorView, {
  traits: ["run", "past", "recent", "beside", "told", "samples", "result"],
  declared,
  refusal,
});

/** @param {any} scene @param {import("../../toolkit/view/types.js").Model} model @returns {string} "" where it is shown */
function refusal({ weights, metric, client }, model) {
  const { clients, metrics } = model.get("run");
  if (!weights.some((/** @type {number} */ weight) => weight > 0)) return "all weights are 0";
  if (weights.length !== clients.length) return `it has ${weights.length} clients, not ${clients.length}`;
  if (client && !clients.includes(client)) return `there is no client ${client}`;
  return metrics.some((/** @type {any} */ { name }) => name === metric) ? "" : "its metric is not available here";
}

/** @param {Store} store @param {AbortSignal} signal */
function monitorView(store, signal) {
  const run = () => /** @type {Run} */ (store.model.get("run"));
  const isBeside = () => Object.hasOwn(store.model.get("beside") ?? {}, "name");
  const making = () => run().code + (isBeside() ? `\n${declaration.compare}` : "");
  const scrubber = new Scrubber(store, signal);
  const [headline, legend] = [new Headline(store, signal), new Legend()];
  const figures = new Figures(store, signal, scrubber);
  const [losses, strip] = [new Losses(store, signal, scrubber), new ClientHeatmap(store, signal, scrubber)];
  const [scores, alarms] = [new ScoreTable(signal), new AlarmList(store, signal, scrubber)];
  watchTheme(signal, () => store.changed());
  const [samples, weights] = [new SamplePreviews(store), new WeightSliders(store, signal)];
  const choices = [
    fieldSelect(store, signal, "Metric", "metric", () => run().metrics.map(({ name, label }) => [name, label])),
    fieldSelect(store, signal, "Client", "client", () => [
      ["", "No client"],
      ...run().clients.map((name) => [name, name]),
    ]),
  ];
  const table = new NumberTable("Scores of the clients at this step");
  let isTable = false;
  const toolbar = new MonitorToolbar(store, signal, {
    choices: [choices[0].root],
    code: (scene) => codeOf(declared, scene, { making: making() }),
    opening: (text) => openingOf(making(), text),
    table: (shown) => {
      isTable = shown;
      if (shown) details.open = true;
      store.changed();
    },
    picture: () => figures.picture(store, scores.table),
    compared: () => (store.saved ? "" : "Python computed these scores."),
  });
  const [status, cost] = [el("div", { class: "nbm-step-quiet" }), el("div", { class: "nbm-step-quiet" })];
  figures.root.append(losses.root);
  const side = el("div", { class: "nbm-step-side" }, [scores.root, alarms.root, samples.root]);
  const body = el("div", { class: "nbm-step-body" }, [figures.root, side]);
  const details = el("details", { class: "nbm-fold nbm-step-details" }, [
    el("summary", {}, ["Details"]),
    el("div", { class: "nbm-step-main" }, [
      headline.details,
      legend.root,
      choices[1].root,
      strip.root,
      weights.root,
      table.root,
      cost,
    ]),
  ]);
  const paint = () => {
    const scene = /** @type {Scene} */ (/** @type {unknown} */ (store.scene));
    const numbers = /** @type {Numbers} */ (/** @type {unknown} */ (store.numbers));
    const theme = themeOf(body); // read before anything is written, or the browser lays the page out twice
    for (const part of [headline, scrubber, figures, legend, losses, scores, alarms, weights, ...choices])
      part.paint(scene, numbers);
    samples.paint(theme, numbers);
    strip.paint(
      scene,
      numbers,
      theme,
      numbers.history.lines.find(({ facts }) => facts.name === scene.metric),
    );
    table.paint(isTable, () => clientRows(run(), numbers));
    paintStatus(status, store, numbers);
    const { cost: costWords = "", last_step: lastStep } = store.model.get("told") ?? {};
    setText(cost, [lastStepText(lastStep), costWords].filter(Boolean).join(" "));
    toolbar.paint(scene);
  };
  if (!store.saved) store.send({ kind: "ping" }); // Python need not keep the picture at the end of the run
  const timer = setInterval(() => paintStatus(status, store, /** @type {any} */ (store.numbers)), STATUS_MILLISECONDS);
  signal.addEventListener("abort", () => clearInterval(timer));
  return {
    nodes: [
      headline.root,
      toolbar.root,
      scrubber.root,
      body,
      status,
      details,
      toolbar.status,
      toolbar.fold,
      toolbar.codeFold,
    ],
    paint,
  };
}

/** A figure for each line, in their order. */
class Figures {
  /** @param {Store} store @param {AbortSignal} signal @param {Scrubber} scrubber */
  constructor(store, signal, scrubber) {
    this.make = () => new MetricFigure(store, signal, scrubber);
    /** @type {MetricFigure[]} */
    this.figures = [];
    this.root = el("div", { class: "nbm-step-figures" });
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paint(scene, numbers) {
    const { lines } = numbers.history;
    while (this.figures.length < lines.length) {
      const figure = this.make();
      this.root.insertBefore(figure.root, this.root.children[this.figures.length] ?? null);
      this.figures.push(figure);
    }
    this.figures.forEach((figure, i) => {
      figure.root.hidden = i >= lines.length;
      if (i < lines.length) figure.paint(scene, numbers, lines[i]);
    });
  }

  /** The figure of the chosen metric. @param {Store} store @param {HTMLTableElement} table */
  picture(store, table) {
    const { history, judgement } = /** @type {Numbers} */ (/** @type {unknown} */ (store.numbers));
    const { metric } = /** @type {any} */ (store.scene);
    const place = Math.max(
      0,
      history.lines.findIndex(({ facts }) => facts.name === metric),
    );
    const words = history.lines.map((line) => checkpointSentence(line, judgement?.[line.stored.name]));
    return { drawing: this.figures[place].main.root, words, table };
  }
}

/** A preset is weights: how one looks at the run stays. */
class MonitorToolbar extends Toolbar {
  get isChanged() {
    const { scene } = /** @type {{scene: any}} */ (this.store);
    const start = this.startOf(scene.preset);
    return start !== undefined && JSON.stringify(start.weights) !== JSON.stringify(scene.weights);
  }

  /** @param {string} name @param {"presets" | "history"} what */
  load(name, what) {
    const start = this.startOf(name);
    if (what === "history" || !start) return super.load(name, what);
    this.store.open(/** @type {any} */ ({ ...this.store.scene, preset: start.preset, weights: start.weights }), what);
  }
}

/** A select of a field of the scene. @param {Store} store @param {AbortSignal} signal @param {string} label @param {"metric" | "client"} field @param {() => string[][]} options */
function fieldSelect(store, signal, label, field, options) {
  const root = el("select", { "aria-label": label });
  root.addEventListener("change", () => store.edit(/** @type {any} */ ({ ...store.scene, [field]: root.value }), ""), {
    signal,
  });
  let optionsKey = "";
  const paint = (/** @type {Scene} */ scene) => {
    const key = JSON.stringify(options());
    if (key !== optionsKey) root.replaceChildren(...options().map(([value, text]) => el("option", { value }, [text])));
    optionsKey = key;
    root.value = scene[field];
  };
  return { root, paint };
}

/** @param {Run} run @param {Numbers} numbers */
function clientRows({ clients }, { history: { lines }, step }) {
  const heads = ["Client", ...lines.map(({ stored }) => stored.label)];
  const places = lines.map(({ stored }) => (step === null ? -1 : nearest(stored.steps, step)));
  const rows = clients
    .slice(0, MAX_TABLE_ROWS)
    .map((name, i) => [
      name,
      ...lines.map(({ clients: scores }, n) =>
        places[n] < 0 || !scores ? "–" : scoreText(scores[places[n] * clients.length + i]),
      ),
    ]);
  return { heads, rows };
}

/** When the last step came, how many are scored, and what is wrong. @param {HTMLElement} node @param {Store} store @param {Numbers} numbers */
function paintStatus(node, store, { history: { leftOut, steps }, judgement }) {
  const { counts = "", troubles = [], last_step: lastStep } = store.model.get("told") ?? {};
  const levels = Object.values(judgement ?? {}).map((one) => one.status);
  const isLate = !store.saved && Date.now() / 1000 - lastStep > LATE_SECONDS;
  const lastStepWords = isLate ? lastStepText(lastStep, Date.now()) : "";
  const leftOutWords = leftOut
    ? `${stepText(steps.length)} steps are drawn; ${stepText(leftOut)} between them are not.`
    : "";
  setText(node, [...levels, lastStepWords, counts, leftOutWords, ...troubles].filter(Boolean).join(" "));
  node.hidden = !node.textContent;
}
