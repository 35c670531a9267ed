/**
 * A lab on a page of its own: the state that the page carries, and no Python behind it.
 *
 * @import { Model } from "./types.js"
 */

/** @implements {Model} */
class SavedModel {
  /** @param {Record<string, any>} state */
  constructor(state) {
    this.state = state;
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
}

/** @param {() => {initialize: (context: any) => void, render: (context: any) => void}} widget */
export function openSaved(widget) {
  const model = new SavedModel(JSON.parse(document.scripts[0].text));
  const { signal } = new AbortController();
  const { initialize, render } = widget();
  initialize({ model, signal });
  render({ model, el: document.getElementsByTagName("main")[0], signal });
}
