/**
 * What saves one view of a lab, or all of them, as PNG or SVG: a choice beside the menu Share, until it is closed.
 *
 * @import { Pictured } from "./picture.js"
 * @typedef {Record<string, () => Pictured>} Views  those that can be drawn now, by their names
 */
import { el } from "./dom.js";

export const EVERYTHING = "Everything";

export class SaveView {
  /**
   * @param {() => Views} views @param {AbortSignal} signal
   * @param {(name: string, parts: Pictured[], kind: "png" | "svg") => Promise<void>} save @param {() => HTMLElement} back gets the focus
   */
  constructor(views, signal, save, back) {
    this.views = views;
    this.back = back;
    this.select = el("select", { "aria-label": "View" });
    const buttons = /** @type {const} */ (["png", "svg"]).map((kind) => {
      const button = el("button", { type: "button" }, [kind.toUpperCase()]);
      button.addEventListener("click", () => save(this.select.value, this.parts(), kind), { signal });
      return button;
    });
    const close = el("button", { type: "button" }, ["Close"]);
    close.addEventListener("click", () => this.close(), { signal });
    this.root = el("div", { class: "nbm-group", role: "group", "aria-label": "Save a view", hidden: "" }, [
      this.select,
      ...buttons,
      close,
    ]);
    this.root.addEventListener("keydown", (event) => event.key === "Escape" && this.close(), { signal });
  }

  open() {
    const chosen = this.select.value;
    const names = [EVERYTHING, ...Object.keys(this.views())];
    this.select.replaceChildren(...names.map((name) => el("option", { value: name }, [name])));
    this.select.value = names.includes(chosen) ? chosen : EVERYTHING;
    this.root.hidden = false;
    this.select.focus();
  }

  close() {
    this.root.hidden = true;
    this.back().focus({ preventScroll: true });
  }

  /** What is chosen, as it is now; its sentences stand once. */
  parts() {
    const views = this.views();
    const { value } = this.select;
    if (value !== EVERYTHING && !(value in views)) throw new Error(`there is no ${value} now`);
    const names = value === EVERYTHING ? Object.keys(views) : [value];
    const said = new Set();
    return names.map((name) => {
      const { words = [], ...part } = views[name]();
      const fresh = words.filter((sentence) => !said.has(sentence));
      for (const sentence of fresh) said.add(sentence);
      return { head: name, words: fresh, ...part };
    });
  }
}
