/**
 * A drawing that fills its place, in pixels: letters keep their size when it gets narrow. Its size is told by the
 * browser, so that painting never has to ask for it.
 *
 * @import { Point } from "../../toolkit/view/types.js"
 * @import { Store } from "../../toolkit/view/store.js"
 */
import { setAttributes, svg, watchSize } from "../../toolkit/view/dom.js";

export class Sheet {
  /**
   * @param {Store} store @param {AbortSignal} signal
   * @param {string} name its class @param {(width: number) => number} heightOf
   */
  constructor(store, signal, name, heightOf) {
    this.width = 420;
    this.height = heightOf(this.width);
    this.root = svg("svg", { class: `nbm-pair-sheet ${name}`, role: "presentation" });
    this.fit();
    watchSize(this.root, signal, ({ width }) => {
      if (!width || width === this.width) return;
      this.width = width;
      this.height = heightOf(width);
      this.fit();
      store.changed();
    });
  }

  fit() {
    setAttributes(this.root, { viewBox: `0 0 ${this.width} ${this.height}`, height: this.height });
  }
}

/** The `d` of a line through points. @param {Point[]} points */
export function lineThrough(points) {
  return `M${points.map(([x, y]) => `${x.toFixed(2)} ${y.toFixed(2)}`).join("L")}`;
}
