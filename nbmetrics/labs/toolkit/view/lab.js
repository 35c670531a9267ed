/**
 * What every lab's page has: one store for all displays of a lab, and for each display a root with a name, the undo
 * keys and one frame loop.
 *
 * @import { Model } from "./types.js"
 */
import { el, oncePerFrame } from "./dom.js";
import { keepInView, wasJustRun } from "./keep_in_view.js";
import { shareKeys } from "./keys.js";
import { Locks } from "./locks.js";
import { keepInNotebook } from "./notebook_state.js";
import { filled, firstOf, whyRefused } from "./schema.js";
import { unpacked } from "./share.js";
import { recordEdit, Store } from "./store.js";

/**
 * The widget of a lab: `compute` makes the numbers of a scene, `view` the content of one display and its painter.
 *
 * @template {Store} [S=Store]
 * @param {string} name what the root is called, such as "Playground"
 * @param {(scene: any, model: Model) => any} compute
 * @param {(store: S, signal: AbortSignal) => {nodes: Node[], paint: () => void}} view
 * @param {object} more
 * @param {import("./schema.js").Declared} more.declared the fields of a scene
 * @param {(scene: any) => any} [more.complete] a scene with those fields that follow from others
 * @param {(scene: any, model: Model) => string} [more.refusal] why a declared scene from elsewhere is not shown, or ""
 * @param {(model: Model) => string} [more.stateRefusal] why the state is not shown, for what it has beside scenes, or ""
 * @param {string[]} [more.traits] what of the model, beside that of every lab, the numbers or the view depend on
 * @param {new (...given: ConstructorParameters<typeof Store>) => S} [more.kind] of store
 */
export function lab(name, compute, view, more) {
  const { declared, complete = (scene) => scene, refusal = () => "", stateRefusal = () => "" } = more;
  const { traits = [], kind = /** @type {any} */ (Store) } = more;
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
        const given = filled(declared, await unpacked(text, name));
        const why = whyRefused(declared, given);
        const scene = why ? given : complete(given);
        const whyHere = why || refusal(scene, model);
        if (whyHere) throw new Error(`It contains a scene that cannot be shown: ${whyHere}.`);
        const before = model.get("scene");
        const rev = Math.max(before.rev, model.get("result").rev) + 1;
        return { scene: { ...scene, rev }, history: recordEdit(model.get("history"), before) };
      },
      /** @param {{model: Model, signal?: AbortSignal}} context */
      initialize({ model, signal: given }) {
        const { signal, end } = ending(given);
        bar = whyStateRefused(declared, model) || stateRefusal(model);
        if (bar) return end;
        store = new kind(model, signal, compute, traits);
        store.lab = name;
        keepInNotebook(model, signal);
        return end;
      },
      /** @param {{model: Model, el: HTMLElement, signal?: AbortSignal}} context */
      render({ el: host, signal: given }) {
        if (bar) return void host.append(el("p", { class: "nbm", role: "alert" }, [bar]));
        const { signal, end } = ending(given);
        const { nodes, paint } = view(store, signal);
        const root = el("div", { class: "nbm", role: "group", "aria-label": name }, nodes);
        shareKeys(root, store, signal);
        const locks = new Locks(root, store);
        const paintNow = () => locks.around(paint);
        const soon = oncePerFrame(paintNow, signal);
        store.subscribe(soon, signal);
        soon();
        onFirstSize(root, paintNow, signal);
        host.append(root);
        if (wasJustRun(store.model)) keepInView(root, signal);
        signal.addEventListener("abort", () => root.remove()); // notebooks hold on to the host of what was displayed
        return end;
      },
    };
  };
}

/** What the listeners of a model or a display end with: where anywidget before 0.11 gives no signal, a function for it to call. @param {AbortSignal} [given] */
function ending(given) {
  if (given) return { signal: given };
  const controller = new AbortController();
  return { signal: controller.signal, end: () => controller.abort() };
}

/**
 * Call once the size of a node is known and nothing of it is on the screen: what is laid out by the size of its place
 * is then painted in one go, not moved in the next frame.
 * @param {Element} node @param {() => void} call @param {AbortSignal} signal
 */
function onFirstSize(node, call, signal) {
  const watch = new ResizeObserver(() => {
    watch.disconnect();
    call();
  });
  watch.observe(node);
  signal.addEventListener("abort", () => watch.disconnect());
}

/** Why the scenes of a model, such as that of an exported page that was edited, are not shown, or "". @param {import("./schema.js").Declared} declared @param {Model} model */
export function whyStateRefused(declared, model) {
  const { past, future } = model.get("history");
  const scenes = [model.get("scene"), ...past, ...future, ...Object.values(model.get("presets"))];
  const why = firstOf(scenes, (scene) => whyRefused(declared, filled(declared, scene)));
  return why && `This lab is not shown: ${why}.`;
}
