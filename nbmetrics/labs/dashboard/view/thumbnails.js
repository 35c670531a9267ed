/**
 * Some pictures of each generator below its name, and in the head of the column some of the clients: drawn at random, by
 * Python, once the first numbers are there.
 *
 * @typedef {{picture: string, count: number, of: number, side: number}} Strip  a data URL; `side` in its own pixels
 * @typedef {{generators?: Record<string, Strip>, clients?: Strip}} Strips  see pictures.py
 */
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";

// Pictures of fewer pixels a side show them as squares, larger ones are smoothed.
const MAX_PIXELS_AS_SQUARES = 20;
const NOTE =
  "Pictures: drawn at random, not the best, from the same places in every generator’s images. Point at some to see them larger.";

/** @type {WeakMap<Element, Strip>} */
const shown = new WeakMap();

/** As the last of what is in `parent`, where there is one. @param {Element} parent @param {Strip | undefined} strip @param {string} whose */
export function paintStrip(parent, strip, whose) {
  const last = parent.lastElementChild;
  const image = last instanceof HTMLImageElement ? last : null;
  if (!strip) return image?.remove();
  const { picture, count, of, side } = strip;
  const node = image ?? el("img", { class: "nbm-dashboard-strip" });
  if (!image) parent.append(node);
  if (shown.get(node) === strip) return;
  shown.set(node, strip);
  const alt = `${count} of ${of.toLocaleString("en")} images of ${whose}, drawn at random`;
  setAttributes(node, { alt, src: picture, width: count * (side + 1) - 1, height: side });
  node.classList.toggle("nbm-dashboard-squares", side < MAX_PIXELS_AS_SQUARES);
}

/** In the head, the pictures of the clients. */
export class ClientStrip {
  constructor() {
    this.root = el("span", { class: "nbm-dashboard-clients", hidden: "" }, ["clients’ data"]);
    this.note = el("p", { class: "nbm-note nbm-dashboard-strips", hidden: "" });
  }

  /** @param {Strips} strips */
  paint({ generators = {}, clients }) {
    this.root.hidden = !clients;
    paintStrip(this.root, clients, "the clients");
    this.note.hidden = !Object.keys(generators).length;
    setText(this.note, this.note.hidden ? "" : NOTE);
  }
}
