/**
 * What each client loses, beside its own best generator, if everybody gets the winner by avg, by all, or of the worst
 * client: three short bars a client, faint where its rows cannot tell the generators apart, as the heat map has them.
 * The order rests while weights are dragged.
 *
 * Twin: labs/dashboard/view_model.py · held by: tests/labs/dashboard/test_view_model.py
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Decided } from "./decision_inputs.js"
 * @import { Numbers, Scene, Shown } from "./types.js"
 */
import { resizeChildren } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { shortened } from "../../toolkit/view/name_width.js";
import { shownNumber } from "../../toolkit/view/numbers.js";
import { orderOf } from "../../toolkit/view/ties.js";
import { cellsNow } from "./cell_values.js";
import { card } from "./certificate.js";
import { inWords } from "./metric_view.js";
import { leastOf } from "./place_ranges.js";
import { regret } from "./recommendation.js";

const HEAD = "Which clients lose?";
const CLIENTS_SHOWN_FIRST = 4;
// Pixels of a name beside its bars.
const NAME_PX = 90;

/** @typedef {{words: string, g: number}} Choice  by which aggregates a generator wins */

export class RegretCard {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    /** @type {number[]} */
    this.order = [];
    this.painted = "";
    this.key = el("p", { class: "nbm-note" });
    this.legend = el("ul", { class: "nbm-regret-legend" });
    this.first = el("div", { class: "nbm-regret-rows" });
    this.rest = el("div", { class: "nbm-regret-rows" });
    this.more = el("summary");
    this.fold = el("details", {}, [this.more, this.rest]);
    this.root = card(HEAD, [this.key, this.legend, this.first, this.fold]);
    this.fold.addEventListener("toggle", () => store.changed(), { signal });
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paint(scene, { clients, metrics }) {
    const shown = metrics[scene.metric];
    const choices = choicesOf(shown);
    this.root.hidden = !choices.length || scene.generators.length < 2;
    if (this.root.hidden) return;
    const key = `${scene.metric} ${scene.generators.join("\n")} ${choices.map(({ words, g }) => `${g} ${words}`).join()}`;
    if (this.store.before && key === this.painted) return; // no bar depends on the weights
    this.painted = key;
    const losses = regret(shown.centres);
    const { blind } = cellsNow(this.store.model, scene.metric);
    const lost = clients.map((_, i) => choices.map(({ g }) => losses[g][i]));
    const most = Math.max(0, ...lost.flat().filter(Number.isFinite));
    if (!this.store.before || this.order.length !== clients.length) this.order = orderByLoss(lost);
    setText(this.key, keyOf(shown.facts));
    resizeChildren(this.legend, choices.length, () => el("li")).forEach((node, n) => {
      setAttributes(node, { "data-choice": n });
      setText(node, `${inWords(scene.generators[choices[n].g])}, ${choices[n].words}`);
    });
    const paintRows = (/** @type {Element} */ parent, /** @type {number[]} */ which) =>
      resizeChildren(parent, which.length, makeRow).forEach((row, n) => {
        const i = which[n];
        const [name, mark] = row.children[0].children;
        setText(name, shortened(clients[i].name, NAME_PX));
        setAttributes(name, { title: clients[i].name });
        setText(mark, blind[i]);
        setAttributes(mark, { title: blind[i] });
        row.classList.toggle("nbm-regret-blind", blind[i] !== "");
        paintBars(row.children[1], lost[i], most);
      });
    paintRows(this.first, this.order.slice(0, CLIENTS_SHOWN_FIRST));
    const others = this.order.slice(CLIENTS_SHOWN_FIRST);
    this.fold.hidden = !others.length;
    setText(this.more, othersText(others.length));
    if (this.fold.open) paintRows(this.rest, others);
  }
}

/** The clients that are not shown. @param {number} count */
export function othersText(count) {
  return count === 1 ? "1 more client, who loses less" : `${count} more clients, who lose less`;
}

/** The winners, each once, with what it wins. @param {Shown} shown @returns {Choice[]} */
export function choicesOf({ average, avgLosses, allLosses, worstLosses, byAll, isNear, facts }) {
  const hasAll = byAll !== null && !isNear;
  const wins = [
    { words: `by ${average}${facts.same ? " and by all" : ""}`, g: leastOf(avgLosses) },
    ...(hasAll ? [{ words: "by all", g: leastOf(allLosses) }] : []),
    { words: "for the worst client", g: leastOf(worstLosses) },
  ];
  /** @type {Choice[]} */
  const choices = [];
  for (const { words, g } of wins) {
    const before = choices.find((choice) => choice.g === g);
    if (before) before.words += `, ${words}`;
    else if (g >= 0) choices.push({ words: `first ${words}`, g });
  }
  return choices;
}

/** Who loses most first. @param {number[][]} lost of each client with each choice */
export function orderByLoss(lost) {
  const worst = lost.map((own) => Math.max(...own.map((value) => (Number.isNaN(value) ? -1 : value))));
  return orderOf(worst.map((loss) => -loss));
}

/** @param {number} value */
export function lossText(value) {
  if (Number.isNaN(value)) return "not known";
  return value === 0 ? "0 (best)" : value === Infinity ? "∞" : shownNumber(value);
}

/** @param {import("./types.js").MetricFacts} facts */
export function keyOf({ label, higher, best, corrected }) {
  const side = best !== null ? `farther from ${best} than` : higher ? "below" : "above";
  const without = corrected ? ", corrected for few rows" : "";
  return `How far each client’s ${label} is ${side} the client’s best${without}, if everybody gets`;
}

function makeRow() {
  const who = el("div", { class: "nbm-regret-who" }, [el("span", { class: "nbm-regret-name" }), el("small")]);
  return el("div", { class: "nbm-regret-row" }, [who, el("div")]);
}

/** @param {Element} parent @param {number[]} lost @param {number} most */
function paintBars(parent, lost, most) {
  const make = () => el("div", { class: "nbm-regret-bar" }, [el("span"), el("span")]);
  resizeChildren(parent, lost.length, make).forEach((node, n) => {
    const value = lost[n];
    const length = value === Infinity ? 1 : most > 0 && value > 0 ? value / most : 0;
    setAttributes(node, { "data-choice": n, "data-value": Number.isNaN(value) ? "" : value });
    setAttributes(node.children[0], { style: `width: ${(100 * length).toFixed(1)}%` });
    setText(node.children[1], lossText(value));
  });
}
