/**
 * One client's weight: a slider on a track that shows who wins by avg where, a number to type, a hold, and its say.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Decided } from "./decision_inputs.js"
 */
import { resizeChildren } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { shareText } from "../../toolkit/view/numbers.js";
import { slides } from "../../toolkit/view/slider.js";
import { breakpoints } from "./certificate.js";
import { trackWords } from "./decision_inputs.js";
import { inWords } from "./metric_view.js";

const LOCK = "M4 7V5a3 3 0 0 1 6 0v2M3 7h8v5H3z";

/** @typedef {{share: number, say: number, length: number, isHeld: boolean, isFree: boolean, most: number, counts: boolean}} RowState */

export class WeightRow {
  /** @param {Store} store @param {AbortSignal} signal @param {string} name @param {{write: (value: number) => any, hold: () => void, choose: () => void}} does */
  constructor(store, signal, name, { write, hold, choose }) {
    this.name = name;
    this.words = "";
    this.shown = "";
    this.most = 0;
    this.head = el("span", { class: "nbm-weight-name", title: name }, [name]);
    this.input = el("input", { type: "range", min: "0", max: "1", step: "0.01", "aria-label": `${name} weight` });
    this.number = el("input", {
      type: "number",
      min: "0",
      max: "100",
      step: "any",
      "aria-label": `${name} weight in percent`,
    });
    this.lock = el(
      "button",
      {
        type: "button",
        class: "nbm-weight-hold",
        "data-lock": "drag",
        "aria-label": `hold ${name}`,
        title: "hold: it stays when others move",
      },
      [svg("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" }, [svg("path", { d: LOCK })])],
    );
    this.track = el("div", { class: "nbm-weight-track", "aria-hidden": "true" });
    this.say = el("span", { class: "nbm-weight-saybar" });
    this.sayText = el("span", { class: "nbm-weight-saytext" });
    this.root = el("div", { class: "nbm-weight" }, [
      el("div", { class: "nbm-weight-top" }, [
        this.head,
        this.number,
        el("span", { "aria-hidden": "true" }, ["%"]),
        this.lock,
      ]),
      el("div", { class: "nbm-weight-slide" }, [this.track, this.input]),
      el("div", { class: "nbm-weight-say" }, [el("span", { class: "nbm-weight-sayrest" }, [this.say]), this.sayText]),
    ]);
    slides(this.input, store, write, signal);
    this.input.addEventListener("keydown", (event) => this.shortcut(event, hold), { signal });
    this.lock.addEventListener("click", hold, { signal });
    this.head.addEventListener("click", choose, { signal });
    this.number.addEventListener("keydown", (event) => this.key(event), { signal });
    const typed = () => {
      const value = this.number.valueAsNumber / 100;
      this.shown = "";
      if (Number.isFinite(value)) store.edit(write(Math.min(1, Math.max(0, value))));
      else store.changed();
    };
    this.number.addEventListener("change", typed, { signal });
  }

  /** Keys in the number are its own; Escape goes back to the bar. @param {KeyboardEvent} event */
  key(event) {
    if (!(event.ctrlKey || event.metaKey)) event.stopPropagation();
    if (event.key === "Escape") this.input.focus();
  }

  /** With many clients Tab stops at bars alone: Enter goes to the number, and H holds. @param {KeyboardEvent} event @param {() => void} hold */
  shortcut(event, hold) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter") this.number.select();
    else if (event.key.toLowerCase() === "h") hold();
    else return;
    event.preventDefault();
  }

  /** @param {boolean} isMany clients */
  rest(isMany) {
    for (const node of [this.number, this.lock]) node.tabIndex = isMany ? -1 : 0;
    setAttributes(this.input, { "aria-keyshortcuts": "Enter H" });
  }

  get isActive() {
    return this.input === document.activeElement;
  }

  /** @param {RowState} state */
  paint({ share, say, length, isHeld, isFree, most, counts }) {
    if (most !== this.most) {
      this.most = most;
      setAttributes(this.input, { max: most, step: most / 100 });
      this.shown = "";
    }
    this.input.disabled = this.number.disabled = !isFree; // a lock that opens enables them
    const key = `${share} ${say} ${length} ${isHeld} ${isFree} ${counts}`;
    if (key === this.shown) return;
    this.shown = key;
    const text = shareText(share);
    this.input.value = String(share);
    this.number.value = String(Number((100 * share).toFixed(1)));
    setAttributes(this.input, { "aria-valuetext": text });
    setAttributes(this.lock, { "aria-pressed": String(isHeld) });
    this.say.style.width = `${(100 * length).toFixed(1)}%`;
    setText(this.sayText, counts ? `say ${shareText(say)}` : "too few rows to have a say");
  }

  /** @param {string[]} names @param {Decided} decided @param {number[]} shares @param {number} i @param {number[]} held @param {number} most */
  paintTrack(names, { lined, winner }, shares, i, held, most) {
    const parts = breakpoints(lined, shares, i, held);
    this.words = trackWords(parts, names.map(inWords), inWords(this.name), shareText);
    setAttributes(this.input, { "aria-description": this.words });
    const seen = parts.filter(([from]) => from < most);
    resizeChildren(this.track, seen.length, makePart).forEach((node, n) => {
      const [from, to, g] = seen[n];
      const kind = g === winner ? "now" : n % 2 ? "odd" : "even";
      setAttributes(node, {
        "data-kind": kind,
        "data-from": from,
        "data-winner": names[g],
        style: placeMark(from, Math.min(to, most), most),
      });
      setText(node, n === seen.length - 1 && seen.length < parts.length ? `${names[g]} ›` : names[g]); // more beyond
    });
  }
}

function makePart() {
  return el("span");
}

/** @param {number} from @param {number} to @param {number} most */
function placeMark(from, to, most) {
  return `left: ${((100 * from) / most).toFixed(2)}%; width: ${((100 * (to - from)) / most).toFixed(2)}%`;
}
