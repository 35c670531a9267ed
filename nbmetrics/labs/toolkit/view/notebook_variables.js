/**
 * Variables of the notebook in a menu: those that a lab could take, and why it could not take the others.
 *
 * @import { Store } from "./store.js"
 */
import { el } from "./dom.js";
import { forbid, Menu } from "./menu.js";

export class Variables {
  /** @param {Store} store @param {Menu} menu */
  constructor(store, menu) {
    this.store = store;
    this.menu = menu;
    this.root = el("div", { role: "group", "aria-label": "From the notebook" });
    this.root.hidden = true;
    this.shown = "";
  }

  /** @returns {{name: string, why: string}[]} what Python found when the menu was opened */
  get entries() {
    return this.store.model.get("namespace") ?? [];
  }

  paint() {
    const { entries } = this;
    const shown = JSON.stringify(entries);
    if (shown === this.shown) return;
    this.shown = shown;
    const offered = ({ name = "", why = "" }) => {
      const item = this.menu.item(why ? `${name}: ${why}` : name, () => this.store.send({ kind: "attach", name }));
      forbid(item, why);
      return item;
    };
    const head = el("div", { class: "nbm-menu-head", "aria-hidden": "true" }, ["From the notebook"]);
    this.root.replaceChildren(...(entries.length ? [head, ...entries.map(offered)] : []));
    this.root.hidden = entries.length === 0;
  }
}
