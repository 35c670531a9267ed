/**
 * Generators with an ellipse for each client: in the plane a thin line from each ellipse to the client that it is for, and
 * beside it how each generator scores with them, with a button that swaps two clients.
 *
 * @import { Item, Place, Scene } from "../../toolkit/view/types.js"
 * @import { PlaygroundStore } from "./store.js"
 * @import { Stage } from "../../plane/view/stage.js"
 */

import { dataOf, distributionsOf } from "../../plane/view/distributions.js";
import { hasOwners, withSwapped } from "../../plane/view/edits.js";
import { projection } from "../../plane/view/geometry.js";
import { resizeChildren } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { lockable } from "../../toolkit/view/locks.js";
import { markOf, setHue, setMark } from "../../toolkit/view/marks.js";
import { figure } from "../../toolkit/view/numbers.js";
import { lessonOf } from "./lesson.js";
import { drawnOf } from "./metrics.js";

const MEANING =
  "intra: each client against its own ellipse. avg and all: against all ellipses of the generator, each with its client’s weight.";

/** The two ellipses that a button would swap: the chosen one and the next, else the first two. @param {Item[]} parts @param {number | undefined} chosen @returns {[number, number]} */
export function swappedPair(parts, chosen) {
  const first = chosen ?? 0;
  return [first, (first + 1) % parts.length];
}

export class Owners {
  /** @param {PlaygroundStore} store @param {Stage} stage @param {AbortSignal} signal */
  constructor(store, stage, signal) {
    this.store = store;
    this.stage = stage;
    this.signal = signal;
    this.lines = svg("g", { class: "nbm-owner-lines", "aria-hidden": "true" });
    stage.root.insertBefore(this.lines, stage.bodies);
    this.rows = el("div", { class: "nbm-owner-rows" });
    this.root = el("div", { class: "nbm-owners", role: "group", "aria-label": "Owners" }, [
      this.rows,
      el("p", { class: "nbm-note" }, [MEANING]),
    ]);
  }

  /** @param {Scene} scene */
  paint(scene) {
    this.root.hidden = !hasOwners(scene);
    this.paintLines(scene);
    const owned = scene.generators.flatMap((item, index) => (item.parts ? [index] : []));
    resizeChildren(this.rows, owned.length, () => this.makeRow()).forEach((row, k) =>
      this.paintRow(row, scene, owned[k]),
    );
  }

  /** @param {Scene} scene */
  paintLines(scene) {
    const { at } = projection(this.stage.frame);
    const { clients } = distributionsOf(scene, dataOf(this.store.model));
    const ends = scene.generators.flatMap(({ parts = [] }, index) =>
      parts.map((part) => {
        const i = scene.clients.findIndex(({ name }) => name === part.name);
        return { index, from: at(part.x, part.y), to: at(clients[i].x, clients[i].y) };
      }),
    );
    resizeChildren(this.lines, ends.length, () => svg("line")).forEach((line, k) => {
      const { index, from, to } = ends[k];
      setHue(line, index);
      setAttributes(line, { x1: from[0], y1: from[1], x2: to[0], y2: to[1] });
    });
  }

  makeRow() {
    const { store, signal } = this;
    const swap = el("button", { type: "button" });
    const row = el("div", { class: "nbm-owner-row" }, [
      markOf(0),
      el("b"),
      el("span", { class: "nbm-owner-scores" }),
      swap,
    ]);
    const index = () => Number(row.getAttribute("data-index"));
    swap.addEventListener("click", () => this.swap(index()), { signal });
    row.addEventListener("pointerenter", () => store.hover({ kind: "generators", index: index() }), { signal });
    row.addEventListener("pointerleave", () => store.hover(null), { signal });
    lockable("drag", swap);
    return row;
  }

  /** @param {Element} row @param {Scene} scene @param {number} index */
  paintRow(row, scene, index) {
    const { name, parts = [] } = scene.generators[index];
    const [mark, heading, scores, swap] = row.children;
    setAttributes(row, { "data-index": index });
    setHue(row, index);
    setMark(mark, index);
    setText(heading, name);
    setText(scores, this.scoresOf(index));
    scores.classList.toggle("nbm-behind", !drawnOf(this.store).isCurrent);
    const names = this.pairOf(scene, index).map((k) => parts[k].name);
    const order = scene.clients.map((client) => client.name);
    names.sort((a, b) => order.indexOf(a) - order.indexOf(b)); // a swap leaves the words as they are
    setText(swap, `Swap ${names.join(" and ")}`);
    setAttributes(swap, { title: `What ${name} has for ${names[0]} is for ${names[1]} then, and the other way round` });
    swap.toggleAttribute("hidden", parts.length < 2 || this.isAsked(scene));
  }

  /** Such as "FID intra 0.250, avg 5.778, all 0.250". @param {number} index */
  scoresOf(index) {
    const { numbers, label } = drawnOf(this.store);
    if (!numbers?.intra) return "";
    return `${label} intra ${figure(numbers.intra[index])}, avg ${figure(numbers.avg[index])}, all ${figure(numbers.all[index])}`;
  }

  /** Whether a lesson asks what a swap does. @param {Scene} scene */
  isAsked(scene) {
    const predict = lessonOf(this.store.model.get("lessons"), scene)?.predict;
    return this.store.isAsked && predict?.aggregate === "intra";
  }

  /** @param {Scene} scene @param {number} index @returns {[number, number]} */
  pairOf(scene, index) {
    const { selected } = this.store;
    const isHere = selected?.kind === "generators" && selected.index === index;
    return swappedPair(scene.generators[index].parts ?? [], isHere ? selected.part : undefined);
  }

  /** @param {number} index */
  swap(index) {
    const { store } = this;
    const before = this.scoresOf(index);
    store.edit(withSwapped(store.scene, index, this.pairOf(store.scene, index)), "drag");
    if (!drawnOf(store).isCurrent) return; // Python answers later
    store.say(`${store.scene.generators[index].name}: ${before} before; ${this.scoresOf(index)} now.`);
  }
}
