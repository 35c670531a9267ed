/**
 * The menu Add, for clients, generators of every kind and those from the notebook, and the item that takes the chosen
 * one away.
 *
 * @import { Item, Scene } from "../../toolkit/view/types.js"
 * @import { Toolbar } from "../../toolkit/view/toolbar.js"
 * @import { PlaneStore } from "./store.js"
 */

import { setAttributes } from "../../toolkit/view/dom.js";
import { lockable } from "../../toolkit/view/locks.js";
import { forbid, Menu } from "../../toolkit/view/menu.js";
import { Variables } from "../../toolkit/view/notebook_variables.js";
import { MOST, whyNotRemovable, withAdded } from "./edits.js";
import { removeChosen } from "./store.js";

/** @type {[NonNullable<Item["kind"]> | "point", string][]} other kinds of generators that can be added */
const KINDS = [
  ["bumps", "Two bumps"],
  ["truncated", "Ideal estimator, truncated by ψ"],
  ["point", "Collapsed to a point"],
  ["copycat", "Copycat of a client’s points"],
  ["by_client", "One ellipse per client"],
];

const NOTHING_FITS = "Arrays and DataFrames with as many features are listed here";

export class ItemMenu {
  /** @param {PlaneStore} store @param {AbortSignal} signal @param {Toolbar} toolbar where they are put @param {boolean} [hasGenerators] @param {(kind: string) => string} [whyNot] why a kind of generator cannot be added */
  constructor(store, signal, toolbar, hasGenerators = true, whyNot = () => "") {
    this.whyNot = whyNot;
    this.store = store;
    this.menu = new Menu("Add", signal, () => store.send({ kind: "names" }));
    this.variables = new Variables(store, this.menu);
    this.kinds = [
      this.menu.item("Add client", () => this.add("clients")),
      this.menu.item("Add generator", () => this.add("generators")),
      ...KINDS.map(([kind, text]) => this.menu.item(text, () => this.add("generators", kind))),
    ];
    // Beside rows wider than the plane only the notebook has what could be added, and is asked when the menu opens.
    this.none = this.menu.item("No matching notebook variable yet", () => {});
    this.menu.add(...this.kinds, this.none, this.variables.root);
    // A menu of one would only be in the way.
    this.root = hasGenerators ? this.menu.root : toolbar.button("Add client", () => this.add("clients"));
    this.remove = toolbar.more.item("Remove", () => removeChosen(store));
    toolbar.changes.prepend(this.root);
    toolbar.more.list.prepend(this.remove);
    lockable("items", this.root, this.remove);
  }

  /** @param {"clients" | "generators"} kind @param {Item["kind"] | "point"} [what] */
  add(kind, what) {
    const { store } = this;
    if (store.scene[kind].length >= MOST[kind]) return store.say(`A lab shows at most ${MOST[kind]} ${kind}.`);
    store.edit(withAdded(store.scene, kind, what), "items");
    store.select({ kind, index: store.scene[kind].length - 1 });
  }

  /** @param {Scene} scene @param {boolean} [isOffered] whether items can come and go at all */
  paint(scene, isOffered = true) {
    const { selected } = this.store;
    this.root.hidden = !isOffered;
    for (const kind of this.kinds) kind.hidden = Boolean(scene.plane); // what is drawn has two features
    KINDS.forEach(([kind], k) => forbid(this.kinds[k + 2], this.whyNot(kind)));
    this.remove.hidden = selected === null || !isOffered;
    forbid(this.remove, selected ? whyNotRemovable(scene, selected) : "");
    if (selected && !this.remove.title)
      setAttributes(this.remove, { title: `${scene[selected.kind][selected.index].name} (Delete)` });
    this.none.hidden = !scene.plane || this.variables.entries.length > 0;
    forbid(this.none, this.none.hidden ? "" : NOTHING_FITS);
    this.variables.paint();
  }
}
