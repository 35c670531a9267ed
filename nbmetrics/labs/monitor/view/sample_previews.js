/**
 * What the generator made at the kept step that is nearest to the one on show: points of a plane, or small pictures.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Theme } from "../../toolkit/view/matrix_cell.js"
 * @import { Numbers } from "./types.js"
 */
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { colourOf } from "../../toolkit/view/matrix_cell.js";
import { stepText } from "./formatting.js";
import { bytesOf, nearest, singles } from "./page_decoding.js";

const [SIDE, COLUMNS] = [220, 4];

/** @typedef {{side: number, low: number, high: number, steps: number[], rows: string[]}} Previews */

export class SamplePreviews {
  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.shown = "";
    this.canvas = el("canvas", { role: "img", width: "440", height: "440" });
    this.words = el("div", { class: "nbm-step-title", "aria-hidden": "true" });
    this.root = el("section", { class: "nbm-step-card", "aria-label": "Samples" }, [this.words, this.canvas]);
  }

  /** @param {Theme} theme @param {Numbers} numbers */
  paint(theme, { step }) {
    const previews = /** @type {Previews} */ (this.store.model.get("samples"));
    this.root.hidden = !previews?.steps?.length || step === null;
    if (this.root.hidden || step === null) return;
    const place = nearest(Float64Array.from(previews.steps), step);
    const title = `Samples at step ${stepText(previews.steps[place])}`;
    setText(this.words, previews.steps[place] === step ? "Samples" : title);
    const key = `${previews.steps[place]} ${previews.low} ${previews.high} ${theme.back} ${theme.text}`;
    if (key === this.shown) return;
    this.shown = key;
    setAttributes(this.canvas, { "aria-label": `${title}: ${previews.side ? "pictures" : "points of a plane"}` });
    const pen = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    const greys = previews.side ? bytesOf(previews.rows[place]) : null;
    const rows = greys ? Math.max(1, Math.ceil(greys.length / previews.side ** 2 / COLUMNS)) : COLUMNS;
    this.canvas.height = (2 * SIDE * rows) / COLUMNS; // which wipes it, too
    pen.setTransform(2, 0, 0, 2, 0, 0);
    if (greys) drawPictures(pen, greys, previews.side);
    else drawPoints(pen, singles(previews.rows[place]), previews, theme.quiet, colourOf(theme.text).join(" "));
  }
}

/** @param {CanvasRenderingContext2D} pen @param {Float32Array} rows @param {Previews} previews @param {string} line @param {string} ink */
function drawPoints(pen, rows, { low, high }, line, ink) {
  const pad = 0.05 * (high - low);
  const at = (/** @type {number} */ value) => ((value - low + pad) / (high - low + 2 * pad)) * SIDE;
  pen.strokeStyle = line;
  pen.lineWidth = 0.5;
  pen.strokeRect(0.5, 0.5, SIDE - 1, SIDE - 1);
  pen.fillStyle = `rgb(${ink} / 60%)`;
  for (let i = 0; i + 1 < rows.length; i += 2) {
    pen.beginPath();
    pen.arc(at(rows[i]), SIDE - at(rows[i + 1]), 2, 0, 7);
    pen.fill();
  }
}

/** @param {CanvasRenderingContext2D} pen @param {Uint8Array} greys @param {number} side */
function drawPictures(pen, greys, side) {
  const size = SIDE / COLUMNS;
  const sheet = el("canvas");
  [sheet.width, sheet.height] = [side, side];
  const own = /** @type {CanvasRenderingContext2D} */ (sheet.getContext("2d"));
  pen.imageSmoothingEnabled = false;
  for (let n = 0; (n + 1) * side * side <= greys.length; n++) {
    const image = new ImageData(side, side);
    for (let i = 0; i < side * side; i++) {
      const grey = greys[n * side * side + i];
      image.data.set([grey, grey, grey, 255], 4 * i);
    }
    own.putImageData(image, 0, 0);
    pen.drawImage(sheet, (n % COLUMNS) * size + 1, Math.floor(n / COLUMNS) * size + 1, size - 2, size - 2);
  }
}
