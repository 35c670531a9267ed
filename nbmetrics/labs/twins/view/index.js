/**
 * TwinsLab: two generators that every client scores alike and FID-all tells apart. Where there is a closed form the twin
 * follows every frame of a drag; elsewhere Python finds it once the clients lie still, and the last one fades till then.
 *
 * @import { Shown } from "./board.js"
 * @import { Pair, TwinsScene } from "./maths.js"
 */

import types from "../../plane/items.json" with { type: "json" };
import { ItemMenu } from "../../plane/view/add_menu.js";
import { distributionOf } from "../../plane/view/distributions.js";
import { whyItemsRefused } from "../../plane/view/edits.js";
import { ellipseOf } from "../../plane/view/geometry.js";
import { Panel } from "../../plane/view/item_list.js";
import { PlaneStore } from "../../plane/view/store.js";
import { el, setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { lab } from "../../toolkit/view/lab.js";
import { figure } from "../../toolkit/view/numbers.js";
import { codeOf, declare } from "../../toolkit/view/schema.js";
import { agreement, Toolbar } from "../../toolkit/view/toolbar.js";
import declaration from "../scene.json" with { type: "json" };
import { pairWords, TwinsBoard } from "./board.js";
import { clientsKey, hasOneShape, planeStore, withSharing } from "./edits.js";
import { pairOf, pairScores } from "./maths.js";
import { TWIN_MARKS, TWIN_NAMES, TwinsStage } from "./stage.js";

/** What the reader sees, and in the title what it is. @type {Record<string, [string, string]>} */
const TABS = {
  corrected: ["Twins", "Proposition 1, corrected: nm.theory.twin"],
  printed: ["The papers’ formula", "Proposition 1 as printed: nm.theory.printed_twin"],
  published: ["The papers’ table", "FID of two generators of faces, as published"],
};

const declared = declare(declaration, types);

export default lab("TwinsLab", pairOf, twinsView, { kind: PlaneStore, declared, complete, refusal });

/** A scene in which it is said whether the clients share their shape. @param {any} scene */
function complete(scene) {
  return { shared: hasOneShape(scene.clients), ...scene };
}

/** @param {any} scene @returns {string} "" where it is shown */
function refusal(scene) {
  if (scene.shared && !hasOneShape(scene.clients)) return "the shapes of the clients differ";
  return whyItemsRefused(scene, {});
}

/** Python that rebuilds exactly this scene and makes its pair of generators. @param {any} scene */
export function twinsCode(scene) {
  const { shared, clients, construction } = scene;
  const tie = shared === hasOneShape(clients) ? "" : `, shared=${shared ? "True" : "False"}`;
  return codeOf(declared, scene, { tie }, construction);
}

/** @param {PlaneStore} store @param {AbortSignal} signal */
function twinsView(store, signal) {
  const plane = planeStore(store);
  const stage = new TwinsStage(plane, signal);
  const board = new TwinsBoard(store, signal);
  const panel = new Panel(plane, signal);
  setAttributes(panel.table, { "aria-label": "Clients" });
  const choices = new Choices(store, signal);
  const keeper = new Keeper(store);
  const second = el("span");
  const legend = twinsLegend(second);
  const toolbar = new Toolbar(store, signal, {
    code: twinsCode,
    table: (isShown) => {
      panel.showNumbers(isShown);
      board.distributionPart.hidden = !isShown;
      store.changed();
    },
    picture: () => {
      const isPublished = sceneOf(store).construction === "published";
      const drawn = isPublished ? { drawing: board.dots.root } : { drawing: stage.root, legend };
      return { ...drawn, words: [board.headline, board.why], table: board.table };
    },
    compared: (result) => comparedWords(store, keeper.now(), result),
  });
  const items = new ItemMenu(plane, signal, toolbar, false);
  const left = el("div", { class: "nbm-plane" }, [
    el("p", { class: "nbm-twin-hint" }, ["Drag a client: both generators follow."]),
    stage.root,
    legend,
  ]);
  const details = el("details", { class: "nbm-fold" }, [
    el("summary", {}, ["Why? And the papers’ versions"]),
    board.why,
    choices.root,
  ]);
  const side = el("div", { class: "nbm-twin-side" }, [board.dots.root, details]);
  const more = el("p", { class: "nbm-more" }, ["Scores and weights"]);
  const columns = el("div", { class: "nbm-columns nbm-twin-columns" }, [left, side, more, board.root, panel.root]);
  let shownConstruction = "corrected";
  const paint = () => {
    const scene = sceneOf(store);
    if (scene.construction !== shownConstruction && scene.construction !== "corrected") details.open = true;
    shownConstruction = scene.construction;
    const isPublished = scene.construction === "published";
    columns.classList.toggle("nbm-twin-published", isPublished);
    choices.paint(scene);
    setText(second, scene.construction === "printed" ? "second: by the papers’ formula" : "its twin");
    const latest = keeper.now();
    board.paint(scene.rev, isPublished ? publishedShown(store) : pairShown(store, latest));
    if (!isPublished) stage.paintTwins(plane.scene, latest.pair, latest.isBehind, secondName(scene));
    panel.paint(plane.scene);
    items.paint(plane.scene, !isPublished);
    toolbar.paint(scene);
  };
  return { nodes: [toolbar.root, board.headline, columns, toolbar.status, toolbar.fold, toolbar.codeFold], paint };
}

/** Which construction, and whether the clients share their shape. */
class Choices {
  /** @param {PlaneStore} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.tabs = Object.entries(TABS).map(([construction, [text, title]]) => {
      const node = el("button", { type: "button", title }, [text]);
      node.addEventListener("click", () => store.edit(/** @type {any} */ ({ ...store.scene, construction }), ""), {
        signal,
      });
      return node;
    });
    this.shared = el("input", { type: "checkbox", role: "switch" });
    this.shared.addEventListener(
      "change",
      () =>
        store.edit(/** @type {any} */ (withSharing(sceneOf(store), this.shared.checked, store.selected?.index ?? 0))),
      { signal },
    );
    const title = "Shared covariance: a change of one client’s width, height or angle changes all";
    this.label = el("label", { class: "nbm-twin-switch", title }, [this.shared, "One shape for all clients"]);
    const tabs = el("div", { class: "nbm-twin-tabs", role: "group", "aria-label": "Construction" }, this.tabs);
    this.root = el("div", { class: "nbm-twin-choices" }, [tabs, this.label]);
  }

  /** @param {TwinsScene} scene */
  paint({ construction, shared }) {
    Object.keys(TABS).forEach((name, i) =>
      setAttributes(this.tabs[i], { "aria-pressed": String(name === construction) }),
    );
    this.shared.checked = shared;
    this.label.hidden = construction === "published";
  }
}

/** The pair on show: in closed form, or as Python found it, or with the last twin while Python has not answered. */
class Keeper {
  /** @param {PlaneStore} store */
  constructor(store) {
    this.store = store;
    this.last = /** @type {Pair["second"]} */ (null);
    this.key = "";
    this.answer = /** @type {any} */ (null);
  }

  /** @returns {{pair: Pair, isBehind: boolean}} */
  now() {
    const pair = /** @type {Pair} */ (/** @type {any} */ (this.store.numbers));
    if (pair.how !== "search") {
      this.last = pair.second;
      return { pair, isBehind: false };
    }
    const { scene, model } = this.store;
    const key = clientsKey(scene.clients);
    const result = model.get("result");
    if (result.rev === scene.rev && !result.error && !result.trying) [this.key, this.answer] = [key, result];
    if (this.key !== key) return { pair: { ...pair, second: this.last }, isBehind: true };
    this.last = this.answer.second && distributionOf(this.answer.second);
    return { pair: { ...pair, second: this.last, reason: this.answer.reason }, isBehind: false };
  }
}

/** @param {PlaneStore} store @returns {TwinsScene} */
function sceneOf(store) {
  return /** @type {any} */ (store.scene);
}

/** @param {TwinsScene} scene */
function secondName({ construction }) {
  return construction === "printed" ? "Second" : TWIN_NAMES.second;
}

/** @param {PlaneStore} store @param {{pair: Pair, isBehind: boolean}} known @returns {Shown} */
function pairShown(store, { pair, isBehind }) {
  const scene = sceneOf(store);
  const scores = pairScores(scene.clients, pair.first, isBehind ? null : pair.second);
  const [names, heads] = [scene.clients.map((client) => client.name), [TWIN_NAMES.first, secondName(scene)]];
  const distributions = [pair.first, ...(pair.second && !isBehind ? [pair.second] : [])];
  const shown = { names, heads, scores, distributions, isApart: false, near: 0, figures: figure };
  if (isBehind)
    return {
      ...shown,
      headline: waitingWords(store),
      why: "The shapes differ, so no formula gives the twin: Python is searching for a place and a shape that keep every client’s score.",
    };
  if (!scores.second) return { ...shown, headline: `No twin here: ${sentence(pair.reason)}`, why: WHY.none(pair) };
  const why = WHY[pair.how](pair) + thinWords(pair);
  if (pair.second === pair.first)
    return { ...shown, headline: "No twin here: the second generator is the first.", why };
  const words = pairWords({ first: scores.first, second: scores.second }, scene.construction === "corrected");
  return { ...shown, ...words, why };
}

/** @type {Record<Pair["how"], (pair: Pair) => string>} */
const WHY = {
  offset: ({ u }) =>
    `All clients have one shape, and their means are on a line: the twin has that shape too, moved across the line by √u = ${figure(Math.sqrt(u))}. The faint outline is an equally good twin.`,
  covariance: () =>
    "The means span the plane, so there is no direction left to move in. The twin stays at the mean and takes another shape (covariance), as far from the clients’ as the pooled one.",
  search: () =>
    "The shapes differ, so no formula gives the twin: Python found this place and shape by search, with every client’s score kept the same.",
  printed: printedWords,
  none: () => "Move the clients, or change the shape of one, and look again.",
};

/** @param {Pair} pair */
function printedWords({ u, other, reason }) {
  const printed = `The papers (Proposition 1) take u = Tr Σλ(μμᵀ − μ̂μ̂ᵀ) = ${figure(u)} and move across the means by √u`;
  if (other) return `${printed}, which is too far. The faint outline is the true twin.`;
  const corrected = reason
    ? `Corrected, there is none either: ${sentence(reason)}`
    : "The shapes differ, so the true twin needs a search: choose Twins.";
  return `${printed}. ${corrected}`;
}

// Of the wider half-axis: what is narrower than that is a streak.
const STREAK = 0.05;
const FLAT = 1e-6;

/** Of a twin that is all but a line, what the streak in the plane is. @param {Pair} pair */
function thinWords({ second }) {
  const { width, height } = second ? ellipseOf(second) : { width: 1, height: 1 };
  const [narrow, wide] = [Math.min(width, height), Math.max(width, height)];
  if (narrow >= STREAK * wide) return "";
  return narrow < FLAT * wide
    ? " The second generator is a line: the streak has no width."
    : ` The second generator is almost a line: the streak is ${figure(narrow)} wide (1σ).`;
}

/** @param {PlaneStore} store */
function waitingWords(store) {
  if (store.saved) return "This twin needs Python: open the lab in a notebook.";
  if (store.waiting) return "This twin needs Python, but Python is busy or unreachable.";
  return store.before ? "Let go, and Python searches for the twin." : "Python is searching for the twin …";
}

/** @param {PlaneStore} store @returns {Shown} */
function publishedShown(store) {
  const { clients, first, second, source } = store.model.get("published");
  const differences = first.map((/** @type {number} */ value, /** @type {number} */ i) => second[i] - value);
  const [own, gap] = [differences.slice(0, -2).map(Math.abs), differences[differences.length - 1]];
  return {
    names: clients,
    heads: ["Generator 1", "Generator 2"],
    scores: { first, second },
    distributions: [],
    isApart: false,
    near: 0.01,
    figures: (value) => value.toFixed(2),
    headline: `Each client’s two scores are within ${Math.max(...own).toFixed(2)}. Pooled, Generator 2 is ${gap.toFixed(2)} worse.`,
    why: `Two generators of face images (FFHQ) and six clients, FID on Inception features. ${source}. ≈ marks differences of less than 1 %.`,
  };
}

/** In the status: whether Python agrees, or how far it is. @param {PlaneStore} store @param {{pair: Pair, isBehind: boolean}} known @param {any} result */
function comparedWords(store, { pair, isBehind }, { reason, scores, second, trying }) {
  const scene = sceneOf(store);
  if (scene.construction === "published") return "";
  if (isBehind) return trying || "Searching for the twin …";
  if (reason || !pair.second)
    return reason && !pair.second
      ? "No twin here; Python agrees."
      : "Python and this page disagree on whether there is a twin.";
  const own = pairScores(scene.clients, pair.first, pair.second);
  const pairs = [...scores.first, ...scores.second].map(
    (value, i) => /** @type {[number, number]} */ ([value, [...own.first, ...(own.second ?? [])][i]]),
  );
  return pair.how === "search" && second ? `Found by Python. ${agreement(pairs)}` : agreement(pairs);
}

/** @param {string} text */
function sentence(text) {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** @param {HTMLElement} second what the second generator is */
function twinsLegend(second) {
  const mark = (/** @type {"first" | "second"} */ which) =>
    svg("svg", { class: "nbm-twin-key", viewBox: "-10 -10 20 20", "aria-hidden": "true" }, [
      svg("g", { class: `nbm-twin-${which}` }, [svg("path", { class: "nbm-twin-mark", d: TWIN_MARKS[which] })]),
    ]);
  return el("div", { class: "nbm-legend" }, [
    el("span", {}, [el("span", { class: "nbm-swatch" }), "client"]),
    el("span", {}, [mark("first"), "first: the Gaussian of the pooled clients"]),
    el("span", {}, [mark("second"), second]),
  ]);
}
