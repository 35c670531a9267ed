/**
 * A range input that sets a number of the scene: shown while it moves, a step of history once it rests. With Shift
 * arrows go further, and Escape gives a drag up.
 *
 * @import { Scene } from "./types.js"
 * @import { Store } from "./store.js"
 */
import { isOwnKey } from "./keys.js";

/** @type {Record<string, number>} */
const SIGNS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

/**
 * @param {HTMLInputElement} input @param {Store} store @param {(value: number) => Scene} write the scene with a value
 * @param {AbortSignal} signal
 * @param {{lock?: string, stride?: number}} [more] what refuses it, and how many steps an arrow goes with Shift
 */
export function slides(input, store, write, signal, { lock = "drag", stride = 10 } = {}) {
  const key = (/** @type {KeyboardEvent} */ event) => {
    const sign = SIGNS[event.key];
    const isCancelled = event.key === "Escape" && store.before;
    if (!isCancelled && !(sign && event.shiftKey && isOwnKey(event))) return;
    event.preventDefault();
    if (isCancelled) return store.cancel();
    input.value = String(input.valueAsNumber + stride * sign * Number(input.step)); // the next key may come before the next paint
    store.edit(write(input.valueAsNumber), lock);
  };
  input.addEventListener("input", () => store.preview(write(input.valueAsNumber), lock), { signal });
  input.addEventListener("change", () => store.finish(), { signal });
  input.addEventListener("keydown", key, { signal });
}
