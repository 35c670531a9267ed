/**
 * Scenes are never changed in place: each edit returns a new one. No DOM.
 *
 * @import { History, Item, Kind, Place, Scene } from "../../toolkit/view/types.js"
 */
import { firstOf, LONGEST_NAME, UNPRINTABLE } from "../../toolkit/view/schema.js";
import types from "../items.json" with { type: "json" };

/** Items of a scene. */
export const MOST = { clients: types.clients.to, generators: types.generators.to };

/** @type {WeakMap<Item, Item>} parts by the name of both, their generator and their client */
const namedParts = new WeakMap();

/** The item of a place; a part by the name of both, its generator and its client. @param {Scene} scene @param {Place} place @returns {Item} */
export function itemAt(scene, { kind, index, part }) {
  const item = scene[kind][index];
  const own = part === undefined ? undefined : item.parts?.[part];
  if (!own) return item;
  const name = `${item.name} for ${own.name}`;
  const known = namedParts.get(own);
  if (known?.name === name) return known;
  const named = { ...own, name };
  namedParts.set(own, named);
  return named;
}

/** @param {Scene} scene @param {Place} place @param {Item} item @returns {Scene} */
export function withItem(scene, { kind, index, part }, item) {
  const change = (/** @type {Item} */ old) =>
    part === undefined
      ? item
      : { ...old, parts: old.parts?.map((own, k) => (k === part ? { ...item, name: own.name } : own)) };
  return { ...scene, [kind]: scene[kind].map((old, i) => (i === index ? change(old) : old)) };
}

/** Where the items of a scene are, each part of a generator by itself. @param {Scene} scene @returns {Place[]} */
export function shownPlaces(scene) {
  return /** @type {Kind[]} */ (["clients", "generators"]).flatMap((kind) =>
    scene[kind].flatMap((item, index) => item.parts?.map((_, part) => ({ kind, index, part })) ?? [{ kind, index }]),
  );
}

/** Whether a generator has an ellipse for each client. @param {Scene} scene */
export function hasOwners({ generators }) {
  return generators.some(({ parts }) => parts);
}

/** A generator's ellipses stay, and two of them change the client that they are for. @param {Scene} scene @param {number} index @param {[number, number]} parts @returns {Scene} */
export function withSwapped(scene, index, [one, other]) {
  const item = scene.generators[index];
  const { parts = [] } = item;
  const swapped = parts.map((own, k) => ({ ...own, name: parts[k === one ? other : k === other ? one : k].name }));
  return withItem(scene, { kind: "generators", index }, { ...item, parts: swapped });
}

/** The generators of a scene, with the ellipses that they have for each client changed. @param {Scene} scene @param {(parts: Item[]) => Item[]} change @returns {Item[]} */
function withParts({ generators }, change) {
  return generators.map((item) => (item.parts ? { ...item, parts: change(item.parts) } : item));
}

/** @param {Scene} scene @param {Kind} kind @param {Item["kind"] | "point"} [what] of generator @returns {Scene} */
export function withAdded(scene, kind, what) {
  const stem = { clients: "Client", generators: STEMS[what ?? "gaussian"] }[kind];
  const names = namesOf(scene);
  let number = 1;
  while (names.includes(`${stem} ${number}`)) number++;
  const name = stem === "Ideal" && !names.includes(stem) ? stem : `${stem} ${number}`;
  const count = scene[kind].length;
  const turn = count * 2.4 + (kind === "clients" ? 0 : 1.2);
  const round = (/** @type {number} */ v) => Math.round(v * 100) / 100;
  const reach = scene.half * 0.45;
  const size = what === "point" ? 0 : scene.half;
  const item = {
    name,
    x: round(reach * Math.cos(turn)),
    y: round(reach * Math.sin(turn)),
    width: round(size * 0.18),
    height: round(size * 0.12),
    angle: 0,
  };
  if (kind === "clients") {
    const generators = withParts(scene, (parts) => [...parts, ellipseFor(scene, item)]);
    return { ...scene, clients: [...scene.clients, { ...item, weight: 1 }], generators };
  }
  return { ...scene, generators: [...scene.generators, shaped(scene, item, what)] };
}

/** What new generators are called. */
const STEMS = {
  gaussian: "Generator",
  point: "Collapsed",
  bumps: "Two bumps",
  truncated: "Ideal",
  copycat: "Copycat",
  data: "Data",
  by_client: "Model",
};

/** Of half the plane: how far new ellipses lie below the clients that they are for, which they would hide. */
const BELOW = 0.1;

/** A new ellipse for a client, of its shape. @param {Scene} scene @param {Item} client @returns {Item} */
function ellipseFor({ half }, { name, x, y, width, height, angle }) {
  const below = Math.round(100 * (y - half * BELOW)) / 100;
  return { name, x, y: Math.max(-half, below), width, height, angle };
}

/** A new generator of a kind. @param {Scene} scene @param {Item} item @param {Item["kind"] | "point"} [what] @returns {Item} */
function shaped(scene, item, what) {
  if (what === "truncated") return /** @type {Item} */ ({ name: item.name, kind: what, psi: 1 });
  if (what === "copycat")
    return /** @type {Item} */ ({ name: item.name, kind: what, of: scene.clients[0].name, count: 20 });
  if (what === "by_client") {
    return /** @type {Item} */ ({
      name: item.name,
      kind: what,
      parts: scene.clients.map((client) => ellipseFor(scene, client)),
    });
  }
  return what === "bumps" ? { ...item, kind: what, x: 0, y: 0, width: scene.half * 0.2 } : item;
}

/** Why an item cannot be removed, or "". @param {Scene} scene @param {Place | null} place */
export function whyNotRemovable(scene, place) {
  if (!place) return "Choose a client or generator first";
  if (scene[place.kind].length === 1) return `The last ${place.kind.slice(0, -1)} stays`;
  const { name } = scene[place.kind][place.index];
  const { lesson } = scene;
  if (place.kind === "generators" && lesson && !lesson.revealed && Object.values(lesson.about).includes(name))
    return "The question is about this one";
  const copy = place.kind === "clients" && scene.generators.find((g) => g.of === name);
  if (copy) return `${copy.name} copies it`;
  const rest = scene.clients.filter((_, i) => place.kind !== "clients" || i !== place.index);
  return rest.some((client) => (client.weight ?? 0) > 0) ? "" : "The others have weight 0";
}

/** @param {Scene} scene @param {Place} place @returns {Scene} */
export function withRemoved(scene, { kind, index }) {
  const { name } = scene[kind][index];
  const rest = { ...scene, [kind]: scene[kind].filter((_, i) => i !== index) };
  if (kind === "generators") return rest;
  return { ...rest, generators: withParts(scene, (parts) => parts.filter((part) => part.name !== name)) };
}

/** Why a name cannot be taken, or "". @param {Scene} scene @param {string} name @param {string} old */
export function whyNameRefused(scene, name, old) {
  const next = name.trim();
  if (!next) return "A name cannot be empty";
  if ([...next].length > LONGEST_NAME) return `A name has at most ${LONGEST_NAME} letters`;
  if (UNPRINTABLE.test(next)) return "A name cannot contain control characters";
  return next !== old && namesOf(scene).includes(next) ? "That name is taken" : "";
}

/** A new name, also where a copycat names its client, or a lesson a generator. @param {Scene} scene @param {Place} place @param {string} name @returns {Scene} */
export function withName(scene, place, name) {
  const old = scene[place.kind][place.index];
  const held = old.kind === "data" ? { data: old.data ?? old.name } : {}; // the lab goes on to hold it by its first name
  const renamed = withItem(scene, place, { ...old, ...held, name });
  if (place.kind !== "clients") return { ...renamed, lesson: aboutRenamed(scene.lesson, old.name, name) };
  const copied = renamed.generators.map((g) => (g.of === old.name ? { ...g, of: name } : g));
  const owned = (/** @type {Item[]} */ parts) =>
    parts.map((part) => (part.name === old.name ? { ...part, name } : part));
  return { ...renamed, generators: withParts({ ...renamed, generators: copied }, owned) };
}

/** @param {Scene["lesson"]} lesson @param {string} old @param {string} name */
function aboutRenamed(lesson, old, name) {
  if (!lesson) return lesson;
  const about = Object.entries(lesson.about).map(([given, now]) => [given, now === old ? name : now]);
  return { ...lesson, about: Object.fromEntries(about) };
}

/** @param {Scene} scene */
function namesOf(scene) {
  return [...scene.clients, ...scene.generators].map((item) => item.name);
}

/**
 * Why the items of a scene do not fit one another, or "".
 * @param {{clients: Item[], generators?: Item[]}} scene @param {Record<string, any>} data what the lab holds
 */
export function whyItemsRefused({ clients, generators = [] }, data) {
  const items = [...clients, ...generators];
  const names = items.map((item) => item.name);
  if (new Set(names).size < names.length) return "two items have one name";
  if (!clients.some(({ weight = 0 }) => weight > 0)) return "all weights are 0";
  const owners = clients.map((client) => client.name).sort();
  return firstOf(items, ({ kind, name, of, parts, data: key = name }) => {
    const own = parts?.map((part) => part.name).sort();
    if (own && JSON.stringify(own) !== JSON.stringify(owners)) return `${name} has not one ellipse for each client`;
    if (kind === "copycat" && !clients.some((client) => client.name === of)) return "a copycat copies no client";
    return kind === "data" && !Object.hasOwn(data, key) ? `${name} is data, which a link does not contain` : "";
  });
}
