/**
 * The leaderboard: a row a generator, with its place, avg, all, gap and worst client.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Numbers, Scene } from "./types.js"
 */
import { el, scroller, setAttributes, setText } from "../../toolkit/view/dom.js";
import { shownNumber } from "../../toolkit/view/numbers.js";

const HEADS = ["Generator", "avg", "all", "gap", "worst client"];

export class Leaderboard {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.body = el("tbody");
    this.heads = HEADS.map((head) => el("th", { scope: "col" }, [head]));
    this.table = el("table", { class: "nbm-scores nbm-dashboard-board", "aria-label": "Leaderboard" }, [
      el("thead", {}, [el("tr", {}, this.heads)]),
      this.body,
    ]);
    this.root = el("section", { class: "nbm-dashboard-card", "aria-label": "Leaderboard" }, [
      scroller("Leaderboard", this.table, signal),
    ]);
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paint(scene, numbers) {
    const shown = numbers.metrics[scene.metric];
    if (!shown) return;
    setAttributes(this.table, { "data-rev": scene.rev });
    const order = scene.generators.map((_, g) => g).sort((a, b) => shown.avgLosses[a] - shown.avgLosses[b]);
    while (this.body.rows.length > order.length) this.body.deleteRow(-1);
    while (this.body.rows.length < order.length)
      this.body.append(el("tr", {}, [el("th", { scope: "row" }), ...HEADS.slice(1).map(() => el("td"))]));
    order.forEach((g, place) => {
      const { cells } = this.body.rows[place];
      const { value, client } = shown.worst[g];
      setText(cells[0], scene.generators[g]);
      const near = shown.isNear ? "≈ " : "";
      [shown.avg[g], shown.all[g], shown.avg[g] - shown.all[g], value].forEach((number, i) => {
        setAttributes(cells[i + 1], { "data-value": number });
        setText(cells[i + 1], (i === 1 || i === 2 ? near : "") + shownNumber(number));
      });
      setAttributes(cells[4], { title: numbers.clients[client]?.name ?? "" });
    });
  }
}
