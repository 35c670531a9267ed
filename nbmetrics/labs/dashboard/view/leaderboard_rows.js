/**
 * What the leaderboard says: its rows, the table of all its numbers, and what its lines mean. No DOM.
 *
 * @import { Numbers, Scene, Shown } from "./types.js"
 * @import { Ranges } from "./place_ranges.js"
 */
import { shownNumber } from "../../toolkit/view/numbers.js";
import { inWords, scoreOf } from "./metric_view.js";
import { leastOf, placesOf, placeTexts, rangeText, sortByLoss } from "./place_ranges.js";
import { listed, percent } from "./verdict.js";

/**
 * @typedef {{name: "avg" | "all", label: string, plain: number[], centres: number[], errors: number[] | null, ranges: Ranges}} Part  one
 *   of the two aggregates: its scores, and as losses what decisions use
 * @typedef {{text: string, small: string, value?: number, isOld?: boolean, isFar?: boolean,
 *   title?: string}} Cell  old where Python will say
 *   another, far where it alone can say one
 * @typedef {Record<"avgPlace" | "avg" | "allPlace" | "all" | "gap" | "worst", Cell>} Cells
 * @typedef {{g: number, name: string, isChosen: boolean, cells: Cells}} Row
 */

const INTERVAL_ERRORS = 1.959964;
const DIGITS = 6;
const NOT_YET = { text: "…", small: "", value: NaN, isOld: true };
const NO_GAP = { text: "–", small: "", value: NaN, isOld: false };
const TOO_FAR = { text: "–", small: "", value: NaN, isOld: true, isFar: true };

/** @param {Shown} shown @returns {Part[]} */
export function partsOf({ average, plainAvg, all, avgLosses, allLosses, errors, byAvg, byAll }) {
  return [
    { name: "avg", label: average, plain: plainAvg, centres: avgLosses, errors: errors.avg, ranges: byAvg.ranges },
    { name: "all", label: "all", plain: all, centres: allLosses, errors: errors.all, ranges: (byAll ?? byAvg).ranges },
  ];
}

/** @param {Scene} scene @param {Numbers} numbers @param {Shown} shown @returns {Row[]} best first */
export function rowsOf({ generators, generator, by }, numbers, shown) {
  const parts = partsOf(shown);
  const losses = {
    avg: shown.avgLosses,
    all: shown.byAll && !shown.allLosses.every(Number.isNaN) ? shown.allLosses : shown.avgLosses,
    get worst() {
      return shown.worstLosses;
    },
  };
  const places = parts.map(({ centres }, k) => placesOf(k && !shown.byAll ? parts[0].centres : centres));
  return sortByLoss(losses[by]).map((g) => ({
    g,
    name: generators[g],
    isChosen: generators[g] === generator,
    cells: cellsOf(g, numbers, shown, parts, places),
  }));
}

/** @param {number} g @param {Numbers} numbers @param {Shown} shown @param {Part[]} parts @param {number[][]} places @returns {Cells} */
function cellsOf(g, { clients }, shown, parts, places) {
  const { average, facts, isScored, few, isNear, isAllKnown } = shown;
  const count = isScored[g].filter(Boolean).length;
  const isWhole = count === clients.length;
  const near = isNear ? "≈\u00a0" : "";
  const [avg, all] = parts.map(({ centres }) => scoreOf(facts, centres[g]));
  const [plainAvg, plainAll] = parts.map(({ plain }) => plain[g]);
  const [avgPlace, allPlace] = parts.map(({ ranges }, k) => {
    const [text, small] = placeTexts(places[k][g], ranges.low[g], ranges.high[g]);
    return { text, small };
  });
  /** @param {number} value @param {number} plain @param {string} [sign] */
  const number = (value, plain, sign = "") => ({
    text: sign + scoreText(value),
    small: facts.corrected ? `plain ${scoreText(plain)}` : "",
    value,
    isOld: sign !== "",
  });
  const hasAvg = isWhole || !Number.isNaN(avg);
  const isFar = isNear && Number.isNaN(all);
  return {
    avgPlace,
    avg: hasAvg
      ? number(avg, plainAvg)
      : { text: `${count} of ${clients.length} clients`, small: "", value: NaN, isOld: true },
    allPlace,
    all: isFar ? TOO_FAR : isAllKnown[g] ? number(all, plainAll, near) : NOT_YET,
    gap: few.length
      ? { ...NO_GAP, title: `${average} leaves out clients that all includes` }
      : isFar
        ? TOO_FAR
        : isAllKnown[g] && hasAvg
          ? number(avg - all, plainAvg - plainAll, near)
          : NOT_YET,
    get worst() {
      if (!isWhole) return NOT_YET;
      const { value, client } = shown.worst[g];
      return { text: scoreText(value), small: clients[client]?.name ?? "", value };
    },
  };
}

/** What to look for on the first level. @param {Shown} shown */
export function hintOf({ average, facts, few, isScored }) {
  const isIntra = average === "intra";
  if (facts.pooled === false) return isIntra ? `No all: ${facts.label} cannot weight rows.` : "";
  const count = isScored[0]?.length ?? 0;
  const clients = few.length ? `the ${count - few.length} of ${count} clients with enough rows` : "clients";
  return `${average}: mean over ${clients}${isIntra ? ", each with its own output" : ""}. all: clients pooled.`;
}

/** The client that is worst off with the winner by avg. @param {Scene} scene @param {Numbers} numbers @param {Shown} shown */
export function worstWords({ generators }, { clients }, { avgLosses, worst }) {
  const g = leastOf(avgLosses);
  const client = clients[worst[g]?.client];
  return client
    ? `Worst client: ${inWords(client.name)} (${scoreText(worst[g].value)}) with ${inWords(generators[g])}.`
    : "";
}

/** A score, or what stands for one that is none. @param {number} value */
export function scoreText(value) {
  if (Number.isNaN(value)) return "NaN";
  if (Math.abs(value) === Infinity) return value > 0 ? "∞" : "−∞";
  return shownNumber(value);
}

/** What the lines beside the dots mean. @param {Numbers} numbers @param {Shown} shown @param {string[]} logs aggregates on a logarithmic scale */
export function legendOf(numbers, { average, facts, errors, byAll, few }, logs) {
  const exact = errors.avg?.every((error) => error === 0);
  const lines = exact
    ? "Exact scores: nothing was sampled, so there are no intervals."
    : "Line: 95 % interval of the score. Bar: 95 % interval of the difference to the leader, for all pairs at once; a bar clear of the leader’s tick is more than chance.";
  return [
    facts.higher ? "Higher is better." : "Lower is better.",
    errors.avg ? lines : "No intervals: places may be chance.",
    "2 (1–4): second by score, first to fourth when chance is allowed for.",
    few.length ? leftOut(numbers, few, average) : "",
    facts.corrected ? "Scores are corrected for few rows; “plain” marks uncorrected ones." : "",
    facts.same && !byAll ? `${average} and all always agree: they differ by the same number for every generator.` : "",
    average === "intra" ? "How much of intra − all comes from numbers of rows is not known." : "",
    logs.length ? `Dots of ${logs.join(" and ")} are on a logarithmic scale.` : "",
  ]
    .filter(Boolean)
    .join(" ");
}

/** Who does not count by avg, and for how much they would. @param {Numbers} numbers @param {number[]} few @param {string} average */
function leftOut({ clients, shares }, few, average) {
  const names = few.map((i, k) => `${inWords(clients[i].name)} (${clients[i].rows}${k ? "" : " rows"})`);
  const share = few.reduce((sum, i) => sum + shares[i], 0);
  return `${average} and worst client leave out ${listed(names, [...names.keys()])}, ${percent(share)} of the weight: too few rows.`;
}

/** What average − all is called. @param {{average: string}} shown */
export function gapName({ average }) {
  return average === "intra" ? "intra − all" : "gap";
}

/** @param {number} value */
function exactly(value) {
  return Number.isFinite(value) ? String(Number(value.toPrecision(DIGITS))).replace("-", "−") : scoreText(value);
}

/** All numbers behind the pictures. @param {Scene} scene @param {Numbers} numbers @param {Shown} shown @returns {{heads: string[], rows: string[][]}} */
export function plainTable({ generators }, { clients }, shown) {
  const { facts, size, worst } = shown;
  const parts = partsOf(shown);
  const isSized = size.some((gap) => !Number.isNaN(gap));
  const sizes = {
    heads: isSized ? ["gap by size"] : [],
    of: (/** @type {number} */ g) => (isSized ? [exactly(size[g])] : []),
  };
  const headsOf = (/** @type {string} */ name) => [
    `places by ${name}`,
    name,
    ...(facts.corrected ? [`plain ${name}`] : []),
    `${name} 95 % from`,
    "to",
  ];
  const heads = [
    "Generator",
    ...parts.flatMap(({ label }) => headsOf(label)),
    gapName(shown),
    ...sizes.heads,
    "worst",
    "of client",
  ];
  const rows = generators.map((generator, g) => {
    const own = parts.map(({ centres }) => scoreOf(facts, centres[g]));
    const cells = parts.flatMap(({ plain, errors, ranges }, k) => {
      const ends = [-1, 1].map((sign) => (errors ? own[k] + sign * INTERVAL_ERRORS * errors[g] : NaN));
      const shownPlain = facts.corrected ? [exactly(plain[g])] : [];
      return [rangeText(ranges.low[g], ranges.high[g]), exactly(own[k]), ...shownPlain, ...ends.map(exactly)];
    });
    const client = clients[worst[g].client]?.name ?? "–";
    return [
      generator,
      ...cells,
      shown.few.length ? "–" : exactly(own[0] - own[1]),
      ...sizes.of(g),
      exactly(worst[g].value),
      client,
    ];
  });
  return { heads, rows };
}

/** The few columns that a picture has room for. @param {Scene} scene @param {Shown} shown @returns {string[][]} the heads first */
export function savedTable({ generators }, shown) {
  const { facts, byAll } = shown;
  const parts = partsOf(shown).slice(0, byAll || facts.same ? 2 : 1);
  const heads = parts.flatMap(({ label }) => [label, ...(facts.corrected ? [`plain ${label}`] : [])]);
  const rows = sortByLoss(shown.avgLosses).map((g) => {
    const own = parts.map(({ centres }) => scoreText(scoreOf(facts, centres[g])));
    const cells = parts.flatMap(({ plain }, k) => [own[k], ...(facts.corrected ? [scoreText(plain[g])] : [])]);
    return [generators[g], ...cells];
  });
  return [["Generator", ...heads], ...rows];
}
