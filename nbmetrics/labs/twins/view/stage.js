/**
 * The plane of TwinsLab: clients to drag, and the two generators that follow them.
 *
 * @import { Label } from "../../plane/view/geometry.js"
 * @import { Distribution, Scene } from "../../toolkit/view/types.js"
 * @import { Pair, TwinsScene } from "./maths.js"
 * @import { PlaneStore } from "../../plane/view/store.js"
 */

import { ellipseOf, projection } from "../../plane/view/geometry.js";
import { Stage } from "../../plane/view/stage.js";
import { setAttributes, setText, svg } from "../../toolkit/view/dom.js";

/** The mark of each generator, in the plane and in the chart of scores: an open circle that a diamond fits into. */
export const TWIN_MARKS = { first: "M0 -8 A8 8 0 1 1 -0.01 -8 Z", second: "M0 -6 L6 0 L0 6 L-6 0 Z" };
export const TWIN_NAMES = { first: "First", second: "Twin" };
// Pixels: the shortest arrow that is drawn, how wide one is, and its "√u β".
const MIN_ARROW_PIXELS = 18;
const ARROW_PIXELS = 10;
const OFFSET_PIXELS = 30;

export class TwinsStage extends Stage {
  /** @param {PlaneStore} store @param {AbortSignal} signal */
  constructor(store, signal) {
    super(store, signal);
    this.root.classList.add("nbm-twins-stage");
    this.first = new DistributionView("first");
    this.second = new DistributionView("second");
    this.other = svg("ellipse", { class: "nbm-twin-other" });
    this.arrow = svg("g", { class: "nbm-twin-arrow" }, [
      svg("line"),
      svg("path", { d: "M0 0 L-9 -4.5 L-9 4.5 Z" }),
      svg("text", {}, ["√u β"]),
    ]);
    this.root.insertBefore(
      svg("g", { class: "nbm-twin-pair", "aria-hidden": "true" }, [
        this.other,
        this.first.body,
        this.second.body,
        this.arrow,
        this.first.mark,
        this.second.mark,
      ]),
      this.controls,
    );
  }

  /** @param {Scene} scene without generators @param {Pair} pair @param {boolean} isBehind whether the twin is that of earlier clients @param {string} name of the second */
  paintTwins(scene, pair, isBehind, name) {
    const distributions = [pair.first, ...(pair.second ? [pair.second] : [])];
    const generators = distributions.map((distribution, i) => ({
      name: i ? name : TWIN_NAMES.first,
      x: distribution.x,
      y: distribution.y,
      ...ellipseOf(distribution),
    }));
    this.fit(scene, generators);
    const place = projection(this.frame);
    const arrow = arrowOf(pair, place);
    const labels = this.paint(scene, generators, arrow?.boxes);
    this.first.paint(pair.first, place, labels[0]);
    this.second.paint(pair.second, place, labels[1]);
    for (const node of this.second.nodes) node.classList.toggle("nbm-twin-behind", isBehind);
    paintEllipse(this.other, pair.other, place);
    this.arrow.classList.toggle("nbm-twin-hidden", !arrow);
    if (arrow) this.paintArrow(arrow);
  }

  /** @param {NonNullable<ReturnType<typeof arrowOf>>} arrow */
  paintArrow({ x, y, dx, dy, reach, label }) {
    const [line, head, text] = this.arrow.children;
    const [from, to, tip] = [8, reach - 14, reach - 8];
    setAttributes(line, { x1: x + from * dx, y1: y + from * dy, x2: x + to * dx, y2: y + to * dy });
    setAttributes(head, {
      transform: `translate(${x + tip * dx} ${y + tip * dy}) rotate(${(Math.atan2(dy, dx) * 180) / Math.PI})`,
    });
    setAttributes(text, label);
  }
}

/**
 * From the first generator to the second, in pixels, and the boxes that hold it; null where there is none, or no room.
 * @param {Pair} pair @param {ReturnType<typeof projection>} place
 */
function arrowOf({ first, second, beta }, { at }) {
  if (!second || !beta) return null;
  const [[x, y], [toX, toY]] = [at(first.x, first.y), at(second.x, second.y)];
  const reach = Math.hypot(toX - x, toY - y);
  if (!(reach > MIN_ARROW_PIXELS)) return null;
  const [dx, dy] = [(toX - x) / reach, (toY - y) / reach];
  const label = { x: x + 0.5 * (toX - x) + 10 * Math.abs(dy) + 2, y: y + 0.5 * (toY - y) + 4 + 12 * Math.abs(dx) };
  const along = Array.from({ length: Math.ceil(reach / ARROW_PIXELS) }, (_, k) => k * ARROW_PIXELS);
  const boxes = along.map((by) => ({ x: x + by * dx, y: y + by * dy, wide: ARROW_PIXELS, high: ARROW_PIXELS }));
  boxes.push({ x: label.x + OFFSET_PIXELS / 2, y: label.y - 4, wide: OFFSET_PIXELS, high: 14 });
  return { x, y, dx, dy, reach, label, boxes };
}

/** One generator in the plane. */
class DistributionView {
  /** @param {"first" | "second"} which */
  constructor(which) {
    this.outer = svg("ellipse", { class: "nbm-outer" });
    this.inner = svg("ellipse", { class: "nbm-body" });
    this.body = svg("g", { class: `nbm-twin-${which}` }, [this.outer, this.inner]);
    this.sign = svg("path", { class: "nbm-twin-mark", d: TWIN_MARKS[which] });
    this.label = svg("text", { class: "nbm-name", "text-anchor": "middle" });
    this.mark = svg("g", { class: `nbm-twin-${which}` }, [this.sign, this.label]);
    this.nodes = [this.body, this.mark];
  }

  /** @param {Distribution | null} distribution @param {ReturnType<typeof projection>} place @param {Label} label */
  paint(distribution, place, label) {
    for (const node of this.nodes) node.classList.toggle("nbm-twin-hidden", !distribution);
    if (!distribution) return;
    paintEllipse(this.inner, distribution, place);
    paintEllipse(this.outer, distribution, place, 2);
    const [x, y] = place.at(distribution.x, distribution.y);
    setAttributes(this.mark, { transform: `translate(${x} ${y})` });
    setAttributes(this.label, { x: label.x, y: label.y });
    setText(this.label, label.text);
  }
}

// Pixels of a half-axis: what is narrower than that would not be seen.
const MIN_WIDTH_PIXELS = 3;

/** The 1σ ellipse of a distribution, or that of `sigmas`. @param {SVGEllipseElement} node @param {Distribution | null} distribution @param {ReturnType<typeof projection>} place @param {number} [sigmas] */
function paintEllipse(node, distribution, { at, scale }, sigmas = 1) {
  node.classList.toggle("nbm-twin-hidden", !distribution);
  if (!distribution) return;
  const { width, height, angle } = ellipseOf(distribution);
  const [x, y] = at(distribution.x, distribution.y);
  const [rx, ry] = [width, height].map((length) => Math.max(sigmas * scale * length, sigmas * MIN_WIDTH_PIXELS));
  node.classList.toggle("nbm-twin-thin", scale * Math.min(width, height) < MIN_WIDTH_PIXELS);
  setAttributes(node, { rx, ry, transform: `translate(${x} ${y}) rotate(${-angle})` });
}
