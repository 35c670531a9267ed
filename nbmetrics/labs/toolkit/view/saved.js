/**
 * A lab on a page of its own: the state that the page carries, or the scene of a share string behind # in its address,
 * and no Python behind it.
 *
 * @import { History, Model, Scene } from "./types.js"
 */
const SHARED = "Shared";

/** @implements {Model} */
class SavedModel {
  /** @param {Record<string, any>} state @param {HTMLElement} source the page before anything is shown in it */
  constructor(state, source) {
    this.state = state;
    this.source = source;
    /** @type {Map<string, Set<() => void>>} */
    this.listeners = new Map();
  }

  /** @param {string} key */
  get(key) {
    return this.state[key];
  }

  /** @param {string} key @param {any} value */
  set(key, value) {
    if (this.state[key] === value) return;
    this.state[key] = value;
    for (const call of this.listeners.get(`change:${key}`) ?? []) call();
  }

  /** @param {string} event @param {() => void} call */
  on(event, call) {
    this.listeners.set(event, (this.listeners.get(event) ?? new Set()).add(call));
  }

  /** @param {string} event @param {() => void} call */
  off(event, call) {
    this.listeners.get(event)?.delete(call);
  }

  save_changes() {}

  send() {}

  /** The page as it was written, with the state of now, and without what leads elsewhere on its site. */
  page() {
    const copy = /** @type {HTMLElement} */ (this.source.cloneNode(true));
    for (const node of [...copy.querySelectorAll("[data-beside]")]) node.remove();
    // No text in it can end the script element that it stands in.
    const state = JSON.stringify({ ...this.state, onward: "" });
    copy.getElementsByTagName("script")[0].textContent = state.replaceAll("<", "\\u003c");
    return `<!doctype html>\n${copy.outerHTML}\n`;
  }

  /** The page starts with a scene: nothing was before it, and Reset comes back to it. @param {{scene: Scene}} opened */
  start({ scene }) {
    const { presets, lessons = {} } = this.state;
    this.state.history = { past: [], future: [] };
    this.state.scene = scene;
    if (!Object.hasOwn(presets, scene.preset) && !Object.hasOwn(lessons, scene.preset))
      this.state.presets = { [scene.preset || SHARED]: scene, ...presets };
  }

  /** Another scene in place of the one on show, which undo brings back. @param {{scene: Scene, history: History}} opened */
  open({ scene, history }) {
    this.set("history", history);
    this.set("scene", scene);
  }
}

/** @typedef {{scene: Scene, history: History}} Opened */
/** @typedef {{opened: (text: string, model: Model) => Promise<Opened>, initialize: (context: any) => void, render: (context: any) => void}} Widget */

/** @param {() => Widget} widget */
export async function openSaved(widget) {
  const source = /** @type {HTMLElement} */ (document.documentElement.cloneNode(true));
  const model = new SavedModel(JSON.parse(document.scripts[0].text), source);
  const [place] = document.getElementsByClassName("lab");
  const { signal } = new AbortController();
  const lab = widget();
  const link = new Link(lab, model, place);
  await link.read((opened) => model.start(opened), "The page shows its saved scene.");
  lab.initialize({ model, signal });
  lab.render({ model, el: place, signal });
  const follow = async () => {
    await link.read((opened) => model.open(opened), "The page shows what it showed before.");
    place.scrollIntoView(); // the link may stand below it
  };
  addEventListener("hashchange", follow);
}

/** What stands behind # in the address of the page. */
class Link {
  /** @param {Widget} widget @param {SavedModel} model @param {Element} place */
  constructor(widget, model, place) {
    this.widget = widget;
    this.model = model;
    this.place = place;
    this.alert = document.createElement("p");
    this.alert.className = "nbm nbm-refused";
    this.alert.setAttribute("role", "alert");
  }

  /** @param {(opened: Opened) => void} open @param {string} instead what the page says that it shows where it refuses */
  async read(open, instead) {
    const { hash } = location;
    this.alert.remove();
    if (hash.length < 2) return;
    try {
      const opened = await this.widget.opened(decodeURIComponent(hash.slice(1)), this.model);
      if (hash === location.hash) open(opened);
    } catch (error) {
      const why = error instanceof URIError ? "It is damaged." : /** @type {Error} */ (error).message;
      this.alert.textContent = `The link could not be opened. ${why} ${instead}`;
      this.place.insertBefore(this.alert, this.place.getElementsByClassName("nbm")[0] ?? null);
    }
  }
}
