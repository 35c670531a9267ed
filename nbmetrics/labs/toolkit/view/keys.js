/**
 * Which key presses in a lab are its own, and which are the notebook's: Ctrl+S, Shift+Enter and the like go on to the
 * notebook, and Escape goes to the lab's cell once nothing in the lab is left to cancel.
 *
 * A handler calls `preventDefault` for what it uses, Escape included, and ignores what is not `isOwnKey`. A plain letter
 * or digit is the lab's even where no handler uses it: in a notebook D D deletes the cell and 0 0 restarts the kernel.
 *
 * @import { Store } from "./store.js"
 */
import { setAttributes } from "./dom.js";

/** What undoes its own letters. */
const TEXT = "textarea, input:not([type=range], [type=checkbox], [type=radio])";
const PLAIN = /^(.|Arrow\w+|Home|End|Page\w+|Delete|Backspace|Enter|Escape)$/u;
/** With Ctrl or Cmd. */
const SHORTCUTS = { text: /^([acvxyz]|Arrow\w+|Home|End|Delete|Backspace)$/, other: /^[yz]$/ };
const MARK = "data-lm-suppress-shortcuts";

/** @param {EventTarget | null} target */
function isText(target) {
  return target instanceof Element && target.matches(TEXT);
}

/** Whether a lab may use a key press; the others are the notebook's. @param {KeyboardEvent} event */
export function isOwnKey({ key, ctrlKey, metaKey, altKey, shiftKey, target }) {
  const isPlain = !ctrlKey && !metaKey && !altKey;
  if (isPlain) return PLAIN.test(key) && !(key === "Enter" && shiftKey);
  if (altKey) return isText(target) && key.length === 1; // a letter of some keyboards
  return SHORTCUTS[isText(target) ? "text" : "other"].test(key.length === 1 ? key.toLowerCase() : key);
}

/**
 * Keep a lab's own keys from the notebook: JupyterLab reads keys after the lab, Notebook 7 before it, but from no element
 * with the mark.
 * @param {HTMLElement} root of the lab @param {Store} store @param {AbortSignal} signal
 */
export function shareKeys(root, store, signal) {
  const mark = (/** @type {KeyboardEvent} */ event) => {
    const { target } = event;
    if (!(target instanceof Element) || !root.contains(target)) return;
    if (isOwnKey(event)) setAttributes(target, { [MARK]: "true" });
    else target.removeAttribute(MARK);
  };
  addEventListener("keydown", mark, { capture: true, signal });
  root.addEventListener("keydown", (event) => take(event, root, store), { signal });
}

/** @param {KeyboardEvent} event @param {HTMLElement} root @param {Store} store */
function take(event, root, store) {
  if (!isOwnKey(event)) return;
  event.stopPropagation();
  if (event.defaultPrevented) return;
  const { key, shiftKey, target } = event;
  if (key === "Escape") return cancelOrLeave(root, store);
  if (!(event.ctrlKey || event.metaKey) || isText(target)) return;
  event.preventDefault();
  if (key.toLowerCase() === "y" || shiftKey) store.redo();
  else store.undo();
}

/** Give a drag up; without one leave for the cell, whose keys are the notebook's. @param {HTMLElement} root @param {Store} store */
function cancelOrLeave(root, store) {
  if (store.before) return store.cancel();
  const cell = /** @type {HTMLElement | null} */ (root.closest(".jp-Cell"));
  cell?.focus({ preventScroll: true });
}
