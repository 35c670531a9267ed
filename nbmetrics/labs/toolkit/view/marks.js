/**
 * A generator's mark and hue: the same in the plane, in tables and in charts, so that one can be found in the other.
 * The hues are the variables --nbm-g0 … of lab.css; a node that `setHue` was called for draws in its own as
 * --nbm-generator.
 */
import facts from "../marks.json" with { type: "json" };
import { setAttributes, svg } from "./dom.js";

/** Of about the same weight in a box of 12 pixels, one for each generator in turn; a circle is a client’s. */
const SHAPES = facts.shapes;
const HUES = ["nbm-hue0", "nbm-hue1", "nbm-hue2", "nbm-hue3"];

/** @param {number} g */
export function shapeOfMark(g) {
  return SHAPES[g % SHAPES.length];
}

/** Give a node the hue of generator `g`. @param {Element} node @param {number} g */
export function setHue(node, g) {
  const hue = HUES[g % HUES.length];
  if (node.classList.contains(hue)) return;
  node.classList.remove(...HUES);
  node.classList.add(hue);
}

/** A generator's mark as a picture of its own. @param {number} g */
export function markOf(g) {
  const mark = svg("svg", { class: "nbm-markpicture", viewBox: "-8 -8 16 16", "aria-hidden": "true" }, [svg("path")]);
  setMark(mark, g);
  return mark;
}

/** @param {Element} mark made by `markOf` @param {number} g */
export function setMark(mark, g) {
  setAttributes(mark.children[0], { d: shapeOfMark(g) });
  setHue(mark, g);
}
