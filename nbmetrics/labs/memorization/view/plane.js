/**
 * The picture: train, test and generated points, the fitted density as shading with the standard deviations of its
 * bumps (of many of them, every few), and the chosen point with a line to its nearest train point. Points follow the
 * sliders in every frame; the bumps are those of Python's last answer, around the points as they are now.
 *
 * @import { MemoLayers } from "./legend.js"
 * @import { MemoState } from "./state.js"
 */
import { el, setAttributes, setText, svg, watchSize } from "../../toolkit/view/dom.js";
import { isOwnKey } from "../../toolkit/view/keys.js";
import { approach, MemoMarks, shade, tint } from "./canvas_layers.js";
import { nearestPoint } from "./maths.js";

// Pixels of a cell of the shading: small, so that a collapsed bump is a dot, and larger where bumps are so wide that
// every cell would be part of most of them.
const CELLS = { small: 4, large: 8, wide: 40 };
const SHADE = /** @type {[number, number, number]} */ ([224, 122, 32]);
const DEEPEST = 0.72;
const DEEP = 3;
const MARGIN_SHARE = 0.09;
const [FLATTEST, TALLEST] = [0.6, 0.95];
const CLICK_REACH_PIXELS = 22;
// A bump goes so far towards its new size in 16 milliseconds.
const SWELL = 0.22;
// The more circles cover the picture, the fainter they are, or they would be all that is seen.
const CIRCLE_INK = { all: 0.035, least: 0.025, most: 0.4 };
const FAINT_RINGS_FROM = 120;
// Of the circles: more would only be a veil, and make every frame of a drag dear.
const MAX_CIRCLES = 150;
const LAYERS = /** @type {const} */ (["train", "test"]);
const MIN_CIRCLE_PIXELS = 0.3;
// How much of the circles is seen while they are of an earlier picture.
const OLD = 0.4;

export class MemoPlane {
  /** @param {MemoState} state @param {MemoLayers} layers which of them are shown @param {AbortSignal} signal */
  constructor(state, layers, signal) {
    this.state = state;
    this.shows = layers;
    this.signal = signal;
    this.width = 0;
    this.canvas = el("canvas", { class: "nbm-memo-shade", "aria-hidden": "true" });
    this.layers = Object.fromEntries(
      LAYERS.map((name) => [name, svg("path", { class: `nbm-memo-${name}`, "aria-hidden": "true" })]),
    );
    this.link = svg("line", { class: "nbm-memo-link", "aria-hidden": "true" });
    this.original = svg("circle", { class: "nbm-memo-original", r: 6, "aria-hidden": "true" });
    this.chosen = svg("path", { class: "nbm-memo-chosen", d: "M0-8L8 0L0 8L-8 0Z", "aria-hidden": "true" });
    this.hover = svg("path", { class: "nbm-memo-hover", d: "M0-7L7 0L0 7L-7 0Z", "aria-hidden": "true" });
    this.outside = svg("text", { class: "nbm-memo-outside", "text-anchor": "end" });
    this.frame = svg("rect", { class: "nbm-memo-frame", x: 1, y: 1, rx: 5 });
    this.picker = svg(
      "g",
      { class: "nbm-memo-picker", role: "slider", tabindex: 0, "aria-label": "Generated point", "aria-valuemin": 1 },
      [this.frame],
    );
    // what stays in place is drawn apart, so that a frame of a drag need not draw it again
    this.still = svg(
      "g",
      {},
      LAYERS.map((name) => this.layers[name]),
    );
    this.behind = svg("svg", { class: "nbm-memo-behind", "aria-hidden": "true" }, [this.still]);
    this.marks = new MemoMarks(() => this.paintMarks(), signal);
    this.root = svg("svg", { class: "nbm-memo-plane" }, [
      this.link,
      this.original,
      this.chosen,
      this.hover,
      this.outside,
      this.picker,
    ]);
    this.box = el("div", { class: "nbm-memo-picture" }, [this.canvas, this.behind, this.marks.canvas, this.root]);
    /** @type {[number, number][]} pixels of the generated points */
    this.places = [];
    this.hasBumps = this.knowsBumps = false;
    this.shown = new Float64Array(0);
    this.density = new Float32Array(0);
    /** @type {ImageData | null} */
    this.image = null;
    this.painted = /** @type {Record<string, any>} */ ({});
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.step = 0;
    this.hovered = -1;
    this.listen();
  }

  listen() {
    const { root, signal, state } = this;
    root.addEventListener("pointermove", (event) => this.point(this.under(event)), { signal });
    root.addEventListener("pointerleave", () => this.point(-1), { signal });
    root.addEventListener(
      "click",
      (event) => {
        const index = this.under(event);
        state.select(index < 0 || index === state.selected ? null : index);
        this.picker.focus({ preventScroll: true });
      },
      { signal },
    );
    this.picker.addEventListener("keydown", (event) => this.key(event), { signal });
    signal.addEventListener("abort", () => cancelAnimationFrame(this.step));
    state.store.subscribe(() => this.join(), signal);
    watchSize(this.box, signal, ({ width }) => {
      this.width = Math.round(width);
      state.store.changed();
    });
  }

  /** Through the points from the most memorized down. @param {KeyboardEvent} event */
  key(event) {
    if (!isOwnKey(event)) return;
    const { state } = this;
    if (event.key === "Escape" && state.selected !== null) {
      event.preventDefault();
      return state.select(null);
    }
    const order = state.byMemorization;
    const now = state.selected === null ? -1 : order.indexOf(state.selected);
    const by = event.shiftKey ? 10 : 1;
    /** @type {Record<string, number>} */
    const next = {
      ArrowRight: now + by,
      ArrowDown: now + by,
      ArrowLeft: now - by,
      ArrowUp: now - by,
      Home: 0,
      End: order.length - 1,
      Enter: Math.max(0, now),
    };
    if (!(event.key in next)) return;
    event.preventDefault();
    state.select(order[Math.max(0, Math.min(order.length - 1, next[event.key]))]);
  }

  /** The generated point under the pointer, or −1. @param {MouseEvent} event */
  under(event) {
    const box = this.root.getBoundingClientRect();
    const { left, top, scale } = this.view;
    const [x, y] = [left + (event.clientX - box.x) / scale, top - (event.clientY - box.y) / scale];
    return nearestPoint(this.state.generated.points, x, y, CLICK_REACH_PIXELS / scale, this.isThere);
  }

  /** @param {number} index */
  point(index) {
    if (this.hovered === index) return;
    this.hovered = index;
    this.state.store.changed();
  }

  /** What is in the picture: all rows that do not move, with equal units; the same while only sliders move. */
  get view() {
    const { base } = this.state;
    if (this.painted.viewBase === base && this.painted.viewWidth === this.width) return this.painted.view;
    const rows = [...base.train, ...base.test, ...base.fresh];
    const [xs, ys] = [0, 1].map((axis) => rows.map((row) => row[axis]));
    const [left, right, bottom, top] = [lowest(xs), highest(xs), lowest(ys), highest(ys)];
    const [wide, high] = [(right - left) * (1 + 2 * MARGIN_SHARE) || 1, (top - bottom) * (1 + 2 * MARGIN_SHARE) || 1];
    const height = Math.round(this.width * Math.min(TALLEST, Math.max(FLATTEST, high / wide)));
    const scale = Math.min(this.width / wide, height / high);
    const view = {
      left: (left + right) / 2 - this.width / scale / 2,
      top: (top + bottom) / 2 + height / scale / 2,
      scale,
      height,
    };
    Object.assign(this.painted, { viewBase: base, viewWidth: this.width, view, generated: null, still: false });
    return view;
  }

  paint() {
    if (!this.width) return;
    const { state } = this;
    const { height } = this.view;
    for (const node of [this.root, this.behind])
      setAttributes(node, { viewBox: `0 0 ${this.width} ${height}`, height });
    setAttributes(this.frame, { width: this.width - 2, height: height - 2 });
    this.box.classList.toggle("nbm-memo-old", !state.isBaseCurrent);
    this.canvas.classList.toggle("nbm-memo-old", !state.isCurrent);
    if (!this.painted.still) this.paintReal();
    for (const name of LAYERS) this.layers[name].toggleAttribute("hidden", !this.shows.shows(name));
    if (this.painted.generated !== state.generated) this.locate();
    this.paintBumps();
    if (this.painted.marks !== this.marksKey) this.paintMarks();
    this.paintChosen();
    setAttributes(this.box, { "data-rev": state.scene.rev });
  }

  /** Pixels of a point. @param {number} x @param {number} y @returns {[number, number]} */
  at(x, y) {
    const { left, top, scale } = this.view;
    return [(x - left) * scale, (top - y) * scale];
  }

  paintReal() {
    const { train, test } = this.state.base;
    const size = markSize(train.length);
    setAttributes(this.layers.train, { d: train.map(([x, y]) => discPath(this.at(x, y), size)).join("") });
    setAttributes(this.layers.test, { d: test.map(([x, y]) => crossPath(this.at(x, y), size)).join("") });
    this.painted.still = true;
  }

  /** Where the generated points are in the picture. */
  locate() {
    const { generated } = this.state;
    this.places = Array.from(generated.isCopy, (_, i) => this.at(generated.points[2 * i], generated.points[2 * i + 1]));
    Object.assign(this.painted, { generated, bumps: null, marks: "" });
  }

  /** The bumps, on their way to the sizes that Python found. */
  paintBumps() {
    const { state } = this;
    const { sigma } = state;
    this.knowsBumps = Boolean(sigma) && state.fitsPoints;
    this.hasBumps = this.knowsBumps && this.shows.shows("bumps");
    this.canvas.toggleAttribute("hidden", !this.hasBumps);
    if (!this.hasBumps || !sigma) return;
    if (this.painted.sigma !== sigma) {
      this.painted.sigma = sigma;
      this.wanted = Float64Array.from(sigma.flat());
      if (this.shown.length !== this.wanted.length || this.calm.matches) this.shown = this.wanted.slice();
      this.painted.bumps = null;
    }
    if (this.painted.bumps) return;
    this.painted.bumps = true;
    this.painted.marks = "";
    this.paintShade();
    if (this.wanted && !approach(this.shown, this.wanted, SWELL)) this.soon();
  }

  /** One more frame of the bumps alone. */
  soon() {
    this.step = requestAnimationFrame(() => {
      this.step = 0;
      this.painted.bumps = null;
      this.paintBumps();
      this.paintMarks();
      this.paintChosen();
    });
  }

  /** The next frame paints everything: the bumps' own would do it twice. */
  join() {
    if (!this.step) return;
    cancelAnimationFrame(this.step);
    this.step = 0;
    this.painted.bumps = null;
  }

  /** What the moving marks depend on beside where they are. */
  get marksKey() {
    return `${this.hasBumps} ${this.state.isCurrent} ${devicePixelRatio} ${this.shows.key}`;
  }

  /** Whether a generated point is drawn. @returns {(i: number) => boolean} */
  get isThere() {
    const { isCopy } = this.state.generated;
    const [others, copies] = [this.shows.shows("others"), this.shows.shows("copies")];
    return (i) => (isCopy[i] ? copies : others);
  }

  paintMarks() {
    if (!this.width) return;
    const { isCopy, copies } = this.state.generated;
    const { isThere, places } = this;
    const dots = {
      places,
      isCopy,
      isThere,
      size: 1.35 * markSize(isCopy.length),
      ringInk: copies > FAINT_RINGS_FROM ? 0.55 : 0.9,
    };
    this.marks.paint(this.width, this.view.height, dots, this.hasBumps ? this.circles() : null);
    this.painted.marks = this.marksKey;
    const { height } = this.view;
    const outside = places.filter(([x, y], i) => isThere(i) && (x < 0 || y < 0 || x > this.width || y > height)).length;
    setText(this.outside, outside ? `${outside} outside` : "");
    setAttributes(this.outside, { x: this.width - 8, y: height - 9 });
  }

  /** One standard deviation of every bump, or of every few. */
  circles() {
    const { scale, height } = this.view;
    const stride = Math.ceil(this.places.length / MAX_CIRCLES);
    const places = this.places.filter((_, i) => i % stride === 0);
    const radii = places.map(
      (_, k) =>
        /** @type {[number, number]} */ (
          [0, 1].map((axis) => Math.max(MIN_CIRCLE_PIXELS, this.shown[2 * stride * k + axis] * scale))
        ),
    );
    const length = radii.reduce((sum, [a, b]) => sum + Math.PI * (a + b), 0);
    const { all, least, most } = CIRCLE_INK;
    const ink = Math.min(most, Math.max(least, (all * this.width * height) / length));
    return { places, radii, ink: this.state.isCurrent ? ink : OLD * ink };
  }

  paintShade() {
    const { left, top, scale, height } = this.view;
    const size = scale * Math.sqrt(meanProduct(this.shown)) > CELLS.wide ? CELLS.large : CELLS.small;
    const [columns, rows] = [Math.ceil(this.width / size), Math.ceil(height / size)];
    const context = this.canvas.getContext("2d");
    if (!context || columns < 1 || rows < 1) return; // not laid out yet
    if (this.canvas.width !== columns || this.canvas.height !== rows || !this.image) {
      Object.assign(this.canvas, { width: columns, height: rows });
      Object.assign(this.canvas.style, { width: `${columns * size}px`, height: `${rows * size}px` });
      this.density = new Float32Array(columns * rows);
      this.image = context.createImageData(columns, rows);
    }
    shade(this.state.generated.points, this.shown, { left, top, cell: size / scale, columns, rows }, this.density);
    // Deep where there are a few times as many as if the points were spread over the whole picture.
    tint(this.density, DEEP / (columns * rows), SHADE, DEEPEST, this.image.data);
    context.putImageData(this.image, 0, 0);
  }

  paintChosen() {
    const { state } = this;
    const { generated, selected, base } = state;
    const nearest = selected !== null && state.fitsPoints ? state.answer.nearest[selected] : undefined;
    this.place(this.chosen, selected);
    this.place(this.hover, this.hovered >= 0 && this.hovered < generated.isCopy.length ? this.hovered : null);
    for (const node of [this.link, this.original]) node.toggleAttribute("hidden", nearest === undefined);
    if (nearest === undefined || selected === null) return;
    const [x, y] = this.at(generated.points[2 * selected], generated.points[2 * selected + 1]);
    const [cx, cy] = this.at(...base.train[nearest]);
    setAttributes(this.link, { x1: x, y1: y, x2: cx, y2: cy });
    setAttributes(this.original, { cx, cy });
  }

  /** @param {Element} mark @param {number | null} index */
  place(mark, index) {
    mark.toggleAttribute("hidden", index === null);
    if (index === null) return;
    const { points } = this.state.generated;
    setAttributes(mark, { transform: `translate(${this.at(points[2 * index], points[2 * index + 1]).join(" ")})` });
  }

  /** What a reader of the screen hears of the chosen point. @param {string} words */
  tell(words) {
    const { state } = this;
    const order = state.byMemorization;
    const rank = state.selected === null ? 1 : order.indexOf(state.selected) + 1;
    setAttributes(this.picker, { "aria-valuemax": order.length, "aria-valuenow": rank, "aria-valuetext": words });
  }

  /** The drawing with its shading, until it was copied. @returns {import("../../toolkit/view/picture.js").Pictured} */
  pictured() {
    const { width, height } = this.canvas.style;
    const image = (/** @type {Record<string, string | number>} */ attributes) =>
      svg("image", { ...attributes, preserveAspectRatio: "none" });
    // Without the shading, its canvas never got a size.
    const shade = width ? [image({ width, height, href: this.canvas.toDataURL() })] : [];
    const marks = image({ width: this.width, height: this.view.height, href: this.marks.saved() });
    const images = [...shade, marks];
    this.root.prepend(...shade, this.still, marks);
    const done = () => {
      this.behind.append(this.still);
      for (const image of images) image.remove();
    };
    return { drawing: this.root, done };
  }
}

/** @param {number[]} values */
function lowest(values) {
  return values.reduce((a, b) => Math.min(a, b), Infinity);
}

/** @param {number[]} values */
function highest(values) {
  return values.reduce((a, b) => Math.max(a, b), -Infinity);
}

/** The mean of the products of pairs. @param {Float64Array} pairs */
function meanProduct(pairs) {
  let sum = 0;
  for (let k = 0; k < pairs.length; k += 2) sum += pairs[k] * pairs[k + 1];
  return sum / (pairs.length / 2);
}

/** Half the size of a mark, smaller where there are many. @param {number} count */
function markSize(count) {
  return count > 600 ? 1.8 : count > 150 ? 2.2 : 3;
}

/** Exact enough for a pixel, and quicker to write than toFixed. @param {number} value */
function tenth(value) {
  return Math.round(10 * value) / 10;
}

/** @param {[number, number]} place @param {number} r */
function discPath([x, y], r) {
  return `M${tenth(x - r)} ${tenth(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
}

/** @param {[number, number]} place @param {number} r */
function crossPath([x, y], r) {
  return `M${tenth(x - r)} ${tenth(y - r)}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}`;
}
