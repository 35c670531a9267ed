/**
 * Buttons that add clients and generators and take the selected one away.
 *
 * @import { Scene } from "../../toolkit/view/types.js"
 * @import { PlaneStore } from "./store.js"
 */
import { el, setAttributes } from "../../toolkit/view/dom.js";
import { lockable } from "../../toolkit/view/locks.js";
import { MOST, whyNotRemovable, withAdded, withRemoved } from "./edits.js";

/** @type {[string, string][]} kinds of generators that can be added */
const ADDABLE = [
  ["gaussian", "Add generator"],
  ["bumps", "Two bumps"],
  ["truncated", "Ideal estimator, truncated by ψ"],
  ["point", "Collapsed to a point"],
  ["copycat", "Copycat of a client’s points"],
];

export class ItemButtons {
  /** @param {PlaneStore} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.addClient = button("Add client", () => this.add("clients"), signal);
    this.addGenerator = button("Add generator", () => this.add("generators"), signal);
    this.kinds = el(
      "optgroup",
      { label: "Kinds" },
      ADDABLE.slice(1).map(([value, text]) => el("option", { value }, [text])),
    );
    this.names = el("optgroup", { label: "From the notebook" });
    this.shownNames = "[]";
    this.choice = el("select", { "aria-label": "Other generators", title: "Other generators" }, [
      el("option", { value: "" }, ["Other …"]),
      this.kinds,
      this.names,
    ]);
    this.choice.addEventListener("change", () => this.choose(), { signal });
    this.choice.addEventListener("focus", () => store.send({ kind: "names" }), { signal });
    this.remove = button("Remove", () => this.removeSelected(), signal);
    lockable("items", this.addClient, this.addGenerator, this.choice, this.remove);
  }

  get nodes() {
    return [this.addClient, this.addGenerator, this.choice, this.remove];
  }

  /** The button closes after it was pressed; the focus stays in the lab, where the keys for undo are heard. */
  removeSelected() {
    const { store } = this;
    if (store.selected) store.edit(withRemoved(store.scene, store.selected), "items");
    (this.addClient.hidden ? this.choice : this.addClient).focus();
  }

  choose() {
    const chosen = this.choice.selectedOptions[0];
    this.choice.value = "";
    if (chosen.parentElement === this.names) this.store.send({ kind: "attach", name: chosen.value });
    else if (chosen.value) this.add("generators", /** @type {any} */ (chosen.value));
  }

  /** @param {"clients" | "generators"} kind @param {import("../../toolkit/view/types.js").Item["kind"] | "point"} [what] */
  add(kind, what) {
    const { store } = this;
    store.edit(withAdded(store.scene, kind, what), "items");
    store.select({ kind, index: store.scene[kind].length - 1 });
  }

  /** The notebook's variables that could be generators, and why others could not. @param {{name: string, why: string}[]} found */
  paintNames(found) {
    const key = JSON.stringify(found);
    if (key === this.shownNames) return;
    this.shownNames = key;
    const shown = found.map(({ name, why }) => ({ value: name, text: why ? `${name}: ${why}` : name, why }));
    const options = shown.map(({ value, text, why }) =>
      el("option", { value, ...(why ? { disabled: "" } : {}) }, [text]),
    );
    this.names.replaceChildren(...options);
  }

  /** @param {Scene} scene */
  paint(scene) {
    const { selected } = this.store;
    const bar = whyNotRemovable(scene, selected);
    this.remove.disabled = bar !== "";
    setAttributes(this.remove, { title: bar || `Remove ${selected ? scene[selected.kind][selected.index].name : ""}` });
    for (const node of [this.addClient, this.addGenerator, this.kinds]) node.hidden = Boolean(scene.plane);
    this.addClient.disabled = scene.clients.length >= MOST.clients;
    this.addGenerator.disabled = this.choice.disabled = scene.generators.length >= MOST.generators;
    this.paintNames(this.store.model.get("namespace") ?? []);
  }
}

/** @param {string} text @param {() => void} call @param {AbortSignal} signal */
function button(text, call, signal) {
  const node = el("button", { type: "button" }, [text]);
  node.addEventListener("click", call, { signal });
  return node;
}
