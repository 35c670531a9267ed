/** Guesses as flags on one axis, those that would hide each other on top of each other, and the answer as a line. */
import { linear, Plot, resizeChildren, roundStep, ticksOf } from "../../toolkit/view/chart.js";
import { setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { numeral } from "../../toolkit/view/numbers.js";

const PAD = { left: 34, right: 40, top: 44, bottom: 40 };
const HEIGHT = 380;
// Pixels of a flag, and how small it may become.
const FLAG = { wide: 26, high: 44, cloth: 19, least: 0.4 };
const FLAG_PATH = "M0 0V-40L24 -32L0 -24";

export class FlagPlot {
  constructor() {
    this.plot = new Plot(PAD, { role: "img", "aria-label": "Flags" });
    this.flags = svg("g", { class: "nbm-class-flags" });
    this.line = svg("line", { class: "nbm-class-line" });
    this.text = svg("text", { "text-anchor": "middle" });
    this.answer = svg("g", { class: "nbm-class-answer" }, [this.line, this.text]);
    this.axis = svg("line", { class: "nbm-class-axis" });
    this.plot.root.append(this.axis, this.answer, this.flags);
    this.root = this.plot.root;
  }

  /** @param {number[]} values @param {[number, number]} range @param {number | null} answer */
  paint(values, range, answer) {
    this.plot.resize(this.root.clientWidth || 600, HEIGHT);
    const { x, y } = this.plot.box;
    const { at } = linear(range, x);
    this.plot.paintX(ticksOf(range, roundStep(range[1] - range[0], this.plot.mostTicks)), at, y[0] + 28);
    setAttributes(this.axis, { x1: x[0], x2: x[1], y1: y[0], y2: y[0] });
    const places = [...values].sort((a, b) => a - b).map((value) => at(Math.min(range[1], Math.max(range[0], value))));
    const levels = levelsOf(places);
    const step = Math.min(FLAG.high, (y[0] - y[1] - FLAG.high) / Math.max(1, ...levels));
    const scale = Math.min(1, Math.max(FLAG.least, step / FLAG.cloth)); // small where many stand on each other
    resizeChildren(this.flags, values.length, () => svg("path", { d: FLAG_PATH })).forEach((flag, k) => {
      const place = `${places[k].toFixed(1)} ${(y[0] - step * levels[k]).toFixed(1)}`;
      setAttributes(flag, { transform: `translate(${place}) scale(${scale.toFixed(2)})` });
    });
    this.answer.toggleAttribute("hidden", answer === null);
    const said = answer === null ? "" : `, the answer ${numeral(answer)}`;
    setAttributes(this.root, { "aria-label": `Flags: ${values.length} guesses${said}` });
    if (answer === null) return;
    const place = at(answer);
    setAttributes(this.line, { x1: place, x2: place, y1: y[0], y2: y[1] - 14 });
    setAttributes(this.text, { x: place, y: y[1] - 22 });
    setText(this.text, numeral(answer));
  }
}

/** How high each flag stands: on those before it that it would hide. @param {number[]} places pixels */
function levelsOf(places) {
  /** @type {Map<number, number>} */
  const heights = new Map();
  return places.map((place) => {
    const bin = Math.round(place / FLAG.wide);
    const level = heights.get(bin) ?? 0;
    heights.set(bin, level + 1);
    return level;
  });
}
