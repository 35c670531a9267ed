/**
 * Twin: evaluation/sentences.py · held by: tests/labs/playground/test_score_table_page.py
 *
 * The Scores table and what it means in words.
 *
 * @import { Aggregates, Numbers, Scene } from "../../toolkit/view/types.js"
 * @import { Part, PlaygroundStore } from "./store.js"
 */
import { hasOwners } from "../../plane/view/edits.js";
import { isLower, placesOf } from "../../plane/view/scores.js";
import { el, scroller, setAttributes, setText } from "../../toolkit/view/dom.js";
import { markOf, setHue } from "../../toolkit/view/marks.js";
import { figure, ordinal } from "../../toolkit/view/numbers.js";
import { isTie } from "../../toolkit/view/ties.js";
import { CHARTED, chartedOf } from "./metrics.js";

/** @typedef {{metric: string, label: string, higher: boolean, numbers: Aggregates | null, isCurrent: boolean}} Column */
/** @param {Scene} scene @returns {Part[]} intra only where a generator has an ellipse for each client */
const partsOf = (scene) => (hasOwners(scene) ? ["intra", "avg", "all"] : ["avg", "all"]);

export class Board {
  /** @param {PlaygroundStore} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.signal = signal;
    this.head = el("tr");
    this.body = el("tbody");
    this.shownHeads = "";
    /** @type {Part[]} */
    this.parts = [];
    this.table = el("table", { class: "nbm-scores", "aria-label": "Scores" }, [
      el("thead", {}, [this.head]),
      this.body,
    ]);
    this.words = el("ul", { class: "nbm-words" });
    this.root = el("div", { class: "nbm-board" }, [
      scroller("Scores", this.table, signal),
      this.words,
      el("p", { class: "nbm-note" }, [
        "Lower is better for FID and KID. " +
          "Coordinates are used as they are, so FID is the plain Fréchet distance here: no Inception network.",
      ]),
    ]);
  }

  /** FID and KID, and the charted metric where it is another one. @param {Numbers} numbers @returns {Column[]} */
  columns(numbers) {
    const always = ["fid", "kid"].map((metric) => ({
      metric,
      ...CHARTED[metric],
      numbers: numbers[metric] ?? null,
      isCurrent: true,
    }));
    const charted = chartedOf(this.store);
    return charted.metric in { fid: 1, kid: 1 } ? always : [...always, charted];
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paint(scene, numbers) {
    setAttributes(this.table, { "data-rev": scene.rev });
    const columns = this.columns(numbers);
    this.parts = partsOf(scene);
    this.keepHeads(columns);
    const names = scene.generators.map((g) => g.name);
    while (this.body.rows.length > names.length) this.body.deleteRow(-1);
    while (this.body.rows.length < names.length) this.body.append(this.makeRow(this.body.rows.length, columns.length));
    const ranked = columns.map((column) => ({ ...column, numbers: canRank(column.numbers) ? column.numbers : null }));
    const places = ranked.map(({ numbers, higher }) =>
      this.parts.map((part) => (numbers?.[part] ? placesOf(numbers[part], higher, numbers.terms) : [])),
    );
    names.forEach((name, g) => this.paintRow(g, name, columns, places));
    const lines = ranked.flatMap(({ label, numbers, higher }) =>
      numbers ? sentences(label, numbers, names, higher) : [],
    );
    while (this.words.children.length > lines.length) this.words.lastElementChild?.remove();
    while (this.words.children.length < lines.length) this.words.append(el("li"));
    lines.forEach(({ text, differs }, i) => {
      setText(this.words.children[i], text);
      this.words.children[i].classList.toggle("nbm-differs", differs);
    });
  }

  /** @param {Column[]} columns */
  keepHeads(columns) {
    const { parts } = this;
    const heads = columns.flatMap(({ label }) => parts.map((part) => `${label} ${part}`));
    const shown = heads.join();
    if (shown === this.shownHeads) return;
    this.shownHeads = shown;
    this.table.classList.toggle("nbm-many", heads.length > 4);
    const nodes = heads.map((head) => el("th", { scope: "col" }, [head]));
    nodes.forEach((node, k) => this.explain(node, parts[k % parts.length]));
    this.head.replaceChildren(el("th", { scope: "col" }, ["Generator"]), ...nodes);
    this.body.replaceChildren();
  }

  /** Pointing at a number shows in the plane what it is made of. @param {Element} node @param {Part} part */
  explain(node, part) {
    const { store, signal } = this;
    node.addEventListener("pointerenter", () => store.point(part), { signal });
    node.addEventListener("pointerleave", () => store.point(null), { signal });
  }

  /** @param {number} index @param {number} metrics */
  makeRow(index, metrics) {
    const { parts } = this;
    const cells = Array.from({ length: parts.length * metrics }, () => el("td", {}, [el("span"), " ", el("small")]));
    const name = el("span", { class: "nbm-label" });
    const row = el("tr", {}, [el("th", { scope: "row" }, [markOf(index), name]), ...cells]);
    setHue(row, index);
    const { signal } = this;
    cells.forEach((cell, k) => this.explain(cell, parts[k % parts.length]));
    row.addEventListener("pointerenter", () => this.store.hover({ kind: "generators", index }), { signal });
    row.addEventListener("pointerleave", () => this.store.hover(null), { signal });
    row.addEventListener("click", () => this.store.select({ kind: "generators", index }), { signal });
    return row;
  }

  /** @param {number} g @param {string} name @param {Column[]} columns @param {number[][][]} places */
  paintRow(g, name, columns, places) {
    const row = this.body.rows[g];
    const { hovered, charted } = this.store;
    row.classList.toggle("nbm-hovered", hovered?.kind === "generators" && hovered.index === g);
    row.classList.toggle("nbm-selected", charted === g && this.body.rows.length > 1);
    setText(/** @type {Element} */ (row.cells[0].lastElementChild), name);
    columns.forEach((column, m) => {
      const own = Object.fromEntries(this.parts.map((part, p) => [part, places[m][p][g]]));
      this.parts.forEach((part, p) => paintScore(row.cells[1 + this.parts.length * m + p], column, part, g, own));
    });
  }
}

/** @param {HTMLTableCellElement} cell @param {Column} column @param {Part} part @param {number} g @param {Record<string, number>} places by each part */
function paintScore(cell, { numbers, isCurrent }, part, g, places) {
  const [value, place] = cell.children;
  cell.classList.toggle("nbm-behind", !isCurrent || (part === "all" && numbers?.isBehind === true));
  const scores = numbers?.[part];
  if (!scores) {
    setText(value, "…");
    setText(place, "");
    cell.removeAttribute("data-value");
    return;
  }
  const beside = part === "all" ? "avg" : "all";
  const [own, other] = [places[part], places[beside]];
  const single = scores.length === 1 || own === undefined;
  setText(value, Number.isNaN(scores[g]) ? "–" : figure(scores[g]));
  setText(place, single ? "" : own === other ? ordinal(own) : `${ordinal(own)}, ${beside} ${ordinal(other)}`);
  cell.classList.toggle("nbm-differs", own !== other);
  const [first, second] = part === "all" ? [beside, part] : [part, beside];
  setAttributes(cell, {
    "data-value": scores[g],
    title:
      single || own === other ? "" : `${ordinal(places[first])} by ${first}, ${ordinal(places[second])} by ${second}`,
  });
}

/** Whether there are places: every score is there, and all is of these weights. @param {Aggregates | null} numbers */
function canRank(numbers) {
  if (numbers === null || numbers.isBehind) return false;
  return ![...numbers.avg, ...numbers.all, ...(numbers.intra ?? [])].some(Number.isNaN);
}

/** How avg and all can differ over two generators: 1 where the first is better, 0 where they cannot be told apart. */
const QUARRELS = /** @type {const} */ ([
  {
    byAvg: 1,
    byAll: -1,
    margin: "avg",
    says: (/** @type {string} */ a, /** @type {string} */ b) =>
      ` disagrees with itself: avg ranks ${a} above ${b}, all ranks ${b} above ${a}`,
  },
  {
    byAvg: 0,
    byAll: 1,
    margin: "all",
    says: (/** @type {string} */ a, /** @type {string} */ b) =>
      `: avg cannot tell ${a} from ${b}, all ranks ${a} above ${b}`,
  },
  {
    byAvg: 1,
    byAll: 0,
    margin: "avg",
    says: (/** @type {string} */ a, /** @type {string} */ b) =>
      `: all cannot tell ${a} from ${b}, avg ranks ${a} above ${b}`,
  },
]);

/**
 * Whom intra prefers; where avg and all order the generators differently, and how the gap behaves.
 * @param {string} label @param {Aggregates} numbers @param {string[]} names @param {boolean} [higher] whether more is better
 * @returns {{text: string, differs: boolean}[]}
 */
export function sentences(label, numbers, names, higher = false) {
  const { avg, all, terms = [] } = numbers;
  const gap = gapInWords(avg, all, terms);
  if (names.length === 1) {
    const own = numbers.intra ? `, intra − all is ${figure(numbers.intra[0] - all[0])}` : "";
    return [{ text: `${label}: ${gap}${own}.`, differs: false }];
  }
  if (numbers.intra) {
    const { intra: _, ...others } = numbers;
    return [intraSentence(label, numbers.intra, numbers, names, higher), ...sentences(label, others, names, higher)];
  }
  const lead = (/** @type {number[]} */ scores, /** @type {number} */ a, /** @type {number} */ b) => {
    const [low, high] = higher ? [b, a] : [a, b];
    return Number(isLower(scores[low], scores[high], terms[a], terms[b]));
  };
  const order = (/** @type {number[]} */ scores, /** @type {number} */ a, /** @type {number} */ b) =>
    lead(scores, a, b) - lead(scores, b, a);
  const every = names.flatMap((_, a) => names.map((_, b) => [a, b])).filter(([a, b]) => a !== b);
  for (const { byAvg, byAll, margin, says } of QUARRELS) {
    const by = { avg, all }[margin];
    const pairs = every.filter(([a, b]) => order(avg, a, b) === byAvg && order(all, a, b) === byAll);
    pairs.sort(([a, b], [c, d]) => Math.abs(by[d] - by[c]) - Math.abs(by[b] - by[a]));
    if (pairs.length === 0) continue;
    const [first, second] = pairs[0].map((g) => names[g]);
    const more = pairs.length > 1 ? ` (and ${pairs.length - 1} more ${pairs.length > 2 ? "pairs" : "pair"})` : "";
    return [{ text: `${label}${says(first, second)}${more}; ${gap}.`, differs: true }];
  }
  return [{ text: `${label}: avg and all rank generators alike; ${gap}.`, differs: false }];
}

/**
 * Whom intra prefers, and how many pairs it orders otherwise than all.
 * @param {string} label @param {number[]} intra @param {Aggregates} numbers @param {string[]} names @param {boolean} higher
 */
function intraSentence(label, intra, { all, terms }, names, higher) {
  const [byIntra, byAll] = [intra, all].map((scores) => placesOf(scores, higher, terms));
  const best = names.filter((_, g) => byIntra[g] === 1).join(" and ");
  const pairs = names.flatMap((_, a) => names.map((_, b) => [a, b])).filter(([a, b]) => a < b);
  const count = pairs.filter(([a, b]) => (byIntra[a] - byIntra[b]) * (byAll[a] - byAll[b]) < 0).length;
  const apart = count ? `; it and all order ${count} of ${pairs.length} pairs differently` : "";
  return { text: `${label} intra prefers ${best}${apart}.`, differs: count > 0 };
}

/** @param {number[]} avg @param {number[]} all @param {number[]} terms */
function gapInWords(avg, all, terms) {
  const gaps = avg.map((value, g) => value - all[g]);
  const [least, most] = [Math.min(...gaps), Math.max(...gaps)];
  const [low, high] = [figure(least), figure(most)];
  if (gaps.length === 1) return `avg − all is ${low}`;
  const isConstant = isTie(most, least, Math.max(...terms, ...avg.map(Math.abs), ...all.map(Math.abs)));
  return low === high
    ? `avg − all is ${isConstant ? "" : "about "}${low} for every generator`
    : `avg − all is between ${low} and ${high}, depending on the generator`;
}
