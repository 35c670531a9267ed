/**
 * The buttons, the presets and the status line.
 *
 * @import { Scene } from "./types.js"
 * @import { Store } from "./store.js"
 */
import { el, put, say } from "./dom.js";
import { MOST, codeOf, removalBar, sameScene, withAdded, withRemoved } from "./edits.js";

export class Toolbar {
  /** @param {Store} store @param {AbortSignal} signal @param {{table: (shown: boolean) => void, picture: () => void}} actions */
  constructor(store, signal, actions) {
    this.store = store;
    this.signal = signal;
    this.presets = /** @type {Record<string, Scene>} */ (store.model.get("presets"));
    this.preset = el("select", { "aria-label": "Preset" }, Object.keys(this.presets).map((name) => el("option", { value: name }, [name])));
    this.preset.addEventListener("change", () => this.load(this.preset.value), { signal });
    this.addClient = this.button("Add client", () => this.add("clients"));
    this.addGenerator = this.button("Add generator", () => this.add("generators"));
    this.remove = this.button("Remove", () => store.selected && store.edit(withRemoved(store.scene, store.selected)));
    this.undo = this.button("Undo", () => store.undo());
    this.redo = this.button("Redo", () => store.redo());
    this.reset = this.button("Reset", () => this.load(store.scene.preset));
    this.table = this.button("Table view", () => this.toggleTable(actions.table));
    put(this.table, { "aria-pressed": "false" });
    this.code = el("textarea", { class: "nbm-code", readonly: "", rows: "8", "aria-label": "Code", spellcheck: "false" });
    this.codeFold = el("details", { class: "nbm-fold" }, [el("summary", {}, ["Code"]), this.code]);
    this.codeFold.hidden = true;
    const copy = this.button("Copy code", () => this.copy());
    const picture = this.button("Save picture", actions.picture);
    const group = (/** @type {Node[]} */ nodes) => el("div", { class: "nbm-group" }, nodes);
    this.root = el("div", { class: "nbm-toolbar" }, [
      group([this.preset]),
      group([this.addClient, this.addGenerator, this.remove]),
      group([this.undo, this.redo, this.reset]),
      group([this.table, copy, picture]),
    ]);
    this.status = el("div", { class: "nbm-status", role: "status" });
    this.fold = el("details", { class: "nbm-fold" }, [el("summary", {}, ["What went wrong"]), el("pre")]);
    this.fold.hidden = true;
  }

  /** @param {string} text @param {() => void} call */
  button(text, call) {
    const node = el("button", { type: "button" }, [text]);
    node.addEventListener("click", call, { signal: this.signal });
    return node;
  }

  /** @param {string} name */
  load(name) {
    const scene = this.presets[name] ?? Object.values(this.presets)[0];
    this.store.edit({ ...scene, rev: this.store.scene.rev });
    this.store.select(null);
  }

  /** @param {"clients" | "generators"} kind */
  add(kind) {
    const { store } = this;
    store.edit(withAdded(store.scene, kind));
    store.select({ kind, index: store.scene[kind].length - 1 });
  }

  /** @param {(shown: boolean) => void} show */
  toggleTable(show) {
    const shown = this.table.getAttribute("aria-pressed") !== "true";
    put(this.table, { "aria-pressed": String(shown) });
    show(shown);
  }

  async copy() {
    const code = codeOf(this.store.scene);
    this.code.value = code;
    this.codeFold.hidden = false;
    try {
      await navigator.clipboard.writeText(code);
      this.store.say("Code copied: paste it into a cell.");
    } catch {
      this.codeFold.open = true;
      this.code.select();
      this.store.say("Copy the code below into a cell.");
    }
  }

  /** @param {Scene} scene */
  paint(scene) {
    const { store } = this;
    if (scene.preset in this.presets && this.preset.value !== scene.preset) this.preset.value = scene.preset;
    const bar = removalBar(scene, store.selected);
    const name = store.selected ? scene[store.selected.kind][store.selected.index].name : "";
    this.remove.disabled = bar !== "";
    put(this.remove, { title: bar || `Remove ${name}` });
    this.addClient.disabled = scene.clients.length >= MOST.clients;
    this.addGenerator.disabled = scene.generators.length >= MOST.generators;
    this.undo.disabled = store.history.past.length === 0;
    this.redo.disabled = store.history.future.length === 0;
    const start = this.presets[scene.preset];
    this.reset.disabled = !store.before && Boolean(start) && sameScene(start, scene);
    if (!this.codeFold.hidden) this.code.value = codeOf(scene);
    this.paintStatus(scene);
  }

  /** @param {Scene} scene */
  paintStatus(scene) {
    const { error, rev, scores } = this.store.model.get("result");
    const isCurrent = rev === scene.rev;
    put(this.status, { "data-rev": rev }); // what the words are about; dimmed while Python is behind
    this.status.classList.toggle("nbm-behind", !isCurrent && !this.store.notice);
    this.fold.hidden = !(error && isCurrent);
    if (error && isCurrent) say(/** @type {Element} */ (this.fold.lastElementChild), error.traceback);
    const pending = this.store.waiting ? "Computed in this page; Python is busy or gone." : this.status.dataset.settled ?? "";
    const settled = error ? `Python: ${error.message}` : scores && isCurrent ? this.compared(scores) : pending;
    if (isCurrent && !this.store.before) this.status.dataset.settled = settled;
    say(this.status, this.store.notice || (isCurrent ? settled : pending));
  }

  /** @param {Record<"fid" | "kid", {avg: number[], all: number[]}>} scores */
  compared(scores) {
    const { numbers } = this.store;
    let worst = 0;
    for (const metric of /** @type {const} */ (["fid", "kid"])) {
      for (const part of /** @type {const} */ (["avg", "all"])) {
        scores[metric][part].forEach((value, g) => {
          const own = numbers[metric][part][g];
          worst = Math.max(worst, Math.abs(own - value) / Math.max(1, Math.abs(value)));
        });
      }
    }
    return worst < 1e-7 ? "Python agrees with these numbers." : `Python’s numbers differ by ${worst.toExponential(1)}.`;
  }
}
