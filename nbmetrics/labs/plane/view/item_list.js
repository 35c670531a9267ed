/**
 * The list of clients and generators: names, weights and, in table view, every number of the picture.
 *
 * @import { Item, Kind, Place, Scene } from "../../toolkit/view/types.js"
 * @import { PlaneStore } from "./store.js"
 */
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { lockable } from "../../toolkit/view/locks.js";
import { markOf } from "../../toolkit/view/marks.js";
import { typed } from "../../toolkit/view/numbers.js";
import { setValue } from "../../toolkit/view/typed_fields.js";
import types from "../items.json" with { type: "json" };
import { sharesOf } from "./distributions.js";
import { itemAt, whyNameRefused, withItem, withName, withSwapped } from "./edits.js";
import { stepIn } from "./geometry.js";

const NUMBERS = /** @type {const} */ (["x", "y", "width", "height", "angle"]);
/** @typedef {typeof NUMBERS[number] | "weight" | "psi" | "count"} Field */
/** @type {Partial<Record<Field, string>>} what a reader is told the field is, where its name is not enough */
const SPOKEN = { psi: "ψ", count: "points" };

const WEIGHT = "How much a client counts: its weight divided by the sum of all weights";

export class Panel {
  /** @param {PlaneStore} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.signal = signal;
    this.body = el("tbody");
    const heads = ["Name", "Weight", ...NUMBERS].map((head, i) =>
      el("th", { scope: "col", class: i > 1 ? "nbm-number" : "", title: i === 1 ? WEIGHT : "" }, [head]),
    );
    this.table = el("table", { class: "nbm-items", "aria-label": "Clients and generators" }, [
      el("thead", {}, [el("tr", {}, heads)]),
      this.body,
    ]);
    this.root = el("div", { class: "nbm-panel nbm-scroll" }, [this.table]);
    /** @type {Row[]} */
    this.rows = [];
  }

  /** @param {boolean} shown */
  showNumbers(shown) {
    this.table.classList.toggle("nbm-full", shown);
  }

  /** @param {Scene} scene */
  paint(scene) {
    const kinds = /** @type {Kind[]} */ (["clients", "generators"]);
    const places = kinds.flatMap((kind) => scene[kind].flatMap((item, index) => rowsOf({ kind, index }, item)));
    while (this.rows.length > places.length) this.rows.pop()?.node.remove();
    places.forEach((place, i) => {
      const key = rowKey(scene, place);
      if (this.rows[i]?.key === key) return;
      const row = new Row(this.store, this.signal, place, key);
      if (this.rows[i]) this.rows[i].node.replaceWith(row.node);
      else this.body.append(row.node);
      this.rows[i] = row;
    });
    const shares = sharesOf(scene.clients);
    this.rows.forEach((row, i) => row.paint(scene, places[i], shares[i]));
  }
}

/** A row for an item, and one for each of its parts. @param {Place} place @param {Item} item @returns {Place[]} */
function rowsOf(place, { parts = [] }) {
  return [place, ...parts.map((_, part) => ({ ...place, part }))];
}

/** Rows are made anew where an item is of another kind, or a generator has another mark. @param {Scene} scene @param {Place} place */
function rowKey(scene, place) {
  const mark = place.kind === "generators" ? place.index : "";
  return `${place.kind} ${mark} ${itemAt(scene, place).kind ?? ""} ${place.part ?? ""}`;
}

class Row {
  /** @param {PlaneStore} store @param {AbortSignal} signal @param {Place} place @param {string} key */
  constructor(store, signal, place, key) {
    this.store = store;
    this.signal = signal;
    this.place = place;
    this.key = key;
    /** @type {unknown[]} what the last paint showed */
    this.painted = [];
    this.name = el("input", { type: "text", class: "nbm-input", maxlength: "80", spellcheck: "false" });
    const kind = this.item.kind;
    /** @type {Field | null} the number in the second column */
    this.main =
      place.kind === "clients" ? "weight" : kind === "truncated" ? "psi" : kind === "copycat" ? "count" : null;
    this.mainInput =
      this.main &&
      this.numberInput(this.main, this.main === "count" ? { min: "2", step: "1" } : { min: "0", step: "0.1" });
    this.share = el("span", { class: "nbm-share" });
    this.source = kind === "copycat" ? this.clientSelect((of) => this.withItem({ ...this.item, of })) : null;
    this.owner = place.part === undefined ? null : this.clientSelect((name) => this.withOwner(name));
    this.numbers = NUMBERS.map((field) => {
      /** @type {Record<string, string>} */
      const lower = field === "width" || field === "height" ? { min: "0" } : {};
      return this.numberInput(field, lower);
    });
    for (const input of this.numbers) input.hidden = ["truncated", "copycat", "by_client"].includes(kind ?? "");
    for (const input of this.numbers) input.readOnly = kind === "data";
    const swatch =
      place.kind === "generators" ? markOf(place.index) : el("span", { class: "nbm-swatch", "aria-hidden": "true" });
    this.node = el("tr", { class: `nbm-${place.kind}` }, [
      el("td", {}, [
        el("span", { class: "nbm-named" }, this.owner ? [swatch, "for", this.owner] : [swatch, this.name]),
      ]),
      el(
        "td",
        {},
        this.mainInput
          ? [el("span", { class: "nbm-named" }, [this.mainInput, this.share, ...(this.source ? [this.source] : [])])]
          : [],
      ),
      ...this.numbers.map((input) => el("td", { class: "nbm-number" }, [input])),
    ]);
    this.listenName();
    this.node.addEventListener("focusin", () => this.store.select(this.place), { signal });
    this.node.addEventListener("click", () => this.store.select(this.place), { signal });
    this.node.addEventListener("pointerenter", () => this.store.hover(this.place), { signal });
    this.node.addEventListener("pointerleave", () => this.store.hover(null), { signal });
  }

  get item() {
    return itemAt(this.store.scene, this.place);
  }

  /** @param {Item} item */
  withItem(item) {
    return withItem(this.store.scene, this.place, item);
  }

  /** The scene in which this part is for a client, and what was for that client for the one that this was for. @param {string} name */
  withOwner(name) {
    const { scene } = this.store;
    const { index, part = 0 } = this.place;
    const other = scene.generators[index].parts?.findIndex((own) => own.name === name) ?? part;
    return withSwapped(scene, index, [part, other]);
  }

  listenName() {
    const { name, store, signal } = this;
    name.addEventListener(
      "change",
      () => {
        const bar = whyNameRefused(store.scene, name.value, this.item.name);
        const next = name.value.trim();
        if (!bar && next !== this.item.name) store.edit(withName(store.scene, this.place, next));
        name.value = this.item.name;
        store.say(bar);
      },
      { signal },
    );
  }

  /** Whom a copycat copies, or a part is for. @param {(client: string) => Scene} change */
  clientSelect(change) {
    const select = el("select", { class: "nbm-source" });
    lockable("drag", select);
    select.addEventListener("change", () => this.store.edit(change(select.value)), { signal: this.signal });
    return select;
  }

  /** @param {Field} field @param {Record<string, string>} limits */
  numberInput(field, limits) {
    const { number, whole } = /** @type {any} */ (types)[field];
    const [least, most] = number ?? whole;
    const input = el("input", { type: "number", class: "nbm-input", max: String(most), ...limits });
    const { store, signal } = this;
    const read = () => {
      const value = input.valueAsNumber;
      const next = { ...this.item, [field]: value };
      const others = store.scene.clients.some((c, i) => i !== this.place.index && (c.weight ?? 0) > 0);
      const isBad = !(value >= least && value <= most) || (field === "count" && value % 1 !== 0);
      const isEmpty = field === "weight" && value === 0 && !others;
      input.classList.toggle("nbm-bad", isBad || isEmpty);
      input.setAttribute("aria-invalid", String(isBad || isEmpty));
      return isBad || isEmpty ? null : this.withItem(next);
    };
    input.addEventListener(
      "input",
      () => {
        const scene = read();
        if (scene) store.preview(scene);
      },
      { signal },
    );
    input.addEventListener(
      "change",
      () => {
        const bad = !read();
        store.finish();
        if (!bad) return;
        input.value = String(typed(this.item[field] ?? 0));
        read();
        const range = `${field === "count" ? "a whole number" : "a number"} from ${String(least).replace("-", "−")} to ${most}`;
        store.say(
          `${this.item.name} ${SPOKEN[field] ?? field}: ${range} is needed${field === "weight" ? ", not all weights 0" : ""}`,
        );
      },
      { signal },
    );
    return input;
  }

  /** @param {Scene} scene @param {Place} place @param {number} share */
  paint(scene, place, share) {
    this.place = place;
    const item = this.item;
    const [isSelected, isHovered] = [this.store.selected, this.store.hovered].map(
      (other) => other?.kind === place.kind && other.index === place.index && other.part === place.part,
    );
    const seen = [item, share, isSelected, isHovered, (this.source || this.owner) && scene.clients];
    if (seen.every((value, i) => value === this.painted[i])) return;
    this.painted = seen;
    this.node.classList.toggle("nbm-selected", isSelected);
    this.node.classList.toggle("nbm-hovered", isHovered);
    setAttributes(this.name, { "aria-label": `${item.name} name` });
    setValue(this.name, item.name);
    if (this.main && this.mainInput) this.paintNumber(this.mainInput, this.main, item);
    const percent = `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
    setText(
      this.share,
      this.main === "weight" ? percent : this.main === "psi" ? "ψ" : this.main === "count" ? "points of" : "",
    );
    if (this.source) this.paintSource(this.source, scene, "copies", item.of);
    const own = place.part === undefined ? undefined : scene.generators[place.index].parts?.[place.part];
    if (this.owner) this.paintSource(this.owner, scene, "owner", own?.name);
    NUMBERS.forEach((field, i) => {
      setAttributes(this.numbers[i], { step: field === "angle" ? 1 : stepIn(scene.half) });
      this.paintNumber(this.numbers[i], field, item);
    });
  }

  /** @param {HTMLSelectElement} select @param {Scene} scene @param {string} what @param {string} [chosen] */
  paintSource(select, scene, what, chosen = "") {
    const names = scene.clients.map((client) => client.name);
    if (names.join("\n") !== [...select.options].map((option) => option.value).join("\n")) {
      select.replaceChildren(...names.map((value) => el("option", { value }, [value])));
    }
    setAttributes(select, { "aria-label": `${this.item.name} ${what}` });
    if (select.value !== chosen) select.value = chosen;
  }

  /** @param {HTMLInputElement} input @param {Field} field @param {Item} item */
  paintNumber(input, field, item) {
    setAttributes(input, { "aria-label": `${item.name} ${SPOKEN[field] ?? field}` });
    setValue(input, String(typed(item[field] ?? 0)));
  }
}
