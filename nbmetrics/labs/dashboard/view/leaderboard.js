/**
 * The leaderboard: a row a generator, with its place as a range by avg and by all, the numbers that decisions use with
 * their intervals, the plain ones beside them, the gap, and the client it serves worst. Beside it the ribbon.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Cells } from "./leaderboard_rows.js"
 * @import { Numbers, Scene, Shown } from "./types.js"
 */
import { NumberTable } from "../../toolkit/view/chart.js";
import { el, scroller, setAttributes, setText, watchSize } from "../../toolkit/view/dom.js";
import { shortened } from "../../toolkit/view/name_width.js";
import { gapName, hintOf, legendOf, partsOf, plainTable, rowsOf, savedTable, worstWords } from "./leaderboard_rows.js";
import { scoreOf } from "./metric_view.js";
import { choose, sortByLoss } from "./place_ranges.js";
import { Ribbon } from "./ribbon.js";
import { boardPicture } from "./view_pictures.js";
import { Scale, spansOf, Whisker } from "./whiskers.js";

/** Heads of the columns, by what stands in them. @param {string} average what the mean over clients is called */
const headsOf = (average) => ({
  avgPlace: `place by ${average}`,
  avg: average,
  allPlace: "place by all",
  all: "all",
  gap: gapName({ average }),
  worst: "worst client",
});
const COLUMNS = /** @type {(keyof Cells)[]} */ (Object.keys(headsOf("avg")));
const SORTS = /** @type {const} */ (["avg", "all", "worst"]);
// Pixels of the leaderboard where it is narrow, and of one as wide as a phone is, and those that a name may take, of letters of such a size.
const [NARROW_PX, PHONE_PX] = [700, 340];
const NAME_PX = { wide: 116, phone: 96, narrow: 76 };
// Below so many pixels of its own, a name has this share of them, and no more than the padding less.
const TINY = { below: 300, share: 0.52, padding: 16 };
// Of the leaderboard, from which on the ribbon goes on from its rows, and of these rows, as in style.css.
const BESIDE_PX = 560;
const ROW_PX = { least: 30, plain: 34, most: 56, all: 258 };
// Of the rows that are shown without scrolling.
const MAX_UNSCROLLED_PX = 306;
const meaningsOf = (/** @type {string} */ average) =>
  average === "intra"
    ? "intra: the weighted mean of the clients’ scores, each with what the generator made for it. all: one score of all that was made against the clients’ data, both pooled by weight."
    : "avg: the weighted mean of the clients’ own scores. all: one score against the clients’ data, pooled by weight.";
const FAR = {
  saved: "Not known for these weights: needs a notebook",
  live: "Not known for these weights yet: Python is computing",
};

/** @typedef {{name: "avg" | "all", label: string, column: number, scale: Scale, spans: import("./whiskers.js").Span[], leader: number}} Drawn  of a column */

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
    this.rowPx = 0;
    /** The rows that the ribbon stands beside, where it does. @type {import("./ribbon.js").Beside | null} */
    this.beside = null;
    this.body = el("tbody");
    /** @type {BoardRow[]} */
    this.rows = [];
    this.heads = COLUMNS.map((name) => el("th", { scope: "col", class: `nbm-dashboard-${name}` }));
    this.clients = new ClientStrip();
    this.table = el("table", { class: "nbm-scores nbm-dashboard-board", "aria-label": "Leaderboard" }, [
      el("thead", {}, [el("tr", {}, [el("th", { scope: "col" }, ["Generator", this.clients.root]), ...this.heads])]),
      this.body,
    ]);
    this.sorts = SORTS.map((by) => this.makeSort(by));
    this.legend = el("p", { class: "nbm-note nbm-dashboard-legend" });
    this.numbers = new NumberTable("Numbers of the leaderboard");
    this.ribbon = new Ribbon(store, signal);
    this.worst = el("p", { class: "nbm-dashboard-worst-off" });
    this.hint = el("p", { class: "nbm-note nbm-dashboard-hint" });
    this.sort = el("div", { class: "nbm-dashboard-sort", role: "group", "aria-label": "Sort by" }, [
      el("span", { "aria-hidden": "true" }, ["Sort by"]),
      ...this.sorts,
    ]);
    this.root = el("section", { class: "nbm-dashboard-card nbm-dashboard-leaderboard", "aria-label": "Leaderboard" }, [
      this.sort,
      el("div", { class: "nbm-dashboard-orders" }, [scroller("Leaderboard", this.table, signal), this.ribbon.root]),
      el("div", { class: "nbm-dashboard-below" }, [this.worst, this.hint]),
      this.legend,
      this.clients.note,
      this.numbers.root,
    ]);
    watchSize(this.root, signal, ({ width }) => {
      const bounds = [NARROW_PX, BESIDE_PX, PHONE_PX, TINY.below];
      const isAlike = width >= TINY.below && bounds.every((bound) => width < bound === this.width < bound);
      const isSame = isAlike || width === this.width;
      this.width = width || this.width;
      if (width && !isSame) store.changed();
    });
    this.body.addEventListener("keydown", (event) => this.key(event), { signal });
  }

  /** @param {typeof SORTS[number]} by */
  makeSort(by) {
    const { store, signal } = this;
    const button = el("button", { type: "button" });
    const sort = () => store.edit(/** @type {any} */ ({ ...store.scene, by }), "");
    button.addEventListener("click", sort, { signal });
    this.heads[COLUMNS.indexOf(by)].addEventListener("click", sort, { signal });
    return button;
  }

  /** @param {Scene} scene @param {Numbers} numbers @param {number} [turn] of a frame of a drag, in which the numbers are painted, and what else is seen of every other row */
  paint(scene, numbers, turn) {
    const shown = numbers.metrics[scene.metric];
    if (!shown) return;
    setAttributes(this.table, { "data-rev": scene.rev });
    this.paintHead(scene, shown);
    setText(this.hint, hintOf(shown));
    setAttributes(this.hint, { title: meaningsOf(shown.average) });
    this.root.classList.toggle("nbm-dashboard-full", this.isFull);
    for (const part of [this.sort, this.legend]) part.hidden = !this.isFull;
    const rows = rowsOf(scene, numbers, shown);
    const drawn = partsOf(shown).map((part) => this.scaleSpans(part, shown));
    this.shown = { scene, shown, drawn };
    const { strips } = this;
    this.clients.paint(strips);
    const isPictured = !this.clients.note.hidden;
    this.root.classList.toggle("nbm-dashboard-pictured", isPictured);
    this.clients.note.hidden ||= !this.isFull;
    const rowPx = this.width < BESIDE_PX ? ROW_PX.plain : rowHeight(rows.length);
    if (this.rowPx !== rowPx) this.root.style.setProperty("--nbm-row", `${rowPx}px`);
    this.rowPx = rowPx;
    this.root.classList.toggle("nbm-dashboard-many", !this.isFull && rows.length * rowPx > MAX_UNSCROLLED_PX);
    const isBeside = this.width >= BESIDE_PX && !this.isFull && scene.by === "avg";
    this.beside = isBeside ? { order: rows.map(({ g }) => g), row: rowPx } : null;
    this.focused = Math.min(this.focused, rows.length - 1);
    while (this.rows.length > rows.length) this.rows.pop()?.root.remove();
    while (this.rows.length < rows.length) this.rows.push(this.makeRow());
    const look = {
      drawn,
      room: this.nameRoom,
      far: FAR[this.store.saved ? "saved" : "live"],
    };
    this.rows.forEach((row, at) => {
      const { g, name, isChosen, cells } = rows[at];
      paintStrip(row.head, strips.generators?.[name], name);
      row.paint(g, name, cells, look, turn === undefined || (this.isFull && at % 2 === turn % 2));
      row.mark(isChosen, at === this.focused);
    });
    const logs = drawn.filter(({ scale }) => scale.isLog).map(({ label }) => label);
    setText(this.legend, legendOf(numbers, shown, logs));
    this.numbers.paint(this.isFull, () => plainTable(scene, numbers, shown));
  }

  /** Who is worst off. @param {Scene} scene @param {Numbers} numbers */
  paintWorst(scene, numbers) {
    const shown = numbers.metrics[scene.metric];
    if (shown) setText(this.worst, worstWords(scene, numbers, shown));
  }

  /** The ribbon beside the rows. @param {Scene} scene @param {Numbers} numbers */
  paintRibbon(scene, { metrics }) {
    const shown = metrics[scene.metric];
    if (shown) this.ribbon.paint(scene, shown, this.beside);
  }

  get nameRoom() {
    const { wide, phone, narrow } = NAME_PX;
    if (this.width >= NARROW_PX) return wide;
    if (this.width < TINY.below && !this.isFull) return TINY.share * this.width - TINY.padding;
    return this.isFull || this.width < PHONE_PX || this.width >= BESIDE_PX ? narrow : phone;
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
  paintHead({ by }, { isOne, facts, average }) {
    const heads = headsOf(average);
    COLUMNS.forEach((name, k) => setText(this.heads[k], heads[name]));
    this.table.classList.toggle("nbm-dashboard-same", isOne && facts.same);
    this.table.classList.toggle("nbm-dashboard-single", isOne && !facts.same);
    if (isOne) setText(this.heads[0], "place");
    if (isOne && !facts.same) setText(this.heads[1], facts.label);
    this.sorts[SORTS.indexOf("all")].hidden = facts.pooled === false;
    SORTS.forEach((name, k) => {
      setText(this.sorts[k], heads[name]);
      setAttributes(this.sorts[k], { "aria-pressed": String(name === by) });
      const head = this.heads[COLUMNS.indexOf(name)];
      if (name === by) setAttributes(head, { "aria-sort": facts.higher ? "descending" : "ascending" });
      else head.removeAttribute("aria-sort");
    });
  }

  /** What is drawn of a column: the dots of all generators on its scale. @param {import("./leaderboard_rows.js").Part} part @param {Shown} shown @returns {Drawn} */
  scaleSpans({ name, label, centres, errors, ranges }, { facts }) {
    const [leader] = sortByLoss(centres);
    const scale = this.scales[name];
    const spans = spansOf(
      centres.map((loss) => scoreOf(facts, loss)),
      errors,
      ranges.margins[leader],
    );
    scale.fit(facts.name, spans);
    return { name, label, column: 1 + COLUMNS.indexOf(name), scale, spans, leader };
  }

  /** @returns {import("./leaderboard.js").Strips} */
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

/** Pixels of a row beside the ribbon: lower where all then stand without scrolling. @param {number} count of rows */
function rowHeight(count) {
  const { least, plain, most, all } = ROW_PX;
  const height = Math.max(least, Math.min(most, Math.floor(all / count)));
  return height * count > MAX_UNSCROLLED_PX ? plain : height;
}

/**
 * A row of the leaderboard. It knows what it shows, so that a frame of a drag writes only what is another, and reads
 * nothing of the page.
 *
 *
 * @typedef {{drawn: Drawn[], room: number, far: string}} Look  what all rows share: dots on their scales, the pixels of a
 *   name, and why a number is not known here
 */

// Of the letters of a name, in pixels.
const FONT_PX = 12;
const DRAWN = ["avg", "all"];

export class BoardRow {
  /** @param {(keyof Cells)[]} columns */
  constructor(columns) {
    this.g = -1;
    this.shown = "";
    this.seen = el("span");
    this.whole = el("span", { class: "nbm-dashboard-unseen" });
    this.button = el("button", { type: "button", class: "nbm-dashboard-name" }, [this.seen, this.whole]);
    this.head = el("th", { scope: "row" }, [this.button]);
    this.cells = columns.map((name) => new BoardCell(name));
    this.root = el("tr", {}, [this.head, ...this.cells.map(({ root }) => root)]);
  }

  /** @param {number} g @param {string} name @param {Cells} cells @param {Look} look @param {boolean} isWhole or the numbers by avg and all alone, of a row that stays that generator's */
  paint(g, name, cells, { drawn, room, far }, isWhole) {
    const isNew = g !== this.g;
    if (isNew) setAttributes(this.root, { "data-generator": g });
    this.g = g;
    this.paintName(name, room);
    for (const cell of this.cells) if (isWhole || isNew || cell.whisker) cell.paint(cells[cell.name], far);
    for (const { name: part, column, spans, scale, leader } of drawn)
      this.cells[column - 1].whisker?.paint(spans[g], scale, spans[leader].value, g === leader, cells[part].isOld);
  }

  /** @param {string} name @param {number} room */
  paintName(name, room) {
    if (this.shown === `${room} ${name}`) return;
    this.shown = `${room} ${name}`;
    const short = shortened(name, room, FONT_PX);
    setText(this.seen, short);
    setText(this.whole, short === name ? "" : name);
    setAttributes(this.seen, { "aria-hidden": String(short !== name) });
    setAttributes(this.button, { title: name });
  }

  /** @param {boolean} isChosen @param {boolean} isStop of Tab */
  mark(isChosen, isStop) {
    this.root.classList.toggle("nbm-selected", isChosen);
    setAttributes(this.button, { "aria-pressed": String(isChosen), tabindex: isStop ? 0 : -1 });
  }
}

class BoardCell {
  /** @param {keyof Cells} name */
  constructor(name) {
    this.name = name;
    this.whisker = DRAWN.includes(name) ? new Whisker() : undefined;
    this.main = new Words("span");
    this.more = new Words("small");
    const number = el("div", { class: "nbm-dashboard-number" }, [this.main.root, this.more.root]);
    this.root = el("td", { class: `nbm-dashboard-${name}` }, this.whisker ? [number, this.whisker.root] : [number]);
    this.title = "";
    this.value = "";
    this.isCurrent = "";
  }

  /** @param {import("./leaderboard_rows.js").Cell} cell @param {string} far */
  paint({ text, small, value, isOld, isFar, title = "" }, far) {
    this.main.say(text);
    this.more.say(small);
    this.set("title", isFar ? far : title);
    if (value === undefined) return;
    this.set("value", String(value));
    this.set("isCurrent", String(!isOld));
  }

  /** @param {"title" | "value" | "isCurrent"} what @param {string} text */
  set(what, text) {
    if (this[what] === text) return;
    this[what] = text;
    this.root.setAttribute(ATTRIBUTES[what], text);
  }
}

const ATTRIBUTES = { title: "title", value: "data-value", isCurrent: "data-current" };

/** A text that is written where it is another. */
class Words {
  /** @param {"span" | "small"} tag */
  constructor(tag) {
    this.text = document.createTextNode("");
    this.text = document.createTextNode("");
    this.root = el(tag, {}, [this.text]);
    this.said = "";
  }

  /** @param {string} text */
  say(text) {
    if (text !== this.said) this.text.data = this.said = text;
  }
}

/**
 * Some pictures of each generator below its name, and in the head of the column some of the clients: drawn at random, by
 * Python, once the first numbers are there.
 *
 * @typedef {{picture: string, count: number, of: number, side: number}} Strip  a data URL; `side` in its own pixels
 * @typedef {{generators?: Record<string, Strip>, clients?: Strip}} Strips  see pictures.py
 */

// Pictures of fewer pixels a side show them as squares, larger ones are smoothed.
const MAX_PIXELS_AS_SQUARES = 20;
const NOTE = "Images: chosen at random, at the same positions for every generator. Point at one to enlarge it.";

/** @type {WeakMap<Element, Strip>} */
const shown = new WeakMap();

/** As the last of what is in `parent`, where there is one. @param {Element} parent @param {Strip | undefined} strip @param {string} whose */
export function paintStrip(parent, strip, whose) {
  const last = parent.lastElementChild;
  const image = last instanceof HTMLImageElement ? last : null;
  if (!strip) return image?.remove();
  const { picture, count, of, side } = strip;
  const node = image ?? el("img", { class: "nbm-dashboard-strip" });
  if (!image) parent.append(node);
  if (shown.get(node) === strip) return;
  shown.set(node, strip);
  const alt = `${count} of ${of.toLocaleString("en")} images of ${whose}, drawn at random`;
  setAttributes(node, { alt, src: picture, width: count * (side + 1) - 1, height: side });
  node.classList.toggle("nbm-dashboard-squares", side < MAX_PIXELS_AS_SQUARES);
}

/** In the head, the pictures of the clients. */
export class ClientStrip {
  constructor() {
    this.root = el("span", { class: "nbm-dashboard-clients", hidden: "" }, ["clients’ data"]);
    this.note = el("p", { class: "nbm-note nbm-dashboard-strips", hidden: "" });
  }

  /** @param {Strips} strips */
  paint({ generators = {}, clients }) {
    this.root.hidden = !clients;
    paintStrip(this.root, clients, "the clients");
    this.note.hidden = !Object.keys(generators).length;
    setText(this.note, this.note.hidden ? "" : NOTE);
  }
}
