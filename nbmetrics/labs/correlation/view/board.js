/**
 * The scores with what each of them sees, the fields of the two correlations, and which score the map shows.
 *
 * @import { Pair } from "./maths.js"
 * @import { Store } from "../../toolkit/view/store.js"
 */

import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { numeral } from "../../toolkit/view/numbers.js";
import { setValue } from "../../toolkit/view/typed_fields.js";
import { SCORE_NAMES, SCORES, withParts } from "./maths.js";

const SEES = {
  mfid: "y and ŷ without x: no part of the pairing",
  rfid: "the two clouds: part of it, depending on the unit of x",
  cfid: "y and ŷ at each x: all of it, in any unit",
  squared_difference: "only the two slopes",
};
const MAX_SCORE = 4;
// In words where there is room: a formula is no name.
const SCORE_WORDS = { ...SCORE_NAMES, squared_difference: "squared difference" };

export class ScoreBoard {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.rows = SCORES.map((score) => {
      const bar = el("div", { class: `nbm-pair-bar nbm-pair-as-${score}` });
      const number = el("span");
      const cell = el("td", {}, [
        el("div", { class: "nbm-pair-secret" }, [number, el("div", { class: "nbm-pair-track" }, [bar])]),
      ]);
      const row = el("tr", {}, [
        el("th", { scope: "row" }, [SCORE_WORDS[score]]),
        cell,
        el("td", { class: "nbm-pair-sees" }, [el("div", { class: "nbm-pair-secret" }, [SEES[score]])]),
      ]);
      row.addEventListener("click", () => store.edit(withParts(store.scene, { metric: score }), ""), { signal });
      return { score, row, cell, number, bar };
    });
    const heads = ["Score", "Value", "What it sees"].map((text) => el("th", { scope: "col" }, [text]));
    this.root = el("table", { class: "nbm-scores nbm-pair-sighted", "aria-label": "Scores" }, [
      el("thead", {}, [el("tr", {}, heads)]),
      el(
        "tbody",
        {},
        this.rows.map(({ row }) => row),
      ),
    ]);
  }

  /** @param {Pair} scene @param {Record<string, number>} scores */
  paint(scene, scores) {
    setAttributes(this.root, { "data-rev": scene.rev });
    for (const { score, row, cell, number, bar } of this.rows) {
      const value = scores[score];
      setText(number, numeral(value, 3));
      setAttributes(cell, { "data-value": value });
      bar.style.width = `${(100 * value) / MAX_SCORE}%`;
      row.classList.toggle("nbm-selected", scene.metric === score);
    }
  }
}

/** Which score the map shows. */
export class ScoreSwitch {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.buttons = /** @type {const} */ (["cfid", "rfid", "mfid", "squared_difference"]).map((score) => {
      const node = el("button", { type: "button", "data-score": score }, [SCORE_WORDS[score]]);
      node.addEventListener("click", () => store.edit(withParts(store.scene, { metric: score }), ""), { signal });
      return node;
    });
    this.root = el("div", { class: "nbm-pair-switch", role: "group", "aria-label": "Contours of" }, [
      "Contours of",
      ...this.buttons,
    ]);
  }

  /** @param {Pair} scene */
  paint({ metric }) {
    for (const node of this.buttons) setAttributes(node, { "aria-pressed": String(node.dataset.score === metric) });
  }
}

/** The two correlations as numbers. */
export class PairFields {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.fields = /** @type {const} */ ([
      ["rho", "ρ real", "●", "nbm-pair-is-real"],
      ["rho_hat", "ρ̂ generated", "◆", "nbm-pair-is-made"],
    ]).map(([key, name, mark, style]) => {
      const input = el("input", {
        type: "number",
        class: "nbm-input",
        min: "-1",
        max: "1",
        step: "0.01",
        "aria-label": name,
      });
      input.addEventListener("change", () => this.take(key, name, input), { signal });
      return { key, input, node: el("label", { class: style }, [`${mark} ${name}`, input]) };
    });
    this.root = el(
      "div",
      { class: "nbm-pair-fields" },
      this.fields.map(({ node }) => node),
    );
  }

  /** @param {"rho" | "rho_hat"} key @param {string} name @param {HTMLInputElement} input */
  take(key, name, input) {
    const value = input.value.trim() === "" ? NaN : Number(input.value);
    if (Math.abs(value) <= 1) return this.store.edit(withParts(this.store.scene, { [key]: value }));
    this.show(key, input);
    this.store.say(`${name}: give a correlation from −1 to 1.`);
  }

  /** @param {"rho" | "rho_hat"} key @param {HTMLInputElement} input */
  show(key, input) {
    setValue(input, String(/** @type {any} */ (this.store.scene)[key]));
  }

  paint() {
    for (const { key, input } of this.fields) this.show(key, input);
  }
}
