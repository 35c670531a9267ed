/**
 * The weights of three groups of clients as a point in a triangle, on polygons of who wins: by avg, or by all where Python
 * has computed that. A corner is all weight on its group; within a group the clients keep their proportions.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Decided } from "./decision_inputs.js"
 * @import { Numbers, Scene, Shown } from "./types.js"
 * @import { Told, Winners } from "./winner_regions.js"
 */
import { resizeChildren } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { isOwnKey } from "../../toolkit/view/keys.js";
import { nameWidth, shortened } from "../../toolkit/view/name_width.js";
import { shareText } from "../../toolkit/view/numbers.js";
import { sharesOf } from "./metric_view.js";
import { leastOf } from "./place_ranges.js";
import { listed } from "./verdict.js";
import {
  branches,
  groupsOf,
  nameOf,
  patches,
  regions,
  thirds,
  totals,
  turns,
  winnerAt,
  winnersOf,
  withinOf,
  withTotals,
} from "./winner_regions.js";

const BOX = "0 -24 260 244";
// How far a key moves a group's weight, and with Shift.
const [STEP, STRIDE] = [0.02, 0.1];
/** @type {Record<string, [number, number, number]>} what an arrow gives to each corner */
const ARROWS = {
  ArrowLeft: [1, -1, 0],
  ArrowRight: [-1, 1, 0],
  ArrowUp: [-0.5, -0.5, 1],
  ArrowDown: [0.5, 0.5, -1],
};

const HEAD = "Who wins as groups of clients count more?";

export class Triangle {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.painted = "";
    this.drag = -1;
    this.isHeld = false;
    /** @type {Winners | null} what is drawn by all */
    this.winners = null;
    /** @type {{winners: Winners, names: string[], patches: number[][][][], turns: string} | undefined} */
    this.curved = undefined;
    this.regions = svg("g");
    this.turns = svg("path", { class: "nbm-triangle-turns" });
    this.choice = new WinnerChoice(store, signal);
    this.names = svg("g", { class: "nbm-triangle-corners" });
    this.point = svg(
      "g",
      {
        class: "nbm-handle nbm-triangle-point",
        role: "slider",
        tabindex: 0,
        "aria-label": "weights of three groups",
        "aria-valuemin": 0,
        "aria-valuemax": 1,
      },
      [svg("circle", { r: 15, class: "nbm-touch" }), svg("circle", { r: 6, class: "nbm-mark" })],
    );
    this.drawing = svg("svg", { viewBox: BOX, class: "nbm-chart nbm-triangle" }, [
      svg("path", { class: "nbm-triangle-frame", d: pathOf(CORNERS) }),
      this.regions,
      this.turns,
      this.names,
      this.point,
    ]);
    this.note = el("p", { class: "nbm-note" });
    this.ways = ["alike", "in thirds"].map((way) => this.makeWay(way, signal));
    this.group = el("div", { class: "nbm-group", role: "group", "aria-label": "Groups" }, [
      el("span", {}, ["Groups"]),
      ...this.ways,
    ]);
    this.root = el("section", { class: "nbm-decision", "aria-label": HEAD }, [
      el("span", { class: "nbm-card-head", role: "heading", "aria-level": "3" }, [HEAD]),
      this.group,
      this.choice.root,
      this.drawing,
      this.note,
    ]);
    const on = (/** @type {string} */ name, /** @type {(event: any) => void} */ call) =>
      this.drawing.addEventListener(name, call, { signal });
    on("pointerdown", (event) => this.press(event));
    on("pointermove", (event) => this.move(event));
    on("pointerup", () => this.release());
    on("pointercancel", () => this.release(true));
    this.point.addEventListener("keydown", (event) => this.key(event), { signal });
    // touch-action does not reach inside an SVG.
    this.drawing.addEventListener("touchstart", (event) => event.preventDefault(), { signal, passive: false });
  }

  /** @param {string} way @param {AbortSignal} signal */
  makeWay(way, signal) {
    const button = el("button", { type: "button", "data-lock": "drag" }, [way]);
    const set = () => {
      const groups = this.groupsBy(way);
      if (groups) this.store.edit(/** @type {any} */ ({ ...this.store.scene, groups }));
    };
    button.addEventListener("click", set, { signal });
    return button;
  }

  /** @param {string} way */
  groupsBy(way) {
    const board = this.store.model.get("board");
    return way === "alike" ? branches(board) : thirds(board.clients.length);
  }

  /** @returns {Scene} where the drag began, or the scene on show */
  get from() {
    return /** @type {any} */ (this.store.before ?? this.store.scene);
  }

  /** @param {Scene} scene @param {Numbers} numbers @param {Decided} decided */
  paint(scene, { clients, shares, metrics }, decided) {
    this.root.hidden = clients.length < 3;
    if (this.root.hidden) return;
    const groups = groupsOf(scene, clients.length);
    const own = JSON.stringify(groups);
    this.ways.forEach((button, n) => {
      const groups = this.groupsBy(n ? "in thirds" : "alike");
      button.hidden = !groups;
      setAttributes(button, { "aria-pressed": String(JSON.stringify(groups) === own) });
    });
    const held = scene.held.length > 0;
    this.drawing.classList.toggle("nbm-triangle-held", held);
    this.isHeld = held;
    const parts = totals(shares, groups);
    const where = [0, 1, 2].map((group) => nameOf(clients, groups, group));
    this.paintCorners(where, parts);
    this.paintWinners(scene, metrics[scene.metric], decided, { shares, groups, parts });
    const [x, y] = spot(parts);
    const text = where.map(({ first, more }, n) => `${first}${more} ${shareText(parts[n])}`).join(", ");
    setAttributes(this.point, {
      transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
      "aria-valuenow": Number(parts[0].toFixed(4)),
      "aria-valuetext": text,
    });
    if (held) setAttributes(this.point, { "aria-disabled": "true" });
    else if (!this.store.isLocked("drag")) this.point.removeAttribute("aria-disabled");
  }

  /** Who wins where, and at the point. @param {Scene} scene @param {Shown} shown @param {Decided} decided @param {{shares: number[], groups: number[], parts: number[]}} at */
  paintWinners({ generators }, shown, { lined, winner }, { shares, groups, parts }) {
    const isMoving = Boolean(this.store.before);
    const isOld = isMoving && this.drag < 0;
    this.drawing.classList.toggle("nbm-triangle-old", isOld);
    if (!isMoving) this.winners = this.choice.paint(/** @type {any} */ (this.store.scene), shown, groups, shares);
    const { winners } = this;
    const byAll = () => (winners && !isOld ? winnerAt(winners, generators, parts) : leastOf(shown.allLosses));
    const first = winners ? byAll() : winner;
    if (isMoving) return this.paintWinner(generators[first]);
    const flat = () => regions(lined, groups, shares).map((polygon) => (polygon.length ? [polygon] : []));
    const curved = winners && this.curvedOf(winners, generators);
    const small = this.paintRegions(curved?.patches ?? flat(), generators, first);
    this.drawing.classList.toggle("nbm-triangle-curved", winners !== null);
    setAttributes(this.turns, { d: curved?.turns ?? "" });
    setText(this.note, noteOf(this.isHeld, this.choice.words(shown, winners), small));
  }

  /** What is drawn of the same winners and names stays. @param {Winners} winners @param {string[]} names */
  curvedOf(winners, names) {
    if (this.curved?.winners !== winners || this.curved.names !== names)
      this.curved = {
        winners,
        names,
        patches: patches(winners, names),
        turns: turns(winners, names).map(lineOf).join(""),
      };
    return this.curved;
  }

  /** @param {{first: string, more: string}[]} where @param {number[]} parts */
  paintCorners(where, parts) {
    const makeCorner = () => svg("text");
    resizeChildren(this.names, 3, makeCorner).forEach((node, n) => {
      const { first, more } = where[n];
      const [x, y] = CORNERS[n];
      const anchor = ["start", "end", "middle"][n];
      setAttributes(node, { x: n === 0 ? 0 : n === 1 ? 260 : x, y: n === 2 ? y - 7 : y + 16, "text-anchor": anchor });
      setText(node, `${shortened(first, 62)}${more} ${shareText(parts[n])}`);
    });
  }

  /** Those that have no room for their names. @param {number[][][][]} polygons by generator @param {string[]} names @param {number} winner */
  paintRegions(polygons, names, winner) {
    /** @type {string[]} */
    const small = [];
    const some = polygons.map((own, g) => ({ own, g })).filter(({ own }) => own.length);
    resizeChildren(this.regions, some.length, makeRegion).forEach((node, n) => {
      const { own, g } = some[n];
      const drawn = own.map((polygon) => polygon.map(spot));
      setAttributes(node, { "data-winner": names[g] });
      node.classList.toggle("nbm-first", g === winner);
      setAttributes(node.children[0], { d: drawn.map(pathOf).join("") });
      const { x, y, room } = middle(drawn);
      setAttributes(node.children[1], { x: x.toFixed(1), y: (y + 4).toFixed(1) });
      const hasRoom = room > Math.min(54, 12 + nameWidth(names[g]));
      if (!hasRoom) small.push(names[g]);
      setText(node.children[1], hasRoom ? shortened(names[g], room - 6) : "");
      setText(node.children[2], names[g]);
    });
    return small;
  }

  /** In a drag of the point regions stay as they are; in another they follow once it rests. @param {string} winner */
  paintWinner(winner) {
    for (const node of this.regions.children)
      node.classList.toggle("nbm-first", node.getAttribute("data-winner") === winner);
  }

  /** @param {PointerEvent} event */
  press(event) {
    if (event.button !== 0 || this.drag >= 0 || this.isHeld || this.store.isLocked("drag")) return;
    event.preventDefault();
    this.drawing.setPointerCapture(event.pointerId);
    this.point.focus({ preventScroll: true });
    this.drag = event.pointerId;
    this.isMoved = false;
    this.move(event);
  }

  /** @param {PointerEvent} event */
  move(event) {
    if (event.pointerId !== this.drag) return;
    if (this.isMoved && !this.store.before) this.drag = -1; // Escape gave it up
    const matrix = this.drawing.getScreenCTM()?.inverse();
    if (this.drag < 0 || !matrix) return;
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
    this.isMoved = true;
    this.store.preview(this.sceneWith(this.from, roundParts(partsAt(x, y))));
  }

  /** @param {boolean} [isGivenUp] */
  release(isGivenUp = false) {
    if (this.drag < 0) return;
    this.drag = -1;
    if (isGivenUp) this.store.cancel();
    else this.store.finish();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!isOwnKey(event)) return;
    const arrow = ARROWS[event.key];
    if (!arrow || this.isHeld) return;
    event.preventDefault();
    const by = event.shiftKey ? STRIDE : STEP;
    const scene = /** @type {Scene} */ (/** @type {any} */ (this.store.scene));
    const parts = totals(sharesOf(scene.weights), groupsOf(scene, scene.weights.length));
    this.store.edit(this.sceneWith(scene, roundParts(parts.map((part, n) => part + by * arrow[n]))));
  }

  /** @param {Scene} scene @param {number[]} parts @returns {any} */
  sceneWith(scene, parts) {
    const groups = groupsOf(scene, scene.weights.length);
    return { ...scene, weights: withTotals(sharesOf(scene.weights), groups, parts) };
  }
}

function makeRegion() {
  return svg("g", { class: "nbm-triangle-region" }, [
    svg("path"),
    svg("text", { "text-anchor": "middle" }),
    svg("title"),
  ]);
}

/** @param {boolean} isHeld @param {string} words @param {string[]} small */
function noteOf(isHeld, words, small) {
  const others = small.length ? ` Regions too small for a name: ${listed(small, [...small.keys()])}.` : "";
  return `${words}${others}${isHeld ? " Weights are held: release them to move groups." : ""}`;
}

/** @param {[number[], number[]]} ends weights of the groups */
function lineOf(ends) {
  return pathOf(ends.map(spot)).slice(0, -1);
}

/* The triangle of three weights in pixels of its drawing. No DOM. */

/** Corners: left, right, top. */
export const CORNERS = [
  [14, 196],
  [246, 196],
  [130, -4],
];
// Pixels between two spans that are one.
const SEAM_PX = 0.6;

/** Pixels of three weights. @param {number[]} parts */
export function spot(parts) {
  return [0, 1].map((axis) => parts.reduce((sum, part, n) => sum + part * CORNERS[n][axis], 0));
}

/** Three weights at a pixel. @param {number} x @param {number} y */
export function partsAt(x, y) {
  const [left, right, top] = CORNERS;
  const up = (left[1] - y) / (left[1] - top[1]);
  const across = (x - left[0] - up * (top[0] - left[0])) / (right[0] - left[0]);
  return [1 - up - across, across, up];
}

/** On the triangle, in steps of a thousandth, of sum 1. @param {number[]} parts */
export function roundParts(parts) {
  const kept = parts.map((part) => Math.max(0, part));
  const total = kept.reduce((sum, part) => sum + part, 0);
  const [first, second] = kept.map((part) => Math.round((1000 * part) / total) / 1000);
  return [first, Math.min(second, 1 - first), Math.max(0, 1 - first - second)];
}

/** @param {number[][]} points */
export function pathOf(points) {
  return `M${points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}Z`;
}

/** Where convex polygons together are widest: a place for a name, and how much room there is. @param {number[][][]} polygons */
export function middle(polygons) {
  const ys = polygons.flatMap((points) => points.map(([, y]) => y));
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  let best = { x: 0, y: 0, room: 0 };
  for (let n = 1; n < 8; n++) {
    const y = low + ((high - low) * n) / 8;
    for (const [from, to] of spansAt(polygons, y))
      if (to - from > best.room && Math.min(y - low, high - y) > 6) best = { x: (from + to) / 2, y, room: to - from };
  }
  return best;
}

/** @param {number[][][]} polygons @param {number} y @returns {[number, number][]} */
function spansAt(polygons, y) {
  /** @type {[number, number][]} */
  const spans = [];
  for (const points of polygons) {
    const xs = points.flatMap(([x, at], m) => {
      const [other, beyond] = points[(m + 1) % points.length];
      return at < y === beyond < y ? [] : [x + ((other - x) * (y - at)) / (beyond - at)];
    });
    if (xs.length) spans.push([Math.min(...xs), Math.max(...xs)]);
  }
  spans.sort((a, b) => a[0] - b[0]);
  /** @type {[number, number][]} */
  const joined = [];
  for (const [from, to] of spans) {
    const last = joined[joined.length - 1];
    if (last && from <= last[1] + SEAM_PX) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}

/* By which aggregate the triangle of weights shows who wins: avg, which the page knows, or all, which Python computes for the groups on show once it is chosen. */

const WAYS = /** @type {const} */ (["avg", "all"]);

export class WinnerChoice {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.by = "avg";
    this.asked = "";
    this.buttons = WAYS.map((by) => {
      const button = el("button", { type: "button" });
      button.addEventListener("click", () => this.choose(by), { signal });
      return button;
    });
    this.root = el("div", { class: "nbm-group", role: "group", "aria-label": "Winner by" }, [
      el("span", {}, ["Winner by"]),
      ...this.buttons,
    ]);
  }

  /** @param {string} by */
  choose(by) {
    if (this.asked && by === "avg") this.store.send({ kind: "no winners" });
    this.by = by;
    this.asked = "";
    this.store.changed();
  }

  /** @returns {Told} */
  get told() {
    return this.store.model.get("winners") ?? {};
  }

  /** What is to be drawn by all; null where it is avg's. @param {Scene} scene @param {Shown} shown @param {number[]} groups @param {number[]} shares @returns {Winners | null} */
  paint(scene, { facts: { same, pooled }, average }, groups, shares) {
    const { store, told } = this;
    const within = withinOf(shares, groups);
    const winners = winnersOf(told, scene, groups, within);
    const isOpen = this.by === "all" || winners !== null || !store.saved;
    this.root.hidden = same || pooled === false || !isOpen;
    this.buttons.forEach((button, k) => {
      setText(button, k ? "all" : average);
      setAttributes(button, { "aria-pressed": String(WAYS[k] === this.by) });
    });
    if (this.root.hidden || this.by === "avg") return null;
    const isComplete = winners !== null && !told.doing;
    if (!isComplete && !store.before && !store.saved && !store.lost) this.ask(scene, groups, within);
    return winners;
  }

  /** Once for the same groups. @param {Scene} scene @param {number[]} groups @param {number[]} within */
  ask(scene, groups, within) {
    const key = JSON.stringify([scene.metric, scene.generators, groups, within.map((share) => share.toFixed(9))]);
    if (key === this.asked) return;
    this.asked = key;
    this.store.send({ kind: "winners", scene });
  }

  /** What the triangle shows. @param {Shown} shown @param {Winners | null} winners */
  words({ facts: { label, same, pooled }, average }, winners) {
    const { store, told } = this;
    const byAvg = `Who wins by ${label} ${average}`;
    if (same) return `${byAvg}; by all it is the same, as always with ${label}.`;
    if (pooled === false) return `${byAvg}.`;
    if (this.root.hidden) return `${byAvg}. By all: available in a notebook.`;
    if (this.by === "avg") return `${byAvg}.`;
    if (winners) {
      const further = told.doing ? ` Python is still computing ${told.doing} …` : "";
      const shifted = winners.shifted ? " The correction for few rows is the one for the weights shown then." : "";
      return `Who wins by ${label}-all: computed by Python at ${winners.points.length} points, linear in between.${shifted}${further}`;
    }
    if (store.saved) return `${byAvg}. By all, for these groups and the weights within them: available in a notebook.`;
    if (store.lost || store.waiting) return `${byAvg}. Python, which computes all, is busy or unreachable.`;
    if (told.error) return `${byAvg}. By all: not known. Python: ${told.error}`;
    return `${byAvg}, until Python has computed all: ${told.doing || "it begins"} …`;
  }
}
