/**
 * The scores of all runs at the present ε as dots, a row a generator, against the score without noise; the picked run
 * as marks, with the places that it would show.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Numbers, Scene, Study } from "./numbers.js"
 */
import { curve, linear, Plot, resizeChildren, roundStep, ticksOf } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText, svg, watchSize } from "../../toolkit/view/dom.js";
import { setHue, shapeOfMark } from "../../toolkit/view/marks.js";
import { figure, ordinal } from "../../toolkit/view/numbers.js";
import { epsilonText, scoreName } from "./numbers.js";

const ROW_PIXELS = { few: 88, many: 46 };
const MAX_ROOMY_ROWS = 4;
// Of a row: where its dots are, how far they spread, and how long the bar is.
const [MIDDLE, SPREAD, HALF_BAR] = [0.67, 0.07, 0.26];
const PAD = { left: 14, right: 40, top: 2, bottom: 38 };
// A name stands right of the line at 0 where that is near the left end.
const [LABEL_SHIFT, LABEL_ROOM] = [6, 24];
const MAX_NAME_LETTERS = 34; // letters of a name

export class RunsPlot {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.plot = new Plot(PAD, { role: "img" });
    this.rows = svg("g");
    this.axis = svg("text", { class: "nbm-quiet", "text-anchor": "middle" });
    this.link = svg("path", { class: "nbm-noise-link" });
    this.plot.root.append(this.rows, this.link, this.axis);
    this.title = el("h3");
    this.root = el("section", { class: "nbm-noise-card", "aria-label": "Runs" }, [this.title, this.plot.root]);
    this.width = 420;
    watchSize(this.root, signal, ({ width }) => {
      if (!width || width === this.width) return;
      this.width = width;
      store.changed();
    });
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paint(scene, numbers) {
    const study = /** @type {Study} */ (this.store.model.get("study"));
    const { plot } = this;
    const { exact, drawn, order, epsilon } = numbers;
    const high = order.length > MAX_ROOMY_ROWS ? ROW_PIXELS.many : ROW_PIXELS.few;
    plot.resize(this.width, PAD.top + PAD.bottom + high * order.length);
    const name = scoreName(study, scene);
    setText(this.title, `Bars: true ${name}. Dots: with noise, ${drawn.length} runs`);
    const all = [...exact, ...drawn.flat()];
    const [least, most] = [Math.min(...all), Math.max(...all)];
    const room = 0.03 * (most - least || Math.abs(most) || 1);
    const [from, to] = plot.box.x;
    const x = linear([least - room, most + room], [from, to]);
    const step = roundStep(most - least || Math.abs(most) || 1, plot.mostTicks);
    plot.paintX(ticksOf([least - room, most + room], step), x.at, plot.height - 20);
    const rows = resizeChildren(this.rows, order.length, () => makeRow(drawn.length));
    order.forEach((g, row) => paintRow(rows[row], g, [row, high], x.at, from, to, study.generators[g], numbers));
    const xs = order.map((g) => x.at(numbers.shown[g]));
    setAttributes(this.link, {
      d: curve(
        xs,
        xs.map((_, row) => PAD.top + high * (row + MIDDLE)),
      ),
    });
    setAttributes(this.axis, { x: (from + to) / 2, y: plot.height - 3 });
    setText(this.axis, name);
    const said = order.map((g) => {
      const scores = drawn.map((run) => run[g]);
      const ends = `${figure(Math.min(...scores))} to ${figure(Math.max(...scores))}`;
      return `${study.generators[g]} ${figure(exact[g])}, in the runs ${ends}`;
    });
    setAttributes(plot.root, {
      "aria-label": `${name} without noise, and in ${drawn.length} runs at ε = ${epsilonText(epsilon)}: ${said.join("; ")}.`,
    });
  }
}

/** @param {number} runs */
function makeRow(runs) {
  const dots = Array.from({ length: runs }, () => svg("circle", { class: "nbm-noise-run", r: 3.2 }));
  return svg("g", { class: "nbm-noise-row" }, [
    svg("text", { y: 13 }),
    svg("line", { class: "nbm-noise-base" }),
    svg("g", {}, dots),
    svg("line", { class: "nbm-noise-exact" }),
    svg("path", { class: "nbm-noise-shown" }),
    svg("text", { class: "nbm-strong" }),
  ]);
}

/**
 * @param {SVGGElement} node @param {number} g @param {[number, number]} row and how high it is @param {(value: number) => number} at
 * @param {number} from @param {number} to @param {string} name @param {Numbers} numbers
 */
function paintRow(node, g, [row, high], at, from, to, name, { exact, drawn, shown, places }) {
  const [label, base, dots, bar, mark, place] = [...node.children];
  const middle = MIDDLE * high;
  setAttributes(node, { transform: `translate(0 ${PAD.top + high * row})` });
  setHue(node, g);
  setAttributes(label, { x: (at(0) - from < LABEL_ROOM ? at(0) : from) + LABEL_SHIFT });
  setText(label, name.length > MAX_NAME_LETTERS ? `${name.slice(0, MAX_NAME_LETTERS - 1)}…` : name);
  setAttributes(base, { x1: from, x2: to, y1: middle, y2: middle });
  resizeChildren(dots, drawn.length, () => svg("circle", { class: "nbm-noise-run", r: 3.2 })).forEach((dot, r) =>
    setAttributes(dot, { cx: at(drawn[r][g]), cy: middle + SPREAD * high * ((r % 5) - 2) }),
  );
  setAttributes(bar, {
    x1: at(exact[g]),
    x2: at(exact[g]),
    y1: middle - HALF_BAR * high,
    y2: middle + HALF_BAR * high,
  });
  setAttributes(mark, { d: shapeOfMark(g), transform: `translate(${at(shown[g])} ${middle})` });
  setAttributes(place, { x: to + 7, y: middle + 4 });
  setText(place, ordinal(places[g]));
}
