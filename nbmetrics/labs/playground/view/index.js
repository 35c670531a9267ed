/**
 * The Playground: the plane with clients and generators, the board of scores, and the panel of items.
 *
 * @import { Model, Scene } from "../../toolkit/view/types.js"
 */

import { codeOf } from "../../plane/view/edits.js";
import { ItemButtons } from "../../plane/view/items.js";
import { dataOf } from "../../plane/view/laws.js";
import { Panel } from "../../plane/view/panel.js";
import { numbersOf } from "../../plane/view/scores.js";
import { Stage } from "../../plane/view/stage.js";
import { PlaneStore } from "../../plane/view/store.js";
import { el } from "../../toolkit/view/dom.js";
import { lab } from "../../toolkit/view/lab.js";
import { savePicture } from "../../toolkit/view/picture.js";
import { agreement, Toolbar } from "../../toolkit/view/toolbar.js";
import { Board } from "./board.js";
import { Explore } from "./explore.js";
import { LessonCard } from "./lessoncard.js";
import { WideWords, wideNumbers, wideStatus } from "./wide.js";

/** @param {Scene} scene @param {Model} model */
const compute = (scene, model) => (scene.plane ? wideNumbers(scene, model) : numbersOf(scene, dataOf(model)));

export default lab("Playground", compute, playgroundView, {
  kind: PlaneStore,
  traits: ["data", "namespace"],
});

/** @param {PlaneStore} store @param {AbortSignal} signal */
function playgroundView(store, signal) {
  const stage = new Stage(store, signal);
  const board = new Board(store, signal);
  const explore = new Explore(store, signal);
  const panel = new Panel(store, signal);
  const items = new ItemButtons(store, signal);
  const card = new LessonCard(store, signal);
  const key = legend();
  const wide = new WideWords(store, /** @type {Element} */ (key.lastElementChild));
  board.root.prepend(wide.table);
  board.words.after(wide.cautions);
  const describe = () =>
    `Playground: ${[...store.scene.clients, ...store.scene.generators].map((i) => i.name).join(", ")}`;
  const toolbar = new Toolbar(store, signal, {
    own: items.nodes,
    starts: () => card.starts,
    code: codeOf,
    table: (shown) => {
      panel.showNumbers(shown);
      explore.showNumbers(shown);
    },
    picture: () =>
      void savePicture(stage.root, describe(), "playground.png").catch(() =>
        store.say("The picture could not be made."),
      ),
    compared: (result) =>
      store.scene.plane ? wideStatus(store.scene, result) : agreement(pairsOf(store, result.scores)),
  });
  toolbar.preset.after(card.select);
  const paint = () => {
    stage.paint(store.scene);
    board.paint(store.scene, store.numbers);
    explore.paint(store.scene);
    panel.paint(store.scene);
    items.paint(store.scene);
    toolbar.paint(store.scene);
    card.paint(store.scene, store.numbers);
    wide.paint(store.scene);
  };
  const columns = [
    el("div", { class: "nbm-plane" }, [stage.root, key, wide.picture]),
    board.root,
    explore.root,
    panel.root,
  ];
  return {
    nodes: [
      toolbar.root,
      card.root,
      el("div", { class: "nbm-columns" }, columns),
      toolbar.status,
      toolbar.fold,
      toolbar.codeFold,
    ],
    paint,
  };
}

/**
 * Python's scores beside the page's, of every metric that both have.
 * @param {PlaneStore} store @param {Record<string, {avg: number[], all: number[]}>} scores
 * @returns {[number, number][]}
 */
function pairsOf({ numbers }, scores) {
  const both = Object.keys(numbers).filter((metric) => metric in scores);
  const places = both.flatMap((m) => /** @type {const} */ (["avg", "all"]).map((a) => /** @type {const} */ ([m, a])));
  return places.flatMap(([m, a]) =>
    scores[m][a].map((value, g) => /** @type {[number, number]} */ ([value, numbers[m][a][g]])),
  );
}

function legend() {
  const entry = (/** @type {string} */ mark, /** @type {string} */ text) =>
    el("span", {}, [el("span", { class: mark }), text]);
  return el("div", { class: "nbm-legend" }, [
    entry("nbm-swatch", "client"),
    entry("nbm-swatch nbm-diamond", "generator"),
    entry("nbm-dash", "pooled clients, 1σ"),
    el("span", {}, ["Ellipses: 1σ and 2σ. Drag, or Tab and arrow keys."]),
  ]);
}
