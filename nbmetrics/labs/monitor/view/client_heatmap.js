/**
 * The heatmap of clients × steps of one metric: how far each client is from its own best so far, the worst step of each
 * column of pixels; what is no number is hatched. A press looks at that step and chooses that client.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Colour, Theme } from "../../toolkit/view/matrix_cell.js"
 * @import { Scrubber } from "./scrubber.js"
 * @import { Line, MetricFacts, Numbers, Run, Scene } from "./types.js"
 */
import { el, setAttributes, setText, watchSize } from "../../toolkit/view/dom.js";
import { colourAt } from "../../toolkit/view/matrix_cell.js";
import { shortened } from "../../toolkit/view/name_width.js";
import { scoreText, stepText } from "./formatting.js";
import { nearest } from "./page_decoding.js";
import { lossOf } from "./reweighting.js";
import { stepScale } from "./step_plot.js";

const [LEFT, RIGHT, ROW_HEIGHT, MAX_HEIGHT] = [84, 14, 18, 320];

export class ClientHeatmap {
  /** @param {Store} store @param {AbortSignal} signal @param {Scrubber} scrubber */
  constructor(store, signal, scrubber) {
    this.store = store;
    this.width = 0;
    /** @type {any[]} */
    this.keys = [];
    this.head = el("div", { class: "nbm-step-title", "aria-hidden": "true" });
    this.canvas = el("canvas", { role: "img" });
    this.cursor = el("div", { class: "nbm-step-stripcursor" });
    this.box = el("div", { class: "nbm-step-strip" }, [this.canvas, this.cursor]);
    this.note = el("p", { class: "nbm-note" });
    this.root = el("section", { class: "nbm-step-card", "aria-label": "Clients" }, [this.head, this.box, this.note]);
    watchSize(this.box, signal, ({ width }) => {
      if (!width || width === this.width) return;
      this.width = width;
      store.changed();
    });
    const stepAt = (/** @type {number} */ x) => this.first + (x - LEFT) / this.slope;
    this.canvas.addEventListener("pointerdown", (event) => this.choose(event), { signal });
    scrubber.follows(this.canvas, stepAt, signal);
  }

  /** @param {PointerEvent} event */
  choose(event) {
    const { clients } = /** @type {Run} */ (this.store.model.get("run"));
    const { top, height } = this.canvas.getBoundingClientRect();
    const client = clients[Math.floor(((event.clientY - top) / height) * clients.length)];
    if (client !== undefined && event.button === 0)
      this.store.preview(/** @type {any} */ ({ ...this.store.scene, client }), "");
  }

  /** @param {Scene} scene @param {Numbers} numbers @param {Theme} theme @param {Line | undefined} line */
  paint(scene, { steps, step }, theme, line) {
    this.root.hidden = !line?.stored.steps.length || !line.clients;
    if (!line || this.root.hidden || !this.width) return;
    const { clients } = /** @type {Run} */ (this.store.model.get("run"));
    const keys = [line.stored, line.clients, this.width, theme.back, scene.client, steps[0], steps[steps.length - 1]];
    if (keys.some((key, i) => key !== this.keys[i])) {
      this.keys = keys;
      this.draw(steps, line, clients, scene.client, theme);
    }
    this.cursor.hidden = step === null;
    if (step !== null) this.cursor.style.left = `${this.atX(step)}px`;
    this.paintWords(line, clients, step);
  }

  atX = (/** @type {number} */ _step) => 0;
  slope = 1;
  first = 0;
  regrets = { values: new Float32Array(), cap: 1, isRatio: true };

  /** @param {Float64Array} steps @param {Line} line @param {string[]} clients @param {string} chosen @param {Theme} theme */
  draw(steps, { stored, facts, clients: scores }, clients, chosen, theme) {
    const scale = stepScale(steps, [LEFT, Math.max(LEFT + 10, this.width - RIGHT)]);
    [this.atX, this.slope, this.first] = [scale.at, scale.slope, steps[0] - (steps.length > 1 ? 0 : 1)];
    this.regrets = clientRegrets(scores ?? new Float32Array(), clients.length, facts);
    const height = Math.min(MAX_HEIGHT, clients.length * ROW_HEIGHT);
    const ratio = window.devicePixelRatio || 1;
    [this.canvas.width, this.canvas.height] = [Math.round(this.width * ratio), Math.round(height * ratio)];
    this.canvas.style.height = `${height}px`;
    const pen = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    pen.scale(ratio, ratio);
    this.drawCells(pen, stored.steps, clients.length, height, theme);
    if (height / clients.length >= 11) this.drawNames(pen, clients, chosen, height, theme);
  }

  /** @param {CanvasRenderingContext2D} pen @param {Float64Array} steps @param {number} count @param {number} height @param {Theme} theme */
  drawCells(pen, steps, count, height, theme) {
    const from = Math.floor(this.atX(steps[0]) - 4);
    const wide = Math.ceil(this.atX(steps[steps.length - 1]) + 4) - from;
    const columns = stepColumns(steps, wide, (x) => this.first + (x + from - LEFT) / this.slope);
    const rows = Math.min(count, Math.max(1, Math.floor(height)));
    const image = new ImageData(wide, rows);
    const hatched = drawLevels(image, columns, this.regrets, count, theme);
    const sheet = el("canvas");
    [sheet.width, sheet.height] = [wide, rows];
    sheet.getContext("2d")?.putImageData(image, 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(sheet, from, 0, wide, height);
    pen.strokeStyle = theme.text;
    for (const [row, start, end] of hatched)
      hatch(pen, from + start, (row * height) / rows, end - start, height / rows);
  }

  /** @param {CanvasRenderingContext2D} pen @param {string[]} clients @param {string} chosen @param {number} height @param {Theme} theme */
  drawNames(pen, clients, chosen, height, theme) {
    const row = height / clients.length;
    pen.textBaseline = "middle";
    clients.forEach((name, i) => {
      pen.font = `${name === chosen ? 700 : 400} 11px ${theme.font}`;
      pen.fillStyle = name === chosen ? theme.text : theme.quiet;
      pen.fillText(shortened(name, LEFT - 12), 2, (i + 0.5) * row, LEFT - 10);
    });
  }

  /** @param {Line} line @param {string[]} clients @param {number | null} step */
  paintWords({ stored, facts }, clients, step) {
    const { isRatio, cap } = this.regrets;
    const scale = isRatio ? `${timesText(cap)} times` : `${scoreText(cap)} beyond`;
    setText(this.head, `${facts.label} of each client, compared with its own best so far`);
    setText(this.note, `Faint: at its best so far. Strongest: ${scale} that, or worse. Hatched: no value.`);
    if (step === null) return;
    const place = nearest(stored.steps, step);
    const worst = farthestClient(this.regrets.values, clients.length, place);
    const far = worst < 0 ? 0 : this.regrets.values[place * clients.length + worst];
    const much = isRatio ? `${timesText(far)} times` : `${scoreText(far)} beyond`;
    const state =
      worst < 0 || far <= 0
        ? "every client is at its best so far"
        : `farthest from its best so far is ${clients[worst]}, ${much} that`;
    setAttributes(this.canvas, {
      "aria-label": `${facts.label} of ${clients.length} clients; at step ${stepText(stored.steps[place])} ${state}`,
    });
  }
}

/** @param {number} logarithm of a ratio */
function timesText(logarithm) {
  return Number.isFinite(logarithm) ? String(Number(Math.exp(logarithm).toPrecision(3))) : "∞";
}

/** @param {ImageData} image @param {[number, number][]} columns @param {{values: Float32Array, cap: number}} regrets @param {number} count @param {Theme} theme @returns {[number, number, number][]} row, from and to of what is no number */
function drawLevels(image, columns, { values, cap }, count, theme) {
  const { width, height: rows, data } = image;
  const colours = Array.from({ length: 256 }, (_, level) => colourAt(theme.stops, level / 255));
  /** @type {[number, number, number][]} */
  const hatched = [];
  for (let row = 0; row < rows; row++) {
    const [low, high] = [Math.floor((row * count) / rows), Math.ceil(((row + 1) * count) / rows)];
    let start = -1;
    for (let x = 0; x <= width; x++) {
      const worst = x < width ? worstIn(values, count, columns[x], low, high) : 0;
      if (Number.isNaN(worst) !== start >= 0) {
        if (start >= 0) hatched.push([row, start, x]);
        start = start >= 0 ? -1 : x;
      }
      if (x < width && !Number.isNaN(worst)) {
        const [r, g, b] = /** @type {Colour} */ (colours[Math.round(255 * Math.min(1, Math.max(0, worst / cap)))]);
        data.set([r, g, b, 255], 4 * (row * width + x));
      }
    }
  }
  return hatched;
}

/** NaN where any is. @param {Float32Array} values @param {number} count @param {[number, number]} steps @param {number} low @param {number} high */
function worstIn(values, count, [from, to], low, high) {
  let worst = -Infinity;
  for (let s = from; s <= to; s++)
    for (let i = low; i < high; i++) {
      const value = values[s * count + i];
      if (Number.isNaN(value)) return NaN;
      if (value > worst) worst = value;
    }
  return worst;
}

/** @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {number} width @param {number} height */
function hatch(pen, x, y, width, height) {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, width, height);
  pen.clip();
  pen.beginPath();
  for (let shift = -height; shift < width; shift += 5) {
    pen.moveTo(x + shift, y + height);
    pen.lineTo(x + shift + height, y);
  }
  pen.stroke();
  pen.restore();
}

// What the strongest colour stands for, at least, as a ratio; and the share of all cells that are fainter.
const [MIN_CAP_RATIO, MAX_COLOUR_QUANTILE] = [1.5, 0.95];

/**
 * As logarithms of ratios where all scores are above 0, else as differences.
 * @param {Float32Array} clients scores of all clients, step after step @param {number} count @param {MetricFacts} facts
 */
export function clientRegrets(clients, count, facts) {
  const isRatio = facts.best === null && !facts.higher && clients.every((score) => !(score <= 0));
  const values = new Float32Array(clients.length);
  const least = new Float64Array(count).fill(Infinity);
  for (let at = 0; at < clients.length; at++) {
    const i = at % count;
    const loss = isRatio ? Math.log(clients[at]) : lossOf(clients[at], facts);
    if (loss < least[i]) least[i] = loss;
    values[at] = Number.isNaN(loss) ? NaN : Number.isFinite(loss) ? loss - least[i] : loss;
  }
  const positive = values.filter((value) => Number.isFinite(value) && value > 0).sort();
  const cap = positive.length ? positive[Math.floor(MAX_COLOUR_QUANTILE * (positive.length - 1))] : 0;
  return { values, cap: isRatio ? Math.max(cap, Math.log(MIN_CAP_RATIO)) : cap || 1, isRatio };
}

/** From which to which place of the steps each column of pixels shows. @param {Float64Array} steps @param {number} wide @param {(x: number) => number} stepAt @returns {[number, number][]} */
export function stepColumns(steps, wide, stepAt) {
  return Array.from({ length: wide }, (_, x) => {
    const from = nearest(steps, stepAt(x));
    return [from, Math.max(from, nearest(steps, stepAt(x + 1)) - 1)];
  });
}

/** The client that is farthest from its best at a place of the steps, −1 where none has a number. @param {Float32Array} values @param {number} count @param {number} place */
export function farthestClient(values, count, place) {
  let worst = -1;
  for (let i = 0; i < count; i++) {
    const value = values[place * count + i];
    if (!Number.isNaN(value) && (worst < 0 || value > values[place * count + worst])) worst = i;
  }
  return worst;
}
