/**
 * What each score costs and reveals: bytes up and down for each client, and what is told. It depends on the
 * data alone, and is painted when it comes, not in a drag.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Board, Cost } from "./types.js"
 */
import { resizeChildren } from "../../toolkit/view/chart.js";
import { el, scroller, setText } from "../../toolkit/view/dom.js";

const HEAD = "What each score costs and reveals";
const HEADS = ["Score", "Up, bytes per client", "Down, bytes per client", "What a client reveals"];

export class Costs {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    /** @type {Cost[] | undefined} */
    this.shown = undefined;
    const heads = HEADS.map((head) => el("th", { scope: "col" }, [head]));
    this.body = el("tbody");
    this.note = el("p", { class: "nbm-note" });
    const table = el("table", { class: "nbm-figures nbm-costs", "aria-label": HEAD }, [
      el("thead", {}, [el("tr", {}, heads)]),
      this.body,
    ]);
    this.root = el("div", {}, [
      el("span", { class: "nbm-card-head", role: "heading", "aria-level": "3" }, [HEAD]),
      scroller(HEAD, table, signal),
      this.note,
    ]);
  }

  paint() {
    const { ledger, generators } = /** @type {Board} */ (this.store.model.get("board"));
    if (!ledger || ledger === this.shown) return;
    this.shown = ledger;
    const rows = resizeChildren(this.body, ledger.length, () =>
      el("tr", {}, [el("th", { scope: "row" }), ...HEADS.slice(1).map(() => el("td"))]),
    );
    ledger.forEach(({ metric, aggregate, up, down, reveals }, k) => {
      [`${metric} ${aggregate}`, bytes(up), bytes(down), reveals].forEach((text, c) =>
        setText(rows[k].children[c], text),
      );
    });
    const count = Object.keys(generators).length;
    const which = count === 1 ? "the generator" : `all ${count} generators`;
    const hasIntra = ledger.some(({ aggregate }) => aggregate === "intra");
    const forIntra = hasIntra ? " for intra, each client gets the summaries of what was made for it;" : "";
    setText(
      this.note,
      `If the rows stayed with the clients: for avg, the summaries of ${which} go to each client, which returns one number for each;${forIntra} for all, each client sends one summary, which also gives avg. Being small does not make a summary private.`,
    );
  }
}

/** @param {[number, number]} ends */
function bytes([least, most]) {
  const [low, high] = [least, most].map((value) => value.toLocaleString("en"));
  return least === most ? low : `${low} to ${high}`;
}
