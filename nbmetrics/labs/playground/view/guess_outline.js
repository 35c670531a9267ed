/**
 * The prediction in the plane: the generator as the learner expects it to be best, a faint outline with the flag of the
 * chart on it. It moves with that flag, and stays after Reveal.
 *
 * @import { Item, Point, Scene } from "../../toolkit/view/types.js"
 * @import { Stage } from "../../plane/view/stage.js"
 * @import { PlaneStore } from "../../plane/view/store.js"
 * @import { Lesson } from "./lesson.js"
 */
import { dataOf, distributionsOf } from "../../plane/view/distributions.js";
import { withItem } from "../../plane/view/edits.js";
import { projection, shapeOf } from "../../plane/view/geometry.js";
import { setAttributes, svg } from "../../toolkit/view/dom.js";
import { nameWidth } from "../../toolkit/view/name_width.js";
import { indexNow, lessonOf } from "./lesson.js";
import { PARAMETERS, subjectOf } from "./sweep.js";

const LABEL = "Your guess";
// Pixels, from the foot of the flag.
const FLAG = { high: 24, cloth: 14 };
const TEXT = { x: 18, y: -14 };
const LABEL_FONT_PIXELS = 12;
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
    this.cloth = svg("path");
    this.label = svg("text", { y: TEXT.y }, [LABEL]);
    this.flag = svg("g", { class: "nbm-ghost-flag" }, [this.cloth, this.label]);
    this.root = svg("g", { class: "nbm-ghost", "aria-hidden": "true" }, [this.body, this.flag]);
    stage.controls.before(this.root);
  }

  /** Paint it with the plane, whose names keep clear of the flag. @param {Scene} scene */
  paint(scene) {
    const guessed = guessedItem(lessonOf(this.store.model.get("lessons"), scene), scene);
    this.root.toggleAttribute("hidden", !guessed);
    if (!guessed) return void this.stage.paint(scene);
    const shape = this.shapeOf(scene, guessed.item, guessed.index);
    this.stage.fit(scene);
    const { frame } = this.stage;
    const { at, scale } = projection(frame);
    const [x, y] = at(shape.x, shape.y);
    const foot = footOf(shape, guessed.parameter, scale);
    const wide = nameWidth(LABEL, LABEL_FONT_PIXELS) + TEXT.x;
    const side = x + foot[0] + wide > frame.width ? -1 : 1; // to the left near the right end
    this.stage.paint(
      scene,
      [],
      [{ x: x + foot[0] + (side * wide) / 2, y: y + foot[1] + TEXT.y, wide, high: FLAG.high }],
    );
    this.paintShape(shape, [x, y], foot, scale, side);
  }

  /** @param {Scene} scene @param {Item} item @param {number} index */
  shapeOf(scene, item, index) {
    if (item.kind !== "truncated") return item;
    const changed = withItem(scene, { kind: "generators", index }, item);
    return shapeOf(item, distributionsOf(changed, dataOf(this.store.model)).generators[index]);
  }

  /** @param {Item} shape @param {Point} mean @param {Point} foot of the flag @param {number} scale @param {number} side */
  paintShape(shape, mean, foot, scale, side) {
    const [rx, ry] = [scale * reachOf(shape), scale * shape.height].map((length) => Math.max(length, 1));
    setAttributes(this.root, { transform: `translate(${mean.join(" ")})` });
    setAttributes(this.body, { rx, ry, transform: `rotate(${-shape.angle})` });
    setAttributes(this.flag, { transform: `translate(${foot.map((length) => length.toFixed(1)).join(" ")})` });
    setAttributes(this.cloth, { d: `M0 0V${-FLAG.high}L${side * FLAG.cloth} -19L0 -14` });
    setAttributes(this.label, { x: side * TEXT.x, "text-anchor": side < 0 ? "end" : "start" });
  }
}

/** Half the length along its width. @param {Item} shape */
function reachOf({ kind, width, height }) {
  return kind === "bumps" ? width + height : width;
}

/** Where the flag stands, in pixels from the mean. @param {Item} shape @param {string} parameter @param {number} scale @returns {Point} */
function footOf(shape, parameter, scale) {
  if (OF_MEAN.includes(parameter)) return [0, 0];
  const isAcross = parameter === "height";
  const turn = ((shape.angle + (isAcross ? 90 : 0)) * Math.PI) / 180;
  const reach = scale * (isAcross ? shape.height : reachOf(shape));
  return [reach * Math.cos(turn), -reach * Math.sin(turn)];
}
