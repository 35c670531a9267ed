/**
 * The plane: clients and generators as ellipses that can be dragged, resized and turned, by pointer or by key.
 *
 * @import { Handle } from "./geometry.js"
 * @import { Item, Kind, Place, Scene } from "./types.js"
 * @import { Store } from "./store.js"
 */
import { put, say, svg } from "./dom.js";
import { withItem } from "./edits.js";
import { HANDLES, dragged, ellipseOf, handleOffset, keyed, projection, sliderValues } from "./geometry.js";
import { pooledLaw } from "./maths.js";

const TOUCH = 13;
const TICKS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 1e4, 1e5];

export class Stage {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.signal = signal;
    this.size = 480;
    this.grid = svg("g", { class: "nbm-grid", "aria-hidden": "true" });
    this.pooled = svg("g", { class: "nbm-pooled", "aria-hidden": "true" }, [svg("ellipse"), svg("text")]);
    this.layer = svg("g");
    this.root = svg("svg", { class: "nbm-stage", role: "presentation" }, [this.grid, this.pooled, this.layer]);
    /** @type {ItemView[]} */
    this.views = [];
    this.drawnGrid = "";
    const watch = new ResizeObserver(() => store.changed());
    watch.observe(this.root);
    signal.addEventListener("abort", () => watch.disconnect());
    this.root.addEventListener("pointerdown", (event) => event.target === this.root && store.select(null), { signal });
  }

  /** @param {Scene} scene */
  paint(scene) {
    const size = this.root.clientWidth || this.size;
    if (size !== this.size || !this.root.hasAttribute("viewBox")) {
      this.size = size;
      put(this.root, { viewBox: `0 0 ${size} ${size}` });
    }
    this.paintGrid(scene);
    this.paintPooled(scene);
    const places = /** @type {Place[]} */ (
      /** @type {Kind[]} */ (["clients", "generators"]).flatMap((kind) => scene[kind].map((_, index) => ({ kind, index })))
    );
    this.keepViews(places);
    this.views.forEach((view, i) => view.paint(scene, places[i]));
    this.raiseSelected();
  }

  /** @param {Place[]} places */
  keepViews(places) {
    while (this.views.length > places.length) this.views.pop()?.node.remove();
    places.forEach((place, i) => {
      if (this.views[i]?.place.kind === place.kind) return;
      const view = new ItemView(this, place);
      if (this.views[i]) this.views[i].node.replaceWith(view.node);
      else this.layer.append(view.node);
      this.views[i] = view;
    });
  }

  /** The selected item last, so that it is on top; the others move, since moving it would take its focus. */
  raiseSelected() {
    const top = this.views.find((view) => view.isSelected);
    if (!top || this.layer.lastElementChild === top.node) return;
    const above = [];
    for (let next = top.node.nextElementSibling; next; next = next.nextElementSibling) above.push(next);
    for (const node of above) this.layer.insertBefore(node, top.node);
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

  /** @param {Scene} scene */
  paintPooled(scene) {
    const { at, scale } = projection(scene, this.size);
    const law = pooledLaw(scene.clients);
    const { width, height, angle } = ellipseOf(law);
    const [x, y] = at(law.x, law.y);
    const [ring, label] = this.pooled.children;
    put(ring, { rx: scale * width, ry: scale * height, transform: `translate(${x} ${y}) rotate(${-angle})` });
    const turn = (angle * Math.PI) / 180;
    const reach = scale * Math.hypot(width * Math.cos(turn), height * Math.sin(turn));
    put(label, { x: Math.min(this.size - 4, x + reach + 5), y: y + 4, "text-anchor": x + reach > this.size - 90 ? "end" : "start" });
    say(label, "pooled clients");
  }
}

class ItemView {
  /** @param {Stage} stage @param {Place} place */
  constructor(stage, place) {
    this.stage = stage;
    this.store = stage.store;
    this.place = place;
    this.outer = svg("ellipse", { class: "nbm-outer" });
    this.body = svg("ellipse", { class: "nbm-body" });
    this.stem = svg("line", { class: "nbm-stem" });
    this.label = svg("text", { class: "nbm-name" });
    this.handles = HANDLES.map((handle) => this.makeHandle(handle));
    this.node = svg("g", { class: `nbm-item nbm-${place.kind}` }, [
      this.outer, this.body, this.stem, this.label, ...this.handles.toReversed(),
    ]);
    this.listenDrag(this.body, "mean");
    this.listenHover();
  }

  /** @param {Handle} handle */
  makeHandle(handle) {
    const mark =
      handle === "mean" && this.place.kind === "generators"
        ? svg("path", { class: "nbm-mark", d: "M0 -8 L8 0 L0 8 L-8 0 Z" })
        : handle === "mean" || handle === "angle"
          ? svg("circle", { class: "nbm-mark", r: handle === "mean" ? 6.5 : 5.5 })
          : svg("rect", { class: "nbm-mark", x: -5, y: -5, width: 10, height: 10, rx: 1.5 });
    const node = svg("g", { class: `nbm-handle nbm-${handle}`, role: "slider", tabindex: handle === "mean" ? 0 : -1 }, [
      svg("circle", { class: "nbm-touch", r: TOUCH }), mark,
    ]);
    this.listenDrag(node, handle);
    this.listenKeys(node, handle);
    const { signal } = this.stage;
    node.addEventListener("focus", () => this.isSelected || this.store.select(this.place), { signal });
    return node;
  }

  get item() {
    return this.store.scene[this.place.kind][this.place.index];
  }

  get isSelected() {
    const chosen = this.store.selected;
    return chosen?.kind === this.place.kind && chosen.index === this.place.index;
  }

  listenHover() {
    const { signal } = this.stage;
    this.node.addEventListener("pointerenter", () => this.store.hover(this.place), { signal });
    this.node.addEventListener("pointerleave", () => this.store.hover(null), { signal });
  }

  /** @param {SVGElement} node @param {Handle} handle */
  listenKeys(node, handle) {
    node.addEventListener(
      "keydown",
      (event) => {
        if (event.key === "Tab" || event.ctrlKey || event.metaKey || event.altKey) return;
        event.stopPropagation();
        if (event.key === "Escape") return this.store.cancel();
        const next = keyed(this.item, handle, event.key, event.shiftKey, this.store.scene.half);
        if (!next) return;
        event.preventDefault();
        this.store.edit(withItem(this.store.scene, this.place, next));
      },
      { signal: this.stage.signal },
    );
  }

  /** @param {SVGElement} node @param {Handle} handle */
  listenDrag(node, handle) {
    const { signal } = this.stage;
    /** @type {{id: number, x: number, y: number, start: Item, moved: boolean} | null} */
    let drag = null;
    const listen = (/** @type {string} */ type, /** @type {(event: PointerEvent) => void} */ call) =>
      node.addEventListener(type, (event) => call(/** @type {PointerEvent} */ (event)), { signal });
    listen("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      event.stopPropagation();
      node.setPointerCapture(event.pointerId);
      drag = { id: event.pointerId, x: event.clientX, y: event.clientY, start: this.item, moved: false };
      this.store.select(this.place);
      this.handles[HANDLES.indexOf(handle)].focus({ preventScroll: true });
    });
    listen("pointermove", (event) => {
      if (!drag || event.pointerId !== drag.id) return;
      if (drag.moved && !this.store.before) drag = null; // Escape gave it up
      if (!drag) return;
      const { scale } = projection(this.store.scene, this.stage.size);
      const [dx, dy] = [(event.clientX - drag.x) / scale, (drag.y - event.clientY) / scale];
      drag.moved = true;
      const next = dragged(drag.start, handle, dx, dy, this.store.scene.half, scale);
      this.store.preview(withItem(this.store.scene, this.place, next));
    });
    listen("pointerup", () => {
      if (drag?.moved) this.store.finish();
      else if (drag && handle === "mean") this.selectNext(drag.x, drag.y);
      drag = null;
    });
    listen("pointercancel", () => {
      if (drag?.moved) this.store.cancel();
      drag = null;
    });
  }

  /** A second click where means coincide selects the one beneath. @param {number} x @param {number} y */
  selectNext(x, y) {
    const here = `${this.place.kind} ${this.place.index}`;
    const stack = this.stage.views.filter((view) => {
      const box = view.handles[0].getBoundingClientRect();
      return Math.hypot(box.x + box.width / 2 - x, box.y + box.height / 2 - y) < TOUCH;
    });
    const now = stack.findIndex((view) => `${view.place.kind} ${view.place.index}` === here);
    if (this.clicked === here && stack.length > 1) {
      const next = stack[(now + 1) % stack.length];
      next.clicked = `${next.place.kind} ${next.place.index}`;
      next.handles[0].focus({ preventScroll: true });
      this.clicked = "";
    } else {
      this.clicked = here;
    }
  }

  /** @param {Scene} scene @param {Place} place */
  paint(scene, place) {
    this.place = place;
    const item = this.item;
    const { at, scale } = projection(scene, this.stage.size);
    const [x, y] = at(item.x, item.y);
    const hovered = this.store.hovered;
    const isHovered = hovered?.kind === place.kind && hovered.index === place.index;
    this.node.classList.toggle("nbm-selected", this.isSelected);
    this.node.classList.toggle("nbm-hovered", isHovered);
    this.node.classList.toggle("nbm-absent", item.weight === 0);
    put(this.node, { transform: `translate(${x} ${y})` });
    const turn = { transform: `rotate(${-item.angle})` };
    put(this.body, { rx: Math.max(scale * item.width, 1), ry: Math.max(scale * item.height, 1), ...turn });
    put(this.outer, { rx: 2 * scale * item.width, ry: 2 * scale * item.height, ...turn });
    this.paintLabel(item, scale, y);
    this.handles.forEach((node, i) => this.paintHandle(node, HANDLES[i], item, scale, scene.half));
  }

  /** @param {Item} item @param {number} scale @param {number} y */
  paintLabel(item, scale, y) {
    const turn = (item.angle * Math.PI) / 180;
    const rise = Math.max(14, scale * Math.hypot(item.width * Math.sin(turn), item.height * Math.cos(turn)));
    const above = this.place.kind === "clients" ? y - rise > 20 : y + rise > this.stage.size - 20;
    put(this.label, { y: above ? -rise - 6 : rise + 15, "text-anchor": "middle" });
    say(this.label, item.name);
  }

  /** @param {SVGElement} node @param {Handle} handle @param {Item} item @param {number} scale @param {number} half */
  paintHandle(node, handle, item, scale, half) {
    const [x, y] = handleOffset(item, handle, scale);
    const { now, min, max, text } = sliderValues(item, handle, half);
    put(node, {
      transform: `translate(${x} ${y})`,
      "aria-label": `${item.name} ${handle}`,
      "aria-valuenow": now,
      "aria-valuemin": min,
      "aria-valuemax": max,
      "aria-valuetext": text,
      tabindex: handle === "mean" || this.isSelected ? 0 : -1,
    });
    if (handle === "angle") put(this.stem, { x2: x, y2: y });
  }
}
