/**
 * Edits of a twins scene. No DOM.
 *
 * @import { Item } from "../../toolkit/view/types.js"
 * @import { PlaneStore } from "../../plane/view/store.js"
 * @import { TwinsScene } from "./maths.js"
 */

const SHAPE = /** @type {const} */ (["width", "height", "angle"]);

/** @param {Item} item @param {Item} like */
function hasShape(item, like) {
  return SHAPE.every((field) => item[field] === like[field]);
}

/** @param {Item} item @param {Item} like @returns {Item} */
function withShape(item, { width, height, angle }) {
  return { ...item, width, height, angle };
}

/** @param {Item[]} clients */
export function hasOneShape(clients) {
  return clients.every((item) => hasShape(item, clients[0]));
}

/** Every client in the shape of the one that changed, or in that of the others where one was added. @param {TwinsScene} before @param {TwinsScene} scene @returns {TwinsScene} */
export function tied(before, scene) {
  if (!scene.shared) return scene;
  const isSameList = before.clients.length === scene.clients.length;
  const changed = isSameList ? scene.clients.find((item, i) => !hasShape(item, before.clients[i])) : undefined;
  const shape = changed ?? scene.clients[0];
  return { ...scene, clients: scene.clients.map((item) => (hasShape(item, shape) ? item : withShape(item, shape))) };
}

/** With the shapes of the clients tied to that of client `index`, or freed. @param {TwinsScene} scene @param {boolean} shared @param {number} index @returns {TwinsScene} */
export function withSharing(scene, shared, index) {
  const shape = scene.clients[index] ?? scene.clients[0];
  const clients = shared ? scene.clients.map((item) => withShape(item, shape)) : scene.clients;
  return { ...scene, shared, clients };
}

/** What a twin depends on. @param {Item[]} clients */
export function clientsKey(clients) {
  return JSON.stringify(clients.map(({ x, y, width, height, angle, weight }) => [x, y, width, height, angle, weight]));
}

/**
 * The store as the plane and the list of clients take it: a scene without generators, and edits that keep shared shapes
 * shared.
 * @param {PlaneStore} store @returns {PlaneStore}
 */
export function planeStore(store) {
  /** @type {any} */
  let [seen, shown] = [null, null];
  /** @param {any} scene @returns {any} */
  const taken = ({ generators, ...scene }) => tied(/** @type {any} */ (store.scene), scene);
  /** @type {Record<string, any>} */
  const own = {
    get scene() {
      if (seen !== store.scene) [seen, shown] = [store.scene, { ...store.scene, generators: [] }];
      return shown;
    },
    preview: (/** @type {any} */ scene) => store.preview(taken(scene)),
    edit: (/** @type {any} */ scene, /** @type {any[]} */ ...rest) => store.edit(taken(scene), ...rest),
    // A gesture that ends where it began leaves no step of history, and Python has still to hear of it.
    finish: () => {
      store.finish();
      if (store.model.get("scene").rev < store.scene.rev) store.commit();
    },
  };
  return new Proxy(store, {
    get: (_, key) => {
      if (Object.hasOwn(own, key)) return own[String(key)];
      const value = Reflect.get(store, key);
      return typeof value === "function" ? value.bind(store) : value;
    },
    set: (_, key, value) => Reflect.set(store, key, value),
  });
}
