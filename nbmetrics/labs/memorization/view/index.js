/**
 * MemorizationLab: watch a generator copy its training set, and see which metric notices. The picture follows the
 * sliders in every frame; the metrics are Python's, and fade while they are behind.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 */
import { NumberTable } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText, watchSize } from "../../toolkit/view/dom.js";
import { lab } from "../../toolkit/view/lab.js";
import { codeOf, declare } from "../../toolkit/view/schema.js";
import { Tabs } from "../../toolkit/view/tabs.js";
import { Toolbar } from "../../toolkit/view/toolbar.js";
import declaration from "../scene.json" with { type: "json" };
import { MemoCards } from "./cards.js";
import { MemoCurve } from "./curve.js";
import { MemoHeat } from "./heat_maps.js";
import { MemoItems } from "./items.js";
import { MemoLayers } from "./legend.js";
import { fitsBase, KNOB_NAMES, templateOf } from "./maths.js";
import { MemoPlane } from "./plane.js";
import { cardsTable, chosenWords, headlineWords, picturedWords, pointsTable } from "./sentences.js";
import { MemoSliders } from "./sliders.js";
import { MemoState } from "./state.js";

const PANELS = { cards: "Cards", curve: "Curve", items: "Items", interactions: "Interactions" };
// On rows of one's own there is nothing to sweep.
const OWN_PANELS = ["cards", "items"];
const QUESTIONS = {
  made: ["Drag “Share copied” to the right.", "Which metric notices first?"],
  saved: ["Which metrics notice?", "Choose a preset. The picture also follows the sliders; new numbers need Python."],
  own: ["Is your generator memorizing?", "Look at the cards, then at the items most like a training row."],
};

const CHOOSE = {
  seen: "click it, or Tab to the picture and use the arrow keys",
  hidden: "switch on “other generated”, or Tab to the picture and use the arrow keys",
};

const declared = declare(declaration);

export default lab("MemorizationLab", () => ({}), memoView, { declared, complete, refusal });

/** A scene without a selected point that is not there. @param {any} scene */
function complete(scene) {
  return scene.selected !== null && scene.selected >= scene.points ? { ...scene, selected: null } : scene;
}

/** A page without Python holds the points of one scene, and shows them alone. @param {any} scene @param {import("../../toolkit/view/types.js").Model} model @returns {string} "" where it is shown */
function refusal(scene, model) {
  const now = model.get("scene");
  const isOwn = scene.data === "own";
  if (isOwn !== (now.data === "own") || !fitsBase(model.get("base"), scene))
    return "it is about points that this page does not contain";
  const isOther = ["points", "seed", ...KNOB_NAMES].some((name) => scene[name] !== now[name]);
  return isOwn && isOther ? "the rows of this page are shown as they are" : "";
}

/** @param {Store} store @param {AbortSignal} signal */
function memoView(store, signal) {
  const state = new MemoState(store, signal);
  const layers = new MemoLayers(state, signal);
  const plane = new MemoPlane(state, layers, signal);
  const sliders = new MemoSliders(state, signal);
  const panels = new MemoPanels(state, signal);
  const headline = el("p", { class: "nbm-memo-headline", role: "heading", "aria-level": "2" });
  const question = el("p", { class: "nbm-memo-question" }, [el("strong"), " ", el("span")]);
  const chosen = el("p", { class: "nbm-memo-chosenwords", "aria-live": "polite" });
  const invitation = el("p");
  const points = new NumberTable("Generated points");
  const about = el("p", { class: "nbm-note" });
  let isFull = false;
  const toolbar = new Toolbar(store, signal, {
    code: (scene) => codeOf(declared, scene, {}, templateOf(scene, state.hasItems)),
    table: (shown) => {
      isFull = shown;
      store.changed();
    },
    picture: () => ({
      ...plane.pictured(),
      legend: layers.root,
      words: picturedWords(state),
      table: cardsTable(state),
    }),
    compared: ({ seconds, doing }) =>
      doing
        ? "Python computes these cards …"
        : `Python computed these cards${seconds > 1e-3 ? ` in ${Math.round(1000 * seconds)} ms` : ""}.`,
    waiting: "The picture follows in this page; the cards wait for Python, which is busy or unreachable.",
    lost: "The picture follows in this page. For new cards, run the cell again.",
  });
  const top = el("div", { class: "nbm-memo-top" }, [sliders.first.root, plane.box, layers.root, chosen]);
  const below = el("details", { class: "nbm-fold nbm-memo-below" }, [
    el("summary", {}, ["More sliders and details"]),
    invitation,
    sliders.root,
    panels.cards.note,
    about,
  ]);
  const body = el("div", { class: "nbm-memo" }, [top, panels.root, below]);
  const paint = () => {
    state.note();
    const { scene } = state;
    QUESTIONS[state.isOwn ? "own" : store.saved && !state.sweepOfCopies ? "saved" : "made"].forEach((text, k) =>
      setText(question.children[k], text),
    );
    setText(headline, headlineWords(state));
    sliders.paint(scene);
    plane.paint();
    layers.paint(!store.saved || plane.knowsBumps);
    const words = chosenWords(state);
    const isSeen = layers.shows("others") || (layers.shows("copies") && state.generated.copies > 0);
    setText(chosen, words);
    setText(invitation, `Choose a generated point: ${CHOOSE[isSeen ? "seen" : "hidden"]}.`);
    plane.tell(words || "none chosen");
    setText(about, state.base.about ?? "");
    about.hidden = !state.base.about || !state.base.projected;
    panels.paint(isFull);
    points.paint(isFull, () => pointsTable(state));
    toolbar.paint(scene);
    if (store.saved) closeStarts(state, toolbar);
  };
  return {
    nodes: [headline, question, toolbar.root, body, points.root, toolbar.status, toolbar.fold, toolbar.codeFold],
    paint,
  };
}

/** On a saved page: no way to scenes whose points it does not hold. @param {MemoState} state @param {Toolbar} toolbar */
function closeStarts({ base, scene }, { preset, presets, reset }) {
  const isHeld = (/** @type {any} */ start) => fitsBase(base, start);
  for (const option of preset.options) {
    if (!(option.value in presets)) continue;
    option.disabled = !isHeld(presets[option.value]);
    if (option.disabled) setAttributes(option, { title: "Its points need Python" });
  }
  const [first] = Object.values(presets);
  if (!isHeld(presets[scene.preset] ?? first)) reset.hidden = true;
}

/** What is seen beside the picture, one at a time. */
class MemoPanels {
  /** @param {MemoState} state @param {AbortSignal} signal */
  constructor(state, signal) {
    this.state = state;
    this.width = 420;
    this.cards = new MemoCards(state, signal);
    this.curve = new MemoCurve(state, signal);
    this.items = new MemoItems(state, signal);
    this.heat = new MemoHeat(state, signal);
    const roots = {
      cards: this.cards.root,
      curve: this.curve.root,
      items: this.items.root,
      interactions: this.heat.root,
    };
    const choice = {
      now: () => state.scene.view.panel,
      choose: (/** @type {string} */ panel) => state.view({ panel }),
      offered: () => (state.isOwn ? OWN_PANELS : Object.keys(PANELS)),
    };
    this.tabs = new Tabs("What the metrics say", PANELS, roots, choice, signal);
    this.shownPanel = "cards";
    this.views = el("details", { class: "nbm-fold" }, [el("summary", {}, ["Other views"]), this.tabs.list]);
    this.views.open = state.isOwn;
    this.root = el("div", { class: "nbm-memo-right" }, [this.views, ...this.tabs.panels]);
    watchSize(this.root, signal, ({ width }) => {
      if (width > 0) this.width = Math.round(width);
      state.store.changed();
    });
  }

  /** @param {boolean} isFull */
  paint(isFull) {
    const panel = this.tabs.paint();
    if (panel !== this.shownPanel && panel !== "cards") this.views.open = true;
    this.shownPanel = panel;
    this.cards.paintNote();
    if (panel === "cards") this.cards.paint(isFull);
    if (panel === "curve") this.curve.paint(this.width, isFull);
    if (panel === "items") this.items.paint();
    if (panel === "interactions") this.heat.paint();
  }
}
