/**
 * What there is to try in the opening scene, one goal after another: each says when it is reached, and why.
 *
 * @import { Scene } from "../../toolkit/view/types.js"
 * @import { PlaygroundStore } from "./store.js"
 */
import { sharesOf } from "../../plane/view/distributions.js";
import { placesOf } from "../../plane/view/scores.js";
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { lockable } from "../../toolkit/view/locks.js";
import goals from "../goals.json" with { type: "json" };
import { bestOf } from "./headline.js";
import { CHARTED, drawnOf } from "./metrics.js";

export const OPENING = "Narrow or wide";
// Clients count as together at this share of the distance they began with, and as left alone within this of it.
const TOGETHER_SHARE = 0.75;
const UNMOVED_TOLERANCE = 1e-6;
const MIN_EDITS = 3;

/** @typedef {"reached" | "elsewhere" | "open"} State */
/** @typedef {{scene: Scene, start: Scene, best: number[] | null, isKernel: boolean, edits: number}} Seen  `best`: who both call best, if they agree */

/** @type {Record<string, (seen: Seen) => State>} */
export const CHECKS = {
  together: ({ scene, start, best }) =>
    !best ? "open" : distanceOf(scene) < TOGETHER_SHARE * distanceOf(start) ? "reached" : "elsewhere",
  weight: ({ scene, start, best }) => {
    if (!best) return "open";
    const isElse = !isAlike(scene.clients, start.clients) || !isAlike(scene.generators, start.generators);
    return isElse ? "elsewhere" : "reached";
  },
  narrow: ({ scene, start, best }) => {
    if (best?.length !== 1 || scene.generators[best[0]].name !== start.generators[0].name) return "open";
    const isSame = isAlike(scene.clients, start.clients) && isEven(scene);
    return isSame ? "reached" : "elsewhere";
  },
  kernel: ({ isKernel, edits }) => (isKernel && edits >= MIN_EDITS ? "reached" : "open"),
};

/** The largest distance between two clients' means. @param {Scene} scene */
function distanceOf({ clients }) {
  return Math.max(...clients.flatMap((p) => clients.map((q) => Math.hypot(p.x - q.x, p.y - q.y))));
}

/** Whether items lie and spread as they did. @param {Scene["clients"]} items @param {Scene["clients"]} before */
function isAlike(items, before) {
  const keys = /** @type {const} */ (["x", "y", "width", "height", "angle"]);
  return (
    items.length === before.length &&
    items.every((item, i) => keys.every((key) => Math.abs(item[key] - before[i][key]) < UNMOVED_TOLERANCE))
  );
}

/** @param {Scene} scene */
function isEven({ clients }) {
  const shares = sharesOf(clients);
  return Math.max(...shares) - Math.min(...shares) < UNMOVED_TOLERANCE;
}

export class Goals {
  /** @param {PlaygroundStore} store @param {() => void} toLessons @param {AbortSignal} signal */
  constructor(store, toLessons, signal) {
    this.store = store;
    this.count = el("b");
    this.text = el("span");
    this.next = el("button", { type: "button" }, ["Next goal"]);
    this.next.addEventListener("click", () => (this.isLast ? toLessons() : this.advance()), { signal });
    lockable("presets", this.next);
    // As tall as the longest that it will say, so that reaching a goal moves nothing.
    this.said = el("p", {}, [el("span", {}, [this.count, " ", this.text])]);
    this.root = el("div", { class: "nbm-goal", role: "status", "aria-label": "Goal" }, [this.said, this.next]);
  }

  get isLast() {
    return this.store.goal.index === goals.length - 1;
  }

  /** The next goal, from the scene that all of them start with. */
  advance() {
    const { store } = this;
    const start = store.model.get("presets")[OPENING];
    store.goal = { index: store.goal.index + 1, isReached: false, edits: 0 };
    store.open({ ...start, rev: store.scene.rev }, "presets");
    store.goal.edits = 0;
  }

  /** @param {Scene} scene */
  paint(scene) {
    const { goal, model } = this.store;
    const start = model.get("presets")[OPENING];
    this.root.hidden = scene.preset !== OPENING || !start || Boolean(scene.lesson) || this.store.isLocked("drag");
    if (this.root.hidden) return;
    const { check, text, elsewhere, why } = goals[goal.index];
    const state = goal.isReached ? "reached" : CHECKS[check](seenOf(this.store, scene, start));
    goal.isReached ||= state === "reached" && goal.edits > 0 && !this.store.before;
    const isReached = goal.isReached;
    this.root.classList.toggle("nbm-done", isReached);
    const which = `Goal ${goal.index + 1} of ${goals.length}`;
    setText(this.count, isReached ? `✓ ${which}.` : `${which}:`);
    setAttributes(this.said, { "data-longest": `✓ ${which}. ${why}` });
    setText(this.text, isReached ? why : state === "elsewhere" ? elsewhere : text);
    setText(this.next, this.isLast ? "To the lessons" : isReached ? "Next goal" : "Skip");
    setAttributes(this.next, { "data-reached": String(isReached) });
  }
}

/** @param {PlaygroundStore} store @param {Scene} scene @param {Scene} start @returns {Seen} */
function seenOf(store, scene, start) {
  const drawn = drawnOf(store);
  const isKernel = CHARTED[drawn.metric].kernel ?? false;
  return { scene, start, best: agreedOn(drawn), isKernel, edits: store.goal.edits };
}

/**
 * Who avg and all both call best, if they agree: of FID alone, as other metrics agree here without anything being done.
 * @param {Pick<ReturnType<typeof drawnOf>, "metric" | "numbers" | "higher">} drawn
 */
export function agreedOn({ metric, numbers, higher }) {
  if (metric !== "fid" || !numbers) return null;
  const [byAvg, byAll] = [numbers.avg, numbers.all].map((scores) => bestOf(placesOf(scores, higher, numbers.terms)));
  return byAvg.join() === byAll.join() ? byAvg : null;
}
