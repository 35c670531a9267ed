/**
 * What the two leading generators disagree about, mode by mode: Python finds the modes when asked, by a button above the
 * heat map, and gives them in an order that the card says. They have letters, since `Scores.disagreement` numbers the
 * modes of either generator. A press on a mode selects, in the heat map, the client where it is most frequent.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Numbers, Scene, Written } from "./types.js"
 */
import { el, setText } from "../../toolkit/view/dom.js";
import { read, readRow } from "../../toolkit/view/json_numbers.js";
import { shareText, shownNumber } from "../../toolkit/view/numbers.js";
import { lowest, orderOf } from "../../toolkit/view/ties.js";
import { card } from "./certificate.js";
import { averageName, inWords, sharesOf } from "./metric_view.js";
import { setScoreText } from "./score_text.js";

const HEAD = "What they disagree about";
const WHAT = "Modes are kinds of rows that one generator makes more often than the other.";
// Clients that a mode names.
const MAX_CLIENTS_NAMED = 3;
// Of as many modes as Python sends at most.
const LETTERS = "ABCDEF";

/**
 * @typedef {{of: string, row: number, picture?: string}} ModeRow
 * @typedef {{name: string, first: Written, second: Written, clients: Written[], avg: Written, all: Written,
 *   rows: ModeRow[], features: [number, Written][]}} Mode
 * @typedef {{pair?: [string, string], metric?: string, label?: string, clients?: string[], weights?: number[],
 *   scores?: [Written, Written], order?: "apart" | "change", modes?: Mode[], doing?: string, error?: string}} Disagreement  see disagreement.py
 */

export class DisagreementCard {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.signal = signal;
    this.isAsked = false;
    this.painted = "";
    this.button = el("button", { type: "button" });
    this.wait = el("p", { class: "nbm-note" });
    this.summary = el("p");
    this.list = el("ul", { class: "nbm-modes" });
    this.card = card(HEAD, [el("p", { class: "nbm-note" }, [WHAT]), this.summary, this.list]);
    this.root = el("div", { class: "nbm-disagreement", tabindex: "-1" }, [this.wait, this.card]);
    this.card.tabIndex = -1;
    const ask = () => {
      this.isAsked = true;
      store.send({ kind: "disagreement", scene: store.scene });
      store.changed();
    };
    this.button.addEventListener("click", ask, { signal });
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paint(scene, { shares, metrics }) {
    const isTable = Object.values(metrics).every(({ facts }) => facts.pooled === false);
    const isByClient = averageName(this.store.model.get("board"), scene.generators) === "intra";
    const isOffered = scene.generators.length > 1 && !isTable && !isByClient && ["fid", "kid"].includes(scene.metric);
    const disagreement = /** @type {Disagreement} */ (this.store.model.get("disagreement") ?? {});
    const isCurrent = isOf(disagreement, scene, shares);
    if (disagreement.doing || disagreement.error || isCurrent) this.isAsked = false;
    const isFound = disagreement.modes !== undefined;
    const focused = document.activeElement;
    setText(this.button, isFound && !isCurrent ? "Find the modes again" : "What do they disagree about?");
    this.button.hidden = !isOffered || Boolean(this.store.saved) || isCurrent || Boolean(disagreement.doing);
    const words = this.waitWords(disagreement, isFound, isCurrent);
    setText(this.wait, words);
    this.wait.hidden = !words;
    this.root.hidden = !isOffered || (!words && !isFound);
    this.card.hidden = !isFound;
    this.card.classList.toggle("nbm-old", isFound && !isCurrent);
    if (isFound) this.paintCard(disagreement);
    this.moveFocus(focused, isCurrent ? this.card : this.root);
  }

  /** Who asked is taken to the answer: the button, which goes, stands above it. @param {Element | null} focused @param {HTMLElement} target */
  moveFocus(focused, target) {
    const isGone = focused === this.button && this.button.hidden;
    if (this.root.hidden || target === focused || !(isGone || focused === this.root)) return;
    target.focus({ preventScroll: true });
    target.scrollIntoView({ block: "nearest" });
  }

  /** @param {Disagreement} disagreement @param {boolean} isFound @param {boolean} isCurrent */
  waitWords({ doing, error }, isFound, isCurrent) {
    const { store } = this;
    if (error) return `Python: ${error}`;
    if (doing || this.isAsked) {
      if (store.waiting || store.lost) return "Python is busy or unreachable.";
      return "Python computes the modes …";
    }
    return isFound && !isCurrent ? "These modes are for other weights, generators or another metric." : "";
  }

  /** @param {Disagreement} disagreement */
  paintCard(disagreement) {
    const key = JSON.stringify(disagreement);
    if (key === this.painted) return;
    this.painted = key;
    setScoreText(this.summary, summaryOf(disagreement));
    this.list.replaceChildren(...(disagreement.modes ?? []).map((mode, k) => this.makeItem(disagreement, mode, k)));
  }

  /** @param {Disagreement} disagreement @param {Mode} mode @param {number} place */
  makeItem(disagreement, mode, place) {
    const pictures = mode.rows.filter(({ picture }) => picture);
    const carriers = pictures.length
      ? el(
          "span",
          { class: "nbm-mode-pictures" },
          pictures.map(({ picture, of, row }) => el("img", { src: picture ?? "", alt: `${of}, row ${row}` })),
        )
      : el("small", {}, [featureWords(mode)]);
    const button = el("button", { type: "button" }, [modeName(disagreement, mode, place)]);
    button.addEventListener("click", () => this.choose(disagreement, mode), { signal: this.signal });
    const change = el("p");
    setScoreText(change, changes(disagreement, mode));
    return el("li", {}, [button, carriers, el("p", {}, [sharesSentence(disagreement, mode)]), change]);
  }

  /** @param {Disagreement} disagreement @param {Mode} mode */
  choose({ pair = ["", ""], clients = [] }, mode) {
    const own = readRow(mode.clients);
    const client = clients[lowest(own.map((share) => -share))] ?? "";
    const generator = pair[read(mode.first) >= read(mode.second) ? 0 : 1];
    this.store.edit(/** @type {any} */ ({ ...this.store.scene, client, generator }), "");
  }
}

/** Whether it is of the metric, weights and generators on show. @param {Disagreement} disagreement @param {Scene} scene @param {number[]} shares */
function isOf({ modes, metric, pair, weights }, scene, shares) {
  if (!modes || !pair || !weights || metric !== scene.metric || weights.length !== shares.length) return false;
  const own = sharesOf(weights);
  return pair.every((name) => scene.generators.includes(name)) && shares.every((s, i) => Math.abs(s - own[i]) < 1e-9);
}

/** @param {Disagreement} disagreement */
function summaryOf(disagreement) {
  const { pair = ["", ""], label = "", scores = ["nan", "nan"], modes = [] } = disagreement;
  const [avg, all] = scores.map((value) => shownNumber(read(value)));
  const names = pair.map(inWords).join(" − ");
  const order = modes.length ? orderWords(disagreement) : "No mode was found.";
  return `${names}: ${avg} by ${label}-avg, ${all} by ${label}-all (below 0: ${inWords(pair[0])} is better). ${order}`;
}

/** @param {Disagreement} disagreement */
function orderWords(disagreement) {
  const { order, modes = [] } = disagreement;
  if (Number.isNaN(read(modes[0].avg))) return "";
  const first = modeName(disagreement, modes[0], 0);
  const others = modes.length > 1 ? "; the others follow in that order" : "";
  if (order === "apart") return `Avg and all differ most about ${first}${others}.`;
  return `${first}, changes the difference most, avg and all alike${others}.`;
}

/** @param {Disagreement} disagreement @param {Mode} mode @param {number} place */
function modeName({ pair = ["", ""] }, { name }, place) {
  const [, , which] = name.split(" ");
  return `Mode ${LETTERS[place]}, more in ${inWords(pair[which === "first" ? 0 : 1])}`;
}

/** @param {Disagreement} disagreement @param {Mode} mode */
function sharesSentence({ pair = ["", ""], clients = [] }, mode) {
  const own = [...readRow(mode.clients)];
  const falling = orderOf(own.map((share) => -share));
  const first = falling.filter((i) => own[i] > 0).slice(0, MAX_CLIENTS_NAMED);
  const shares = first.map((i) => `${inWords(clients[i])} (${shareText(own[i])})`).join(", ");
  const made = [mode.first, mode.second].map((share, g) => `${inWords(pair[g])} (${shareText(read(share))})`);
  return `${made.join(", ")}. ${shares ? `Most frequent at ${shares}.` : "At no client."}`;
}

/** What the difference becomes. @param {Disagreement} disagreement @param {Mode} mode */
function changes({ label = "", scores = ["nan", "nan"] }, mode) {
  const parts = [mode.avg, mode.all].map((change, k) => {
    const [before, after] = [read(scores[k]), read(scores[k]) + read(change)];
    return `${label}-${k ? "all" : "avg"} ${shownNumber(before)} → ${Number.isNaN(after) ? "unknown" : shownNumber(after)}`;
  });
  return `Without its generated rows: ${parts.join(", ")}.`;
}

/** @param {Mode} mode */
function featureWords({ features }) {
  const some = features.map(([place, value]) => `feature ${place} (${shownNumber(read(value))} sd)`);
  return some.length ? `Farthest from the real mean: ${some.join(", ")}.` : "No row is in it.";
}
