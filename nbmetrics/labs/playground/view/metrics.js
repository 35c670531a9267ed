/**
 * The metrics that can be charted, and where their numbers come from: the page, or Python's last answer.
 *
 * @import { Aggregates, View } from "../../toolkit/view/types.js"
 * @import { PlaneStore } from "../../plane/view/store.js"
 */

import facts from "../metrics.json" with { type: "json" };
import { isWhole } from "./high_dimensional.js";

/**
 * @typedef {object} Metric  as ../metrics.json says, in the order of the Metric select
 * @property {string} label
 * @property {boolean} higher whether more is better
 * @property {string} note
 * @property {string} closed of which distributions the page computes it: "always" of any, "smooth" of those without points, or "never"
 * @property {string[]} [addends] what is summed, in the order of `addendsOf`
 * @property {string[]} [symbols] the same in the formula
 * @property {number} [own] which addend is the generator's alone
 * @property {boolean} [weighs] whether it is defined for a mixture, as a generator with an ellipse for each client is
 * @property {boolean} [kernel] whether avg − all is one number for every generator
 * @property {string} [plane_only] why it is not offered for rows wider than the plane
 * @property {string} [no_sum] why there are no addends
 */
/** @type {Record<string, Metric>} */
export const CHARTED = facts;
export const START_VIEW = { metric: "fid", panel: "clients", sweep: "variance", aligned: false };

/** @param {PlaneStore} store @param {Partial<View>} change of what the scene charts */
export function editView(store, change) {
  const { scene } = store;
  store.edit({ ...scene, view: { ...START_VIEW, ...scene.view, ...change } }, "");
}

/**
 * The numbers of the metric that the scene charts: the page's own where it has them, else Python's last answer that
 * fits the scene, current or not, else none.
 * @param {PlaneStore} store
 * @returns {{metric: string, label: string, higher: boolean, note: string, numbers: Aggregates | null, isCurrent: boolean}}
 */
export function chartedOf(store) {
  const metric = store.scene.view?.metric ?? "fid";
  const own = /** @type {Aggregates | undefined} */ (store.numbers[metric]);
  if (own) return { metric, ...CHARTED[metric], numbers: own, isCurrent: !own.isBehind };
  if (store.scene.plane) return { metric, ...CHARTED[metric], numbers: null, isCurrent: false };
  const { scores, rev } = store.model.get("result");
  const aggregates = /** @type {Aggregates | undefined} */ (scores?.[metric]);
  const fits =
    aggregates &&
    aggregates.avg.length === store.scene.generators.length &&
    aggregates.byClient[0]?.length === store.scene.clients.length;
  return { metric, ...CHARTED[metric], numbers: fits ? aggregates : null, isCurrent: rev === store.scene.rev };
}

/** The same for what is drawn, which needs every value. @param {PlaneStore} store */
export function drawnOf(store) {
  const charted = chartedOf(store);
  return !store.scene.plane || isWhole(charted.numbers) ? charted : { ...charted, numbers: null };
}
