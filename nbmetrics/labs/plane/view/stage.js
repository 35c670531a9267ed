/**
 * The plane: clients and generators as ellipses that can be dragged, resized and turned, by pointer or by key.
 *
 * @import { Box, Handle, Label } from "./geometry.js"
 * @import { Item, Kind, Place, Scene } from "../../toolkit/view/types.js"
 * @import { PlaneStore } from "./store.js"
 */
import { setAttributes, svg, watchSize } from "../../toolkit/view/dom.js";
import { setHue } from "../../toolkit/view/marks.js";
import { dataOf, distributionsOf } from "./distributions.js";
import { withItem } from "./edits.js";
import { dragged, ellipseOf, HANDLES, handleOffset, labelSpots, markBox, projection, shapeOf } from "./geometry.js";
import { ItemView, TOUCH } from "./itemview.js";
import { removeChosen } from "./store.js";

const LONGEST_WAY = 400;
const TICKS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 1e4, 1e5];

export class Stage {
  /** @param {PlaneStore} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.signal = signal;
    this.size = 480;
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
    const { at, scale } = projection(this.store.scene, this.size);
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
    const unit = this.size / (this.width || this.size);
    return [unit * (event.clientX - box.x), unit * (event.clientY - box.y)];
  }

  /** What is under the pointer shows its handles. @param {{view: ItemView, handle: Handle} | null} taken */
  point(taken) {
    this.root.classList.toggle("nbm-over", taken !== null);
    const place = taken?.view.place ?? null;
    if (place?.kind !== this.store.hovered?.kind || place?.index !== this.store.hovered?.index) this.store.hover(place);
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
    const { scale } = projection(store.scene, this.size);
    const [x, y] = this.local(event);
    const [dx, dy] = [(x - drag.x) / scale, (drag.y - y) / scale];
    if (!drag.moved && dx === 0 && dy === 0) return;
    drag.moved = true;
    if (drag.handle === "mean") this.extendTrail(drag.view);
    store.preview(
      withItem(store.scene, drag.view.place, dragged(drag.start, drag.handle, dx, dy, store.scene.half, scale)),
    );
  }

  /** The way that a mean has come since it was taken. @param {ItemView} view */
  extendTrail({ item, place }) {
    const [x, y] = projection(this.store.scene, this.size).at(item.x, item.y);
    this.way.push(`${x.toFixed(1)} ${y.toFixed(1)}`);
    if (this.way.length > LONGEST_WAY) this.way.shift();
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
    const { at } = projection(this.store.scene, this.size);
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

  /** One unit a pixel. Only the first paint asks for the width: asked after a write, the page lays itself out. */
  fit() {
    const size = this.width || this.root.clientWidth || this.size;
    if (size === this.size && this.root.hasAttribute("viewBox")) return;
    this.size = size;
    setAttributes(this.root, { viewBox: `0 0 ${size} ${size}` });
  }

  /**
   * @param {Scene} scene @param {Item[]} [others] what else has a name in the picture @param {Box[]} [clear] where no name is to be
   * @returns {Label[]} those of the others
   */
  paint(scene, others = [], clear = []) {
    this.fit();
    this.paintGrid(scene);
    const distributions = distributionsOf(scene, dataOf(this.store.model));
    this.paintPooled(scene, distributions.pooled);
    const places = /** @type {Place[]} */ (
      /** @type {Kind[]} */ (["clients", "generators"]).flatMap((kind) =>
        scene[kind].map((_, index) => ({ kind, index })),
      )
    );
    this.keepViews(places);
    const shapes = {
      clients: scene.clients.map((item, i) => shapeOf(item, distributions.clients[i])),
      generators: scene.generators.map((item, g) => shapeOf(item, distributions.generators[g])),
    };
    /** @type {(Item & {fixed?: boolean})[]} */
    const items = [...shapes.clients, ...shapes.generators, ...others];
    const [chosen, pointed] = [this.store.selected, this.store.hovered].map((one) =>
      places.findIndex((place) => isSame(place, one)),
    );
    const { at, scale } = projection(scene, this.size);
    const handles = chosen < 0 || items[chosen].fixed ? [] : handleBoxes(items[chosen], at, scale);
    const labels = labelSpots(scene, items, this.size, [...clear, ...handles], { chosen, pointed });
    this.taken = [
      ...clear,
      ...handles,
      ...items.map(({ x, y }) => markBox(at(x, y))),
      ...labels.flatMap(({ box }) => box ?? []),
    ];
    this.views.forEach((view, i) => {
      const { kind, index } = places[i];
      view.paint(scene, places[i], shapes[kind][index], labels[i]);
      view.paintPoints(scene, distributions[kind][index]);
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

  /** @param {Scene} scene */
  paintGrid(scene) {
    const key = `${this.size} ${scene.half}`;
    if (key === this.drawnGrid) return;
    this.drawnGrid = key;
    const { at } = projection(scene, this.size);
    const step = TICKS.find((tick) => scene.half / tick <= 6) ?? scene.half / 4;
    const nodes = [];
    for (let k = -Math.floor(scene.half / step); k * step <= scene.half; k++) {
      const [x, y] = at(k * step, k * step);
      const style = k === 0 ? "nbm-axis" : "";
      nodes.push(svg("line", { class: style, x1: x, x2: x, y1: 0, y2: this.size }));
      nodes.push(svg("line", { class: style, x1: 0, x2: this.size, y1: y, y2: y }));
      if (k === 0 || Math.abs(k * step) > scene.half * 0.95) continue;
      const label = String(Math.round(k * step * 1e6) / 1e6).replace("-", "−");
      nodes.push(svg("text", { x, y: this.size - 5, "text-anchor": "middle" }, [label]));
      nodes.push(svg("text", { x: 5, y: y + 4 }, [label]));
    }
    this.grid.replaceChildren(...nodes);
  }

  /** @param {Scene} scene @param {import("../../toolkit/view/types.js").Distribution} distribution */
  paintPooled(scene, distribution) {
    const { at, scale } = projection(scene, this.size);
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
  return place.kind === other?.kind && place.index === other.index;
}

/** Make `nodes` the children without moving those that stay, which would take their focus. @param {Element} parent @param {Element[]} nodes */
function keepChildren(parent, nodes) {
  for (const child of [...parent.children]) if (!nodes.includes(child)) child.remove();
  nodes.forEach((node, i) => parent.children[i] === node || parent.insertBefore(node, parent.children[i] ?? null));
}
