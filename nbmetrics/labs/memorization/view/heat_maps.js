/**
 * How fidelity, diversity and novelty weigh in FLD: three heat maps, each a table. Where an axis is what a slider sets,
 * a click on a cell sets it, and the present value is marked.
 *
 * @import { Knob } from "./maths.js"
 * @import { MemoState } from "./state.js"
 */

import { el, scroller, setAttributes, setText } from "../../toolkit/view/dom.js";
import { lockable } from "../../toolkit/view/locks.js";
import { shownNumber } from "../../toolkit/view/numbers.js";
import { KNOB_NAMES, KNOBS, withMemo } from "./maths.js";

// cividis: even steps to any eye, with any colour vision
const STOPS = [
  [0, 34, 78],
  [63, 73, 108],
  [124, 123, 120],
  [187, 173, 108],
  [254, 232, 56],
];
// Above it black is read best, below it white: at least 4.5 to 1 on every level.
const INK_TURNS = 0.47;
// Exact copies of everything end at 10¹⁸: what is this far above the best is as bright as it gets.
const BRIGHTEST = 1000;
const SAVED_MAPS = {
  none: "This page was saved without the maps: they need Python. Open this tab in a notebook, and save the page again.",
  other: "These maps are for the saved points; others need Python.",
};

/** @typedef {{x: string, y: string, labels?: {x: string, y: string}, xs: number[], ys: number[], fld: number[][]}} HeatTable */

export class MemoHeat {
  /** @param {MemoState} state @param {AbortSignal} signal */
  constructor(state, signal) {
    this.state = state;
    this.signal = signal;
    this.asked = "";
    this.built = /** @type {HeatTable[] | null} */ (null);
    this.wait = el("p", { class: "nbm-memo-wait" });
    this.maps = el("div", { class: "nbm-memo-maps" });
    this.note = el("p", { class: "nbm-note" }, [
      "FLD of honest points degraded in two of three ways. Brighter is worse. Click a column or row of copies to set the share copied; the other axis has no slider.",
    ]);
    this.root = el("div", {}, [this.wait, this.maps, this.note]);
  }

  paint() {
    const { store, scene, isRefused } = this.state;
    const key = `interactions ${scene.data} ${scene.points} ${scene.seed}`;
    const maps = store.model.get("interactions");
    if (!store.before && !store.saved && this.asked !== key) {
      this.asked = key;
      if (maps?.key !== key) store.send({ kind: "interactions", scene, key });
    }
    const isCurrent = maps?.key === key;
    const still = store.saved
      ? SAVED_MAPS[maps?.tables ? "other" : "none"]
      : isRefused
        ? "Python has no maps of this scene."
        : store.waiting
          ? "Python is busy or unreachable."
          : "Python computes the maps …";
    setText(this.wait, maps?.error ? `Python: ${maps.error}` : isCurrent ? "" : still);
    this.maps.classList.toggle("nbm-memo-old", !isCurrent);
    if (maps?.tables && maps.tables !== this.built) this.build(maps.tables);
    this.note.hidden = !this.built;
    this.markNow();
  }

  /** @param {HeatTable[]} tables */
  build(tables) {
    this.built = tables;
    const all = tables.flatMap(({ fld }) => fld.flat());
    const best = Math.min(...all);
    const worst = Math.min(BRIGHTEST, Math.max(...all) - best);
    const bright = (/** @type {number} */ value) => Math.log1p(Math.min(worst, value - best)) / Math.log1p(worst);
    this.cells = /** @type {{node: HTMLElement, table: HeatTable, c: number, r: number}[]} */ ([]);
    this.maps.replaceChildren(...tables.map((table) => this.buildOne(table, bright)));
  }

  /** @param {HeatTable} table @param {(value: number) => number} bright */
  buildOne(table, bright) {
    const { xs, ys, fld } = table;
    const [across, down] = [table.labels?.x ?? table.x, table.labels?.y ?? table.y];
    const head = el("tr", {}, [el("td"), ...xs.map((x) => el("th", { scope: "col" }, [heatText(table.x, x)]))]);
    const rows = ys.map((y, r) =>
      el("tr", {}, [
        el("th", { scope: "row" }, [heatText(table.y, y)]),
        ...xs.map((_, c) => this.cell(table, r, c, bright(fld[r][c]))),
      ]),
    );
    const caption = el("caption", {}, [el("span", {}, [`↓ ${down}`]), el("span", {}, [`→ ${across}`])]);
    const map = el("table", { class: "nbm-memo-heat" }, [caption, el("thead", {}, [head]), el("tbody", {}, rows)]);
    return scroller(`${down} by ${across}`, map, this.signal);
  }

  /** @param {HeatTable} table @param {number} r @param {number} c @param {number} level 0 to 1 */
  cell(table, r, c, level) {
    const text = shownNumber(table.fld[r][c]);
    const colour = `background: rgb(${cividis(level).join(", ")}); color: ${level > INK_TURNS ? "#000" : "#fff"}`;
    const parts = this.parts(table, r, c);
    const node = el("td", { style: colour }, parts ? [this.button(text, parts)] : [text]);
    this.cells?.push({ node, table, c, r });
    return node;
  }

  /** @param {string} text @param {Record<string, number>} parts */
  button(text, parts) {
    const set = Object.entries(parts)
      .map(([name, value]) => `${KNOBS[/** @type {Knob} */ (name)].label} ${heatText(name, value)}`)
      .join(", ");
    const node = el("button", { type: "button", title: `Set ${set}`, "aria-label": `FLD ${text}: set ${set}` }, [text]);
    lockable("drag", node);
    node.addEventListener("click", () => this.state.store.edit(withMemo(this.state.scene, parts)), {
      signal: this.signal,
    });
    return node;
  }

  /** What a click on a cell sets, or null if no slider has its axes. @param {HeatTable} table @param {number} r @param {number} c */
  parts({ x, y, xs, ys }, r, c) {
    /** @type {Record<string, number>} */
    const parts = {};
    if (isKnob(x)) parts[x] = xs[c];
    if (isKnob(y)) parts[y] = ys[r];
    return Object.keys(parts).length ? parts : null;
  }

  /** Mark the column or row that the sliders are at. */
  markNow() {
    const { scene } = this.state;
    for (const { node, table, r, c } of this.cells ?? []) {
      const parts = this.parts(table, r, c);
      const isNow =
        parts !== null && Object.entries(parts).every(([name, value]) => scene[/** @type {Knob} */ (name)] === value);
      node.classList.toggle("nbm-memo-here", isNow);
      if (parts) setAttributes(/** @type {Element} */ (node.firstElementChild), { "aria-pressed": String(isNow) });
    }
  }
}

/** @param {string} name */
function isKnob(name) {
  return KNOB_NAMES.some((knob) => knob === name);
}

/** @param {string} name @param {number} value */
function heatText(name, value) {
  return name === "copied" || name === "diversity" ? `${Math.round(100 * value)} %` : String(value);
}

/** @param {number} level 0 to 1 */
function cividis(level) {
  const place = Math.min(STOPS.length - 2, Math.floor(level * (STOPS.length - 1)));
  const part = level * (STOPS.length - 1) - place;
  return STOPS[place].map((from, c) => Math.round(from + part * (STOPS[place + 1][c] - from)));
}
