/**
 * How often the best without noise stays first, against ε: a curve for avg and one for all, each with its 95 % band, and a
 * marker at the present ε; hatched where noise decides that. A press goes to the nearest ε.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Numbers, Pair, Scene, Study } from "./numbers.js"
 */
import { curve, linear, Plot, resizeChildren, roundStep, ticksOf } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText, svg, watchSize } from "../../toolkit/view/dom.js";
import { lines } from "../../toolkit/view/hatching.js";
import { AGGREGATES, bandWords, epsilonText, hatchWords, placesOf } from "./numbers.js";

// What a hatched part must be wide to hold its words.
const HATCH_WORDS_PIXELS = 100;
const HEIGHT_PIXELS = 392;

export class SurvivalPlot {
  /** @param {Store} store @param {AbortSignal} signal @param {(x: number) => void} press @param {() => void} release */
  constructor(store, signal, press, release) {
    this.store = store;
    this.plot = new Plot({ left: 34, right: 34, top: 14, bottom: 38 }, { role: "img" });
    this.bands = AGGREGATES.map((part) => svg("path", { class: `nbm-noise-band nbm-noise-${part}` }));
    this.curves = AGGREGATES.map((part) => svg("path", { class: `nbm-curve nbm-noise-${part}` }));
    this.dots = AGGREGATES.map((part) => svg("g", { class: `nbm-noise-dots nbm-noise-${part}` }));
    this.ends = AGGREGATES.map((part) => svg("text", { class: `nbm-noise-${part} nbm-strong` }, [part]));
    this.marker = svg("line", { class: "nbm-noise-marker" });
    this.axis = svg("text", { class: "nbm-quiet", "text-anchor": "middle" }, ["ε"]);
    this.hatch = svg("g", { class: "nbm-noise-hatch", "aria-hidden": "true" });
    this.plot.root.append(
      this.hatch,
      ...this.bands,
      this.marker,
      ...this.curves,
      ...this.dots,
      ...this.ends,
      this.axis,
    );
    this.title = el("h3");
    const [band, hatched] = [el("span"), el("span")];
    this.keys = { band, hatched };
    /** What the band and the hatching are. */
    this.legend = [
      el("p", { class: "nbm-note nbm-noise-key" }, [el("i", { "aria-hidden": "true" }), band]),
      el("p", { class: "nbm-note nbm-noise-key" }, [
        el("i", { class: "nbm-noise-lines", "aria-hidden": "true" }),
        hatched,
      ]),
    ];
    const parts = [this.title, this.plot.root];
    this.root = el("section", { class: "nbm-noise-card", "aria-label": "Survival" }, parts);
    this.plot.resize(420, HEIGHT_PIXELS);
    watchSize(this.root, signal, ({ width }) => {
      if (!width || width === this.plot.width) return;
      this.plot.resize(width, HEIGHT_PIXELS);
      store.changed();
    });
    this.press(signal, press, release);
  }

  /** @param {AbortSignal} signal @param {(epsilon: number) => void} press @param {() => void} release */
  press(signal, press, release) {
    const { root } = this.plot;
    let held = -1;
    const on = (/** @type {string} */ name, /** @type {(event: any) => void} */ call) =>
      root.addEventListener(name, call, { signal });
    const show = (/** @type {PointerEvent} */ event) =>
      press(this.epsilonAt(event.clientX - root.getBoundingClientRect().left));
    on("pointerdown", (event) => {
      if (event.button !== 0 || held >= 0) return;
      held = event.pointerId;
      event.preventDefault();
      root.setPointerCapture(held);
      show(event);
    });
    on("pointermove", (event) => event.pointerId === held && show(event));
    on("pointerup", () => held >= 0 && release());
    on("pointercancel", () => held >= 0 && this.store.cancel());
    on("lostpointercapture", () => (held = -1));
  }

  get study() {
    return /** @type {Study} */ (this.store.model.get("study"));
  }

  get across() {
    const { epsilons } = this.study;
    return linear([Math.log(epsilons[0]), Math.log(epsilons[epsilons.length - 1])], this.plot.box.x);
  }

  /** @param {number} x in pixels */
  epsilonAt(x) {
    const { epsilons } = this.study;
    const [from, to] = this.plot.box.x;
    const share = Math.min(1, Math.max(0, (x - from) / (to - from)));
    return epsilons[0] * (epsilons[epsilons.length - 1] / epsilons[0]) ** share;
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paint(scene, numbers) {
    const { plot, study } = this;
    const { m, p: shown } = placesOf(study, scene);
    const runs = numbers.drawn.length;
    const { label } = study.metrics[m];
    setText(this.title, `Runs of ${runs} that show the true winner`);
    setText(this.keys.band, bandWords(study, scene));
    setText(this.keys.hatched, hatchWords(scene));
    for (const node of this.legend) node.dataset.aggregate = scene.aggregate;
    const [x, y] = [this.across, linear([0, runs], plot.box.y)];
    plot.paintY(ticksOf([0, runs], Math.max(1, roundStep(runs, 5))), y.at);
    plot.paintX(decades(study.epsilons), (value) => x.at(Math.log(value)), HEIGHT_PIXELS - 20, epsilonText);
    const xs = study.epsilons.map((epsilon) => x.at(Math.log(epsilon)));
    const pairs = AGGREGATES.map((_, p) => study.pairs.map((one) => one[m][p]));
    const kept = pairs.map((one) => one.map((pair) => pair.kept));
    this.paintHatch(xs, pairs[shown]);
    const levels = kept.map((counts) => y.at(counts[counts.length - 1]));
    const isOne = Math.abs(levels[0] - levels[1]) < 13;
    AGGREGATES.forEach((part, p) => {
      const ys = kept[p].map((count) => y.at(count));
      const [low, high] = [
        pairs[p].map((pair) => y.at(runs * pair.low)),
        pairs[p].map((pair) => y.at(runs * pair.high)),
      ];
      setAttributes(this.curves[p], { d: curve(xs, ys) });
      setAttributes(this.bands[p], {
        d: `${curve(xs, high)}${curve([...xs].reverse(), [...low].reverse()).replace("M", "L")}Z`,
      });
      this.bands[p].classList.toggle("nbm-noise-quiet", part !== scene.aggregate);
      this.paintDots(p, xs, ys, numbers.place, pairs[p]);
      const at = levels[p] + 4 + (isOne ? (p ? 8 : -6) : 0);
      setAttributes(this.ends[p], { x: plot.box.x[1] + 7, y: at });
    });
    const here = xs[numbers.place];
    setAttributes(this.marker, { x1: here, x2: here, y1: plot.box.y[0], y2: plot.box.y[1] });
    setAttributes(this.axis, { x: (plot.box.x[0] + plot.box.x[1]) / 2, y: HEIGHT_PIXELS - 3 });
    const said = AGGREGATES.map((part, p) => `by ${part} ${kept[p][numbers.place]}`).join(", ");
    const all = `ε ${study.epsilons.map(epsilonText).join(", ")}: by avg ${kept[0].join(", ")}; by all ${kept[1].join(", ")}`;
    const ruled = study.epsilons.filter((_, e) => !pairs[shown][e].survives).map(epsilonText);
    const noise = ruled.length
      ? ` The noise decides who is first by ${scene.aggregate} at ε = ${ruled.join(", ")}.`
      : "";
    setAttributes(plot.root, {
      "aria-label": `Runs of ${runs} in which the best by ${label} stays first, at ε = ${epsilonText(numbers.epsilon)}: ${said}. ${all}.${noise}`,
    });
  }

  /** Over each ε at which noise decides, half-way to its neighbours. @param {number[]} xs @param {Pair[]} pairs */
  paintHatch(xs, pairs) {
    const { x, y } = this.plot.box;
    const key = [xs, y, pairs.map(({ survives }) => survives)].join();
    if (this.hatch.dataset.key === key) return;
    this.hatch.dataset.key = key;
    const edges = [x[0], ...xs.slice(1).map((right, e) => (xs[e] + right) / 2), x[1]];
    const boxes = runsOf(pairs.map(({ survives }) => !survives)).map(([from, to]) => ({
      x: edges[from],
      y: y[1],
      width: edges[to] - edges[from],
      height: y[0] - y[1],
    }));
    const words = boxes
      .filter(({ width }) => width > HATCH_WORDS_PIXELS)
      .map((box) => svg("text", { x: box.x + 8, y: box.y + 18 }, ["noise decides"]));
    this.hatch.replaceChildren(...boxes.map((box) => lines(box, 1, "currentcolor")), ...words);
  }

  /** @param {number} p @param {number[]} xs @param {number[]} ys @param {number} place of the present ε @param {Pair[]} pairs */
  paintDots(p, xs, ys, place, pairs) {
    resizeChildren(this.dots[p], xs.length, () => svg("circle")).forEach((node, e) => {
      setAttributes(node, { cx: xs[e], cy: ys[e], r: e === place ? 5.5 : 2.5 });
      node.classList.toggle("nbm-noise-open", !pairs[e].survives);
    });
  }
}

/** Where a list is true, as spans [from, to). @param {boolean[]} flags @returns {[number, number][]} */
function runsOf(flags) {
  const starts = flags.flatMap((flag, k) => (flag && !flags[k - 1] ? [k] : []));
  return starts.map((from) => [from, [...flags, false].indexOf(false, from)]);
}

/** Powers of ten within the grid; its ends where there are fewer than two. @param {number[]} epsilons */
function decades(epsilons) {
  const [first, last] = [epsilons[0], epsilons[epsilons.length - 1]];
  const [low, high] = [Math.ceil(Math.log10(first) - 1e-9), Math.floor(Math.log10(last) + 1e-9)];
  const ticks = Array.from({ length: Math.max(0, high - low + 1) }, (_, k) => Number((10 ** (low + k)).toPrecision(6)));
  return ticks.length > 1 ? ticks : [first, last];
}
