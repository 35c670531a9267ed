/**
 * Clients and generators: a cell for every score, coloured by regret.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Numbers, Scene } from "./types.js"
 */
import { el, scroller } from "../../toolkit/view/dom.js";
import { shownNumber } from "../../toolkit/view/numbers.js";

export class HeatMap {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.key = "";
    this.table = el("table", { class: "nbm-scores", "aria-label": "Clients and generators" });
    this.root = el("section", { class: "nbm-dashboard-card", "aria-label": "Heat map" }, [
      scroller("Clients and generators", this.table, signal),
    ]);
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paint(scene, numbers) {
    const shown = numbers.metrics[scene.metric];
    if (!shown) return;
    const head = el(
      "tr",
      {},
      ["Client", ...scene.generators].map((name) => el("th", { scope: "col" }, [name])),
    );
    const rows = numbers.clients.map((client, i) =>
      el("tr", {}, [
        el("th", { scope: "row" }, [client.name]),
        ...shown.values.map((row) => el("td", { "data-value": String(row[i]) }, [shownNumber(row[i])])),
      ]),
    );
    const key = JSON.stringify([scene.metric, scene.generators, shown.values.map((row) => [...row])]);
    if (this.key === key) return;
    this.key = key;
    this.table.replaceChildren(el("thead", {}, [head]), el("tbody", {}, rows));
  }
}
