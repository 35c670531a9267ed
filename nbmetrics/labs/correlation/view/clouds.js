/**
 * The two clouds, (x, y) real and (x, ŷ) generated: the same x and the same noise, with their 1σ ellipses, and
 * between them how y and ŷ are spread, which is all that MFID looks at.
 *
 * @import { Pair, Point } from "./maths.js"
 * @import { Store } from "../../toolkit/view/store.js"
 */

import { setAttributes, svg } from "../../toolkit/view/dom.js";
import { normals, spreadOf } from "./maths.js";
import { lineThrough, Sheet } from "./responsive_svg.js";

export const POINT_COUNT = 160;
export const XS = normals(POINT_COUNT, 11);
export const NOISE = normals(POINT_COUNT, 12);
const REACH = 3.1;
const NARROW_PIXELS = 300;
const ABOVE = 24;
const BELOW = 24;
// Three inputs whose answers are followed from one cloud to the other.
export const FOLLOWED = [-1.3, 0.4, 1.5].map((wanted) =>
  XS.reduce((best, x, i) => (Math.abs(x - wanted) < Math.abs(XS[best] - wanted) ? i : best), 0),
);
const LETTERS = ["a", "b", "c"];

/** What the pair with this correlation answers to each x. @param {number} rho */
export function answersOf(rho) {
  const spread = spreadOf(rho);
  return XS.map((x, i) => rho * x + spread * NOISE[i]);
}

export class PairClouds {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.sheet = new Sheet(store, signal, "nbm-pair-clouds", (width) => sidesOf(width)[0] + ABOVE + BELOW);
    this.clouds = [
      new Cloud("nbm-pair-is-real", "● real", circleMark),
      new Cloud("nbm-pair-is-made", "◆ generated", diamondMark),
    ];
    this.margins = ["nbm-pair-is-real", "nbm-pair-is-made"].map((name) =>
      svg("path", { class: `nbm-pair-margin ${name}` }),
    );
    this.words = ["y", "ŷ"].map((text, k) =>
      svg("text", { class: `nbm-pair-small ${["nbm-pair-is-real", "nbm-pair-is-made"][k]}`, "text-anchor": "middle" }, [
        text,
      ]),
    );
    this.sheet.root.append(...this.clouds.flatMap((cloud) => cloud.nodes), ...this.margins, ...this.words);
    setAttributes(this.sheet.root, { "aria-hidden": "true" });
    this.laidOut = 0;
  }

  /** @param {Pair} scene */
  paint(scene) {
    const { width } = this.sheet;
    const [side, between] = sidesOf(width);
    if (width !== this.laidOut) this.layOut(side, between);
    this.laidOut = width;
    [scene.rho, scene.rho_hat].forEach((rho, k) => this.clouds[k].paint(rho, scene.scale, side));
  }

  /** @param {number} side @param {number} between */
  layOut(side, between) {
    this.clouds.forEach((cloud, k) => cloud.layOut(k * (side + between), ABOVE, side));
    const middle = side + between / 2;
    this.margins.forEach((margin, k) =>
      setAttributes(margin, { d: `${lineThrough(bell(middle, side, (k ? 1 : -1) * (between / 2 - 8)))}Z` }),
    );
    this.words.forEach((word, k) => setAttributes(word, { x: middle + (k ? 12 : -12), y: ABOVE - 8 }));
  }
}

class Cloud {
  /** @param {string} name @param {string} title @param {(x: number, y: number) => string} mark */
  constructor(name, title, mark) {
    this.mark = mark;
    this.shown = "";
    this.title = svg("text", { class: `nbm-pair-title ${name}` }, [title]);
    this.label = svg("text", { class: "nbm-pair-small", "text-anchor": "middle" }, ["αx"]);
    this.points = svg("path", { class: "nbm-pair-points" });
    this.ellipses = ["nbm-pair-halo", "nbm-pair-sigma"].map((style) => svg("path", { class: style }));
    this.axes = svg("path", { class: "nbm-pair-cross" });
    this.follows = LETTERS.map((letter) =>
      svg("g", { class: "nbm-pair-follow" }, [svg("circle", { r: 6 }), svg("text", { x: 9, y: 4 }, [letter])]),
    );
    this.box = svg("svg", { class: `nbm-pair-cloud ${name}`, overflow: "hidden" }, [
      this.axes,
      this.points,
      ...this.ellipses,
      ...this.follows,
    ]);
    this.edge = svg("rect", { class: "nbm-pair-edge" });
    this.nodes = [this.edge, this.box, this.title, this.label];
  }

  /** @param {number} x @param {number} y @param {number} side */
  layOut(x, y, side) {
    for (const node of [this.box, this.edge])
      setAttributes(node, { x: x + 0.5, y: y + 0.5, width: side - 1, height: side - 1 });
    setAttributes(this.title, { x, y: y - 8 });
    setAttributes(this.label, { x: x + side / 2, y: y + side + 15 });
    setAttributes(this.axes, { d: `M0 ${side / 2}H${side}M${side / 2} 0V${side}` });
    this.shown = "";
  }

  /** @param {number} rho @param {number} scale @param {number} side */
  paint(rho, scale, side) {
    const key = `${rho} ${scale}`;
    if (key === this.shown) return;
    this.shown = key;
    const unit = side / (2 * REACH);
    const at = (/** @type {number} */ x, /** @type {number} */ y) =>
      /** @type {Point} */ ([side / 2 + unit * x, side / 2 - unit * y]);
    const places = answersOf(rho).map((y, i) => at(scale * XS[i], y));
    setAttributes(this.points, {
      d: places
        .filter(([x]) => x > -9 && x < side + 9)
        .map(([x, y]) => this.mark(x, y))
        .join(""),
    });
    this.follows.forEach((node, k) =>
      setAttributes(node, { transform: `translate(${places[FOLLOWED[k]].join(" ")})` }),
    );
    const spread = spreadOf(rho);
    const outline = Array.from({ length: 61 }, (_, k) => {
      const turn = (k * Math.PI) / 30;
      return at(scale * Math.cos(turn), rho * Math.cos(turn) + spread * Math.sin(turn));
    });
    for (const ellipse of this.ellipses) setAttributes(ellipse, { d: `${lineThrough(outline)}Z` });
  }
}

/** The side of a cloud's square, and the room between the two. @param {number} width */
function sidesOf(width) {
  const between = width < NARROW_PIXELS ? 36 : 64;
  return [(width - between) / 2, between];
}

/**
 * Half the normal density on its side, its foot at x = `foot` and `wide` at its widest, to the left if negative.
 * @param {number} foot @param {number} side @param {number} wide @returns {Point[]}
 */
function bell(foot, side, wide) {
  const start = foot + Math.sign(wide) * 2;
  const curve = Array.from({ length: 41 }, (_, k) => {
    const y = REACH * (k / 20 - 1);
    return /** @type {Point} */ ([start + wide * Math.exp((-y * y) / 2), ABOVE + side / 2 - (side / (2 * REACH)) * y]);
  });
  return [[start, ABOVE + side], ...curve, [start, ABOVE]];
}

/** @param {number} x @param {number} y */
function circleMark(x, y) {
  return `M${(x - 2).toFixed(1)} ${y.toFixed(1)}a2 2 0 1 0 4 0a2 2 0 1 0-4 0`;
}

/** @param {number} x @param {number} y */
function diamondMark(x, y) {
  return `M${x.toFixed(1)} ${(y - 2.7).toFixed(1)}l2.7 2.7l-2.7 2.7l-2.7-2.7z`;
}
