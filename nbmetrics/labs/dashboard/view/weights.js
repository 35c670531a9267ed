/**
 * Weights of the clients: first the bars of those that decide most, to drag or to type; bars that are held stay, the
 * others give and take in proportion. A fold has the rest: weights at once, all of the clients, and below each who wins by
 * avg where, and how much the client decides. Only the rows in view are painted in a drag.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Decided } from "./decision_inputs.js"
 * @import { Numbers, Scene } from "./types.js"
 */
import { resizeChildren } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText, svg, watchSize } from "../../toolkit/view/dom.js";
import { isOwnKey } from "../../toolkit/view/keys.js";
import { shareText } from "../../toolkit/view/numbers.js";
import { slides } from "../../toolkit/view/slider.js";
import { orderOf } from "../../toolkit/view/ties.js";
import { setValue } from "../../toolkit/view/typed_fields.js";
import { breakpoints, withWeight } from "./certificate.js";
import { decidedOf, influencesOf, trackWords } from "./decision_inputs.js";
import { inWords, sharesOf } from "./metric_view.js";

// Clients whose bars are all shown at once, those shown of more, and those shown without scrolling.
const [MAX_CLIENTS_SHOWN, CLIENTS_SHOWN_OF_MORE, MAX_CLIENTS_UNSCROLLED] = [5, 3, 12];
// Pixels of a row, without and with what is below a bar; of the list, from which on it has two columns.
const ROW_PX = { short: 38, tall: 60 };
const TWO_COLUMNS_PX = 620;
// Rows out of view that are painted together, after the others.
const ROWS_A_BATCH = 50;
// To what the bars of many clients may run.
const SCALES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];
const HEAD = "Client weights";
const FOLD = "More weights";
const WEIGHT = "Weight: how much a client counts, as a share of 1";
const INFLUENCE = "Influence: how much this client decides (its weight × the spread of its scores).";

export class Weights {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.signal = signal;
    /** @type {WeightRow[]} */
    this.rows = [];
    this.chosen = "";
    this.told = -1;
    this.most = 1;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.view = { top: 0, height: 600, width: 600 };
    this.isOpen = false;
    this.isDetailed = false;
    /** Of those shown first: whose they are, and their positions. @type {{of: string, which: number[]}} */
    this.first = { of: "", which: [] };
    this.byRows = this.makeButton("By rows", (clients) => clients.map(({ rows }) => rows));
    this.alike = this.makeButton("All alike", (clients) => clients.map(() => 1));
    /** The room of the first rows, until it is known which these are. */
    this.room = Array.from({ length: CLIENTS_SHOWN_OF_MORE }, () => el("div", { class: "nbm-weight" }));
    this.list = el("div", { class: "nbm-weights-list" }, this.room);
    this.key = el("p", { class: "nbm-note nbm-weights-key" });
    this.words = el("p", { class: "nbm-weights-words", "aria-live": "polite" });
    this.more = this.makeToggle("isOpen");
    this.detail = this.makeToggle("isDetailed");
    setText(this.detail, "Who wins where");
    const attributes = { class: "nbm-card-head", role: "heading", "aria-level": "3", title: WEIGHT };
    this.heading = el("div", { class: "nbm-weights-head" }, [el("span", attributes, [HEAD])]);
    this.influence = el("p", { class: "nbm-note" }, [INFLUENCE]);
    this.tools = el("div", { class: "nbm-group nbm-weights-tools" }, [this.more, this.byRows, this.alike, this.detail]);
    this.fold = el("details", { class: "nbm-fold nbm-weights-more" }, [el("summary", {}, [FOLD]), this.tools]);
    this.root = el("section", { class: "nbm-dashboard-card", "aria-label": "Weights" }, [
      this.heading,
      this.key,
      this.list,
      this.words,
      this.influence,
      this.fold,
    ]);
    this.list.addEventListener("scroll", () => this.paintRowsInView(), { signal, passive: true });
    watchSize(this.list, signal, ({ width, height }) => {
      Object.assign(this.view, { width, height: Math.max(height, this.rowPx) });
    });
    signal.addEventListener("abort", () => clearTimeout(this.timer));
    for (const name of ["pointerover", "focusin"])
      this.list.addEventListener(name, (event) => this.tell(/** @type {Element} */ (event.target)), { signal });
  }

  /** A button that opens or closes a part. @param {"isOpen" | "isDetailed"} what */
  makeToggle(what) {
    const button = el("button", { type: "button" });
    const toggle = () => {
      this[what] = !this[what];
      this.store.changed();
    };
    button.addEventListener("click", toggle, { signal: this.signal });
    return button;
  }

  /** Weights at once; those that are held stay. @param {string} text @param {(clients: any[]) => number[]} make */
  makeButton(text, make) {
    const { store, signal } = this;
    const button = el("button", { type: "button", "data-lock": "drag" }, [text]);
    const set = () => {
      const scene = this.scene;
      const held = heldOf(scene, this.clients);
      const [now, wanted] = [sharesOf(scene.weights), make(this.clients)];
      const kept = held.reduce((sum, i) => sum + now[i], 0);
      const free = wanted.reduce((sum, weight, i) => (held.includes(i) ? sum : sum + weight), 0);
      if (!(free > 0)) return;
      const weights = now.map((share, i) => (held.includes(i) ? share : ((1 - kept) * wanted[i]) / free));
      store.edit(/** @type {any} */ ({ ...scene, weights }));
    };
    button.addEventListener("click", set, { signal });
    return button;
  }

  /** @returns {Scene} */
  get scene() {
    return /** @type {any} */ (this.store.scene);
  }

  /** @returns {import("./types.js").ClientFacts[]} */
  get clients() {
    return this.store.model.get("board").clients ?? [];
  }

  /** @param {Scene} scene @param {Numbers} numbers @param {number} [turn] of a frame of a drag, in which every other row has its turn, and the one that is dragged has it in each */
  paint(scene, numbers, turn) {
    const { clients, shares, metrics } = numbers;
    const shown = metrics[scene.metric];
    if (!shown) return;
    while (this.rows.length < clients.length) this.addRow(clients);
    const isDragged = Boolean(this.store.before);
    const decided = decidedOf(shown, shares, this.store.model.get("board").few?.[scene.metric]);
    const held = heldOf(scene, clients);
    const says = influencesOf(decided.lined, shares);
    this.now = { scene, clients, shares, decided, held, says, mostSay: Math.max(...says) };
    if (!isDragged) this.rest(scene, this.now);
    this.list.classList.toggle("nbm-weights-moving", isDragged);
    for (const i of this.inView)
      if (turn === undefined || i % 2 === turn % 2 || this.rows[i].isActive) this.paintRow(i);
    clearTimeout(this.timer);
    if (!isDragged) {
      this.paintTracks();
      this.paintOthers(0);
    }
    this.choose(scene.client);
  }

  /** What does not change in a drag. @param {Scene} scene @param {{shares: number[], decided: Decided, held: number[], says: number[]}} now */
  rest(scene, { shares, decided, held, says }) {
    const { generators } = scene;
    this.restRows(scene, says, held);
    const many = shares.length > MAX_CLIENTS_UNSCROLLED;
    const wanted = Math.max(5 / shares.length, 2 * Math.max(...shares));
    this.most = many ? (SCALES.find((scale) => scale >= wanted) ?? 1) : 1;
    const winner = generators[decided.winner];
    const scale = this.most < 1 ? ` Bars run to ${shareText(this.most)}.` : "";
    const keys = many ? " On a bar, Enter types a weight, H holds it." : "";
    const kept = held.length ? ` Held: ${held.length}.` : "";
    setText(
      this.key,
      winner === undefined
        ? ""
        : `Each bar shows who wins by ${decided.average} at that weight. Blue: ${inWords(winner)}, the current winner; hatched: another.${scale}${keys}${kept}`,
    );
    this.byRows.hidden = this.clients.some(({ rows }) => !rows);
    this.list.classList.toggle("nbm-weights-many", many && this.isOpen);
  }

  /** Which rows are shown: all, or those that decide most, that are held and that is chosen. @param {Scene} scene @param {number[]} says @param {number[]} held */
  restRows({ metric, generators, client }, says, held) {
    const count = says.length;
    const of = JSON.stringify([metric, generators, count]);
    const isKnown = says.some((say) => say > 0);
    if (this.first.of !== of && isKnown)
      this.first = { of, which: orderOf(says.map((say) => -say)).slice(0, CLIENTS_SHOWN_OF_MORE) };
    const few = this.first.which;
    const isAll = this.isOpen || count <= MAX_CLIENTS_SHOWN;
    for (const room of this.room) room.hidden = isAll || few.length > 0;
    this.rows.forEach(({ root, name, isActive }, i) => {
      root.hidden = !(isAll || few.includes(i) || held.includes(i) || name === client || isActive);
    });
    const inRoom = this.room.filter(({ hidden }) => !hidden).length;
    const hidden = this.rows.filter(({ root }) => root.hidden).length - inRoom;
    this.more.hidden = count <= MAX_CLIENTS_SHOWN;
    setText(this.more, this.isOpen ? "Fewer clients" : `${hidden} more clients`);
    setAttributes(this.more, { "aria-expanded": String(this.isOpen) });
    setAttributes(this.detail, { "aria-pressed": String(this.isDetailed) });
    setAttributes(this.list, { title: isAll ? "" : "The clients that decide most" });
    this.root.classList.toggle("nbm-weights-detailed", this.isDetailed);
    for (const part of [this.key, this.words, this.influence]) part.hidden = !this.isDetailed;
  }

  /** @param {{name: string}[]} clients */
  addRow(clients) {
    const i = this.rows.length;
    const row = new WeightRow(this.store, this.signal, clients[i].name, {
      write: (value) => this.moveWeight(i, value),
      hold: () => this.hold(clients[i].name),
      choose: () => this.store.edit(/** @type {any} */ ({ ...this.scene, client: clients[i].name }), ""),
    });
    row.rest(clients.length > MAX_CLIENTS_UNSCROLLED);
    this.rows.push(row);
    this.list.append(row.root);
  }

  /** The scene with one client's share: from where the drag began, so that the way there and back leaves the others alone. @param {number} i @param {number} value @returns {any} */
  moveWeight(i, value) {
    const from = /** @type {Scene} */ (/** @type {any} */ (this.store.before ?? this.store.scene));
    return withShare(from, i, value, heldOf(from, this.clients));
  }

  /** @param {string} name */
  hold(name) {
    const { held } = this.scene;
    const now = held.includes(name) ? held.filter((other) => other !== name) : [...held, name];
    this.store.edit(/** @type {any} */ ({ ...this.scene, held: now }));
  }

  /** The rows that are seen, by position. */
  get inView() {
    const { rows, columns, rowPx, view } = this;
    if (!this.isOpen) return rows.map((_, i) => i).filter((i) => !rows[i].root.hidden);
    if (rows.length <= MAX_CLIENTS_UNSCROLLED) return rows.keys();
    const first = columns * Math.max(0, Math.floor(view.top / rowPx));
    const count = columns * (Math.ceil(view.height / rowPx) + 1);
    return Array.from({ length: Math.min(count, rows.length - first) }, (_, n) => first + n);
  }

  get rowPx() {
    return this.isDetailed ? ROW_PX.tall : ROW_PX.short;
  }

  get columns() {
    return this.view.width < TWO_COLUMNS_PX ? 1 : 2;
  }

  /** @param {number} i */
  paintRow(i) {
    if (!this.now) return;
    const { shares, says, mostSay, held, decided } = this.now;
    const others = held.filter((j) => j !== i);
    const isFree = shares.length - others.length > 1;
    const isHeld = held.includes(i);
    this.rows[i].paint({
      share: shares[i],
      say: says[i],
      length: mostSay > 0 ? says[i] / mostSay : 0,
      isHeld,
      isFree,
      most: this.most,
      counts: decided.counted.length === shares.length || decided.counted.includes(i),
    });
  }

  /** The rows that nobody sees, some at a time. @param {number} from */
  paintOthers(from) {
    if (!this.isOpen || this.rows.length <= MAX_CLIENTS_UNSCROLLED || from >= this.rows.length) return;
    this.timer = setTimeout(() => {
      for (let i = from; i < Math.min(from + ROWS_A_BATCH, this.rows.length); i++) this.paintRow(i);
      this.paintOthers(from + ROWS_A_BATCH);
    });
  }

  paintTracks() {
    if (!this.now) return;
    const { scene, shares, decided, held } = this.now;
    for (const i of this.inView) this.rows[i].paintTrack(scene.generators, decided, shares, i, held, this.most);
    if (this.told >= 0) setText(this.words, this.rows[this.told]?.words ?? "");
  }

  paintRowsInView() {
    this.view.top = this.list.scrollTop;
    if (this.store.before || !this.now) return;
    this.paintTracks();
  }

  /** Say who wins along the bar under the pointer, or with the focus. @param {Element} target */
  tell(target) {
    const at = this.rows.findIndex(({ root }) => root.contains(target));
    if (at < 0 || this.store.before) return;
    this.told = at;
    setText(this.words, this.rows[at].words);
  }

  /** The chosen client is marked, and scrolled to when it is new. @param {string} name */
  choose(name) {
    if (name === this.chosen) return;
    this.chosen = name;
    this.rows.forEach((row) => row.root.classList.toggle("nbm-selected", row.name === name));
    const at = this.rows.findIndex((row) => row.name === name);
    const isScrolled = this.isOpen && this.rows.length > MAX_CLIENTS_UNSCROLLED;
    if (at < 0 || !isScrolled || this.rows[at].root.contains(document.activeElement)) return;
    const row = Math.floor(at / this.columns);
    this.list.scrollTop = Math.max(0, this.rowPx * row - (this.view.height - this.rowPx) / 2);
  }
}

/** @param {Scene} scene @param {{name: string}[]} clients the held ones by position */
function heldOf({ held }, clients) {
  return held.length ? clients.map((_, i) => i).filter((i) => held.includes(clients[i].name)) : [];
}

/** One client's share moved, the others in proportion, those held as they are. @param {Scene} scene @param {number} i @param {number} value @param {number[]} held @returns {any} */
export function withShare(scene, i, value, held) {
  const shares = sharesOf(scene.weights);
  const others = held.filter((j) => j !== i);
  if (shares.length - others.length < 2) return scene; // nobody is left to give or take
  const top = 1 - others.reduce((sum, j) => sum + shares[j], 0);
  const weights = withWeight(shares, i, Math.min(Math.max(0, value), top), others);
  return { ...scene, weights: weights.map((weight) => Math.max(0, weight)) };
}

/* One client's weight: a slider, a number to type, a hold, and, where it is asked for, who wins by avg where and its influence. */

const LOCK = "M4 7V5a3 3 0 0 1 6 0v2M3 7h8v5H3z";

/** @typedef {{share: number, say: number, length: number, isHeld: boolean, isFree: boolean, most: number, counts: boolean}} RowState */

export class WeightRow {
  /** @param {Store} store @param {AbortSignal} signal @param {string} name @param {{write: (value: number) => any, hold: () => void, choose: () => void}} does */
  constructor(store, signal, name, { write, hold, choose }) {
    this.name = name;
    this.words = "";
    this.shown = "";
    this.most = 0;
    this.head = el("span", { class: "nbm-weight-name", title: name }, [name]);
    this.percent = el("span", { class: "nbm-weight-percent", "aria-hidden": "true" });
    this.input = el("input", { type: "range", min: "0", max: "1", step: "0.01", "aria-label": `${name} weight` });
    this.number = el("input", {
      type: "number",
      min: "0",
      max: "100",
      step: "any",
      "aria-label": `${name} weight in percent`,
    });
    this.lock = el(
      "button",
      {
        type: "button",
        class: "nbm-weight-hold",
        "data-lock": "drag",
        "aria-label": `hold ${name}`,
        title: "hold: it stays when others move",
      },
      [svg("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" }, [svg("path", { d: LOCK })])],
    );
    this.track = el("div", { class: "nbm-weight-track", "aria-hidden": "true" });
    this.say = el("span", { class: "nbm-weight-saybar" });
    this.sayText = el("span", { class: "nbm-weight-saytext" });
    this.root = el("div", { class: "nbm-weight" }, [
      this.head,
      el("div", { class: "nbm-weight-slide" }, [this.track, this.input]),
      el("span", { class: "nbm-weight-number" }, [this.percent, this.number]),
      this.lock,
      el("div", { class: "nbm-weight-say" }, [el("span", { class: "nbm-weight-sayrest" }, [this.say]), this.sayText]),
    ]);
    slides(this.input, store, write, signal);
    this.input.addEventListener("keydown", (event) => this.shortcut(event, hold), { signal });
    this.lock.addEventListener("click", hold, { signal });
    this.head.addEventListener("click", choose, { signal });
    this.number.addEventListener("keydown", (event) => this.key(event), { signal });
    const typed = () => {
      const value = this.number.valueAsNumber / 100;
      this.shown = "";
      if (Number.isFinite(value)) store.edit(write(Math.min(1, Math.max(0, value))));
      else store.changed();
    };
    this.number.addEventListener("change", typed, { signal });
  }

  /** Escape goes back to the bar. @param {KeyboardEvent} event */
  key(event) {
    if (event.key !== "Escape") return;
    event.preventDefault();
    this.input.focus();
  }

  /** With many clients Tab stops at bars alone: Enter goes to the number, and H holds. @param {KeyboardEvent} event @param {() => void} hold */
  shortcut(event, hold) {
    if (!isOwnKey(event)) return;
    if (event.key === "Enter") this.number.select();
    else if (event.key.toLowerCase() === "h") hold();
    else return;
    event.preventDefault();
  }

  /** @param {boolean} isMany clients */
  rest(isMany) {
    for (const node of [this.number, this.lock]) node.tabIndex = isMany ? -1 : 0;
    setAttributes(this.input, { "aria-keyshortcuts": "Enter H" });
  }

  get isActive() {
    return this.input === document.activeElement;
  }

  /** @param {RowState} state */
  paint({ share, say, length, isHeld, isFree, most, counts }) {
    if (most !== this.most) {
      this.most = most;
      setAttributes(this.input, { max: most, step: most / 100 });
      this.shown = "";
    }
    this.input.disabled = this.number.disabled = !isFree; // a lock that opens enables them
    const key = `${share} ${say} ${length} ${isHeld} ${isFree} ${counts}`;
    if (key === this.shown) return;
    this.shown = key;
    const text = shareText(share);
    this.input.value = String(share);
    setValue(this.number, String(Number((100 * share).toFixed(1))));
    setText(this.percent, text);
    this.input.style.setProperty("--nbm-share", String(Math.min(1, share / most)));
    setAttributes(this.input, { "aria-valuetext": text });
    setAttributes(this.lock, { "aria-pressed": String(isHeld) });
    this.say.style.width = `${(100 * length).toFixed(1)}%`;
    setText(this.sayText, counts ? `influence ${shareText(say)}` : "too few rows to count");
  }

  /** @param {string[]} names @param {Decided} decided @param {number[]} shares @param {number} i @param {number[]} held @param {number} most */
  paintTrack(names, { lined, winner, average }, shares, i, held, most) {
    const parts = breakpoints(lined, shares, i, held);
    this.words = trackWords(parts, names.map(inWords), inWords(this.name), shareText, average);
    setAttributes(this.input, { "aria-description": this.words });
    const seen = parts.filter(([from]) => from < most);
    resizeChildren(this.track, seen.length, makePart).forEach((node, n) => {
      const [from, to, g] = seen[n];
      const kind = g === winner ? "now" : n % 2 ? "odd" : "even";
      setAttributes(node, {
        "data-kind": kind,
        "data-from": from,
        "data-winner": names[g],
        style: placeMark(from, Math.min(to, most), most),
      });
      setText(node, n === seen.length - 1 && seen.length < parts.length ? `${names[g]} ›` : names[g]); // more beyond
    });
  }
}

function makePart() {
  return el("span");
}

/** @param {number} from @param {number} to @param {number} most */
function placeMark(from, to, most) {
  return `left: ${((100 * from) / most).toFixed(2)}%; width: ${((100 * (to - from)) / most).toFixed(2)}%`;
}
