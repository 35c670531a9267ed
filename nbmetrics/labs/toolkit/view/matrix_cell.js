/**
 * How one cell of a matrix looks on a canvas: its colour, the number in it, and the marks over it. What is no number is
 * a mark of its own, never a colour.
 *
 * @typedef {object} Cell
 * @property {"score" | "nan" | "inf" | "-inf" | "unknown"} is
 * @property {number} level  0 to 1, of the colours
 * @property {string} text  printed where there is room
 * @property {boolean} [isBeyond]  above what the colours tell apart: an arrow
 * @property {boolean} [isRinged]
 * @property {0 | 1 | 2} [hatch]  thin, or crossed
 * @property {[number, number]} [span]  levels between which the parts of a mean lie
 *
 * @typedef {{x: number, y: number, width: number, height: number}} Box
 * @typedef {[number, number, number]} Colour
 * @typedef {{back: string, raised: string, text: string, quiet: string, line: string, focus: string, font: string,
 *   stops: Colour[], patterns: Record<string, CanvasPattern | null>}} Theme
 */

// Where a number is printed.
export const PRINTED = { width: 34, height: 18 };
const TILE = 8;
const [DARK, LIGHT] = ["#000000", "#ffffff"];

/** The colours of the page around a node, as they are now. @param {Element} node @returns {Theme} */
export function themeOf(node) {
  const style = getComputedStyle(node);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(`--nbm-${name}`).trim();
  const [back, raised, text, quiet, line, focus] = ["back", "raised", "text", "quiet", "line", "focus"].map(colour);
  const stops = ["heat-0", "heat-1", "heat-2"].map((name) => colourOf(colour(name)));
  return { back, raised, text, quiet, line, focus, font: style.fontFamily, stops, patterns: {} };
}

/** Of "#rrggbb". @param {string} hex @returns {Colour} */
export function colourOf(hex) {
  const [r, g, b] = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) || 0);
  return [r, g, b];
}

/** @param {Colour[]} stops @param {number} level 0 to 1 @returns {Colour} */
export function colourAt(stops, level) {
  const place = Math.min(Math.max(level, 0), 1) * (stops.length - 1);
  const from = Math.min(Math.floor(place), stops.length - 2);
  const [r, g, b] = stops[from].map((start, i) => Math.round(start + (place - from) * (stops[from + 1][i] - start)));
  return [r, g, b];
}

/** WCAG's relative luminance. @param {Colour} colour */
export function luminance(colour) {
  const [r, g, b] = colour.map((c) => (c <= 10 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Black or white: whichever stands out more. @param {Colour} colour */
export function inkOn(colour) {
  return luminance(colour) > 0.179 ? DARK : LIGHT;
}

/** @param {CanvasRenderingContext2D} pen @param {Box} box @param {Cell} cell @param {Theme} theme @param {number} ratio pixels of the screen to one of CSS */
export function paintCell(pen, box, cell, theme, ratio) {
  if (cell.is === "unknown") return paintDot(pen, box, theme);
  if (cell.is === "nan") return paintNaN(pen, box, theme);
  const colour = colourAt(theme.stops, cell.is === "inf" ? 1 : cell.is === "-inf" ? 0 : cell.level);
  const ink = inkOn(colour);
  pen.fillStyle = `rgb(${colour.join(" ")})`;
  pen.fillRect(box.x, box.y, box.width, box.height);
  if (cell.hatch) {
    pen.fillStyle = patternOf(pen, cell.hatch, ink, theme, ratio);
    pen.fillRect(box.x, box.y, box.width, box.height);
  }
  if (cell.span && cell.is === "score") paintSpan(pen, box, cell.span, ink);
  if (cell.is !== "score") paintText(pen, box, cell.is === "inf" ? "∞" : "−∞", ink, colour, theme, 9);
  else if (box.width >= PRINTED.width - 1 && box.height >= PRINTED.height - 1)
    paintText(pen, box, cell.text, ink, colour, theme, 11);
  if (cell.isBeyond) paintArrow(pen, box, ink);
  if (cell.isRinged) paintRing(pen, box, ink);
}

/** @param {CanvasRenderingContext2D} pen @param {Box} box @param {Theme} theme */
function paintDot(pen, { x, y, width, height }, theme) {
  pen.fillStyle = theme.quiet;
  pen.beginPath();
  pen.arc(x + width / 2, y + height / 2, 1.5, 0, 7);
  pen.fill();
}

/** @param {CanvasRenderingContext2D} pen @param {Box} box @param {Theme} theme */
function paintNaN(pen, box, theme) {
  pen.strokeStyle = theme.text;
  pen.lineWidth = 1;
  pen.strokeRect(box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1);
  if (box.width >= PRINTED.width - 1 && box.height >= PRINTED.height - 1) {
    pen.fillStyle = theme.text;
    return writeIn(pen, box, "NaN", theme, 11);
  }
  const [x, y, arm] = [box.x + box.width / 2, box.y + box.height / 2, Math.min(box.height, 8) / 2 - 1];
  pen.beginPath();
  for (const [a, b] of [
    [1, 1],
    [1, -1],
  ]) {
    pen.moveTo(x - arm * a, y - arm * b);
    pen.lineTo(x + arm * a, y + arm * b);
  }
  pen.stroke();
}

/** From the least to the largest of what a mean is made of. @param {CanvasRenderingContext2D} pen @param {Box} box @param {[number, number]} span @param {string} ink */
function paintSpan(pen, { x, y, width, height }, [low, high], ink) {
  const [from, to] = [low, high].map((level) => x + 2 + Math.min(level, 1) * (width - 4));
  pen.fillStyle = ink;
  pen.fillRect(from, y + height - 2.5, Math.max(1, to - from), 1);
  for (const end of [from, to]) pen.fillRect(end - 0.5, y + height - 4, 1, 3.5);
}

/** @param {CanvasRenderingContext2D} pen @param {Box} box @param {string} text @param {string} ink @param {Colour} colour @param {Theme} theme @param {number} size */
function paintText(pen, box, text, ink, colour, theme, size) {
  pen.strokeStyle = `rgb(${colour.join(" ")})`;
  pen.fillStyle = ink;
  writeIn(pen, box, text, theme, size, true);
}

/** @param {CanvasRenderingContext2D} pen @param {Box} box @param {string} text @param {Theme} theme @param {number} size @param {boolean} [hasHalo] */
function writeIn(pen, { x, y, width, height }, text, theme, size, hasHalo = false) {
  pen.font = `${size}px ${theme.font}`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  if (hasHalo) {
    pen.lineWidth = 3;
    pen.lineJoin = "round";
    pen.strokeText(text, x + width / 2, y + height / 2 + 0.5, width - 2);
  }
  pen.fillText(text, x + width / 2, y + height / 2 + 0.5, width - 2);
}

/** @param {CanvasRenderingContext2D} pen @param {Box} box @param {string} ink */
function paintArrow(pen, { x, y, width, height }, ink) {
  const size = Math.min(5, height - 3);
  const right = x + width - 2;
  pen.fillStyle = ink;
  pen.beginPath();
  pen.moveTo(right - size, y + 1.5 + size);
  pen.lineTo(right, y + 1.5 + size);
  pen.lineTo(right - size / 2, y + 1.5);
  pen.fill();
}

/** @param {CanvasRenderingContext2D} pen @param {Box} box @param {string} ink */
function paintRing(pen, { x, y, width, height }, ink) {
  pen.strokeStyle = ink;
  pen.lineWidth = height < 12 ? 1 : 1.5;
  pen.beginPath();
  pen.roundRect(x + 1.5, y + 1.5, width - 3, height - 3, Math.min(5, (height - 3) / 2));
  pen.stroke();
}

/** Made once a theme, as a line for each stroke of a hatch would be many thousands. @param {CanvasRenderingContext2D} pen @param {1 | 2} hatch @param {string} ink @param {Theme} theme @param {number} ratio */
function patternOf(pen, hatch, ink, theme, ratio) {
  const key = `${hatch} ${ink} ${ratio}`;
  theme.patterns[key] ??= newPattern(pen, hatch, ink, ratio);
  return theme.patterns[key] ?? ink;
}

/** @param {CanvasRenderingContext2D} pen @param {1 | 2} hatch @param {string} ink @param {number} ratio */
function newPattern(pen, hatch, ink, ratio) {
  const tile = document.createElement("canvas");
  const side = Math.round(TILE * ratio);
  tile.width = tile.height = side;
  const own = /** @type {CanvasRenderingContext2D} */ (tile.getContext("2d"));
  own.strokeStyle = ink;
  own.globalAlpha = 0.55;
  own.lineWidth = 0.9 * ratio;
  own.beginPath();
  for (const shift of [-side, 0, side]) {
    own.moveTo(shift - 1, side + 1);
    own.lineTo(shift + side + 1, -1);
    if (hatch === 1) continue;
    own.moveTo(shift - 1, -1);
    own.lineTo(shift + side + 1, side + 1);
  }
  own.stroke();
  const pattern = pen.createPattern(tile, "repeat");
  pattern?.setTransform(new DOMMatrix().scale(TILE / side));
  return pattern;
}
