/**
 * The card of regret as one drawing, to be saved: of each client a bar for each winner.
 *
 * @import { Numbers, Scene, Shown } from "./types.js"
 */
import { svg } from "../../toolkit/view/dom.js";
import { lines } from "../../toolkit/view/hatching.js";
import { shortened } from "../../toolkit/view/name_width.js";
import { choicesOf, keyOf, lossText, orderByLoss, othersText } from "./regret_card.js";
import { regret } from "./winner_regions.js";

const [NAME, BARS, NUMBER] = [150, 300, 90];
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
      svg("text", { x: 26, y: y + 11 }, [`${shortened(generators[g], NAME)}, ${words}`]),
    );
  });
  some.forEach((i, at) => {
    const top = head + at * row;
    nodes.push(svg("text", { x: 0, y: top + row / 2 }, [shortened(clients[i].name, NAME - 10)]));
    lost[i].forEach((value, n) => {
      const length = value === Infinity ? 1 : most > 0 && value > 0 ? value / most : 0;
      nodes.push(...bar(NAME, top + n * BAR, BARS * length, n));
      nodes.push(svg("text", { x: NAME + BARS * length + 5, y: top + n * BAR + 9 }, [lossText(value)]));
    });
  });
  const left = order.length - some.length;
  const height = head + row * some.length + (left ? LINE : 0);
  if (left) nodes.push(svg("text", { x: 0, y: height - 5, class: "nbm-quiet" }, [othersText(left)]));
  const width = NAME + BARS + NUMBER;
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
