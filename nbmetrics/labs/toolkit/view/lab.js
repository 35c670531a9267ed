/**
 * What every lab's page has: one store for all displays of a lab, and for each display a root with a name, the undo
 * keys and one frame loop.
 *
 * @import { Model } from "./types.js"
 */
import { whyBeyond, whyStateRefused } from "./bounds.js";
import { el, oncePerFrame, setAttributes } from "./dom.js";
import { Locks } from "./locks.js";
import { alike } from "./shapes.js";
import { unpacked } from "./share.js";
import { recordEdit, Store } from "./store.js";

/**
 * The widget of a lab: `compute` makes the numbers of a scene, `view` the content of one display and its painter.
 *
 * @template {Store} [S=Store]
 * @param {string} name what the root is called, such as "Playground"
 * @param {(scene: any, model: Model) => any} compute
 * @param {(store: S, signal: AbortSignal) => {nodes: Node[], paint: () => void}} view
 * @param {{traits?: string[], kind?: new (...given: ConstructorParameters<typeof Store>) => S,
 *   refusal?: (scene: any, model: Model) => string}} [more] what of the model, beside that of every lab, the numbers or
 *   the view depend on; the kind of store; and why a scene from elsewhere is not shown, "" where it is
 */
export function lab(name, compute, view, { traits = [], kind = /** @type {any} */ (Store), refusal = isAsShown } = {}) {
  return () => {
    /** @type {S} */
    let store;
    let bar = "";
    return {
      /**
       * What a lab has once the scene of a share string is shown; an error says why it is not.
       * @param {string} text @param {Model} model
       */
      async opened(text, model) {
        const scene = await unpacked(text, name);
        const why = whyBeyond(scene) || refusal(scene, model);
        if (why) throw new Error(`It holds a scene that cannot be shown: ${why}.`);
        const before = model.get("scene");
        const rev = Math.max(before.rev, model.get("result").rev) + 1;
        return { scene: { ...scene, rev }, history: recordEdit(model.get("history"), before) };
      },
      /** @param {{model: Model, signal?: AbortSignal}} context */
      initialize({ model, signal }) {
        bar = whyStateRefused(model);
        if (bar) return;
        store = new kind(model, signal, compute, traits);
        store.lab = name;
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

/** @param {any} scene @param {Model} model */
function isAsShown(scene, model) {
  return alike(model.get("scene"))(scene, "scene");
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
