/**
 * Orders of generators, and where two of them cross by more than chance. No DOM.
 *
 * Twin: labs/dashboard/place_ranges.py · held by: tests/labs/dashboard/test_views.py
 *
 * @import { Aggregate } from "./verdict.js"
 * @import { Ranges } from "./place_ranges.js"
 */
import { orderOf, placesOf as tied } from "../../toolkit/view/ties.js";
import { leaders } from "./place_ranges.js";

/** Least loss first; equal ones in the order given, those without a loss last. @param {ArrayLike<number>} losses */
export function sortByLoss(losses) {
  return orderOf(losses);
}

/** 1 + how many have less loss beyond rounding; 0 without a loss. @param {ArrayLike<number>} losses */
export function placesOf(losses) {
  return tied(losses).map((place, g) => (Number.isNaN(losses[g]) ? 0 : place));
}

/** "2 " and "(1–4)", or "2" where it is certain, or a dash. @param {number} place @param {number} low @param {number} high */
export function placeTexts(place, low, high) {
  if (!place) return ["–", ""];
  return low === high ? [String(low), ""] : [`${place} `, `(${low}–${high})`];
}

/** "1–4", or "2". @param {number} low @param {number} high */
export function rangeText(low, high) {
  return low === high ? String(low || "–") : `${low}–${high}`;
}

/**
 * Groups, each anchored on its leader: it, and all that are left that it is not shown to beat. In a group the order is
 * the one given, so that noise moves nobody.
 * @param {Ranges} ranges @param {ArrayLike<number>} losses
 */
export function tiers(ranges, losses) {
  const left = Float64Array.from(losses);
  const groups = [];
  for (let group = leaders(ranges, left); group.length; group = leaders(ranges, left)) {
    groups.push(group.sort((a, b) => a - b));
    for (const g of group) left[g] = NaN;
  }
  return groups;
}

/**
 * Of each generator whether its line is crossed, and whether by more than chance: by avg one of the pair is shown to be
 * better, and by all the other. Who is in one order alone crosses nobody.
 * @param {number[]} left orders, best first @param {number[]} right @param {Ranges} byLeft @param {Ranges} byRight
 * @returns {("" | "chance" | "real")[]} by generator
 */
export function crossings(left, right, byLeft, byRight) {
  /** @type {("" | "chance" | "real")[]} */
  const kinds = Array(byLeft.better.length).fill("");
  const at = right.reduce((map, g, row) => map.set(g, row), /** @type {Map<number, number>} */ (new Map()));
  left.forEach((a, row) => {
    for (const b of left.slice(row + 1)) {
      const [rowA, rowB] = [at.get(a), at.get(b)];
      if (rowA === undefined || rowB === undefined || rowA < rowB) continue;
      const isReal = byLeft.better[a][b] && byRight.better[b][a];
      for (const g of [a, b]) kinds[g] = isReal || kinds[g] === "real" ? "real" : "chance";
    }
  });
  return kinds;
}

/** A verdict in a few words. @param {import("./verdict.js").Verdict} verdict */
export function briefly({ state, avg, all }) {
  if (state === "size") return "order explained by sample size";
  if (state === "unknown")
    return avg.length === 1 && all.length === 1 ? `${avg[0]}, not shown to be best` : "not enough data";
  const isSame = avg.length === all.length && avg.every((name) => all.includes(name));
  if (!isSame) return state === "winner" ? `${avg[0]} by avg, ${all[0]} by all` : "no single winner";
  return avg.length === 1 ? `${avg[0]} wins` : avg.length === 2 ? `${avg.join(" and ")} tie` : `${avg.length} tie`;
}

/** Choose a generator, or none where it was the one. @param {import("../../toolkit/view/store.js").Store} store @param {number} g */
export function choose(store, g) {
  const scene = /** @type {any} */ (store.scene);
  const name = scene.generators[g];
  store.edit({ ...scene, generator: scene.generator === name ? "" : name }, "");
}
