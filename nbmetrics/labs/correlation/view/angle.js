/**
 * The angle picture: ρ and ρ̂ are two directions, arccos ρ and arccos ρ̂, on the unit half circle. Across is the
 * correlation, up is what x leaves open of y, and CFID is the squared chord between the tips.
 *
 * @import { Pair, Point } from "./maths.js"
 * @import { Store } from "../../toolkit/view/store.js"
 */

import { el, setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { numeral } from "../../toolkit/view/numbers.js";
import { scoresOf, spreadOf } from "./maths.js";
import { Sheet } from "./responsive_svg.js";

const FOOT = 26;
const HEAD = 26;
const SIDES = 34;

export class AnglePicture {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.sheet = new Sheet(
      store,
      signal,
      "nbm-pair-angle-picture",
      (width) => Math.min(210, (width - 2 * SIDES) / 2) + FOOT + HEAD,
    );
    setAttributes(this.sheet.root, { "aria-hidden": "true" });
    this.arc = svg("path", { class: "nbm-pair-arc" });
    this.axis = svg("path", { class: "nbm-pair-cross" });
    this.ticks = [-1, 0, 1].map((value) =>
      svg("text", { class: "nbm-pair-small", "text-anchor": "middle" }, [String(value).replace("-", "−")]),
    );
    this.turn = svg("path", { class: "nbm-pair-turn" });
    this.degrees = svg("text", { class: "nbm-pair-small", "text-anchor": "middle" });
    this.legs = svg("path", { class: "nbm-pair-legs" });
    this.chord = svg("line", { class: "nbm-pair-chord" });
    this.arms = ["nbm-pair-is-real", "nbm-pair-is-made"].map((name) => svg("line", { class: `nbm-pair-arm ${name}` }));
    this.tips = [
      svg("circle", { class: "nbm-pair-tip nbm-pair-is-real", r: 6 }),
      svg("path", { class: "nbm-pair-tip nbm-pair-is-made", d: "M0 -8L8 0L0 8L-8 0Z" }),
    ];
    this.names = ["ρ", "ρ̂"].map((text, k) =>
      svg("text", { class: `nbm-pair-title ${k ? "nbm-pair-is-made" : "nbm-pair-is-real"}`, "text-anchor": "middle" }, [
        text,
      ]),
    );
    const drawn = [
      this.axis,
      ...this.ticks,
      this.arc,
      this.turn,
      this.degrees,
      ...this.arms,
      this.legs,
      this.chord,
      ...this.tips,
      ...this.names,
    ];
    this.sheet.root.append(...drawn);
    this.formula = el("p", { class: "nbm-pair-formula nbm-pair-secret" });
    const note =
      "Across: the correlation. Up: √(1 − ρ²), what x does not explain. CFID is the squared chord between the tips.";
    this.root = el("section", { class: "nbm-pair-card nbm-pair-angle-card", "aria-label": "Angles" }, [
      el("h3", {}, ["CFID is a squared chord"]),
      this.sheet.root,
      this.formula,
      el("p", { class: "nbm-note" }, [note]),
    ]);
  }

  /** @param {Pair} scene */
  paint(scene) {
    const { width, height } = this.sheet;
    const radius = height - FOOT - HEAD;
    const [cx, cy] = [width / 2, height - FOOT];
    const at = (/** @type {number} */ x, /** @type {number} */ y) =>
      /** @type {Point} */ ([cx + radius * x, cy - radius * y]);
    setAttributes(this.arc, { d: `M${cx - radius} ${cy}A${radius} ${radius} 0 0 1 ${cx + radius} ${cy}` });
    setAttributes(this.axis, { d: `M${cx - radius - 10} ${cy}H${cx + radius + 10}M${cx} ${cy}V${cy - radius}` });
    this.ticks.forEach((tick, k) => setAttributes(tick, { x: cx + (k - 1) * radius, y: cy + 17 }));
    const tips = [scene.rho, scene.rho_hat].map((rho) => at(rho, spreadOf(rho)));
    tips.forEach(([x, y], k) => {
      setAttributes(this.arms[k], { x1: cx, y1: cy, x2: x, y2: y });
      setAttributes(this.tips[k], { transform: `translate(${x} ${y})` });
    });
    this.paintNames(scene, tips);
    const [[x1, y1], [x2, y2]] = tips;
    setAttributes(this.chord, { x1, y1, x2, y2 });
    setAttributes(this.legs, { d: y1 < y2 ? `M${x1} ${y1}V${y2}H${x2}` : `M${x1} ${y1}H${x2}V${y2}` });
    this.paintTurn(scene, cx, cy);
    const { cfid } = scoresOf(scene);
    const [across, up] = [Math.abs(scene.rho - scene.rho_hat), Math.abs(spreadOf(scene.rho) - spreadOf(scene.rho_hat))];
    setText(this.formula, `CFID = chord² = ${numeral(across)}² + ${numeral(up)}² = ${numeral(cfid, 3)}`);
  }

  /** Names go outside the circle, and apart where the tips meet. @param {Pair} scene @param {Point[]} tips */
  paintNames(scene, tips) {
    const meet = Math.hypot(tips[0][0] - tips[1][0], tips[0][1] - tips[1][1]) < 20;
    [scene.rho, scene.rho_hat].forEach((rho, k) => {
      const push = meet ? (k ? 32 : 16) : 18;
      setAttributes(this.names[k], { x: tips[k][0] + push * rho, y: tips[k][1] - push * spreadOf(rho) + 4 });
    });
  }

  /** The angle between the arms. @param {Pair} scene @param {number} cx @param {number} cy */
  paintTurn(scene, cx, cy) {
    const [from, to] = [scene.rho, scene.rho_hat].map(Math.acos).sort((a, b) => a - b);
    const reach = 24;
    const [a, b] = [from, to].map((angle) => `${cx + reach * Math.cos(angle)} ${cy - reach * Math.sin(angle)}`);
    setAttributes(this.turn, { d: `M${a}A${reach} ${reach} 0 0 0 ${b}` });
    const middle = (from + to) / 2;
    setAttributes(this.degrees, { x: cx + 42 * Math.cos(middle), y: cy - 42 * Math.sin(middle) + 4 });
    setText(this.degrees, to - from < 0.5 ? "" : `${Math.round(((to - from) * 180) / Math.PI)}°`);
  }
}
