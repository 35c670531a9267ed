/**
 * The sliders: how much is copied, how exactly, and what becomes of the rest. The first one stands alone, above the
 * picture; it is what the opening question is about.
 *
 * @import { Knob, MemoScene } from "./maths.js"
 * @import { MemoState } from "./state.js"
 * @import { Store } from "../../toolkit/view/store.js"
 */
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { slides } from "../../toolkit/view/slider.js";
import { setValue } from "../../toolkit/view/typed_fields.js";
import declaration from "../scene.json" with { type: "json" };
import { KNOB_NAMES, KNOB_WORDS, KNOBS, SCALES, withMemo } from "./maths.js";

const MAX_SEED = declaration.fields.seed.whole[1];
// Of the share copied in percent, on a saved page, which holds the scores of these.
const SAVED_STEP = 5;
const NEEDS_PYTHON = "Other points need Python: open the lab in a notebook";

/** One native range input with its label and value. */
class KnobInput {
  /** @param {MemoState} state @param {AbortSignal} signal @param {Knob | "points"} name */
  constructor(state, signal, name) {
    this.state = state;
    this.name = name;
    this.scale = SCALES[name];
    const { label, hint } = KNOBS[name];
    this.input = el("input", {
      type: "range",
      min: "0",
      max: String(this.scale.steps),
      step: "1",
      "aria-label": label,
    });
    this.value = el("span", { class: "nbm-memo-value", "aria-hidden": "true" });
    this.root = el("label", { class: `nbm-memo-knob nbm-memo-knob-${name}`, title: hint }, [
      el("span", { class: "nbm-memo-name" }, [label]),
      this.value,
      this.input,
    ]);
    const { store } = state;
    if (name === "copied" && state.sweepOfCopies) setAttributes(this.input, { step: SAVED_STEP });
    if (name === "points") closeOnSaved(store, this.input);
    slides(this.input, store, (position) => this.sceneAt(position), signal);
  }

  /** The scene with this value; a chosen point that is then no more is chosen no more. @param {number} position */
  sceneAt(position) {
    const { scene } = this.state;
    const value = this.scale.value(position);
    const isGone = this.name === "points" && scene.selected !== null && scene.selected >= value;
    return withMemo(scene, { [this.name]: value, selected: isGone ? null : scene.selected });
  }

  paint() {
    const { name, scale, state } = this;
    const value = state.scene[name];
    const position = String(Math.round(scale.position(value)));
    if (this.input.value !== position) this.input.value = position;
    const text = name === "points" ? String(value) : KNOB_WORDS[name](value);
    setAttributes(this.input, { "aria-valuetext": text });
    setText(this.value, text);
    this.root.style.setProperty("--nbm-memo-filled", `${(100 * Number(position)) / scale.steps}%`);
  }
}

export class MemoSliders {
  /** @param {MemoState} state @param {AbortSignal} signal */
  constructor(state, signal) {
    this.state = state;
    this.first = new KnobInput(state, signal, "copied");
    this.others = /** @type {(Knob | "points")[]} */ ([...KNOB_NAMES.slice(1), "points"]).map(
      (name) => new KnobInput(state, signal, name),
    );
    this.seed = el("input", { class: "nbm-input", type: "number", min: "0", max: String(MAX_SEED), step: "1" });
    this.seed.addEventListener("change", () => this.reseed(), { signal });
    closeOnSaved(state.store, this.seed);
    const seed = el("label", { class: "nbm-memo-knob nbm-memo-seed", title: "of the points" }, [
      el("span", { class: "nbm-memo-name" }, ["Seed"]),
      this.seed,
    ]);
    this.root = el("div", { class: "nbm-memo-knobs" }, [...this.others.map((knob) => knob.root), seed]);
  }

  reseed() {
    const seed = this.seed.valueAsNumber;
    if (!(Number.isInteger(seed) && seed >= 0 && seed <= MAX_SEED))
      return this.state.store.say("A seed is a whole number from 0.");
    this.state.store.edit(withMemo(this.state.scene, { seed }));
  }

  /** @param {MemoScene} scene */
  paint(scene) {
    for (const knob of [this.first, ...this.others]) {
      knob.root.hidden = this.state.isOwn;
      knob.paint();
    }
    this.root.hidden = this.state.isOwn;
    setValue(this.seed, String(scene.seed));
  }
}

/** What draws other points cannot be had without Python. @param {Store} store @param {HTMLInputElement} input */
function closeOnSaved({ saved }, input) {
  if (!saved) return;
  input.disabled = true;
  setAttributes(input, { title: NEEDS_PYTHON });
}
