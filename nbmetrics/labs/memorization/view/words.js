/**
 * The chosen point in words, and the tables of all points and of the cards.
 *
 * @import { MemoState } from "./state.js"
 */
import { briefText, shownNumber } from "../../toolkit/view/numbers.js";
import { CARDS } from "./cards.js";
import { CARD_NAMES } from "./maths.js";

/** @param {MemoState} state @returns {string} "" where none is chosen */
export function chosenWords(state) {
  const { answer, made, selected, byMemorization } = state;
  if (selected === null) return "";
  const kind = made.isCopy[selected] ? "a copy" : "not a copy";
  if (!state.fitsPoints) return `Generated point ${selected}, ${state.isOwn ? "as given" : kind}. ${restWords(state)}`;
  const rank = byMemorization.indexOf(selected) + 1;
  const { distance, memorization, nearest, variance } = answer;
  const wide = Math.sqrt(variance[selected]);
  const half = [...variance].sort((a, b) => a - b)[variance.length >> 1];
  const ratio = Math.sqrt(half) / wide;
  const beside = ratio > 2 ? `, ${briefText(Number(ratio.toPrecision(2)))} times narrower than the median bump` : "";
  const far =
    distance[selected] === 0
      ? `exactly on train point ${nearest[selected]}`
      : `${briefText(distance[selected])} from train point ${nearest[selected]}`;
  const behind = state.isCurrent ? "" : " (as of the last answer)";
  return (
    `Generated point ${selected}${state.isOwn ? "" : `, ${kind}`}: ${far}. Its bump is ${briefText(wide)} standard deviations wide${beside}. ` +
    `Memorization ${shownNumber(memorization[selected])}: number ${rank} of ${byMemorization.length}${behind}.`
  );
}

/** @param {MemoState} state */
function restWords({ store, isRefused }) {
  if (store.saved) return "The rest needs Python.";
  return isRefused ? "Python has told nothing of it." : "Python computes the rest.";
}

/** @param {MemoState} state */
export function pointsTable(state) {
  const { answer, made, byMemorization } = state;
  const isKnown = state.fitsPoints && state.isCurrent;
  const told = (/** @type {number[]} */ numbers, /** @type {number} */ i) => (isKnown ? briefText(numbers[i]) : "…");
  return {
    heads: ["Generated", "x", "y", "copy", "σ of its bump", "memorization O", "quality Q", "nearest train", "distance"],
    rows: byMemorization.map((i) => [
      String(i),
      shownNumber(made.points[2 * i]),
      shownNumber(made.points[2 * i + 1]),
      made.isCopy[i] ? "copy" : "",
      isKnown ? briefText(Math.sqrt(answer.variance[i])) : "…",
      told(answer.memorization, i),
      told(answer.quality, i),
      isKnown ? String(answer.nearest[i]) : "…",
      told(answer.distance, i),
    ]),
  };
}

/** The cards of the last answer, the heads first. @param {MemoState} state */
export function cardsTable({ answer, honest }) {
  const rows = CARD_NAMES.map((name) => [
    CARDS[name].label,
    shownNumber(answer.cards?.[name]),
    shownNumber(honest?.[name]),
  ]);
  return [["Card", "value", "of an honest generator"], ...rows];
}

/** What is said above a picture. @param {MemoState} state */
export function picturedWords(state) {
  const { made, isOwn, isCurrent, behindWords } = state;
  const count = made.isCopy.length;
  const copies = `${made.copies} of ${count} generated points are copies of train points.`;
  return [isOwn ? `${count} generated points, as given.` : copies, chosenWords(state), isCurrent ? "" : behindWords];
}
