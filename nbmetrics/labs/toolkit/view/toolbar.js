/**
 * What the toolbar of every lab has: the presets, undo, redo, reset, table view, code, picture, and the status line.
 * What is a lab's own goes in as `own`, nodes that it paints itself.
 *
 * @import { Store } from "./store.js"
 */
import { el, setAttributes, setText } from "./dom.js";
import { sameScene } from "./history.js";
import { lockable } from "./locks.js";

/**
 * @typedef {object} Toolset
 * @property {Node[]} [own] buttons and fields of the lab's own
 * @property {() => Record<string, any>} [starts] scenes to reset to that are no presets, by the name in their field preset
 * @property {(scene: any) => string} code Python that rebuilds a scene
 * @property {(shown: boolean) => void} table show or hide the numbers behind the pictures
 * @property {() => void} picture save a picture
 * @property {(result: any) => string} compared what Python's answer for this revision says of the page's numbers
 * @property {string} [waiting] what to say while Python is busy or gone
 * @property {string} [lost] what to say once Python cannot answer any more
 */

const WAITING = "Computed in this page; Python is busy or gone.";
const LOST = "Computed in this page. For what needs Python, run the cell again.";

export class Toolbar {
  /** @param {Store} store @param {AbortSignal} signal @param {Toolset} tools */
  constructor(store, signal, tools) {
    this.store = store;
    this.signal = signal;
    this.tools = tools;
    this.presets = /** @type {Record<string, any>} */ (store.model.get("presets"));
    this.preset = el(
      "select",
      { "aria-label": "Preset" },
      Object.keys(this.presets).map((name) => el("option", { value: name }, [name])),
    );
    this.preset.append(el("option", { value: "", hidden: "" }, ["Choose a preset"]));
    this.preset.addEventListener("change", () => this.load(this.preset.value, "presets"), { signal });
    this.undo = this.button("Undo", () => store.undo());
    this.redo = this.button("Redo", () => store.redo());
    this.reset = this.button("Reset", () => this.load(store.scene.preset, "history"));
    this.table = this.button("Table view", () => this.toggleTable());
    setAttributes(this.table, { "aria-pressed": "false" });
    this.code = el("textarea", {
      class: "nbm-code",
      readonly: "",
      rows: "8",
      "aria-label": "Code",
      spellcheck: "false",
    });
    this.codeFold = el("details", { class: "nbm-fold" }, [el("summary", {}, ["Code"]), this.code]);
    this.codeFold.hidden = true;
    const copy = this.button("Copy code", () => this.copy());
    const picture = this.button("Save picture", tools.picture);
    lockable("presets", this.preset);
    lockable("history", this.undo, this.redo, this.reset);
    lockable("code", copy);
    this.root = el("div", { class: "nbm-toolbar" }, [
      group([this.preset]),
      ...(tools.own ? [group(tools.own)] : []),
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

  /** @param {string} name @param {"presets" | "history"} what the lock that refuses it */
  load(name, what) {
    const scene = this.startOf(name) ?? Object.values(this.presets)[0];
    this.store.open({ ...scene, rev: this.store.scene.rev }, what);
  }

  /** @param {string} name */
  startOf(name) {
    return this.presets[name] ?? this.tools.starts?.()[name];
  }

  toggleTable() {
    const shown = this.table.getAttribute("aria-pressed") !== "true";
    setAttributes(this.table, { "aria-pressed": String(shown) });
    this.tools.table(shown);
  }

  async copy() {
    const code = this.tools.code(this.store.scene);
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

  /** @param {any} scene */
  paint(scene) {
    const { store } = this;
    const preset = scene.preset in this.presets ? scene.preset : "";
    if (this.preset.value !== preset) this.preset.value = preset;
    const pressed = [this.undo, this.redo, this.reset].find((button) => button === document.activeElement);
    this.undo.disabled = store.history.past.length === 0;
    this.redo.disabled = store.history.future.length === 0;
    const start = this.startOf(scene.preset);
    this.reset.disabled = !store.before && Boolean(start) && sameScene(start, scene);
    // A button that closes would drop the focus out of the lab.
    if (pressed?.disabled) (this.undo.disabled ? this.redo : this.undo).focus();
    if (this.store.isLocked("code")) this.codeFold.hidden = true;
    if (!this.codeFold.hidden) this.code.value = this.tools.code(scene);
    this.paintStatus(scene);
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
