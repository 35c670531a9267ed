/**
 * Twin: theory/barycenter.py · held by: tests/labs/playground/test_headline_page.py
 *
 * The best Gaussian generator by each aggregate of FID, faint in the plane: by avg the barycenter of the clients, which
 * has the mean of their shapes; by all the pooled clients, who spread wider by the distances between them.
 *
 * @import { Distribution, Scene } from "../../toolkit/view/types.js"
 * @import { PlaygroundStore } from "./store.js"
 * @import { Stage } from "../../plane/view/stage.js"
 */
import { dataOf, distributionsOf } from "../../plane/view/distributions.js";
import { ellipseOf, freeSpot, projection } from "../../plane/view/geometry.js";
import { setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { chartedOf } from "./metrics.js";

/** @typedef {{a: number, b: number, c: number}} Cov */
const BARYCENTER_STEPS = 60;
const NAMES = ["best by avg", "best by all"];

/** The root of a covariance. @param {Cov} cov @returns {Cov} */
function rootOf({ a, b, c }) {
  const det = Math.sqrt(Math.max(0, a * c - b * b));
  const scale = 1 / Math.sqrt(Math.max(a + c + 2 * det, Number.MIN_VALUE));
  return { a: scale * (a + det), b: scale * b, c: scale * (c + det) };
}

/** R S R of symmetric ones. @param {Cov} r @param {Cov} s @returns {Cov} */
function between(r, s) {
  const [p, q] = [r.a * s.a + r.b * s.b, r.a * s.b + r.b * s.c];
  const [u, v] = [r.b * s.a + r.c * s.b, r.b * s.b + r.c * s.c];
  return { a: p * r.a + q * r.b, b: p * r.b + q * r.c, c: u * r.b + v * r.c };
}

/** @param {Cov} cov @returns {Cov} */
function inverseOf({ a, b, c }) {
  const det = a * c - b * b;
  return { a: c / det, b: -b / det, c: a / det };
}

/**
 * The Gaussian of least average FID: the mean of the means, and the fixed point of Álvarez-Esteban and others (2016).
 * @param {Distribution[]} distributions @param {number[]} shares
 */
export function barycenterOf(distributions, shares) {
  const sum = (/** @type {(distribution: Distribution) => number} */ of) =>
    distributions.reduce((s, distribution, i) => s + shares[i] * of(distribution), 0);
  const floor = 1e-12 * sum((distribution) => distribution.a + distribution.c) + Number.MIN_VALUE;
  let cov = {
    a: sum((distribution) => distribution.a) + floor,
    b: sum((distribution) => distribution.b),
    c: sum((distribution) => distribution.c) + floor,
  };
  for (let step = 0; step < BARYCENTER_STEPS; step++) {
    const root = rootOf(cov);
    const roots = distributions.map((distribution) => rootOf(between(root, distribution)));
    const mean = { a: 0, b: 0, c: 0 };
    roots.forEach((r, i) => {
      for (const key of /** @type {(keyof Cov)[]} */ (["a", "b", "c"])) mean[key] += shares[i] * r[key];
    });
    const next = between(inverseOf(root), between(mean, { a: 1, b: 0, c: 1 }));
    if (!(next.a * next.c - next.b * next.b > 0)) break;
    const moved = Math.abs(next.a - cov.a) + Math.abs(next.b - cov.b) + Math.abs(next.c - cov.c);
    cov = next;
    if (moved < 1e-13 * (cov.a + cov.c)) break;
  }
  return { x: sum((distribution) => distribution.x), y: sum((distribution) => distribution.y), ...cov };
}

export class BestByEach {
  /** @param {PlaygroundStore} store @param {Stage} stage */
  constructor(store, stage) {
    this.store = store;
    this.stage = stage;
    this.ellipse = svg("ellipse");
    this.names = [svg("text", { "text-anchor": "middle" }), svg("text", { "text-anchor": "middle" })];
    this.root = svg("g", { class: "nbm-best-each", "aria-hidden": "true" }, [this.ellipse, ...this.names]);
    stage.root.insertBefore(this.root, stage.controls);
  }

  /** @param {Scene} scene */
  paint(scene) {
    const isShown = showsBestIn(this.store);
    this.root.toggleAttribute("hidden", !isShown);
    this.stage.pooled.classList.toggle("nbm-strong", isShown);
    if (!isShown) return;
    const { clients, shares, pooled } = distributionsOf(scene, dataOf(this.store.model));
    const best = barycenterOf(clients, shares);
    const { at, scale } = projection(this.stage.frame);
    const { width, height, angle } = ellipseOf(best);
    const [x, y] = at(best.x, best.y);
    setAttributes(this.ellipse, {
      rx: scale * width,
      ry: scale * height,
      transform: `translate(${x} ${y}) rotate(${-angle})`,
    });
    const taken = [...this.stage.taken];
    [best, pooled].forEach((distribution, i) => {
      const spot = freeSpot(NAMES[i], placesAround(at(distribution.x, distribution.y), scale, distribution), taken);
      if (spot) taken.push(spot);
      setText(this.names[i], spot ? NAMES[i] : "");
      if (spot) setAttributes(this.names[i], { x: spot.x, y: spot.y + 4 });
    });
  }
}

/** Whether the best by each stands in the plane: it would answer what a lesson asks. @param {PlaygroundStore} store */
export function showsBestIn(store) {
  return store.showsBest && !store.scene.plane && !store.isAsked && chartedOf(store).metric === "fid";
}

/** Beside an outline: above, below, then along it, then at its corners, last where the names of clients stand. @param {[number, number]} mean in pixels @param {number} scale @param {Cov} cov @returns {[number, number][]} */
function placesAround([x, y], scale, { a, c }) {
  const [wide, high] = [scale * Math.sqrt(a), scale * Math.sqrt(c)];
  const corners = (/** @type {number} */ across, /** @type {number} */ along, room = 0) =>
    [1, -1].flatMap((down) =>
      [-1, 1].map(
        (side) => /** @type {[number, number]} */ ([x + side * across * wide, y + down * (along * high + room)]),
      ),
    );
  return [
    [x, y - high - 10],
    [x, y + high + 10],
    ...corners(0.5, 0.87, 10),
    ...corners(0.9, 0.9),
    ...corners(1.3, 1.3),
  ];
}
