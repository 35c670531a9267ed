/**
 * What saves one view of a lab, or all of them, as PNG or SVG: a choice beside the menu Share, until it is closed. The
 * picture is of what this page shows.
 *
 * @import { Pictured } from "./picture.js"
 * @import { ShareMenu } from "./sharing.js"
 * @typedef {Record<string, () => Pictured>} Views  those that can be drawn now, by their names
 */
import { el } from "./dom.js";
import { drawingOf, pictureOf } from "./picture.js";
import { download } from "./sharing.js";

const EVERYTHING = "Everything";

export class SaveView {
  /** @param {ShareMenu} share @param {() => Views} views */
  constructor(share, views) {
    const { signal } = share;
    this.share = share;
    this.views = views;
    this.select = el("select", { "aria-label": "View" });
    const buttons = /** @type {const} */ (["png", "svg"]).map((kind) => {
      const button = el("button", { type: "button" }, [kind.toUpperCase()]);
      button.addEventListener("click", () => this.save(kind), { signal });
      return button;
    });
    const close = el("button", { type: "button" }, ["Close"]);
    close.addEventListener("click", () => this.close(), { signal });
    this.root = el("div", { class: "nbm-group", role: "group", "aria-label": "Save a view", hidden: "" }, [
      this.select,
      ...buttons,
      close,
    ]);
    const closeByKey = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      this.close();
    };
    this.root.addEventListener("keydown", closeByKey, { signal });
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
    this.share.menu.button.focus({ preventScroll: true });
  }

  /** @param {"png" | "svg"} kind */
  async save(kind) {
    const { menu, file, title } = this.share;
    const words = this.select.value.toLowerCase().match(/[a-z]+/g) ?? [];
    const name = `${[file, ...words].join("-")}.${kind}`;
    const root = /** @type {HTMLElement} */ (menu.root.closest(".nbm"));
    try {
      const make = kind === "svg" ? drawingOf : pictureOf;
      download(await make(root, title(), this.parts()), name);
      menu.tell(`Picture saved: ${name}`);
    } catch (error) {
      menu.tell(`That could not be done: ${/** @type {Error} */ (error).message}`);
    }
  }

  /** What is chosen, as it is now; a sentence stands once. */
  parts() {
    const views = this.views();
    const { value } = this.select;
    if (value !== EVERYTHING && !(value in views)) throw new Error(`there is no view ${value} now`);
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
