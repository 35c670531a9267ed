/**
 * What the marks in the plots mean, what the bands are, and what they are not.
 *
 * @import { Numbers, Scene } from "./types.js"
 */
import { el, setText, svg } from "../../toolkit/view/dom.js";

// What the bands are, and what they are not.
const BANDS =
  "Bands: what other rows would give, 95 %; of KID apart from its gap. All steps share the clients’ rows, so bands that overlap are no test: the small ticks are one.";

// What the marks in the plots mean: their class, and a path.
/** @type {[string, string, string][]} */
const MARKS = [
  ["nbm-step-avg", "M-9 0H9", "avg"],
  ["nbm-step-all", "M-9 0H-3M1 0H7", "all"],
  ["nbm-step-band", "M-9-6H9V6H-9Z", "95 % of its noise"],
  ["nbm-step-avg", "M-5 0A5 5 0 1 0 5 0A5 5 0 1 0-5 0Z", "best by avg"],
  ["nbm-step-all", "M0-6L6 0L0 6L-6 0Z", "best by all"],
  ["nbm-step-avg", "M-6-2v5M-2-2v5M2-2v5M6-2v5", "as good, but for chance"],
  ["nbm-step-alarms", "M0-6L5 4H-5Z", "alarm"],
];

export class Legend {
  constructor() {
    const entries = MARKS.map(([style, d, text]) => el("span", {}, [markOf(style, d), text]));
    this.name = el("span");
    this.other = el("span", {}, [markOf("nbm-step-avg nbm-step-other", "M-9 0H9"), this.name]);
    this.note = el("p", { class: "nbm-note" }, [BANDS]);
    const marks = el("div", { class: "nbm-legend nbm-step-marks" }, [...entries, this.other]);
    this.root = el("div", {}, [marks, this.note]);
  }

  /** @param {Scene} _scene @param {Numbers} numbers */
  paint(_scene, { history, other }) {
    this.note.hidden = !history.lines.some(({ errors }) => errors?.some(Number.isFinite));
    this.other.hidden = !other;
    setText(this.name, `other run${other?.name ? `: ${other.name}` : ""}`);
  }
}

/** @param {string} style @param {string} d */
function markOf(style, d) {
  return svg("svg", { class: style, viewBox: "-10 -8 20 16", "aria-hidden": "true" }, [svg("path", { d })]);
}
