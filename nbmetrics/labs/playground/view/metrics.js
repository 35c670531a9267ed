/**
 * The metrics that can be charted, and where their numbers come from: the page, or Python's last answer.
 *
 * @import { Aggregates } from "../../toolkit/view/types.js"
 * @import { PlaneStore } from "../../plane/view/store.js"
 */

import facts from "../metrics.json" with { type: "json" };
import { isWhole } from "./wide.js";

/**
 * @typedef {object} Metric  as ../metrics.json says, in the order of the Metric select
 * @property {string} label
 * @property {boolean} higher whether more is better
 * @property {string} note
 * @property {string} closed of which laws the page computes it: "always" of any, "smooth" of those without points, or "never"
 * @property {string[]} [addends] what is summed, in the order of `addendsOf`
 * @property {string[]} [symbols] the same in the formula
 * @property {number} [own] which addend is the generator's alone
 * @property {string} [plane_only] why it is not offered for rows wider than the plane
 * @property {string} [no_sum] why there are no addends
 */
/** @type {Record<string, Metric>} */
export const CHARTED = facts;

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
  const found = /** @type {Aggregates | undefined} */ (scores?.[metric]);
  const fits =
    found &&
    found.avg.length === store.scene.generators.length &&
    found.byClient[0]?.length === store.scene.clients.length;
  return { metric, ...CHARTED[metric], numbers: fits ? found : null, isCurrent: rev === store.scene.rev };
}

/** The same for a chart, which needs every value. @param {ReturnType<typeof chartedOf>} charted */
export function wholeOf(charted) {
  return isWhole(charted.numbers) ? charted : { ...charted, numbers: null };
}
