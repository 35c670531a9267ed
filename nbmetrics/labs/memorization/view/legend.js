/**
 * What of the picture is shown, in this display: the legend, whose entries are switches. Copies and the train points
 * that they repeat are there from the start; the other generated points come with the slider that changes them, and the
 * rest when it is asked for.
 *
 * @import { MemoState } from "./state.js"
 */
import { el, setAttributes, setText, svg } from "../../toolkit/view/dom.js";

/** @typedef {"train" | "copies" | "others" | "test" | "bumps"} Layer */

const DISC = "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0";
const DIAMOND = "M0-4.5L4.5 0L0 4.5L-4.5 0Z";
/** @type {Record<Layer, {text: string, marks: Record<string, string>}>} */
const ENTRIES = {
  train: { text: "train", marks: { train: DISC } },
  copies: { text: "copies of train", marks: { copied: DIAMOND, rings: "M-7 0a7 7 0 1 0 14 0a7 7 0 1 0-14 0" } },
  others: { text: "other generated", marks: { made: DIAMOND } },
  test: { text: "test", marks: { test: "M-3.5-3.5L3.5 3.5M-3.5 3.5L3.5-3.5" } },
  bumps: { text: "fitted bumps, 1σ", marks: { bumps: "M-7 0a7 5 0 1 0 14 0a7 5 0 1 0-14 0" } },
};
const LAYER_NAMES = /** @type {Layer[]} */ (Object.keys(ENTRIES));

export class MemoLayers {
  /** @param {MemoState} state @param {AbortSignal} signal */
  constructor(state, signal) {
    this.state = state;
    /** @type {Partial<Record<Layer, boolean>>} what the reader chose */
    this.chosen = {};
    /** @type {Record<string, HTMLElement>} */
    this.switches = Object.fromEntries(LAYER_NAMES.map((name) => [name, this.makeSwitch(name, signal)]));
    this.root = el(
      "div",
      { class: "nbm-memo-layers", role: "group", "aria-label": "Shown in the picture" },
      Object.values(this.switches),
    );
  }

  /** @param {Layer} name @param {AbortSignal} signal */
  makeSwitch(name, signal) {
    const { text, marks } = ENTRIES[name];
    const key = svg(
      "svg",
      { class: "nbm-memo-key", viewBox: "-8 -8 16 16", "aria-hidden": "true" },
      Object.entries(marks).map(([mark, d]) => svg("path", { class: `nbm-memo-${mark}`, d })),
    );
    const node = el("button", { type: "button" }, [key, el("span", {}, [text])]);
    node.addEventListener(
      "click",
      () => {
        this.chosen[name] = !this.shows(name);
        this.state.store.changed();
      },
      { signal },
    );
    return node;
  }

  /** @param {Layer} name */
  shows(name) {
    return this.chosen[name] ?? this.isUsual(name);
  }

  /** Whether a layer is there unless the reader wants it otherwise: what a slider changes must be seen. @param {Layer} name */
  isUsual(name) {
    const { scene, isOwn } = this.state;
    if (name === "others") return isOwn || scene.spread !== 1 || scene.bandwidth !== 0;
    return name === "train" || name === "copies";
  }

  /** What is shown, as text. */
  get key() {
    return LAYER_NAMES.filter((name) => this.shows(name)).join(" ");
  }

  /** @param {boolean} hasBumps whether Python has told their sizes, or will */
  paint(hasBumps) {
    const { isOwn } = this.state;
    this.switches.copies.hidden = isOwn;
    this.switches.bumps.hidden = !hasBumps;
    setText(/** @type {Element} */ (this.switches.others.lastElementChild), isOwn ? "generated" : ENTRIES.others.text);
    for (const name of LAYER_NAMES) setAttributes(this.switches[name], { "aria-pressed": String(this.shows(name)) });
  }
}
