/**
 * Cards below: how firm the winner is, who pays for it, what would settle it, the best mixture.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Numbers, Scene } from "./types.js"
 */
import { el } from "../../toolkit/view/dom.js";
import { CertificateCard } from "./certificate.js";
import { decidedOf } from "./decision_inputs.js";
import { MixtureCard } from "./mixture_card.js";
import { RegretCard } from "./regret_card.js";
import { SettleCard } from "./sample_size_planning.js";

export class Decisions {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    const [firm, pays, settles, mixes] = [CertificateCard, RegretCard, SettleCard, MixtureCard].map(
      (Card) => new Card(store, signal),
    );
    this.cards = [firm, pays, settles, mixes];
    // The bars of many clients stand beside the sentences: neither leaves a hole below the other.
    const columns = [[firm, settles, mixes], [pays]].map((cards) =>
      el(
        "div",
        {},
        cards.map(({ root }) => root),
      ),
    );
    this.root = el("div", { class: "nbm-dashboard-folds" }, columns);
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paint(scene, numbers) {
    const shown = numbers.metrics[scene.metric];
    if (!shown) return;
    const decided = decidedOf(shown, numbers.shares, this.store.model.get("board").few?.[scene.metric]);
    for (const card of this.cards) card.paint(scene, numbers, decided);
  }
}
