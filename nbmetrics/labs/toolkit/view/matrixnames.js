/**
 * The names of a matrix, which stay in sight while it is scrolled.
 *
 * @import { Theme } from "./ink.js"
 * @import { Matrix, Place } from "./matrix.js"
 */
import { PRINTED } from "./ink.js";

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
