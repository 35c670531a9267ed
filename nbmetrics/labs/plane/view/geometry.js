/**
 * Where things are: world ↔ pixels, handles, and what a drag or a key does to an item. No DOM.
 *
 * @import { Item } from "../../toolkit/view/types.js"
 */
import { nameWidth, shortened } from "../../toolkit/view/name_width.js";

/** @typedef {"mean" | "width" | "height" | "angle"} Handle */

/** @type {Handle[]} */
export const HANDLES = ["mean", "width", "height", "angle"];
const NEAREST = 16;
const OUTSIDE = 15;
const STEM = 24;

/** Width over height of the picture. */
export const ASPECT = 4 / 3;

/** @typedef {Item & {fixed?: boolean, label?: string}} Shape an item as drawn, with its name in the picture where that is another */
/** @typedef {{width: number, height: number, scale: number}} Frame of the picture, in pixels; `scale` is pixels a unit */

/**
 * The picture of a plane from −half to half: as wide as that where all items are in it, else as high.
 * @param {{half: number}} scene @param {Item[]} items as drawn @param {number} width @param {boolean} [isWhole] whether it is as high in any case
 * @returns {Frame}
 */
export function frameOf({ half }, items, width, isWhole = false) {
  const height = width / ASPECT;
  const hasAll = items.every((item) => Math.abs(item.y) + riseOf(item) <= half / ASPECT);
  return { width, height, scale: (hasAll && !isWhole ? width : height) / (2 * half) };
}

/** Pixels of a world point. @param {Frame} frame */
export function projection({ width, height, scale }) {
  return {
    scale,
    /** @param {number} x @param {number} y @returns {[number, number]} */
    at: (x, y) => [width / 2 + scale * x, height / 2 - scale * y],
  };
}

/** How far the 1σ ellipse of an item reaches above its mean. @param {Item} item */
function riseOf({ width, height, angle }) {
  const turn = (angle * Math.PI) / 180;
  return Math.hypot(width * Math.sin(turn), height * Math.cos(turn));
}

/**
 * The pixel offset of a handle from its item's mean: just outside the 1σ ellipse, where it hides neither the
 * edge nor a mean that lies on it, and never so near that a point could not be grabbed.
 * @param {Item} item @param {Handle} handle @param {number} scale @returns {[number, number]}
 */
export function handleOffset(item, handle, scale) {
  const turn = (item.angle * Math.PI) / 180;
  const along = [Math.cos(turn), -Math.sin(turn)];
  const side = heightSide(item);
  const across = [-side * Math.sin(turn), -side * Math.cos(turn)];
  const far = (/** @type {number} */ length) => Math.max(NEAREST, scale * length + OUTSIDE);
  if (handle === "width") return [far(item.width) * along[0], far(item.width) * along[1]];
  if (handle === "height") return [far(item.height) * across[0], far(item.height) * across[1]];
  if (handle === "angle") {
    const reach = far(item.width) + STEM;
    return [reach * along[0], reach * along[1]];
  }
  return [0, 0];
}

/**
 * The item after its handle moved by (dx, dy) world units from where the drag began, its mean in the picture still.
 * @param {Item} start @param {Handle} handle @param {number} dx @param {number} dy @param {number} half @param {Frame} frame
 * @returns {Item}
 */
export function dragItem(start, handle, dx, dy, half, { height, scale }) {
  const top = Math.max(Math.abs(start.y), Math.min(half, height / 2 / scale));
  const turn = (start.angle * Math.PI) / 180;
  if (handle === "mean") return { ...start, x: within(start.x + dx, half), y: within(start.y + dy, top) };
  if (handle === "width")
    return { ...start, width: length(start.width + dx * Math.cos(turn) + dy * Math.sin(turn), half) };
  if (handle === "height")
    return {
      ...start,
      height: length(start.height + heightSide(start) * (dy * Math.cos(turn) - dx * Math.sin(turn)), half),
    };
  const [ox, oy] = handleOffset(start, "angle", scale);
  return { ...start, angle: degrees(Math.atan2(dy - oy / scale, dx + ox / scale) * (180 / Math.PI)) };
}

/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/**
 * The item after a key on one of its handles, or null for a key that means nothing there.
 * Arrows move 0.1 (1° for the angle), with Shift ten times as far; in a far smaller or larger plane, as far for its size.
 * @param {Item} item @param {Handle} handle @param {string} key @param {boolean} shift @param {number} half
 * @returns {Item | null}
 */
export function moveByKey(item, handle, key, shift, half) {
  if (!(key in ARROWS)) return null;
  const [right, up] = ARROWS[key];
  const by = (right + up) * (shift ? 10 : 1);
  if (handle === "angle") return { ...item, angle: degrees(tidy(item.angle + by, 1)) };
  const step = (shift ? 10 : 1) * stepIn(half);
  if (handle === "mean") {
    return {
      ...item,
      x: tidy(within(item.x + right * step, half), step),
      y: tidy(within(item.y + up * step, half), step),
    };
  }
  return { ...item, [handle]: tidy(length(item[handle] + by * stepIn(half), half), step) };
}

/** How far a key moves: 0.1 in a plane of the usual size, a power of ten in any other. @param {number} half */
export function stepIn(half) {
  return 10 ** Math.round(Math.log10(half / 50));
}

/** What a slider says of itself. @param {Item} item @param {Handle} handle @param {number} half */
export function sliderValues(item, handle, half) {
  const read = (/** @type {number} */ value) => value.toFixed(Math.max(2, 1 - Math.log10(stepIn(half))));
  if (handle === "mean") return { now: item.x, min: -half, max: half, text: `x ${read(item.x)}, y ${read(item.y)}` };
  if (handle === "angle") return { now: item.angle, min: -180, max: 180, text: `${item.angle.toFixed(0)}°` };
  return { now: item[handle], min: 0, max: half, text: read(item[handle]) };
}

/** The height handle is across from the name: below a client, above a generator. @param {Item} item */
function heightSide(item) {
  return item.weight === undefined ? 1 : -1;
}

/** The half-axes and angle of a covariance, for drawing. @param {{a: number, b: number, c: number}} distribution */
export function ellipseOf({ a, b, c }) {
  const middle = (a + c) / 2;
  const spread = Math.hypot((a - c) / 2, b);
  return {
    width: Math.sqrt(middle + spread),
    height: Math.sqrt(Math.max(0, middle - spread)),
    angle: (Math.atan2(2 * b, a - c) * 90) / Math.PI,
  };
}

/**
 * How an item is drawn: itself where it has an ellipse, else the ellipse of its distribution, which no handle moves.
 * @param {Item} item @param {import("../../toolkit/view/types.js").Distribution} distribution @returns {Shape}
 */
export function shapeOf(item, distribution) {
  if (item.kind === undefined || item.kind === "bumps") return item;
  return { ...item, x: distribution.x, y: distribution.y, ...ellipseOf(distribution), fixed: true };
}

const LINE = 14;
const MARK = 18;
const SPOTS = 8;
// Of the picture's width, what a name may take.
const NAME_ROOM = 0.3;
// Pixels of the letters, which are smaller in a narrow lab: see lab.css.
const FONT = { wide: 12, narrow: 10.5, narrowest: 320 };

// Beside square pixels that a name would hide: nearly nothing, so that they only choose among places with room. A name
// in one other ellipse is worse than one line farther out; and less than this is room.
const INSIDE = 1e-6;
const FARTHER = 0.7e-6;
const ROOM = 1e-3;

/** @typedef {{x: number, y: number, wide: number, high: number}} Box pixels, around its centre */
/** @typedef {{item: Item, mean: [number, number]}} Outline of an item, and where its mean is in pixels */
/** @typedef {{text: string, x: number, y: number, box: Box | null}} Label a name as the picture has room for it (none where there is no room), its offset from the mean, and where it stands */

/**
 * Clients' names go above the 1σ ellipse, generators' below, else on the other side, else further out, to where they
 * hide nothing of the earlier names, of the marks of all means and of what is to be kept `clear`, rather outside the
 * ellipses of others, whose names they would seem to be; and never out of the
 * picture. A name that has no such place is left out, but not that of the `chosen` item, which is placed first, nor that
 * of the one `pointed` at, for which no other name moves.
 * @param {Frame} frame @param {Shape[]} items @param {Box[]} [clear]
 * @param {{chosen?: number, pointed?: number}} [wanted]
 * @returns {Label[]}
 */
export function labelSpots(frame, items, clear = [], { chosen = -1, pointed = -1 } = {}) {
  const { at } = projection(frame);
  const font = frame.width < FONT.narrowest ? FONT.narrow : FONT.wide;
  const means = items.map((item) => at(item.x, item.y));
  const outlines = items.map((item, i) => ({ item, mean: means[i] }));
  const taken = [...clear, ...means.map(markBox)];
  /** @type {Label[]} */
  const labels = [];
  const order = items.map((_, i) => i).sort((i, j) => Number(j === chosen) - Number(i === chosen));
  for (const i of order) {
    const others = outlines.filter((_, j) => j !== i);
    const label = spotOf(items[i], means[i], { ...frame, font, taken, others }, i === chosen || i === pointed);
    if (label.box) taken.push(label.box);
    labels[i] = label;
  }
  return labels;
}

/** @param {Shape} item @param {[number, number]} mean @param {Frame & {font: number, taken: Box[], others: Outline[]}} room @param {boolean} isWanted @returns {Label} */
function spotOf(item, [mean, y], { width, height, scale, font, taken, others }, isWanted) {
  const rise = Math.max(NEAREST, scale * riseOf(item));
  const text = shortened(item.label ?? item.name, NAME_ROOM * width, font);
  const wide = nameWidth(text, font);
  const x = Math.max(wide / 2 + 3, Math.min(width - wide / 2 - 3, mean));
  const sides = item.weight === undefined ? [rise + LINE + 1, -rise - 6] : [-rise - 6, rise + LINE + 1];
  const boxAt = (/** @type {number} */ offset) => ({ x, y: y + offset - 4, wide, high: LINE });
  let [best, least] = [Math.max(LINE, Math.min(height - 4, y + sides[0])) - y, Infinity];
  for (let k = 0; k < SPOTS && least > 0; k++) {
    const offset = sides[k % 2] + Math.sign(sides[k % 2]) * Math.floor(k / 2) * (LINE + 1);
    if (y + offset <= LINE || y + offset >= height - 4) continue;
    const inside = others.filter((other) => isInside(boxAt(offset), other, scale)).length;
    const cost = hiddenBy(boxAt(offset), taken) + INSIDE * inside + FARTHER * Math.floor(k / 2);
    if (cost < least) [best, least] = [offset, cost];
  }
  const hasRoom = least < ROOM || isWanted;
  return { text: hasRoom ? text : "", x: x - mean, y: best, box: hasRoom ? boxAt(best) : null };
}

/** Whether the middle of a name lies in another item's 1σ ellipse, where it reads as that item's. @param {Box} box @param {Outline} other @param {number} scale */
function isInside({ x, y }, { item, mean }, scale) {
  const turn = (item.angle * Math.PI) / 180;
  const [right, up] = [(x - mean[0]) / scale, (mean[1] - y) / scale];
  const along = right * Math.cos(turn) + up * Math.sin(turn);
  const across = up * Math.cos(turn) - right * Math.sin(turn);
  return Math.hypot(along / item.width, across / item.height) < 1;
}

/** Around a mark or a handle. @param {[number, number]} at @returns {Box} */
export function markBox([x, y]) {
  return { x, y, wide: MARK, high: MARK };
}

/** Where among places a text hides nothing, or null. @param {string} text @param {[number, number][]} places @param {Box[]} taken @returns {Box | null} */
export function freeSpot(text, places, taken) {
  const boxes = places.map(([x, y]) => ({ x, y, wide: nameWidth(text), high: LINE }));
  return boxes.find((box) => hiddenBy(box, taken) === 0) ?? null;
}

/** How many square pixels of the boxes another would hide. @param {Box} box @param {Box[]} taken */
function hiddenBy(box, taken) {
  let hidden = 0;
  for (const other of taken) {
    const down = (box.high + other.high) / 2 - Math.abs(box.y - other.y);
    if (down > 0) hidden += down * Math.max(0, (box.wide + other.wide) / 2 - Math.abs(box.x - other.x));
  }
  return hidden;
}

/** @param {number} value @param {number} half */
function within(value, half) {
  return Math.min(half, Math.max(-half, value));
}

/** @param {number} value @param {number} half */
function length(value, half) {
  return Math.min(half, Math.max(0, value));
}

/** An angle in (−180, 180]. @param {number} angle */
function degrees(angle) {
  return 180 - ((((180 - angle) % 360) + 360) % 360);
}

/** A number a person would type, after steps. @param {number} value @param {number} step */
function tidy(value, step) {
  const fine = Math.max(1e6, 1e5 / step);
  return Math.round(value * fine) / fine;
}
