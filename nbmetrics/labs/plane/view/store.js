/**
 * The store of a lab whose scenes hold clients and generators: one of them may be chosen, and one pointed at.
 *
 * @import { Place, Scene } from "../../toolkit/view/types.js"
 */
import { Store } from "../../toolkit/view/store.js";
import { whyNotRemovable, withRemoved } from "./edits.js";

export class PlaneStore extends Store {
  /** @param {ConstructorParameters<typeof Store>} args */
  constructor(...args) {
    super(...args);
    /** @type {Place | null} */
    this.selected = null;
    /** @type {Place | null} */
    this.hovered = null;
  }

  /** @param {Place | null} place */
  select(place) {
    this.selected = place;
    this.changed();
  }

  /** @param {Place | null} place */
  hover(place) {
    this.hovered = place;
    this.changed();
  }

  /** What is there no more is neither chosen nor pointed at. @param {Scene} scene */
  take(scene) {
    super.take(scene);
    for (const key of /** @type {("selected" | "hovered")[]} */ (["selected", "hovered"])) {
      const place = this[key];
      const item = place && this.scene[place.kind]?.[place.index];
      if (place && (!item || !((place.part ?? -1) < (item.parts?.length ?? 0)))) this[key] = null;
    }
  }

  /** @param {Scene} scene @param {string} what */
  open(scene, what) {
    super.open(scene, what);
    this.select(null);
  }

  /** The numbers of rows wider than the plane are Python's. */
  answered() {
    if (this.scene.plane) this.memo = null;
    super.answered();
  }

  /** On a saved page nobody answers for such rows. @returns {string[]} */
  get locked() {
    return this.isStill ? ["drag", "items", "presets", "history"] : super.locked;
  }

  get isStill() {
    return Boolean(this.saved && this.scene.plane);
  }

  get whyLocked() {
    return this.isStill ? "Not on a saved page" : "";
  }

  /** A gesture does not win over items that it lacks. @param {Scene} scene */
  yieldsTo(scene) {
    return !sameItems(scene, this.scene);
  }
}

/** Take the chosen item away, or say why it stays. @param {PlaneStore} store @returns {boolean} whether it is gone */
export function removeChosen(store) {
  const { scene, selected } = store;
  if (store.isLocked("items")) return false;
  const bar = whyNotRemovable(scene, selected);
  if (bar || !selected) store.say(`${bar}.`);
  else store.edit(withRemoved(scene, selected), "items");
  return !bar;
}

/** Whether two scenes hold the same items, wherever those lie. @param {Scene} scene @param {Scene} other */
export function sameItems(scene, other) {
  const held = (/** @type {Scene} */ { clients = [], generators = [] }) =>
    [...clients, ...generators].map(({ name, kind, data, parts }) => [name, kind, data, parts?.length]);
  return JSON.stringify(held(scene)) === JSON.stringify(held(other));
}
