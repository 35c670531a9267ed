/**
 * Clients and generators: a cell for every score, coloured by regret, or by the score. Hundreds of clients fold; a cell
 * that is chosen opens below.
 *
 * @import { Cell } from "../../toolkit/view/matrix_cell.js"
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Cells } from "./cell_values.js"
 * @import { Line } from "./client_order.js"
 * @import { Board, Numbers, Scene } from "./types.js"
 */
import { el, setText } from "../../toolkit/view/dom.js";
import { Matrix } from "../../toolkit/view/matrix.js";
import { shownNumber } from "../../toolkit/view/numbers.js";
import { CellCard } from "./cell_card.js";
import { brief, cellsNow, kindOf, levelOf, wordsOf } from "./cell_values.js";
import { linesOf, ORDER_NAMES, orderOf } from "./client_order.js";

const COLOURS = { regret: "regret", raw: "the score" };

export class HeatMap {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.order = orderOf(store);
    /** @type {unknown[]} what the matrix shows */
    this.shown = [];
    this.restingShares = "";
    /** @type {Set<number>} */
    this.open = new Set();
    /** @type {Line[]} */
    this.lines = [];
    this.colour = choice("Colour", COLOURS, (colour) => this.edit({ colour }), signal);
    this.sorting = choice("Order", ORDER_NAMES, (order) => this.edit({ order }), signal);
    this.again = el("button", { type: "button", hidden: "" }, ["Sort again"]);
    this.again.addEventListener("click", () => this.sortAgain(), { signal });
    this.folded = el("p", { class: "nbm-note", hidden: "" });
    this.matrix = new Matrix("Clients and generators", signal, (row, column) => this.choose(row, column));
    this.legend = new Legend();
    this.card = new CellCard(store, signal, () => this.edit({ client: "", generator: "" }));
    this.controls = el("div", { class: "nbm-heat-controls" }, [this.colour.label, this.sorting.label, this.again]);
    this.root = el("section", { class: "nbm-dashboard-card nbm-dashboard-heat", "aria-label": "Heat map" }, [
      this.controls,
      this.folded,
      this.matrix.root,
      this.legend.root,
      this.card.root,
    ]);
  }

  get scene() {
    return /** @type {Scene} */ (/** @type {any} */ (this.store.scene));
  }

  /** What is looked at, which no lock refuses. @param {Partial<Scene>} changes */
  edit(changes) {
    this.store.edit(/** @type {any} */ ({ ...this.scene, ...changes }), "");
  }

  sortAgain() {
    this.order.again();
    this.store.changed();
    this.matrix.go(0, 0);
  }

  /** @param {number} row @param {number} column −1 for a name */
  choose(row, column) {
    const line = this.lines[row];
    const { scene } = this;
    if (line?.client === -1) {
      if (!this.open.delete(line.group)) this.open.add(line.group);
      return this.store.changed();
    }
    const client = line ? this.clients[line.client].name : column < 0 ? "" : scene.client;
    const generator = column >= 0 ? scene.generators[column] : row < 0 ? "" : scene.generator;
    const isSame = client === scene.client && generator === scene.generator;
    this.edit(isSame ? { client: "", generator: "" } : { client, generator });
  }

  get clients() {
    return /** @type {Board} */ (this.store.model.get("board")).clients;
  }

  /** @param {Scene} scene @param {Numbers} numbers */
  paint(scene, numbers) {
    const { metrics, shares } = numbers;
    const shown = metrics[scene.metric];
    if (!shown) return;
    const board = /** @type {Board} */ (this.store.model.get("board"));
    const cells = cellsNow(this.store.model, scene.metric);
    const order = this.order.of(scene, numbers, board, this.store.before !== null);
    this.colour.select.value = scene.colour;
    this.sorting.select.value = scene.order;
    this.again.hidden = !this.order.isStale || this.store.before !== null;
    this.card.paint(scene, numbers, cells);
    const worst = new Set(shown.worst.map(({ client }) => client));
    const hasGroups = this.lines.some(({ client }) => client < 0);
    const { metric, generators, colour, client, generator } = scene;
    const key = [
      cells,
      order,
      metric,
      generators.join("\n"),
      colour,
      client,
      generator,
      [...worst].join(),
      [...this.open].join(),
    ];
    if (!this.store.before) this.restingShares = shares.join(); // means of groups follow once the weights rest
    if (hasGroups) key.push(this.restingShares);
    if (key.length === this.shown.length && key.every((part, i) => part === this.shown[i])) return;
    this.shown = key;
    this.lines = linesOf(board, order, worst, this.open);
    this.legend.paint(
      cells,
      scene,
      this.lines.some((line) => line.client < 0),
    );
    this.showLines(scene, shares, cells, shown.worst);
  }

  /** @param {Scene} scene @param {number[]} shares @param {Cells} cells @param {{value: number, client: number}[]} worst by generator */
  showLines(scene, shares, cells, worst) {
    const { lines, clients } = this;
    const groups = lines.map((line) =>
      line.client < 0 && "members" in line ? groupOf(cells, scene, shares, line.members) : null,
    );
    const count = groups.filter(Boolean).length;
    const furthest = worst.reduce(
      (a, b) => (cells.losses && b.value > a.value === !cells.facts.higher ? b : a),
      worst[0],
    );
    this.folded.hidden = !count;
    setText(
      this.folded,
      `${clients.length} clients in ${count} groups of similar clients; worst: ${clients[furthest.client]?.name ?? "–"}. Choose a group to expand it.`,
    );
    this.matrix.show({
      rows: lines.map((line) => {
        if ("members" in line) {
          const note = ` + ${line.members.length - 1}`;
          return { name: clients[line.members[0]].name, note, isOpen: this.open.has(line.group), isStrong: true };
        }
        return { name: clients[line.client].name, isInside: line.group >= 0 };
      }),
      columns: scene.generators,
      chosen: {
        row: rowOf(
          lines,
          clients.findIndex(({ name }) => name === scene.client),
        ),
        column: scene.generators.indexOf(scene.generator),
      },
      cell: (row, column) => groups[row]?.cell(column) ?? cellOf(cells, scene, lines[row].client, column),
      words: (row, column) => {
        const { client } = lines[row];
        const generator = scene.generators[column];
        if (client >= 0) return wordsOf(cells, clients[client].name, client, generator);
        const { members } = /** @type {{members: number[]}} */ (lines[row]);
        const told = groups[row]?.words(column);
        return `${members.length} clients, ${clients[members[0]].name} first, ${generator}: ${told}`;
      },
    });
  }
}

/** The row of a client, or of its group where that is closed. @param {Line[]} lines @param {number} client */
function rowOf(lines, client) {
  const own = client < 0 ? -1 : lines.findIndex((line) => line.client === client);
  return own >= 0 ? own : lines.findIndex((line) => "members" in line && line.members.includes(client));
}

/** @param {Cells} cells @param {Scene} scene @param {number} i client @param {number} column @returns {Cell} */
function cellOf({ scores, regret, losses, isScored, chance, blind, scales }, { generators, colour }, i, column) {
  const generator = generators[column];
  const value = scores[generator][i];
  const isRaw = colour === "raw";
  const loss = isRaw ? losses[generator][i] : regret[generator][i];
  const level = levelOf(scales[colour], loss);
  const is = kindOf(isRaw && !Number.isNaN(value) ? value : Number.isNaN(value) ? value : loss, isScored[generator][i]);
  return {
    is,
    level,
    text: brief(isRaw ? value : loss),
    isBeyond: is === "score" && level > 1 + 1e-9,
    isRinged: regret[generator][i] === 0,
    hatch: blind[i] ? 2 : chance?.[generator][i] ? 1 : 0,
  };
}

/** A select with its words before it. @param {string} name @param {Record<string, string>} choices @param {(value: any) => void} take @param {AbortSignal} signal */
function choice(name, choices, take, signal) {
  const options = Object.entries(choices).map(([value, text]) => el("option", { value }, [text]));
  const select = el("select", {}, options);
  select.addEventListener("change", () => take(select.value), { signal });
  return { select, label: el("label", {}, [`${name} `, select]) };
}

/* What the colours and the marks of the heat map say: only those that are in it. */

const MARKS = {
  unknown: "not computed yet",
  ring: "the client’s best",
  arrow: "beyond the colours",
  thin: "no more than chance above the client’s best",
  crossed: "too few rows to tell the generators apart",
  span: "smallest and largest of a group",
  nan: "no number",
};
// Those that come and go while scores come: their room is kept.
const KEPT = ["unknown", "ring", "arrow", "thin", "crossed"];

export class Legend {
  constructor() {
    this.low = el("span");
    this.high = el("span");
    this.words = el("span", { class: "nbm-heat-what" });
    const bar = el("span", { class: "nbm-heat-bar", "aria-hidden": "true" });
    this.marks = Object.entries(MARKS).map(([name, words]) => {
      const sign = el("span", { class: `nbm-heat-sign nbm-heat-${name}`, "aria-hidden": "true" });
      const node = el("span", { class: "nbm-heat-mark" }, [sign, words]);
      return { name, node };
    });
    const [unknown, ...marks] = this.marks;
    this.root = el("div", { class: "nbm-heat-legend" }, [
      el("div", { class: "nbm-heat-head" }, [this.words, unknown.node]),
      el("span", { class: "nbm-heat-scale" }, [this.low, bar, this.high]),
      ...marks.map(({ node }) => node),
    ]);
  }

  /** @param {Cells} cells @param {Scene} scene @param {boolean} hasGroups */
  paint(cells, { colour, generators }, hasGroups) {
    const { facts, scales, values, regret, losses, isScored, chance, blind } = cells;
    const { from, to } = scales[colour];
    const sign = colour === "raw" && facts.higher ? -1 : 1;
    setText(this.low, brief(sign * from));
    setText(this.high, brief(sign * to));
    setText(this.words, whatOf(colour, facts));
    const some = (/** @type {(generator: string, i: number) => unknown} */ test) =>
      generators.some((generator) => blind.some((_, i) => test(generator, i)));
    const shown = colour === "raw" ? losses : regret;
    const has = /** @type {Record<string, boolean>} */ ({
      ring: some((g, i) => regret[g][i] === 0),
      arrow: some((g, i) => Number.isFinite(shown[g][i]) && shown[g][i] > to),
      thin: some((g, i) => chance?.[g][i] && !blind[i]),
      crossed: blind.some(Boolean),
      span: hasGroups,
      nan: some((g, i) => isScored[g][i] && Number.isNaN(values[g][i])),
      unknown: some((g, i) => !isScored[g][i]),
    });
    for (const { name, node } of this.marks) {
      node.hidden = !has[name] && !KEPT.includes(name);
      node.style.visibility = has[name] ? "" : "hidden";
    }
  }
}

/** @param {string} colour @param {import("./types.js").MetricFacts} facts */
function whatOf(colour, { label, best, higher, corrected }) {
  const without = corrected ? ", corrected for few rows" : "";
  if (colour === "raw") return best !== null ? `how far ${label} is from ${best}` : `${label}${without}`;
  const side = best !== null ? `farther from ${best} than` : higher ? "below" : "above";
  return `regret: ${label} ${side} the client’s best${without}`;
}

/* A row for clients that are alike: the mean of their scores under the weights, and the span between the least and the largest. What is no number in one of them shows in the mean. No DOM. */

const KINDS = { nan: "some have no number (NaN)", inf: "some are infinite", "-inf": "some are minus infinity" };

/** @param {Cells} cells @param {Scene} scene @param {number[]} shares @param {number[]} members */
export function groupOf(cells, { generators, colour }, shares, members) {
  const isRaw = colour === "raw";
  const scale = cells.scales[colour];
  const total = members.reduce((sum, i) => sum + shares[i], 0);
  const share = (/** @type {number} */ i) => (total ? shares[i] / total : 1 / members.length);
  const columns = generators.map((generator) => {
    const scored = members.filter((i) => cells.isScored[generator][i]);
    const numbers = (isRaw ? cells.scores : cells.regret)[generator];
    const losses = (isRaw ? cells.losses : cells.regret)[generator];
    const part = scored.reduce((sum, i) => sum + share(i), 0);
    const weigh = (/** @type {Float64Array} */ of) =>
      scored.reduce((sum, i) => sum + (part ? share(i) / part : 1 / scored.length) * of[i], 0);
    const all = scored.map((i) => numbers[i]);
    return {
      mean: weigh(numbers),
      loss: weigh(losses),
      span: [Math.min(...all), Math.max(...all)],
      levels: scored.map((i) => levelOf(scale, losses[i])),
      isKnown: scored.length > 0,
      isAll: scored.length === members.length,
    };
  });
  return {
    /** @param {number} column @returns {Cell} */
    cell: (column) => {
      const { mean, loss, levels, isKnown } = columns[column];
      const level = levelOf(scale, loss);
      const is = kindOf(mean, isKnown);
      const span = /** @type {[number, number]} */ ([Math.min(...levels), Math.max(...levels)]);
      return { is, level, text: brief(mean), span, isBeyond: is === "score" && level > 1 + 1e-9 };
    },
    /** @param {number} column */
    words: (column) => {
      const { mean, span, isKnown, isAll } = columns[column];
      const is = kindOf(mean, isKnown);
      if (is === "unknown") return "not computed yet";
      if (is !== "score") return KINDS[is];
      const what = isRaw ? "" : cells.facts.higher ? " below the clients’ best" : " above the clients’ best";
      const soFar = isAll ? "" : ", so far";
      return `${shownNumber(mean)}${what} on average, ${span.map(shownNumber).join(" to ")}${soFar}`;
    },
  };
}
