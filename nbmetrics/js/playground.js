/**
 * The Playground: one store for all displays of a lab, one frame loop for each display.
 *
 * @import { Model } from "./types.js"
 */
import { Board } from "./board.js";
import { el, framed } from "./dom.js";
import { Panel } from "./panel.js";
import { savePicture } from "./picture.js";
import { Stage } from "./stage.js";
import { Store } from "./store.js";
import { Toolbar } from "./toolbar.js";

export default function playground() {
  /** @type {Store} */
  let store;
  return {
    /** @param {{model: Model, signal?: AbortSignal}} context */
    initialize({ model, signal }) {
      store = new Store(model, signal);
    },
    /** @param {{model: Model, el: HTMLElement, signal: AbortSignal}} context */
    render({ el: host, signal }) {
      host.append(playgroundView(store, signal));
    },
  };
}

/** @param {Store} store @param {AbortSignal} signal */
function playgroundView(store, signal) {
  const stage = new Stage(store, signal);
  const board = new Board(store, signal);
  const panel = new Panel(store, signal);
  const describe = () => `Playground: ${[...store.scene.clients, ...store.scene.generators].map((i) => i.name).join(", ")}`;
  const toolbar = new Toolbar(store, signal, {
    table: (shown) => panel.showNumbers(shown),
    picture: () => void savePicture(stage.root, describe(), "playground.png").catch(() => store.say("The picture could not be made.")),
  });
  const root = el("div", { class: "nbm", role: "group", "aria-label": "Playground", "data-lm-suppress-shortcuts": "true" }, [
    toolbar.root,
    el("div", { class: "nbm-columns" }, [el("div", { class: "nbm-plane" }, [stage.root, legend()]), board.root, panel.root]),
    toolbar.status, toolbar.fold, toolbar.codeFold,
  ]);
  root.addEventListener("keydown", (event) => undoKeys(event, store), { signal });
  const paint = framed(() => {
    stage.paint(store.scene);
    board.paint(store.scene, store.numbers);
    panel.paint(store.scene);
    toolbar.paint(store.scene);
  }, signal);
  store.subscribe(paint, signal);
  paint();
  return root;
}

function legend() {
  const entry = (/** @type {string} */ mark, /** @type {string} */ text) => el("span", {}, [el("span", { class: mark }), text]);
  return el("div", { class: "nbm-legend" }, [
    entry("nbm-swatch", "client"),
    entry("nbm-swatch nbm-diamond", "generator"),
    entry("nbm-dash", "pooled clients, 1σ"),
    el("span", {}, ["Ellipses: 1σ and 2σ. Drag, or Tab and arrow keys."]),
  ]);
}

/** @param {KeyboardEvent} event @param {Store} store */
function undoKeys(event, store) {
  event.stopPropagation();
  const isText = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
  if (isText || !(event.ctrlKey || event.metaKey)) return;
  const key = event.key.toLowerCase();
  if (key !== "z" && key !== "y") return;
  event.preventDefault();
  if (key === "y" || event.shiftKey) store.redo();
  else store.undo();
}
