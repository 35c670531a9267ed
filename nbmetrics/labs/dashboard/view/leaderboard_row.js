/**
 * A row of the leaderboard. It knows what it shows, so that a frame of a drag writes only what is another, and reads
 * nothing of the page.
 *
 * @import { Cells } from "./leaderboard_rows.js"
 * @import { Drawn } from "./leaderboard.js"
 *
 * @typedef {{drawn: Drawn[], room: number, far: string}} Look  what all rows share: dots on their scales, the pixels of a
 *   name, and why a number is not known here
 */
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { shortened } from "../../toolkit/view/name_width.js";
import { Whisker } from "./whiskers.js";

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
