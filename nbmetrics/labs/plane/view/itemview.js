/**
 * One item in the plane: its ellipses, points, name and handles, and what keys do to them.
 *
 * @import { Handle, Label } from "./geometry.js"
 * @import { Item, Place, Scene } from "../../toolkit/view/types.js"
 * @import { Stage } from "./stage.js"
 */
import { setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { setHue, shapeOfMark } from "../../toolkit/view/marks.js";
import { withItem } from "./edits.js";
import { HANDLES, handleOffset, keyed, projection, sliderValues } from "./geometry.js";

/** Pixels around a handle that take a finger. */
export const TOUCH = 13;
// Of each item's points: more would only make a blot.
const SHOWN = 200;

export class ItemView {
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
    /** @type {Item & {fixed?: boolean}} as drawn */
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
    return this.store.scene[this.place.kind][this.place.index];
  }

  get key() {
    return `${this.place.kind} ${this.place.index}`;
  }

  get isSelected() {
    const chosen = this.store.selected;
    return chosen?.kind === this.place.kind && chosen.index === this.place.index;
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
    if (event.key === "Tab" || event.ctrlKey || event.metaKey || event.altKey) return;
    event.stopPropagation();
    if (event.key === "Escape") return this.store.cancel();
    if (event.key === "Delete" || event.key === "Backspace") return this.stage.remove(this);
    const next = keyed(this.item, handle, event.key, event.shiftKey, this.store.scene.half);
    if (!next) return;
    event.preventDefault();
    this.store.edit(withItem(this.store.scene, this.place, next));
  }

  /** @param {Scene} scene @param {Place} place @param {Item & {fixed?: boolean}} shape @param {Label} label */
  paint(scene, place, shape, { text, x: labelX, y: labelY }) {
    this.place = place;
    const item = this.item;
    const hovered = this.store.hovered;
    const isHovered = hovered?.kind === place.kind && hovered.index === place.index;
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
      this.stage.size,
      scene.half,
    ];
    if (seen.every((value, i) => value === this.painted[i])) return;
    this.painted = seen;
    this.shape = shape;
    const { at, scale } = projection(scene, this.stage.size);
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

  /** The points drawn, or those of the data. @param {Scene} scene @param {import("../../toolkit/view/types.js").Distribution} distribution */
  paintPoints(scene, { points }) {
    const where = `${this.stage.size} ${scene.half}`;
    if (points === this.drawn && where === this.drawnAt && !points) return;
    [this.drawn, this.drawnAt] = [points, where];
    const { scale } = projection(scene, this.stage.size);
    const steps = [];
    for (let k = 0; points && k < Math.min(points.length, 2 * SHOWN); k += 2) {
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
