/**
 * What every lab's page has: one store for all displays of a lab, and for each display a root with a name, the undo
 * keys and one frame loop.
 *
 * @import { Model } from "./types.js"
 */
import { whyStateRefused } from "./bounds.js";
import { el, oncePerFrame, setAttributes } from "./dom.js";
import { Locks } from "./locks.js";
import { Store } from "./store.js";

/**
 * The widget of a lab: `compute` makes the numbers of a scene, `view` the content of one display and its painter.
 *
 * @template {Store} [S=Store]
 * @param {string} name what the root is called, such as "Playground"
 * @param {(scene: any, model: Model) => any} compute
 * @param {(store: S, signal: AbortSignal) => {nodes: Node[], paint: () => void}} view
 * @param {{traits?: string[], kind?: new (...given: ConstructorParameters<typeof Store>) => S}} [more] what of the model,
 *   beside that of every lab, the numbers or the view depend on; and the kind of store
 */
export function lab(name, compute, view, { traits = [], kind = /** @type {any} */ (Store) } = {}) {
  return () => {
    /** @type {S} */
    let store;
    let bar = "";
    return {
      /** @param {{model: Model, signal?: AbortSignal}} context */
      initialize({ model, signal }) {
        bar = whyStateRefused(model);
        if (!bar) store = new kind(model, signal, compute, traits);
      },
      /** @param {{model: Model, el: HTMLElement, signal: AbortSignal}} context */
      render({ el: host, signal }) {
        if (bar) return void host.append(el("p", { class: "nbm", role: "alert" }, [bar]));
        const { nodes, paint } = view(store, signal);
        const root = el("div", { class: "nbm", role: "group", "aria-label": name }, nodes);
        root.addEventListener("keydown", (event) => undoKeys(event, store), { signal });
        root.addEventListener("focusin", keepKeys, { signal });
        const locks = new Locks(root, store);
        const soon = oncePerFrame(() => locks.around(paint), signal);
        store.subscribe(soon, signal);
        soon();
        host.append(root);
        signal.addEventListener("abort", () => root.remove()); // notebooks hold on to the host of what was displayed
      },
    };
  };
}

/**
 * Keep the notebook's shortcuts from what has the focus: Notebook 7 takes a key before anything here sees it, unless
 * the focused element itself is marked.
 * @param {FocusEvent} event
 */
function keepKeys({ target }) {
  if (target instanceof Element) setAttributes(target, { "data-lm-suppress-shortcuts": "true" });
}

/** What undoes its own letters. */
const TEXT = "textarea, input:not([type=range], [type=checkbox], [type=radio])";

/** @param {KeyboardEvent} event @param {Store} store */
function undoKeys(event, store) {
  event.stopPropagation();
  const isText = event.target instanceof Element && event.target.matches(TEXT);
  if (isText || !(event.ctrlKey || event.metaKey)) return;
  const key = event.key.toLowerCase();
  if (key !== "z" && key !== "y") return;
  event.preventDefault();
  if (key === "y" || event.shiftKey) store.redo();
  else store.undo();
}
