/**
 * The scale of x: the slider that sets it, beside the clouds that it changes, and MFID, RFID and CFID of the present pair
 * against it.
 *
 * @import { Pair, Point } from "./maths.js"
 * @import { Store } from "../../toolkit/view/store.js"
 */

import { el, setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { numeral } from "../../toolkit/view/numbers.js";
import { slides } from "../../toolkit/view/slider.js";
import { rfidOf, SCALE_ENDS, SCORE_NAMES, scaleAt, scoresOf, withParts } from "./maths.js";
import { lineThrough, Sheet } from "./responsive_svg.js";

const [LOW, HIGH] = SCALE_ENDS;
const STEP = 0.01;
const HEIGHT_PIXELS = 170;
const EDGE = { left: 30, right: 14, top: 14, bottom: 20 };
const CEILINGS = [0.1, 0.25, 0.5, 1, 2, 3, 4.4];
const KNOTS = Array.from({ length: 61 }, (_, k) => LOW + ((HIGH - LOW) * k) / 60);
const CURVES = /** @type {const} */ (["mfid", "rfid", "cfid"]);

export class ScaleChart {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.sheet = new Sheet(store, signal, "nbm-pair-scale-chart", () => HEIGHT_PIXELS);
    setAttributes(this.sheet.root, { "aria-hidden": "true" });
    this.frame = svg("g", { class: "nbm-pair-frame" });
    this.now = svg("line", { class: "nbm-pair-now" });
    this.curves = CURVES.map((name) => svg("path", { class: `nbm-pair-curve nbm-pair-as-${name} nbm-pair-secret` }));
    this.dots = CURVES.map((name) =>
      svg("circle", { class: `nbm-pair-dot nbm-pair-as-${name} nbm-pair-secret`, r: 4 }),
    );
    this.labels = CURVES.map((name) => svg("text", { class: `nbm-pair-title nbm-pair-as-${name} nbm-pair-secret` }));
    this.veil = svg("text", { class: "nbm-pair-veil", "text-anchor": "middle" }, ["?"]);
    this.sheet.root.append(this.frame, this.now, this.veil, ...this.curves, ...this.dots, ...this.labels);
    this.slider = el("input", {
      type: "range",
      class: "nbm-pair-range",
      min: String(LOW),
      max: String(HIGH),
      step: String(STEP),
      "aria-label": "scale of x",
    });
    slides(this.slider, store, (exponent) => withParts(store.scene, { scale: scaleAt(exponent) }), signal);
    this.alpha = el("span", { class: "nbm-pair-alpha", "aria-hidden": "true" });
    this.control = el("label", { class: "nbm-pair-scale" }, ["scale of x", this.slider, this.alpha]);
    this.words = el("p", { class: "nbm-pair-formula nbm-pair-secret" });
    this.root = el("section", { class: "nbm-pair-card nbm-pair-scale-card", "aria-label": "Scale of x" }, [
      el("h3", {}, ["Does the unit of x matter?"]),
      this.sheet.root,
      this.control,
      this.words,
    ]);
  }

  /** @param {Pair} scene */
  paint(scene) {
    const scores = scoresOf(scene);
    const ceiling = CEILINGS.find((value) => value >= 1.15 * scores.cfid) ?? CEILINGS[CEILINGS.length - 1];
    const wide = this.sheet.width - EDGE.left - EDGE.right;
    const high = HEIGHT_PIXELS - EDGE.top - EDGE.bottom;
    const at = (/** @type {number} */ exponent, /** @type {number} */ value) =>
      /** @type {Point} */ ([
        EDGE.left + ((exponent - LOW) / (HIGH - LOW)) * wide,
        EDGE.top + high * (1 - value / ceiling),
      ]);
    this.paintFrame(ceiling, at);
    const place = Math.log10(scene.scale);
    const of = {
      mfid: () => 0,
      rfid: (/** @type {number} */ e) => rfidOf(scores.cfid, 10 ** e),
      cfid: () => scores.cfid,
    };
    CURVES.forEach((name, k) => {
      setAttributes(this.curves[k], { d: lineThrough(KNOTS.map((exponent) => at(exponent, of[name](exponent)))) });
      const [cx, cy] = at(place, scores[name]);
      setAttributes(this.dots[k], { cx, cy });
    });
    this.paintLabels(scores, at, of.rfid);
    const [x] = at(place, 0);
    setAttributes(this.now, { x1: x, x2: x, y1: EDGE.top - 6, y2: HEIGHT_PIXELS - EDGE.bottom });
    const step = place.toFixed(2);
    if (Number(this.slider.value) !== Number(step)) this.slider.value = step;
    setAttributes(this.veil, { x: EDGE.left + wide / 2, y: EDGE.top + high / 2 + 16 });
    const alpha = `α = ${Number(scene.scale.toPrecision(3))}`;
    setAttributes(this.slider, { "aria-valuetext": alpha });
    const part = scores.cfid ? `RFID is ${numeral(scores.rfid / scores.cfid)} of CFID` : "every score is 0";
    setText(this.alpha, alpha);
    setText(this.words, `At ${alpha}, ${part}.`);
  }

  /** @param {number} ceiling @param {(exponent: number, value: number) => Point} at */
  paintFrame(ceiling, at) {
    const key = `${this.sheet.width} ${ceiling}`;
    if (this.frame.getAttribute("data-drawn") === key) return;
    setAttributes(this.frame, { "data-drawn": key });
    const [left, bottom] = at(LOW, 0);
    const [right] = at(HIGH, 0);
    const top = Math.min(4, ceiling);
    const levels = [0, top / 2, top].map((value) => {
      const [, y] = at(LOW, value);
      return svg("g", {}, [
        svg("line", { class: "nbm-pair-rule", x1: left, x2: right, y1: y, y2: y }),
        svg("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, [String(value)]),
      ]);
    });
    const scales = [-2, -1, 0, 1].map((exponent) => {
      const [x] = at(exponent, 0);
      return svg("text", { x, y: bottom + 15, "text-anchor": "middle" }, [String(10 ** exponent)]);
    });
    this.frame.replaceChildren(...levels, ...scales);
  }

  /**
   * @param {Record<string, number>} scores @param {(exponent: number, value: number) => Point} at
   * @param {(exponent: number) => number} rfid
   */
  paintLabels(scores, at, rfid) {
    const isFlat = scores.cfid < 0.004; // the three lines are one, and there is no room for three names
    CURVES.forEach((name, k) => setText(this.labels[k], isFlat ? "" : SCORE_NAMES[name]));
    const [mfidLabel, rfidLabel, cfidLabel] = this.labels;
    const [right, bottom] = at(HIGH, 0);
    const [x, y] = at(-0.28, rfid(-0.28));
    const [left, top] = at(LOW, scores.cfid);
    setAttributes(mfidLabel, { x: right - 4, y: bottom - 7, "text-anchor": "end" });
    setAttributes(rfidLabel, { x: x - 10, y, "text-anchor": "end" });
    setAttributes(cfidLabel, { x: left + 6, y: top - 7 });
  }
}
