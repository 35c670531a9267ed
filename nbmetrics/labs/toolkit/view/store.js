/**
 * Twin: labs/toolkit/history.py · held by: tests/labs/toolkit/test_history_page.py
 *
 * The state that all displays of one lab share, its history for undo and redo, and its line to Python.
 *
 * An edit is painted at once from here. While a drag lasts, the scene goes to Python as numbered messages, up to 60
 * a second and at most two unanswered, the newest winning, and the synced `scene` follows about ten times a second; on
 * release it is committed, with one step of history. Python's answers are the `result` trait and carry the `rev` they
 * belong to. On a saved page there is no Python: nothing is asked, and `saved` is what to say about it. A kernel that
 * was killed, or started anew under a reopened notebook, does not know the lab: then it is `lost` until its cell is run.
 *
 * What a teacher locked is refused here, whatever tries it, and shown by locks.js.
 *
 * @import { History, Model, Numbers, Scene } from "./types.js"
 */
import common from "../scene.json" with { type: "json" };

/** @param {History} history @param {Scene} before @returns {History} */
export function recordEdit(history, before) {
  return { past: [...history.past, before].slice(-common.remembered), future: [] };
}

/** @param {History} history @param {Scene} now @returns {{history: History, scene: Scene} | null} */
export function undoEdit({ past, future }, now) {
  const scene = past.at(-1);
  return scene ? { scene, history: { past: past.slice(0, -1), future: [now, ...future] } } : null;
}

/** @param {History} history @param {Scene} now @returns {{history: History, scene: Scene} | null} */
export function redoEdit({ past, future }, now) {
  const scene = future[0];
  return scene ? { scene, history: { past: [...past, now], future: future.slice(1) } } : null;
}

/** Whether two scenes show the same, whatever their revision. @param {Scene} a @param {Scene} b */
export function sameScene(a, b) {
  return JSON.stringify({ ...a, rev: 0 }) === JSON.stringify({ ...b, rev: 0 });
}

// What is only a way to look at a scene, or what became of its question.
const LOOKS = new Set(["rev", "preset", "view", "lesson", "question", "selected", "metric"]);

/** Whether two scenes are about the same, however one looks at them. @param {Scene} a @param {Scene} b */
export function sameContent(a, b) {
  const content = (/** @type {Scene} */ scene) =>
    JSON.stringify(Object.entries(scene).filter(([field]) => !LOOKS.has(field)));
  return content(a) === content(b);
}

const MAX_QUESTIONS_IN_FLIGHT = 2;
const COMMIT_INTERVAL_MS = 100;
// Python only checks what this page paints: between questions the page gets most of the processor, for three times as
// long as the last answer took, within these milliseconds.
const ASK_EVERY = { least: 8, most: 40, rest: 3 };
const ANSWER_TIMEOUT_MS = 1500;

export class Store {
  /**
   * @param {Model} model @param {AbortSignal} [signal]
   * @param {(scene: any, model: Model) => any} [compute] the numbers of a scene
   * @param {string[]} [traits] others of the model that the numbers or the view depend on
   */
  constructor(model, signal, compute = () => ({}), traits = []) {
    this.model = model;
    // The name of the lab's class.
    this.lab = "";
    this.compute = compute;
    /** @type {Scene} */
    this.scene = model.get("scene");
    /** @type {string} */
    this.notice = "";
    /** Whether Python has not answered for a while. */
    this.waiting = false;
    /** Whether Python cannot answer any more. */
    this.lost = false;
    this.saved = /** @type {string | undefined} */ (model.get("saved"));
    /** @type {Scene | null} the scene before the gesture under way */
    this.before = null;
    /** @type {Set<() => void>} */
    this.listeners = new Set();
    /** @type {number[]} */
    this.asked = [];
    this.committedAt = 0;
    this.askedAt = 0;
    this.askedRev = -1;
    this.telling = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.asking = undefined;
    /** @type {{scene: Scene, numbers: Numbers} | null} */
    this.memo = null;
    const onScene = () => this.receive();
    const onResult = () => this.answered();
    const onLocked = () => this.locksChanged();
    const onTrait = () => {
      this.memo = null;
      this.changed();
    };
    /** @type {[string, () => void][]} */
    const calls = [
      ["scene", onScene],
      ["result", onResult],
      ["locked", onLocked],
      ...traits.map((name) => /** @type {[string, () => void]} */ ([name, onTrait])),
    ];
    for (const [name, call] of calls) model.on(`change:${name}`, call);
    // Jupyter tells of its own models whether the kernel has their other half; elsewhere nothing is known.
    const line = model.get("layout");
    const onLine = () => this.lineChanged(line.comm_live);
    this.lineChanged(line?.comm_live);
    line?.on?.("comm_live_update", onLine);
    signal?.addEventListener("abort", () => {
      line?.off?.("comm_live_update", onLine);
      for (const [name, call] of calls) model.off(`change:${name}`, call);
      clearTimeout(this.timer);
      clearTimeout(this.asking);
    });
  }

  /** @returns {Numbers} */
  get numbers() {
    if (this.memo?.scene !== this.scene)
      this.memo = { scene: this.scene, numbers: this.compute(this.scene, this.model) };
    return this.memo.numbers;
  }

  /** @returns {History} */
  get history() {
    return this.model.get("history");
  }

  /** @returns {string[]} what a teacher locked, by the names of Lab.lock */
  get locked() {
    return this.model.get("locked");
  }

  /** Why, where it was no teacher. */
  get whyLocked() {
    return "";
  }

  /** @param {string} what a name of Lab.lock, or "" for what cannot be locked */
  isLocked(what) {
    return this.locked.includes(what);
  }

  locksChanged() {
    if (this.isLocked("drag")) this.cancel();
    this.changed();
  }

  /** @param {boolean | undefined} isLive whether the kernel has this lab */
  lineChanged(isLive) {
    if (isLive === undefined) return;
    this.lost = this.waiting = !isLive;
    this.changed();
  }

  /** Call `listener` after every change until `signal` aborts. @param {() => void} listener @param {AbortSignal} signal */
  subscribe(listener, signal) {
    this.listeners.add(listener);
    signal.addEventListener("abort", () => this.listeners.delete(listener));
  }

  changed() {
    for (const listener of this.listeners) listener();
  }

  /** The next revision: above what Python answered to a page that was closed in the middle of a drag, too. */
  get following() {
    return Math.max(this.scene.rev, this.model.get("result")?.rev ?? 0) + 1;
  }

  /** @param {Scene} scene */
  take(scene) {
    this.scene = scene;
  }

  /** Open a preset, or the like. @param {Scene} scene @param {string} what the lock that refuses it */
  open(scene, what) {
    this.edit(scene, what);
  }

  /** @param {string} text */
  say(text) {
    this.notice = text;
    this.changed();
  }

  /** Show a scene while a gesture goes on. @param {Scene} scene @param {string} [what] the lock that refuses it, "" if none does */
  preview(scene, what = "drag") {
    if (!this.isLocked(what)) this.show(scene);
  }

  /** @param {Scene} scene */
  show(scene) {
    this.before ??= this.scene;
    this.take({ ...scene, rev: this.following });
    this.notice = "";
    this.changed();
    this.tell();
  }

  /** Write to Python after this frame is painted, not before. */
  tell() {
    this.telling ||= requestAnimationFrame(() => {
      this.telling = 0;
      setTimeout(() => {
        if (!this.before) return;
        if (performance.now() - this.committedAt >= COMMIT_INTERVAL_MS)
          this.commit(); // Python answers it like a question
        else this.ask();
      });
    });
  }

  /** End a gesture: one step of history. */
  finish() {
    const before = this.before;
    this.before = null;
    if (!before) return this.changed();
    if (!sameScene(before, this.scene)) this.model.set("history", recordEdit(this.history, before));
    else if (this.model.get("scene").rev <= before.rev) this.scene = before; // Python never heard of the way there
    if (this.scene !== before) this.commit();
    this.changed();
  }

  /** Give a gesture up: back to where it began. */
  cancel() {
    const before = this.before;
    this.before = null;
    if (before) this.replace(before);
  }

  /** A whole edit at once. @param {Scene} scene @param {string} [what] the lock that refuses it, "" if none does */
  edit(scene, what = "drag") {
    if (this.isLocked(what)) return;
    this.finish();
    this.show(scene);
    this.finish();
  }

  undo() {
    if (this.isLocked("history")) return;
    this.travel(undoEdit(this.history, this.scene));
  }

  redo() {
    if (this.isLocked("history")) return;
    this.travel(redoEdit(this.history, this.scene));
  }

  /** @param {{history: History, scene: Scene} | null} step */
  travel(step) {
    if (!step) return;
    this.model.set("history", step.history);
    this.replace(step.scene);
  }

  /** @param {Scene} scene */
  replace(scene) {
    this.take({ ...scene, rev: this.following });
    this.notice = "";
    this.commit();
    this.changed();
  }

  commit() {
    this.committedAt = this.askedAt = performance.now();
    this.askedRev = this.scene.rev;
    this.reach(() => {
      this.model.set("scene", this.scene);
      this.model.save_changes();
    });
    this.watch();
  }

  /** Python, or another browser, changed the scene; a gesture under way here wins, unless it must yield. */
  receive() {
    const scene = this.model.get("scene");
    if (this.before && scene.rev > this.before.rev && this.yieldsTo(scene)) {
      this.before = null;
      return this.replace(scene);
    }
    if (this.before || scene.rev <= this.scene.rev) return;
    this.take(scene);
    this.changed();
  }

  /** @param {Scene} _scene from elsewhere in the middle of a gesture */
  yieldsTo(_scene) {
    return false;
  }

  /** Milliseconds between two questions. */
  get pause() {
    const { seconds = 0 } = this.model.get("result");
    return Math.min(ASK_EVERY.most, Math.max(ASK_EVERY.least, ASK_EVERY.rest * 1000 * seconds));
  }

  /** Send the newest scene: after the next answer where two questions are open, after a pause where one was just asked. */
  ask() {
    const { rev } = this.scene;
    if (this.saved || rev === this.askedRev || this.asked.length >= MAX_QUESTIONS_IN_FLIGHT) return;
    const wait = this.askedAt + this.pause - performance.now();
    if (wait > 0) return this.askIn(wait);
    this.askedAt = performance.now();
    this.askedRev = rev;
    this.asked.push(rev);
    this.reach(() => this.model.send({ kind: "ask", scene: this.scene }));
    this.watch();
  }

  /** So that a pointer held still sees the answer to where it is. @param {number} milliseconds */
  askIn(milliseconds) {
    this.asking ??= setTimeout(() => {
      this.asking = undefined;
      if (this.before) this.ask();
    }, milliseconds);
  }

  /** A message to Python beside the scenes. @param {any} message */
  send(message) {
    if (!this.saved) this.reach(() => this.model.send(message));
  }

  answered() {
    const { rev } = this.model.get("result");
    const full = this.asked.length >= MAX_QUESTIONS_IN_FLIGHT;
    this.asked = this.asked.filter((open) => open > rev);
    if (full && this.before && rev < this.scene.rev) this.ask();
    this.rest(); // Python is there, however far behind
    if (rev < this.scene.rev) this.watch();
    this.changed();
  }

  /** After a while without an answer, say so, and try the line. What a lost question leaves open, the next answered commit closes. */
  watch() {
    if (this.saved) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      if (this.model.get("result").rev < this.scene.rev) {
        this.waiting = true;
        this.send({ kind: "ping" }); // a commit to a kernel that is gone fails unheard, a message does not
      }
      this.changed();
    }, ANSWER_TIMEOUT_MS);
  }

  rest() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.waiting = this.lost = false;
  }

  /** What throws was cut off from its kernel for good, which must not stop the view. @param {() => void} call */
  reach(call) {
    try {
      call();
    } catch {
      this.waiting = this.lost = true;
    }
  }
}
