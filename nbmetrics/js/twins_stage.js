/**
 * The plane of TwinsLab: clients to drag, and the two generators that follow them.
 *
 * @import { Law, Scene } from "./types.js"
 * @import { Pair, TwinsScene } from "./twins_maths.js"
 * @import { Store } from "./store.js"
 */
import { put, say, svg } from "./dom.js";
import { ellipseOf, labelSpots, projection } from "./geometry.js";
import { Stage } from "./stage.js";

/** The mark of each generator, in the plane and in the chart of scores: an open circle that a diamond fits into. */
export const TWIN_MARKS = { first: "M0 -8 A8 8 0 1 1 -0.01 -8 Z", second: "M0 -6 L6 0 L0 6 L-6 0 Z" };
export const TWIN_NAMES = { first: "First", second: "Twin" };

export class TwinsStage extends Stage {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    super(store, signal);
    this.root.classList.add("nbm-twins-stage");
    this.first = new LawView("first");
    this.second = new LawView("second");
    this.other = svg("ellipse", { class: "nbm-twin-other" });
    this.arrow = svg("g", { class: "nbm-twin-arrow" }, [svg("line"), svg("path", { d: "M0 0 L-9 -4.5 L-9 4.5 Z" }), svg("text", {}, ["√u β"])]);
    this.root.insertBefore(
      svg("g", { class: "nbm-twin-pair", "aria-hidden": "true" }, [this.other, this.first.body, this.second.body, this.arrow, this.first.mark, this.second.mark]),
      this.controls,
    );
  }

  /** @param {Scene} scene without generators @param {Pair} pair @param {boolean} isBehind whether the twin is that of earlier clients @param {string} name of the second */
  paintTwins(scene, pair, isBehind, name) {
    super.paint(scene);
    const laws = [pair.first, ...(pair.second ? [pair.second] : [])];
    const generators = laws.map((law, i) => ({ name: i ? name : TWIN_NAMES.first, x: law.x, y: law.y, ...ellipseOf(law) }));
    const spots = labelSpots({ ...scene, generators }, this.size).slice(scene.clients.length);
    const place = projection(scene, this.size);
    this.first.paint(pair.first, place, spots[0], TWIN_NAMES.first);
    this.second.paint(pair.second, place, spots[1], name);
    for (const node of this.second.nodes) node.classList.toggle("nbm-twin-behind", isBehind);
    paintEllipse(this.other, pair.other, place);
    this.paintArrow(pair, place);
  }

  /** @param {Pair} pair @param {ReturnType<typeof projection>} place */
  paintArrow({ first, second, beta, u }, { at, scale }) {
    const reach = scale * Math.sqrt(u);
    this.arrow.classList.toggle("nbm-twin-hidden", !second || !beta || !(reach > 18));
    if (!second || !beta) return;
    const [[x, y], [toX, toY]] = [at(first.x, first.y), at(second.x, second.y)];
    const [dx, dy] = [(toX - x) / reach, (toY - y) / reach];
    const [line, head, label] = this.arrow.children;
    put(line, { x1: x + 8 * dx, y1: y + 8 * dy, x2: toX - 14 * dx, y2: toY - 14 * dy });
    put(head, { transform: `translate(${toX - 8 * dx} ${toY - 8 * dy}) rotate(${(Math.atan2(dy, dx) * 180) / Math.PI})` });
    put(label, { x: x + 0.65 * (toX - x) + 10 * Math.abs(dy) + 2, y: y + 0.65 * (toY - y) + 4 + 12 * Math.abs(dx) });
  }
}

/** One generator in the plane. */
class LawView {
  /** @param {"first" | "second"} which */
  constructor(which) {
    this.outer = svg("ellipse", { class: "nbm-outer" });
    this.inner = svg("ellipse", { class: "nbm-body" });
    this.body = svg("g", { class: `nbm-twin-${which}` }, [this.outer, this.inner]);
    this.sign = svg("path", { class: "nbm-twin-mark", d: TWIN_MARKS[which] });
    this.label = svg("text", { class: "nbm-name", "text-anchor": "middle" });
    this.mark = svg("g", { class: `nbm-twin-${which}` }, [this.sign, this.label]);
    this.nodes = [this.body, this.mark];
  }

  /** @param {Law | null} law @param {ReturnType<typeof projection>} place @param {[number, number]} spot of its name @param {string} name */
  paint(law, place, spot, name) {
    for (const node of this.nodes) node.classList.toggle("nbm-twin-hidden", !law);
    if (!law) return;
    paintEllipse(this.inner, law, place);
    paintEllipse(this.outer, law, place, 2);
    const [x, y] = place.at(law.x, law.y);
    put(this.mark, { transform: `translate(${x} ${y})` });
    put(this.label, { x: spot[0], y: spot[1] });
    say(this.label, name);
  }
}

/** The 1σ ellipse of a law, or that of `sigmas`. @param {SVGEllipseElement} node @param {Law | null} law @param {ReturnType<typeof projection>} place @param {number} [sigmas] */
function paintEllipse(node, law, { at, scale }, sigmas = 1) {
  node.classList.toggle("nbm-twin-hidden", !law);
  if (!law) return;
  const { width, height, angle } = ellipseOf(law);
  const [x, y] = at(law.x, law.y);
  const [rx, ry] = [width, height].map((length) => Math.max(sigmas * scale * length, 1));
  put(node, { rx, ry, transform: `translate(${x} ${y}) rotate(${-angle})` });
}
