/**
 * Twin: labs/dashboard/metric_view.py · held by: tests/browser/test_dashboard.py
 *
 * The numbers on show: every aggregate under the weights on show. avg is linear in the weights, so it is exact here, its
 * noise too; all is Python's, and under other weights a first guess by its slopes until Python has answered.
 *
 * @import { Model } from "../../toolkit/view/types.js"
 * @import { Board, MetricFacts, Numbers, PackedDraws, ProgressFacts, Scene, Shown, Written } from "./types.js"
 * @import { Drawn } from "./cell_noise.js"
 * @import { Aggregate } from "./verdict.js"
 */
import { once, read, readRow } from "../../toolkit/view/json_numbers.js";
import { kidGap } from "../../toolkit/view/kid_gap.js";
import { shortened } from "../../toolkit/view/name_width.js";
import { lowest } from "../../toolkit/view/ties.js";
import { drawsOf, isNoMoreThanChance } from "./cell_noise.js";
import { average, averageNoise, deviation } from "./place_ranges.js";
import { recommendation } from "./recommendation.js";
import { sameClients } from "./regroup.js";
import { aggregate, verdict } from "./verdict.js";

// Pixels that a sentence has for a name, and of its letters: about 40 of them.
const SENTENCE = { room: 480, font: 16 };
// Of the weight: clients with rows enough must hold so much for a decision.
const MIN_WEIGHT_WITH_ROWS = 0.5;
// Of the weight: where more has moved, slopes are no guess.
const MAX_WEIGHT_MOVED = 0.1;
const NOT_FOR_THESE = "The winner by all is not computed for these weights yet.";

/** @param {any} scene @param {Model} model @returns {Numbers} */
export function numbersOf(scene, model) {
  const board = /** @type {Board} */ (model.get("board"));
  const progress = model.get("progress") ?? {};
  if (!board.clients)
    return {
      shares: [],
      clients: [],
      metrics: {},
      averages: {},
      progress: { done: 0, total: 1, doing: "" },
      answer: {},
    };
  const { clients } = board;
  const shares = sharesOf(scene.weights);
  const answer = model.get("result");
  const result = sameClients(answer, board) ? answer : {}; // of the clients before
  const draws = model.get("draws") ?? {};
  const inputs = { board, progress, scene, shares, result, draws, moved: movedFrom(shares, result) };
  const [metrics, averages] = [{}, {}];
  for (const facts of board.metrics) {
    lazily(metrics, facts.name, () => shownOf(facts, inputs));
    lazily(averages, facts.name, () => averagesOf(facts.name, inputs));
  }
  return { shares, clients, metrics, averages, progress, answer: result };
}

/** A property that is computed when it is first asked for. @param {any} object @param {string} name @param {() => any} make */
function lazily(object, name, make) {
  const get = () => {
    const value = make();
    Object.defineProperty(object, name, { value, enumerable: true });
    return value;
  };
  Object.defineProperty(object, name, { get, enumerable: true, configurable: true });
}

/** λ: weights divided by their sum. @param {number[]} weights */
export function sharesOf(weights) {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** Lower is better. @param {MetricFacts} facts @param {number} score */
export function lossOf({ best, higher }, score) {
  return best !== null ? Math.abs(score - best) : higher ? -score : score;
}

/** The score that has a loss; a distance from the best score stays one. @param {MetricFacts} facts @param {number} loss */
export function scoreOf({ best, higher }, loss) {
  return higher && best === null ? -loss : loss;
}

/** @typedef {{board: Board, progress: ProgressFacts, scene: Scene, shares: number[], result: any, draws: any, moved: number[] | null}} Inputs */

/** What the mean over clients is called: intra where a generator on show has one distribution for each client. @param {Board} board @param {string[]} generators */
export function averageName({ generators: facts = {} }, generators) {
  return generators.some((name) => facts[name]?.by_client) ? "intra" : "avg";
}

/** The facts of a metric, of the generators on show: with one distribution for each client avg's theorem is not intra's, and there may be no pooled score. @param {MetricFacts} facts @param {Inputs} inputs @returns {MetricFacts} */
function factsOf(facts, { board, scene }) {
  if (averageName(board, scene.generators) === "avg") return facts;
  const isPooled = !scene.generators.some((name) => board.generators[name]?.unpooled?.includes(facts.name));
  return { ...facts, same: false, pooled: isPooled && facts.pooled };
}

/** avg of each generator, null where a client is not scored yet. @param {string} name @param {Inputs} inputs @returns {(number | null)[]} */
function averagesOf(name, inputs) {
  const isScored = knownOf(inputs.board.values[name], inputs);
  const avg = average(cellsOf(inputs.board.values[name], inputs), inputs.shares);
  return avg.map((score, g) => (isScored[g].every(Boolean) ? score : null));
}

/** @param {MetricFacts} given @param {Inputs} inputs @returns {Shown} */
function shownOf(given, inputs) {
  const { board, progress, scene, shares, result } = inputs;
  const facts = factsOf(given, inputs);
  const { name } = facts;
  const values = cellsOf(board.values[name], inputs);
  const centres = cellsOf(board.centres[name], inputs);
  const isScored = knownOf(board.values[name], inputs);
  const avg = average(values, shares);
  const packed = inputs.moved && facts.same ? board.gaps?.[name] : undefined;
  const gap = packed && kidGap(packed, shares);
  const isAlone = facts.pooled !== false && shares.filter((share) => share > 0).length === 1; // all is its data, so avg
  const isNear = inputs.moved !== null && gap === undefined && !isAlone;
  const pooled = gap === undefined ? pooledOf("all", facts, inputs) : avg.map((score) => score - gap);
  const all = isAlone ? avg : pooled;
  const losses = (/** @type {number[]} */ scores) => scores.map((score) => lossOf(facts, score));
  const decided = decidedShares(shares, board.few?.[name]);
  const counted = decided ?? shares;
  const few = shares.map((_, i) => i).filter((i) => shares[i] > 0 && !(counted[i] > 0));
  // Of who has none yet NaN, which no pair is told apart by.
  const avgNoise = decided && noiseOf(scene.generators, inputs.draws[name], (packed) => noiseUnder(packed, decided));
  const plainAvg = few.length ? average(values, counted) : avg;
  const firstAvg = avg.map((score, g) => (Number.isNaN(score) ? plainAvg[g] : score));
  const byAvg = aggregate(losses(firstAvg), average(centres, counted), avgNoise);
  const isOne = facts.same || facts.pooled === false || shares.length === 1;
  const allLosses = isAlone
    ? Array.from(byAvg.centres)
    : facts.same
      ? losses(all)
      : pooledOf("all_centres", facts, inputs);
  const isDone = !isNear && !progress.doing && !progress.stopped && isScored.every((row) => row.every(Boolean));
  const allNoise = isAlone ? avgNoise : noiseOf(scene.generators, result.all_draws?.[name], noiseOfOne);
  const isUnknown = !isNear && allLosses.every(Number.isNaN);
  const byAll = isOne || isUnknown ? null : aggregate(losses(all), allLosses, allNoise);
  const isIntra = averageName(board, scene.generators) === "intra"; // of which the gap by numbers of rows is not known
  const about = aboutOf(facts, isScored, inputs);
  const found = verdictOf(byAvg, byAll, about, { isOne, isNear }, inputs);
  const isAllSaid = scene.generators.every((generator) => isPooledKnown(name, generator, isNear, result));
  const shown = {
    facts,
    values,
    centres,
    isScored,
    average: about.average,
    avg,
    all,
    plainAvg,
    counted,
    few,
    avgLosses: Array.from(byAvg.centres),
    allLosses,
    size: scene.generators.map((generator) => (isIntra ? NaN : read(result.size?.[name]?.[generator]))),
    isOne: isOne || (isUnknown && isAllSaid),
    isNear,
    isFar: isNear && all.every(Number.isNaN),
    isAllKnown: scene.generators.map(
      (generator, g) => isDone || isPooledKnown(facts.name, generator, isNear, result) || !Number.isNaN(all[g]),
    ),
    byAvg,
    byAll,
    errors: name === scene.metric ? { avg: errorsOf(avgNoise), all: errorsOf(allNoise) } : { avg: null, all: null },
    verdict:
      isNear || (!isOne && !byAll)
        ? { ...found, todo: "" }
        : withRecommendation(found, centres, board.few?.[name] ?? "", inputs, name),
  };
  // What not every frame of a drag shows.
  lazily(shown, "worst", () => worstsOf(facts, values, centres, counted));
  lazily(shown, "worstLosses", () => centres.map((row) => row[worstOf(row, counted)] ?? NaN));
  return /** @type {any} */ (shown);
}

/** The verdict, and what to do after it, where avg and all are known. @param {import("./verdict.js").Verdict} found @param {Float64Array[]} centres @param {string | string[]} few reasons by client @param {Inputs} inputs @param {string} metric */
function withRecommendation(found, centres, few, { board, scene, draws }, metric) {
  const noise = scene.generators.map((generator) => draws[metric]?.[generator]);
  const everyone = board.clients.map((_, i) => i);
  const counted = few ? everyone.filter((i) => !few[i]) : everyone;
  const which = counted.length ? counted : everyone;
  const names = once(board.clients, () => board.clients.map(({ name }) => inWords(name)));
  const columns = which.length < everyone.length ? centres.map((own) => which.map((i) => own[i])) : centres;
  const todo = recommendation(
    found,
    scene.generators.map(inWords),
    which.map((i) => names[i]),
    columns,
    (regret, g, best, place) =>
      noise.every(Boolean) && best >= 0 && isNoMoreThanChance(regret, noise[g], noise[best], which[place]),
  );
  const [headline, ...rest] = found.sentences;
  return { ...found, todo, sentences: [headline, ...(todo ? [todo] : []), ...rest] };
}

/** The verdict by what is known: where avg or all is not yet, by the other alone. @param {Aggregate} byAvg @param {Aggregate | null} byAll @param {import("./verdict.js").About} about @param {{isOne: boolean, isNear: boolean}} is @param {Inputs} inputs */
function verdictOf(byAvg, byAll, about, { isOne, isNear }, { scene }) {
  const names = scene.generators.map(inWords);
  const { label } = about;
  if (isOne) return verdict(names, byAvg, null, about);
  if (!byAll || isNear) {
    const named = verdict(names, byAvg, null, { ...about, label: `${label} ${about.average}` });
    const [headline, ...rest] = named.sentences;
    return isNear ? { ...named, sentences: [`${headline} ${NOT_FOR_THESE}`, ...rest] } : named;
  }
  if (Array.from(byAvg.centres).every(Number.isNaN))
    return verdict(names, byAll, null, { ...about, label: `${label} all` });
  return verdict(names, byAvg, byAll, about);
}

/**
 * λ of the clients that have rows enough, null where they hold too little of the weight.
 * @param {number[]} shares @param {string[] | undefined} few
 */
export function decidedShares(shares, few) {
  if (!few?.some(Boolean)) return shares;
  const kept = shares.map((share, i) => (few[i] ? 0 : share));
  const total = kept.reduce((sum, share) => sum + share, 0);
  return total >= MIN_WEIGHT_WITH_ROWS ? kept.map((share) => share / total) : null;
}

/** A name as a sentence has room for it. @param {string} name */
export function inWords(name) {
  return shortened(name, SENTENCE.room, SENTENCE.font);
}

/** Whether Python has said anything of all, under these weights or with slopes to them. @param {string} metric @param {string} generator @param {boolean} isNear @param {any} result */
function isPooledKnown(metric, generator, isNear, result) {
  const has = (/** @type {string} */ part) => (result[part]?.[metric]?.[generator] ?? null) !== null;
  return has("all") && (!isNear || has("slope"));
}

/** Of each generator on show its numbers, one a client. @param {Record<string, Written[]> | undefined} cells @param {Inputs} inputs */
function cellsOf(cells, { scene, shares }) {
  return scene.generators.map((generator) =>
    cells?.[generator] ? readRow(cells[generator]) : new Float64Array(shares.length).fill(NaN),
  );
}

/** Which of them are known by now. @param {Record<string, Written[]> | undefined} cells @param {Inputs} inputs */
function knownOf(cells, { scene, shares }) {
  return scene.generators.map((generator) => {
    const row = cells?.[generator];
    return row ? once(readRow(row), () => row.map((cell) => cell !== null)) : shares.map(() => false);
  });
}

/**
 * What Python said of all generators together, moved by slopes to the weights on show: NaN where those are far, and
 * where the sign would turn, as slopes know no bounds.
 * @param {"all" | "all_centres"} which @param {MetricFacts} facts @param {Inputs} inputs
 */
function pooledOf(which, { name, best, higher }, { scene, moved, result }) {
  const sign = which === "all_centres" && higher && best === null ? -1 : 1;
  const apart = moved ? moved.reduce((sum, by) => sum + Math.abs(by), 0) / 2 : 0; // total variation
  return scene.generators.map((generator) => {
    const value = read(result[which]?.[name]?.[generator]);
    if (!moved) return value;
    const slope = result.slope?.[name]?.[generator];
    if (!slope || apart > MAX_WEIGHT_MOVED) return NaN;
    const by = readRow(slope);
    let sum = 0;
    for (let i = 0; i < by.length; i++) if (moved[i]) sum += moved[i] * by[i];
    const guess = value + sign * sum;
    return guess * value < 0 ? NaN : guess;
  });
}

/** How far λ is from what Python answered for last; null where it is that. @param {number[]} shares @param {any} result */
function movedFrom(shares, { weights }) {
  const moved = shares.map((share, i) => share - (weights?.[i] ?? share));
  return moved.some((by) => Math.abs(by) > 1e-12) ? moved : null;
}

/** @param {string[]} generators @param {Record<string, PackedDraws> | undefined} packed @param {(packed: PackedDraws) => Float64Array} make @returns {Float64Array[] | null} */
function noiseOf(generators, packed, make) {
  if (!packed) return null;
  const rows = generators.map((generator) => (packed[generator] ? make(packed[generator]) : null));
  const count = rows.find((noise) => noise)?.length;
  return count === undefined ? null : rows.map((noise) => noise ?? new Float64Array(count).fill(NaN));
}

/** Standard errors by the noise, null where none is known. @param {Float64Array[] | null} noise */
function errorsOf(noise) {
  return noise?.map((draws) => once(draws, () => deviation(draws))) ?? null;
}

/** What the verdict has to know beside losses. @param {MetricFacts} facts @param {boolean[][]} isScored @param {Inputs} inputs @returns {import("./verdict.js").About} */
function aboutOf(
  { name, label, same, corrected, distance, sure, why },
  isScored,
  { board, progress, scene, shares, result },
) {
  const few = board.few?.[name];
  const left = () => board.clients.filter((_, i) => few?.[i]).map((client) => inWords(client.name));
  const p = read(result.p);
  return {
    label,
    same,
    corrected,
    clients: shares.length,
    scored: shares.filter((_, i) => isScored.every((row) => row[i])).length,
    enough: few && sure ? few.filter((reason) => !reason).length : null,
    why: why || result.why?.[name] || few?.find(Boolean) || "it is still being computed",
    p: Number.isNaN(p) ? null : p,
    few: few ? once(few, left) : [],
    distance,
    average: averageName(board, scene.generators),
    testing: (Boolean(progress.doing) || result.tested === false) && !progress.stopped,
  };
}

/**
 * The client that a generator serves worst, -1 where one that counts has no score.
 * @param {Float64Array} losses @param {number[]} shares
 */
function worstOf(losses, shares) {
  const counted = shares.map((_, i) => i).filter((i) => shares[i] > 0);
  if (!counted.length || counted.some((i) => Number.isNaN(losses[i]))) return -1;
  return counted[lowest(counted.map((i) => -losses[i]))];
}

/** Where it is by the centres, and by the plain scores. @param {MetricFacts} facts @param {Float64Array[]} values @param {Float64Array[]} centres @param {number[]} shares */
function worstsOf(facts, values, centres, shares) {
  const at = (/** @type {ArrayLike<number>} */ row, /** @type {number} */ client) => (client < 0 ? NaN : row[client]);
  return values.map((row, g) => {
    const own = worstOf(
      row.map((value) => lossOf(facts, value)),
      shares,
    );
    const plain = { value: at(row, own), client: own };
    if (!facts.corrected) return { ...plain, plain };
    const client = worstOf(centres[g], shares);
    return { value: scoreOf(facts, at(centres[g], client)), client, plain };
  });
}

/**
 * The noise of aggregates, from Python's draws. In a drag of one weight the others keep their proportions: then it is
 * that of where the drag began, made smaller or larger, and what the one client changes. No DOM.
 *
 *
 * @typedef {{weights: ArrayLike<number>, noise: Float64Array}} Anchor  noise that was added up in full
 * @typedef {{share: number, clients: number[], by: number[]}} Change  weights = share · those before + by, of the clients
 */

// Of the clients: where more than these leave the proportions, all is added up anew.
const MAX_CHANGED_SHARE = 0.1;
// Of a weight: what is closer is rounding. It must not grow by more than this.
const WEIGHT_ROUNDING = 1e-14;
const MAX_GROWTH = 100;

/** @type {WeakMap<PackedDraws, Anchor>} */
const anchors = new WeakMap();

/** The noise of one generator's average: `averageNoise`, to rounding. @param {PackedDraws} packed @param {ArrayLike<number>} weights @returns {Float64Array} */
export function noiseUnder(packed, weights) {
  const drawn = drawsOf(packed);
  const anchor = anchors.get(packed);
  const change = anchor && !Number.isNaN(anchor.noise[0]) ? changeBetween(anchor.weights, weights) : null;
  if (anchor && change) return moveNoise(anchor.noise, drawn, change);
  const noise = averageNoise(drawn.draws, drawn.scale, weights);
  anchors.set(packed, { weights, noise });
  return noise;
}

/** Noise that depends on no weights of the page. @param {PackedDraws} packed of one column */
export function noiseOfOne(packed) {
  const { draws, scale } = drawsOf(packed);
  return once(draws, () => Float64Array.from(draws, (draw) => draw * scale[0]));
}

/** @param {Float64Array} noise @param {Drawn} drawn @param {Change} change */
function moveNoise(noise, { draws, scale }, { share, clients, by }) {
  const k = scale.length;
  const sums = new Float64Array(noise.length);
  for (let b = 0; b < sums.length; b++) sums[b] = share * noise[b];
  clients.forEach((i, n) => {
    const unit = by[n] * scale[i];
    for (let b = 0, at = i; b < sums.length; b++, at += k) sums[b] += unit * draws[at];
  });
  return sums;
}

/** The last one: all generators ask for the same. @type {{from: ArrayLike<number>, to: ArrayLike<number>, change: Change | null}} */
let last = { from: [], to: [], change: null };

/** @param {ArrayLike<number>} from @param {ArrayLike<number>} to */
function changeBetween(from, to) {
  if (last.from !== from || last.to !== to) last = { from, to, change: changeOf(from, to) };
  return last.change;
}

/** Null where it is not short. @param {ArrayLike<number>} from @param {ArrayLike<number>} to @returns {Change | null} */
export function changeOf(from, to) {
  const everyone = Array.from(to, (_, i) => i);
  const ratios = Float64Array.from(everyone.filter((i) => from[i] > 0).map((i) => to[i] / from[i])).sort();
  const share = ratios[ratios.length >> 1] ?? Infinity;
  if (share > MAX_GROWTH) return null;
  const clients = everyone.filter((i) => Math.abs(to[i] - share * from[i]) > WEIGHT_ROUNDING * to[i]);
  return clients.length > MAX_CHANGED_SHARE * to.length
    ? null
    : { share, clients, by: clients.map((i) => to[i] - share * from[i]) };
}
