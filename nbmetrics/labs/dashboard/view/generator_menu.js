/**
 * Generators come and go: attached from the notebook's variables, removed where one is chosen.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Toolbar } from "../../toolkit/view/toolbar.js"
 * @import { ProgressFacts, Scene } from "./types.js"
 */
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { lockable } from "../../toolkit/view/locks.js";
import { forbid, Menu } from "../../toolkit/view/menu.js";
import { Variables } from "../../toolkit/view/notebook_variables.js";

const NOTHING_FITS = "Arrays and DataFrames with the clients’ number of features are listed here";
const ONLY = "It is the only generator";

export class Candidates {
  /** @param {Store} store @param {AbortSignal} signal @param {Toolbar} toolbar */
  constructor(store, signal, toolbar) {
    this.store = store;
    this.attach = new Menu("Attach", signal, () => store.send({ kind: "names" }));
    this.variables = new Variables(store, this.attach);
    this.none = this.attach.item("No matching notebook variable yet", () => {});
    forbid(this.none, NOTHING_FITS);
    this.attach.add(this.none, this.variables.root);
    this.remove = toolbar.button("Remove", () => this.removeChosen());
    toolbar.changes.prepend(this.attach.root, this.remove);
    lockable("items", this.attach.root, this.remove);
  }

  get scene() {
    return /** @type {Scene} */ (/** @type {any} */ (this.store.scene));
  }

  removeChosen() {
    const { scene, store } = this;
    const { generator } = scene;
    if (scene.generators.length === 1) return store.say(`${ONLY}.`);
    const generators = scene.generators.filter((name) => name !== generator);
    store.edit(/** @type {any} */ ({ ...scene, generators, generator: "" }), "items");
  }

  /** @param {Scene} scene */
  paint(scene) {
    const isTable = this.store.model.get("board").metrics?.every((/** @type {any} */ { pooled }) => pooled === false);
    this.attach.root.hidden = Boolean(this.store.saved) || isTable;
    this.remove.hidden = !scene.generators.includes(scene.generator) || scene.generators.length === 1;
    this.remove.title = this.remove.hidden ? "" : scene.generator;
    this.none.hidden = this.variables.entries.length > 0;
    this.variables.paint();
  }
}

/* How far Python is: what is known so far, what is computed now, and a button to stop or to go on. */

export class Progress {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.bar = el("progress", { "aria-label": "Scores known" });
    this.words = el("span");
    this.button = el("button", { type: "button" });
    this.isStopped = false;
    this.button.addEventListener("click", () => store.send({ kind: this.isStopped ? "resume" : "stop" }), { signal });
    this.root = el("div", { class: "nbm-dashboard-progress" }, [this.bar, this.words, this.button]);
  }

  paint() {
    const { store } = this;
    const { done, total, doing, stopped, why } = /** @type {ProgressFacts} */ (store.model.get("progress") ?? {});
    this.isStopped = Boolean(stopped);
    this.root.hidden = done === total && !doing && !this.isStopped;
    if (this.root.hidden) return;
    setAttributes(this.bar, { value: done, max: total });
    const now = this.isStopped ? `stopped${why ? `. Python: ${why}` : ""}` : doing ? `now: ${doing}` : "";
    const gone = store.lost ? "Python has stopped: known scores stay" : now;
    setText(this.words, `So far, ${done} of ${total} scores${gone ? `; ${gone}` : ""}`);
    setText(this.button, this.isStopped ? "Go on" : "Stop");
    this.button.hidden = Boolean(store.saved) || store.lost;
  }
}
