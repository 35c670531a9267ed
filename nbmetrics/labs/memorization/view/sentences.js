/**
 * What is seen in one sentence, the chosen point in words, and the tables of all points and of the cards.
 *
 * @import { MemoScene } from "./maths.js"
 * @import { MemoState } from "./state.js"
 */

import { briefText, shownNumber } from "../../toolkit/view/numbers.js";
import { CARDS } from "./cards.js";
import { CARD_NAMES, isNeutral, KNOB_NAMES, KNOB_WORDS, KNOBS, verdictOf } from "./maths.js";

// More names than that would be a list, and no sentence.
const MAX_CARDS_NAMED = 4;

/** In one sentence: which metrics notice the generator that Python has answered for. @param {MemoState} state */
export function headlineWords(state) {
  const { answer, about, isOwn, noise, store } = state;
  if (!state.isCurrent && !isOwn && (store.saved || store.lost))
    return `${settingWords(state.scene)}: Python is needed to see which metrics notice.`;
  const scene = about.get(answer.rev) ?? state.scene;
  const whose = isOwn ? "Your generator" : settingWords(scene);
  if (!noise) return `${whose}: Python is redrawing honest points for comparison.`;
  const verdicts = CARD_NAMES.map((name) => verdictOf(name, state.departureOf(name)));
  const noticing = CARD_NAMES.filter((_, k) => verdicts[k] === "notices");
  const silent = verdicts.filter((verdict) => verdict === "unknown").length;
  const rest = CARD_NAMES.length - silent - noticing.length;
  const unable = silent ? `; ${silent} cannot tell` : "";
  if (silent === CARD_NAMES.length) return `${whose}: no metric can tell.`;
  if (!noticing.length) return `${whose}: none of ${rest} metrics notices${unable}.`;
  const named = noticing.length > MAX_CARDS_NAMED ? noticing.slice(0, MAX_CARDS_NAMED - 1) : noticing;
  const names = named.map((name) => CARDS[name].label);
  if (noticing.length > MAX_CARDS_NAMED) names.push(`${noticing.length - named.length} more`);
  const noticed =
    names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)} notice` : `${names[0]} notices`;
  return `${whose}: ${noticed}${rest ? `, the other ${rest} do not` : ""}${unable}.`;
}

/** What the sliders say that is not as an honest generator has it. @param {MemoScene} scene */
function settingWords(scene) {
  const others = KNOB_NAMES.slice(1).filter((name) => !isNeutral(scene, name));
  const copied = scene.copied ? `${KNOB_WORDS.copied(scene.copied)} copied` : "Nothing copied";
  return [copied, ...others.map((name) => `${KNOBS[name].label.toLowerCase()} ${KNOB_WORDS[name](scene[name])}`)].join(
    ", ",
  );
}

/** @param {MemoState} state @returns {string} "" where none is chosen */
export function chosenWords(state) {
  const { answer, generated, selected, byMemorization } = state;
  if (selected === null) return "";
  const kind = generated.isCopy[selected] ? "a copy" : "not a copy";
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
  if (store.saved || store.lost) return "The rest needs Python.";
  return isRefused ? "Python has no numbers for it." : "Python computes the rest.";
}

/** @param {MemoState} state */
export function pointsTable(state) {
  const { answer, generated, byMemorization } = state;
  const isKnown = state.fitsPoints && state.isCurrent;
  const textOf = (/** @type {number[]} */ numbers, /** @type {number} */ i) => (isKnown ? briefText(numbers[i]) : "…");
  return {
    heads: ["Generated", "x", "y", "copy", "σ of its bump", "memorization", "quality", "nearest train", "distance"],
    rows: byMemorization.map((i) => [
      String(i),
      shownNumber(generated.points[2 * i]),
      shownNumber(generated.points[2 * i + 1]),
      generated.isCopy[i] ? "copy" : "",
      isKnown ? briefText(Math.sqrt(answer.variance[i])) : "…",
      textOf(answer.memorization, i),
      textOf(answer.quality, i),
      isKnown ? String(answer.nearest[i]) : "…",
      textOf(answer.distance, i),
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
  const { generated, isOwn, isCurrent, behindWords } = state;
  const count = generated.isCopy.length;
  const copies = `${generated.copies} of ${count} generated points are copies of train points.`;
  return [isOwn ? `${count} generated points, as given.` : copies, chosenWords(state), isCurrent ? "" : behindWords];
}
