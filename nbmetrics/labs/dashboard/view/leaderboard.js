/**
 * The leaderboard: a row a generator, with its place as a range by avg and by all, the numbers that decisions use with
 * their intervals, the plain ones beside them, the gap, and the client it serves worst. Beside it the ribbon.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Numbers, Scene, Shown } from "./types.js"
 */
import { NumberTable } from "../../toolkit/view/chart.js";
import { el, scroller, setAttributes, setText, watchSize } from "../../toolkit/view/dom.js";
import { boardPicture } from "./leaderboard_picture.js";
import { BoardRow } from "./leaderboard_row.js";
import { legendOf, partsOf, plainTable, rowsOf, savedTable } from "./leaderboard_rows.js";
import { scoreOf } from "./metric_view.js";
import { choose, sortByLoss } from "./place_ranges.js";
import { Ribbon } from "./ribbon.js";
import { ClientStrip, paintStrip } from "./thumbnails.js";
import { Scale, spansOf } from "./whiskers.js";

/** Heads of the columns, by what stands in them. */
const HEADS = {
  avgPlace: "place by avg",
  avg: "avg",
  allPlace: "place by all",
  all: "all",
  gap: "gap",
  worst: "worst client",
};
const COLUMNS = /** @type {(keyof typeof HEADS)[]} */ (Object.keys(HEADS));
const SORTS = /** @type {const} */ (["avg", "all", "worst"]);
// Pixels of the leaderboard where it is narrow, and those that a name may take, of letters of such a size.
const NARROW_PX = 700;
const NAME_PX = { wide: 116, narrow: 76 };
const FAR = {
  saved: "Not known for these weights: needs a notebook",
  live: "Not known for these weights yet: Python is computing",
};

/** @typedef {{name: "avg" | "all", column: number, scale: Scale, spans: import("./whiskers.js").Span[], leader: number}} Drawn  of a column */

export class Leaderboard {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.signal = signal;
    this.focused = 0;
    this.scales = { avg: new Scale(), all: new Scale() };
    this.isFull = false;
    /** @type {{scene: Scene, shown: Shown, drawn: Drawn[]} | undefined} */
    this.shown = undefined;
    this.width = 900;
    this.body = el("tbody");
    /** @type {BoardRow[]} */
    this.rows = [];
    this.heads = COLUMNS.map((name) => el("th", { scope: "col", class: `nbm-dashboard-${name}` }, [HEADS[name]]));
    this.clients = new ClientStrip();
    this.table = el("table", { class: "nbm-scores nbm-dashboard-board", "aria-label": "Leaderboard" }, [
      el("thead", {}, [el("tr", {}, [el("th", { scope: "col" }, ["Generator", this.clients.root]), ...this.heads])]),
      this.body,
    ]);
    this.sorts = SORTS.map((by) => this.makeSort(by));
    this.legend = el("p", { class: "nbm-note nbm-dashboard-legend" });
    this.numbers = new NumberTable("Numbers of the leaderboard");
    this.ribbon = new Ribbon(store, signal);
    const sort = el("div", { class: "nbm-dashboard-sort", role: "group", "aria-label": "Sort by" }, [
      el("span", { "aria-hidden": "true" }, ["Sort by"]),
      ...this.sorts,
    ]);
    this.root = el("section", { class: "nbm-dashboard-card nbm-dashboard-leaderboard", "aria-label": "Leaderboard" }, [
      sort,
      el("div", { class: "nbm-dashboard-orders" }, [scroller("Leaderboard", this.table, signal), this.ribbon.root]),
      this.legend,
      this.clients.note,
      this.numbers.root,
    ]);
    watchSize(this.root, signal, ({ width }) => {
      if (!width || width < NARROW_PX === this.width < NARROW_PX) return;
      this.width = width;
      store.changed();
    });
    this.body.addEventListener("keydown", (event) => this.key(event), { signal });
  }

  /** @param {typeof SORTS[number]} by */
  makeSort(by) {
    const { store, signal } = this;
    const button = el("button", { type: "button" }, [by === "worst" ? "worst client" : by]);
    const sort = () => store.edit(/** @type {any} */ ({ ...store.scene, by }), "");
    button.addEventListener("click", sort, { signal });
    this.heads[COLUMNS.indexOf(by)].addEventListener("click", sort, { signal });
    return button;
  }

  /** @param {Scene} scene @param {Numbers} numbers @param {number} [turn] of a frame of a drag, in which every other row has its turn; the numbers have theirs in each */
  paint(scene, numbers, turn) {
    const shown = numbers.metrics[scene.metric];
    if (!shown) return;
    setAttributes(this.table, { "data-rev": scene.rev });
    this.paintHead(scene, shown);
    const rows = rowsOf(scene, numbers, shown);
    const drawn = partsOf(shown).map((part) => this.scaleSpans(part, shown));
    this.shown = { scene, shown, drawn };
    const { strips } = this;
    this.clients.paint(strips);
    this.root.classList.toggle("nbm-dashboard-pictured", !this.clients.note.hidden);
    this.focused = Math.min(this.focused, rows.length - 1);
    while (this.rows.length > rows.length) this.rows.pop()?.root.remove();
    while (this.rows.length < rows.length) this.rows.push(this.makeRow());
    const look = {
      drawn,
      room: this.width < NARROW_PX ? NAME_PX.narrow : NAME_PX.wide,
      far: FAR[this.store.saved ? "saved" : "live"],
    };
    this.rows.forEach((row, at) => {
      const { g, name, isChosen, cells } = rows[at];
      paintStrip(row.head, strips.generators?.[name], name);
      row.paint(g, name, cells, look, turn === undefined || at % 2 === turn % 2);
      row.mark(isChosen, at === this.focused);
    });
    const logs = drawn.filter(({ scale }) => scale.isLog).map(({ name }) => name);
    setText(this.legend, legendOf(numbers, shown, logs));
    this.numbers.paint(this.isFull, () => plainTable(scene, numbers, shown));
  }

  /** The ribbon beside the rows. @param {Scene} scene @param {Numbers} numbers */
  paintRibbon(scene, { metrics }) {
    const shown = metrics[scene.metric];
    if (shown) this.ribbon.paint(scene, shown);
  }

  makeRow() {
    const { signal } = this;
    const row = new BoardRow(COLUMNS);
    row.root.addEventListener("click", () => choose(this.store, row.g), { signal });
    row.button.addEventListener("focus", () => this.focus(this.rows.indexOf(row)), { signal });
    this.body.append(row.root);
    return row;
  }

  /** @param {Scene} scene @param {Shown} shown */
  paintHead({ by }, { byAll, facts }) {
    const isOne = !byAll;
    this.table.classList.toggle("nbm-dashboard-same", isOne && facts.same);
    this.table.classList.toggle("nbm-dashboard-single", isOne && !facts.same);
    setText(this.heads[0], isOne ? "place" : HEADS.avgPlace);
    setText(this.heads[1], isOne && !facts.same ? facts.label : HEADS.avg);
    this.sorts[SORTS.indexOf("all")].hidden = facts.pooled === false;
    SORTS.forEach((name, k) => {
      setAttributes(this.sorts[k], { "aria-pressed": String(name === by) });
      const head = this.heads[COLUMNS.indexOf(name)];
      if (name === by) setAttributes(head, { "aria-sort": facts.higher ? "descending" : "ascending" });
      else head.removeAttribute("aria-sort");
    });
  }

  /** What is drawn of a column: the dots of all generators on its scale. @param {import("./leaderboard_rows.js").Part} part @param {Shown} shown @returns {Drawn} */
  scaleSpans({ name, centres, errors, ranges }, { facts }) {
    const [leader] = sortByLoss(centres);
    const scale = this.scales[name];
    const spans = spansOf(
      centres.map((loss) => scoreOf(facts, loss)),
      errors,
      ranges.margins[leader],
    );
    scale.fit(facts.name, spans);
    return { name, column: 1 + COLUMNS.indexOf(name), scale, spans, leader };
  }

  /** @returns {import("./thumbnails.js").Strips} */
  get strips() {
    const clients = this.store.model.get("clients_strip") ?? {};
    return { ...this.store.model.get("strips"), ...(clients.picture ? { clients } : {}) };
  }

  /** The picture to save, laid out beside the page until it was copied. @returns {import("../../toolkit/view/picture.js").Pictured} */
  picture() {
    const { scene, shown, drawn } = /** @type {NonNullable<typeof this.shown>} */ (this.shown);
    const { drawing, paper } = boardPicture(scene, shown, drawn);
    this.root.append(paper);
    return {
      drawing,
      words: [...shown.verdict.sentences],
      table: savedTable(scene, shown),
      done: () => paper.remove(),
    };
  }

  /** Up and down go from row to row. @param {KeyboardEvent} event */
  key(event) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const last = this.body.rows.length - 1;
    const to = step ? this.focused + step : { Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    /** @type {HTMLElement} */ (this.body.rows[Math.max(0, Math.min(last, to))].cells[0].children[0]).focus();
  }

  /** The one row that Tab stops at. @param {number} at */
  focus(at) {
    if (this.focused === at) return;
    this.focused = at;
    this.store.changed();
  }
}
