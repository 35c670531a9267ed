/**
 * The Dashboard in three levels: the verdict, the leaderboard with its crossing lines and the weights that everything
 * follows; a tab below for who pays, how firm, a mixture and costs; a cell.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Numbers, Scene } from "./types.js"
 */
import { el, setAttributes } from "../../toolkit/view/dom.js";
import { read } from "../../toolkit/view/json_numbers.js";
import { lab } from "../../toolkit/view/lab.js";
import { codeOf, declare, openingOf } from "../../toolkit/view/schema.js";
import { agreement, Toolbar } from "../../toolkit/view/toolbar.js";
import { SaveView } from "../../toolkit/view/view_export.js";
import declaration from "../scene.json" with { type: "json" };
import { Costs } from "./costs.js";
import { BoardStore, refusal } from "./dashboard_store.js";
import { Candidates, Progress } from "./generator_menu.js";
import { Headline } from "./headline.js";
import { HeatMap } from "./heat_map.js";
import { Leaderboard } from "./leaderboard.js";
import { Levels } from "./levels.js";
import { numbersOf } from "./metric_view.js";
import { Regroup, sameClients } from "./regroup.js";
import { viewPictures } from "./view_pictures.js";
import { Weights } from "./weights.js";

// Milliseconds in which nothing moved.
const PAUSE_MS = 120;

const declared = declare(declaration);

export default lab("Dashboard", numbersOf, dashboardView, {
  traits: [
    "board",
    "progress",
    "draws",
    "result",
    "details",
    "mixture",
    "disagreement",
    "race",
    "namespace",
    "strips",
    "clients_strip",
  ],
  kind: BoardStore,
  declared,
  refusal,
});

/** @param {BoardStore} store @param {AbortSignal} signal */
function dashboardView(store, signal) {
  const parts = {
    regroup: new Regroup(store, signal),
    progress: new Progress(store, signal),
    costs: new Costs(store, signal),
  };
  const { regroup, progress, costs } = parts;
  let shown = new Views(store, signal, parts);
  const metric = el("select", { "aria-label": "Metric" });
  for (const { name, label } of store.model.get("board").metrics ?? [])
    metric.append(el("option", { value: name }, [label]));
  const look = () => store.edit(/** @type {any} */ ({ ...store.scene, metric: metric.value }), "");
  metric.addEventListener("change", look, { signal });
  const toolbar = new BoardToolbar(store, signal, {
    choices: [metric],
    code: (scene) => codeOf(declared, scene, { making: store.model.get("board").code }),
    opening: (text) => openingOf(store.model.get("board").code, text),
    table: (isFull) => {
      shown.leaderboard.isFull = isFull;
      store.changed();
    },
    picture: () => shown.leaderboard.picture(),
    chooser: (share) => new SaveView(share, () => viewPictures(store, shown.leaderboard, shown.heat)),
    compared: (result) => (store.isAtHand ? maxDifference(result, store) : ""),
  });
  const candidates = new Candidates(store, signal, toolbar);
  const { preset } = toolbar; // presets are weights here
  shown.weights.heading.append(preset);
  const body = el("div", { class: "nbm-dashboard" }, shown.cards);
  const paint = () => {
    const scene = /** @type {Scene} */ (/** @type {any} */ (store.scene));
    metric.value = scene.metric;
    progress.paint();
    costs.paint();
    candidates.paint(scene);
    toolbar.paint(scene);
    setAttributes(body, { "aria-busy": store.isAtHand ? "false" : "true" });
    if (!store.isAtHand) return; // Python tells of the other clients in a moment
    if (!sameClients(shown, scene)) {
      const kept = [regroup.root, preset].some((node) => node.contains(document.activeElement));
      const focused = kept && document.activeElement;
      const last = shown;
      shown = new Views(store, signal, parts);
      shown.weights.heading.append(preset);
      shown.replace(last, body);
      if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
    }
    shown.paint(scene, /** @type {Numbers} */ (/** @type {any} */ (store.numbers)), Boolean(store.before));
    regroup.paint();
  };
  return {
    nodes: [shown.headline.root, toolbar.root, body, toolbar.status, toolbar.fold, toolbar.codeFold],
    paint,
  };
}

/**
 * What shows the clients at hand, and is made anew for others. In a drag the verdict, the numbers by avg and all, the
 * order and the weight that is dragged follow in every frame; the rest takes turns of two frames, and follows in
 * a pause.
 */
class Views {
  /** @param {BoardStore} store @param {AbortSignal} signal @param {{regroup: Regroup, progress: Progress, costs: Costs}} parts that stay */
  constructor(store, signal, { regroup, progress, costs }) {
    this.regroup = /** @type {Scene} */ (/** @type {any} */ (store.scene)).regroup;
    this.ending = new AbortController();
    signal.addEventListener("abort", () => this.ending.abort(), { signal: this.ending.signal });
    const own = this.ending.signal;
    this.headline = new Headline(store, own, progress);
    this.leaderboard = new Leaderboard(store, own);
    this.heat = new HeatMap(store, own);
    this.weights = new Weights(store, own);
    this.levels = new Levels(store, own, { headline: this.headline, heat: this.heat, costs });
    this.turn = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.rest = undefined;
    own.addEventListener("abort", () => clearTimeout(this.rest));
    this.cards = [this.leaderboard.root, this.weights.root, this.levels.root];
    this.weights.tools.append(regroup.root);
  }

  /** @param {Views} last @param {HTMLElement} body */
  replace(last, body) {
    last.ending.abort();
    this.leaderboard.isFull = last.leaderboard.isFull;
    this.levels.now = last.levels.now;
    for (const name of /** @type {const} */ (["isOpen", "isDetailed"])) this.weights[name] = last.weights[name];
    this.weights.fold.open = last.weights.fold.open;
    last.headline.root.replaceWith(this.headline.root);
    body.replaceChildren(...this.cards);
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paintOther(scene, numbers) {
    this.leaderboard.paintWorst(scene, numbers);
    this.levels.paint(scene, numbers);
  }

  /** @param {Scene} scene @param {Numbers} numbers @param {boolean} isDragged */
  paint(scene, numbers, isDragged) {
    const turns = [() => this.leaderboard.paintRibbon(scene, numbers), () => this.paintOther(scene, numbers)];
    const paintAll = (/** @type {number | undefined} */ turn = undefined) => {
      this.headline.paint(scene, numbers);
      for (const part of [this.leaderboard, this.weights]) part.paint(scene, numbers, turn);
      for (const paint of turn === undefined ? turns : [turns[turn % turns.length]]) paint();
    };
    clearTimeout(this.rest);
    if (!isDragged) return paintAll();
    this.turn += 1;
    paintAll(this.turn);
    this.rest = setTimeout(() => paintAll(), PAUSE_MS);
  }
}

/** A preset is weights and generators: how one looks at them changes none. */
class BoardToolbar extends Toolbar {
  get isChanged() {
    const { scene } = /** @type {{scene: any}} */ (this.store);
    const start = this.startOf(scene.preset);
    const parts = (/** @type {any} */ { weights, generators }) => JSON.stringify([weights, generators]);
    return start !== undefined && parts(start) !== parts(scene);
  }
}

/** @param {any} result @param {Store} store */
function maxDifference({ avg = {} }, store) {
  const { averages } = /** @type {Numbers} */ (/** @type {any} */ (store.numbers));
  const { generators } = /** @type {any} */ (store.scene);
  const pairs = Object.entries(avg).flatMap(([name, scores]) =>
    generators.map((/** @type {string} */ generator, /** @type {number} */ g) => [
      read(scores[generator]),
      averages[name][g],
    ]),
  );
  const isKnown = (/** @type {any} */ [python, own]) =>
    own !== null && (Number.isFinite(python) || Number.isFinite(own));
  return agreement(pairs.filter(isKnown));
}
