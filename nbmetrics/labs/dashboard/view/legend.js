/**
 * What the colours and the marks of the heat map say: only those that are in it.
 *
 * @import { Cells } from "./cell_values.js"
 * @import { Scene } from "./types.js"
 */
import { el, setText } from "../../toolkit/view/dom.js";
import { brief } from "./cell_values.js";

const MARKS = {
  ring: "the client’s best",
  arrow: "beyond the colours",
  thin: "no more than chance above its best",
  crossed: "cannot tell the generators apart",
  span: "least and largest of a group",
  nan: "no number",
  unknown: "not computed yet",
};

export class Legend {
  constructor() {
    this.low = el("span");
    this.high = el("span");
    this.words = el("span", { class: "nbm-heat-what" });
    const bar = el("span", { class: "nbm-heat-bar", "aria-hidden": "true" });
    this.marks = Object.entries(MARKS).map(([name, words]) => {
      const sign = el("span", { class: `nbm-heat-sign nbm-heat-${name}`, "aria-hidden": "true" });
      const node = el("span", { class: "nbm-heat-mark" }, [sign, words]);
      return { name, node };
    });
    this.root = el("div", { class: "nbm-heat-legend" }, [
      el("span", { class: "nbm-heat-scale" }, [this.low, bar, this.high]),
      this.words,
      ...this.marks.map(({ node }) => node),
    ]);
  }

  /** @param {Cells} cells @param {Scene} scene @param {boolean} hasGroups */
  paint(cells, { colour, generators }, hasGroups) {
    const { facts, scales, values, regret, losses, isScored, chance, blind } = cells;
    const { from, to } = scales[colour];
    const sign = colour === "raw" && facts.higher ? -1 : 1;
    setText(this.low, brief(sign * from));
    setText(this.high, brief(sign * to));
    setText(this.words, whatOf(colour, facts));
    const some = (/** @type {(generator: string, i: number) => unknown} */ test) =>
      generators.some((generator) => blind.some((_, i) => test(generator, i)));
    const shown = colour === "raw" ? losses : regret;
    const has = /** @type {Record<string, boolean>} */ ({
      ring: some((g, i) => regret[g][i] === 0),
      arrow: some((g, i) => Number.isFinite(shown[g][i]) && shown[g][i] > to),
      thin: some((g, i) => chance?.[g][i] && !blind[i]),
      crossed: blind.some(Boolean),
      span: hasGroups,
      nan: some((g, i) => isScored[g][i] && Number.isNaN(values[g][i])),
      unknown: some((g, i) => !isScored[g][i]),
    });
    for (const { name, node } of this.marks) node.hidden = !has[name];
  }
}

/** @param {string} colour @param {import("./types.js").MetricFacts} facts */
function whatOf(colour, { label, best, higher, corrected }) {
  const without = corrected ? ", without the bias of few rows" : "";
  if (colour === "raw") return best !== null ? `how far ${label} is from ${best}` : `${label}${without}`;
  const side = best !== null ? `farther from ${best} than` : higher ? "below" : "above";
  return `regret: ${label} ${side} the client’s best${without}`;
}
