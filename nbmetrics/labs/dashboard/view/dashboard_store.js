/**
 * The store of a Dashboard: clients come and go by Python alone, so without it no undo and no preset leads to others.
 *
 * @import { History, Model, Scene } from "../../toolkit/view/types.js"
 */
import { Store } from "../../toolkit/view/store.js";
import { sameClients } from "./regroup.js";

const NEEDS_PYTHON = "That changes the clients, which needs Python.";

export class BoardStore extends Store {
  /** Whether Python has written what there is to know of the clients on show. */
  get isAtHand() {
    return sameClients(this.scene, this.model.get("board"));
  }

  /** @param {Scene} scene */
  isReachable(scene) {
    return !(this.saved || this.lost) || sameClients(scene, this.model.get("board"));
  }

  /** @param {{history: History, scene: Scene} | null} step */
  travel(step) {
    if (step && !this.isReachable(step.scene)) this.say(NEEDS_PYTHON);
    else super.travel(step);
  }

  /** @param {Scene} scene @param {string} what */
  open(scene, what) {
    if (this.isReachable(scene)) super.open(scene, what);
    else this.say(NEEDS_PYTHON);
  }

  /** An edit of what is not on show yet is lost. @param {Scene} scene */
  show(scene) {
    if (this.isAtHand || !sameClients(scene, this.scene)) super.show(scene);
  }

  /** Weights that are dragged are of clients that are gone. @param {Scene} scene */
  yieldsTo(scene) {
    return !sameClients(scene, this.scene);
  }
}

/* Why a scene from elsewhere, whose fields are as declared, is not shown in a Dashboard. No DOM. */

/** @param {any} scene @param {Model} model @returns {string} "" where it is shown */
export function refusal(scene, model) {
  return whyPartsRefused(scene) || whyOthersRefused(scene, model);
}

/** Whether the parts of a scene fit one another. @param {import("./types.js").Scene} scene */
function whyPartsRefused({ weights, generators, held }) {
  if (!weights.some((weight) => weight > 0)) return "all weights are 0";
  if (held.length > weights.length) return "it fixes the weights of more clients than it has";
  return [generators, held].some((names) => new Set(names).size < names.length) ? "a name appears twice" : "";
}

/** @param {any} scene @param {Model} model */
function whyOthersRefused(scene, model) {
  const { clients, generators, metrics, regroup } = model.get("board");
  if (!sameClients(scene, { regroup })) return "its clients are grouped differently";
  if (scene.weights.length !== clients.length) return `it has ${scene.weights.length} clients, not ${clients.length}`;
  const unknown = scene.generators.find((/** @type {string} */ generator) => !Object.hasOwn(generators, generator));
  if (unknown !== undefined) return `there is no generator ${unknown}`;
  return metrics.some((/** @type {any} */ metric) => metric.name === scene.metric)
    ? ""
    : "its metric is not available here";
}
