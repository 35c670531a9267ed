/**
 * A picture of a lab, drawn by the page as its colours are: the drawing with its legend, what the lab says of it in a
 * sentence, and the table of scores.
 *
 * @typedef {object} Pictured  what of a display is in the picture, or in a part of it
 * @property {string} [head]
 * @property {SVGSVGElement} [drawing] as large as on the page
 * @property {Element} [legend] of entries: a mark, and what it means; what has no mark, or is a switch that is off, is left out
 * @property {(Element | string)[]} [words] sentences
 * @property {HTMLTableElement | string[][]} [table] or its rows, the heads first
 * @property {() => void} [done] called once the drawing was copied
 */
import { svg } from "./dom.js";

// Those that a node has from its parent, and those of its own.
const STYLES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-opacity",
  "font-family",
  "font-size",
  "font-weight",
  "paint-order",
];
const OWN = { opacity: "1", display: "inline" };
const PAD = 16;
const LINE = 19;
const LEAST_WIDTH = 480;
const PIXEL_RATIO = 3;
// Of a canvas: a side, and an area, in pixels.
const [MOST_SIDE, MOST_AREA] = [16000, 6e7];
const GUTTER = 18;
const MARK = 22;
// How a cell with a number, a dash or nothing begins.
const NUMBER = /^([\d=≠≈–−+-]|$)/;

/** A drawing that keeps its looks wherever it is put. @param {SVGSVGElement} drawing */
function styled(drawing) {
  const copy = /** @type {SVGSVGElement} */ (drawing.cloneNode(true));
  const [from, to] = [drawing, copy].map((top) => [top, ...top.querySelectorAll("*")]);
  /** @type {Map<Element | null, Record<string, string>>} */
  const looks = new Map();
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    const own = Object.fromEntries(STYLES.map((name) => [name, style.getPropertyValue(name)]));
    const inherited = i ? looks.get(node.parentElement) : undefined;
    looks.set(node, own);
    for (const name of STYLES) mark(to[i], name, own[name], inherited?.[name]);
    if (i) for (const [name, usual] of Object.entries(OWN)) mark(to[i], name, style.getPropertyValue(name), usual);
  });
  for (const handle of copy.querySelectorAll(".nbm-width, .nbm-height, .nbm-angle, .nbm-stem")) handle.remove();
  copy.removeAttribute("class");
  return copy;
}

/** @param {Element} node @param {string} name @param {string} value @param {string | undefined} usual without the attribute */
function mark(node, name, value, usual) {
  /** @type {SVGElement} */ (node).style.removeProperty(name);
  if (value === usual) node.removeAttribute(name);
  else node.setAttribute(name, value);
}

/** The text of a node that is shown to everybody. @param {Node} node @returns {string} */
function saidBy(node) {
  if (node instanceof Text) return node.data;
  if (!(node instanceof Element) || node.matches("[hidden], [aria-hidden=true], title")) return "";
  return [...node.childNodes].map(saidBy).join("");
}

/** @param {Node} node */
function wordsOf(node) {
  return saidBy(node).replace(/\s+/g, " ").trim();
}

/** From top to bottom, what stands below what. */
class Sheet {
  /** @param {HTMLElement} root of the display @param {number} width */
  constructor(root, width) {
    const style = getComputedStyle(root);
    this.family = style.fontFamily;
    this.ink = style.color;
    this.paper = style.backgroundColor;
    this.pen = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
    this.width = width;
    this.y = PAD;
    /** @type {Node[]} */
    this.nodes = [];
  }

  /** @param {string} text @param {number} size @param {number} weight */
  textWidth(text, size, weight) {
    this.pen.font = `${weight} ${size}px ${this.family}`;
    return this.pen.measureText(text).width;
  }

  /** @param {string} text @param {number} x @param {{size?: number, weight?: number, anchor?: string}} [how] */
  put(text, x, { size = 13, weight = 400, anchor = "start" } = {}) {
    const style = { "font-family": this.family, "font-size": size, "font-weight": weight, fill: this.ink };
    this.nodes.push(svg("text", { x, y: this.y, "text-anchor": anchor, ...style }, [text]));
  }

  /** Words in as many lines as they take. @param {string} text @param {{size?: number, weight?: number}} [how] */
  write(text, { size = 13, weight = 400 } = {}) {
    let line = "";
    const room = this.width - 2 * PAD;
    for (const word of text ? [...text.split(" "), ""] : []) {
      const longer = line ? `${line} ${word}` : word;
      if (word && this.textWidth(longer, size, weight) <= room) line = longer;
      else {
        this.y += LINE;
        this.put(line, PAD, { size, weight });
        line = word;
      }
    }
  }

  /** @param {SVGSVGElement} drawing */
  draw(drawing) {
    const copy = styled(drawing);
    const { width, height } = drawing.getBoundingClientRect();
    for (const [name, value] of Object.entries({ x: (this.width - width) / 2, y: this.y, width, height }))
      copy.setAttribute(name, String(value));
    this.nodes.push(copy);
    this.y += height;
  }

  /** @param {Element} legend */
  explain(legend) {
    let x = PAD;
    this.y += LINE;
    for (const entry of legend.children) {
      const text = wordsOf(entry);
      const mark = markOf(entry.firstElementChild);
      if (!text || !mark || entry.getAttribute("aria-pressed") === "false") continue;
      const room = Math.max(MARK, Number(mark.getAttribute("width") ?? 0));
      const wide = room + 6 + this.textWidth(text, 12, 400);
      if (x > PAD && x + wide > this.width - PAD) [x, this.y] = [PAD, this.y + LINE];
      this.nodes.push(svg("g", { transform: `translate(${x + room / 2} ${this.y - 4})` }, [mark]));
      this.put(text, x + room + 6, { size: 12 });
      x += wide + 16;
    }
  }

  /** @param {string[][]} rows the heads first */
  tabulate(rows) {
    this.y += LINE / 2;
    const widths = columnWidths(this, rows);
    const isOfNumbers = widths.map((_, k) => rows.slice(1).every((row) => NUMBER.test(row[k] ?? "")));
    rows.forEach((row, r) => {
      const weight = r ? 400 : 600;
      this.y += LINE + 2;
      let start = PAD;
      row.forEach((text, k) => {
        if (isOfNumbers[k]) this.put(text, start + widths[k] - GUTTER, { weight, anchor: "end" });
        else this.put(text, start, { weight });
        start += widths[k];
      });
    });
  }
}

/** @param {Sheet} sheet @param {string[][]} rows */
function columnWidths(sheet, rows) {
  const count = Math.max(...rows.map((row) => row.length));
  return Array.from(
    { length: count },
    (_, k) => GUTTER + Math.max(...rows.map((row, r) => sheet.textWidth(row[k] ?? "", 13, r ? 400 : 600))),
  );
}

/** The mark of an entry of a legend, about 0, 0. @param {Element | null} mark */
function markOf(mark) {
  if (mark instanceof SVGSVGElement) {
    const copy = styled(mark);
    const { width, height } = mark.getBoundingClientRect();
    for (const [name, value] of Object.entries({ x: -width / 2, y: -height / 2, width, height }))
      copy.setAttribute(name, String(value));
    return copy;
  }
  if (!(mark instanceof HTMLElement)) return null;
  const { backgroundColor, borderTopStyle, borderTopColor, borderRadius, transform } = getComputedStyle(mark);
  if (borderTopStyle !== "none")
    return svg("path", { d: "M-11 0H11", stroke: borderTopColor, "stroke-width": 2, "stroke-dasharray": "6 4" });
  if (borderRadius === "50%") return svg("circle", { r: 4.5, fill: backgroundColor });
  const turned = transform === "none" ? "" : "rotate(45)";
  return svg("rect", { x: -4, y: -4, width: 8, height: 8, fill: backgroundColor, transform: turned });
}

/** @param {HTMLTableElement} table */
function rowsOf(table) {
  const rows = [...table.rows].map((row) => [...row.cells].map(wordsOf));
  return rows.filter((row) => row.some(Boolean));
}

/** @param {Pictured} pictured */
function tableOf({ table }) {
  return table instanceof HTMLTableElement ? rowsOf(table) : (table ?? []);
}

/** A display as a self-contained SVG. @param {HTMLElement} root @param {string} title @param {Pictured | Pictured[]} pictured */
function sheetOf(root, title, pictured) {
  const parts = [pictured].flat();
  try {
    return laidOut(root, title, parts);
  } finally {
    for (const { done } of parts) done?.();
  }
}

/** @param {HTMLElement} root @param {string} title @param {Pictured[]} parts */
function laidOut(root, title, parts) {
  const tables = parts.map(tableOf);
  const sheet = new Sheet(root, LEAST_WIDTH);
  const widths = [
    ...parts.map(({ drawing }) => (drawing ? drawing.getBoundingClientRect().width + 2 * PAD : 0)),
    ...tables.map((rows) => (rows.length ? columnWidths(sheet, rows).reduce((sum, width) => sum + width, 2 * PAD) : 0)),
  ];
  sheet.width = Math.ceil(Math.max(LEAST_WIDTH, ...widths));
  sheet.write(title, { size: 15, weight: 600 });
  parts.forEach((part, n) => {
    add(sheet, part, tables[n]);
  });
  const [width, height] = [sheet.width, Math.ceil(sheet.y + PAD)];
  const paper = svg("rect", { width, height, fill: sheet.paper });
  const whole = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, [
    svg("title", {}, [title]),
    paper,
    ...sheet.nodes,
  ]);
  return { width, height, text: new XMLSerializer().serializeToString(whole) };
}

/** @param {Sheet} sheet @param {Pictured} part @param {string[][]} rows */
function add(sheet, { head, drawing, legend, words = [] }, rows) {
  if (head) {
    sheet.y += LINE;
    sheet.write(head, { size: 14, weight: 600 });
  }
  for (const node of words) sheet.write(typeof node === "string" ? node : wordsOf(node));
  sheet.y += 12;
  if (drawing) sheet.draw(drawing);
  if (legend) sheet.explain(legend);
  if (rows.length) sheet.tabulate(rows);
}

/** The picture as an SVG. @param {HTMLElement} root of the display @param {string} title @param {Pictured | Pictured[]} pictured */
export function drawingOf(root, title, pictured) {
  return new Blob([sheetOf(root, title, pictured).text], { type: "image/svg+xml" });
}

/** The picture as a PNG, three pixels a point where a canvas has room. @param {HTMLElement} root of the display @param {string} title @param {Pictured | Pictured[]} pictured @returns {Promise<Blob>} */
export async function pictureOf(root, title, pictured) {
  const { width, height, text } = sheetOf(root, title, pictured);
  const pixels = Math.min(PIXEL_RATIO, MOST_SIDE / Math.max(width, height), Math.sqrt(MOST_AREA / (width * height)));
  const image = new Image();
  const source = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  image.src = source;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.floor(pixels * width);
  canvas.height = Math.floor(pixels * height);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(source);
  return new Promise((done, refuse) =>
    canvas.toBlob((blob) => (blob ? done(blob) : refuse(new Error("it is too large"))), "image/png"),
  );
}
