/**
 * The plane: clients and generators as ellipses with points, names and handles, which can be dragged, resized and turned,
 * by pointer or by key.
 *
 * @import { Box, Handle, Label, Shape } from "./geometry.js"
 * @import { Item, Place, Scene } from "../../toolkit/view/types.js"
 * @import { PlaneStore } from "./store.js"
 */

import { setAttributes, setText, svg, watchSize } from "../../toolkit/view/dom.js";
import { isOwnKey } from "../../toolkit/view/keys.js";
import { setHue, shapeOfMark } from "../../toolkit/view/marks.js";
import { dataOf, distributionAt, distributionsOf } from "./distributions.js";
import { itemAt, shownPlaces, withItem } from "./edits.js";
import {
  ASPECT,
  dragItem,
  ellipseOf,
  frameOf,
  HANDLES,
  handleOffset,
  labelSpots,
  markBox,
  moveByKey,
  projection,
  shapeOf,
  sliderValues,
} from "./geometry.js";
import { removeChosen } from "./store.js";

/** Pixels around a handle that take a finger. */
export const TOUCH = 13;
// Of each item's points: more would only make a blot.
const MAX_POINTS_SHOWN = 200;

class ItemView {
  /** @param {Stage} stage @param {Place} place */
  constructor(stage, place) {
    this.stage = stage;
    this.store = stage.store;
    this.place = place;
    /** @type {unknown[]} what the last paint showed; scenes are never changed in place, so identity tells */
    this.painted = [];
    this.outer = svg("ellipse", { class: "nbm-outer" });
    this.body = svg("ellipse", { class: "nbm-body" });
    this.second = svg("ellipse", { class: "nbm-body" });
    this.bodies = [this.body, this.second];
    this.cloud = svg("path", { class: "nbm-cloud" });
    /** @type {Shape} as drawn */
    this.shape = this.item;
    /** @type {Float64Array | null} */
    this.drawn = null;
    this.drawnAt = "";
    this.stem = svg("line", { class: "nbm-stem" });
    this.label = svg("text", { class: "nbm-name" });
    this.handles = HANDLES.map((handle) => this.makeHandle(handle));
    this.title = svg("title");
    this.node = svg("g", { class: `nbm-item nbm-${place.kind}` }, [
      this.title,
      this.cloud,
      this.outer,
      this.body,
      this.label,
    ]);
    this.controls = svg("g", { class: `nbm-item nbm-${place.kind}` }, [this.stem, ...this.handles]);
  }

  /** @param {Handle} handle */
  makeHandle(handle) {
    const mark =
      handle === "mean" && this.place.kind === "generators"
        ? svg("path", { class: "nbm-mark", transform: "scale(1.25)" })
        : handle === "mean" || handle === "angle"
          ? svg("circle", { class: "nbm-mark", r: handle === "mean" ? 6.5 : 5.5 })
          : svg("rect", { class: "nbm-mark", x: -5, y: -5, width: 10, height: 10, rx: 1.5 });
    const node = svg("g", { class: `nbm-handle nbm-${handle}`, role: "slider", tabindex: handle === "mean" ? 0 : -1 }, [
      svg("circle", { class: "nbm-touch", r: TOUCH }),
      mark,
    ]);
    const { signal } = this.stage;
    node.addEventListener("focus", () => this.focused(), { signal });
    node.addEventListener("keydown", (event) => this.press(event, handle), { signal });
    return node;
  }

  get item() {
    return itemAt(this.store.scene, this.place);
  }

  get key() {
    const { kind, index, part = "" } = this.place;
    return `${kind} ${index} ${part}`;
  }

  get isSelected() {
    return isSame(this.place, this.store.selected);
  }

  /** @param {Handle} handle */
  focusOn(handle) {
    this.store.select(this.place);
    this.handles[HANDLES.indexOf(handle)].focus({ preventScroll: true });
  }

  /** Its other handles are the next stops of Tab at once, before the next paint. */
  focused() {
    for (const handle of this.handles) setAttributes(handle, { tabindex: 0 });
    if (!this.isSelected) this.store.select(this.place);
  }

  /** @param {KeyboardEvent} event @param {Handle} handle */
  press(event, handle) {
    if (!isOwnKey(event)) return;
    if (event.key === "Delete" || event.key === "Backspace") return this.stage.remove(this);
    const next = moveByKey(this.item, handle, event.key, event.shiftKey, this.store.scene.half);
    if (!next) return;
    event.preventDefault();
    this.store.edit(withItem(this.store.scene, this.place, next));
  }

  /** @param {Scene} scene @param {Place} place @param {Shape} shape @param {Label} label */
  paint(scene, place, shape, { text, x: labelX, y: labelY }) {
    this.place = place;
    const item = this.item;
    const hovered = this.store.hovered;
    const isHovered = isSame({ ...place, part: hovered?.part === undefined ? undefined : place.part }, hovered);
    const seen = [
      item,
      place.index,
      shape.x,
      shape.y,
      shape.width,
      shape.height,
      this.isSelected,
      isHovered,
      text,
      labelX,
      labelY,
      this.stage.frame,
      scene.half,
    ];
    if (seen.every((value, i) => value === this.painted[i])) return;
    this.painted = seen;
    this.shape = shape;
    const { at, scale } = projection(this.stage.frame);
    const [x, y] = at(shape.x, shape.y);
    if (place.kind === "generators") setAttributes(this.handles[0].children[1], { d: shapeOfMark(place.index) });
    for (const part of [this.node, this.controls]) {
      if (place.kind === "generators") setHue(part, place.index);
      part.classList.toggle("nbm-selected", this.isSelected);
      part.classList.toggle("nbm-hovered", isHovered);
      part.classList.toggle("nbm-absent", item.weight === 0);
      part.classList.toggle("nbm-fixed", Boolean(shape.fixed));
      setAttributes(part, { transform: `translate(${x} ${y})` });
    }
    this.paintBodies(shape, scale);
    setAttributes(this.label, { x: labelX, y: labelY, "text-anchor": "middle" });
    setText(this.label, text);
    setText(this.title, text === item.name ? "" : item.name);
    this.handles.forEach((node, i) => this.paintHandle(node, HANDLES[i], shape, scale, scene.half));
  }

  /** One ellipse, or the two round bumps at the ends of the width. @param {Item} shape @param {number} scale */
  paintBodies({ kind, width, height, angle }, scale) {
    const turn = `rotate(${-angle})`;
    const isDouble = kind === "bumps";
    const rx = Math.max(scale * (isDouble ? height : width), 1);
    const ry = Math.max(scale * height, 1);
    this.bodies.forEach((body, k) => {
      const shift = isDouble ? ` translate(${(k ? -1 : 1) * scale * width} 0)` : "";
      setAttributes(body, { rx, ry, transform: turn + shift });
    });
    if (isDouble && !this.second.isConnected) this.body.before(this.second);
    else if (!isDouble) this.second.remove();
    setAttributes(this.outer, {
      rx: 2 * scale * width,
      ry: 2 * scale * height,
      transform: turn,
      display: isDouble ? "none" : "inline",
    });
  }

  /** The points drawn, or those of the data. @param {import("../../toolkit/view/types.js").Distribution} distribution */
  paintPoints({ points }) {
    const { scale, width } = this.stage.frame;
    const where = `${width} ${scale}`;
    if (points === this.drawn && where === this.drawnAt && !points) return;
    [this.drawn, this.drawnAt] = [points, where];
    const steps = [];
    for (let k = 0; points && k < Math.min(points.length, 2 * MAX_POINTS_SHOWN); k += 2) {
      steps.push(
        `M${(scale * (points[k] - this.shape.x)).toFixed(1)} ${(scale * (this.shape.y - points[k + 1])).toFixed(1)}h0`,
      );
    }
    setAttributes(this.cloud, { d: steps.join("") });
  }

  /** @param {SVGElement} node @param {Handle} handle @param {Item} item @param {number} scale @param {number} half */
  paintHandle(node, handle, item, scale, half) {
    const [x, y] = handleOffset(item, handle, scale);
    const { now, min, max, text } = sliderValues(item, handle, half);
    setAttributes(node, {
      transform: `translate(${x} ${y})`,
      "aria-label": `${item.name} ${handle}`,
      "aria-valuenow": now,
      "aria-valuemin": min,
      "aria-valuemax": max,
      "aria-valuetext": text,
      tabindex: handle === "mean" || this.isSelected ? 0 : -1,
    });
    if (handle === "angle") setAttributes(this.stem, { x2: x, y2: y });
  }
}

const MAX_WAY_POINTS = 400;
const MAX_LINES_A_SIDE = 6;
const TICKS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 1e4, 1e5];

export class Stage {
  /** @param {PlaneStore} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.signal = signal;
    this.frame = { width: 480, height: 480 / ASPECT, scale: 0 };
    this.width = 0; // pixels, once the page tells
    this.grid = svg("g", { class: "nbm-grid", "aria-hidden": "true" });
    this.pooled = svg("g", { class: "nbm-pooled", "aria-hidden": "true" }, [svg("ellipse")]);
    this.bodies = svg("g");
    this.trail = svg("path", { class: "nbm-trail", "aria-hidden": "true" });
    this.controls = svg("g");
    this.root = svg("svg", { class: "nbm-stage", role: "presentation" }, [
      this.grid,
      this.bodies,
      this.pooled,
      this.trail,
      this.controls,
    ]);
    /** @type {ItemView[]} */
    this.views = [];
    /** @type {string[]} where the mean that is dragged has been */
    this.way = [];
    /** @type {Box[]} where names and marks stand */
    this.taken = [];
    this.drawnGrid = "";
    this.lastClick = "";
    /** @type {{view: ItemView, handle: Handle, id: number, x: number, y: number, start: Item, moved: boolean} | null} */
    this.drag = null;
    watchSize(this.root, signal, ({ width }) => {
      if (width > 0) this.width = Math.round(width);
      store.changed();
    });
    this.root.addEventListener("pointerdown", (event) => this.press(event), { signal });
    this.root.addEventListener("pointermove", (event) => this.move(event), { signal });
    this.root.addEventListener("pointerup", (event) => this.release(event), { signal });
    this.root.addEventListener("pointercancel", () => this.giveUp(), { signal });
    // A finger on an item drags it and elsewhere scrolls the page; touch-action does not reach inside an SVG.
    this.root.addEventListener("touchstart", (event) => this.drag && event.preventDefault(), {
      signal,
      passive: false,
    });
    this.root.addEventListener("pointerleave", () => this.drag ?? this.point(null), { signal });
  }

  /**
   * What a press takes: a handle near the pointer, the selected item's first, then the nearest; else a body.
   * Handles are found by distance, not by what is on top, so that one item can never bury another's.
   * @param {PointerEvent} event
   * @returns {{view: ItemView, handle: Handle} | null}
   */
  under(event) {
    const [px, py] = this.local(event);
    const { at, scale } = projection(this.frame);
    let best = null;
    let least = TOUCH;
    for (const view of this.views) {
      for (const handle of view.shape.fixed ? [] : HANDLES) {
        const [x, y] = at(view.shape.x, view.shape.y);
        const [dx, dy] = handleOffset(view.shape, handle, scale);
        const distance = Math.hypot(px - x - dx, py - y - dy);
        const rank = distance - (distance < TOUCH && view.isSelected ? TOUCH : 0);
        if (rank < least) [best, least] = [{ view, handle }, rank];
      }
    }
    const owner = this.views.find((view) => view.bodies.includes(/** @type {any} */ (event.target)));
    return best ?? (owner ? { view: owner, handle: "mean" } : null);
  }

  /**
   * Where the pointer is, in the units of the picture, which for a frame may not be pixels when the width has changed.
   * @param {PointerEvent} event @returns {[number, number]}
   */
  local(event) {
    const box = this.root.getBoundingClientRect();
    const unit = this.frame.width / (this.width || this.frame.width);
    return [unit * (event.clientX - box.x), unit * (event.clientY - box.y)];
  }

  /** What is under the pointer shows its handles. @param {{view: ItemView, handle: Handle} | null} taken */
  point(taken) {
    this.root.classList.toggle("nbm-over", taken !== null);
    const place = taken?.view.place ?? null;
    if (place ? !isSame(place, this.store.hovered) : this.store.hovered) this.store.hover(place);
  }

  /** @param {PointerEvent} event */
  press(event) {
    if (event.button !== 0 || this.drag) return;
    const taken = this.under(event);
    if (!taken) return this.store.select(null);
    event.preventDefault();
    event.stopPropagation();
    this.root.setPointerCapture(event.pointerId);
    const { view, handle } = taken;
    if (view.shape.fixed) return this.store.select(view.place);
    const [x, y] = this.local(event);
    this.drag = { view, handle, id: event.pointerId, x, y, start: view.item, moved: false };
    view.focusOn(handle);
  }

  /** @param {PointerEvent} event */
  move(event) {
    const { drag, store } = this;
    if (!drag) return this.point(this.under(event));
    if (event.pointerId !== drag.id) return;
    if (drag.moved && !store.before) this.giveUp(); // after Escape
    if (!this.drag) return;
    const { scale } = this.frame;
    const [x, y] = this.local(event);
    const [dx, dy] = [(x - drag.x) / scale, (drag.y - y) / scale];
    if (!drag.moved && dx === 0 && dy === 0) return;
    drag.moved = true;
    if (drag.handle === "mean") this.extendTrail(drag.view);
    store.preview(
      withItem(store.scene, drag.view.place, dragItem(drag.start, drag.handle, dx, dy, store.scene.half, this.frame)),
    );
  }

  /** The way that a mean has come since it was taken. @param {ItemView} view */
  extendTrail({ item, place }) {
    const [x, y] = projection(this.frame).at(item.x, item.y);
    this.way.push(`${x.toFixed(1)} ${y.toFixed(1)}`);
    if (this.way.length > MAX_WAY_POINTS) this.way.shift();
    const isGenerator = place.kind === "generators";
    this.trail.classList.toggle("nbm-generators", isGenerator);
    if (isGenerator) setHue(this.trail, place.index);
    setAttributes(this.trail, { d: `M${this.way.join("L")}` });
  }

  endTrail() {
    this.way = [];
    this.trail.removeAttribute("d");
  }

  /** @param {PointerEvent} event */
  release(event) {
    const { drag } = this;
    this.drag = null;
    this.endTrail();
    if (drag?.moved) this.store.finish();
    else if (drag && drag.handle === "mean") this.selectNext(drag.view, event);
  }

  giveUp() {
    this.endTrail();
    if (this.drag?.moved) this.store.cancel();
    this.drag = null;
  }

  /** A second click where means coincide selects the item beneath. @param {ItemView} view @param {PointerEvent} event */
  selectNext(view, event) {
    const here = view.key;
    if (this.lastClick !== here) {
      this.lastClick = here;
      return;
    }
    const [px, py] = this.local(event);
    const { at } = projection(this.frame);
    const stack = this.views.filter(({ shape }) => {
      const [x, y] = at(shape.x, shape.y);
      return Math.hypot(px - x, py - y) < TOUCH;
    });
    const next = stack[(stack.indexOf(view) + 1) % stack.length] ?? view;
    this.lastClick = next.key;
    next.focusOn("mean");
  }

  /** Take an item away; the next of its kind has the focus then, or it would leave the lab. @param {ItemView} view */
  remove({ place: { kind, index } }) {
    if (!removeChosen(this.store)) return;
    const next = Math.min(index, this.store.scene[kind].length - 1);
    this.views.find(({ place }) => place.kind === kind && place.index === next)?.focusOn("mean");
  }

  /**
   * One unit a pixel. Only the first paint asks for the width: asked after a write, the page lays itself out. A drag
   * goes on in the frame that it began in.
   * @param {Scene} scene @param {Item[]} [others]
   */
  fit(scene, others = []) {
    const before = this.frame;
    const width = this.width || this.root.clientWidth || before.width;
    const isWhole = Boolean(scene.plane);
    const items = [...this.shapesOf(scene, shownPlaces(scene)), ...others];
    const next = this.drag?.moved ? { ...before } : frameOf(scene, items, width, isWhole);
    if (next.width === before.width && next.scale === before.scale && this.root.hasAttribute("viewBox")) return;
    this.frame = next;
    setAttributes(this.root, { viewBox: `0 0 ${next.width} ${next.height}` });
  }

  /** Items as drawn. @param {Scene} scene @param {Place[]} places @returns {Shape[]} */
  shapesOf(scene, places) {
    const distributions = distributionsOf(scene, dataOf(this.store.model));
    return places.map((place) => {
      const shape = shapeOf(itemAt(scene, place), distributionAt(scene, distributions, place));
      if (place.part === undefined) return shape;
      const { name } = /** @type {Item[]} */ (scene.generators[place.index].parts)[place.part];
      return { ...shape, label: `for ${name}` }; // its colour tells whose it is
    });
  }

  /**
   * @param {Scene} scene @param {Item[]} [others] what else has a name in the picture @param {Box[]} [clear] where no name is to be
   * @returns {Label[]} those of the others
   */
  paint(scene, others = [], clear = []) {
    this.fit(scene, others);
    this.paintGrid();
    const distributions = distributionsOf(scene, dataOf(this.store.model));
    this.paintPooled(distributions.pooled);
    const places = shownPlaces(scene);
    this.keepViews(places);
    const shapes = this.shapesOf(scene, places);
    /** @type {Shape[]} */
    const items = [...shapes, ...others];
    const [chosen, pointed] = [this.store.selected, this.store.hovered].map((one) =>
      places.findIndex((place) => isSame(place, one)),
    );
    const { at, scale } = projection(this.frame);
    const handles = chosen < 0 || items[chosen].fixed ? [] : handleBoxes(items[chosen], at, scale);
    const labels = labelSpots(this.frame, items, [...clear, ...handles], { chosen, pointed });
    this.taken = [
      ...clear,
      ...handles,
      ...items.map(({ x, y }) => markBox(at(x, y))),
      ...labels.flatMap(({ box }) => box ?? []),
    ];
    this.views.forEach((view, i) => {
      view.paint(scene, places[i], shapes[i], labels[i]);
      view.paintPoints(distributionAt(scene, distributions, places[i]));
    });
    this.raiseSelected();
    return labels.slice(places.length);
  }

  /** @param {Place[]} places */
  keepViews(places) {
    if (this.views.map((view) => view.place.kind).join() === places.map((place) => place.kind).join()) return;
    this.views = places.map((place, i) =>
      this.views[i]?.place.kind === place.kind ? this.views[i] : new ItemView(this, place),
    );
    this.bodies.replaceChildren(...this.views.map((view) => view.node));
    keepChildren(
      this.controls,
      this.views.map((view) => view.controls),
    );
  }

  /** The selected body on top; the controls keep their order, which is the order of Tab. */
  raiseSelected() {
    const top = this.views.find((view) => view.isSelected);
    if (top && this.bodies.lastElementChild !== top.node) this.bodies.append(top.node);
  }

  paintGrid() {
    const { width, height, scale } = this.frame;
    const key = `${width} ${scale}`;
    if (key === this.drawnGrid) return;
    this.drawnGrid = key;
    const { at } = projection(this.frame);
    const [far, high] = [width / 2 / scale, height / 2 / scale];
    const step = TICKS.find((tick) => far / tick <= MAX_LINES_A_SIDE) ?? far / 4;
    const nodes = [];
    for (let k = -Math.floor(far / step); k * step <= far; k++) {
      const [x, y] = at(k * step, k * step);
      const style = k === 0 ? "nbm-axis" : "";
      nodes.push(svg("line", { class: style, x1: x, x2: x, y1: 0, y2: height }));
      if (Math.abs(k * step) <= high) nodes.push(svg("line", { class: style, x1: 0, x2: width, y1: y, y2: y }));
      if (k === 0 || k % 2) continue;
      const label = String(Math.round(k * step * 1e6) / 1e6).replace("-", "−");
      if (Math.abs(k * step) < far * 0.95)
        nodes.push(svg("text", { x, y: height - 5, "text-anchor": "middle" }, [label]));
      if (Math.abs(k * step) < high * 0.95) nodes.push(svg("text", { x: 5, y: y + 4 }, [label]));
    }
    this.grid.replaceChildren(...nodes);
  }

  /** @param {import("../../toolkit/view/types.js").Distribution} distribution */
  paintPooled(distribution) {
    const { at, scale } = projection(this.frame);
    const { width, height, angle } = ellipseOf(distribution);
    const [x, y] = at(distribution.x, distribution.y);
    setAttributes(this.pooled.children[0], {
      rx: scale * width,
      ry: scale * height,
      transform: `translate(${x} ${y}) rotate(${-angle})`,
    });
  }
}

/** What the handles of an item hide. @param {Item} item @param {(x: number, y: number) => [number, number]} at @param {number} scale @returns {Box[]} */
function handleBoxes(item, at, scale) {
  const [x, y] = at(item.x, item.y);
  return HANDLES.slice(1).map((handle) => {
    const [dx, dy] = handleOffset(item, handle, scale);
    return markBox([x + dx, y + dy]);
  });
}

/** @param {Place} place @param {Place | null} other */
function isSame(place, other) {
  return place.kind === other?.kind && place.index === other.index && place.part === other.part;
}

/** Make `nodes` the children without moving those that stay, which would take their focus. @param {Element} parent @param {Element[]} nodes */
function keepChildren(parent, nodes) {
  for (const child of [...parent.children]) if (!nodes.includes(child)) child.remove();
  nodes.forEach((node, i) => parent.children[i] === node || parent.insertBefore(node, parent.children[i] ?? null));
}
