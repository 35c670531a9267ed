/**
 * The cards: each metric's value, which way is better, how far it is from what the same metric says of an honest
 * generator, and what it can and cannot see. A card speaks up where that is farther than honest redraws ever differ.
 *
 * @import { CardName } from "./maths.js"
 * @import { MemoState } from "./state.js"
 */

import { NumberTable } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { capital, shownNumber } from "../../toolkit/view/numbers.js";
import facts from "../cards.json" with { type: "json" };
import { CARD_NAMES, isNear, NOTICED, squeezed, verdictOf } from "./maths.js";

/** @typedef {{label: string, better: string, arrow: string, sees: string, misses: string}} CardFacts  as ../cards.json says */
export const CARDS = /** @type {Record<CardName, CardFacts>} */ (
  Object.fromEntries(Object.entries(facts).map(([name, card]) => [name, { ...card, label: capital(card.label) }]))
);
const VERDICTS = {
  notices: "▲ notices",
  fooled: "▼ better than honest",
  above: "△ above honest",
  quiet: "as honest",
  unknown: "",
};
const METER = { width: 110, height: 14, least: -2.2, most: 4 };

/** @typedef {{root: HTMLElement, value: HTMLElement, beside: HTMLElement, verdict: HTMLElement, meter: CardMeter}} Card */

export class MemoCards {
  /** @param {MemoState} state */
  constructor(state) {
    this.state = state;
    this.cards = /** @type {Record<CardName, Card>} */ (
      Object.fromEntries(CARD_NAMES.map((name) => [name, makeCard(name)]))
    );
    this.list = el(
      "div",
      { class: "nbm-memo-cards" },
      CARD_NAMES.map((name) => this.cards[name].root),
    );
    this.wait = el("p", { class: "nbm-memo-wait" });
    this.note = el("p", { class: "nbm-note" });
    this.numbers = new NumberTable("Cards");
    this.root = el("div", {}, [this.wait, this.list, this.note, this.numbers.root]);
  }

  /** @param {boolean} isFull whether the table of numbers is shown too */
  paint(isFull) {
    const { state } = this;
    const { answer, isCurrent, honest, noise } = state;
    const compared = answer.comparable;
    setAttributes(this.list, {
      "data-rev": answer.rev ?? -1,
      "data-current": String(isCurrent),
      "aria-busy": String(!isCurrent),
    });
    this.list.classList.toggle("nbm-memo-old", !isCurrent);
    setText(this.wait, isCurrent ? "" : state.behindWords);
    for (const name of CARD_NAMES) this.paintCard(name);
    setText(this.note, noteWords(state));
    this.numbers.paint(isFull, () => ({
      heads: [
        "Card",
        "value",
        ...(compared
          ? ["compared", "honest", "usual difference", "times as far, worse"]
          : ["honest", "sd of honest", "sds worse than honest"]),
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
    }));
  }

  /** @param {CardName} name */
  paintCard(name) {
    const { state } = this;
    const { root, value, beside, verdict, meter } = this.cards[name];
    const { cards, missing, uncompared, comparable } = state.answer;
    const [now, honest] = [cards?.[name], state.honest?.[name]];
    const away = state.departureOf(name);
    const found = verdictOf(name, away);
    setText(value, shownNumber(now));
    if (typeof now === "number") setAttributes(value, { "data-value": now });
    else value.removeAttribute("data-value");
    setText(
      beside,
      missing?.[name] ??
        (uncompared?.[name]
          ? `Not compared. ${uncompared[name]}`
          : besideWords(comparable ? comparable[name] : now, honest, Boolean(comparable))),
    );
    setText(verdict, VERDICTS[found]);
    setAttributes(root, { "data-verdict": found });
    meter.paint(away);
  }
}

/** @param {CardName} name @returns {Card} */
function makeCard(name) {
  const { label, arrow, sees, misses } = CARDS[name];
  const better = `${CARDS[name].better} is ${isNear(name) ? "best" : "better"}`;
  const value = el("span", { class: "nbm-memo-number" });
  const beside = el("span", { class: "nbm-memo-beside" });
  const verdict = el("span", { class: "nbm-memo-verdict" });
  const meter = new CardMeter();
  const head = el("div", { class: "nbm-memo-head" }, [
    el("strong", {}, [label]),
    el("span", { class: "nbm-memo-better", title: better }, [
      el("span", { "aria-hidden": "true" }, [arrow]),
      el("span", {}, [` ${better}`]),
    ]),
    verdict,
  ]);
  const middle = el("div", { class: "nbm-memo-middle" }, [value, beside, meter.root]);
  const words = el("p", { class: "nbm-memo-sees" }, [
    el("b", {}, ["Sees "]),
    `${sees}. `,
    el("b", {}, ["Misses "]),
    `${misses}.`,
  ]);
  return {
    root: el("section", { class: "nbm-memo-card", "aria-label": label }, [head, middle, words]),
    value,
    beside,
    verdict,
    meter,
  };
}

/** Where a value is on the common scale: the band is what honest redraws differ by, worse is to the right. */
class CardMeter {
  constructor() {
    const at = (/** @type {number} */ away) => metered(squeezed(away));
    const band = { x: at(-NOTICED), width: at(NOTICED) - at(-NOTICED), y: 2, height: METER.height - 4, rx: 2 };
    this.dot = svg("path", { class: "nbm-memo-dot", d: "M0-4.5L4.5 0L0 4.5L-4.5 0Z" });
    const rule = svg("line", { x1: 0, x2: METER.width, y1: METER.height / 2, y2: METER.height / 2 });
    this.root = svg(
      "svg",
      { class: "nbm-memo-meter", viewBox: `0 0 ${METER.width} ${METER.height}`, "aria-hidden": "true" },
      [rule, svg("rect", band), this.dot],
    );
  }

  /** @param {number | null} away */
  paint(away) {
    this.root.toggleAttribute("hidden", away === null);
    if (away !== null)
      setAttributes(this.dot, { transform: `translate(${metered(squeezed(away)).toFixed(1)} ${METER.height / 2})` });
  }
}

/** @param {number} level on the squeezed scale */
function metered(level) {
  const { width, least, most } = METER;
  return 5 + (width - 10) * ((Math.min(most, Math.max(least, level)) - least) / (most - least));
}

/**
 * A difference, of the value on the card; where it is not that value which is compared, the two that are.
 * @param {number | null | undefined} now @param {number | null | undefined} honest @param {boolean} isOther
 */
function besideWords(now, honest, isOther) {
  if (typeof now !== "number" || typeof honest !== "number") return "";
  if (isOther) return `compared: ${shownNumber(now)}, honest ${shownNumber(honest)}`;
  const text = shownNumber(now - honest);
  return Number(text) === 0 ? "= honest" : `${now > honest ? "+" : ""}${text} from honest`;
}

/** @param {MemoState} state */
function noteWords({ answer, base, honest, noise, store }) {
  const told = base.stand_in ? `${base.stand_in}.` : "Honest: fresh points of the same law, nothing copied.";
  if (honest && CARD_NAMES.every((name) => honest[name] === null)) return told;
  if (noise && answer.comparable)
    return `${told} A card notices beyond ${NOTICED} times what two such parts of test usually differ by (the grey band).`;
  if (noise) return `${told} A card notices beyond ${NOTICED} standard deviations of honest redraws (the grey band).`;
  if (store.saved)
    return `${told} This page was saved before Python had redrawn them, so no card says what chance does.`;
  if (store.lost) return `${told} Python had not redrawn them, so no card says what chance does.`;
  return `${told} Python is still redrawing honest points, to learn what chance does.`;
}
