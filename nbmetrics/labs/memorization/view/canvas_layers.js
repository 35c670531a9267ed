/**
 * What the picture shows on canvases: the fitted mixture as shading, and the marks that move with the sliders (fitted
 * bumps, generated points, rings around copies), drawn from sprites: as paths, a thousand of them take longer than a
 * frame. The colours are those of the page.
 *
 * In the shading each generated point is a bump with its own standard deviations along both axes, so a bump on a grid is
 * the product of two lists. A collapsed bump is narrower than a cell: it keeps its mass there, as a dot.
 *
 * @typedef {{places: [number, number][], isCopy: Uint8Array, isThere: (i: number) => boolean, size: number, ringInk: number}} Dots
 * @typedef {{places: [number, number][], radii: [number, number][], ink: number}} Bumps
 */
import { el } from "../../toolkit/view/dom.js";
import { watchTheme } from "../../toolkit/view/themes.js";

const REACH = 3;
const NARROWEST = 0.6;

/**
 * @param {Float64Array} points x and y in turn @param {Float64Array} sigma likewise
 * @param {{left: number, top: number, cell: number, columns: number, rows: number}} grid  y falls from the top
 * @param {Float32Array} out the density in each cell, row by row
 */
export function shade(points, sigma, { left, top, cell, columns, rows }, out) {
  out.fill(0);
  const count = points.length / 2;
  const [across, down] = [new Float32Array(columns), new Float32Array(rows)];
  for (let i = 0; i < count; i++) {
    const [x0, x1] = profile((points[2 * i] - left) / cell, sigma[2 * i] / cell, across);
    const [y0, y1] = profile((top - points[2 * i + 1]) / cell, sigma[2 * i + 1] / cell, down);
    for (let y = y0; y < y1; y++) {
      const weight = down[y] / count;
      for (let x = x0, k = y * columns + x0; x < x1; x++, k++) out[k] += weight * across[x];
    }
  }
}

/** A bump along one axis, in cells, summing to 1; the cells it reaches. @param {number} at @param {number} sigma @param {Float32Array} out @returns {[number, number]} */
function profile(at, sigma, out) {
  const width = Math.max(NARROWEST, sigma);
  const from = Math.max(0, Math.floor(at - REACH * width));
  const to = Math.min(out.length, Math.ceil(at + REACH * width));
  const scale = 1 / (width * Math.sqrt(2 * Math.PI));
  for (let k = from; k < to; k++) out[k] = scale * Math.exp(-0.5 * ((k + 0.5 - at) / width) ** 2);
  return [from, Math.max(from, to)];
}

/**
 * The density as a veil of one colour, from clear to `deepest`.
 * @param {Float32Array} density mass in each cell @param {number} full the mass that is nearly as deep as it gets
 * @param {[number, number, number]} colour @param {number} deepest @param {Uint8ClampedArray} pixels
 */
export function tint(density, full, [red, green, blue], deepest, pixels) {
  for (let k = 0; k < density.length; k++) {
    pixels[4 * k] = red;
    pixels[4 * k + 1] = green;
    pixels[4 * k + 2] = blue;
    pixels[4 * k + 3] = 255 * deepest * (1 - Math.exp(-density[k] / full));
  }
}

/**
 * Standard deviations on their way to new ones, as a bump swells or collapses: `part` of the way, in decades.
 * @param {Float64Array} shown changed in place @param {Float64Array} wanted @param {number} part @returns {boolean} whether all are there
 */
export function approach(shown, wanted, part) {
  let isThere = true;
  for (let k = 0; k < shown.length; k++) {
    const ratio = wanted[k] / shown[k];
    if (part >= 1 || Math.abs(ratio - 1) < 0.02) shown[k] = wanted[k];
    else {
      shown[k] *= ratio ** part;
      isThere = false;
    }
  }
  return isThere;
}

const COLOURS = { mark: "--nbm-generator", edge: "--nbm-back", ring: "--nbm-text" };
const [EDGE, RING, RING_APART] = [1.6, 1.1, 2.2];
const SAVED_RATIO = 3;

export class MemoMarks {
  /** @param {() => void} repaint called when the page's colours changed @param {AbortSignal} signal */
  constructor(repaint, signal) {
    this.canvas = el("canvas", { class: "nbm-memo-marks", "aria-hidden": "true" });
    /** @type {Record<keyof typeof COLOURS, string> | null} */
    this.colours = null;
    /** @type {{key: string, plain: HTMLCanvasElement, ringed: HTMLCanvasElement} | null} */
    this.sprites = null;
    /** @type {(canvas: HTMLCanvasElement) => void} what was painted last, on another canvas */
    this.draw = () => {};
    watchTheme(signal, () => {
      this.colours = this.sprites = null;
      repaint();
    });
  }

  /** @param {number} width @param {number} height in pixels of the page @param {Dots} dots @param {Bumps | null} bumps */
  paint(width, height, dots, bumps) {
    this.draw = (canvas) => this.drawOn(canvas, width, height, dots, bumps);
    this.drawOn(this.canvas, width, height, dots, bumps, devicePixelRatio);
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
  }

  /** The same, larger, as an image's address. */
  saved() {
    const canvas = el("canvas");
    this.draw(canvas);
    return canvas.toDataURL();
  }

  /** @param {HTMLCanvasElement} canvas @param {number} width @param {number} height @param {Dots} dots @param {Bumps | null} bumps @param {number} ratio of its pixels to the page's */
  drawOn(canvas, width, height, dots, bumps, ratio = SAVED_RATIO) {
    const [columns, rows] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== columns || canvas.height !== rows) Object.assign(canvas, { width: columns, height: rows });
    const context = canvas.getContext("2d");
    if (!context || !columns || !rows) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    if (bumps) this.drawBumps(context, bumps);
    const { plain, ringed, half } = this.spritesOf(dots, ratio);
    let rings = 0;
    for (const isRinged of [false, true]) {
      dots.places.forEach(([x, y], i) => {
        if (Boolean(dots.isCopy[i]) !== isRinged || !dots.isThere(i)) return;
        context.drawImage(isRinged ? ringed : plain, x - half, y - half, 2 * half, 2 * half);
        if (isRinged) rings++;
      });
    }
    canvas.dataset.rings = String(rings);
  }

  /** @param {CanvasRenderingContext2D} context @param {Bumps} bumps */
  drawBumps(context, { places, radii, ink }) {
    context.strokeStyle = this.colour("mark");
    context.lineWidth = 1;
    context.globalAlpha = ink;
    context.beginPath();
    places.forEach(([x, y], i) => {
      const [a, b] = radii[i];
      context.moveTo(x + a, y);
      context.ellipse(x, y, a, b, 0, 0, 2 * Math.PI);
    });
    context.stroke();
    context.globalAlpha = 1;
  }

  /** @param {Dots} dots @param {number} ratio */
  spritesOf({ size, ringInk }, ratio) {
    const half = Math.ceil(size + RING_APART + RING);
    const key = `${size} ${ringInk} ${ratio}`;
    if (this.sprites?.key !== key) {
      const [plain, ringed] = [0, ringInk].map((ink) => this.sprite(size, ink, half, ratio));
      this.sprites = { key, plain, ringed };
    }
    return { ...this.sprites, half };
  }

  /** @param {number} size @param {number} ink of the ring, 0 for none @param {number} half @param {number} ratio */
  sprite(size, ink, half, ratio) {
    const canvas = el("canvas");
    canvas.width = canvas.height = Math.ceil(2 * half * ratio);
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.setTransform(ratio, 0, 0, ratio, half * ratio, half * ratio);
    Object.assign(context, { fillStyle: this.colour("mark"), strokeStyle: this.colour("edge"), lineWidth: EDGE });
    const diamond = new Path2D(`M0 ${-size}L${size} 0L0 ${size}L${-size} 0Z`);
    context.stroke(diamond);
    context.fill(diamond);
    if (!ink) return canvas;
    Object.assign(context, { globalAlpha: ink, strokeStyle: this.colour("ring"), lineWidth: RING });
    context.beginPath();
    context.arc(0, 0, size + RING_APART, 0, 2 * Math.PI);
    context.stroke();
    return canvas;
  }

  /** @param {keyof typeof COLOURS} name */
  colour(name) {
    const style = getComputedStyle(this.canvas);
    this.colours ??= /** @type {any} */ (
      Object.fromEntries(
        Object.entries(COLOURS).map(([key, variable]) => [key, style.getPropertyValue(variable).trim()]),
      )
    );
    return /** @type {any} */ (this.colours)[name];
  }
}
