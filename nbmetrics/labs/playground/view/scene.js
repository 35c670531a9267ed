/**
 * Twin: labs/playground/scene.py · held by: tests/labs/plane/test_scores_page.py
 *
 * A scene as scene.json declares it, its Python, and why lessons are not shown. No DOM.
 *
 * @import { Scene } from "../../toolkit/view/types.js"
 */
import types from "../../plane/items.json" with { type: "json" };
import { codeOf, declare, filled, firstOf, whyOf, whyRefused } from "../../toolkit/view/schema.js";
import numbers from "../lesson.json" with { type: "json" };
import declaration from "../scene.json" with { type: "json" };

export const declared = declare(declaration, types);

/** Python that rebuilds exactly this scene, its lesson too; rows it was given go by the name `data`. @param {Scene} scene */
export function playgroundCode(scene) {
  const held = [...scene.clients, ...scene.generators].filter(({ kind }) => kind === "data");
  if (scene.lesson && !held.length) {
    const making = `lab = nm.Playground(lesson=${JSON.stringify(scene.lesson.name)})  # or the dict of a lesson of your own`;
    return codeOf(declared, scene, { making }, "lesson_code");
  }
  const names = held.map(({ name }) => `${JSON.stringify(name)}: ...`).join(", ");
  const comment = `# your own rows (n, ${scene.plane?.dim ?? 2}) or distributions`;
  const own = held.length ? `data = {${names}}  ${comment}\n\n` : "";
  return codeOf(declared, scene, { own, projection: projectionCode(scene.plane) });
}

/** The argument of a plane that is not the default. @param {Scene["plane"]} plane */
function projectionCode(plane) {
  if (!plane || plane.kind === "pca") return "";
  if (plane.kind === "lda") return ', plane="lda"';
  const [first, second] = plane.columns.map((name) => (plane.kind === "numbered" ? name : JSON.stringify(name)));
  return `, plane=(${first}, ${second})`;
}

/** Why lessons are not shown, such as those of an exported page that was edited, or "". @param {Record<string, any>} lessons */
export function whyLessonsRefused(lessons) {
  const why = firstOf(
    Object.values(lessons),
    ({ scene, after, solution, predict, check }) =>
      firstOf([scene, after, solution].filter(Boolean), (one) => whyRefused(declared, filled(declared, one))) ||
      firstOf(Object.entries({ ...predict, ...check }), ([name, value]) =>
        Object.hasOwn(numbers, name) ? whyOf(value, /** @type {any} */ (numbers)[name], `lesson.${name}`) : "",
      ),
  );
  return why && `This lab is not shown: ${why}.`;
}
