/**
 * The marks that move with the sliders: the fitted bumps, the generated points, and rings around those that are copies.
 * On a canvas, from marks drawn once: as paths, a thousand of them take a screen without a graphics card longer than a
 * frame. The colours are those of the page.
 *
 * @typedef {{places: [number, number][], isCopy: Uint8Array, isThere: (i: number) => boolean, size: number, ringInk: number}} Dots
 * @typedef {{places: [number, number][], radii: [number, number][], ink: number}} Bumps
 */
import { el } from "../../toolkit/view/dom.js";

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
    const recolour = () => {
      this.colours = this.sprites = null;
      repaint();
    };
    const themes = new MutationObserver(recolour);
    themes.observe(document.body, { attributes: true, attributeFilter: ["class", "data-jp-theme-light"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour, { signal });
    signal.addEventListener("abort", () => themes.disconnect());
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
