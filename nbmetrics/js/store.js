/**
 * The state that all displays of one lab share, and its line to Python.
 *
 * An edit is painted at once from here. While a drag lasts, the scene goes to Python as numbered messages, up to 25
 * a second and at most two unanswered, the newest winning, and the synced `scene` follows about ten times a second; on release it is
 * committed, with one step of history. Python's answers are the `result` trait and carry the `rev` they belong to.
 *
 * @import { History, Model, Numbers, Place, Scene } from "./types.js"
 */
import { numbersOf } from "./maths.js";
import { recorded, redone, sameScene, undone } from "./edits.js";

const IN_FLIGHT = 2;
const COMMIT_EVERY = 100;
// Python only checks what this page paints, so it is left most of the processor while a drag lasts.
const ASK_EVERY = 40;
const PATIENCE = 1500;

export class Store {
  /** @param {Model} model @param {AbortSignal} [signal] */
  constructor(model, signal) {
    this.model = model;
    /** @type {Scene} */
    this.scene = model.get("scene");
    /** @type {Place | null} */
    this.selected = null;
    /** @type {Place | null} */
    this.hovered = null;
    /** @type {string} */
    this.notice = "";
    this.waiting = false;
    /** @type {Scene | null} the scene before the gesture under way */
    this.before = null;
    /** @type {Set<() => void>} */
    this.listeners = new Set();
    /** @type {number[]} */
    this.asked = [];
    this.committedAt = 0;
    this.askedAt = 0;
    this.telling = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {{scene: Scene, numbers: Numbers} | null} */
    this.memo = null;
    const onScene = () => this.receive();
    const onResult = () => this.answered();
    model.on("change:scene", onScene);
    model.on("change:result", onResult);
    signal?.addEventListener("abort", () => {
      model.off("change:scene", onScene);
      model.off("change:result", onResult);
      clearTimeout(this.timer);
    });
  }

  /** @returns {Numbers} */
  get numbers() {
    if (this.memo?.scene !== this.scene) this.memo = { scene: this.scene, numbers: numbersOf(this.scene) };
    return this.memo.numbers;
  }

  /** @returns {History} */
  get history() {
    return this.model.get("history");
  }

  /** Call `listener` after every change until `signal` aborts. @param {() => void} listener @param {AbortSignal} signal */
  subscribe(listener, signal) {
    this.listeners.add(listener);
    signal.addEventListener("abort", () => this.listeners.delete(listener));
  }

  changed() {
    for (const listener of this.listeners) listener();
  }

  /** @param {Place | null} place */
  select(place) {
    this.selected = place;
    this.changed();
  }

  /** @param {Place | null} place */
  hover(place) {
    this.hovered = place;
    this.changed();
  }

  /** @param {string} text */
  say(text) {
    this.notice = text;
    this.changed();
  }

  /** Show a scene while a gesture goes on. @param {Scene} scene */
  preview(scene) {
    this.before ??= this.scene;
    this.scene = { ...scene, rev: this.scene.rev + 1 };
    this.keepSelection();
    this.notice = "";
    this.changed();
    this.tell();
  }

  /** Write to Python after this frame is painted, not before. */
  tell() {
    this.telling ||= requestAnimationFrame(() =>
      setTimeout(() => {
        this.telling = 0;
        if (!this.before) return;
        this.ask();
        if (performance.now() - this.committedAt >= COMMIT_EVERY) this.commit();
      }),
    );
  }

  /** End a gesture: one step of history. */
  finish() {
    const before = this.before;
    this.before = null;
    if (!before || sameScene(before, this.scene)) return this.changed();
    this.model.set("history", recorded(this.history, before));
    this.commit();
    this.changed();
  }

  /** Give a gesture up: back to where it began. */
  cancel() {
    const before = this.before;
    this.before = null;
    if (before) this.replace(before);
  }

  /** A whole edit at once. @param {Scene} scene */
  edit(scene) {
    this.finish();
    this.preview(scene);
    this.finish();
  }

  undo() {
    this.travel(undone(this.history, this.scene));
  }

  redo() {
    this.travel(redone(this.history, this.scene));
  }

  /** @param {{history: History, scene: Scene} | null} step */
  travel(step) {
    if (!step) return;
    this.model.set("history", step.history);
    this.replace(step.scene);
  }

  /** @param {Scene} scene */
  replace(scene) {
    this.scene = { ...scene, rev: this.scene.rev + 1 };
    this.keepSelection();
    this.notice = "";
    this.commit();
    this.changed();
  }

  keepSelection() {
    for (const key of /** @type {("selected" | "hovered")[]} */ (["selected", "hovered"])) {
      const place = this[key];
      if (place && place.index >= this.scene[place.kind].length) this[key] = null;
    }
  }

  commit() {
    this.committedAt = performance.now();
    this.reach(() => {
      this.model.set("scene", this.scene);
      this.model.save_changes();
    });
    this.watch();
  }

  /** Python, or another browser, changed the scene; a gesture under way here wins. */
  receive() {
    const scene = this.model.get("scene");
    if (this.before || scene.rev <= this.scene.rev) return;
    this.scene = scene;
    this.keepSelection();
    this.changed();
  }

  /** Send the newest scene, unless two questions are open already or one was just asked. */
  ask() {
    const now = performance.now();
    if (this.asked.length >= IN_FLIGHT || now - this.askedAt < ASK_EVERY) return;
    this.askedAt = now;
    this.asked.push(this.scene.rev);
    this.reach(() => this.model.send({ kind: "ask", scene: this.scene }));
    this.watch();
  }

  answered() {
    const { rev } = this.model.get("result");
    const full = this.asked.length >= IN_FLIGHT;
    this.asked = this.asked.filter((open) => open > rev);
    if (full && this.before && rev < this.scene.rev) this.ask();
    if (rev >= this.scene.rev) this.rest();
    this.changed();
  }

  /** After a while without an answer, say so and forget the open questions. */
  watch() {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.asked = [];
      if (this.model.get("result").rev < this.scene.rev) this.waiting = true;
      this.changed();
    }, PATIENCE);
  }

  rest() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.waiting = false;
  }

  /** A dead kernel must not stop the view. @param {() => void} call */
  reach(call) {
    try {
      call();
    } catch {
      this.waiting = true;
    }
  }
}
