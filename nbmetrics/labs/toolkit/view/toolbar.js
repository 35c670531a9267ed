/**
 * What the toolbar of every lab has: what changes the scene on the left, with undo and redo, what shows it, shares it
 * and the rest on the right, and the status line. What can do nothing now is not there; the place that waits for undo
 * and redo ends the left half, so that it is part of the room between the two.
 *
 * @import { Shared } from "./sharing.js"
 * @import { Store } from "./store.js"
 */
import { el, setAttributes, setText } from "./dom.js";
import { lockable } from "./locks.js";
import { Menu } from "./menu.js";
import { ShareMenu } from "./sharing.js";
import { sameContent, sameScene } from "./store.js";

/**
 * @typedef {object} Own
 * @property {Node[]} [choices] selects beside the presets
 * @property {() => Record<string, any>} [starts] scenes to reset to, before presets of their names, by the name in their field preset
 * @property {(shown: boolean) => void} table show or hide the numbers behind the pictures
 * @property {(result: any) => string} compared what Python's answer for this revision says of the page's numbers
 * @property {string} [waiting] what to say while Python is busy or unreachable
 * @property {string} [lost] what to say once Python cannot answer any more
 */
/** @typedef {Shared & Own} Toolset */

const WAITING = "Computed in this page; Python is busy or unreachable.";
const LOST = "Computed in this page. For what needs Python, run the cell again.";
// No preset's name has a line break.
const CHANGED = "\n";

export class Toolbar {
  /** @param {Store} store @param {AbortSignal} signal @param {Toolset} tools */
  constructor(store, signal, tools) {
    this.store = store;
    this.signal = signal;
    this.tools = tools;
    this.changed = el("option", { value: CHANGED, hidden: "" });
    this.preset = el("select", { "aria-label": "Preset" }, [
      ...Object.keys(this.presets).map((name) => el("option", { value: name }, [name])),
      el("option", { value: "", hidden: "" }, ["Choose a preset"]),
      this.changed,
    ]);
    this.preset.addEventListener("change", () => this.load(this.preset.value, "presets"), { signal });
    this.undo = this.button("Undo", () => store.undo());
    this.redo = this.button("Redo", () => store.redo());
    this.share = new ShareMenu(store, signal, tools, () => this.title);
    this.codeFold = this.share.fold.root;
    this.more = new Menu("More", signal);
    this.reset = this.more.item("Reset", () => this.load(store.scene.preset, "history"));
    this.table = this.more.item("Table view", () => this.toggleTable());
    this.more.add(this.reset, this.table);
    lockable("presets", this.preset);
    lockable("history", this.undo, this.redo, this.reset);
    this.changes = group([this.preset, this.undo, this.redo]);
    this.root = el("div", { class: "nbm-toolbar" }, [
      this.changes,
      group([...(tools.choices ?? []), this.share.menu.root, this.more.root]),
      ...(this.share.chooser ? [this.share.chooser.root] : []),
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

  /** Scenes by name: what they show may change, their names do not. @returns {Record<string, any>} */
  get presets() {
    return this.store.model.get("presets");
  }

  /** What is on show, in a few words. */
  get title() {
    const { preset } = this.store.scene;
    return `${this.store.lab}${preset ? `: ${preset}${this.isChanged ? ", changed" : ""}` : ""}`;
  }

  get isChanged() {
    const start = this.startOf(this.store.scene.preset);
    return start !== undefined && !sameContent(start, this.store.scene);
  }

  /** @param {string} name @param {"presets" | "history"} what the lock that refuses it */
  load(name, what) {
    const start = what === "presets" ? this.presetOf(name) : this.startOf(name);
    const scene = start ?? Object.values(this.presets)[0];
    this.store.open({ ...scene, rev: this.store.scene.rev }, what);
  }

  /** @param {string} name */
  presetOf(name) {
    return this.presets[name];
  }

  /** @param {string} name */
  startOf(name) {
    return this.tools.starts?.()[name] ?? this.presetOf(name);
  }

  toggleTable() {
    const shown = this.table.getAttribute("aria-description") !== "shown";
    setAttributes(this.table, { "aria-description": shown ? "shown" : "hidden" });
    this.tools.table(shown);
  }

  /** @param {any} scene */
  paint(scene) {
    const { store } = this;
    this.paintPreset(scene);
    const { past, future } = store.history;
    const pressed = [this.undo, this.redo].find((button) => button === document.activeElement);
    this.undo.classList.toggle("nbm-idle", past.length === 0);
    this.redo.classList.toggle("nbm-idle", future.length === 0);
    const start = this.startOf(scene.preset);
    this.reset.hidden = !store.before && Boolean(start) && sameScene(start, scene);
    // A button that goes away would drop the focus out of the lab.
    if (pressed?.classList.contains("nbm-idle")) (pressed === this.undo ? this.redo : this.undo).focus();
    this.share.fold.paint(scene, store.isLocked("code"));
    this.paintStatus(scene);
  }

  /** @param {any} scene */
  paintPreset({ preset }) {
    const isPreset = preset in this.presets && !(preset in (this.tools.starts?.() ?? {}));
    const isChanged = isPreset && this.isChanged;
    if (isChanged) setText(this.changed, `${preset}, changed`);
    const value = isChanged ? CHANGED : isPreset ? preset : "";
    if (this.preset.value !== value) this.preset.value = value;
  }

  /** @param {any} scene */
  paintStatus(scene) {
    const { saved, notice, lost } = this.store;
    if (saved) return setText(this.status, notice || saved);
    const result = this.store.model.get("result");
    const { error, rev } = result;
    const isCurrent = rev === scene.rev;
    setAttributes(this.status, { "data-rev": rev }); // what the words are about; dimmed while Python is behind
    this.status.classList.toggle("nbm-behind", !isCurrent && !notice && !lost);
    this.fold.hidden = !(error && isCurrent);
    if (error && isCurrent) setText(/** @type {Element} */ (this.fold.lastElementChild), error.traceback);
    const pending = this.store.waiting ? (this.tools.waiting ?? WAITING) : (this.status.dataset.settled ?? "");
    const settled = error ? `Python: ${error.message}` : isCurrent ? this.tools.compared(result) : pending;
    if (isCurrent && !this.store.before) this.status.dataset.settled = settled;
    setText(this.status, notice || (lost ? (this.tools.lost ?? LOST) : isCurrent ? settled : pending));
  }
}

/** What belongs together. @param {Node[]} nodes */
export function group(nodes) {
  return el("div", { class: "nbm-group" }, nodes);
}

/** In words, whether Python's numbers are the page's. @param {[number, number][]} pairs Python's and the page's */
export function agreement(pairs) {
  const worst = Math.max(0, ...pairs.map(([python, own]) => Math.abs(own - python) / Math.max(1, Math.abs(python))));
  return worst < 1e-7 ? "Python agrees with these numbers." : `Python’s numbers differ by ${worst.toExponential(1)}.`;
}
