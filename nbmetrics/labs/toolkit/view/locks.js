/**
 * What a teacher locked, shown: controls that do nothing else are hidden, and what also shows something is disabled and
 * says why. The store is what refuses.
 *
 * @import { Store } from "./store.js"
 */
import { setAttributes } from "./dom.js";

const LOCKED_WHY = "Locked by the teacher";
// What "drag" covers wherever it is; other controls are marked by `lockable`.
const LOCKED_BY_DRAG =
  ':is([role="slider"], input:is([type="number"], [type="text"], [type="range"])):not([data-lock], [hidden])';

/** Controls that the lock `what` hides. @param {string} what a name of Lab.lock, or "" for what stays open @param {...Element} nodes */
export function lockable(what, ...nodes) {
  for (const node of nodes) setAttributes(node, { "data-lock": what });
}

export class Locks {
  /** @param {HTMLElement} root @param {Store} store */
  constructor(root, store) {
    this.root = root;
    this.store = store;
    this.shown = "";
  }

  /** Paint, and close afterwards what is locked: painting may have enabled or added it. @param {() => void} paint */
  around(paint) {
    const { locked } = this.store;
    const now = locked.join(" ");
    if (now !== this.shown) this.open();
    this.shown = now;
    this.root.classList.toggle("nbm-still", locked.includes("drag"));
    paint();
    for (const what of locked) {
      this.still(`td [data-lock="${what}"]`); // it shows a number, too
      for (const node of this.root.querySelectorAll(`[data-lock="${what}"]:not(.nbm-locked, td *)`))
        node.classList.add("nbm-locked");
    }
    if (locked.includes("drag")) this.still(LOCKED_BY_DRAG);
  }

  open() {
    for (const node of this.root.querySelectorAll("[data-title]")) openLock(node);
    for (const node of this.root.querySelectorAll(".nbm-locked")) node.classList.remove("nbm-locked");
  }

  /** @param {string} selector */
  still(selector) {
    for (const node of this.root.querySelectorAll(selector)) {
      if ("disabled" in node) node.disabled = true;
      else setAttributes(node, { "aria-disabled": "true" });
      // An SVG shows no title attribute; what it stands in does.
      explainLock(node.closest("svg")?.parentElement ?? node, this.store.whyLocked || LOCKED_WHY);
    }
  }
}

/** @param {Element} node @param {string} why */
function explainLock(node, why) {
  if (!node.hasAttribute("data-title")) setAttributes(node, { "data-title": node.getAttribute("title") ?? "" });
  setAttributes(node, { title: why });
}

/** @param {Element} node */
function openLock(node) {
  for (const part of [node, ...node.querySelectorAll('[aria-disabled="true"]')]) {
    if ("disabled" in part) part.disabled = false;
    part.removeAttribute("aria-disabled");
  }
  const title = node.getAttribute("data-title") ?? "";
  node.removeAttribute("data-title");
  if (title) setAttributes(node, { title });
  else node.removeAttribute("title");
}
