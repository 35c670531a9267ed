/**
 * What the parts of MemorizationLab's page share: the scene with its generated points, Python's last answer, and
 * whether that is about what is shown. Choosing a point or a tab changes no number, so it makes no answer old.
 *
 * @import { CardName, CardNumbers, Made, MemoAnswer, MemoBase, MemoScene, Rows2 } from "./maths.js"
 * @import { Store } from "../../toolkit/view/store.js"
 */
import {
  CARD_NAMES,
  departure,
  fitsBase,
  generatedOf,
  KNOB_NAMES,
  KNOB_WORDS,
  KNOBS,
  orderOf,
  settingsKey,
  sweepKey,
} from "./maths.js";

const MAX_REVS_KEPT = 300;
const LISTENED = ["base", "curve", "interactions", "pictures"];

export class MemoState {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    /** @type {Map<number, MemoScene>} what each revision was about */
    this.about = new Map();
    /** @type {{scene: MemoScene, base: MemoBase, generated: Made} | null} */
    this.memo = null;
    /** @type {{memorization: number[], order: number[]} | null} */
    this.ranked = null;
    /** @type {{variance: number[], wide: Rows2} | null} */
    this.spreadOf = null;
    /** @type {{scene: MemoScene, answer: MemoAnswer | undefined} | null} */
    this.keptFor = null;
    /** @type {MemoAnswer | null} */
    this.lastAnswer = null;
    const changed = () => store.changed();
    for (const name of LISTENED) store.model.on(`change:${name}`, changed);
    signal.addEventListener("abort", () => {
      for (const name of LISTENED) store.model.off(`change:${name}`, changed);
    });
  }

  /** @returns {MemoScene} */
  get scene() {
    return /** @type {any} */ (this.store.scene);
  }

  /** @returns {MemoBase} */
  get base() {
    return this.store.model.get("base");
  }

  /** @returns {MemoAnswer | undefined} what a saved page holds of the scene on show, where that is as a preset */
  get kept() {
    const { scene, store } = this;
    if (!store.saved) return undefined;
    if (this.keptFor?.scene !== scene) {
      const presets = /** @type {[string, MemoScene][]} */ (Object.entries(store.model.get("presets")));
      const [name] = presets.find(([, start]) => settingsKey(start) === settingsKey(scene)) ?? [""];
      this.keptFor = { scene, answer: store.model.get("kept")?.[name] ?? this.sweptAnswer };
    }
    return this.keptFor.answer;
  }

  /** The curve over the share copied that a saved page holds of the other settings on show, if any. */
  get sweepOfCopies() {
    const { scene, store } = this;
    const sweep = store.model.get("curve");
    const key = sweepKey({ ...scene, view: { ...scene.view, sweep: "copied" } });
    return store.saved && sweep.key === key && !sweep.error ? sweep : null;
  }

  /** @returns {MemoAnswer | undefined} the cards of the share copied, where the page holds them */
  get sweptAnswer() {
    const { values = [], metrics } = this.sweepOfCopies ?? {};
    const place = values.findIndex((/** @type {number} */ value) => Math.abs(value - this.scene.copied) < 1e-9);
    const { key, honest, noise } = this.store.model.get("result");
    if (place < 0 || !noise) return undefined;
    const cards = Object.fromEntries(CARD_NAMES.map((name) => [name, metrics[name][place]]));
    return /** @type {any} */ ({ key, honest, noise, missing: {}, cards });
  }

  /** @returns {MemoAnswer} the last one with numbers, current or not */
  get answer() {
    if (this.kept) return this.kept;
    const result = this.store.model.get("result");
    if (result.cards) this.lastAnswer = result;
    return this.lastAnswer ?? result;
  }

  /** Whether Python has told why it has no numbers of what is shown. */
  get isRefused() {
    const { rev, error } = this.store.model.get("result");
    return Boolean(error) && rev === this.scene.rev;
  }

  /** Whether images stand behind the user's own rows. */
  get hasItems() {
    return this.isOwn && Boolean(this.store.model.get("pictures").width);
  }

  get isOwn() {
    return this.scene.data === "own";
  }

  /** Whether the rows on show are those of the scene: Python draws new ones after points, data or seed change. */
  get isBaseCurrent() {
    return fitsBase(this.base, this.scene);
  }

  /** Remember what this revision is about; called in every paint. */
  note() {
    const { rev } = this.scene;
    if (this.about.has(rev)) return;
    this.about.set(rev, this.scene);
    const [oldest] = this.about.keys();
    if (this.about.size > MAX_REVS_KEPT) this.about.delete(oldest);
  }

  /** Whether Python's numbers are of what is shown. */
  get isCurrent() {
    const { rev, cards } = this.answer;
    if (!cards) return false;
    if (this.kept) return true;
    const answered = this.about.get(rev);
    return rev === this.scene.rev || (answered !== undefined && settingsKey(answered) === settingsKey(this.scene));
  }

  /**
   * Whether Python's per-point numbers belong to the points that are shown: live if not at these places, since the
   * next answer is under way; on a saved page, where none will come, only at these places.
   */
  get fitsPoints() {
    const { memorization } = this.answer;
    return (
      this.isBaseCurrent &&
      (!this.store.saved || this.isCurrent) &&
      memorization?.length === this.generated.isCopy.length
    );
  }

  /** @returns {Made} */
  get generated() {
    const { scene, base } = this;
    if (this.memo?.scene !== scene || this.memo.base !== base)
      this.memo = { scene, base, generated: generatedOf(scene, base) };
    return this.memo.generated;
  }

  /** Generated points by memorization, the most memorized first; as drawn until Python has told. */
  get byMemorization() {
    const { memorization } = this.answer;
    if (!this.fitsPoints) return [...this.generated.isCopy.keys()];
    if (this.ranked?.memorization !== memorization) this.ranked = { memorization, order: orderOf(memorization) };
    return this.ranked.order;
  }

  /** @returns {number | null} */
  get selected() {
    const { selected } = this.scene;
    return selected !== null && selected < this.generated.isCopy.length ? selected : null;
  }

  /** Choose a generated point, or none: no step of history. @param {number | null} selected */
  select(selected) {
    if (selected !== this.scene.selected) this.look({ selected });
  }

  /** Change what is looked at, not what there is: no step of history. @param {Partial<MemoScene>} parts */
  look(parts) {
    this.store.finish();
    this.store.replace(/** @type {any} */ ({ ...this.scene, ...parts }));
  }

  /** Change tabs and orders. @param {Partial<MemoScene["view"]>} parts */
  view(parts) {
    this.look({ view: { ...this.scene.view, ...parts } });
  }

  /** What is held against honest: on the user's own rows, as many generated ones as the honest stand-in has. */
  get comparedCards() {
    return this.answer.comparable ?? this.answer.cards;
  }

  /** @param {CardName} name how much worse than honest a card is, in standard deviations of honest redraws */
  departureOf(name) {
    return departure(name, this.comparedCards?.[name], this.honest, this.noise);
  }

  /** While Python is behind: which picture the numbers are of. */
  get behindWords() {
    const { saved, waiting, lost } = this.store;
    const { doing } = this.answer;
    if (doing && !lost) return this.progressWords + (waiting ? " It has not answered for a while." : "");
    if (saved)
      return this.isBaseCurrent
        ? "New numbers need Python: these belong to the saved picture. Presets have their own."
        : "These points need Python: the picture and the numbers are the saved ones.";
    if (this.isRefused) return "Python has no numbers for this picture (reason below): these belong to an earlier one.";
    if (waiting) return "Python is busy or unreachable: these numbers belong to an earlier picture.";
    const answered = this.about.get(this.answer.rev);
    const moved = answered && KNOB_NAMES.find((name) => answered[name] !== this.scene[name]);
    return moved
      ? `Just behind: these are for ${KNOBS[moved].label.toLowerCase()} ${KNOB_WORDS[moved](answered[moved])}.`
      : "Python computes …";
  }

  /** How far Python is with numbers that take long. */
  get progressWords() {
    const { doing, done = 0 } = this.answer;
    return `Python computes ${doing}: ${Math.round(100 * done)}\u00a0% …`;
  }

  /** Standard deviations of the bumps along both axes, in the units of the picture. @returns {Rows2 | null} */
  get sigma() {
    const { sigma, variance } = this.answer;
    const { bump } = this.base;
    if (sigma || !bump || !variance) return sigma ?? null;
    if (this.spreadOf?.variance !== variance) {
      const wide = variance.map(
        (v) => /** @type {[number, number]} */ ([Math.sqrt(v) * bump[0], Math.sqrt(v) * bump[1]]),
      );
      this.spreadOf = { variance, wide };
    }
    return this.spreadOf.wide;
  }

  /** @returns {CardNumbers | null} */
  get honest() {
    return this.answer.honest ?? null;
  }

  /** @returns {CardNumbers | null} standard deviations of honest redraws */
  get noise() {
    return this.answer.noise ?? null;
  }
}
