/**
 * How far Python is: what is known so far, what is computed now, and a button to stop or to go on. Once all is known its
 * room stays, so that nothing below moves.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Board } from "./types.js"
 */
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";

export class Progress {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.bar = el("progress", { "aria-label": "Scores known" });
    this.words = el("span");
    this.button = el("button", { type: "button" });
    this.isStopped = false;
    this.wasShown = false;
    this.button.addEventListener("click", () => store.send({ kind: this.isStopped ? "resume" : "stop" }), { signal });
    this.root = el("div", { class: "nbm-dashboard-progress" }, [this.bar, this.words, this.button]);
  }

  paint() {
    const { store } = this;
    const { filled = { done: 0, total: 0, doing: "", why: "" } } = /** @type {Board} */ (store.model.get("board"));
    this.isStopped = Boolean(filled.stopped);
    const isOver = filled.done === filled.total && !filled.doing && !this.isStopped;
    this.wasShown ||= !isOver;
    this.root.hidden = !this.wasShown;
    this.root.classList.toggle("nbm-dashboard-over", isOver);
    if (isOver) return;
    setAttributes(this.bar, { value: filled.done, max: filled.total });
    const now = this.isStopped
      ? `stopped${filled.why ? `. Python: ${filled.why}` : ""}`
      : filled.doing
        ? `now: ${filled.doing}`
        : "";
    const gone = store.lost ? "Python is gone: what is known stays" : now;
    setText(this.words, `So far, ${filled.done} of ${filled.total} scores${gone ? `; ${gone}` : ""}`);
    setText(this.button, this.isStopped ? "Go on" : "Stop");
    this.button.hidden = Boolean(store.saved) || store.lost;
  }
}
