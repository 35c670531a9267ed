/**
 * Scenes are never changed in place: each edit returns a new one. No DOM.
 *
 * @import { History, Item, Kind, Place, Scene } from "./types.js"
 */

export const MOST = { clients: 24, generators: 12 };
const REMEMBERED = 50;

/** @param {Scene} scene @param {Place} place @param {Item} item @returns {Scene} */
export function withItem(scene, { kind, index }, item) {
  return { ...scene, [kind]: scene[kind].map((old, i) => (i === index ? item : old)) };
}

/** @param {Scene} scene @param {Kind} kind @returns {Scene} */
export function withAdded(scene, kind) {
  const stem = kind === "clients" ? "Client" : "Generator";
  const names = namesOf(scene);
  let number = 1;
  while (names.includes(`${stem} ${number}`)) number++;
  const count = scene[kind].length;
  const turn = count * 2.4 + (kind === "clients" ? 0 : 1.2);
  const round = (/** @type {number} */ v) => Math.round(v * 100) / 100;
  const reach = scene.half * 0.45;
  const item = {
    name: `${stem} ${number}`,
    x: round(reach * Math.cos(turn)),
    y: round(reach * Math.sin(turn)),
    width: round(scene.half * 0.18),
    height: round(scene.half * 0.12),
    angle: 0,
  };
  return { ...scene, [kind]: [...scene[kind], kind === "clients" ? { ...item, weight: 1 } : item] };
}

/** Why an item cannot be removed, or "". @param {Scene} scene @param {Place | null} place */
export function removalBar(scene, place) {
  if (!place) return "Choose a client or generator first";
  if (scene[place.kind].length === 1) return `The last ${place.kind.slice(0, -1)} stays`;
  const rest = scene.clients.filter((_, i) => place.kind !== "clients" || i !== place.index);
  return rest.some((client) => (client.weight ?? 0) > 0) ? "" : "The others have weight 0";
}

/** @param {Scene} scene @param {Place} place @returns {Scene} */
export function withRemoved(scene, { kind, index }) {
  return { ...scene, [kind]: scene[kind].filter((_, i) => i !== index) };
}

/** Why a name cannot be taken, or "". @param {Scene} scene @param {string} name @param {string} old */
export function nameBar(scene, name, old) {
  if (!name.trim()) return "A name cannot be empty";
  return name !== old && namesOf(scene).includes(name) ? "That name is taken" : "";
}

/** @param {Scene} scene */
function namesOf(scene) {
  return [...scene.clients, ...scene.generators].map((item) => item.name);
}

/** @param {History} history @param {Scene} before @returns {History} */
export function recorded(history, before) {
  return { past: [...history.past, before].slice(-REMEMBERED), future: [] };
}

/** @param {History} history @param {Scene} now @returns {{history: History, scene: Scene} | null} */
export function undone({ past, future }, now) {
  const scene = past.at(-1);
  return scene ? { scene, history: { past: past.slice(0, -1), future: [now, ...future] } } : null;
}

/** @param {History} history @param {Scene} now @returns {{history: History, scene: Scene} | null} */
export function redone({ past, future }, now) {
  const scene = future[0];
  return scene ? { scene, history: { past: [...past, now], future: future.slice(1) } } : null;
}

/** Whether two scenes show the same, whatever their revision. @param {Scene} a @param {Scene} b */
export function sameScene(a, b) {
  return JSON.stringify({ ...a, rev: 0 }) === JSON.stringify({ ...b, rev: 0 });
}

/** Python that rebuilds exactly this scene. @param {Scene} scene */
export function codeOf(scene) {
  const law = (/** @type {Item} */ { x, y, width, height, angle }) =>
    `nm.Gaussian.ellipse([${x}, ${y}], ${width}, ${height}${angle ? `, ${angle}` : ""})`;
  const clients = scene.clients.map((c) => `    nm.Client(${law(c)}, weight=${c.weight}, name=${JSON.stringify(c.name)}),`);
  const generators = scene.generators.map((g) => `    ${JSON.stringify(g.name)}: ${law(g)},`);
  return [
    "import nbmetrics as nm",
    "",
    "federation = nm.Federation([",
    ...clients,
    "])",
    "generators = {",
    ...generators,
    "}",
    "scores = nm.evaluate(federation, generators)",
    "lab = nm.Playground(federation, generators)",
    "lab",
    "",
  ].join("\n");
}
