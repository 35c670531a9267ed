/**
 * The map: contours of one score over (ρ, ρ̂), and the point that says where we are.
 *
 * @import { Pair, Point, Score } from "./maths.js"
 * @import { Store } from "../../toolkit/view/store.js"
 */

import { setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { isOwnKey } from "../../toolkit/view/keys.js";
import { numeral } from "../../toolkit/view/numbers.js";
import { correlationNear, levelLine, mirror, regionWithin, SCORE_NAMES, scoresOf, withParts } from "./maths.js";
import { lineThrough, Sheet } from "./responsive_svg.js";

// cividis: even steps to any eye, with any colour vision
const BANDS = [
  "#00224e",
  "#002e6c",
  "#1e3a6f",
  "#35456c",
  "#47516c",
  "#575d6d",
  "#666970",
  "#757575",
  "#848279",
  "#948e77",
  "#a59c74",
  "#b7a96e",
  "#c8b866",
  "#dbc75a",
  "#eed649",
  "#fee838",
];
const BAND_STEP = 4 / BANDS.length;
const LINES = [3, 2, 1, 0.5, 0.1, 0.02];
const ROOM = 14;
const DARK_LINES_FROM = 2;
const MARGIN = { left: 50, right: 12, top: 12, bottom: 46 };
const TOUCH_PIXELS = 24;
const TICK_VALUES = [-1, 0, 1];
/** @type {Record<string, Point>} */
const POINT_KEYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export class CorrelationMap {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.sheet = new Sheet(store, signal, "nbm-pair-map", (width) => width);
    this.frame = svg("g", { class: "nbm-pair-frame", "aria-hidden": "true" });
    // from the highest down, each over the last
    this.bands = BANDS.map((fill) => svg("path", { class: "nbm-pair-band", "aria-hidden": "true", fill })).reverse();
    this.lines = svg("g", { class: "nbm-pair-lines", "aria-hidden": "true" });
    this.diagonal = svg("g", { class: "nbm-pair-diagonal", "aria-hidden": "true" }, [
      svg("line"),
      svg("text", { "text-anchor": "middle" }),
    ]);
    this.guides = svg("path", { class: "nbm-pair-guide", "aria-hidden": "true" });
    this.value = svg("text", { class: "nbm-pair-here nbm-pair-secret", "aria-hidden": "true" });
    this.blind = svg("text", { class: "nbm-pair-blind", "aria-hidden": "true", "text-anchor": "middle" });
    const target = svg("circle", { class: "nbm-touch", r: TOUCH_PIXELS });
    const marks = [
      svg("circle", { class: "nbm-pair-point", r: 8.5 }),
      svg("circle", { class: "nbm-pair-eye", r: 2.5 }),
    ];
    this.point = svg("g", { class: "nbm-pair-grip", role: "slider", tabindex: 0, "aria-label": "correlations" }, [
      target,
      ...marks,
    ]);
    this.sheet.root.append(
      ...this.bands,
      this.lines,
      this.diagonal,
      this.frame,
      this.guides,
      this.blind,
      this.value,
      this.point,
    );
    this.framed = 0;
    this.drawn = "";
    /** @type {{id: number, x: number, y: number, start: Pair, moved: boolean} | null} */
    this.drag = null;
    this.listen(signal);
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    const { root } = this.sheet;
    root.addEventListener("pointerdown", (event) => this.press(event), { signal });
    root.addEventListener("pointermove", (event) => this.move(event), { signal });
    root.addEventListener("pointerup", () => this.release(), { signal });
    root.addEventListener("pointercancel", () => this.giveUp(), { signal });
    root.addEventListener("click", (event) => this.tap(event), { signal });
    // A finger on the point drags it and elsewhere scrolls the page; touch-action does not reach inside an SVG.
    root.addEventListener("touchstart", (event) => this.drag && event.preventDefault(), { signal, passive: false });
    this.point.addEventListener("keydown", (event) => this.key(event), { signal });
  }

  get pair() {
    return /** @type {Pair} */ (/** @type {any} */ (this.store.scene));
  }

  get side() {
    return this.sheet.width - MARGIN.left - MARGIN.right;
  }

  /** Pixels of a pair of correlations. @param {number} rho @param {number} rhoHat @returns {Point} */
  at(rho, rhoHat) {
    return [MARGIN.left + ((rho + 1) / 2) * this.side, MARGIN.top + ((1 - rhoHat) / 2) * this.side];
  }

  /** The pair of correlations under the pointer, and how far it is from the point. @param {MouseEvent} event */
  under(event) {
    const box = this.sheet.root.getBoundingClientRect();
    const [x, y] = [event.clientX - box.x, event.clientY - box.y];
    const [px, py] = this.at(this.pair.rho, this.pair.rho_hat);
    const rho = ((x - MARGIN.left) / this.side) * 2 - 1;
    const rhoHat = 1 - ((y - MARGIN.top) / this.side) * 2;
    return {
      rho,
      rhoHat,
      isInside: Math.max(Math.abs(rho), Math.abs(rhoHat)) <= 1,
      distance: Math.hypot(x - px, y - py),
    };
  }

  /** The point is taken where it is; a mouse elsewhere on the map brings it there first. @param {PointerEvent} event */
  press(event) {
    if (event.button !== 0 || this.drag) return;
    const { rho, rhoHat, isInside, distance } = this.under(event);
    const isNear = distance <= TOUCH_PIXELS;
    if (!isNear && !(isInside && event.pointerType === "mouse")) return;
    event.preventDefault();
    event.stopPropagation();
    this.sheet.root.setPointerCapture(event.pointerId);
    this.point.focus({ preventScroll: true });
    const start = isNear ? this.pair : { ...this.pair, rho, rho_hat: rhoHat };
    this.drag = { id: event.pointerId, x: event.clientX, y: event.clientY, start, moved: false };
    if (!isNear) this.moveTo(rho, rhoHat);
  }

  /** @param {PointerEvent} event */
  move(event) {
    const { drag, store } = this;
    if (drag?.moved && !store.before) this.drag = null; // Escape gave it up
    if (!this.drag || event.pointerId !== this.drag.id) return;
    const [dx, dy] = [event.clientX - this.drag.x, event.clientY - this.drag.y];
    if (!this.drag.moved && dx === 0 && dy === 0) return;
    const { start } = this.drag;
    this.moveTo(start.rho + (2 * dx) / this.side, start.rho_hat - (2 * dy) / this.side);
  }

  /** @param {number} rho @param {number} rhoHat */
  moveTo(rho, rhoHat) {
    if (this.drag) this.drag.moved = true;
    this.store.preview(withParts(this.pair, { rho: correlationNear(rho), rho_hat: correlationNear(rhoHat) }));
  }

  release() {
    if (this.drag?.moved) this.store.finish();
    this.drag = null;
  }

  giveUp() {
    if (this.drag) this.store.cancel();
    this.drag = null;
  }

  /** A finger that taps the map brings the point there. @param {MouseEvent} event */
  tap(event) {
    const { rho, rhoHat, isInside, distance } = this.under(event);
    if (/** @type {PointerEvent} */ (event).pointerType === "mouse" || !isInside || distance <= TOUCH_PIXELS) return;
    this.store.edit(withParts(this.pair, { rho: correlationNear(rho), rho_hat: correlationNear(rhoHat) }));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!isOwnKey(event) || !(event.key in POINT_KEYS)) return;
    event.preventDefault();
    const [right, up] = POINT_KEYS[event.key].map((sign) => sign * (event.shiftKey ? 0.1 : 0.01));
    const { rho, rho_hat } = this.pair;
    this.store.edit(
      withParts(this.pair, { rho: correlationNear(rho + right), rho_hat: correlationNear(rho_hat + up) }),
    );
  }

  /** @param {Pair} scene @param {boolean} isVeiled whether the score is not to be told yet */
  paint(scene, isVeiled) {
    const { width } = this.sheet;
    if (width !== this.framed) this.paintFrame();
    this.framed = width;
    const key = `${width} ${scene.metric} ${scene.metric === "rfid" ? scene.scale : ""}`;
    if (key !== this.drawn) this.paintContours(scene);
    this.drawn = key;
    this.paintPoint(scene, isVeiled);
  }

  paintFrame() {
    const { side } = this;
    const isWide = side > 200;
    const [right, bottom] = [MARGIN.left + side, MARGIN.top + side];
    const ticks = TICK_VALUES.flatMap((value) => {
      const [x, y] = this.at(value, value);
      const text = String(value).replace("-", "−");
      return [
        svg("text", { x, y: bottom + 16, "text-anchor": "middle" }, [text]),
        svg("text", { x: MARGIN.left - 6, y: y + 4, "text-anchor": "end" }, [text]),
      ];
    });
    const [x, y] = [MARGIN.left + side / 2, MARGIN.top + side / 2];
    this.frame.replaceChildren(
      svg("rect", { class: "nbm-pair-edge", x: MARGIN.left, y: MARGIN.top, width: side, height: side }),
      ...ticks,
      svg("text", { class: "nbm-pair-title nbm-pair-is-real", x, y: bottom + 37, "text-anchor": "middle" }, [
        isWide ? "● real correlation ρ" : "● real, ρ",
      ]),
      svg(
        "text",
        {
          class: "nbm-pair-title nbm-pair-is-made",
          transform: `translate(13 ${y}) rotate(-90)`,
          "text-anchor": "middle",
        },
        [isWide ? "◆ generated correlation ρ̂" : "◆ generated, ρ̂"],
      ),
    );
    const [line, label] = this.diagonal.children;
    setAttributes(line, { x1: MARGIN.left, y1: bottom, x2: right, y2: MARGIN.top });
    const [lx, ly] = this.at(0.3, 0.3);
    setAttributes(label, { transform: `translate(${lx} ${ly}) rotate(-45)`, y: 15 });
    setText(label, isWide ? "right pairing" : "ρ̂ = ρ");
  }

  /** @param {Pair} scene */
  paintContours({ metric, scale }) {
    const corners = /** @type {Point[]} */ ([
      [-1, -1],
      [1, -1],
      [1, 1],
      [-1, 1],
    ]);
    const shape = (/** @type {Point[]} */ points) => lineThrough(points.map(([rho, rhoHat]) => this.at(rho, rhoHat)));
    const reach = BANDS.map((_, k) => levelLine(metric, (k + 1) * BAND_STEP, scale));
    const top = reach.indexOf(null);
    this.bands.forEach((band, i) => {
      const k = BANDS.length - 1 - i;
      setAttributes(band, { d: k > top ? "" : `${shape(reach[k] ? regionWithin(reach[k]) : corners)}Z` });
    });
    this.paintLines(metric, scale, shape);
    setText(this.blind, metric === "mfid" ? "0 everywhere" : "");
    const [x, y] = this.at(-0.4, 0.5);
    setAttributes(this.blind, { x, y });
  }

  /**
   * Labels stand on the other diagonal, the higher ones first, as far as there is room.
   * @param {Score} metric @param {number} scale @param {(points: Point[]) => string} shape
   */
  paintLines(metric, scale, shape) {
    const [paths, labels] = [[], []].map((list) => /** @type {SVGElement[]} */ (list));
    let last = -Infinity;
    for (const level of LINES) {
      const line = levelLine(metric, level, scale);
      if (!line) continue;
      const style = level < DARK_LINES_FROM ? "nbm-pair-pale" : "nbm-pair-deep";
      paths.push(svg("path", { class: style, d: shape(line) + shape(mirror(line)) }));
      const [rho, rhoHat] = crossing(line);
      const [x, y] = this.at(rhoHat, rho);
      if (x - last < ROOM) continue;
      last = x;
      labels.push(svg("text", { x, y: y + 4, "text-anchor": "middle" }, [String(level)]));
    }
    this.lines.replaceChildren(...paths, ...labels);
  }

  /** @param {Pair} scene @param {boolean} isVeiled */
  paintPoint(scene, isVeiled) {
    const { rho, rho_hat, metric } = scene;
    const [x, y] = this.at(rho, rho_hat);
    setAttributes(this.guides, { d: `M${x} ${y}V${MARGIN.top + this.side}M${x} ${y}H${MARGIN.left}` });
    const value = scoresOf(scene)[metric];
    const isRight = rho > 0.4;
    setAttributes(this.value, {
      x: x + (isRight ? -14 : 14),
      y: y + (y + 26 > MARGIN.top + this.side ? -14 : 22),
      "text-anchor": isRight ? "end" : "start",
    });
    setText(this.value, `${SCORE_NAMES[metric]} ${numeral(value)}`);
    const scoreText = isVeiled ? "" : `, ${SCORE_NAMES[metric]} ${numeral(value, 3)}`;
    setAttributes(this.point, {
      transform: `translate(${x} ${y})`,
      "aria-valuenow": rho,
      "aria-valuemin": -1,
      "aria-valuemax": 1,
      "aria-valuetext": `ρ ${numeral(rho)}, ρ̂ ${numeral(rho_hat)}${scoreText}`,
    });
  }
}

/** Where a level line crosses ρ̂ = −ρ: it is its own mirror image there. @param {Point[]} line @returns {Point} */
function crossing(line) {
  const [[x1, y1], [x2, y2]] = [line[Math.floor((line.length - 1) / 2)], line[Math.ceil((line.length - 1) / 2)]];
  return [(x1 + x2) / 2, (y1 + y2) / 2];
}
