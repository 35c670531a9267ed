/**
 * The store of the Playground: which generator the charts are about, whose score is being explained, and how far the
 * lab's goals have been reached. None of it is in the scene, so none of it is shared or undone.
 *
 * @import { Place, Scene } from "../../toolkit/view/types.js"
 */
import { hasOwners } from "../../plane/view/edits.js";
import { PlaneStore } from "../../plane/view/store.js";

/** @typedef {"intra" | "avg" | "all"} Part */

const FIRST = { generators: 0, clients: 0 };

export class PlaygroundStore extends PlaneStore {
  /** @param {ConstructorParameters<typeof PlaneStore>} args */
  constructor(...args) {
    super(...args);
    /** The generator and the client that were chosen last: what the charts are about. */
    this.latest = FIRST;
    /** @type {Part | null} the aggregate that the plane explains while it is pointed at */
    this.pointed = null;
    /** @type {Part | null} the same, for good */
    this.pinned = null;
    this.showsBest = false;
    this.goal = { index: 0, isReached: false, edits: 0 };
  }

  /** @param {Place | null} place */
  select(place) {
    this.latest = place ? { ...this.latest, [place.kind]: place.index } : FIRST;
    super.select(place);
  }

  /** @param {Scene} scene @param {string} what */
  open(scene, what) {
    this.latest = FIRST;
    super.open(scene, what);
  }

  /** The generator that the charts are about: the one chosen last. */
  get charted() {
    return this.latest.generators < this.scene.generators.length ? this.latest.generators : 0;
  }

  /** The client whose weight may be swept: the one chosen last. */
  get client() {
    return this.latest.clients < this.scene.clients.length ? this.latest.clients : 0;
  }

  /** The generator whose score the plane explains: the one pointed at, else the one charted. */
  get explainedGenerator() {
    const { hovered } = this;
    return hovered?.kind === "generators" && hovered.index < this.scene.generators.length
      ? hovered.index
      : this.charted;
  }

  /** Whether a lesson's question is open: nothing may show its answer. */
  get isAsked() {
    const { lesson } = this.scene;
    return Boolean(lesson && !lesson.revealed);
  }

  /** The aggregate that the plane explains now. */
  get explained() {
    const part = this.pointed ?? this.pinned;
    return part === "intra" && !hasOwners(this.scene) ? null : part;
  }

  /** @param {Part | null} part */
  point(part) {
    if (this.pointed === part) return;
    this.pointed = part;
    this.changed();
  }

  /** @param {Part} part */
  pin(part) {
    this.pinned = this.pinned === part ? null : part;
    this.changed();
  }

  finish() {
    if (this.before) this.goal.edits += 1;
    super.finish();
  }
}
