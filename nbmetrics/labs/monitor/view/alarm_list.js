/**
 * Alarms in words, each a button that goes to its step; a new one is said aloud.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Scrubber } from "./scrubber.js"
 * @import { Numbers, Scene } from "./types.js"
 */
import { resizeChildren } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { stepText } from "./formatting.js";

export class AlarmList {
  /** @param {Store} store @param {AbortSignal} signal @param {Scrubber} scrubber */
  constructor(store, signal, scrubber) {
    this.store = store;
    this.head = el("span", { class: "nbm-card-head", role: "heading", "aria-level": "3" });
    this.list = el("ul", { class: "nbm-step-list" });
    this.said = el("p", { class: "nbm-step-unseen", "aria-live": "polite" });
    this.count = el("summary");
    this.earlier = el("ul", { class: "nbm-step-list" });
    this.fold = el("details", {}, [this.count, this.earlier]);
    this.root = el("section", { class: "nbm-step-card", "aria-label": "Alarms" }, [
      this.head,
      this.list,
      this.fold,
      this.said,
    ]);
    /** @type {import("./types.js").Alarm[]} */
    this.alarms = [];
    this.last = "";
    const pressed = (/** @type {Event} */ event) => {
      const item = /** @type {Element} */ (event.target).closest("li");
      const place = item ? [...this.list.children, ...this.earlier.children].indexOf(item) : -1;
      if (place >= 0) scrubber.go(this.shown[place].step);
    };
    for (const list of [this.list, this.earlier]) list.addEventListener("click", pressed, { signal });
  }

  /** The newest first. */
  get shown() {
    return [...this.alarms].reverse();
  }

  /** @param {Scene} _scene @param {Numbers} numbers */
  paint(_scene, { alarms, step }) {
    this.alarms = alarms;
    setText(this.head, alarms.length ? `Alarms: ${alarms.length}` : "No alarm");
    const { shown } = this;
    const make = () => el("li", {}, [el("button", { type: "button" }, [el("b"), el("span")])]);
    const newest = resizeChildren(this.list, Math.min(1, shown.length), make);
    const earlier = resizeChildren(this.earlier, Math.max(0, shown.length - 1), make);
    this.fold.hidden = !earlier.length;
    setText(this.count, `${earlier.length} earlier`);
    [...newest, ...earlier].forEach((item, i) => {
      const [button] = item.children;
      setText(button.children[0], `Step ${stepText(shown[i].step)}`);
      setText(button.children[1], `${shown[i].alarm}: ${shown[i].words}`);
      setAttributes(button, { "aria-pressed": String(shown[i].step === step) });
    });
    const said = shown.length ? `Alarm at step ${stepText(shown[0].step)}: ${shown[0].words}` : "";
    if (said && said !== this.last && this.last) setText(this.said, said);
    this.last = said || "none";
  }
}
