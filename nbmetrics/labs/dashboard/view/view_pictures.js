/**
 * Pictures of the views, one by one, as they are now: drawn beside the page until they were copied.
 *
 * @import { Pictured } from "../../toolkit/view/picture.js"
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Decided } from "./decision_inputs.js"
 * @import { Numbers, Scene, Shown } from "./types.js"
 */
import { el } from "../../toolkit/view/dom.js";
import { cellMark, matrixPicture, scaleMark } from "../../toolkit/view/matrix_picture.js";
import { shareText } from "../../toolkit/view/numbers.js";
import { orderOf } from "../../toolkit/view/ties.js";
import { decidedOf } from "./decision_inputs.js";
import { choicesOf } from "./regret_card.js";
import { regretPicture } from "./regret_picture.js";
import { Ribbon } from "./ribbon.js";
import { Triangle } from "./triangle.js";

const RIBBON_PX = 470;
const TRIANGLE_PX = 340;
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
    "Places by avg and by all": many && shown.byAll && !shown.isFar && (() => placesPicture(store, scene, shown, put)),
    "Heat map": () => heatPicture(heat, put),
    "Who pays for it?": many && choicesOf(shown).length > 0 && (() => put(regretPicture(scene, numbers, shown))),
    Weights: () => weightsPicture(store, scene, numbers, put),
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
    "Joined by a bar: not told apart. Dark: crossed by more than chance; dashed: by no more.",
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

/** @param {Store} store @param {Scene} scene @param {Numbers} numbers @param {Put} put */
function weightsPicture(store, scene, numbers, put) {
  const { clients, shares, metrics } = numbers;
  const shown = metrics[scene.metric];
  const largest = orderOf(
    clients.map((_, i) => -shares[i]),
    1,
  );
  const rows = largest.slice(0, MAX_WEIGHTS_LISTED).map((i) => [clients[i].name, shareText(shares[i])]);
  const more = clients.length - rows.length;
  if (more > 0) rows.push([`${more} more`, ""]);
  const table = [["Client", "weight"], ...rows];
  if (clients.length < 3) return { table };
  const own = new AbortController();
  const triangle = new Triangle(store, own.signal);
  triangle.paint(scene, numbers, decidedOf(shown, shares, store.model.get("board").few?.[scene.metric]));
  own.abort();
  triangle.drawing.setAttribute("width", String(TRIANGLE_PX));
  return { ...put(triangle.drawing), words: [shown.verdict.sentences[0], triangle.note], table };
}
