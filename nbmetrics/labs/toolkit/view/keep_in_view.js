/**
 * A lab that a cell has just shown is kept where the eye is: Chromium holds in place what stands below an output that
 * grows, and so pushes the lab out of a notebook's view.
 *
 * The notebook is scrolled once at most, before anything of the lab is painted where that can be; only within
 * `WATCHED_MS` of the run, only where the lab's place was in view, and never once the user has touched the page again. A
 * page that scrolls as a whole, one that shows labs by itself (Voila) and a notebook that is reopened stay as they are.
 * Where less than `TOP_PX` of the lab's top is seen, the lab is brought in view as far as it fits.
 *
 * @import { Model } from "./types.js"
 */

const WATCHED_MS = 3000;
const TOP_PX = 300;
const MARGIN_PX = 8;
const BY_USER = ["wheel", "touchmove", "pointerdown", "keydown"];

/** Whether a cell that the user ran has just shown the lab, asked once. @param {Model} model */
export function wasJustRun(model) {
  const isRun = model.get("is_new") === true && model.get("layout")?.comm_live === true;
  if (!isRun) return false;
  model.set("is_new", false);
  model.save_changes();
  return navigator.userActivation?.hasBeenActive === true;
}

/** @param {HTMLElement} root of the lab, before anything of it is painted @param {AbortSignal} signal */
export function keepInView(root, signal) {
  const ending = new AbortController();
  const own = AbortSignal.any([signal, ending.signal]);
  const stop = () => ending.abort();
  let hasSize = false; // before it, the lab is empty, and the notebook may scroll on its own
  const check = () => {
    if (!hasSize) return;
    const pane = paneOf(root);
    const way = pane && wayIntoView(pane.getBoundingClientRect(), root.getBoundingClientRect());
    if (!pane || !way) return;
    stop();
    pane.scrollTop += way;
  };
  /** Told of the first size between the layout and the painting. */
  const sizes = new ResizeObserver(() => {
    hasSize = true;
    check();
  });
  sizes.observe(root);
  const timer = setTimeout(stop, WATCHED_MS);
  own.addEventListener("abort", () => {
    sizes.disconnect();
    clearTimeout(timer);
  });
  const listening = { capture: true, passive: true, signal: own };
  addEventListener("scroll", check, listening);
  for (const event of BY_USER) addEventListener(event, stop, listening);
}

/** What scrolls a notebook and is not the page itself. @param {HTMLElement} root @returns {HTMLElement | null} */
function paneOf(root) {
  for (let node = root.parentElement; node && node !== document.body; node = node.parentElement)
    if (/auto|scroll/.test(getComputedStyle(node).overflowY) && node.scrollHeight > node.clientHeight) return node;
  return null;
}

/**
 * By how much to scroll so that the lab's top is seen; 0 where it is, and where the lab's place was not in view: then
 * neither its top is, nor, had it grown upwards, its bottom.
 * @param {{top: number, bottom: number}} view @param {{top: number, bottom: number}} lab
 */
export function wayIntoView(view, lab) {
  const isIn = (/** @type {number} */ y) => y >= view.top && y <= view.bottom;
  if (!isIn(lab.top) && !isIn(lab.bottom)) return 0;
  const seen = Math.min(lab.bottom, view.bottom) - lab.top;
  if (lab.top >= view.top && seen >= Math.min(TOP_PX, lab.bottom - lab.top)) return 0;
  const up = lab.top - view.top - MARGIN_PX;
  return lab.top < view.top ? up : Math.min(up, lab.bottom - view.bottom + MARGIN_PX);
}
