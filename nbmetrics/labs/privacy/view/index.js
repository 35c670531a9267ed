/**
 * The PrivacyLab: how often the best stays first against ε, and what each run of the noise would report at one ε.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Numbers, Scene, Study } from "./numbers.js"
 */
import { NumberTable, resizeChildren } from "../../toolkit/view/chart.js";
import { el, scroller, setAttributes, setText } from "../../toolkit/view/dom.js";
import { lab } from "../../toolkit/view/lab.js";
import { lockable } from "../../toolkit/view/locks.js";
import { markOf, setMark } from "../../toolkit/view/marks.js";
import { figure, ordinal } from "../../toolkit/view/numbers.js";
import { codeOf, declare, openingOf } from "../../toolkit/view/schema.js";
import { slides } from "../../toolkit/view/slider.js";
import { agreement, Toolbar } from "../../toolkit/view/toolbar.js";
import declaration from "../scene.json" with { type: "json" };
import {
  AGGREGATES,
  bandWords,
  CLIENT_WORDS,
  conventionWords,
  EPSILON_WORDS,
  epsilonText,
  hatchWords,
  headlineWords,
  nearest,
  noiseText,
  numbersOf,
  placesOf,
  QUESTION,
  runWords,
  scoreName,
  survivalWords,
} from "./numbers.js";
import { RunsPlot } from "./runs.js";
import { SurvivalPlot } from "./survival.js";

const declared = declare(declaration);

export default lab("PrivacyLab", numbersOf, privacyView, { traits: ["study"], declared, refusal });

/** @param {Store} store @param {AbortSignal} signal */
function privacyView(store, signal) {
  const study = () => /** @type {Study} */ (store.model.get("study"));
  const now = () => /** @type {Scene} */ (/** @type {unknown} */ (store.scene));
  const [epsilon, run] = [epsilonSlider(store, signal), runSlider(store, signal)];
  const choices = [
    chosen(store, signal, "Metric", "metric", () => study().metrics.map(({ name, label }) => [name, label])),
    chosen(store, signal, "Aggregate", "aggregate", () => AGGREGATES.map((part) => [part, part])),
  ];
  const at = (/** @type {number} */ value) => atEpsilon(now(), study(), value);
  const survival = new SurvivalPlot(
    store,
    signal,
    (value) => store.preview(at(value)),
    () => store.finish(),
  );
  const [runs, scores] = [new RunsPlot(store, signal), new ScoreTable()];
  const headline = el("div", { class: "nbm-noise-headline", role: "heading", "aria-level": "2" });
  const [answer, size, order, note] = ["", "", "nbm-noise-order", "nbm-note"].map((name) => el("p", { class: name }));
  const table = new NumberTable("Runs in which the best stays first");
  let isTable = false;
  const toolbar = new PrivacyToolbar(store, signal, {
    code: (scene) => codeOf(declared, scene, { making: study().code }),
    opening: (text) => openingOf(study().code, text),
    table: (shown) => {
      isTable = shown;
      store.changed();
    },
    picture: () => ({
      drawing: survival.plot.root,
      words: [headline.textContent ?? "", bandWords(study(), now()), hatchWords(now())],
      table: scores.table,
    }),
    compared: (python) => compared(python, /** @type {any} */ (store.numbers)),
  });
  const body = el("div", { class: "nbm-noise-body" }, [runs.root, survival.root]);
  const details = el("details", { class: "nbm-fold nbm-noise-details" }, [
    el("summary", {}, ["Details"]),
    el(
      "div",
      { class: "nbm-group" },
      choices.map(({ root }) => root),
    ),
    answer,
    run.root,
    order,
    size,
    ...survival.legend,
    note,
  ]);
  const more = el("p", { class: "nbm-more" }, ["Scores"]);
  const paint = () => {
    const [scene, numbers] = [now(), /** @type {Numbers} */ (/** @type {unknown} */ (store.numbers))];
    setText(headline, headlineWords(numbers));
    setText(answer, survivalWords(study(), numbers));
    setText(size, noiseText(study(), numbers));
    setText(order, runWords(study(), scene, numbers));
    setText(note, conventionWords(study(), scene));
    for (const part of [epsilon, run, survival, runs, ...choices]) part.paint(scene, numbers);
    scores.paint(study(), scene, numbers);
    table.paint(isTable, () => keptRows(study(), scene));
    toolbar.paint(scene);
  };
  const question = el("p", { class: "nbm-noise-question", title: CLIENT_WORDS }, [QUESTION]);
  const numbersBelow = [more, scores.root(signal), table.root];
  const ends = [toolbar.status, toolbar.fold, toolbar.codeFold];
  return { nodes: [toolbar.root, question, epsilon.root, headline, body, details, ...numbersBelow, ...ends], paint };
}

/** @param {any} scene @param {import("../../toolkit/view/types.js").Model} model @returns {string} "" where it is shown */
function refusal(scene, model) {
  const { of, metrics, drawn } = model.get("study");
  if (scene.of !== of) return "it is about other data";
  if (scene.run > drawn[0].length) return `there are ${drawn[0].length} runs`;
  return metrics.some((/** @type {any} */ { name }) => name === scene.metric) ? "" : "its metric is not available here";
}

/** The scene at the ε of the grid that is nearest. @param {Scene} scene @param {Study} study @param {number} epsilon @returns {any} */
function atEpsilon(scene, { epsilons }, epsilon) {
  return { ...scene, epsilon: epsilons[nearest(epsilons, epsilon)] };
}

/** Steps along the grid, which is about even in log ε. @param {Store} store @param {AbortSignal} signal */
function epsilonSlider(store, signal) {
  const study = () => /** @type {Study} */ (store.model.get("study"));
  const slider = el("input", { type: "range", min: "0", step: "1", "aria-label": "ε" });
  const words = el("output");
  slides(slider, store, (place) => /** @type {any} */ ({ ...store.scene, epsilon: study().epsilons[place] }), signal, {
    stride: 3,
  });
  const paint = (/** @type {Scene} */ _scene, /** @type {Numbers} */ numbers) => {
    setAttributes(slider, { max: study().epsilons.length - 1, "aria-valuetext": `ε ${epsilonText(numbers.epsilon)}` });
    slider.value = String(numbers.place);
    setText(words, `ε = ${epsilonText(numbers.epsilon)}`);
  };
  const label = el("span", { class: "nbm-noise-symbol", "aria-hidden": "true" }, ["ε"]);
  const note = el("p", { class: "nbm-note" }, [EPSILON_WORDS]);
  return { root: el("div", { class: "nbm-noise-epsilon" }, [label, slider, words, note]), paint };
}

/** @param {Store} store @param {AbortSignal} signal */
function runSlider(store, signal) {
  const slider = el("input", { type: "range", min: "1", step: "1", "aria-label": "Run" });
  lockable("", slider);
  slides(slider, store, (run) => /** @type {any} */ ({ ...store.scene, run }), signal, { lock: "", stride: 5 });
  const paint = (/** @type {Scene} */ { run }, /** @type {Numbers} */ { drawn }) => {
    setAttributes(slider, { max: drawn.length, "aria-valuetext": `run ${run} of ${drawn.length}` });
    slider.value = String(run);
  };
  return { root: el("label", { class: "nbm-noise-pick" }, ["Run", slider]), paint };
}

/** A select of a field of the scene. @param {Store} store @param {AbortSignal} signal @param {string} label @param {"metric" | "aggregate"} field @param {() => string[][]} options */
function chosen(store, signal, label, field, options) {
  const nodes = options().map(([value, text]) => el("option", { value }, [text]));
  const root = el("select", { "aria-label": label }, nodes);
  root.addEventListener("change", () => store.edit(/** @type {any} */ ({ ...store.scene, [field]: root.value }), ""), {
    signal,
  });
  const paint = (/** @type {Scene} */ scene) => {
    root.value = scene[field];
  };
  return { root, paint };
}

/** A row a generator, the best without noise first. */
class ScoreTable {
  constructor() {
    this.head = el("tr");
    this.body = el("tbody");
    this.table = el("table", { class: "nbm-figures", "aria-label": "Scores" }, [
      el("thead", {}, [this.head]),
      this.body,
    ]);
  }

  /** @param {AbortSignal} signal */
  root(signal) {
    return scroller("Scores", this.table, signal);
  }

  /** @param {Study} study @param {Scene} scene @param {Numbers} numbers */
  paint(study, scene, { order, exact, shown, places, first, drawn }) {
    const heads = [
      "Generator",
      `${scoreName(study, scene)}, exact`,
      `run ${scene.run}`,
      "place",
      `first, of ${drawn.length}`,
    ];
    resizeChildren(this.head, heads.length, () => el("th", { scope: "col" })).forEach((node, k) =>
      setText(node, heads[k]),
    );
    setAttributes(this.table, { "data-rev": scene.rev });
    const rows = resizeChildren(this.body, order.length, () => {
      const name = el("th", { scope: "row" }, [markOf(0), el("span")]);
      return el("tr", {}, [name, ...heads.slice(1).map(() => el("td"))]);
    });
    order.forEach((g, row) => {
      const [name, ...cells] = rows[row].children;
      setMark(name.children[0], g);
      setText(name.children[1], study.generators[g]);
      const moved = places[g] === row + 1 ? "" : places[g] < row + 1 ? " ▲" : " ▼";
      const texts = [figure(exact[g]), figure(shown[g]), `${ordinal(places[g])}${moved}`, String(first[g])];
      cells.forEach((cell, k) => {
        setText(cell, texts[k]);
        setAttributes(cell, { "data-value": [exact[g], shown[g], places[g], first[g]][k] });
      });
    });
  }
}

/** A preset is an ε: how one looks at the study stays. */
class PrivacyToolbar extends Toolbar {
  get isChanged() {
    const { scene } = this.store;
    const start = this.startOf(scene.preset);
    return start !== undefined && start.epsilon !== /** @type {any} */ (scene).epsilon;
  }

  /** @param {string} name @param {"presets" | "history"} what */
  load(name, what) {
    const start = this.startOf(name);
    if (what === "history" || !start) return super.load(name, what);
    this.store.open(/** @type {any} */ ({ ...this.store.scene, preset: start.preset, epsilon: start.epsilon }), what);
  }
}

/** @param {any} python @param {Numbers} own */
function compared(python, own) {
  const fields = /** @type {(keyof Numbers)[]} */ (["exact", "shown", "places", "first"]);
  const pairs = fields.flatMap((field) => {
    const [theirs, ours] = [python[field], /** @type {number[]} */ (own[field])];
    return ours.map((value, k) => /** @type {[number, number]} */ ([theirs[k], value]));
  });
  return agreement(pairs);
}

/** @param {Study} study @param {Scene} scene */
function keptRows(study, scene) {
  const { m } = placesOf(study, scene);
  const heads = [
    "ε",
    ...AGGREGATES.flatMap((part) => [
      `${part}: first, of ${study.drawn[0].length}`,
      `${part}: chance, 95\u00a0% interval`,
      `${part}: if reversed`,
      `${part}: its 95\u00a0% interval`,
      `${part}: survives`,
    ]),
  ];
  const percent = (/** @type {number} */ share) => Math.round(100 * share);
  const rows = study.epsilons.map((epsilon, e) => [
    epsilonText(epsilon),
    ...AGGREGATES.flatMap((_, p) => {
      const pair = study.pairs[e][m][p];
      return [
        String(pair.kept),
        `${percent(pair.low)}–${percent(pair.high)} %`,
        String(pair.kept_if_reversed),
        `${percent(pair.reversed_low)}–${percent(pair.reversed_high)} %`,
        pair.survives ? "yes" : "no: noise decides",
      ];
    }),
  ]);
  return { heads, rows };
}
