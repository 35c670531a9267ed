/**
 * Where a score comes from, drawn into the plane: for avg a link from the generator to every client, with the client's
 * share and its own score; for all one link to the pooled clients; for intra a link from what is for a client to it.
 *
 * @import { Distribution, Scene } from "../../toolkit/view/types.js"
 * @import { Part, PlaygroundStore } from "./store.js"
 * @import { Stage } from "../../plane/view/stage.js"
 */
import { dataOf, distributionsOf } from "../../plane/view/distributions.js";
import { freeSpot, projection } from "../../plane/view/geometry.js";
import { resizeChildren } from "../../toolkit/view/chart.js";
import { setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { setHue } from "../../toolkit/view/marks.js";
import { nameWidth } from "../../toolkit/view/name_width.js";
import { figure, shareText } from "../../toolkit/view/numbers.js";
import { drawnOf } from "./metrics.js";

// Where along a link its label may stand, from the generator.
const SPOTS = [0.55, 0.65, 0.45, 0.75, 0.35, 0.85];
// Pixels beside a link, where its label has no room on it.
const ASIDE = [12, 40];
// Pixels of a link whose client has all the weight.
const MAX_LINK_PIXELS = 7;

export class Links {
  /** @param {PlaygroundStore} store @param {Stage} stage */
  constructor(store, stage) {
    this.store = store;
    this.stage = stage;
    this.root = svg("g", { class: "nbm-links", "aria-hidden": "true" });
    stage.root.insertBefore(this.root, stage.controls);
  }

  /** @param {Scene} scene */
  paint(scene) {
    const { explained, explainedGenerator } = this.store;
    const { numbers } = drawnOf(this.store);
    const ends = explained && numbers ? this.endsOf(scene, explained, numbers, explainedGenerator) : [];
    setHue(this.root, explainedGenerator);
    const distributions = distributionsOf(scene, dataOf(this.store.model));
    const { at } = projection(this.stage.frame);
    const whole = distributions.generators[explainedGenerator];
    const taken = [...this.stage.taken];
    resizeChildren(this.root, ends.length, makeLink).forEach((node, i) => {
      const { distribution, from = whole, share, text } = ends[i];
      const [fromX, fromY] = at(from.x, from.y);
      const [x, y] = at(distribution.x, distribution.y);
      const [line, label] = node.children;
      setAttributes(line, { x1: fromX, y1: fromY, x2: x, y2: y, "stroke-width": 1 + (MAX_LINK_PIXELS - 1) * share });
      const along = placesAlong([fromX, fromY], [x, y], text);
      const spot = freeSpot(text, along, taken); // where there is none, the chart of clients has the number
      if (spot) taken.push(spot);
      setText(label, spot ? text : "");
      if (spot) setAttributes(label, { x: spot.x, y: spot.y + 4 });
    });
  }

  /** @param {Scene} scene @param {Part} part @param {import("../../toolkit/view/types.js").Aggregates} numbers @param {number} g @returns {{distribution: Distribution, from?: Distribution, share: number, text: string}[]} */
  endsOf(scene, part, { all, byClient, own = byClient }, g) {
    const distributions = distributionsOf(scene, dataOf(this.store.model));
    if (part === "all") return [{ distribution: distributions.pooled, share: 0.3, text: `all ${figure(all[g])}` }];
    return distributions.clients
      .map((distribution, i) => ({
        distribution,
        share: distributions.shares[i],
        from: part === "intra" ? distributions.generators[g].own?.[i] : undefined,
        text: `${shareText(distributions.shares[i])} · ${figure((part === "intra" ? own : byClient)[g][i])}`,
      }))
      .filter(({ share }) => share > 0);
  }
}

/** Where the label of a link may stand: on it, then left or right of it. @param {[number, number]} from @param {[number, number]} to @param {string} text @returns {[number, number][]} */
function placesAlong([x1, y1], [x2, y2], text) {
  const half = nameWidth(text) / 2;
  return [0, ...ASIDE.flatMap((far) => [half + far, -half - far])].flatMap((by) =>
    SPOTS.map((t) => /** @type {[number, number]} */ ([x1 + t * (x2 - x1) + by, y1 + t * (y2 - y1)])),
  );
}

function makeLink() {
  return svg("g", {}, [svg("line"), svg("text", { "text-anchor": "middle" })]);
}

/** The score of a generator as the sum that it is. @param {PlaygroundStore} store @param {Scene} scene @returns {string} */
export function sumOf(store, scene) {
  const { explained, explainedGenerator: g } = store;
  const { numbers, label } = drawnOf(store);
  if (!explained || !numbers) return "";
  const { name } = scene.generators[g];
  if (explained === "all")
    return `${label} all of ${name}: one score against the pooled clients, ${figure(numbers.all[g])}.`;
  const { shares } = distributionsOf(scene, dataOf(store.model));
  const { avg, byClient, intra = avg, own = byClient } = numbers;
  const [total, scores] = explained === "intra" ? [intra, own] : [avg, byClient];
  const shown = shares.map((share, i) => [share, scores[g][i]]).filter(([share]) => share > 0);
  const terms = shown.map(([share, value]) => `${shareText(share)} · ${figure(value)}`);
  const sum = terms.length <= 4 ? `${terms.join(" + ")} = ` : `the weighted mean of ${terms.length} clients’ scores, `;
  return `${label} ${explained} of ${name}: ${sum}${figure(total[g])}.`;
}
