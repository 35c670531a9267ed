/**
 * A learner's prediction as a string for the teacher: copied, and shown where it cannot be.
 *
 * @import { Progress } from "../../toolkit/view/types.js"
 * @import { PlaneStore } from "../../plane/view/store.js"
 */
import { el, setText } from "../../toolkit/view/dom.js";
import { answerString } from "./answers.js";

const COPY = "Copy my answer";
/** Milliseconds that the button says what it did. */
const SAID = 2000;

export class CopyAnswer {
  /** @param {PlaneStore} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.button = el("button", { type: "button", title: "For your teacher, who collects them" }, [COPY]);
    this.field = el("input", {
      class: "nbm-verbatim nbm-answer-string",
      readonly: "",
      "aria-label": "My answer as a string",
    });
    this.field.hidden = true;
    this.button.addEventListener("click", () => this.copy(), { signal });
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(this.field.value);
      setText(this.button, "✓ Copied");
      setTimeout(() => setText(this.button, COPY), SAID);
      this.store.say("Answer copied: paste it where your teacher collects them.");
    } catch {
      this.field.hidden = false;
      this.field.select();
      this.store.say("Copy the selected answer for your teacher.");
    }
  }

  /** Its room is kept from the beginning: placing the flag must not move it. @param {Progress} progress @param {boolean} isAsked whether there is a flag to place */
  paint(progress, isAsked) {
    const text = answerString(progress);
    this.button.hidden = !isAsked;
    this.button.classList.toggle("nbm-early", text === "");
    if (text === "") this.field.hidden = true;
    if (this.field.value !== text) this.field.value = text;
  }
}
