/**
 * More draws of the generators on show that are functions, until one is settled as best: Python draws when asked, look
 * by look, and those that are worse drop out. See drawing.py.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Board, Numbers, Scene, Written } from "./types.js"
 */
import { el, setText } from "../../toolkit/view/dom.js";
import { read } from "../../toolkit/view/json_numbers.js";
import { shownNumber } from "../../toolkit/view/numbers.js";
import { orderOf } from "../../toolkit/view/ties.js";
import { card } from "./certificate.js";
import { averageName, inWords, sharesOf } from "./metric_view.js";
import { setScoreText } from "./score_text.js";
import { listed } from "./verdict.js";
import { Scale, Whisker } from "./whiskers.js";

const HEAD = "Draw until settled";
const [DEFAULT_BUDGET, MAX_BUDGET] = [100000, 1e9];
const NOTE =
  "Differences decide, so lines may overlap. Here a client is exactly the rows that it gave, so these scores differ from those elsewhere on this page.";
const OTHER = "This race is for other weights, generators or scores.";

/**
 * @typedef {{look: number, sampler: string, draws: number, score: Written, low: Written, high: Written, state: string}} Look
 * @typedef {{metric?: string, by?: string, weights?: number[], generators?: string[], left_out?: string[],
 *   label?: string, budget?: number, spent?: number, looks?: Look[], doing?: string, reason?: string, noise?: string,
 *   error?: string}} Race  see drawing.py
 */

export class DrawCard {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.isAsked = false;
    this.painted = "";
    this.scale = new Scale();
    this.most = NaN;
    this.what = el("p", { class: "nbm-note" });
    this.budget = el("input", { type: "number", min: "1200", max: String(MAX_BUDGET), step: "any" });
    this.budget.value = String(DEFAULT_BUDGET);
    this.button = el("button", { type: "button" }, ["Draw"]);
    this.stop = el("button", { type: "button" }, ["Stop"]);
    this.ask = el("p", { class: "nbm-draw-ask" }, [
      el("label", {}, ["Draws at most ", this.budget]),
      this.button,
      this.stop,
    ]);
    this.state = el("p", { class: "nbm-note" });
    this.body = el("tbody");
    const heads = ["Generator", "Score", "", "Draws"].map((head) => el("th", { scope: "col" }, [head]));
    this.table = el("table", { class: "nbm-draw" }, [el("thead", {}, [el("tr", {}, heads)]), this.body]);
    this.reason = el("p", { "aria-live": "polite" });
    this.note = el("p", { class: "nbm-note" });
    const result = el("div", {}, [this.table, this.reason, this.note]);
    this.result = result;
    this.root = card(HEAD, [this.what, this.ask, this.state, result]);
    this.button.addEventListener("click", () => this.begin(), { signal });
    this.stop.addEventListener("click", () => store.send({ kind: "stop race" }), { signal });
  }

  begin() {
    const { store } = this;
    this.isAsked = true;
    store.send({ kind: "race", scene: store.scene, budget: this.budget.valueAsNumber || null });
    store.changed();
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paint(scene, { shares, metrics }) {
    const race = /** @type {Race} */ (this.store.model.get("race") ?? {});
    const { by, racing, others } = fieldOf(this.store.model.get("board"), scene);
    const isOffered = ["fid", "kid"].includes(scene.metric) && racing.length > 1;
    this.root.hidden = !isOffered || (Boolean(this.store.saved) && !race.looks);
    if (this.root.hidden) return;
    if (race.doing || race.error || race.reason) this.isAsked = false;
    const isRunning = Boolean(race.doing) && !race.error;
    const label = `${metrics[scene.metric].facts.label}-${by}`;
    setScoreText(this.what, offer(racing, others, label));
    this.ask.hidden = Boolean(this.store.saved);
    this.button.hidden = isRunning;
    this.stop.hidden = !isRunning;
    this.budget.disabled = isRunning;
    const isCurrent = isOf(race, scene, shares, by, racing);
    setText(this.state, this.stateWords(race, isCurrent));
    this.state.hidden = !this.state.textContent;
    this.result.hidden = !race.looks?.length;
    this.result.classList.toggle("nbm-old", !isCurrent);
    this.paintRace(race);
  }

  /** @param {Race} race @param {boolean} isCurrent */
  stateWords({ doing, error, looks = [], spent = 0, budget = 0 }, isCurrent) {
    const { store } = this;
    if (error) return `Python: ${error}`;
    if (this.isAsked || (doing && !store.saved)) {
      if (store.waiting || store.lost) return "Python is busy or unreachable.";
      const look = looks.length ? looks[looks.length - 1].look : 0;
      return `Look ${look + 1}: ${spent.toLocaleString("en-US")} of ${budget.toLocaleString("en-US")} draws …`;
    }
    return looks.length && !isCurrent ? OTHER : "";
  }

  /** @param {Race} race */
  paintRace(race) {
    const { looks = [], reason = "", noise = "" } = race;
    const key = JSON.stringify([looks, reason]);
    if (key === this.painted) return;
    this.painted = key;
    const rows = lastLooks(looks);
    const going = rows.filter((row, place) => place < 2 || !isOut(row)).map(spanOf);
    this.most = Math.max(...going.map(({ high }) => high));
    const drawn = rows.map((row) => this.onScale(row)).filter(({ value }) => Number.isFinite(value));
    this.scale.fit(String(looks.length), drawn);
    this.body.replaceChildren(...rows.map((row) => this.makeRow(row, rows[0])));
    setScoreText(this.reason, reason);
    setText(this.note, [noise, NOTE].filter(Boolean).join(" "));
  }

  /** An arrow for what lies beyond those that race. @param {Look} row @returns {import("./whiskers.js").Span} */
  onScale(row) {
    const span = spanOf(row);
    return span.low > this.most ? { ...span, value: Infinity, low: NaN, high: NaN } : span;
  }

  /** @param {Look} row @param {Look} best */
  makeRow(row, best) {
    const whisker = new Whisker();
    whisker.paint(this.onScale(row), this.scale, read(best.score), row === best);
    const [score, low, high] = [row.score, row.low, row.high].map((value) => shownNumber(read(value)));
    return el("tr", {}, [
      el("th", { scope: "row" }, [inWords(row.sampler), el("small", {}, [stateOf(row)])]),
      el("td", {}, [score, el("small", {}, [`${low} to ${high}`])]),
      el("td", {}, [whisker.root]),
      el("td", {}, [row.draws.toLocaleString("en-US")]),
    ]);
  }
}

/** Who races, by which score, and who cannot. @param {Board} board @param {Scene} scene */
function fieldOf(board, { generators, by }) {
  const isByClient = averageName(board, generators) === "intra";
  const facts = (/** @type {string} */ name) => board.generators[name] ?? {};
  const racing = generators.filter((name) => facts(name).draws && Boolean(facts(name).by_client) === isByClient);
  const others = generators.filter((name) => !racing.includes(name));
  return { by: isByClient ? "intra" : by, racing, others };
}

/** @param {string[]} racing @param {string[]} others @param {string} label */
function offer(racing, others, label) {
  const names = listed(racing.map(inWords), [...racing.keys()]);
  const first = `Draw more rows from ${names} until one is best by ${label}, with 95\u00a0% confidence; those that are worse drop out.`;
  return others.length ? `${first} Not in the race: ${listed(others.map(inWords), [...others.keys()])}.` : first;
}

/** Whether it is of what is on show. @param {Race} race @param {Scene} scene @param {number[]} shares @param {string} by @param {string[]} racing */
function isOf({ metric, by: own, weights, generators }, scene, shares, by, racing) {
  if (!weights || metric !== scene.metric || own !== by || weights.length !== shares.length) return false;
  const before = sharesOf(weights);
  return (
    JSON.stringify(generators) === JSON.stringify(racing) && shares.every((s, i) => Math.abs(s - before[i]) < 1e-9)
  );
}

/** The last look at each, those that are not out first, then by score. @param {Look[]} looks */
function lastLooks(looks) {
  const last = [...new Map(looks.map((look) => [look.sampler, look])).values()];
  const byScore = orderOf(last.map(({ score }) => read(score))).map((place) => last[place]);
  return [...byScore.filter((row) => !isOut(row)), ...byScore.filter(isOut)];
}

/** @param {Look} look @returns {import("./whiskers.js").Span} */
function spanOf({ score, low, high }) {
  const value = read(score);
  return { value, low: read(low), high: read(high), nearest: value, farthest: value };
}

/** @param {{state: string}} look */
function isOut({ state }) {
  return state.startsWith("out: ");
}

/** @param {Look} look */
function stateOf({ state }) {
  if (isOut({ state })) return "out of the race";
  return { winner: "wins the race", tied: "tied" }[state] ?? "in the race";
}
