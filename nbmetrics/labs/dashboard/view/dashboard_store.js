/**
 * The store of a Dashboard: clients come and go by Python alone, so without it no undo and no preset leads to others.
 *
 * @import { History, Scene } from "../../toolkit/view/types.js"
 */
import { Store } from "../../toolkit/view/store.js";
import { sameClients } from "./regroup.js";

const NEEDS_PYTHON = "That is of other clients, which needs Python.";

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
