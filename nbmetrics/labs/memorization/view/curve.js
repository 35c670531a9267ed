/**
 * The curve over one slider: every metric as standard deviations worse than honest, on one scale. Until the learner has
 * placed two flags where FID-test and FLD will notice, the curves are hidden.
 *
 * @import { CardName, Knob, MemoScene, NoticeLesson } from "./maths.js"
 * @import { Prediction } from "../../toolkit/view/axis_slider.js"
 * @import { MemoState } from "./state.js"
 */

import { DrawIn, PredictionFlag } from "../../toolkit/view/axis_slider.js";
import { curve, linear, NumberTable, Plot, spreadOut } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { shareText, shownNumber } from "../../toolkit/view/numbers.js";
import { CARDS } from "./cards.js";
import {
  CARD_NAMES,
  departure,
  firstNotice,
  KNOB_NAMES,
  KNOB_WORDS,
  KNOBS,
  NOTICED,
  SCALES,
  squeeze,
  sweepKey,
  withMemo,
  zeroText,
} from "./maths.js";

const LESSON_NAME = "notice";
/** @typedef {"fid_test" | "fld"} Guessed */
const GUESSED = /** @type {const} */ ([
  { name: "fld", label: "FLD", start: 0.35, height: 0.9, cloth: "M0 0L26 8L0 16Z" },
  { name: "fid_test", label: "FID-test", start: 0.65, height: 0.66, cloth: "M0 0H24V16H0Z" },
]);

class MemoLesson {
  /** @param {MemoState} state @param {AbortSignal} signal */
  constructor(state, signal) {
    this.state = state;
    this.text = el("p", { class: "nbm-memo-told", "aria-live": "polite" });
    const button = (/** @type {string} */ text, /** @type {() => void} */ call) => {
      const node = el("button", { type: "button" }, [text]);
      node.addEventListener("click", call, { signal });
      return node;
    };
    this.reveal = button("Reveal", () => this.write({ revealed: true }));
    this.skip = button("Just show me", () => this.write({ revealed: true, guess: null }));
    this.again = button("Predict again", () => this.write(null));
    this.root = el("section", { class: "nbm-memo-lesson", "aria-label": "Prediction" }, [
      this.text,
      el("div", { class: "nbm-group" }, [this.reveal, this.skip, this.again]),
    ]);
    this.flags = GUESSED.map(
      ({ name, cloth }) => new PredictionFlag(state.store, signal, { style: `nbm-memo-of-${name}`, cloth }),
    );
    this.drawIn = new DrawIn(this.root);
  }

  /** @param {Partial<NoticeLesson> | null} parts null to begin anew */
  write(parts) {
    this.state.look({ lesson: parts && { ...lessonNow(this.state), ...parts } });
  }

  /**
   * @param {{x: [number, number], y: [number, number]}} box @param {{at: (value: number) => number, slope: number}} x
   * @param {Record<Guessed, number | null>} places where each notices @param {boolean} isKnown whether all of the curve is there
   * @param {boolean} isOffered whether it is or will be there, with these sliders or others
   */
  paint(box, x, places, isKnown, isOffered) {
    const { scene, store } = this.state;
    const isAsked = isOffered && scene.view.sweep === "copied";
    const { guess, revealed } = lessonNow(this.state);
    this.root.hidden = !isAsked;
    this.drawIn.paint(isAsked, revealed);
    const [base, top] = box.y;
    GUESSED.forEach((guessed, k) =>
      this.flags[k].paint(isAsked ? this.predictionOf(guessed) : null, x, base, guessed.height * (base - top)),
    );
    if (!isAsked) return;
    this.reveal.hidden = this.skip.hidden = revealed;
    this.again.hidden = !revealed;
    this.reveal.disabled = GUESSED.some(({ name }) => typeof guess?.[name] !== "number");
    setText(
      this.text,
      revealed
        ? toldWords(guess, places, isKnown, store)
        : "Predict: at what share copied will FLD notice? And FID-test? Place the two flags, then reveal the curves.",
    );
  }

  /** @param {typeof GUESSED[number]} guessed @returns {Prediction} */
  predictionOf({ name, label, start }) {
    const { guess, revealed } = lessonNow(this.state);
    const write = (/** @type {number} */ share) => {
      const lesson = lessonNow(this.state);
      return withMemo(this.state.scene, {
        lesson: { ...lesson, guess: { fid_test: null, fld: null, ...lesson.guess, [name]: share } },
      });
    };
    return {
      label: `${label} notices at`,
      guess: guess?.[name] ?? null,
      start,
      range: [0, 1],
      revealed,
      read: shareText,
      caption: (text) => (text === null ? `${label}?` : `${label} ${text}`),
      write,
    };
  }
}

/** @param {MemoState} state @returns {NoticeLesson} */
function lessonNow({ scene }) {
  return scene.lesson ?? { name: LESSON_NAME, guess: null, revealed: false };
}

/** @param {NoticeLesson["guess"]} guess @param {Record<Guessed, number | null>} places @param {boolean} isKnown @param {MemoState["store"]} store */
function toldWords(guess, places, isKnown, { saved, lost }) {
  if (!isKnown && saved) return "These curves are for the saved scene; other settings need Python.";
  if (!isKnown && lost) return "The curves wait for Python.";
  if (!isKnown) return "The curves come as Python computes them.";
  return GUESSED.map(({ name, label }) => {
    const [place, said] = [places[name], guess?.[name]];
    const truth = place === null ? `${label} never notices` : `${label} notices from ${shareText(place)}`;
    return `${truth}${typeof said === "number" ? ` (you guessed ${shareText(said)})` : ""}.`;
  }).join(" ");
}

const CURVE_PAD = { left: 44, right: 66, top: 26, bottom: 40 };
const CURVE_HEIGHT = 330;
const LEVEL_TICKS = [-100, -10, -NOTICED, 0, NOTICED, 10, 100, 1000, 10000];
const LEVEL_RANGE = { low: -1.1, high: 1.5, floor: -2.6, ceiling: 4.2 };
/** @typedef {{key: string, parameter: Knob, values: number[], metrics: Record<CardName, (number | null)[]>, done: number, error?: string}} MemoSweep */
/** @typedef {Partial<Record<CardName, {xs: number[], aways: (number | null)[]}>>} Aways */

export class MemoCurve {
  /** @param {MemoState} state @param {AbortSignal} signal */
  constructor(state, signal) {
    this.state = state;
    this.asked = "";
    this.over = el(
      "select",
      { "aria-label": "Curve over" },
      KNOB_NAMES.map((name) => el("option", { value: name }, [KNOBS[name].label])),
    );
    this.over.addEventListener("change", () => state.view({ sweep: /** @type {Knob} */ (this.over.value) }), {
      signal,
    });
    this.plot = new Plot(CURVE_PAD, { role: "group", "aria-label": "Curve" });
    this.band = svg("rect", { class: "nbm-memo-band" });
    this.bandWord = svg("text", { class: "nbm-quiet", "text-anchor": "end" }, ["as honest"]);
    this.title = svg("text", { class: "nbm-quiet", x: 0, y: 12 }, ["↑ standard deviations worse than honest"]);
    this.lines = svg(
      "svg",
      { "aria-hidden": "true" },
      CARD_NAMES.map((name) => svg("path", { class: `nbm-curve nbm-memo-of-${name}` })),
    );
    this.ends = svg(
      "g",
      { "aria-hidden": "true" },
      CARD_NAMES.map((name) => svg("text", { class: `nbm-memo-of-${name}` }, [CARDS[name].label])),
    );
    this.now = svg("line", { class: "nbm-memo-now" });
    this.label = svg("text", { class: "nbm-axislabel", "text-anchor": "middle" });
    this.veil = svg("text", { class: "nbm-memo-veil", "text-anchor": "middle" }, ["?"]);
    this.lesson = new MemoLesson(state, signal);
    this.plot.root.append(
      this.band,
      this.bandWord,
      this.title,
      this.lines,
      this.ends,
      this.now,
      this.label,
      this.veil,
      ...this.lesson.flags.map((flag) => flag.slider.node),
    );
    this.plot.root.prepend(this.band);
    this.wait = el("p", { class: "nbm-memo-wait" });
    this.numbers = new NumberTable("Curve");
    this.root = el("div", { class: "nbm-memo-curve" }, [
      el("label", { class: "nbm-memo-over" }, ["Curve over ", this.over]),
      this.lesson.root,
      this.plot.root,
      this.wait,
      this.numbers.root,
    ]);
  }

  /** @returns {MemoSweep | null} what Python has sent last */
  get sweep() {
    const curve = this.state.store.model.get("curve");
    return curve?.values ? curve : null;
  }

  /** Ask once for every curve that is looked at, after a drag is over. @param {string} key */
  ask(key) {
    const { store, scene } = this.state;
    if (store.before || store.saved || this.asked === key) return;
    this.asked = key;
    if (store.model.get("curve")?.key !== key) store.send({ kind: "curve", scene, key });
  }

  /** @param {number} width @param {boolean} isFull */
  paint(width, isFull) {
    const { state, sweep } = this;
    const { scene } = state;
    const knob = scene.view.sweep;
    const key = sweepKey(scene);
    this.ask(key);
    if (this.over.value !== knob) this.over.value = knob;
    const shownSweep = sweep?.parameter === knob ? sweep : null;
    const isCurrent = shownSweep?.key === key;
    const aways = shownSweep ? this.awaysOf(shownSweep) : {};
    const isOffered = !state.store.saved || shownSweep?.done === 1;
    const isVeiled = isOffered && knob === "copied" && !scene.lesson?.revealed;
    const x = this.paintFrame(width, knob);
    this.paintLines(isVeiled ? {} : aways, x);
    this.veil.toggleAttribute("hidden", !isVeiled);
    for (const node of [this.lines, this.ends]) node.classList.toggle("nbm-memo-old", !isCurrent);
    setAttributes(this.plot.root, {
      "data-current": String(isCurrent),
      "aria-busy": String(!state.store.saved && !state.store.lost && (!isCurrent || (shownSweep?.done ?? 0) < 1)),
    });
    const places = { fid_test: noticedAt(aways.fid_test), fld: noticedAt(aways.fld) };
    this.lesson.paint(this.plot.box, x, places, isCurrent && shownSweep?.done === 1 && state.noise !== null, isOffered);
    setText(this.wait, this.waiting(shownSweep, isCurrent, key));
    this.numbers.paint(isFull && !isVeiled && shownSweep !== null, () =>
      sweepTable(/** @type {MemoSweep} */ (shownSweep)),
    );
  }

  /** @param {MemoSweep | null} shownSweep @param {boolean} isCurrent @param {string} key */
  waiting(shownSweep, isCurrent, key) {
    const { store, noise, isRefused } = this.state;
    const last = store.model.get("curve");
    if (last?.error && last.key === key) return `Python: ${last.error}`;
    if (store.saved) return savedWords(shownSweep, isCurrent);
    if (store.lost && !(isCurrent && shownSweep?.done === 1)) return "This curve waits for Python.";
    if (isRefused && !isCurrent) return "Python has no curve of this scene.";
    if (store.waiting && !isCurrent) return "Python is busy or unreachable: this curve waits for it.";
    if (!isCurrent || !shownSweep) return "Python computes the curve …";
    if (shownSweep.done < 1) return `Python computes the curve: ${Math.round(100 * shownSweep.done)} %`;
    return noise || store.lost ? "" : "Python redraws honest points to measure the effect of chance …";
  }

  /** @param {MemoSweep} found @returns {Aways} */
  awaysOf({ values, metrics }) {
    const { honest, noise } = this.state;
    const of = (/** @type {CardName} */ name) => ({
      xs: values,
      aways: (metrics[name] ?? []).map((value) => departure(name, value, honest, noise)),
    });
    return Object.fromEntries(CARD_NAMES.map((name) => [name, of(name)]));
  }

  /** @param {number} width @param {Knob} knob @returns {{at: (value: number) => number, slope: number}} */
  paintFrame(width, knob) {
    this.plot.resize(width, CURVE_HEIGHT);
    const { x, y } = this.plot.box;
    const scale = SCALES[knob];
    const { at: along, slope } = linear([0, scale.steps], x);
    const at = (/** @type {number} */ value) => along(Math.max(0, scale.position(value)));
    const text = (/** @type {number} */ value) =>
      knob === "copied" ? KNOB_WORDS.copied(value) : (zeroText(knob, value) ?? String(value));
    this.plot.paintX(KNOBS[knob].ticks, at, y[0] + 18, text);
    setAttributes(this.label, { x: (x[0] + x[1]) / 2, y: y[0] + 35 });
    setText(this.label, KNOBS[knob].label);
    const now = at(this.state.scene[knob]);
    setAttributes(this.now, { x1: now, x2: now, y1: y[1], y2: y[0] });
    setAttributes(this.veil, { x: (x[0] + x[1]) / 2, y: (y[0] + y[1]) / 2 + 20 });
    return { at, slope: slope * scale.steps };
  }

  /** @param {Aways} aways @param {{at: (value: number) => number}} across */
  paintLines(aways, across) {
    const { x, y } = this.plot.box;
    const knob = this.state.scene.view.sweep;
    const names = CARD_NAMES.filter((name) => aways[name]?.aways.some((away) => away !== null));
    const levels = names.flatMap(
      (name) => aways[name]?.aways.flatMap((away) => (away === null ? [] : [squeeze(away)])) ?? [],
    );
    const { low, high, floor, ceiling } = LEVEL_RANGE;
    const domain = /** @type {[number, number]} */ ([
      Math.max(floor, Math.min(low, ...levels) - 0.1),
      Math.min(ceiling, Math.max(high, ...levels) + 0.1),
    ]);
    const up = linear(domain, y);
    this.plot.paintY(
      LEVEL_TICKS.filter((tick) => squeeze(tick) > domain[0] && squeeze(tick) < domain[1]),
      (away) => up.at(squeeze(away)),
    );
    const [top, bottom] = [up.at(squeeze(NOTICED)), up.at(squeeze(-NOTICED))];
    setAttributes(this.band, { x: x[0], width: x[1] - x[0], y: top, height: bottom - top });
    setAttributes(this.bandWord, { x: x[1] - 5, y: bottom - 6 });
    const frame = { x: x[0], y: y[1], width: x[1] - x[0], height: y[0] - y[1] };
    setAttributes(this.lines, { ...frame, viewBox: Object.values(frame).join(" ") });
    CARD_NAMES.forEach((name, k) =>
      setAttributes(this.lines.children[k], {
        d: linePath(aways[name], knob === "bandwidth", across.at, (away) => up.at(squeeze(away))),
      }),
    );
    this.paintEnds(aways, names, (away) => Math.max(y[1], Math.min(y[0], up.at(squeeze(away)))));
  }

  /** @param {Aways} aways @param {CardName[]} names @param {(away: number) => number} level */
  paintEnds(aways, names, level) {
    const { x, y } = this.plot.box;
    const last = names.map((name) => level(lastKnown(aways[name]?.aways ?? [])));
    const spots = spreadOut(last, 14, y[1] + 2, y[0]);
    CARD_NAMES.forEach((name, k) => {
      const place = names.indexOf(name);
      this.ends.children[k].toggleAttribute("hidden", place < 0);
      if (place >= 0) setAttributes(this.ends.children[k], { x: x[1] + 6, y: spots[place] + 4 });
    });
  }
}

/**
 * A bandwidth of 0 stands for fresh draws, which no small bandwidth comes near: the curve begins after it.
 * @param {Aways[CardName]} line @param {boolean} isBroken @param {(value: number) => number} across @param {(away: number) => number} up
 */
function linePath(line, isBroken, across, up) {
  const drawable = (line?.aways ?? []).flatMap((away, k) =>
    away === null || (isBroken && line?.xs[k] === 0) ? [] : [k],
  );
  if (drawable.length < 2 || !line) return "M0 0";
  return curve(
    drawable.map((k) => across(line.xs[k])),
    drawable.map((k) => up(/** @type {number} */ (line.aways[k]))),
  );
}

/** What a saved page holds of a curve. @param {MemoSweep | null} sweep @param {boolean} isCurrent */
function savedWords(sweep, isCurrent) {
  if (!sweep)
    return "This page was saved without this curve: it needs Python. Open this tab in a notebook, and save the page again.";
  if (!isCurrent) return "This curve is for the saved scene; a new one needs Python.";
  return sweep.done < 1 ? "This page was saved before Python had all of this curve." : "";
}

/** @param {(number | null)[]} aways */
function lastKnown(aways) {
  return aways.reduce((last, away) => away ?? last, 0) ?? 0;
}

/** @param {Aways[CardName]} line */
function noticedAt(line) {
  return line ? firstNotice(line.xs, line.aways) : null;
}

/** @param {MemoSweep} found */
function sweepTable({ parameter, values, metrics }) {
  return {
    heads: [KNOBS[parameter].label, ...CARD_NAMES.map((name) => CARDS[name].label)],
    rows: values.map((value, k) => [
      KNOB_WORDS[parameter](value),
      ...CARD_NAMES.map((name) => shownNumber(metrics[name]?.[k])),
    ]),
  };
}
