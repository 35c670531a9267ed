/**
 * Generators come and go: attached from the notebook's variables, removed where one is chosen.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Toolbar } from "../../toolkit/view/toolbar.js"
 * @import { Scene } from "./types.js"
 */
import { lockable } from "../../toolkit/view/locks.js";
import { forbid, Menu } from "../../toolkit/view/menu.js";
import { Variables } from "../../toolkit/view/notebook_variables.js";

const NOTHING_FITS = "Rows of as many features as the clients’, such as an array or a DataFrame, would be listed here";
const ONLY = "It is the only generator";

export class Candidates {
  /** @param {Store} store @param {AbortSignal} signal @param {Toolbar} toolbar */
  constructor(store, signal, toolbar) {
    this.store = store;
    this.attach = new Menu("Attach", signal, () => store.send({ kind: "names" }));
    this.variables = new Variables(store, this.attach);
    this.none = this.attach.item("No variable of the notebook yet", () => {});
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
