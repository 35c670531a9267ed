/**
 * The items: generated points sorted by how much they give a train point away, or by how poor they are, each beside its
 * nearest train point; with thumbnails, and their difference pixel by pixel, where the points are images.
 *
 * @import { MemoState } from "./state.js"
 */
import { resizeChildren } from "../../toolkit/view/chart.js";
import { el, scroller, setAttributes, setText } from "../../toolkit/view/dom.js";
import { briefText, shownNumber } from "../../toolkit/view/numbers.js";
import { orderOf } from "./maths.js";

const ROWS_AT_FIRST = 12;
const ROWS_PER_CLICK = 24;
const SORTS = /** @type {const} */ ({ memorization: "Most memorized", quality: "Poorest quality" });
const SORT_NAMES = /** @type {(keyof typeof SORTS)[]} */ (Object.keys(SORTS));
const PICTURED = ["Generated", "Nearest train", "Difference"];
const NOTE =
  "Memorization: how strongly the fitted density concentrates on one train point, in nats per feature (the papers’ O); high means memorized. Quality: log-likelihood of the item under the real data (the papers’ Q); low means poor. Bump: the variance fitted around the item.";
const COPIES = " ◈: a copy made by the sliders.";
const FIGURES = ["Distance", "Memori\u00adzation", "Quality", "Bump"];

/** @typedef {{rev: number, width: number, height: number, channels: number, train: string, generated: string}} Pictures */

export class MemoItems {
  /** @param {MemoState} state @param {AbortSignal} signal */
  constructor(state, signal) {
    this.state = state;
    this.signal = signal;
    this.count = ROWS_AT_FIRST;
    this.painted = /** @type {any[]} */ ([]);
    this.sorts = SORT_NAMES.map((sort) => {
      const node = el("button", { type: "button" }, [SORTS[sort]]);
      node.addEventListener("click", () => state.view({ sort }), { signal });
      return node;
    });
    this.head = el("tr");
    this.body = el("tbody");
    this.table = el("table", { class: "nbm-figures nbm-memo-items", "aria-label": "Items" }, [
      el("thead", {}, [this.head]),
      this.body,
    ]);
    this.more = el("button", { type: "button" }, ["Show more"]);
    this.more.addEventListener(
      "click",
      () => {
        this.count += ROWS_PER_CLICK;
        state.store.changed();
      },
      { signal },
    );
    this.wait = el("p", { class: "nbm-memo-wait" });
    this.note = el("p", { class: "nbm-note" });
    const sorts = el("div", { class: "nbm-group", role: "group", "aria-label": "Sort" }, this.sorts);
    this.root = el("div", {}, [sorts, this.wait, scroller("Items", this.table, signal), this.more, this.note]);
    this.images = new DecodedImages();
  }

  paint() {
    const { state } = this;
    const { answer, isCurrent, scene, selected } = state;
    SORT_NAMES.forEach((sort, k) => setAttributes(this.sorts[k], { "aria-pressed": String(sort === scene.view.sort) }));
    this.table.classList.toggle("nbm-memo-old", !isCurrent);
    setAttributes(this.table, { "data-rev": answer.rev ?? -1, "data-current": String(isCurrent) });
    setText(this.wait, isCurrent ? "" : state.behindWords);
    setText(this.note, NOTE + (state.isOwn || !state.fitsPoints ? "" : COPIES));
    if (!answer.memorization) return;
    const pictures = /** @type {Pictures | undefined} */ (state.store.model.get("pictures"));
    const content = [answer, pictures, scene.view.sort, this.count, selected, state.generated];
    if (content.every((value, k) => value === this.painted[k])) return;
    this.painted = content;
    const hasPictures = Boolean(pictures?.width);
    const isMemorization = scene.view.sort === "memorization";
    const order = isMemorization ? orderOf(answer.memorization) : orderOf(answer.quality, true);
    const heads = ["Item", ...(hasPictures ? [...PICTURED, ...FIGURES.slice(0, 3)] : ["Nearest train", ...FIGURES])];
    resizeChildren(this.head, heads.length, () => el("th", { scope: "col" })).forEach((node, k) =>
      setText(node, heads[k]),
    );
    const shown = order.slice(0, this.count);
    resizeChildren(this.body, shown.length, (k) => this.makeRow(k)).forEach((row, k) =>
      this.paintRow(row, shown[k], hasPictures ? pictures : undefined),
    );
    this.order = shown;
    this.more.hidden = order.length <= this.count;
  }

  /** @param {number} k */
  makeRow(k) {
    const choose = el("button", { type: "button", class: "nbm-memo-choose" });
    choose.addEventListener(
      "click",
      () => {
        const index = this.order?.[k] ?? null;
        this.state.select(index === this.state.selected ? null : index);
      },
      { signal: this.signal },
    );
    return el("tr", {}, [el("th", { scope: "row" }, [choose])]);
  }

  /** @param {HTMLTableRowElement} row @param {number} index of the generated item @param {Pictures} [pictures] */
  paintRow(row, index, pictures) {
    const { state } = this;
    const { answer, generated, selected } = state;
    const isCopy = state.fitsPoints && generated.isCopy[index] === 1;
    const nearest = answer.nearest[index];
    row.classList.toggle("nbm-selected", index === selected);
    const choose = /** @type {HTMLElement} */ (row.cells[0].firstElementChild);
    setText(choose, `${isCopy ? "◈" : "◆"} ${index}`);
    setAttributes(choose, { "aria-pressed": String(index === selected), title: "Show it in the picture" });
    const scores = [shownNumber(answer.memorization[index]), shownNumber(answer.quality[index])];
    const far = briefText(answer.distance[index]);
    const all = pictures
      ? [...this.thumbnails(pictures, index, nearest), far, ...scores]
      : [String(nearest), far, ...scores, briefText(answer.variance[index])];
    while (row.cells.length > all.length + 1) row.deleteCell(-1);
    while (row.cells.length < all.length + 1) row.append(el("td"));
    all.forEach((content, k) => {
      if (typeof content === "string") setText(row.cells[k + 1], content);
      else row.cells[k + 1].replaceChildren(content);
    });
  }

  /** @param {Pictures} pictures @param {number} index @param {number} nearest */
  thumbnails(pictures, index, nearest) {
    const { answer } = this.state;
    const size = pictures.width * pictures.height * pictures.channels;
    const [generated, train] = [
      this.images.of("generated", pictures.generated),
      this.images.of("train", pictures.train),
    ];
    const one = generated.subarray(index * size, (index + 1) * size);
    const other = train.subarray(nearest * size, (nearest + 1) * size);
    const apart = one.map((value, k) => Math.abs(value - other[k]));
    const words = apartWords(
      answer.apart?.[index] ?? apart.reduce((a, b) => Math.max(a, b), 0),
      answer.distance[index],
    );
    return [
      thumbnail(pictures, one, `generated ${index}`),
      el("div", { class: "nbm-memo-thumbed" }, [
        thumbnail(pictures, other, `train ${nearest}`),
        el("small", {}, [`train ${nearest}`]),
      ]),
      el("div", { class: "nbm-memo-thumbed" }, [thumbnail(pictures, apart, words), el("small", {}, [words])]),
    ];
  }
}

/** @param {number} far the largest difference of a pixel, of 255 @param {number} distance of the features */
function apartWords(far, distance) {
  if (far >= 1) return `up to ${Math.round(far)} of 255`;
  return far === 0 && distance === 0 ? "identical" : "less than 1 of 255";
}

/** Pixels of all images of a set, decoded once. */
class DecodedImages {
  constructor() {
    /** @type {Record<string, {text: string, pixels: Uint8Array}>} */
    this.decoded = {};
  }

  /** @param {string} which @param {string} text base64 */
  of(which, text) {
    if (this.decoded[which]?.text !== text)
      this.decoded[which] = { text, pixels: Uint8Array.from(atob(text), (c) => c.charCodeAt(0)) };
    return this.decoded[which].pixels;
  }
}

/** One image, a canvas pixel each. @param {Pictures} pictures @param {Uint8Array} pixels @param {string} words */
function thumbnail({ width, height, channels }, pixels, words) {
  const canvas = el("canvas", {
    class: "nbm-memo-thumb",
    width: String(width),
    height: String(height),
    role: "img",
    "aria-label": words,
  });
  const context = canvas.getContext("2d");
  if (!context) return canvas;
  const image = context.createImageData(width, height);
  for (let k = 0; k < width * height; k++) {
    for (let c = 0; c < 3; c++) image.data[4 * k + c] = pixels[k * channels + Math.min(c, channels - 1)];
    image.data[4 * k + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  return canvas;
}
