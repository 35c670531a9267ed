/**
 * Scenes of rows wider than the plane: the picture is a projection, and the numbers are Python's, of all features. Here
 * they are put together anew for other weights, as far as that goes: avg is; all waits for Python.
 *
 * @import { Aggregates, Item, Model, Numbers, Scene } from "../../toolkit/view/types.js"
 * @import { PlaneStore } from "../../plane/view/store.js"
 */
import { sharesOf } from "../../plane/view/distributions.js";
import { resizeChildren } from "../../toolkit/view/chart.js";
import { el, setText } from "../../toolkit/view/dom.js";

// Shares that differ by less are the same.
const SAME_SHARE = 1e-9;

/** Why a chart has nothing to show of rows wider than the plane. @type {Record<string, (dim: string) => string>} */
const OFF = {
  terms: (dim) =>
    `The page computes the parts of a score only for distributions in the plane; these scores use ${dim}.`,
  sweep: (dim) => `A sweep moves an item. These items are rows with ${dim}, so only their weights can change.`,
  samples: (dim) =>
    `These are your own rows, with ${dim}: nothing is sampled. The notes under the table say how their number affects a score.`,
};

/** @param {number} dim */
function features(dim) {
  return `${dim.toLocaleString("en")} feature${dim === 1 ? "" : "s"}`;
}

/** Why a chart shows nothing, or "". @param {Scene} scene @param {string} panel */
export function whyOff({ plane }, panel) {
  return plane && panel in OFF ? OFF[panel](features(plane.dim)) : "";
}

/** @param {Item} item */
function keyOf({ data, name }) {
  return data ?? name;
}

/**
 * Python's scores for the clients, generators and weights of a scene: NaN where one is refused, none of a metric where
 * one is not known. `isBehind`: all is of other weights.
 * @param {Scene} scene @param {Model} model @returns {Numbers}
 */
export function wideNumbers(scene, model) {
  const { scores = {}, of } = model.get("result");
  /** @type {Record<string, Aggregates>} */
  const numbersByMetric = {};
  if (of) {
    const columns = scene.clients.map((client) => of.clients.indexOf(keyOf(client)));
    const rows = scene.generators.map((generator) => of.generators.indexOf(keyOf(generator)));
    const shares = sharesOf(scene.clients);
    const sharesOfResult = new Map(
      of.clients.map((/** @type {string} */ key, /** @type {number} */ i) => [key, of.shares[i]]),
    );
    const now = new Map(scene.clients.map((client, i) => [keyOf(client), shares[i]]));
    const isBehind = [...sharesOfResult.keys(), ...now.keys()].some(
      (key) => Math.abs((sharesOfResult.get(key) ?? 0) - (now.get(key) ?? 0)) > SAME_SHARE,
    );
    if (![...columns, ...rows].includes(-1)) {
      for (const [metric, numbers] of Object.entries(scores)) {
        const byClient = rows.map((g) => columns.map((i) => orNaN(numbers.byClient[g][i])));
        const avg = byClient.map((values) =>
          values.reduce((sum, value, i) => (shares[i] > 0 ? sum + shares[i] * value : sum), 0),
        );
        numbersByMetric[metric] = { byClient, avg, all: rows.map((g) => orNaN(numbers.all[g])), isBehind };
      }
    }
  }
  return /** @type {Numbers} */ (numbersByMetric);
}

/** @param {number | null} value */
function orNaN(value) {
  return value ?? Number.NaN;
}

/** Whether a metric has all of its values. @param {Aggregates | null | undefined} numbers */
export function isWhole(numbers) {
  return Boolean(numbers) && [numbers?.avg, numbers?.all, numbers?.byClient].flat(2).every(Number.isFinite);
}

/** What the status line says of Python's answer. @param {Scene} scene @param {{scores?: object}} result */
export function wideStatus({ plane }, { scores }) {
  const dim = features(plane?.dim ?? 0);
  return scores ? `Python computed these numbers from all ${dim}.` : `Python computes the scores from all ${dim}…`;
}

/** What is said of the picture and of the numbers, each where it is. */
export class WideWords {
  /** @param {PlaneStore} store @param {Element} drag what says that items can be dragged */
  constructor(store, drag) {
    this.store = store;
    this.drag = drag;
    this.picture = el("p", { class: "nbm-note" });
    this.table = el("p", { class: "nbm-note nbm-ofall" });
    this.cautions = el("ul", { class: "nbm-cautions", "aria-label": "Cautions" });
  }

  /** @param {Scene} scene */
  paint(scene) {
    const { plane } = scene;
    for (const node of [this.picture, this.table]) node.hidden = !plane;
    this.drag.toggleAttribute("hidden", Boolean(plane));
    const { cautions = [] } = this.store.model.get("result");
    const lines = /** @type {string[]} */ (plane ? cautions : []);
    this.cautions.hidden = lines.length === 0;
    resizeChildren(this.cautions, lines.length, () => el("li")).forEach((node, k) => setText(node, lines[k]));
    if (!plane) return;
    const dim = features(plane.dim);
    const seen = Math.min(2, plane.dim);
    setText(this.picture, `${plane.words} Ellipses: 1σ and 2σ of the points shown. Your own rows cannot be dragged.`);
    setText(this.table, `Scores: all ${dim}. Picture: ${seen} of ${plane.dim.toLocaleString("en")} dimensions.`);
  }
}
