/**
 * The p-value of the leader over its rival, now and after more rows. No DOM. Python gives the parts of the variance, see
 * sample_size_planning.py.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Numbers, Scene } from "./types.js"
 */
import { NumberTable } from "../../toolkit/view/chart.js";
import { el, setText } from "../../toolkit/view/dom.js";
import { orderOf } from "../../toolkit/view/ties.js";
import { card } from "./certificate.js";
import { inWords } from "./metric_view.js";
import { apart, upperTail } from "./place_ranges.js";
import { pText } from "./verdict.js";

/**
 * @typedef {{client: number | null, after: number[]}} Buy  more rows of a client, or of both generators (null)
 * @typedef {{now: number, rows: number, buys: Buy[]}} Settling  the plan, the best source first
 */

export const ROWS = [100, 300, 1000, 3000, 10000];
const [TARGET_PVALUE, TARGET_SHARE_OF_NOW, TARGET_SHARE_OF_MOST] = [0.05, 1 / 3, 0.8];
export const SETTLED_PVALUE = 0.01;
const NOTABLE_SHARE = 0.9;
// Of the integral that Owen's T is, even.
const INTEGRAL_STEPS = 200;

/** The mean one-sided p-value once the variance of the difference is down to a share `kept`. @param {number} away |difference| in standard errors now @param {number} kept */
export function pAfter(away, kept) {
  if (Number.isNaN(away)) return NaN;
  if (kept >= 1) return upperTail(away);
  const end = Math.atan(Math.sqrt(kept / (1 - kept)));
  if (away === Infinity || end === 0) return 0;
  let sum = 0;
  for (let n = 0; n <= INTEGRAL_STEPS; n++) {
    const weight = n === 0 || n === INTEGRAL_STEPS ? 1 : n % 2 ? 4 : 2;
    sum += weight * Math.exp((-away * away) / 2 / Math.cos((end * n) / INTEGRAL_STEPS) ** 2);
  }
  return (sum * end) / (3 * INTEGRAL_STEPS * Math.PI);
}

/** The share of the variance that is left after so many more rows of each source. @param {number[]} variances @param {number[]} sizes @param {number[]} more */
export function keptAfter(variances, sizes, more) {
  const total = variances.reduce((sum, value) => sum + value, 0);
  const left = variances.reduce((sum, v, s) => (v > 0 ? sum + v * (sizes[s] / (sizes[s] + more[s])) : sum), 0);
  return total > 0 ? left / total : 1;
}

/** What more rows of one client, or of both generators, would do for two leaders. @param {number} away @param {number[]} variances @param {number[]} sizes @returns {Settling} */
export function settle(away, variances, sizes) {
  const k = variances.length - 2;
  /** @type {(Buy & {cuts: number[]})[]} */
  const buys = [];
  for (let client = 0; client <= k; client++) {
    const which = (client === k ? [k, k + 1] : [client]).filter((source) => variances[source] > 0);
    if (!which.length) continue;
    const after = ROWS.map((rows) => {
      const more = sizes.map((_, source) => (which.includes(source) ? rows : 0));
      return pAfter(away, keptAfter(variances, sizes, more));
    });
    const cuts = ROWS.map((rows) => which.reduce((sum, s) => sum + (variances[s] * rows) / (sizes[s] + rows), 0));
    buys.push({ client: client === k ? null : client, after, cuts });
  }
  const now = pAfter(away, 1);
  const least = ROWS.map((_, n) => Math.min(...buys.map(({ after }) => after[n]), now));
  const target = Math.max(
    Math.min(TARGET_PVALUE, TARGET_SHARE_OF_NOW * now),
    now - TARGET_SHARE_OF_MOST * (now - least[ROWS.length - 1]),
  );
  const enough = least.findIndex((value) => value <= target);
  const n = enough < 0 ? ROWS.length - 1 : enough;
  const largestCutFirst = orderOf(buys.map(({ cuts }) => -cuts[n]));
  return {
    now,
    rows: ROWS[n],
    buys: largestCutFirst.map((place) => ({ client: buys[place].client, after: buys[place].after })),
  };
}

/** The advice. @param {Settling} found @param {string} leader @param {string} rival @param {string[]} clients @param {string} [average] what the mean over clients is called */
export function settleSentence({ now, rows, buys }, leader, rival, clients, average = "avg") {
  if (Number.isNaN(now)) return `Not known: how many more rows would decide between ${leader} and ${rival}.`;
  if (!buys.length) return `More rows would change nothing: ${leader} and ${rival} are compared exactly.`;
  const present = `one-sided ${pText(now)}`;
  if (now <= SETTLED_PVALUE) {
    return `More rows would hardly change the winner by ${average}: ${present} for ${leader} over ${rival}, unadjusted.`;
  }
  const [n, best] = [ROWS.indexOf(rows), buys[0]];
  const source = best.client === null ? "each of the two generators" : clients[best.client];
  const more = `${rows.toLocaleString("en-US")} more rows from ${source}`;
  const then = pText(best.after[n]);
  if (best.after[n] > NOTABLE_SHARE * now) {
    return `More rows from one source would not decide between ${leader} and ${rival}: with ${more}, ${present} should become ${then}.`;
  }
  const said = `${more} should bring ${present} to ${then}`;
  const generated = buys.find(({ client }) => client === null);
  return !generated || generated.after[n] > NOTABLE_SHARE * now
    ? `${said}; more generated rows would not help.`
    : `${said}.`;
}

/* What would settle it: the p-value of the leader over its rival, now and after more rows of one client or side. Python gives the variance of the difference of the two by source, for the weights that it answered last. */

const HEAD = "Would more rows decide it?";
const FOLD = "p after more rows";
// Sources in the table.
const MAX_SOURCES = 4;
const SAVED = "For other weights, open a notebook.";
const MEANING =
  "p: how often two equally good generators would differ at least this much, in this order, by chance. After more rows: the expected p. Columns: this many more rows from that source alone; sources that change nothing are left out.";

/** @typedef {{pair?: [string, string], variances?: number[], sizes?: number[], why?: string}} Buys  see sample_size_planning.py */

export class SettleCard {
  /** @param {Store} store @param {AbortSignal} _signal */
  constructor(store, _signal) {
    this.store = store;
    this.sentence = el("p");
    this.numbers = new NumberTable("p after more rows");
    this.numbers.root.classList.remove("nbm-tall");
    this.note = el("p", { class: "nbm-note" }, [MEANING]);
    this.fold = el("details", {}, [el("summary", {}, [FOLD]), this.numbers.root, this.note]);
    this.root = card(HEAD, [this.sentence, this.fold]);
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
      this.paintTable(null, []);
      return setText(
        this.sentence,
        isKnown ? SAVED : `Not known: ${(buys.why ?? "Python has not computed it yet").replace(/\.$/, "")}.`,
      );
    }
    if (isOld) return; // Python answers in a moment
    const { average, avgLosses, byAvg } = metrics[scene.metric];
    const plan = settle(apart(avgLosses, byAvg.noise, a, b), buys.variances ?? [], buys.sizes ?? []);
    const names = clients.map(({ name }) => inWords(name));
    const [leader, rival] = [a, b].map((g) => inWords(scene.generators[g]));
    setText(this.sentence, settleSentence(plan, leader, rival, names, average));
    this.paintTable(plan.buys.length > 0 && plan.now > SETTLED_PVALUE ? plan : null, names);
  }

  /** The room of its fold is kept where there is none. @param {Settling | null} plan @param {string[]} names */
  paintTable(plan, names) {
    this.fold.style.visibility = plan ? "" : "hidden";
    this.note.hidden = !plan;
    this.numbers.paint(plan !== null, () => tableOf(/** @type {Settling} */ (plan), names));
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
