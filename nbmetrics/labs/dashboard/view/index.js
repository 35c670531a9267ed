/**
 * The Dashboard: the verdict, the leaderboard, clients and generators, and the weights that everything follows.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Numbers, Scene } from "./types.js"
 */
import { el } from "../../toolkit/view/dom.js";
import { lab } from "../../toolkit/view/lab.js";
import { SaveView } from "../../toolkit/view/saveview.js";
import { agreement, Toolbar } from "../../toolkit/view/toolbar.js";
import { Candidates } from "./candidates.js";
import { dashboardCode, openingCode } from "./code.js";
import { Decisions } from "./decisioncards.js";
import { Headline } from "./headline.js";
import { HeatMap } from "./heat.js";
import { Leaderboard } from "./leaderboard.js";
import { numbersOf } from "./numbers.js";
import { Progress } from "./progress.js";
import { whySceneRefused } from "./shape.js";
import { viewPictures } from "./viewpictures.js";
import { Weights } from "./weights.js";
import { read } from "./written.js";

export default lab("Dashboard", numbersOf, dashboardView, {
  traits: ["board", "draws", "result", "details", "mixture", "namespace", "strips"],
  refusal: whySceneRefused,
});

/** @param {Store} store @param {AbortSignal} signal */
function dashboardView(store, signal) {
  const headline = new Headline(store, signal);
  const leaderboard = new Leaderboard(store, signal);
  const heat = new HeatMap(store, signal);
  const weights = new Weights(store, signal);
  const decisions = new Decisions(store, signal);
  const metric = el("select", { "aria-label": "Metric" });
  for (const { name, label } of store.model.get("board").metrics ?? [])
    metric.append(el("option", { value: name }, [label]));
  const look = () => store.edit(/** @type {any} */ ({ ...store.scene, metric: metric.value }), "");
  metric.addEventListener("change", look, { signal });
  const toolbar = new BoardToolbar(store, signal, {
    choices: [metric],
    code: (scene) => dashboardCode(scene, store.model.get("board")),
    opening: (text) => openingCode(text, store.model.get("board")),
    table: (shown) => {
      leaderboard.isFull = shown;
      store.changed();
    },
    picture: () => leaderboard.picture(),
    chooser: (share) => new SaveView(share, () => viewPictures(store, leaderboard, heat)),
    compared: (result) => compared(result, store),
  });
  const candidates = new Candidates(store, signal, toolbar);
  const progress = new Progress(store, signal);
  const body = el("div", { class: "nbm-dashboard" }, [leaderboard.root, weights.root, heat.root, decisions.root]);
  const parts = [headline, progress, leaderboard, heat, weights, decisions, candidates];
  const paint = () => {
    const scene = /** @type {Scene} */ (/** @type {any} */ (store.scene));
    const numbers = /** @type {Numbers} */ (/** @type {any} */ (store.numbers));
    metric.value = scene.metric;
    for (const part of parts) part.paint(scene, numbers);
    toolbar.paint(scene);
  };
  return {
    nodes: [headline.root, progress.root, toolbar.root, body, toolbar.status, toolbar.fold, toolbar.codeFold],
    paint,
  };
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
function compared({ avg = {} }, store) {
  const { metrics } = /** @type {Numbers} */ (/** @type {any} */ (store.numbers));
  const { generators } = /** @type {any} */ (store.scene);
  const pairs = Object.entries(avg).flatMap(([name, scores]) =>
    generators.map((/** @type {string} */ generator, /** @type {number} */ g) => [
      read(scores[generator]),
      metrics[name].avg[g],
    ]),
  );
  return agreement(pairs.filter(([python, own]) => Number.isFinite(python) || Number.isFinite(own)));
}
