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
import { Toolbar } from "../../toolkit/view/toolbar.js";
import declaration from "../scene.json" with { type: "json" };
import { AlarmList } from "./alarmlist.js";
import { Headline, ScoreTable } from "./headline.js";
import { nearest } from "./history.js";
import { Legend } from "./legend.js";
import { Losses } from "./losses.js";
import { MetricFigure } from "./metricfigure.js";
import { numbersOf } from "./numbers.js";
import { Samples } from "./samples.js";
import { Scrubber } from "./scrubber.js";
import { Strip } from "./strip.js";
import { Weights } from "./weights.js";
import { keptWords, scoreText, stepText } from "./words.js";

// Rows of the table of clients.
const MOST_ROWS = 500;

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
  if (weights.length !== clients.length) return `it is of ${weights.length} clients, not ${clients.length}`;
  if (client && !clients.includes(client)) return `there is no client ${client}`;
  return metrics.some((/** @type {any} */ { name }) => name === metric) ? "" : "its metric is not here";
}

/** @param {Store} store @param {AbortSignal} signal */
function monitorView(store, signal) {
  const run = () => /** @type {Run} */ (store.model.get("run"));
  const isBeside = () => Object.hasOwn(store.model.get("beside") ?? {}, "name");
  const making = () => run().code + (isBeside() ? `\n${declaration.compare}` : "");
  const scrubber = new Scrubber(store, signal);
  const [headline, legend] = [new Headline(store, signal), new Legend()];
  const figures = new Figures(store, signal, scrubber);
  const [losses, strip] = [new Losses(store, signal, scrubber), new Strip(store, signal, scrubber)];
  const [scores, alarms] = [new ScoreTable(), new AlarmList(store, signal, scrubber)];
  const [samples, weights] = [new Samples(store), new Weights(store, signal)];
  const choices = [
    chosen(store, signal, "Metric", "metric", () => run().metrics.map(({ name, label }) => [name, label])),
    chosen(store, signal, "Client", "client", () => [["", "No client"], ...run().clients.map((name) => [name, name])]),
  ];
  const table = new NumberTable("Scores of the clients at this step");
  let isTable = false;
  const toolbar = new MonitorToolbar(store, signal, {
    choices: choices.map(({ root }) => root),
    code: (scene) => codeOf(declared, scene, { making: making() }),
    opening: (text) => openingOf(making(), text),
    table: (shown) => {
      isTable = shown;
      store.changed();
    },
    picture: () => figures.picture(store, scores.table),
    compared: () => (store.saved ? "" : "Python computed these scores."),
  });
  const quiet = el("div", { class: "nbm-step-quiet" });
  figures.root.append(losses.root);
  const side = el("div", { class: "nbm-step-side" }, [scores.root, alarms.root, samples.root]);
  const main = el("div", { class: "nbm-step-main" }, [figures.root, legend.root, strip.root, weights.root, table.root]);
  const body = el("div", { class: "nbm-step-body" }, [main, side]);
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
    paintQuiet(quiet, store, numbers);
    toolbar.paint(scene);
  };
  return {
    nodes: [headline.root, toolbar.root, scrubber.root, body, quiet, toolbar.status, toolbar.fold, toolbar.codeFold],
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
    const { history, judged } = /** @type {Numbers} */ (/** @type {unknown} */ (store.numbers));
    const { metric } = /** @type {any} */ (store.scene);
    const place = Math.max(
      0,
      history.lines.findIndex(({ facts }) => facts.name === metric),
    );
    const words = history.lines.map((line) => keptWords(line, judged?.[line.stored.name]));
    return { drawing: this.figures[place].scores.root, words, table };
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
function chosen(store, signal, label, field, options) {
  const root = el("select", { "aria-label": label });
  root.addEventListener("change", () => store.edit(/** @type {any} */ ({ ...store.scene, [field]: root.value }), ""), {
    signal,
  });
  let known = "";
  const paint = (/** @type {Scene} */ scene) => {
    const now = JSON.stringify(options());
    if (now !== known) root.replaceChildren(...options().map(([value, text]) => el("option", { value }, [text])));
    known = now;
    root.value = scene[field];
  };
  return { root, paint };
}

/** @param {Run} run @param {Numbers} numbers */
function clientRows({ clients }, { history: { lines }, step }) {
  const heads = ["Client", ...lines.map(({ stored }) => stored.label)];
  const places = lines.map(({ stored }) => (step === null ? -1 : nearest(stored.steps, step)));
  const rows = clients
    .slice(0, MOST_ROWS)
    .map((name, i) => [
      name,
      ...lines.map(({ stored }, n) =>
        places[n] < 0 ? "–" : scoreText(stored.clients[places[n] * clients.length + i]),
      ),
    ]);
  return { heads, rows };
}

/** What it costs, and what went wrong. @param {HTMLElement} node @param {Store} store @param {Numbers} numbers */
function paintQuiet(node, store, { history: { leftOut, steps } }) {
  const { cost = "", troubles = [] } = store.model.get("told") ?? {};
  const thin = leftOut ? `${stepText(steps.length)} steps are drawn, ${stepText(leftOut)} between them are not.` : "";
  setText(node, [cost, thin, ...troubles].filter(Boolean).join(" "));
  node.hidden = !node.textContent;
}
