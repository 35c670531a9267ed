/**
 * The metrics that can be charted, and where their numbers come from: the page, or Python's last answer.
 *
 * @import { Aggregates } from "../../toolkit/view/types.js"
 * @import { PlaneStore } from "../../plane/view/store.js"
 */

/** @type {Record<string, {label: string, higher: boolean, note: string}>} in the order of the Metric select */
export const CHARTED = {
  fid: { label: "FID", higher: false, note: "Fréchet distance of means and covariances" },
  kid: { label: "KID", higher: false, note: "squared MMD, cubic kernel" },
  kid_rbf: { label: "KID (RBF)", higher: false, note: "squared MMD, Gaussian kernel, σ = √2" },
  mfid: { label: "MFID", higher: false, note: "FID of y alone; the axes are read as x → y" },
  rfid: { label: "RFID", higher: false, note: "FID of (x, y) on the clients’ x" },
  cfid: { label: "CFID", higher: false, note: "FID of y given x, on the clients’ x" },
  fld: { label: "FLD", higher: false, note: "likelihood of held-out points; computed by Python from points" },
  precision: { label: "Precision", higher: true, note: "share of generated points among the real; computed by Python" },
  recall: { label: "Recall", higher: true, note: "share of real points among the generated; computed by Python" },
  density: { label: "Density", higher: true, note: "real neighbours of generated points; computed by Python" },
  coverage: { label: "Coverage", higher: true, note: "share of real points with a generated one near; computed by Python" },
};

/**
 * The numbers of the metric that the scene charts: the page's own where it has them, else Python's last answer that
 * fits the scene, current or not, else none.
 * @param {PlaneStore} store
 * @returns {{metric: string, label: string, higher: boolean, note: string, numbers: Aggregates | null, isCurrent: boolean}}
 */
export function chartedOf(store) {
  const metric = store.scene.view?.metric ?? "fid";
  const own = /** @type {Aggregates | undefined} */ (store.numbers[metric]);
  if (own) return { metric, ...CHARTED[metric], numbers: own, isCurrent: true };
  const { scores, rev } = store.model.get("result");
  const found = /** @type {Aggregates | undefined} */ (scores?.[metric]);
  const fits = found && found.avg.length === store.scene.generators.length && found.byClient[0]?.length === store.scene.clients.length;
  return { metric, ...CHARTED[metric], numbers: fits ? found : null, isCurrent: rev === store.scene.rev };
}
