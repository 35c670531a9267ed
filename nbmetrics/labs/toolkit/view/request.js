/**
 * Questions to Python beside scenes, and their answers: numbered, so that of several displays of a lab the one that
 * asked hears it.
 *
 * @import { Store } from "./store.js"
 */

let asked = 0;
// Pages of one lab may be in several browsers.
const asker = Math.random().toString(36).slice(2);

/**
 * What Python answers, which may be an error in words; the scene goes along, as the answer is about it.
 * @param {Store} store @param {string} kind "page" or "picture" @param {AbortSignal} signal
 * @returns {Promise<Record<string, any>>} never, where Python never answers
 */
export function answerOf(store, kind, signal) {
  const ticket = `${asker} ${++asked}`;
  const { model } = store;
  return new Promise((resolve) => {
    const stop = () => model.off("msg:custom", hear);
    const hear = (/** @type {any} */ message) => {
      if (message?.ticket !== ticket) return;
      stop();
      resolve(message);
    };
    model.on("msg:custom", hear);
    signal.addEventListener("abort", stop);
    store.send({ kind, ticket, scene: store.scene });
  });
}

/** `answer`, or null if it takes longer than so many milliseconds. @template T @param {Promise<T>} answer @param {number} milliseconds @returns {Promise<T | null>} */
export function within(answer, milliseconds) {
  return Promise.race([answer, new Promise((done) => setTimeout(done, milliseconds, null))]);
}
