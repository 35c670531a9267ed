/**
 * Pictures of the views, one by one, as they are now: drawn beside the page until they were copied.
 *
 * @import { Pictured } from "../../toolkit/view/picture.js"
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Drawn } from "./leaderboard.js"
 * @import { Numbers, Scene, Shown } from "./types.js"
 */
import { el, svg } from "../../toolkit/view/dom.js";
import { lines } from "../../toolkit/view/hatching.js";
import { cellMark, matrixPicture, scaleMark } from "../../toolkit/view/matrix_picture.js";
import { shortened } from "../../toolkit/view/name_width.js";
import { shareText } from "../../toolkit/view/numbers.js";
import { orderOf } from "../../toolkit/view/ties.js";
import { partsOf } from "./leaderboard_rows.js";
import { crossings, rangeText, sortByLoss, tiers } from "./place_ranges.js";
import { regret } from "./recommendation.js";
import { choicesOf, keyOf, lossText, orderByLoss, othersText } from "./regret_card.js";
import { Ribbon } from "./ribbon.js";
import { WHISKER, Whisker } from "./whiskers.js";

const RIBBON_PX = 470;
const MAX_WEIGHTS_LISTED = 40;
/** @type {Record<string, Partial<import("../../toolkit/view/matrix_cell.js").Cell>>} the marks of the heat map, by their names in its legend */
const MARKS = {
  ring: { isRinged: true },
  arrow: { isBeyond: true },
  thin: { hatch: 1 },
  crossed: { hatch: 2 },
  span: { span: [0.2, 0.8] },
  nan: { is: "nan" },
  unknown: { is: "unknown" },
};

/**
 * @param {Store} store @param {import("./leaderboard.js").Leaderboard} leaderboard @param {import("./heat_map.js").HeatMap} heat
 * @returns {Record<string, () => Pictured>} those that there are now, by their names
 */
export function viewPictures(store, leaderboard, heat) {
  const scene = /** @type {Scene} */ (/** @type {any} */ (store.scene));
  const numbers = /** @type {Numbers} */ (/** @type {any} */ (store.numbers));
  const shown = numbers.metrics[scene.metric];
  const many = scene.generators.length > 1;
  const put = (/** @type {SVGSVGElement} */ drawing, /** @type {Node[]} */ others = []) =>
    laid(leaderboard.root, drawing, others);
  /** @type {Record<string, (() => Pictured) | false | null>} */
  const views = {
    Leaderboard: () => leaderboard.picture(),
    [`Places by ${shown.average} and by all`]:
      many && shown.byAll && !shown.isFar && (() => placesPicture(store, scene, shown, put)),
    "Heat map": () => heatPicture(heat, put),
    "Which clients lose?": many && choicesOf(shown).length > 0 && (() => put(regretPicture(scene, numbers, shown))),
    Weights: () => ({ table: weightsTable(numbers) }),
  };
  const [headline] = shown.verdict.sentences;
  const available = Object.entries(views).filter(([, make]) => make);
  return Object.fromEntries(
    available.map(([name, make]) => [name, () => ({ words: [headline], .../** @type {() => Pictured} */ (make)() })]),
  );
}

/** @typedef {(drawing: SVGSVGElement, others?: Node[]) => Pictured} Put */

/** On a paper that nobody sees. @param {HTMLElement} root @param {SVGSVGElement} drawing @param {Node[]} others */
function laid(root, drawing, others) {
  const paper = el("div", { class: "nbm-dashboard-paper", "aria-hidden": "true" }, [drawing, ...others]);
  root.append(paper);
  return { drawing, done: () => paper.remove() };
}

/** @param {Store} store @param {Scene} scene @param {Shown} shown @param {Put} put */
function placesPicture(store, scene, shown, put) {
  const own = new AbortController();
  const ribbon = new Ribbon(store, own.signal);
  ribbon.width = RIBBON_PX;
  ribbon.paint({ ...scene, generator: "" }, shown);
  own.abort();
  ribbon.drawing.setAttribute("width", String(RIBBON_PX));
  const words = [
    shown.verdict.sentences[0],
    "Bar: generators that cannot be told apart. Lines cross by more than chance (dark) or not (dashed).",
  ];
  return { ...put(ribbon.drawing), words };
}

/** @param {import("./heat_map.js").HeatMap} heat @param {Put} put */
function heatPicture({ matrix, legend }, put) {
  const { theme } = matrix;
  if (!theme) throw new Error("the heat map is not painted yet");
  const marks = legend.marks.filter(({ node }) => !node.hidden);
  const scale = `${legend.low.textContent} to ${legend.high.textContent}, ${legend.words.textContent}`;
  const entries = el("div", {}, [
    el("span", {}, [scaleMark(theme), scale]),
    ...marks.map(({ name, node }) => {
      const cell = { is: /** @type {const} */ ("score"), level: 0, text: "", ...MARKS[name] };
      return el("span", {}, [cellMark(cell, theme), node.textContent ?? ""]);
    }),
  ]);
  return { ...put(matrixPicture(matrix), [entries]), legend: entries };
}

/** @param {Numbers} numbers */
function weightsTable({ clients, shares }) {
  const largest = orderOf(
    clients.map((_, i) => -shares[i]),
    1,
  );
  const rows = largest.slice(0, MAX_WEIGHTS_LISTED).map((i) => [clients[i].name, shareText(shares[i])]);
  const more = clients.length - rows.length;
  if (more > 0) rows.push([`${more} more`, ""]);
  return [["Client", "weight"], ...rows];
}

/* The leaderboard as one drawing, to be saved: names with their ranges, dots with intervals, and between avg and all the lines of the ribbon. */

const [NAME, LINES, ROW, HEAD, LARGER] = [200, 90, 26, 24, 1.5];
const WIDE = LARGER * WHISKER.width;

/** @param {Scene} scene @param {Shown} shown @param {Drawn[]} drawn what is drawn of avg and of all */
export function boardPicture({ generators }, shown, drawn) {
  const sides = partsOf(shown).slice(0, shown.byAll ? 2 : 1);
  const orders = sides.map(({ ranges, centres }) =>
    shown.byAll ? tiers(ranges, centres).flat() : sortByLoss(centres).filter((g) => !Number.isNaN(centres[g])),
  );
  const width = NAME + WIDE + (shown.byAll ? LINES + WIDE + NAME : 0);
  const height = HEAD + ROW * generators.length;
  const middle = (/** @type {number} */ row) => HEAD + (row + 0.5) * ROW;
  const nodes = sides.flatMap(({ name, ranges }, k) => {
    const [text, x, anchor] = k
      ? [NAME + 2 * WIDE + LINES + 10, NAME + WIDE + LINES, "start"]
      : [NAME - 10, NAME, "end"];
    const head = shown.byAll ? `${shown.facts.label} ${name}` : shown.facts.label;
    const rows = orders[k].flatMap((g, row) => {
      const words = [shortened(generators[g], NAME - 70), rangeText(ranges.low[g], ranges.high[g])];
      const label = svg("text", { x: text, y: middle(row) + 4, "text-anchor": anchor }, [
        (k ? words.reverse() : words).join("  "),
      ]);
      return [label, whiskerAt(x, middle(row), drawn[k], g)];
    });
    return [svg("text", { x: text, y: 14, "text-anchor": anchor, class: "nbm-quiet" }, [head]), ...rows];
  });
  if (shown.byAll) nodes.push(...linesOf(shown, orders, middle));
  const drawing = svg("svg", { class: "nbm-chart", width, height, viewBox: `0 0 ${width} ${height}` }, nodes);
  return { drawing, paper: el("div", { class: "nbm-dashboard-paper", "aria-hidden": "true" }, [drawing]) };
}

/** @param {number} x @param {number} y @param {Drawn} drawn @param {number} g */
function whiskerAt(x, y, { spans, scale, leader }, g) {
  const whisker = new Whisker();
  whisker.paint(spans[g], scale, spans[leader].value, g === leader);
  const at = `translate(${x} ${y - (LARGER * WHISKER.height) / 2}) scale(${LARGER})`;
  return svg("g", { class: "nbm-dashboard-whisker", transform: at }, whisker.parts);
}

/** @param {Shown} shown @param {number[][]} orders @param {(row: number) => number} middle */
function linesOf({ byAvg, byAll }, [left, right], middle) {
  const crossed = crossings(left, right, byAvg.ranges, /** @type {import("./verdict.js").Aggregate} */ (byAll).ranges);
  return left
    .filter((g) => right.includes(g))
    .map((g) => {
      const ys = [left.indexOf(g), right.indexOf(g)].map(middle);
      const d = `M${NAME + WIDE + 8} ${ys[0]}L${NAME + WIDE + LINES - 8} ${ys[1]}`;
      return svg("g", { class: "nbm-dashboard-slope", "data-crossed": crossed[g] }, [
        svg("path", { class: "nbm-dashboard-line", d }),
      ]);
    });
}

/* The card of regret as one drawing, to be saved: of each client a bar for each winner. */

const [REGRET_NAME, BARS, NUMBER] = [150, 300, 90];
const [BAR, GAP, LINE, THICK] = [13, 7, 18, 9];
const MAX_CLIENTS = 40;

/** @param {Scene} scene @param {Numbers} numbers @param {Shown} shown */
export function regretPicture({ generators }, { clients }, shown) {
  const choices = choicesOf(shown);
  const losses = regret(shown.centres);
  const lost = clients.map((_, i) => choices.map(({ g }) => losses[g][i]));
  const most = Math.max(0, ...lost.flat().filter(Number.isFinite));
  const order = orderByLoss(lost);
  const some = order.slice(0, MAX_CLIENTS);
  const row = BAR * choices.length + GAP;
  const head = LINE * (choices.length + 1) + GAP;
  /** @type {SVGElement[]} */
  const nodes = [svg("text", { x: 0, y: 12, class: "nbm-quiet" }, [keyOf(shown.facts)])];
  choices.forEach(({ g, words }, n) => {
    const y = LINE * (n + 1);
    nodes.push(
      ...bar(0, y + 2, 18, n),
      svg("text", { x: 26, y: y + 11 }, [`${shortened(generators[g], REGRET_NAME)}, ${words}`]),
    );
  });
  some.forEach((i, at) => {
    const top = head + at * row;
    nodes.push(svg("text", { x: 0, y: top + row / 2 }, [shortened(clients[i].name, REGRET_NAME - 10)]));
    lost[i].forEach((value, n) => {
      const length = value === Infinity ? 1 : most > 0 && value > 0 ? value / most : 0;
      nodes.push(...bar(REGRET_NAME, top + n * BAR, BARS * length, n));
      nodes.push(svg("text", { x: REGRET_NAME + BARS * length + 5, y: top + n * BAR + 9 }, [lossText(value)]));
    });
  });
  const left = order.length - some.length;
  const height = head + row * some.length + (left ? LINE : 0);
  if (left) nodes.push(svg("text", { x: 0, y: height - 5, class: "nbm-quiet" }, [othersText(left)]));
  const width = REGRET_NAME + BARS + NUMBER;
  return svg("svg", { class: "nbm-chart", width, height, viewBox: `0 0 ${width} ${height}` }, nodes);
}

/** Each choice has a pattern of its own. @param {number} x @param {number} y @param {number} width @param {number} n @returns {SVGElement[]} */
function bar(x, y, width, n) {
  if (!(width > 0)) return [];
  const colour = `var(--nbm-${["client", "g0", "quiet"][n]})`;
  const box = { x, y, width, height: THICK };
  const style = n === 2 ? `fill: none; stroke: ${colour}; stroke-width: 1.5` : `fill: ${colour}`;
  return [svg("rect", { ...box, style }), ...(n === 1 ? [lines(box, 1, "var(--nbm-back)", 2)] : [])];
}
