/**
 * Help for who is stuck, offered after a while: a hint to read, and for a task to be shown how. Its room is kept from the
 * beginning, so that nothing moves under the pointer when it comes.
 *
 * @import { Lesson } from "./lesson.js"
 */
import { el, setText } from "../../toolkit/view/dom.js";

/** Milliseconds at one question. */
const PATIENCE = 30_000;

export class LessonHelp {
  /** @param {() => void} onShow @param {() => void} changed @param {AbortSignal} signal */
  constructor(onShow, changed, signal) {
    this.changed = changed;
    /** What is asked: the timer begins anew with it. */
    this.asked = "";
    this.isLate = false;
    this.isOpen = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.hint = el("button", { type: "button", class: "nbm-help" }, ["Hint"]);
    this.show = el("button", { type: "button", class: "nbm-help" }, ["Show me"]);
    this.text = el("p", { class: "nbm-hint", role: "status" });
    this.hint.addEventListener("click", () => this.open(), { signal });
    this.show.addEventListener("click", onShow, { signal });
    signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  open() {
    this.isOpen = true;
    this.changed();
  }

  /** @param {string} asked */
  begin(asked) {
    this.asked = asked;
    this.isLate = this.isOpen = false;
    clearTimeout(this.timer);
    if (!asked) return;
    this.timer = setTimeout(() => {
      this.isLate = true;
      this.changed();
    }, PATIENCE);
  }

  /** @param {Lesson | null} lesson @param {boolean} isShown whether it is revealed @param {boolean} canShow whether a task is open that can be shown */
  paint(lesson, isShown, canShow) {
    const asked = lesson ? `${isShown} ${lesson.name}` : "";
    if (asked !== this.asked) this.begin(asked);
    const hint = isShown ? "" : (lesson?.hint ?? "");
    this.hint.hidden = hint === "" || this.isOpen;
    this.show.hidden = !canShow;
    for (const node of [this.hint, this.show]) node.classList.toggle("nbm-early", !this.isLate);
    this.text.hidden = !(hint && this.isOpen);
    setText(this.text, this.isOpen ? hint : "");
  }
}
