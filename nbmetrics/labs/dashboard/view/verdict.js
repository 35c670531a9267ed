/**
 * Twin: labs/dashboard/verdict.py · held by: tests/labs/dashboard/test_verdict_page.py
 *
 * The verdict on one metric, in words, in every frame of a drag. No DOM. What the rules are for stands in Python.
 *
 * @import { Noise, Ranges } from "./place_ranges.js"
 */
import { lowest, orderOf, sameScores } from "../../toolkit/view/ties.js";
import { deviation, firstOf, inErrors, leaders, leads, upperTail } from "./place_ranges.js";

/**
 * @typedef {{plain: ArrayLike<number>, centres: ArrayLike<number>, noise: Noise | null, ranges: Ranges}} Aggregate
 *   the generators by avg, or by all, as losses: lower is better
 * @typedef {{label: string, same?: boolean, corrected?: boolean, clients?: number, scored?: number, enough?: number | null,
 *   p?: number | null, why?: string, few?: string[], distance?: boolean, testing?: boolean, average?: string}} About  as in Python, with its defaults
 * @typedef {Required<About>} Context
 * @typedef {{state: "winner" | "tie" | "size" | "unknown" | "testing", avg: string[], all: string[], sentences: string[]}} Verdict
 */

const SIGNIFICANCE_LEVEL = 0.05;
const [MAX_NAMES_LISTED, NAMES_LISTED_OF_MORE] = [5, 3];
const SURE_ERRORS = 3.29;
const DEFAULTS = {
  same: false,
  corrected: false,
  clients: 0,
  scored: 0,
  enough: null,
  p: null,
  few: [],
  distance: false,
  testing: false,
  average: "avg",
};

/** Losses with the places that follow from them. @param {ArrayLike<number>} plain @param {ArrayLike<number>} centres @param {Noise | null} noise @returns {Aggregate} */
export function aggregate(plain, centres, noise) {
  return { plain, centres, noise, ranges: leads(centres, noise) };
}

/** What can be said of who is best; `pooled` is null where there is one list of leaders. @param {string[]} names @param {Aggregate} avg @param {Aggregate | null} pooled @param {About} context @returns {Verdict} */
export function verdict(names, avg, pooled, context) {
  const about = { ...DEFAULTS, why: "no intervals were computed", ...context };
  const sides = pooled ? [avg, pooled] : [avg];
  const placed = names.map((_, g) => g).filter((g) => sides.every(({ centres }) => !Number.isNaN(centres[g])));
  const under = below(names, sides, about);
  if (placed.length < 2) {
    const body = alone(
      placed.map((g) => names[g]),
      names.length,
      about.label,
      missingAggregate(sides, about),
    );
    return verdictOf(
      "unknown",
      names,
      sides.map(() => placed),
      [body, ...under],
      about,
    );
  }
  const sure = placed.filter((g) => !sides.some((side) => isUnsure(side, g)));
  const areKnown = sure.length >= 2 && sides.every(isKnown);
  const hasTest = !pooled || !isOfClients(about) || isTested(about.p);
  if (about.testing && !(areKnown && (hasTest || isExact(sides)))) {
    const winners = sides.map(({ plain }) => firstOf(plain));
    const body = `on ${about.label}, ${firsts(names, winners, about)} so far; testing whether that is chance …`;
    return verdictOf("testing", names, winners, [body, ...withoutScore(names, placed)], about);
  }
  if (!areKnown) {
    const winners = sides.map(({ plain }) => firstOf(plain));
    const body = `on ${about.label}, ${firsts(names, winners, about)}; this may be chance: ${about.why}.`;
    return verdictOf("unknown", names, winners, [body, ...withoutScore(names, placed), ...under], about);
  }
  const winners = sides.map(({ ranges, centres }) => leaders(ranges, centres).filter((g) => sure.includes(g)));
  const { state, body } = stateAndHeadline(names, sides, winners, about, sure.length);
  const more = [
    ...pValues(names, sides, sure, about),
    ...winnersWithoutCorrection(names, sides, winners, about, state),
  ];
  const unsure = placed.filter((g) => !sure.includes(g));
  const lost = [...leftOut(names, unsure), ...withoutScore(names, placed)];
  return verdictOf(state, names, winners, [body, ...more, ...checks(sides, about), ...lost, ...under], about);
}

/** The state and its headline. @param {string[]} names @param {Aggregate[]} sides @param {number[][]} winners @param {Context} about @param {number} size @returns {{state: Verdict["state"], body: string}} */
function stateAndHeadline(names, sides, winners, about, size) {
  const on = `on ${about.label}, `;
  const [last, tops] = [winners.length - 1, sides.map(({ plain }) => firstOf(plain))];
  const areShown = isExact(sides) || !isOfClients(about) || doDiffer(about.p);
  if (!isShared(winners[0], winners[last]) && areShown) {
    const more = "Chance and sample size do not explain this";
    return {
      state: "winner",
      body: `${on}${about.average} and all disagree: ${each(names, winners, about)}. ${more}.`,
    };
  }
  if (!isShared(tops[0], tops[last])) {
    const fix = about.corrected ? "Corrected for few rows" : "Allowing for chance";
    const body = `${on}${firsts(names, tops, about)}, ${sampleSizeClause(about)}. ${fix}, ${correctedLeaders(names, winners, about)}.`;
    return { state: "size", body };
  }
  const by = last > 0 ? `, by ${about.average} and by all` : "";
  const always = about.same ? `; ${about.average} and all always agree` : "";
  if (!isSame(winners[0], winners[last])) {
    const byBoth = winners[0].filter((g) => winners[last].includes(g));
    const doubt = byBoth.length ? "" : ", which may be chance";
    const best = `only ${names[byBoth[0]]} is among the best by ${about.average} and by all`;
    const head = byBoth.length === 1 ? best : "there is no single winner";
    return { state: "tie", body: `${on}${head}: ${each(names, winners, about)}${doubt}.` };
  }
  const [who, count] = [listed(names, winners[0]), winners[0].length];
  if (count === 1) return { state: "winner", body: `${on}${who} wins${by}${always}.` };
  if (count === 2) return { state: "tie", body: `${on}${who} are tied${by}${always}.` };
  const tie = count === size ? `all ${size} generators are tied` : `there is a tie of ${count}`;
  return { state: "tie", body: `${on}${tie}${by}: ${who}${always}.` };
}

/** @param {Verdict["state"]} state @param {string[]} names @param {number[][]} winners @param {string[]} sentences @param {Context} about @returns {Verdict} */
function verdictOf(state, names, winners, [body, ...rest], { scored, clients }) {
  const headline =
    scored < clients ? `So far, ${scored} of ${clients} clients: ${body}` : body[0].toUpperCase() + body.slice(1);
  const [avg, all] = [winners[0], winners[winners.length - 1]].map((one) => one.map((g) => names[g]));
  return { state, avg, all, sentences: [headline, ...rest] };
}

/** " by all" where no generator has a score by all and some have one by avg, or the reverse. @param {Aggregate[]} sides @param {Context} about */
function missingAggregate(sides, { average }) {
  const missing = [average, "all"].filter((_, i) => sides[i] && Array.from(sides[i].centres).every(Number.isNaN));
  return missing.length === 1 && sides.length === 2 ? ` by ${missing[0]}` : "";
}

/** @param {string[]} placed @param {number} size @param {string} label @param {string} missing */
function alone(placed, size, label, missing) {
  if (!placed.length) return `on ${label}, no generator has a score${missing}.`;
  if (size === 1) return `only one generator, ${placed[0]}: there is nothing to compare on ${label}.`;
  return `only one generator, ${placed[0]}, has a score on ${label}.`;
}

/** Whether there are draws of the one in front, so that it can be told from anyone. @param {Aggregate} side */
function isKnown({ centres, noise, ranges }) {
  return noise?.[leaders(ranges, centres)[0]].every(Number.isFinite) ?? false;
}

/** Whether nothing was drawn: neither noise nor bias. @param {Aggregate[]} sides */
function isExact(sides) {
  const isClose = (/** @type {number} */ a, /** @type {number} */ b) => Object.is(a, b) || sameScores(a, b);
  return sides.every(
    ({ plain, centres, noise }) =>
      noise?.every((draws) => draws.every((value) => value === 0)) &&
      Array.from(plain, (value, g) => isClose(value, centres[g])).every(Boolean),
  );
}

/** @param {number[]} first @param {number[]} second */
const isShared = (first, second) => first.some((g) => second.includes(g));

/** @param {number[]} first @param {number[]} second */
const isSame = (first, second) => first.length === second.length && first.every((g) => second.includes(g));

/** @param {number | null} p @returns {p is number} */
const isTested = (p) => p !== null && !Number.isNaN(p);

/** @param {number | null} p */
const doDiffer = (p) => isTested(p) && p <= SIGNIFICANCE_LEVEL;

/** Whether avg and all differ by more than chance only if the clients do, so that p decides; of intra and all the intervals do. @param {Context} about */
const isOfClients = ({ average }) => average === "avg";

/** How far sample size accounts for two orders. @param {Context} about */
function sampleSizeClause(about) {
  const { p } = about;
  if (!isOfClients(about)) return "which sample size may explain";
  if (!isTested(p)) return "which sample size may explain (not tested)";
  return doDiffer(p) ? "which sample size may still explain" : "which sample size alone can explain";
}

/** All names, or the first of many and how many more. @param {string[]} names @param {number[]} which @param {number} [mostNamed] */
export function listed(names, which, mostNamed = MAX_NAMES_LISTED) {
  const listed = which.map((g) => names[g]);
  const many = listed.length > mostNamed;
  const most = many ? listed.slice(0, NAMES_LISTED_OF_MORE) : listed.slice(0, -1);
  const last = many ? `${listed.length - NAMES_LISTED_OF_MORE} more` : listed[listed.length - 1];
  return most.length ? `${most.join(", ")} and ${last}` : last;
}

/** Who is first by the plain scores, in one clause where both aggregates agree. @param {string[]} names @param {number[][]} winners @param {Context} about */
function firsts(names, winners, { average }) {
  const said = `${listed(names, winners[0])} ${winners[0].length === 1 ? "is" : "are"} first`;
  if (winners.length === 1) return said;
  return isSame(winners[0], winners[1])
    ? `${said} by ${average} and by all`
    : `${said} by ${average} and ${listed(names, winners[1])} by all`;
}

/** @param {string[]} names @param {number[]} which */
const wins = (names, which) => `${listed(names, which)} ${which.length === 1 ? "wins" : "are tied"}`;

/** Who leads by each aggregate. @param {string[]} names @param {number[][]} winners @param {Context} about */
function each(names, [avg, all], { average }) {
  if (avg.length === 1 && all.length === 1) return `${names[avg[0]]} wins by ${average}, ${names[all[0]]} by all`;
  return `${wins(names, avg)} by ${average}; ${wins(names, all)} by all`;
}

/** @param {string[]} names @param {number[][]} winners @param {Context} about */
function correctedLeaders(names, winners, about) {
  return isSame(winners[0], winners[winners.length - 1]) ? wins(names, winners[0]) : each(names, winners, about);
}

/** How easily chance puts the leader before its closest rival: once where both aggregates name one pair. @param {string[]} names @param {Aggregate[]} sides @param {number[]} placed @param {Context} about */
function pValues(names, sides, placed, about) {
  if (isExact(sides)) return ["These scores are exact: nothing was sampled, so chance plays no part."];
  const closest = sides.map((side) => closestOf(side, placed));
  const [first, last] = [closest[0], closest[closest.length - 1]];
  const tied = sides.map(({ ranges }, side) => !ranges.better[closest[side].leader][closest[side].rival]);
  if (first.leader === last.leader && first.rival === last.rival) {
    const p = Math.max(first.p, last.p);
    return [ahead(names, { ...first, p }, "", takenAlone(p, tied.includes(true), placed.length))];
  }
  return closest.map((one, side) =>
    ahead(names, one, ` by ${byOf(about)[side]}`, takenAlone(one.p, tied[side], placed.length)),
  );
}

/** The names of the two aggregates. @param {Context} about */
const byOf = ({ average }) => [average, "all"];

/** Why a small p-value is no separation. @param {number} p @param {boolean} isTied @param {number} size */
function takenAlone(p, isTied, size) {
  if (!isTied || !(p < SIGNIFICANCE_LEVEL) || size < 3) return "";
  return ` (not small enough for ${(size * (size - 1)) / 2} pairs compared at once)`;
}

/** The leader, the rival that is fewest standard errors behind it, and the p-value of their order. @param {Aggregate} side @param {number[]} placed */
function closestOf({ centres, ranges }, placed) {
  const [leader] = leaders(ranges, centres);
  const rivals = orderOf(centres).filter((g) => g !== leader && placed.includes(g));
  const awayOf = (/** @type {number} */ g) => inErrors(centres, leader, g, ranges.errors?.[leader][g] ?? NaN);
  const away = rivals.map(awayOf);
  const rival = rivals[lowest(away.map((value) => (Number.isNaN(value) ? Infinity : value)))];
  return { leader, rival, p: upperTail(awayOf(rival)) };
}

/** @param {string[]} names @param {{leader: number, rival: number, p: number}} pair @param {string} by @param {string} more */
function ahead(names, { leader, rival, p }, by, more) {
  if (Number.isNaN(p)) return `No p-value for ${names[leader]} over ${names[rival]}${by}.`;
  if (p === 0.5) return `${names[leader]} and ${names[rival]} score the same${by}.`;
  return `${names[leader]} is ahead of ${names[rival]}${by}: one-sided ${pText(p)}, unadjusted${more}.`;
}

/** Where the table shows another generator first than the verdict does. @param {string[]} names @param {Aggregate[]} sides @param {number[][]} winners @param {Context} about @param {Verdict["state"]} state */
function winnersWithoutCorrection(names, sides, winners, about, state) {
  if (state === "size" || !about.corrected) return [];
  /** @type {Map<string, string[]>} */
  const said = new Map();
  sides.forEach(({ plain }, side) => {
    const top = firstOf(plain);
    if (isShared(top, winners[side])) return;
    const who = `${listed(names, top)} would be first`;
    said.set(who, [...(said.get(who) ?? []), sides.length > 1 ? `by ${byOf(about)[side]}` : ""]);
  });
  return [...said].map(
    ([who, by]) => `${`Without the correction for few rows, ${who} ${by.join(" and ")}`.trimEnd()}.`,
  );
}

/** What was looked at, well or ill, so that silence is never good news. @param {Aggregate[]} sides @param {Context} about */
function checks(sides, about) {
  const { p, enough, clients, few, average } = about;
  const said = [];
  if (sides.length > 1 && isOfClients(about) && !isExact(sides)) {
    const how = doDiffer(p) ? "differ" : "are not shown to differ";
    const text = isTested(p) ? `Checked: the clients ${how} by more than chance (${pText(p)}).` : "";
    said.push(text || "Not tested: whether the clients differ by more than chance.");
  }
  if (enough === null) return said;
  const rows = enough < clients ? "Enough rows for an interval at only" : "Checked: enough rows for an interval at";
  const whose = sides.length > 1 ? `${average} leaves out` : "without";
  const left = few.length ? `: ${whose} ${listed(few, [...few.keys()], NAMES_LISTED_OF_MORE)}` : "";
  return [...said, `${rows} ${enough} of ${clients} clients${left}.`];
}

/** Who scores better than a perfect generator by more than chance, as one does that has seen the clients' rows. @param {string[]} names @param {Aggregate[]} sides @param {Context} about */
function below(names, sides, { label, distance }) {
  const { centres, noise } = sides[sides.length - 1];
  if (!distance || !noise) return [];
  const which = names
    .map((_, g) => g)
    .filter((g) => centres[g] < 0 && centres[g] + SURE_ERRORS * deviation(noise[g]) < 0);
  if (!which.length) return [];
  const said = `${label}${sides.length > 1 ? " all" : ""} of ${listed(names, which)} is below 0 by more than chance`;
  const they = which.length === 1 ? "it was" : "they were";
  return [`${said}, perhaps because ${they} fitted to these same rows. AuthPct and C_T are scores that notice copies.`];
}

/** A p-value as read: "p = 0.12". @param {number} p */
export function pText(p) {
  if (p < 0.0005) return "p < 0.001";
  const places = p < 0.1 ? 1000 : 100;
  return `p = ${Math.floor(p * places + 0.5) / places}`;
}

/** @param {string[]} names @param {number[]} placed */
function withoutScore(names, placed) {
  const without = names.map((_, g) => g).filter((g) => !placed.includes(g));
  return without.length ? [`No score for ${listed(names, without)}.`] : [];
}

/** A share from 0 to 1 in percent: one decimal below 10, none above. @param {number} share */
export function percent(share) {
  if (share > 0 && share < 0.0005) return "less than 0.1\u00a0%";
  const tenths = Math.floor(1000 * share + 0.5);
  return `${tenths < 100 ? tenths / 10 : Math.floor(100 * share + 0.5)}\u00a0%`;
}

/** Whether the noise of one generator is not known. @param {Aggregate} side @param {number} g */
function isUnsure({ noise }, g) {
  if (!noise) return true;
  const draws = noise[g];
  for (let d = 0; d < draws.length; d++) if (Number.isNaN(draws[d])) return true; // three times as fast as some()
  return false;
}

/** Who is behind the leaders by numbers without an interval. @param {string[]} names @param {number[]} unsure */
function leftOut(names, unsure) {
  return unsure.length ? [`No interval for ${listed(names, unsure)}: not compared.`] : [];
}
