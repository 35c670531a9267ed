/**
 * What JupyterLab saves of a lab whose kernel is gone. Its widget manager leaves such widgets out of the file
 * (ipywidgets issue 3270), and the lab would be "model not found" when the notebook is opened again.
 *
 * @import { Model } from "./types.js"
 */
const STATE = "application/vnd.jupyter.widget-state+json";
const VIEW = "application/vnd.jupyter.widget-view+json";

/** Add a lab to the widgets that a notebook is saved with, where it is shown and left out. @param {Model} model @param {AbortSignal} signal */
export function keepInNotebook(model, signal) {
  const layout = model.get("layout");
  const manager = layout?.widget_manager;
  const { saveState, model: notebook } = manager?.context ?? {}; // only JupyterLab and Notebook 7 have it
  if (!saveState || !notebook?.getMetadata) return;
  const save = (/** @type {unknown} */ _sender, /** @type {string} */ phase) => {
    const saved = phase === "started" && notebook.getMetadata("widgets")?.[STATE];
    if (!saved || layout.comm_live) return; // not asked to save widgets, or the manager has saved this one
    const models = [...(manager._modelsSync?.values() ?? [])];
    const own = models.find((one) => one.get("layout") === layout && one !== layout);
    if (!own || own.model_id in saved.state || !isShown(notebook, own.model_id)) return;
    const live = [layout, own].map((one) => Object.create(one, { comm_live: { value: true } }));
    const { state } = manager.get_state_sync.call({ _modelsSync: new Set(live) }, { drop_defaults: true });
    notebook.setMetadata("widgets", { [STATE]: { ...saved, state: { ...saved.state, ...state } } });
  };
  saveState.connect(save); // after the manager, which was first to connect
  signal.addEventListener("abort", () => saveState.disconnect(save));
}

/** Whether some output of a notebook shows the model; those of cells that were run again are forgotten. @param {any} notebook @param {string} id */
function isShown(notebook, id) {
  /** @type {{outputs?: {data?: Record<string, {model_id?: string}>}[]}[]} */
  const cells = notebook.toJSON().cells;
  return cells.some(({ outputs = [] }) => outputs.some(({ data }) => data?.[VIEW]?.model_id === id));
}
