/**
 * A matrix on one canvas, with its names at the left and on top, which stay in sight. Over it lies a grid without
 * colour, for keys, screen readers and whatever asks for elements: one stop of Tab, arrows within, a cell in words each.
 * Of large matrices the grid holds some rows about the one in focus; the canvas paints what is in sight.
 *
 * @import { Box, Cell, Theme } from "./matrix_cell.js"
 * @typedef {{name: string, note?: string, isInside?: boolean, isOpen?: boolean, isStrong?: boolean}} Row  `isOpen`: of a
 *   group, whether its parts are below it; `note` stands behind the name
 * @typedef {{row: number, column: number} | null} Place  −1 for the names
 * @typedef {object} Content
 * @property {Row[]} rows
 * @property {string[]} columns
 * @property {{row: number, column: number}} chosen  −1 for none
 * @property {(row: number, column: number) => Cell} cell
 * @property {(row: number, column: number) => string} words  all of a cell, as it is read out
 */
import { el, oncePerFrame, setAttributes, setText, watchSize } from "./dom.js";
import { isOwnKey } from "./keys.js";
import { PRINTED, paintCell, themeOf } from "./matrix_cell.js";
import { watchTheme } from "./themes.js";

/** At the left: of the lit and the chosen row whole and large. @param {Matrix} matrix @param {Theme} theme @param {Place} lit */
export function paintNames(matrix, theme, lit) {
  const { pen } = matrix;
  const { names, head, height } = matrix.layout;
  const { chosen } = matrix.content;
  pen.fillStyle = theme.back;
  pen.fillRect(0, head, names, matrix.size.height - head);
  const { top, bottom } = matrix.sight;
  const step = Math.ceil(12 / height);
  const special = [chosen.row, lit?.row ?? -1].filter((row) => row >= top && row < bottom);
  for (let row = top; row < bottom; row++) if (row % step === 0) paintName(matrix, theme, row, false, false);
  for (const row of special) paintName(matrix, theme, row, true, row === chosen.row);
}

/** @param {Matrix} matrix @param {Theme} theme @param {number} row @param {boolean} isLit @param {boolean} isChosen */
function paintName(matrix, theme, row, isLit, isChosen) {
  const { pen } = matrix;
  const { names, height } = matrix.layout;
  const { name, note = "", isInside, isOpen, isStrong } = matrix.content.rows[row];
  const middle = matrix.box(row, 0).y + height / 2;
  const size = isLit ? 12 : Math.min(12, Math.max(10, height - 1));
  if (isLit) {
    pen.fillStyle = theme.raised;
    pen.fillRect(0, middle - Math.max(height, 16) / 2, names - 2, Math.max(height, 16));
  }
  if (isChosen) {
    pen.fillStyle = theme.focus;
    pen.fillRect(0, middle - Math.max(height, 16) / 2, 3, Math.max(height, 16));
  }
  pen.font = `${isLit || isStrong ? "600 " : ""}${size}px ${theme.font}`;
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  pen.fillStyle = isLit || isStrong || height >= PRINTED.height ? theme.text : theme.quiet;
  const start = 6 + (isInside ? 12 : 0);
  const fold = isOpen === undefined ? "" : isOpen ? "▾ " : "▸ ";
  pen.fillText(fitting(pen, fold + name, note, names - start - 4), start, middle + 0.5);
}

/** On top, upright where there is no room. @param {Matrix} matrix @param {Theme} theme @param {Place} lit */
export function paintHead(matrix, theme, lit) {
  const { pen } = matrix;
  const { names, head, width, isTurned } = matrix.layout;
  const { columns, chosen } = matrix.content;
  pen.fillStyle = theme.back;
  pen.fillRect(0, 0, matrix.size.width, head);
  pen.save();
  pen.beginPath();
  pen.rect(names, 0, matrix.size.width - names, head);
  pen.clip();
  const { left, right } = matrix.sight;
  for (let column = left; column < right; column++) {
    const isLit = column === lit?.column || column === chosen.column;
    pen.font = `${isLit ? "600 " : ""}12px ${theme.font}`;
    pen.fillStyle = isLit ? theme.text : theme.quiet;
    pen.textAlign = isTurned ? "left" : "center";
    pen.textBaseline = "middle";
    const middle = matrix.box(0, column).x + (width - 1) / 2;
    pen.save();
    pen.translate(middle, isTurned ? head - 6 : head / 2);
    if (isTurned) pen.rotate(-Math.PI / 2);
    pen.fillText(fitting(pen, columns[column], "", isTurned ? head - 10 : width - 4), 0, 0);
    pen.restore();
    if (column !== chosen.column) continue;
    pen.fillStyle = theme.focus;
    pen.fillRect(middle - width / 2, head - 3, width - 1, 3);
  }
  pen.restore();
  pen.fillStyle = theme.line;
  pen.fillRect(0, head - 1, matrix.size.width, 0.5);
}

/** A text that fits: its middle cut, as names often differ at their ends. @param {CanvasRenderingContext2D} pen @param {string} text @param {string} behind @param {number} width */
function fitting(pen, text, behind, width) {
  if (pen.measureText(text + behind).width <= width) return text + behind;
  const letters = [...text];
  const some = (/** @type {number} */ count) => {
    const end = Math.floor(count / 2);
    return `${letters.slice(0, count - end).join("")}…${letters.slice(letters.length - end).join("")}${behind}`;
  };
  let [least, most] = [0, letters.length];
  while (least < most) {
    const middle = (least + most + 1) >> 1;
    if (pen.measureText(some(middle)).width <= width) least = middle;
    else most = middle - 1;
  }
  return some(least);
}

// Heights of rows, by how many there are.
const HEIGHTS = [
  { rows: 28, height: 22 },
  { rows: 44, height: PRINTED.height },
  { rows: 72, height: 12 },
  { rows: Infinity, height: 8 },
];
const COLUMN = { least: 32, most: 110 };
const NAMES = { least: 56, most: 190, share: 0.38 };
const HEAD = { least: 24, most: 116 };
// Elements of the grid: more cost every style rule of the page a look.
const MAX_GRID_CELLS = 600;
const TOOLTIP_PIXELS = 270;
const EMPTY = /** @type {Content} */ ({
  rows: [],
  columns: [],
  chosen: { row: -1, column: -1 },
  cell: () => ({ is: "unknown", level: 0, text: "" }),
  words: () => "",
});

export class Matrix {
  /**
   * @param {string} label @param {AbortSignal} signal
   * @param {(row: number, column: number) => void} choose −1 for the names; of a group's row, what opens or closes it
   */
  constructor(label, signal, choose) {
    this.choose = choose;
    this.signal = signal;
    this.content = EMPTY;
    this.size = { width: 0, height: 0 };
    this.at = { row: 0, column: 0 };
    /** @type {Place} what the pointer is at */
    this.over = null;
    this.isFocused = false;
    this.first = 0;
    this.layout = { names: 0, head: 0, width: COLUMN.least, height: 8, isTurned: false };
    /** @type {Theme | null} */
    this.theme = null;
    /** @type {Map<string, number>} by font and text */
    this.widths = new Map();
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.pen = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    this.grid = el("div", { class: "nbm-matrix-grid", role: "grid", "aria-label": label }, [this.canvas]);
    this.scroll = el("div", { class: "nbm-matrix-scroll" }, [this.grid]);
    this.tip = el("div", { class: "nbm-bubble nbm-matrix-tip", "aria-hidden": "true", hidden: "" });
    this.root = el("div", { class: "nbm-matrix" }, [this.scroll, this.tip]);
    /** @type {HTMLElement[]} */
    this.rowNodes = [];
    this.soon = oncePerFrame(() => this.paint(), signal);
    this.listen(signal);
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    const options = { signal };
    watchSize(this.scroll, signal, ({ width, height }) => {
      const isWider = width !== this.size.width;
      this.size = { width, height };
      if (isWider) this.arrange();
      this.soon();
    });
    this.scroll.addEventListener("scroll", () => this.soon(), options);
    this.scroll.addEventListener("pointermove", (event) => this.point(this.under(event)), options);
    this.scroll.addEventListener("pointerleave", () => this.point(null), options);
    this.scroll.addEventListener("click", (event) => this.handleClick(event), options);
    this.grid.addEventListener("keydown", (event) => this.key(event), options);
    this.grid.addEventListener("focusin", (event) => this.focused(event.target), options);
    this.grid.addEventListener("focusout", () => this.left(), options);
    watchTheme(signal, () => {
      this.theme = null;
      this.soon();
    });
  }

  /** @param {Content} content */
  show(content) {
    this.content = content;
    const { rows, columns } = content;
    this.at = { row: within(this.at.row, rows.length), column: within(this.at.column, columns.length) };
    this.over = null;
    this.arrange();
    this.soon();
  }

  /** Sizes, and the grid over them. */
  arrange() {
    const { rows, columns } = this.content;
    const { width: room } = this.size;
    if (!rows.length || !room) return;
    const widest = (/** @type {string[]} */ texts) => Math.max(...texts.map((text) => this.textWidth(text)));
    const wanted = widest(rows.map(({ name, note, isInside }) => `${name}${note ?? ""}${isInside ? "mm" : ""}`)) + 14;
    const names = Math.round(Math.min(Math.max(wanted, NAMES.least), NAMES.most, NAMES.share * room));
    const share = Math.floor((room - names) / columns.length);
    const width = Math.min(Math.max(share, COLUMN.least), COLUMN.most);
    const head = widest(columns) + 12;
    const isTurned = head > width;
    const { height } = /** @type {{height: number}} */ (HEIGHTS.find(({ rows: most }) => rows.length <= most));
    this.layout = {
      names,
      head: isTurned ? Math.ceil(Math.min(head, HEAD.most)) : HEAD.least,
      width,
      height,
      isTurned,
    };
    const total = { width: names + width * columns.length, height: this.layout.head + height * rows.length };
    this.grid.style.width = `${total.width}px`;
    this.grid.style.height = `${total.height}px`;
    this.scroll.style.scrollPadding = `${this.layout.head}px 0 0 ${names}px`;
    setAttributes(this.grid, { "aria-rowcount": rows.length + 1, "aria-colcount": columns.length + 1 });
    this.fill();
  }

  /** @param {string} text */
  textWidth(text) {
    this.theme ??= themeOf(this.root); // in the page, as it has a size
    const key = `${this.theme.font}\n${text}`;
    let width = this.widths.get(key);
    if (width === undefined) {
      this.pen.font = `600 12px ${this.theme.font}`;
      width = this.pen.measureText(text).width;
      this.widths.set(key, width);
    }
    return width;
  }

  /** How many rows the grid holds. */
  get held() {
    return Math.min(this.content.rows.length, Math.max(2, Math.floor(MAX_GRID_CELLS / this.content.columns.length)));
  }

  /** Write the grid: the head, and the rows about the one in focus. */
  fill() {
    const { rows, columns } = this.content;
    const { held } = this;
    const { row } = this.at;
    if (row < this.first || row >= this.first + held) this.first = row - (held >> 1);
    this.first = Math.max(0, Math.min(this.first, rows.length - held));
    while (this.rowNodes.length > held + 1) this.rowNodes.pop()?.remove();
    while (this.rowNodes.length < held + 1) {
      const node = el("div", { role: "row" });
      this.rowNodes.push(node);
      this.grid.append(node);
    }
    const [top, ...others] = this.rowNodes;
    this.fillRow(top, -1, ["", ...columns]);
    others.forEach((node, i) => {
      const r = this.first + i;
      const { name, note = "" } = rows[r];
      this.fillRow(node, r, [name + note, ...columns.map((_, c) => this.content.words(r, c))]);
    });
  }

  /** @param {HTMLElement} node @param {number} r −1 for the head @param {string[]} words */
  fillRow(node, r, words) {
    const { names, head, width, height } = this.layout;
    while (node.children.length > words.length) node.lastElementChild?.remove();
    while (node.children.length < words.length) node.append(el("div"));
    setAttributes(node, { "aria-rowindex": r + 2 });
    const { isOpen } = this.content.rows[r] ?? {};
    if (isOpen === undefined) node.removeAttribute("aria-expanded");
    else setAttributes(node, { "aria-expanded": String(isOpen) });
    place(node, { x: 0, y: r < 0 ? 0 : head + r * height, width: names + width * (words.length - 1), height });
    if (r < 0) node.style.height = `${head}px`;
    const { chosen } = this.content;
    words.forEach((text, i) => {
      const cell = /** @type {HTMLElement} */ (node.children[i]);
      const c = i - 1;
      const role = r < 0 ? "columnheader" : c < 0 ? "rowheader" : "gridcell";
      setAttributes(cell, { role, "aria-colindex": i + 1 });
      if (role === "gridcell") setAttributes(cell, { "aria-label": text });
      else setText(cell, text || "Clients"); // unseen: the canvas shows it
      place(cell, {
        x: c < 0 ? 0 : names + c * width,
        y: 0,
        width: c < 0 ? names : width,
        height: r < 0 ? head : height,
      });
      if (role !== "gridcell") return;
      const isAt = r === this.at.row && c === this.at.column;
      setAttributes(cell, {
        tabindex: isAt ? 0 : -1,
        "aria-selected": String(r === chosen.row && c === chosen.column),
        "data-row": r,
        "data-column": c,
      });
    });
  }

  /** @param {number} row @param {number} column @returns {HTMLElement | undefined} of the grid, where it holds it */
  node(row, column) {
    return /** @type {HTMLElement | undefined} */ (this.rowNodes[row - this.first + 1]?.children[column + 1]);
  }

  /** Put the stop of Tab, and the focus, to a cell. @param {number} row @param {number} column */
  go(row, column) {
    const { rows, columns } = this.content;
    const before = this.node(this.at.row, this.at.column);
    this.at = { row: within(row, rows.length), column: within(column, columns.length) };
    if (before) setAttributes(before, { tabindex: -1 });
    this.fill();
    const node = this.node(this.at.row, this.at.column);
    node?.focus({ preventScroll: true });
    node?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** @param {EventTarget | null} target */
  focused(target) {
    if (!(target instanceof HTMLElement) || target.dataset.row === undefined) return;
    this.at = { row: Number(target.dataset.row), column: Number(target.dataset.column) };
    this.isFocused = true;
    this.soon();
  }

  left() {
    this.isFocused = false;
    this.soon();
  }

  /** @param {Place} place */
  point(place) {
    if (place?.row === this.over?.row && place?.column === this.over?.column) return;
    this.over = place;
    this.soon();
  }

  /** What is under the pointer: −1 for the names and the head. @param {MouseEvent} event */
  under(event) {
    const { left, top } = this.scroll.getBoundingClientRect();
    const { names, head, width, height } = this.layout;
    const [x, y] = [event.clientX - left - this.scroll.clientLeft, event.clientY - top - this.scroll.clientTop];
    const row = y < head ? -1 : Math.floor((y + this.scroll.scrollTop - head) / height);
    const column = x < names ? -1 : Math.floor((x + this.scroll.scrollLeft - names) / width);
    const { rows, columns } = this.content;
    return row < rows.length && column < columns.length && (row >= 0 || column >= 0) ? { row, column } : null;
  }

  /** @param {MouseEvent} event */
  handleClick(event) {
    const place = this.under(event);
    if (!place) return;
    if (place.row >= 0) this.go(place.row, Math.max(0, place.column));
    this.choose(place.row, place.column);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { row, column } = this.at;
    const [down, across] = [this.content.rows.length - 1, this.content.columns.length - 1];
    const page = Math.max(1, Math.floor((this.size.height - this.layout.head) / this.layout.height) - 1);
    const isFar = event.ctrlKey || event.metaKey;
    /** @type {Record<string, [number, number]>} */
    const places = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      Home: [isFar ? 0 : row, 0],
      End: [isFar ? down : row, across],
      PageUp: [row - page, column],
      PageDown: [row + page, column],
    };
    if (event.key in places) this.go(...places[event.key]);
    else if (isOwnKey(event) && (event.key === "Enter" || event.key === " ")) this.choose(row, column);
    else return;
    event.preventDefault();
  }

  /** Where a cell lies on the canvas. @param {number} row @param {number} column @returns {Box} */
  box(row, column) {
    const { names, head, width, height } = this.layout;
    const { scrollLeft, scrollTop } = this.scroll;
    return { x: names + column * width - scrollLeft, y: head + row * height - scrollTop, width, height };
  }

  paint() {
    const { width, height } = this.size;
    if (!width || !this.content.rows.length) return;
    if (!this.theme) {
      this.theme = themeOf(this.root);
      this.arrange();
    }
    const ratio = devicePixelRatio || 1;
    const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== across || this.canvas.height !== down) {
      [this.canvas.width, this.canvas.height] = [across, down];
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.pen.fillStyle = this.theme.back;
    this.pen.fillRect(0, 0, width, height);
    const lit = this.over ?? (this.isFocused ? this.at : null);
    this.paintCells(this.theme, ratio);
    this.paintFrames(this.theme, lit);
    paintNames(this, this.theme, lit);
    paintHead(this, this.theme, lit);
    this.paintTip(lit);
  }

  /** The rows and columns in sight. */
  get sight() {
    const { names, head, width, height } = this.layout;
    const { scrollLeft, scrollTop } = this.scroll;
    const { rows, columns } = this.content;
    return {
      top: Math.max(0, Math.floor(scrollTop / height)),
      bottom: Math.min(rows.length, Math.ceil((scrollTop + this.size.height - head) / height)),
      left: Math.max(0, Math.floor(scrollLeft / width)),
      right: Math.min(columns.length, Math.ceil((scrollLeft + this.size.width - names) / width)),
    };
  }

  /** @param {Theme} theme @param {number} ratio */
  paintCells(theme, ratio) {
    const { top, bottom, left, right } = this.sight;
    const gap = this.layout.height < 12 ? 0.5 : 1;
    for (let row = top; row < bottom; row++)
      for (let column = left; column < right; column++) {
        const { x, y, width, height } = this.box(row, column);
        const inner = { x, y, width: width - gap, height: height - gap };
        paintCell(this.pen, inner, this.content.cell(row, column), theme, ratio);
      }
  }

  /** About the cell that is chosen, and the one pointed at. @param {Theme} theme @param {Place} lit */
  paintFrames(theme, lit) {
    const { chosen } = this.content;
    for (const [place, colour] of /** @type {const} */ ([
      [chosen, theme.focus],
      [lit, theme.text],
    ])) {
      if (!place || place.row < 0 || place.column < 0) continue;
      const { x, y, width, height } = this.box(place.row, place.column);
      this.pen.lineWidth = 4;
      this.pen.strokeStyle = theme.back;
      this.pen.strokeRect(x, y, width - 1, height - 1);
      this.pen.lineWidth = 2;
      this.pen.strokeStyle = colour;
      this.pen.strokeRect(x, y, width - 1, height - 1);
    }
  }

  /** All of a cell in words, beside it. @param {Place} lit */
  paintTip(lit) {
    this.tip.hidden = !lit || lit.row < 0;
    if (!lit || lit.row < 0) return;
    const { name, note = "" } = this.content.rows[lit.row];
    setText(this.tip, lit.column < 0 ? name + note : this.content.words(lit.row, lit.column));
    const { x, y, height } = this.box(lit.row, Math.max(0, lit.column));
    const isLow = y + height + 60 > this.size.height;
    this.tip.style.left = `${Math.max(0, Math.min(x, this.size.width - TOOLTIP_PIXELS))}px`;
    this.tip.style.top = isLow ? "auto" : `${y + height + 6}px`;
    this.tip.style.bottom = isLow ? `${this.root.clientHeight - y + 6}px` : "auto";
  }
}

/** @param {HTMLElement} node @param {Box} box */
function place(node, { x, y, width, height }) {
  node.style.cssText = `left: ${x}px; top: ${y}px; width: ${width}px; height: ${height}px`;
}

/** @param {number} value @param {number} count */
function within(value, count) {
  return Math.max(0, Math.min(value, count - 1));
}
