/**
 * The prediction in the plane: the generator as the learner expects it to be best, a faint outline with the flag of the
 * chart on it. It moves with that flag, and stays after Reveal.
 *
 * @import { Item, Scene } from "../../toolkit/view/types.js"
 * @import { Label } from "../../plane/view/geometry.js"
 * @import { Stage } from "../../plane/view/stage.js"
 * @import { PlaneStore } from "../../plane/view/store.js"
 * @import { Lesson } from "./lesson.js"
 */
import { withItem } from "../../plane/view/edits.js";
import { projection, shapeOf } from "../../plane/view/geometry.js";
import { dataOf, lawsOf } from "../../plane/view/laws.js";
import { setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { indexNow, lessonOf } from "./lesson.js";
import { PARAMETERS, subjectOf } from "./sweep.js";

const LABEL = "Your guess";
const FLAG = "M0 0V-24L14 -19L0 -14";
// What moves the mean: the flag stands on it, and else on the edge that the parameter moves.
const OF_MEAN = ["x", "y"];

/**
 * The generator that a lesson asks about, as it would be at the learner's guess; null where nothing is guessed.
 * @param {Lesson | null} lesson @param {Scene} scene @returns {{item: Item, index: number, parameter: string} | null}
 */
export function guessedItem(lesson, scene) {
  const { sweep, generator } = lesson?.predict ?? {};
  const guess = scene.lesson?.guess ?? null;
  if (!sweep || guess === null) return null;
  const index = indexNow(scene, /** @type {string} */ (generator));
  if (index < 0) return null;
  const { parameter, item } = subjectOf(
    { ...scene, view: { metric: "", panel: "", aligned: false, ...scene.view, sweep } },
    index,
    0,
  );
  return parameter === sweep ? { item: PARAMETERS[sweep].set(item, guess), index, parameter } : null;
}

export class Ghost {
  /** @param {Stage} stage @param {PlaneStore} store */
  constructor(stage, store) {
    this.store = store;
    this.stage = stage;
    this.body = svg("ellipse");
    this.flag = svg("path", { class: "nbm-ghost-flag", d: FLAG });
    this.label = svg("text", { class: "nbm-name", "text-anchor": "middle" });
    this.root = svg("g", { class: "nbm-ghost", "aria-hidden": "true" }, [this.body, this.flag, this.label]);
    stage.controls.before(this.root);
  }

  /** Paint it with the plane, so that no name is written over another. @param {Scene} scene */
  paint(scene) {
    const found = guessedItem(lessonOf(this.store.model.get("lessons"), scene), scene);
    this.root.toggleAttribute("hidden", !found);
    if (!found) return void this.stage.paint(scene);
    const shape = this.shapeOf(scene, found.item, found.index);
    const [label] = this.stage.paint(scene, [{ ...shape, name: LABEL }]);
    this.paintShape(scene, shape, found.parameter, label);
  }

  /** @param {Scene} scene @param {Item} item @param {number} index */
  shapeOf(scene, item, index) {
    if (item.kind !== "truncated") return item;
    const changed = withItem(scene, { kind: "generators", index }, item);
    return shapeOf(item, lawsOf(changed, dataOf(this.store.model)).generators[index]);
  }

  /** @param {Scene} scene @param {Item} shape @param {string} parameter @param {Label} label */
  paintShape(scene, shape, parameter, label) {
    const { at, scale } = projection(scene, this.stage.size);
    const [x, y] = at(shape.x, shape.y);
    const { kind, width, height, angle } = shape;
    const rx = scale * (kind === "bumps" ? width + height : width);
    setAttributes(this.root, { transform: `translate(${x} ${y})` });
    setAttributes(this.body, { rx: Math.max(rx, 1), ry: Math.max(scale * height, 1), transform: `rotate(${-angle})` });
    const turn = ((angle + (parameter === "height" ? 90 : 0)) * Math.PI) / 180;
    const reach = OF_MEAN.includes(parameter) ? 0 : parameter === "height" ? scale * height : rx;
    setAttributes(this.flag, {
      transform: `translate(${(reach * Math.cos(turn)).toFixed(1)} ${(-reach * Math.sin(turn)).toFixed(1)})`,
    });
    setAttributes(this.label, { x: label.x, y: label.y });
    setText(this.label, label.text);
  }
}
