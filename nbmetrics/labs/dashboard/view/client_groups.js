/**
 * Three groups of clients, the corners of the triangle of weights: by thirds of their order, or the largest branches of
 * the tree of clients that are alike. No DOM.
 *
 * @import { Board, Scene } from "./types.js"
 */

/** The first, second and last third in the order given. @param {number} count */
export function thirds(count) {
  return Array.from({ length: count }, (_, i) => Math.floor((3 * i) / count));
}

/** The three branches that are left when the two highest joins of a tree are cut; null without a tree. @param {Board} board @returns {number[] | null} */
export function branches({ clients, tree, leaves }) {
  const count = clients.length;
  if (!tree || tree.length !== count - 1 || count < 3) return null;
  /** @type {number[][]} members by cluster; those joined last are cut */
  const members = clients.map((_, i) => [i]);
  for (const [left, right] of tree.slice(0, -2)) members.push([...members[left], ...members[right]]);
  /** @type {Set<number>} */
  const joined = new Set();
  for (const [left, right] of tree.slice(0, -2)) joined.add(left).add(right);
  const tops = members.filter((_, at) => !joined.has(at));
  const order = leaves ?? clients.map((_, i) => i);
  tops.sort((a, b) => order.indexOf(a[0]) - order.indexOf(b[0]));
  const groups = Array(count).fill(0);
  tops.forEach((inside, group) => {
    for (const i of inside) groups[i] = group;
  });
  return groups;
}

/** The weights of three groups. @param {number[]} shares @param {number[]} groups */
export function totals(shares, groups) {
  return [0, 1, 2].map((group) => shares.reduce((sum, share, i) => (groups[i] === group ? sum + share : sum), 0));
}

/** Shares with these weights of the groups: within one in proportion, or alike where none has any. @param {number[]} shares @param {number[]} groups @param {number[]} wanted */
export function withTotals(shares, groups, wanted) {
  const now = totals(shares, groups);
  const counts = [0, 1, 2].map((group) => groups.filter((own) => own === group).length);
  return shares.map((share, i) => {
    const group = groups[i];
    return now[group] > 0 ? (share * wanted[group]) / now[group] : wanted[group] / counts[group];
  });
}

/** A group by its first client and the number of others: "north +2". @param {{name: string}[]} clients @param {number[]} groups @param {number} group */
export function nameOf(clients, groups, group) {
  const inside = clients.filter((_, i) => groups[i] === group);
  const more = inside.length > 1 ? ` +${inside.length - 1}` : "";
  return { first: inside[0]?.name ?? "", more };
}

/** The groups of a scene, or thirds where it has none. @param {Scene} scene @param {number} count */
export function groupsOf({ groups }, count) {
  return groups.length === count ? groups : thirds(count);
}
