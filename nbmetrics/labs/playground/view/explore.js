/**
 * The charts beside the plane: one metric, seen client by client, term by term, over a parameter, or from few points;
 * and the places that its avg and its all give.
 *
 * @import { Place, Scene, View } from "../../toolkit/view/types.js"
 * @import { PlaneStore } from "../../plane/view/store.js"
 */

import { dataOf } from "../../plane/view/laws.js";
import { resizeChildren } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText, svg, watchSize } from "../../toolkit/view/dom.js";
import { Tabs } from "../../toolkit/view/tabs.js";
import { ClientsView, SHAPES } from "./clients.js";
import { hiddenSweepOf } from "./guessflag.js";
import { CHARTED, chartedOf, wholeOf } from "./metrics.js";
import { Ribbon } from "./ranks.js";
import { SamplesView } from "./samples.js";
import { SweepView } from "./sweepview.js";
import { TermsView } from "./terms.js";
import { whyOff } from "./wide.js";

/**
 * @typedef {{scene: Scene, data: ReturnType<typeof dataOf>, width: number, g: number, c: number, isFull: boolean,
 *   charted: ReturnType<typeof chartedOf>}} Chart
 *   what a view is given: `g` is the generator it is about, `c` the client whose weight may be swept
 */

const TABS = /** @type {const} */ ({ clients: "Clients", terms: "Terms", sweep: "Sweep", samples: "Samples" });
/** @typedef {keyof typeof TABS} Tab */
const TAB_NAMES = /** @type {Tab[]} */ (Object.keys(TABS));
const START_VIEW = { metric: "fid", panel: "clients", sweep: "variance", aligned: false };

export class Explore {
  /** @param {PlaneStore} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.signal = signal;
    this.isFull = false;
    this.width = 400;
    this.latest = { generators: 0, clients: 0 };
    this.views = {
      clients: new ClientsView(store, signal),
      terms: new TermsView(store, signal),
      sweep: new SweepView(store, signal, (change) => this.edit(change)),
      samples: new SamplesView(store, signal),
    };
    this.ribbon = new Ribbon(store, signal);
    const options = Object.entries(CHARTED).map(([value, { label }]) => el("option", { value }, [label]));
    this.metric = el("select", { "aria-label": "Metric" }, options);
    this.metric.addEventListener("change", () => this.edit({ metric: this.metric.value }), { signal });
    const choice = { now: () => this.panel, choose: (/** @type {string} */ panel) => this.edit({ panel }) };
    const contents = Object.fromEntries(TAB_NAMES.map((name) => [name, this.views[name].root]));
    this.tabs = new Tabs("Charts", TABS, contents, choice, signal);
    this.note = el("p", { class: "nbm-note" });
    this.off = el("p", { class: "nbm-empty" });
    this.keys = el("div", { class: "nbm-keys", role: "group", "aria-label": "Generator charted" });
    this.root = el("div", { class: "nbm-explore" }, [
      el("div", { class: "nbm-explorehead" }, [this.tabs.list, this.metric]),
      this.note,
      this.keys,
      ...this.tabs.panels,
      this.off,
      this.ribbon.root,
    ]);
    watchSize(this.root, signal, ({ width }) => {
      if (width > 0) this.width = Math.round(width);
      store.changed();
    });
  }

  /** @param {Partial<View>} change of what the scene charts */
  edit(change) {
    const { scene } = this.store;
    this.store.edit({ ...scene, view: { ...START_VIEW, ...scene.view, ...change } }, "");
  }

  /** @param {boolean} shown the numbers of every chart */
  showNumbers(shown) {
    this.isFull = shown;
    this.store.changed();
  }

  /** @returns {Tab} */
  get panel() {
    return /** @type {Tab} */ (this.store.scene.view?.panel ?? START_VIEW.panel);
  }

  /** The generator that the charts are about: the selected one, and still that while a client is selected. @param {Scene} scene */
  follow(scene) {
    const { selected } = this.store;
    if (selected) this.latest[selected.kind] = selected.index;
    else this.latest = { generators: 0, clients: 0 };
    const kept = (/** @type {"generators" | "clients"} */ kind) =>
      this.latest[kind] < scene[kind].length ? this.latest[kind] : 0;
    return { g: kept("generators"), c: kept("clients") };
  }

  /** @param {Scene} scene */
  paint(scene) {
    const { panel } = this;
    const charted = scene.plane ? wholeOf(chartedOf(this.store)) : chartedOf(this.store);
    this.keepOptions(scene);
    if (this.metric.value !== charted.metric) this.metric.value = charted.metric;
    const followed = this.follow(scene);
    const asked = panel === "sweep" ? hiddenSweepOf(this.store) : -1;
    const { g, c } = asked < 0 ? followed : { ...followed, g: asked };
    this.tabs.paint();
    setText(
      this.note,
      panel === "samples" && !scene.plane
        ? "FID and KID of points drawn from each law."
        : `${scene.plane ? charted.note.replace("√2", `√${scene.plane.dim}`) : charted.note}. ${charted.higher ? "Higher" : "Lower"} is better.`,
    );
    this.paintKeys(scene, g);
    this.keys.hidden ||= asked >= 0; // nothing else is charted now
    const chart = { scene, data: dataOf(this.store.model), width: this.width, g, c, isFull: this.isFull, charted };
    const off = whyOff(scene, panel);
    setText(this.off, off);
    this.off.hidden = !off;
    this.views[panel].root.hidden = off !== "";
    if (!off) this.views[panel].paint(chart);
    this.ribbon.paint(chart);
  }

  /** Metrics that read the axes of the plane are not offered for wider rows. @param {Scene} scene */
  keepOptions({ plane }) {
    for (const option of this.metric.options) option.hidden = Boolean(plane && CHARTED[option.value].plane_only);
  }

  /** Which mark is which generator, and a way to choose one. @param {Scene} scene @param {number} chosen */
  paintKeys(scene, chosen) {
    const { hovered } = this.store;
    this.keys.hidden = scene.generators.length < 2;
    resizeChildren(this.keys, scene.generators.length, (index) => this.makeKey(index)).forEach((key, g) => {
      setText(/** @type {Element} */ (key.lastElementChild), scene.generators[g].name);
      setAttributes(key, { "aria-pressed": String(g === chosen) });
      key.classList.toggle("nbm-hovered", hovered?.kind === "generators" && hovered.index === g);
    });
  }

  /** @param {number} index */
  makeKey(index) {
    const { store, signal } = this;
    const mark = svg("svg", { viewBox: "-8 -8 16 16", "aria-hidden": "true" }, [
      svg("path", { d: SHAPES[index % SHAPES.length] }),
    ]);
    const key = el("button", { type: "button", class: "nbm-key" }, [mark, el("span")]);
    const place = /** @type {Place} */ ({ kind: "generators", index });
    key.addEventListener("click", () => store.select(place), { signal });
    key.addEventListener("pointerenter", () => store.hover(place), { signal });
    key.addEventListener("pointerleave", () => store.hover(null), { signal });
    return key;
  }
}
