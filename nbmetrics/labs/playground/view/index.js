/**
 * The Playground: a headline of what avg and all say, the plane with clients and generators, the board of scores, and
 * the panel of items.
 *
 * @import { Aggregates, Model, Scene } from "../../toolkit/view/types.js"
 */

import { ItemMenu } from "../../plane/view/add_menu.js";
import { dataOf } from "../../plane/view/distributions.js";
import { Panel } from "../../plane/view/item_list.js";
import { numbersOf } from "../../plane/view/scores.js";
import { Stage } from "../../plane/view/stage.js";
import { el, setText, watchSize } from "../../toolkit/view/dom.js";
import { lab } from "../../toolkit/view/lab.js";
import { markOf } from "../../toolkit/view/marks.js";
import { agreement, Toolbar } from "../../toolkit/view/toolbar.js";
import { BestByEach, showsBestIn } from "./best_generators.js";
import { Explore } from "./explore.js";
import { Goals } from "./goals.js";
import { Ghost } from "./guess_outline.js";
import { Headline } from "./headline.js";
import { WideWords, wideNumbers, wideStatus } from "./high_dimensional.js";
import { LessonCard } from "./lesson_card.js";
import { CHARTED, chartedOf } from "./metrics.js";
import { Owners } from "./owners.js";
import { Ribbon } from "./ranks.js";
import { refusal } from "./refusal.js";
import { declared, playgroundCode, whyLessonsRefused } from "./scene.js";
import { Links, sumOf } from "./score_links.js";
import { Board } from "./score_table.js";
import { PlaygroundStore } from "./store.js";

/** @param {Scene} scene @param {Model} model */
const compute = (scene, model) => (scene.plane ? wideNumbers(scene, model) : numbersOf(scene, dataOf(model)));

export default lab("Playground", compute, playgroundView, {
  kind: PlaygroundStore,
  traits: ["data", "namespace"],
  declared,
  refusal,
  stateRefusal: (model) => whyLessonsRefused(model.get("lessons") ?? {}),
});

// What stands under the ranks while no score is explained. With FID, outlines say all that it sees of a distribution.
const ASK = "avg: the mean of the clients’ own scores. all: one score against the pooled clients.";
const WHY =
  "avg: the mean of the scores against each client. all: one score against the dashed ellipse of all clients. Lower is better.";
const BEST = "Dotted: best by avg, the clients’ mean shape. Dashed: best by all, wider, because the clients lie apart.";

// Where the lab is as wide, its charts have room from the beginning.
const ROOMY_PIXELS = 1240;

/** @param {PlaygroundStore} store @param {AbortSignal} signal */
function playgroundView(store, signal) {
  const stage = new Stage(store, signal);
  const links = new Links(store, stage);
  const best = new BestByEach(store, stage);
  const owners = new Owners(store, stage, signal);
  const headline = new Headline(store, signal);
  const ribbon = new Ribbon(store, signal);
  const sum = el("p", { class: "nbm-sumline" });
  const ghost = new Ghost(stage, store);
  const board = new Board(store, signal);
  const explore = new Explore(store, signal, headline.switches);
  const panel = new Panel(store, signal);
  const card = new LessonCard(store, () => explore.showSweep(), signal);
  const goals = new Goals(store, () => card.open(Object.keys(card.lessons)[0] ?? ""), signal);
  const key = legend();
  const wide = new WideWords(store, /** @type {Element} */ (key.lastElementChild));
  board.root.prepend(wide.table);
  board.words.after(wide.cautions);
  const toolbar = new Toolbar(store, signal, {
    choices: [card.select],
    starts: () => card.starts,
    code: playgroundCode,
    table: (shown) => {
      panel.showNumbers(shown);
      ribbon.isFull = shown;
      explore.showNumbers(shown);
    },
    picture: () => ({
      drawing: stage.root,
      legend: key,
      words: [headline.words, ...board.words.children],
      table: board.table,
    }),
    compared: (result) =>
      store.scene.plane ? wideStatus(store.scene, result) : agreement(pairsOf(store, result.scores)),
  });
  const items = new ItemMenu(store, signal, toolbar, true, (kind) => whyNotAdded(store.scene, kind));
  let width = 0;
  const hero = el("div", { class: "nbm-hero" }, [ribbon.root, sum, owners.root]);
  const plane = el("div", { class: "nbm-plane" }, [goals.root, stage.root, key, wide.picture]);
  const more = el("p", { class: "nbm-more" }, ["Scores and weights"]);
  const columns = el("div", { class: "nbm-columns" }, [plane, hero, explore.root, more, board.root, panel.root]);
  watchSize(columns, signal, (size) => {
    if (width === 0 && size.width >= ROOMY_PIXELS) explore.root.open = true;
    width = size.width;
    store.changed();
  });
  const paint = () => {
    headline.paint(store.scene, width);
    ghost.paint(store.scene); // and the plane with it
    links.paint(store.scene);
    best.paint(store.scene);
    owners.paint(store.scene);
    ribbon.paint(store.scene);
    setText(sum, sumOf(store, store.scene) || hintOf(store));
    board.paint(store.scene, store.numbers);
    explore.paint(store.scene);
    panel.paint(store.scene);
    items.paint(store.scene);
    toolbar.paint(store.scene);
    card.paint(store.scene, store.numbers);
    goals.paint(store.scene);
    wide.paint(store.scene);
  };
  // Where no other lesson can be chosen, the question comes first.
  const top = store.isLocked("presets") ? [card.root, toolbar.root] : [toolbar.root, card.root];
  return { nodes: [...top, headline.root, columns, toolbar.status, toolbar.fold, toolbar.codeFold], paint };
}

/** Why a kind of generator cannot be added, or "". @param {Scene} scene @param {string} [kind] */
function whyNotAdded({ view }, kind) {
  const { label, weighs } = CHARTED[view?.metric ?? "fid"];
  return kind === "by_client" && !weighs ? `${label} has no avg and all of one; choose FID or KID first` : "";
}

/** @param {PlaygroundStore} store */
function hintOf(store) {
  const { scene } = store;
  if (showsBestIn(store)) return BEST;
  const isPlain = chartedOf(store).metric === "fid" && !scene.plane && !scene.lesson && scene.clients.length > 1;
  return isPlain ? WHY : ASK;
}

/**
 * Python's scores beside the page's, of every metric that both have.
 * @param {PlaygroundStore} store @param {Record<string, Aggregates>} scores
 * @returns {[number, number][]}
 */
function pairsOf({ numbers }, scores) {
  const both = Object.keys(numbers).filter((metric) => metric in scores);
  const parts = /** @type {const} */ (["avg", "all", "intra"]);
  const places = both.flatMap((m) => parts.map((part) => [scores[m][part], numbers[m][part]]));
  return places.flatMap(([python, page]) =>
    python && page ? python.map((value, g) => /** @type {[number, number]} */ ([value, page[g]])) : [],
  );
}

function legend() {
  const entry = (/** @type {string} */ mark, /** @type {string} */ text, /** @type {string} */ title) =>
    el("span", { title }, [el("span", { class: mark }), text]);
  return el("div", { class: "nbm-legend" }, [
    entry("nbm-swatch", "client", "Someone who has real data, such as a hospital"),
    el("span", { title: "A model that makes data like the real data" }, [markOf(0), "generator"]),
    entry("nbm-dash", "all clients, pooled", "The data of all clients together, each client with its weight"),
    el("span", {}, ["Ellipses: 1σ and 2σ. Drag, or Tab and arrow keys."]),
  ]);
}
