/**
 * Scenes are never changed in place: each edit returns a new one. No DOM.
 *
 * @import { History, Item, Kind, Place, Scene } from "../../toolkit/view/types.js"
 */
import { firstOf, LONGEST_NAME, UNPRINTABLE } from "../../toolkit/view/schema.js";
import types from "../items.json" with { type: "json" };

/** Items of a scene. */
export const MOST = { clients: types.clients.to, generators: types.generators.to };

/** @param {Scene} scene @param {Place} place @param {Item} item @returns {Scene} */
export function withItem(scene, { kind, index }, item) {
  return { ...scene, [kind]: scene[kind].map((old, i) => (i === index ? item : old)) };
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
  if (kind === "clients") return { ...scene, clients: [...scene.clients, { ...item, weight: 1 }] };
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
};

/** A new generator of a kind. @param {Scene} scene @param {Item} item @param {Item["kind"] | "point"} [what] @returns {Item} */
function shaped(scene, item, what) {
  if (what === "truncated") return /** @type {Item} */ ({ name: item.name, kind: what, psi: 1 });
  if (what === "copycat")
    return /** @type {Item} */ ({ name: item.name, kind: what, of: scene.clients[0].name, count: 20 });
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
  return { ...scene, [kind]: scene[kind].filter((_, i) => i !== index) };
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
  return { ...renamed, generators: renamed.generators.map((g) => (g.of === old.name ? { ...g, of: name } : g)) };
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
  return firstOf(items, ({ kind, name, of, data: key = name }) => {
    if (kind === "copycat" && !clients.some((client) => client.name === of)) return "a copycat copies no client";
    return kind === "data" && !Object.hasOwn(data, key) ? `${name} is data, which a link does not contain` : "";
  });
}
