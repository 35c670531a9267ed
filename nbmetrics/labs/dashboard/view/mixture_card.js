/**
 * Twin: theory/best_mixture.py · held by: tests/labs/dashboard/test_mixture_page.py
 *
 * The best mixture of the generators on show, by KID-all: Python finds it when asked, for the weights on show. Its shares
 * can be moved here, and what they score follows at once, also in a saved page.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Numbers, Scene, Written } from "./types.js"
 */
import { NumberTable } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { read, readRow } from "../../toolkit/view/json_numbers.js";
import { shortened } from "../../toolkit/view/name_width.js";
import { shareText, shownNumber } from "../../toolkit/view/numbers.js";
import { slides } from "../../toolkit/view/slider.js";
import { orderOf, sameScores } from "../../toolkit/view/ties.js";
import { setValue } from "../../toolkit/view/typed_fields.js";
import { card, withWeight } from "./certificate.js";
import { inWords, sharesOf } from "./metric_view.js";
import { listed, percent } from "./verdict.js";

const HEAD = "Would a mixture do better?";
const WHAT = "A mixture takes its rows from several generators, in the shares with the lowest KID-all.";
const TRY = "Move a share: the others follow in proportion. | marks the best.";
const SAVED = "Available in a notebook.";
// Sliders that are shown without opening more.
const MAX_SLIDERS_SHOWN = 6;

/**
 * @typedef {Partial<Terms> & {generators?: string[], weights?: number[], alpha?: number[], score?: Written,
 *   cross_fitted?: Written, best_single?: string, best_single_score?: Written, note?: string, doing?: string,
 *   error?: string}} Mixture  see mixture.py
 * @typedef {{all: number, clients: number[]}} Scores
 */

export class MixtureCard {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.signal = signal;
    this.isAsked = false;
    this.of = "";
    this.painted = "";
    /** @type {Mixture} the one that is found */
    this.mixture = {};
    /** @type {{name: string}[]} */
    this.clients = [];
    /** @type {number[]} the shares on show, and before the gesture under way */
    this.alpha = [];
    /** @type {number[] | null} */
    this.before = null;
    /** @type {{row: MixtureRow, j: number}[]} */
    this.rows = [];
    this.button = el("button", { type: "button" });
    this.wait = el("p", { class: "nbm-note" });
    this.summary = el("p");
    this.sliders = el("div");
    this.others = el("div");
    this.more = el("details", {}, [el("summary"), this.others]);
    this.back = el("button", { type: "button" }, ["Back to the best"]);
    this.scores = el("p", { "aria-live": "polite" });
    this.costs = el("p");
    this.numbers = new NumberTable("The mixture, client by client");
    this.fold = el("details", {}, [el("summary", {}, ["Client by client"]), this.numbers.root]);
    const shares = el("div", { role: "group", "aria-label": "Shares of the mixture" }, [this.sliders, this.more]);
    const hint = el("p", { class: "nbm-note" }, [TRY]);
    this.body = el("div", {}, [this.summary, shares, hint, this.scores, this.back, this.costs, this.fold]);
    this.root = card(HEAD, [el("p", { class: "nbm-note" }, [WHAT]), this.button, this.wait, this.body]);
    const ask = () => {
      this.isAsked = true;
      store.send({ kind: "mixture", scene: store.scene });
      store.changed();
    };
    this.button.addEventListener("click", ask, { signal });
    this.back.addEventListener("click", () => this.show(this.mixture.alpha ?? []), { signal });
    this.fold.addEventListener("toggle", () => store.changed(), { signal });
  }

  /** What takes the shares from the sliders, as a store takes scenes: they are no part of the scene. @returns {any} */
  get gesture() {
    const preview = (/** @type {number[]} */ alpha) => {
      this.before ??= this.alpha;
      this.show(alpha);
    };
    const finish = () => {
      this.before = null;
    };
    const cancel = () => {
      if (this.before) this.show(this.before);
      finish();
    };
    const card = this;
    return {
      preview,
      finish,
      cancel,
      edit: (/** @type {number[]} */ alpha) => this.show(alpha),
      get before() {
        return card.before;
      },
    };
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paint(scene, { clients, shares, metrics }) {
    const isTable = Object.values(metrics).every(({ facts }) => facts.pooled === false);
    this.root.hidden = scene.generators.length < 2 || isTable;
    const mixture = /** @type {Mixture} */ (this.store.model.get("mixture") ?? {});
    if (mixture.doing || mixture.error || isOf(mixture, scene, shares)) this.isAsked = false;
    const own = ownNames(this.store.model.get("board"), scene);
    if (own.length) return this.refuse(own);
    const isFound = mixture.alpha !== undefined;
    const isOld = isFound && !isOf(mixture, scene, shares);
    setText(this.button, isOld ? "Find the best mixture again" : "Find the best mixture");
    this.button.hidden = Boolean(this.store.saved) || (isFound && !isOld) || Boolean(mixture.doing);
    setText(this.wait, this.waitWords(mixture, isFound, isOld));
    this.body.hidden = !isFound;
    this.body.classList.toggle("nbm-old", isOld);
    if (!isFound) return;
    this.take(mixture, clients);
    this.paintFound();
  }

  /** No mixture is sought of generators with one distribution for each client. @param {string[]} names */
  refuse(names) {
    const which = listed(names.map(inWords), [...names.keys()]);
    const have = names.length > 1 ? "have" : "has";
    setText(
      this.wait,
      `Mixtures are of generators with one distribution for all clients; ${which} ${have} one for each.`,
    );
    this.button.hidden = this.body.hidden = true;
  }

  /** @param {Mixture} mixture @param {boolean} isFound @param {boolean} isOld */
  waitWords({ doing, error }, isFound, isOld) {
    const { store } = this;
    if (error) return `Python: ${error}`;
    if (doing || this.isAsked) {
      if (store.waiting || store.lost) return "Python is busy or unreachable.";
      return `Python computes the mixture: ${doing || "it begins"} …`;
    }
    if (isOld)
      return store.saved
        ? "This mixture is for other weights or generators. Open a notebook for a new one."
        : "This mixture is for other weights or generators.";
    return isFound || !store.saved ? "" : SAVED;
  }

  /** A mixture that is found anew: its shares are shown first. @param {Mixture} mixture @param {{name: string}[]} clients */
  take(mixture, clients) {
    this.mixture = mixture;
    this.clients = clients;
    const { generators = [], weights, alpha = [], alone = [] } = mixture;
    const of = JSON.stringify([generators, weights, alpha]);
    if (of === this.of) return;
    this.of = of;
    this.alpha = alpha;
    this.before = null;
    const byScore = orderOf(generators.map((_, j) => read(alone[j])));
    const order = largestFirst(byScore.map((j) => alpha[j])).map((place) => byScore[place]);
    this.rows = order.map((j) => ({ j, row: this.makeRow(j, generators[j]) }));
    const nodes = this.rows.map(({ row }) => row.root);
    this.sliders.replaceChildren(...nodes.slice(0, MAX_SLIDERS_SHOWN));
    this.others.replaceChildren(...nodes.slice(MAX_SLIDERS_SHOWN));
    this.more.hidden = nodes.length <= MAX_SLIDERS_SHOWN;
    setText(this.more.children[0], `${nodes.length - MAX_SLIDERS_SHOWN} more`);
  }

  /** @param {number} j @param {string} name */
  makeRow(j, name) {
    const write = (/** @type {number} */ share) =>
      withShareOf(this.before ?? this.alpha, j, share, this.mixture.alpha ?? []);
    return new MixtureRow(this.gesture, this.signal, name, write);
  }

  /** @param {number[]} alpha */
  show(alpha) {
    if (this.store.isLocked("drag")) return;
    this.alpha = alpha;
    this.painted = "";
    this.paintFound();
  }

  paintFound() {
    const { mixture, clients, alpha } = this;
    const key = JSON.stringify([this.of, alpha, this.fold.open]);
    if (key === this.painted) return;
    this.painted = key;
    const { generators = [], alpha: best = [] } = mixture;
    const terms = /** @type {Terms} */ (mixture);
    const single = generators.indexOf(mixture.best_single ?? "");
    const name = inWords(generators[single] ?? "");
    const isBest = alpha.every((share, j) => share === best[j]);
    setText(
      this.summary,
      best[single] === 1 ? `No mixture was found that beats ${name} alone.` : `Mix ${mixtureWords(mixture)}.`,
    );
    for (const { row, j } of this.rows) row.paint(alpha[j], best[j]);
    this.back.hidden = isBest;
    const scores = mixtureScores(terms, alpha);
    setText(this.scores, isBest ? bestSentence(mixture, name) : movedSentence(scores.all, mixture, name));
    const alone = terms.by_client.map((row) => readRow(row)[single]);
    const saved = savedOf(scores.clients, alone);
    this.costs.hidden = this.fold.hidden = alpha[single] === 1;
    setText(this.costs, clientsSentence(saved, clients, name));
    this.numbers.paint(this.fold.open, () => tableOf(scores.clients, alone, clients, name));
  }
}

/** Those on show with one distribution for each client. @param {import("./types.js").Board} board @param {Scene} scene */
function ownNames({ generators: facts }, { generators }) {
  return generators.filter((name) => facts[name]?.by_client);
}

/** Whether it is of the weights and the generators on show. @param {Mixture} mixture @param {Scene} scene @param {number[]} shares */
function isOf({ generators, weights, alpha }, scene, shares) {
  if (!alpha || !generators || !weights) return false;
  const own = sharesOf(weights);
  return (
    JSON.stringify(generators) === JSON.stringify(scene.generators) &&
    shares.every((share, i) => Math.abs(share - own[i]) < 1e-9)
  );
}

/** @param {Mixture} mixture */
function mixtureWords({ generators = [], alpha = [] }) {
  const some = largestFirst(generators.map((_, j) => alpha[j])).filter((j) => alpha[j] > 0);
  const parts = some.map((j) => `${percent(alpha[j])} ${inWords(generators[j])}`);
  return parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]}` : parts[0];
}

/** @param {Mixture} mixture @param {string} single */
function bestSentence({ score, cross_fitted: fitted, best_single_score: alone, note = "" }, single) {
  const own = shownNumber(read(score));
  const honest = read(fitted);
  const first = Number.isNaN(honest)
    ? `KID-all ${own} on the rows used to choose it, so too low; no cross-fitted score: ${note}`
    : honest === read(score)
      ? `KID-all ${own}, exact`
      : `KID-all ${shownNumber(honest)}, cross-fitted: ${note}; ${own} on the rows used to choose it, so too low`;
  return `${first}. ${single} alone has ${shownNumber(read(alone))}.`;
}

/** By how much the mixture's score is below that of one generator, with each client. @param {number[]} scores @param {number[]} alone */
function savedOf(scores, alone) {
  return alone.map((own, i) => (sameScores(own, scores[i]) ? 0 : own - scores[i]));
}

/** @param {number[]} shares */
function largestFirst(shares) {
  return orderOf(
    shares.map((share) => -share),
    1,
  );
}

/** @param {number} all @param {Mixture} mixture @param {string} single */
function movedSentence(all, { score, best_single_score: alone }, single) {
  const beside = (/** @type {Written | undefined} */ other) => {
    const by = all - read(other);
    return `${shownNumber(Math.abs(by))} ${by > 0 ? "above" : "below"}`;
  };
  return `KID-all ${shownNumber(all)} with these shares: ${beside(score)} the best mixture on the same rows, and ${beside(alone)} ${single} alone.`;
}

/** @param {number[]} saved @param {{name: string}[]} clients @param {string} single */
function clientsSentence(saved, clients, single) {
  const most = (/** @type {number} */ sign) => {
    const some = orderOf(saved.map((by) => -sign * by)).filter((i) => sign * saved[i] > 0);
    return some.length
      ? `${some.length} (most: ${inWords(clients[some[0]].name)}, ${shownNumber(Math.abs(saved[some[0]]))})`
      : "none";
  };
  return `Compared with ${single} alone, it lowers KID for ${most(1)} of the ${clients.length} clients, and raises it for ${most(-1)}.`;
}

/** @param {number[]} scores @param {number[]} alone @param {{name: string}[]} clients @param {string} single */
function tableOf(scores, alone, clients, single) {
  const saved = savedOf(scores, alone);
  const rows = orderOf(saved).map((i) => [clients[i].name, ...[scores[i], alone[i], saved[i]].map(shownNumber)]);
  return { heads: ["Client", "mixture", single, "saved"], rows };
}

/* One generator's share in a mixture: a slider, a mark where the best mixture has it, and a number to type. */

// Pixels of a name beside its slider.
const NAME_PX = 90;

export class MixtureRow {
  /** @param {Store} gesture what takes the shares, as a store takes scenes @param {AbortSignal} signal @param {string} name @param {(share: number) => any} write */
  constructor(gesture, signal, name, write) {
    this.input = el("input", {
      type: "range",
      min: "0",
      max: "1",
      step: "0.01",
      "aria-label": `${name} in the mixture`,
    });
    this.number = el("input", {
      type: "number",
      min: "0",
      max: "100",
      step: "any",
      "aria-label": `${name} in the mixture in percent`,
    });
    this.bar = el("span");
    this.best = el("span", { class: "nbm-mixture-best" });
    this.root = el("div", { class: "nbm-mixture-row" }, [
      el("span", { title: name }, [shortened(name, NAME_PX)]),
      el("div", { class: "nbm-weight-slide" }, [
        el("div", { class: "nbm-weight-track nbm-mixture-track", "aria-hidden": "true" }, [this.bar]),
        this.best,
        this.input,
      ]),
      el("label", {}, [this.number, "%"]),
    ]);
    slides(this.input, gesture, write, signal);
    const typed = () => {
      const share = this.number.valueAsNumber / 100;
      gesture.edit(write(Number.isFinite(share) ? share : this.share));
    };
    this.number.addEventListener("change", typed, { signal });
    this.share = 0;
  }

  /** @param {number} share @param {number} best */
  paint(share, best) {
    this.share = share;
    this.input.value = String(share);
    setValue(this.number, String(Number((100 * share).toFixed(1))));
    setAttributes(this.input, { "aria-valuetext": `${shareText(share)}, in the best mixture ${shareText(best)}` });
    setAttributes(this.bar, { style: `width: ${(100 * share).toFixed(1)}%` });
    this.best.hidden = !(best > 0);
    setAttributes(this.best, { style: `left: calc(6px + (100% - 12px) * ${best.toFixed(4)})` });
  }
}

/* KID of any mixture of generators, and its shares as one of them is moved. No DOM. */

/** @typedef {{alone: Written[], by_client: Written[][], apart: Written[][]}} Terms  see mixture.py */

/** KID of a mixture with all clients together, and with each. @param {Terms} terms @param {number[]} alpha */
export function mixtureScores({ alone, by_client: byClient, apart }, alpha) {
  const served = alpha.map((_, j) => j).filter((j) => alpha[j] > 0);
  let less = 0;
  for (const j of served) {
    const own = readRow(apart[j]);
    for (const l of served) if (l > j) less += alpha[j] * alpha[l] * own[l];
  }
  const scoreOf = (/** @type {Written[]} */ singles) => {
    const scores = readRow(singles);
    return served.reduce((sum, j) => sum + alpha[j] * scores[j], 0) - less;
  };
  return { all: scoreOf(alone), clients: byClient.map(scoreOf) };
}

/** α with another share of one: of the others in proportion, or as in `best` where they have none. @param {number[]} alpha @param {number} j @param {number} share @param {number[]} best */
export function withShareOf(alpha, j, share, best) {
  const isAlone = alpha.every((own, l) => l === j || !(own > 0));
  return withWeight(isAlone ? best : alpha, j, Math.min(1, Math.max(0, share)));
}
