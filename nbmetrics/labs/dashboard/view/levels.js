/**
 * The second level, a tab at a time: who pays, how firm the winner is, the best mixture, and costs. What no tab shows is
 * not painted.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Costs } from "./costs.js"
 * @import { Headline } from "./headline.js"
 * @import { HeatMap } from "./heat_map.js"
 * @import { Board, Numbers, Scene } from "./types.js"
 */
import { el } from "../../toolkit/view/dom.js";
import { Tabs } from "../../toolkit/view/tabs.js";
import { CertificateCard } from "./certificate.js";
import { decidedOf } from "./decision_inputs.js";
import { DisagreementCard } from "./disagreement_card.js";
import { DrawCard } from "./draw_card.js";
import { MixtureCard } from "./mixture_card.js";
import { RegretCard } from "./regret_card.js";
import { SettleCard } from "./sample_size_planning.js";

const LABELS = { pays: "Who loses", firm: "How stable", mixture: "Mixture", costs: "Costs" };

export class Levels {
  /** @param {Store} store @param {AbortSignal} signal @param {{headline: Headline, heat: HeatMap, costs: Costs}} parts */
  constructor(store, signal, { headline, heat, costs }) {
    this.store = store;
    this.now = "pays";
    this.headline = headline;
    this.heat = heat;
    const [firm, pays, settles, mixes] = [CertificateCard, RegretCard, SettleCard, MixtureCard].map(
      (Card) => new Card(store, signal),
    );
    const [differs, draws] = [new DisagreementCard(store, signal), new DrawCard(store, signal)];
    heat.controls.append(differs.button);
    this.cards = { pays: [pays, differs], firm: [firm, settles, draws], mixture: [mixes], costs: [] };
    const contents = {
      pays: [heat.root, pays.root, differs.root],
      firm: [headline.details, firm.root, settles.root, draws.root],
      mixture: [mixes.root],
      costs: [costs.root],
    };
    const panels = Object.fromEntries(
      Object.entries(contents).map(([name, nodes]) => [
        name,
        el("div", { class: `nbm-level nbm-level-${name}` }, nodes),
      ]),
    );
    const choice = {
      now: () => this.now,
      choose: (/** @type {string} */ name) => {
        this.now = name;
        store.changed();
      },
      offered: () => this.offered,
    };
    this.tabs = new Tabs("More about the verdict", LABELS, panels, choice, signal);
    this.root = el("section", { class: "nbm-dashboard-card nbm-dashboard-levels", "aria-label": "Details" }, [
      this.tabs.list,
      ...this.tabs.panels,
    ]);
  }

  /** What there is something to be said of. */
  get offered() {
    const { ledger, metrics } = /** @type {Board} */ (this.store.model.get("board"));
    const isTable = metrics?.every(({ pooled }) => pooled === false);
    const { generators } = /** @type {Scene} */ (/** @type {any} */ (this.store.scene));
    const hasMixture = generators.length > 1 && !isTable;
    return ["pays", "firm", ...(hasMixture ? ["mixture"] : []), ...(ledger ? ["costs"] : [])];
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paint(scene, numbers) {
    const shown = numbers.metrics[scene.metric];
    if (!shown) return;
    const tab = /** @type {keyof typeof LABELS} */ (this.tabs.paint());
    if (tab === "pays") this.heat.paint(scene, numbers);
    if (tab === "firm") this.headline.paintDetails(scene, numbers);
    const decided = decidedOf(shown, numbers.shares, this.store.model.get("board").few?.[scene.metric]);
    for (const card of this.cards[tab]) card.paint(scene, numbers, decided);
  }
}
