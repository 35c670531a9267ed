/**
 * The best mixture of the generators on show, by KID-all: Python finds it when asked, for the weights on show.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Numbers, Scene, Written } from "./types.js"
 */
import { NumberTable, resizeChildren } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { shortened } from "../../toolkit/view/names.js";
import { shownNumber } from "../../toolkit/view/numbers.js";
import { read } from "../../toolkit/view/written.js";
import { card } from "./certificatecard.js";
import { inWords, sharesOf } from "./numbers.js";
import { percent } from "./verdict.js";

const HEAD = "Would a mixture do better?";
const WHAT = "Rows served from several generators at once, in the shares with the least KID-all.";
// Pixels of a name beside its bar.
const NAME = 90;
const SAVED = "It needs Python: find it in a notebook, and save the page there.";

/**
 * @typedef {{generators?: string[], weights?: number[], alpha?: number[], score?: Written, cross_fitted?: Written,
 *   best_single?: string, best_single_score?: Written, note?: string, clients?: [Written, Written][], doing?: string,
 *   error?: string}} Mixture  see mixture.py
 */

export class MixtureCard {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.isAsked = false;
    this.painted = "";
    this.button = el("button", { type: "button" });
    this.wait = el("p", { class: "nbm-note" });
    this.found = el("p");
    this.bars = el("div");
    this.scores = el("p");
    this.clients = el("p");
    this.numbers = new NumberTable("The best mixture, client by client");
    this.fold = el("details", {}, [el("summary", {}, ["Client by client"]), this.numbers.root]);
    this.body = el("div", {}, [this.found, this.bars, this.scores, this.clients, this.fold]);
    this.root = card(HEAD, [el("p", { class: "nbm-note" }, [WHAT]), this.button, this.wait, this.body]);
    const ask = () => {
      this.isAsked = true;
      store.send({ kind: "mixture", scene: store.scene });
      store.changed();
    };
    this.button.addEventListener("click", ask, { signal });
    this.fold.addEventListener("toggle", () => store.changed(), { signal });
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paint(scene, { clients, shares, metrics }) {
    const isTable = Object.values(metrics).every(({ facts }) => facts.pooled === false);
    this.root.hidden = scene.generators.length < 2 || isTable;
    const mixture = /** @type {Mixture} */ (this.store.model.get("mixture") ?? {});
    if (mixture.doing || mixture.error || isOf(mixture, scene, shares)) this.isAsked = false;
    const isFound = mixture.alpha !== undefined;
    const isOld = isFound && !isOf(mixture, scene, shares);
    setText(this.button, isOld ? "Find the best mixture again" : "Find the best mixture");
    this.button.hidden = Boolean(this.store.saved) || (isFound && !isOld) || Boolean(mixture.doing);
    setText(this.wait, this.waitWords(mixture, isFound, isOld));
    this.body.hidden = !isFound;
    this.body.classList.toggle("nbm-old", isOld);
    if (isFound) this.paintFound(mixture, clients);
  }

  /** @param {Mixture} mixture @param {boolean} isFound @param {boolean} isOld */
  waitWords({ doing, error }, isFound, isOld) {
    const { store } = this;
    if (error) return `Python: ${error}`;
    if (doing || this.isAsked) {
      if (store.waiting || store.lost) return "Python is busy or gone.";
      return `Python computes the mixture: ${doing || "it begins"} …`;
    }
    if (isOld)
      return store.saved
        ? "Of other weights or generators: a notebook finds it again."
        : "Of other weights or generators.";
    return isFound || !store.saved ? "" : SAVED;
  }

  /** @param {Mixture} mixture @param {{name: string}[]} clients */
  paintFound(mixture, clients) {
    const key = `${JSON.stringify(mixture.weights)} ${JSON.stringify(mixture.alpha)} ${this.fold.open}`;
    if (key === this.painted) return;
    this.painted = key;
    const { generators = [], alpha = [], note = "" } = mixture;
    const single = inWords(mixture.best_single ?? "");
    const served = generators.map((name, g) => ({ name, share: alpha[g] })).filter(({ share }) => share > 0);
    served.sort((a, b) => b.share - a.share);
    const isSingle = served.length === 1;
    setText(
      this.found,
      isSingle ? `No mixture is found that does better than ${single} alone.` : mixtureSentence(served),
    );
    this.bars.hidden = isSingle;
    resizeChildren(this.bars, served.length, makeBar).forEach((row, n) => {
      const { name, share } = served[n];
      setText(row.children[0], shortened(name, NAME));
      setAttributes(row.children[0], { title: name });
      setAttributes(row.children[1].children[0], { style: `width: ${(100 * share).toFixed(1)}%` });
      setText(row.children[2], percent(share));
    });
    setText(this.scores, scoresSentence(mixture, single, note));
    const saved = (mixture.clients ?? []).map(([mixed, own]) => read(own) - read(mixed));
    this.clients.hidden = this.fold.hidden = isSingle;
    setText(this.clients, clientsSentence(saved, clients, single));
    this.numbers.paint(this.fold.open, () => tableOf(mixture, saved, clients, single));
  }
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

function makeBar() {
  return el("div", { class: "nbm-mixture-row" }, [el("span"), el("span", {}, [el("span")]), el("span")]);
}

/** @param {{name: string, share: number}[]} served */
function mixtureSentence(served) {
  const parts = served.map(({ name, share }) => `${percent(share)} ${inWords(name)}`);
  return `Serve ${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]}.`;
}

/** @param {Mixture} mixture @param {string} single @param {string} note */
function scoresSentence({ score, cross_fitted: fitted, best_single_score: alone }, single, note) {
  const own = shownNumber(read(score));
  const honest = read(fitted);
  const first = Number.isNaN(honest)
    ? `KID-all ${own} on the rows it was chosen on, which flatters it; no cross-fitted score: ${note}`
    : honest === read(score)
      ? `KID-all ${own}, exact`
      : `KID-all ${shownNumber(honest)}, cross-fitted: ${note}; ${own} on the rows it was chosen on, which flatters it`;
  return `${first}. ${single} alone has ${shownNumber(read(alone))}.`;
}

/** @param {number[]} saved @param {{name: string}[]} clients @param {string} single */
function clientsSentence(saved, clients, single) {
  const most = (/** @type {number} */ sign) => {
    const some = saved.map((_, i) => i).filter((i) => sign * saved[i] > 0);
    some.sort((a, b) => sign * (saved[b] - saved[a]));
    return some.length
      ? `${some.length} (most: ${inWords(clients[some[0]].name)}, ${shownNumber(Math.abs(saved[some[0]]))})`
      : "none";
  };
  return `Beside ${single} alone it lowers KID for ${most(1)} of the ${clients.length} clients, and raises it for ${most(-1)}.`;
}

/** @param {Mixture} mixture @param {number[]} saved @param {{name: string}[]} clients @param {string} single */
function tableOf(mixture, saved, clients, single) {
  const order = saved.map((_, i) => i).sort((a, b) => saved[a] - saved[b]);
  const rows = order.map((i) => [
    clients[i].name,
    ...(mixture.clients ?? [])[i].map((value) => shownNumber(read(value))),
    shownNumber(saved[i]),
  ]);
  return { heads: ["Client", "mixture", single, "saved"], rows };
}
