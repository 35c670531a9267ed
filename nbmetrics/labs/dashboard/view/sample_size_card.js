/**
 * What would settle it: the p-value of the leader over its rival, now and after more rows of one client or side.
 * Python gives the variance of the difference of the two by source, for the weights that it answered last.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Numbers, Scene } from "./types.js"
 */
import { NumberTable } from "../../toolkit/view/chart.js";
import { el, setText } from "../../toolkit/view/dom.js";
import { card } from "./certificate_card.js";
import { inWords } from "./metric_view.js";
import { apart } from "./place_ranges.js";
import { ROWS, SETTLED_PVALUE, settle, settleSentence } from "./sample_size_planning.js";
import { pText } from "./verdict.js";

const HEAD = "What would settle it?";
// Sources in the table.
const MAX_SOURCES = 4;
const SAVED = "For other weights than these: Python says it anew in a notebook.";
const MEANING =
  "p: how often two equally good generators come out as far apart in this order, or farther. After more rows: its mean over what they may show. Columns: so many more rows of the source alone; sources that change nothing are left out.";

/** @typedef {{pair?: [string, string], variances?: number[], sizes?: number[], why?: string}} Buys  see sample_size_planning.py */

export class SettleCard {
  /** @param {Store} store @param {AbortSignal} _signal */
  constructor(store, _signal) {
    this.store = store;
    this.sentence = el("p");
    this.numbers = new NumberTable("p after more rows");
    this.numbers.root.classList.remove("nbm-tall");
    this.note = el("p", { class: "nbm-note" });
    this.root = card(HEAD, [this.sentence, this.numbers.root, this.note]);
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paint(scene, { clients, shares, metrics, answer }) {
    this.root.hidden = scene.generators.length < 2;
    if (this.root.hidden) return;
    const buys = /** @type {Buys} */ (answer.settle?.[scene.metric] ?? {});
    const [a, b] = (buys.pair ?? []).map((name) => scene.generators.indexOf(name));
    const isOld = shares.some((share, i) => Math.abs(share - (answer.weights?.[i] ?? share)) > 1e-9);
    const isKnown = buys.variances && buys.sizes && a >= 0 && b >= 0;
    this.root.classList.toggle("nbm-old", isOld);
    if (!isKnown || (isOld && this.store.saved)) {
      this.numbers.paint(false, () => ({ heads: [], rows: [] }));
      setText(this.note, "");
      return setText(
        this.sentence,
        isKnown ? SAVED : `Not known: ${(buys.why ?? "Python has not said yet").replace(/\.$/, "")}.`,
      );
    }
    if (isOld) return; // Python answers in a moment
    const { avgLosses, byAvg } = metrics[scene.metric];
    const plan = settle(apart(avgLosses, byAvg.noise, a, b), buys.variances ?? [], buys.sizes ?? []);
    const names = clients.map(({ name }) => inWords(name));
    setText(this.sentence, settleSentence(plan, inWords(scene.generators[a]), inWords(scene.generators[b]), names));
    const isOpen = plan.buys.length > 0 && plan.now > SETTLED_PVALUE;
    this.numbers.paint(isOpen, () => tableOf(plan, names));
    setText(this.note, isOpen ? MEANING : "");
  }
}

/** A p-value in a table. @param {number} p */
const pOf = (p) => pText(p).replace(/^p (= )?/, "");

/** The best sources, and the generated rows. @param {import("./sample_size_planning.js").Settling} plan @param {string[]} names */
function tableOf({ now, buys }, names) {
  const shown = buys.slice(0, MAX_SOURCES);
  const generated = buys.find(({ client }) => client === null);
  if (generated && !shown.includes(generated)) shown.splice(MAX_SOURCES - 1, 1, generated);
  const moving = shown.filter(({ after }) => after.some((then) => pOf(then) !== pOf(now)));
  const rows = moving.map(({ client, after }) => [
    client === null ? "both generators, each" : names[client],
    pOf(now),
    ...after.map(pOf),
  ]);
  return { heads: ["More rows from", "now", ...ROWS.map((rows) => `+${rows.toLocaleString("en-US")}`)], rows };
}
