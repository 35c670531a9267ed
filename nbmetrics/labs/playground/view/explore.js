/**
 * The charts beside the plane: one metric, seen client by client, term by term, over a parameter, or from few points.
 *
 * @import { Place, Scene } from "../../toolkit/view/types.js"
 * @import { PlaygroundStore } from "./store.js"
 */

import { dataOf } from "../../plane/view/distributions.js";
import { hasOwners } from "../../plane/view/edits.js";
import { resizeChildren } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText, watchSize } from "../../toolkit/view/dom.js";
import { markOf, setMark } from "../../toolkit/view/marks.js";
import { Tabs } from "../../toolkit/view/tabs.js";
import { ClientsView } from "./clients.js";
import { whyOff } from "./high_dimensional.js";
import { drawnOf, editView, START_VIEW } from "./metrics.js";
import { SamplesView } from "./samples.js";
import { hiddenSweepOf, SweepView } from "./sweep_chart.js";
import { TermsView } from "./terms.js";

/**
 * @typedef {{scene: Scene, data: ReturnType<typeof dataOf>, width: number, g: number, c: number, isFull: boolean,
 *   charted: ReturnType<typeof drawnOf>}} Chart
 *   what a view is given: `g` is the generator it is about, `c` the client whose weight may be swept
 */

const TABS = /** @type {const} */ ({ clients: "Clients", terms: "Terms", sweep: "Sweep", samples: "Samples" });
const TOGETHER = " Here all ellipses of a generator count together; intra is in the table of scores.";
/** @typedef {keyof typeof TABS} Tab */
const TAB_NAMES = /** @type {Tab[]} */ (Object.keys(TABS));

export class Explore {
  /** @param {PlaygroundStore} store @param {AbortSignal} signal @param {Node} switches that show in the plane what a score is made of */
  constructor(store, signal, switches) {
    this.store = store;
    this.signal = signal;
    this.isFull = false;
    this.width = 400;
    /** @type {Tab} */
    this.shownPanel = "clients";
    this.views = {
      clients: new ClientsView(store, signal),
      terms: new TermsView(store, signal),
      sweep: new SweepView(store, signal, (change) => editView(store, change)),
      samples: new SamplesView(store, signal),
    };
    const choice = { now: () => this.panel, choose: (/** @type {string} */ panel) => editView(store, { panel }) };
    const contents = Object.fromEntries(TAB_NAMES.map((name) => [name, this.views[name].root]));
    this.tabs = new Tabs("Charts", TABS, contents, choice, signal);
    this.note = el("p", { class: "nbm-note" });
    this.off = el("p", { class: "nbm-empty" });
    this.keys = el("div", { class: "nbm-keys", role: "group", "aria-label": "Generator charted" });
    this.root = el("details", { class: "nbm-fold nbm-explore" }, [
      el("summary", {}, ["Why? Scores client by client, and charts"]),
      switches,
      el("div", { class: "nbm-explorehead" }, [this.tabs.list]),
      this.note,
      this.keys,
      ...this.tabs.panels,
      this.off,
    ]);
    this.root.addEventListener("toggle", () => store.changed(), { signal });
    watchSize(this.root, signal, ({ width }) => {
      if (width > 0) this.width = Math.round(width);
      store.changed();
    });
  }

  /** @param {boolean} shown the numbers of every chart */
  showNumbers(shown) {
    this.isFull = shown;
    this.root.open ||= shown;
    this.store.changed();
  }

  /** Once it is painted, where some of it is out of view. */
  showSweep() {
    const { root } = this.views.sweep.curves.plot;
    requestAnimationFrame(() => requestAnimationFrame(() => root.scrollIntoView({ block: "nearest" })));
  }

  /** @returns {Tab} */
  get panel() {
    return /** @type {Tab} */ (this.store.scene.view?.panel ?? START_VIEW.panel);
  }

  /** @param {Scene} scene */
  paint(scene) {
    const { panel } = this;
    const charted = drawnOf(this.store);
    const asked = panel === "sweep" ? hiddenSweepOf(this.store) : -1;
    if (asked >= 0 || (panel !== this.shownPanel && panel !== START_VIEW.panel)) this.root.open = true;
    this.shownPanel = panel;
    if (!this.root.open) return;
    const g = asked < 0 ? this.store.charted : asked;
    const c = this.store.client;
    this.tabs.paint();
    setText(
      this.note,
      panel === "samples" && !scene.plane
        ? "FID and KID of points drawn from each distribution."
        : `${scene.plane ? charted.note.replace("√2", `√${scene.plane.dim}`) : charted.note}. ${charted.higher ? "Higher" : "Lower"} is better.${hasOwners(scene) ? TOGETHER : ""}`,
    );
    this.paintKeys(scene, g);
    this.keys.hidden ||= asked >= 0; // nothing else is charted now
    const chart = { scene, data: dataOf(this.store.model), width: this.width, g, c, isFull: this.isFull, charted };
    const off = whyOff(scene, panel);
    setText(this.off, off);
    this.off.hidden = !off;
    this.views[panel].root.hidden = off !== "";
    if (!off) this.views[panel].paint(chart);
  }

  /** Which mark is which generator, and a way to choose one. @param {Scene} scene @param {number} chosen */
  paintKeys(scene, chosen) {
    const { hovered } = this.store;
    this.keys.hidden = scene.generators.length < 2;
    resizeChildren(this.keys, scene.generators.length, (index) => this.makeKey(index)).forEach((key, g) => {
      setText(/** @type {Element} */ (key.lastElementChild), scene.generators[g].name);
      setMark(key.children[0], g);
      setAttributes(key, { "aria-pressed": String(g === chosen) });
      key.classList.toggle("nbm-hovered", hovered?.kind === "generators" && hovered.index === g);
    });
  }

  /** @param {number} index */
  makeKey(index) {
    const { store, signal } = this;
    const key = el("button", { type: "button", class: "nbm-key" }, [markOf(index), el("span")]);
    const place = /** @type {Place} */ ({ kind: "generators", index });
    key.addEventListener("click", () => store.select(place), { signal });
    key.addEventListener("pointerenter", () => store.hover(place), { signal });
    key.addEventListener("pointerleave", () => store.hover(null), { signal });
    return key;
  }
}
