/**
 * The cards, a line each, so that all are seen beside the picture: a metric's value, where it is on a scale that all
 * share, and whether it notices. The grey band of the scale is what honest redraws differ by; a card speaks up beyond it.
 * What a metric can and cannot see stands below for the card that is pointed at or has the focus, and in the table view
 * with each.
 *
 * @import { CardName } from "./maths.js"
 * @import { MemoState } from "./state.js"
 */

import { NumberTable } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { capital, shownNumber } from "../../toolkit/view/numbers.js";
import facts from "../cards.json" with { type: "json" };
import { CARD_NAMES, isNear, NOTICED, squeeze, verdictOf } from "./maths.js";

/** @typedef {{label: string, better: string, sees: string, misses: string}} CardFacts  as ../cards.json says */
export const CARDS = /** @type {Record<CardName, CardFacts>} */ (
  Object.fromEntries(Object.entries(facts).map(([name, card]) => [name, { ...card, label: capital(card.label) }]))
);
const VERDICTS = {
  notices: "▲ notices",
  fooled: "▼ looks better",
  above: "△ above honest",
  quiet: "",
  unknown: "",
};
const METER = { least: -2.2, most: 4, edge: 4 };
const INVITATION = "Point at a metric to read what it sees and what it misses.";
const STEPS = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };

/**
 * @typedef {object} Card
 * @property {HTMLElement} root
 * @property {HTMLElement} value
 * @property {HTMLElement} verdict
 * @property {HTMLElement} words
 * @property {CardMeter} meter
 */

export class MemoCards {
  /** @param {MemoState} state @param {AbortSignal} signal */
  constructor(state, signal) {
    this.state = state;
    this.cards = /** @type {Record<CardName, Card>} */ (
      Object.fromEntries(CARD_NAMES.map((name) => [name, makeCard(name)]))
    );
    this.list = el(
      "div",
      { class: "nbm-memo-cards" },
      CARD_NAMES.map((name) => this.cards[name].root),
    );
    const at = `left: ${meterPercent(0)}%`;
    const scale = el("div", { class: "nbm-memo-scale", "aria-hidden": "true" }, [
      el("div", {}, [el("span", { style: at }, ["honest"])]),
      el("span", {}, ["worse →"]),
    ]);
    this.wait = el("p", { class: "nbm-memo-wait" });
    this.explanation = el("p", { class: "nbm-memo-told-of", "aria-live": "polite" });
    this.note = el("p", { class: "nbm-note" });
    this.numbers = new NumberTable("Cards");
    this.root = el("div", {}, [this.wait, scale, this.list, this.explanation, this.numbers.root]);
    this.pointed = this.focused = /** @type {CardName | null} */ (null);
    this.listen(signal);
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    const tell = (/** @type {"pointed" | "focused"} */ how, /** @type {CardName | null} */ name) => {
      this[how] = name;
      this.state.store.changed();
    };
    CARD_NAMES.forEach((name, k) => {
      const { root } = this.cards[name];
      setAttributes(root, { tabindex: k ? -1 : 0 });
      root.addEventListener("pointerenter", () => tell("pointed", name), { signal });
      root.addEventListener("pointerleave", () => tell("pointed", null), { signal });
      root.addEventListener("focus", () => tell("focused", name), { signal });
      root.addEventListener("blur", () => tell("focused", null), { signal });
    });
    this.list.addEventListener("keydown", (event) => this.key(event), { signal });
  }

  /** One stop of Tab; arrows go from card to card. @param {KeyboardEvent} event */
  key(event) {
    const step = STEPS[/** @type {keyof typeof STEPS} */ (event.key)];
    if (!step || !this.focused) return;
    event.preventDefault();
    const now = CARD_NAMES.indexOf(this.focused);
    const next = CARD_NAMES[Math.max(0, Math.min(CARD_NAMES.length - 1, now + step))];
    for (const name of CARD_NAMES) setAttributes(this.cards[name].root, { tabindex: name === next ? 0 : -1 });
    this.cards[next].root.focus();
  }

  /** @param {boolean} isFull whether the table of numbers is shown too */
  paint(isFull) {
    const { state } = this;
    const { answer, isCurrent } = state;
    setAttributes(this.list, {
      "data-rev": answer.rev ?? -1,
      "data-current": String(isCurrent),
      "aria-busy": String(!isCurrent),
    });
    this.list.classList.toggle("nbm-memo-old", !isCurrent);
    setText(this.wait, isCurrent ? "" : state.behindWords);
    const explanation = this.pointed ?? this.focused;
    for (const name of CARD_NAMES) {
      this.paintCard(name, isFull);
      this.cards[name].root.classList.toggle("nbm-memo-pointed", name === explanation);
    }
    this.explanation.hidden = isFull;
    setText(this.explanation, explanation ? explanationOf(explanation, state) : INVITATION);
    this.numbers.paint(isFull, () => cardTable(state));
  }

  /** What the grey band is, wherever the cards are. */
  paintNote() {
    setText(this.note, noteWords(this.state));
  }

  /** @param {CardName} name @param {boolean} isFull */
  paintCard(name, isFull) {
    const { state } = this;
    const { root, value, verdict, words, meter } = this.cards[name];
    const { cards, missing, uncompared } = state.answer;
    const now = cards?.[name];
    const away = state.departureOf(name);
    const verdictName = verdictOf(name, away);
    const why = missing?.[name] ?? (uncompared?.[name] ? `Not compared. ${uncompared[name]}` : "");
    setText(value, shownNumber(now));
    if (typeof now === "number") setAttributes(value, { "data-value": now });
    else value.removeAttribute("data-value");
    setText(verdict, why || VERDICTS[verdictName]);
    setAttributes(root, { "data-verdict": verdictName });
    root.classList.toggle("nbm-memo-why", why !== "");
    words.hidden = !isFull;
    meter.paint(away);
  }
}

/** @param {CardName} name @returns {Card} */
function makeCard(name) {
  const { label } = CARDS[name];
  const value = el("span", { class: "nbm-memo-number" });
  const verdict = el("span", { class: "nbm-memo-verdict" });
  const words = el("p", { class: "nbm-memo-sees" }, [seenWords(name)]);
  const meter = new CardMeter();
  const title = el("span", { title: betterWords(name) }, [el("strong", {}, [label])]);
  return {
    root: el("section", { class: "nbm-memo-card", "aria-label": label }, [title, value, meter.root, verdict, words]),
    value,
    verdict,
    words,
    meter,
  };
}

/** Where a value is on the common scale: the band is what honest redraws differ by, worse is to the right. */
class CardMeter {
  constructor() {
    const [left, right] = [-NOTICED, NOTICED].map((away) => meterPercent(squeeze(away)));
    const dot = svg("path", { class: "nbm-memo-dot", d: "M0-5.5L5.5 0L0 5.5L-5.5 0Z" });
    this.at = svg("svg", { y: "50%", overflow: "visible" }, [dot]);
    this.root = svg("svg", { class: "nbm-memo-meter", "aria-hidden": "true" }, [
      svg("rect", { x: `${left}%`, width: `${right - left}%`, y: 0, height: "100%" }),
      svg("line", { x1: 0, x2: "100%", y1: "50%", y2: "50%" }),
      this.at,
    ]);
  }

  /** @param {number | null} away */
  paint(away) {
    this.root.classList.toggle("nbm-memo-none", away === null);
    if (away !== null) setAttributes(this.at, { x: `${meterPercent(squeeze(away)).toFixed(2)}%` });
  }
}

/** In percent of the meter. @param {number} level on the squeezed scale */
function meterPercent(level) {
  const { least, most, edge } = METER;
  return edge + ((100 - 2 * edge) * (Math.min(most, Math.max(least, level)) - least)) / (most - least);
}

/** @param {CardName} name */
function betterWords(name) {
  return `${CARDS[name].better} is ${isNear(name) ? "best" : "better"}`;
}

/** @param {CardName} name */
function seenWords(name) {
  return `Sees ${CARDS[name].sees}. Misses ${CARDS[name].misses}.`;
}

/** All that there is to say of one card. @param {CardName} name @param {MemoState} state */
function explanationOf(name, { answer, honest }) {
  const { cards, comparable } = answer;
  const beside = besideWords(comparable ? comparable[name] : cards?.[name], honest?.[name], Boolean(comparable));
  return `${CARDS[name].label}, ${betterWords(name)}${beside && `: ${beside}`}. ${seenWords(name)}`;
}

/**
 * A difference, of the value on the card; where it is not that value which is compared, the two that are.
 * @param {number | null | undefined} now @param {number | null | undefined} honest @param {boolean} isOther
 */
function besideWords(now, honest, isOther) {
  if (typeof now !== "number" || typeof honest !== "number") return "";
  if (isOther) return `compared ${shownNumber(now)}, honest ${shownNumber(honest)}`;
  const text = shownNumber(now - honest);
  return Number(text) === 0 ? "as an honest generator’s" : `${now > honest ? "+" : ""}${text} from honest`;
}

/** @param {MemoState} state */
function cardTable(state) {
  const { answer, honest, noise } = state;
  const compared = answer.comparable;
  return {
    heads: [
      "Card",
      "value",
      ...(compared
        ? ["compared", "honest", "usual difference", "times as far (worse)"]
        : ["honest", "sd of honest", "sd worse than honest"]),
    ],
    rows: CARD_NAMES.map((name) => {
      const numbers = [
        answer.cards?.[name],
        ...(compared ? [compared[name]] : []),
        honest?.[name],
        noise?.[name],
        state.departureOf(name),
      ];
      return [CARDS[name].label, ...numbers.map(shownNumber)];
    }),
  };
}

/** @param {MemoState} state */
function noteWords({ answer, base, honest, noise, store }) {
  const explanation = base.stand_in
    ? `${base.stand_in}.`
    : "Honest: fresh points of the same distribution, nothing copied.";
  if (honest && CARD_NAMES.every((name) => honest[name] === null)) return explanation;
  if (noise && answer.comparable)
    return `${explanation} A card notices differences above ${NOTICED} times the usual one between two such parts of test (the grey band).`;
  if (noise)
    return `${explanation} A card notices differences above ${NOTICED} standard deviations of honest redraws (the grey band).`;
  if (store.saved)
    return `${explanation} This page was saved before Python had redrawn them, so no card shows the effect of chance.`;
  if (store.lost) return `${explanation} Python had not redrawn them, so no card shows the effect of chance.`;
  return `${explanation} Python is still redrawing honest points to measure the effect of chance.`;
}
