/**
 * In which order clients stand, and how many hundreds of them fold into rows. The order is one for all displays of a
 * lab. What it is by may move with the weights: then it stays as it was, until somebody asks for it. No DOM.
 *
 * Twin: labs/dashboard/view_model.py · held by: tests/labs/dashboard/test_view_model.py
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Board, Numbers, Scene } from "./types.js"
 *
 * @typedef {[number, number, number]} Join  two clusters and how far apart they are, as SciPy numbers them
 * @typedef {{id: number, members: number[]}} Group  a cluster, and its clients in the order of the leaves
 * @typedef {{client: number, group: number} | {client: -1, group: number, members: number[]}} Line  a row: one client,
 *   of a group or −1, or a group
 */

import { lowest, orderOf as orderBySize } from "../../toolkit/view/ties.js";

export const ORDER_NAMES = /** @type {const} */ ({
  similarity: "alike together",
  given: "as given",
  name: "by name",
  rows: "by rows",
  weight: "by weight",
  regret: "by regret under the winner",
  worst: "by their worst score",
});
// Above so many clients they fold, into at most so many groups.
export const MAX_ROWS = 120;
export const MAX_GROUPS = 40;
const BY_WEIGHTS = new Set(["weight", "regret"]);

/** @type {WeakMap<Store, Order>} */
const orders = new WeakMap();

/** The order that all displays of a lab share. @param {Store} store */
export function orderOf(store) {
  const order = orders.get(store) ?? new Order();
  orders.set(store, order);
  return order;
}

export class Order {
  constructor() {
    this.key = "";
    /** @type {number[]} */
    this.clients = [];
    /** Whether the weights moved so far that the order would be another. */
    this.isStale = false;
    this.memo = /** @type {{scene: Scene, numbers: Numbers} | null} */ (null);
  }

  /** The clients by their places: after a move of weights as they were, and in the middle of one whatever happens. @param {Scene} scene @param {Numbers} numbers @param {Board} board @param {boolean} [isMoving] */
  of(scene, numbers, board, isMoving = false) {
    if (isMoving && this.clients.length === numbers.clients.length) return this.clients;
    const key = JSON.stringify([scene.order, scene.metric, scene.by, scene.generators, board.leaves]);
    if (this.memo?.scene === scene && this.memo.numbers === numbers && key === this.key) return this.clients;
    const fresh = clientOrder(scene, numbers, board);
    const isSame = key === this.key && fresh.length === this.clients.length;
    if (!isSame || !BY_WEIGHTS.has(scene.order)) this.clients = fresh;
    this.isStale = this.clients.some((client, place) => fresh[place] !== client);
    this.key = key;
    this.memo = { scene, numbers };
    return this.clients;
  }

  /** Take the order that the weights on show make. */
  again() {
    this.key = "";
  }
}

/** @param {Scene} scene @param {Numbers} numbers @param {Board} board @returns {number[]} */
export function clientOrder(scene, { clients, shares, metrics }, board) {
  const positions = clients.map((_, i) => i);
  const down = (/** @type {(i: number) => number} */ size) => largestFirst(positions.map(size));
  const shown = metrics[scene.metric];
  if (scene.order === "similarity") return isOrder(board.leaves, clients.length) ? [...board.leaves] : positions;
  if (scene.order === "name")
    return positions.sort((a, b) => clients[a].name.localeCompare(clients[b].name, "en", { numeric: true }));
  if (scene.order === "rows") return down((i) => clients[i].rows);
  if (scene.order === "weight") return down((i) => shares[i]);
  if (!shown || scene.order === "given") return positions;
  if (scene.order === "worst") return down((i) => Math.max(...shown.centres.map((row) => rankLoss(row[i]))));
  const losses = { avg: shown.avgLosses, all: shown.allLosses, worst: shown.worstLosses }[scene.by];
  const winner = lowest(losses);
  return down((i) => rankLoss(shown.centres[winner][i]) - Math.min(...shown.centres.map((row) => rankLoss(row[i]))));
}

/** What is no number comes with the worst. @param {number} loss */
function rankLoss(loss) {
  return Number.isNaN(loss) ? Infinity : loss;
}

/** Before the largest comes what is no number, as is the difference of infinities. @param {number[]} sizes */
function largestFirst(sizes) {
  const order = orderBySize(sizes.map((size) => -size));
  const isUnknown = (/** @type {number} */ i) => Number.isNaN(sizes[i]);
  return [...order.filter(isUnknown), ...order.filter((i) => !isUnknown(i))];
}

/** @param {unknown} leaves @param {number} count @returns {leaves is number[]} */
function isOrder(leaves, count) {
  return Array.isArray(leaves) && leaves.length === count && new Set(leaves).size === count;
}

/**
 * The clusters that are left once the tree is cut where at most so many are, in the order of the leaves.
 * @param {Join[]} tree @param {number[]} leaves @param {number} most @returns {Group[]}
 */
export function cut(tree, leaves, most) {
  const count = leaves.length;
  /** @type {Map<number, number[]>} */
  const clusters = new Map(leaves.map((leaf) => [leaf, [leaf]]));
  for (let j = 0; j < tree.length && clusters.size > most; j++) {
    const [a, b] = tree[j];
    clusters.set(count + j, [...(clusters.get(a) ?? []), ...(clusters.get(b) ?? [])]);
    clusters.delete(a);
    clusters.delete(b);
  }
  const place = placesOf(leaves);
  const groups = [...clusters].map(([id, members]) => ({ id, members: members.sort((a, b) => place[a] - place[b]) }));
  return groups.sort((a, b) => place[a.members[0]] - place[b.members[0]]);
}

/** Where each client stands. @param {number[]} order */
function placesOf(order) {
  const places = new Array(order.length);
  order.forEach((client, place) => (places[client] = place));
  return places;
}

/**
 * The rows: every client, or where they are too many for that the groups of the tree. Who is worst is no part of a mean:
 * it has a row of its own, behind its group. Groups stand where the first of them does.
 * @param {Board} board @param {number[]} order @param {Set<number>} worst clients @param {Set<number>} open groups
 * @returns {Line[]}
 */
export function linesOf(board, order, worst, open) {
  const { tree, leaves } = board;
  if (order.length <= MAX_ROWS || !tree || !isOrder(leaves, order.length))
    return order.map((client) => ({ client, group: -1 }));
  const place = placesOf(order);
  const groups = cut(tree, leaves, MAX_GROUPS).map(({ id, members }) => ({
    id,
    members: members.sort((a, b) => place[a] - place[b]),
  }));
  groups.sort((a, b) => place[a.members[0]] - place[b.members[0]]);
  return groups.flatMap(({ id, members }) => {
    const rest = members.filter((client) => !worst.has(client));
    const apart = members.filter((client) => worst.has(client)).map((client) => ({ client, group: -1 }));
    if (rest.length < 2) return members.map((client) => ({ client, group: -1 }));
    const inside = open.has(id) ? rest.map((client) => ({ client, group: id })) : [];
    return [{ client: /** @type {-1} */ (-1), group: id, members: rest }, ...inside, ...apart];
  });
}
