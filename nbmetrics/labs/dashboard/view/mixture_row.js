/**
 * One generator's share in a mixture: a slider, a mark where the best mixture has it, and a number to type.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 */
import { el, setAttributes } from "../../toolkit/view/dom.js";
import { shortened } from "../../toolkit/view/name_width.js";
import { shareText } from "../../toolkit/view/numbers.js";
import { slides } from "../../toolkit/view/slider.js";

// Pixels of a name beside its slider.
const NAME_PX = 90;

export class MixtureRow {
  /** @param {Store} gesture what takes the shares, as a store takes scenes @param {AbortSignal} signal @param {string} name @param {(share: number) => any} write */
  constructor(gesture, signal, name, write) {
    this.input = el("input", {
      type: "range",
      min: "0",
      max: "1",
      step: "0.01",
      "aria-label": `${name} in the mixture`,
    });
    this.number = el("input", {
      type: "number",
      min: "0",
      max: "100",
      step: "any",
      "aria-label": `${name} in the mixture in percent`,
    });
    this.bar = el("span");
    this.best = el("span", { class: "nbm-mixture-best" });
    this.root = el("div", { class: "nbm-mixture-row" }, [
      el("span", { title: name }, [shortened(name, NAME_PX)]),
      el("div", { class: "nbm-weight-slide" }, [
        el("div", { class: "nbm-weight-track nbm-mixture-track", "aria-hidden": "true" }, [this.bar]),
        this.best,
        this.input,
      ]),
      el("label", {}, [this.number, "%"]),
    ]);
    slides(this.input, gesture, write, signal);
    this.number.addEventListener("keydown", (event) => event.stopPropagation(), { signal });
    const typed = () => {
      const share = this.number.valueAsNumber / 100;
      gesture.edit(write(Number.isFinite(share) ? share : this.share));
    };
    this.number.addEventListener("change", typed, { signal });
    this.share = 0;
  }

  /** @param {number} share @param {number} best */
  paint(share, best) {
    this.share = share;
    this.input.value = String(share);
    this.number.value = String(Number((100 * share).toFixed(1)));
    setAttributes(this.input, { "aria-valuetext": `${shareText(share)}, in the best mixture ${shareText(best)}` });
    setAttributes(this.bar, { style: `width: ${(100 * share).toFixed(1)}%` });
    this.best.hidden = !(best > 0);
    setAttributes(this.best, { style: `left: calc(6px + (100% - 12px) * ${best.toFixed(4)})` });
  }
}
