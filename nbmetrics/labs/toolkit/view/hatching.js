/**
 * Hatching of a box in a drawing.
 *
 * @import { Box } from "./matrix_cell.js"
 */
import { svg } from "./dom.js";

const LINE_DISTANCE = 6;

/** Lines from the lower left to the upper right, and across them; each ends at the box, so that nothing is clipped. @param {Box} box @param {1 | 2} hatch @param {string} ink @param {number} [stroke] */
export function lines({ x, y, width, height }, hatch, ink, stroke = 0.9) {
  let d = "";
  for (let at = LINE_DISTANCE / 2; at < width + height; at += LINE_DISTANCE) {
    const [from, to] = [Math.max(0, at - height), Math.min(at, width)];
    d += `M${x + from} ${y + at - from}L${x + to} ${y + at - to}`;
    if (hatch === 2) d += `M${x + width - from} ${y + at - from}L${x + width - to} ${y + at - to}`;
  }
  return svg("path", { d, style: `fill: none; stroke: ${ink}; stroke-width: ${stroke}; stroke-opacity: 0.6` });
}
