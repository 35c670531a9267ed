/**
 * A matrix as a drawing of its own, to be saved: all of its rows, as the canvas paints those in sight.
 *
 * @import { Box, Cell, Colour, Theme } from "./matrix_cell.js"
 * @import { Matrix } from "./matrix.js"
 */
import { svg } from "./dom.js";
import { lines } from "./hatching.js";
import { colourAt, inkOn, PRINTED } from "./matrix_cell.js";
import { shortened } from "./name_width.js";

const MAX_NAMES_PIXELS = 190;
const COLUMN = { least: 44, most: 110 };
const [LETTER, GAP] = [6.6, 8];

/** @param {Matrix} matrix */
export function matrixPicture(matrix) {
  const { rows, columns, cell } = matrix.content;
  const theme = matrix.theme;
  if (!theme) throw new Error("it is not painted yet");
  const widest = (/** @type {string[]} */ texts) => Math.max(...texts.map((text) => text.length)) * LETTER;
  const names = Math.min(MAX_NAMES_PIXELS, widest(rows.map(({ name, note = "" }) => name + note)) + 36);
  const width = Math.min(COLUMN.most, Math.max(COLUMN.least, 560 / columns.length));
  const { height } = matrix.layout;
  const isTurned = columns.some((name) => name.length * LETTER > width - 4);
  const head = isTurned ? Math.min(116, widest(columns)) + GAP : 24;
  /** @type {SVGElement[]} */
  const nodes = columns.map((name, column) => headOf(name, names + (column + 0.5) * width, head, isTurned, width));
  const step = Math.ceil(12 / height);
  rows.forEach(({ name, note = "", isInside }, row) => {
    const y = head + row * height;
    const text = shortened(name, names - (isInside ? 20 : 8) - note.length * LETTER) + note;
    if (row % step === 0) nodes.push(svg("text", { x: isInside ? 12 : 0, y: y + height / 2 + 4 }, [text]));
    columns.forEach((_, column) => {
      const box = { x: names + column * width, y, width: width - 1, height: height - (height < 12 ? 0.5 : 1) };
      nodes.push(...cellNodes(box, cell(row, column), theme));
    });
  });
  const size = { width: names + width * columns.length, height: head + height * rows.length };
  return svg("svg", { class: "nbm-chart", ...size, viewBox: `0 0 ${size.width} ${size.height}` }, nodes);
}

/** @param {string} name @param {number} x @param {number} bottom @param {boolean} isTurned @param {number} width */
function headOf(name, x, bottom, isTurned, width) {
  const short = shortened(name, isTurned ? 110 : width);
  if (!isTurned) return svg("text", { x, y: bottom - GAP, "text-anchor": "middle" }, [short]);
  return svg("text", { transform: `translate(${x + 4} ${bottom - GAP}) rotate(-90)` }, [short]);
}

/** A mark of a legend: one cell of a matrix. @param {Cell} cell @param {Theme} theme */
export function cellMark(cell, theme) {
  const [width, height] = [22, 13];
  const box = { x: 0.5, y: 0.5, width: width - 1, height: height - 1 };
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, cellNodes(box, cell, theme));
}

/** All colours from left to right. @param {Theme} theme */
export function scaleMark(theme) {
  const [width, height, parts] = [70, 12, 35];
  const nodes = Array.from({ length: parts }, (_, n) => {
    const fill = rgb(colourAt(theme.stops, n / (parts - 1)));
    return svg("rect", { x: (n * width) / parts, y: 0, width: width / parts + 0.3, height, fill });
  });
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, nodes);
}

/** As `paintCell` paints it. @param {Box} box @param {Cell} cell @param {Theme} theme @returns {SVGElement[]} */
function cellNodes(box, cell, theme) {
  const { x, y, width, height } = box;
  const middle = { x: x + width / 2, y: y + height / 2 };
  const hasRoom = width >= PRINTED.width - 1 && height >= PRINTED.height - 1;
  if (cell.is === "unknown")
    return [svg("circle", { cx: middle.x, cy: middle.y, r: 1.5, style: `fill: ${theme.quiet}` })];
  if (cell.is === "nan") {
    const frame = svg("rect", { ...box, style: `fill: none; stroke: ${theme.text}` });
    const [a, b] = [middle.x - 3, middle.y - 3];
    const cross = svg("path", { d: `M${a} ${b}l6 6m0 -6l-6 6`, style: `fill: none; stroke: ${theme.text}` });
    return [frame, hasRoom ? textIn(middle, "NaN", theme.text, theme.back) : cross];
  }
  const colour = colourAt(theme.stops, cell.is === "inf" ? 1 : cell.is === "-inf" ? 0 : cell.level);
  const ink = inkOn(colour);
  const fill = rgb(colour);
  /** @type {SVGElement[]} */
  const nodes = [svg("rect", { x, y, width, height, style: `fill: ${fill}` })];
  if (cell.hatch) nodes.push(lines(box, cell.hatch, ink));
  if (cell.span && cell.is === "score") nodes.push(spanOf(box, cell.span, ink));
  if (cell.is !== "score") nodes.push(textIn(middle, cell.is === "inf" ? "∞" : "−∞", ink, fill));
  else if (hasRoom && cell.text) nodes.push(textIn(middle, cell.text, ink, fill));
  if (cell.isBeyond) {
    const size = Math.min(5, height - 3);
    const d = `M${x + width - 2 - size} ${y + 1.5 + size}h${size}l${-size / 2} ${-size}Z`;
    nodes.push(svg("path", { d, style: `fill: ${ink}; stroke: none` }));
  }
  if (cell.isRinged) {
    const ring = { x: x + 1.5, y: y + 1.5, width: width - 3, height: height - 3, rx: Math.min(5, (height - 3) / 2) };
    nodes.push(svg("rect", { ...ring, style: `fill: none; stroke: ${ink}; stroke-width: ${height < 12 ? 1 : 1.5}` }));
  }
  return nodes;
}

/** @param {Colour} colour */
function rgb(colour) {
  return `rgb(${colour.join(", ")})`;
}

/** @param {{x: number, y: number}} middle @param {string} text @param {string} ink @param {string} halo */
function textIn({ x, y }, text, ink, halo) {
  const style = `fill: ${ink}; stroke: ${halo}; stroke-width: 3; font-size: 11px`;
  return svg("text", { x, y: y + 4, "text-anchor": "middle", style }, [text]);
}

/** @param {Box} box @param {[number, number]} span @param {string} ink */
function spanOf({ x, y, width, height }, [low, high], ink) {
  const [from, to] = [low, high].map((level) => x + 2 + Math.min(level, 1) * (width - 4));
  const d = `M${from} ${y + height - 4}v3.5M${to} ${y + height - 4}v3.5M${from} ${y + height - 2}H${to}`;
  return svg("path", { d, style: `fill: none; stroke: ${ink}` });
}
