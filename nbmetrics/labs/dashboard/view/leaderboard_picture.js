/**
 * The leaderboard as one drawing, to be saved: names with their ranges, dots with intervals, and between avg and all the
 * lines of the ribbon.
 *
 * @import { Scene, Shown } from "./types.js"
 * @import { Drawn } from "./leaderboard.js"
 */
import { el, svg } from "../../toolkit/view/dom.js";
import { shortened } from "../../toolkit/view/name_width.js";
import { partsOf } from "./leaderboard_rows.js";
import { crossings, rangeText, sortByLoss, tiers } from "./place_ranges.js";
import { WHISKER, Whisker } from "./whiskers.js";

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
