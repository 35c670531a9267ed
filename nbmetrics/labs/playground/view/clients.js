/**
 * Dot plot of the charted metric: a row for every client, then avg and all, a mark for every generator.
 *
 * @import { Aggregates, Place, Scene } from "../../toolkit/view/types.js"
 * @import { PlaneStore } from "../../plane/view/store.js"
 * @import { Chart } from "./explore.js"
 */
import { calmRange, linear, NumberTable, Plot, resizeChildren, roundStep, ticksOf } from "../../toolkit/view/chart.js";
import { el, setAttributes, setText, svg } from "../../toolkit/view/dom.js";
import { setHue, shapeOfMark } from "../../toolkit/view/marks.js";
import { shortened } from "../../toolkit/view/name_width.js";
import { figure } from "../../toolkit/view/numbers.js";

const DOT_PAD = { left: 96, right: 56, top: 6, bottom: 24 };
const NARROW_PIXELS = 280;
const GAP_ROOM = 20;

export class ClientsView {
  /** @param {PlaneStore} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.signal = signal;
    this.plot = new Plot({ ...DOT_PAD }, { role: "img" });
    this.rows = svg("g");
    this.marks = svg("g", { class: "nbm-dots" });
    this.chosen = svg("g", { class: "nbm-dots nbm-chosen" }, [svg("g"), svg("g")]);
    this.gap = svg("g", { class: "nbm-gapline" }, [svg("path"), svg("text", { "text-anchor": "middle" })]);
    this.plot.root.append(this.rows, this.gap, this.marks, this.chosen);
    this.numbers = new NumberTable("Each client and generator");
    this.absent = el("p", { class: "nbm-empty" });
    this.root = el("div", {}, [this.plot.root, this.absent, this.numbers.root]);
    /** @type {[number, number] | null} */
    this.range = null;
  }

  /** Why there are no numbers. @param {string} label */
  absence(label) {
    const { metric } = this.store.scene.view ?? { metric: "fid" };
    if (this.store.scene.plane && this.store.numbers[metric])
      return `${label} lacks some values; the note under the table gives the reason.`;
    if (this.store.saved) return `${label} needs Python: open the lab in a notebook.`;
    if (this.store.waiting) return `${label} waits for Python.`;
    const { error } = this.store.model.get("result");
    return error ? `Python: ${error.message}` : `Python computes ${label}…`;
  }

  /** @param {Chart} chart */
  paint({ scene, width, g, charted, isFull }) {
    const { numbers, label, isCurrent } = charted;
    this.absent.hidden = numbers !== null;
    this.plot.root.toggleAttribute("hidden", numbers === null);
    this.root.classList.toggle("nbm-behind", !isCurrent);
    setText(this.absent, numbers ? "" : this.absence(label));
    this.numbers.paint(isFull && numbers !== null, () => tableOf(scene, /** @type {Aggregates} */ (numbers)));
    if (!numbers) return;
    const names = [...scene.clients.map((client) => client.name), "avg", "all"];
    const height = names.length <= 8 ? 24 : names.length <= 14 ? 19 : 15;
    this.plot.pad.left = width < NARROW_PIXELS ? 66 : DOT_PAD.left;
    this.plot.resize(width, DOT_PAD.top + names.length * height + GAP_ROOM + DOT_PAD.bottom);
    setAttributes(this.plot.root, { "aria-label": readAloud(scene, g, label, numbers) });
    const at = this.paintAxis(numbers);
    const rowAt = (/** @type {number} */ r) => DOT_PAD.top + (r + 0.5) * height;
    this.paintRows(names, rowAt, height);
    this.paintMarks(numbers, g, at, rowAt);
    this.paintGap(numbers, g, at, rowAt);
  }

  /** @param {Aggregates} numbers */
  paintAxis({ avg, all, byClient }) {
    const values = [...avg, ...all, ...byClient.flat()];
    this.range = calmRange(this.range, Math.min(0, ...values), Math.max(...values));
    const { at } = linear(this.range, this.plot.box.x);
    this.plot.paintX(
      ticksOf(this.range, roundStep(this.range[1] - this.range[0], this.plot.mostTicks)),
      at,
      this.plot.height - 6,
    );
    return at;
  }

  /** @param {string[]} names @param {(r: number) => number} rowAt @param {number} height */
  paintRows(names, rowAt, height) {
    const { hovered, selected } = this.store;
    resizeChildren(this.rows, names.length, (r) => this.makeRow(r)).forEach((row, r) => {
      const isClient = r < names.length - 2;
      const here = (/** @type {Place | null} */ place) => isClient && place?.kind === "clients" && place.index === r;
      setAttributes(row.children[0], { x: 0, y: rowAt(r) - height / 2, width: this.plot.width, height });
      setAttributes(row.children[1], { x1: this.plot.pad.left, x2: this.plot.box.x[1], y1: rowAt(r), y2: rowAt(r) });
      setAttributes(row.children[2], { x: this.plot.pad.left - 10, y: rowAt(r) + 4, "text-anchor": "end" });
      const short = shortened(names[r], this.plot.pad.left - 12);
      setText(row.children[2], short);
      setText(row.children[3], short === names[r] ? "" : names[r]);
      row.classList.toggle("nbm-hovered", here(hovered));
      row.classList.toggle("nbm-selected", here(selected));
      row.classList.toggle("nbm-total", !isClient);
    });
  }

  /** @param {number} index */
  makeRow(index) {
    const row = svg("g", { class: "nbm-row" }, [svg("rect", { rx: 3 }), svg("line"), svg("text"), svg("title")]);
    const place = () =>
      index < this.store.scene.clients.length ? /** @type {Place} */ ({ kind: "clients", index }) : null;
    row.addEventListener("pointerenter", () => this.store.hover(place()), { signal: this.signal });
    row.addEventListener("pointerleave", () => this.store.hover(null), { signal: this.signal });
    row.addEventListener("click", () => place() && this.store.select(place()), { signal: this.signal });
    return row;
  }

  /** @param {Aggregates} numbers @param {number} chosen @param {(value: number) => number} at @param {(r: number) => number} rowAt */
  paintMarks(numbers, chosen, at, rowAt) {
    const { hovered } = this.store;
    resizeChildren(this.marks, numbers.avg.length, () => svg("g")).forEach((group, g) => {
      group.toggleAttribute("hidden", g === chosen);
      group.classList.toggle("nbm-hovered", hovered?.kind === "generators" && hovered.index === g);
      paintColumn(group, g, columnOf(numbers, g), at, rowAt);
    });
    const values = columnOf(numbers, chosen);
    paintColumn(this.chosen.children[0], chosen, values, at, rowAt);
    resizeChildren(this.chosen.children[1], values.length, () => svg("text")).forEach((node, r) => {
      setAttributes(node, { x: this.plot.width - 4, y: rowAt(r) + 4, "text-anchor": "end" });
      setText(node, figure(values[r]));
    });
  }

  /** The gap, drawn from avg down to the row of all. @param {Aggregates} numbers @param {number} g @param {(value: number) => number} at @param {(r: number) => number} rowAt */
  paintGap({ avg, all, byClient }, g, at, rowAt) {
    const last = byClient[g].length + 1;
    const [from, to] = [at(avg[g]), at(all[g])];
    const y = rowAt(last) + 15;
    setAttributes(this.gap.children[0], {
      d: `M${from.toFixed(1)} ${rowAt(last - 1) + 8}V${y}H${to.toFixed(1)}V${rowAt(last) + 8}`,
    });
    const [left, right] = this.plot.box.x;
    setAttributes(this.gap.children[1], { x: Math.min(right - 10, Math.max(left + 24, (from + to) / 2)), y: y + 13 });
    setText(this.gap.children[1], `gap ${figure(avg[g] - all[g])}`);
  }
}

/** The scores of one generator, row by row. @param {Aggregates} numbers @param {number} g */
function columnOf({ avg, all, byClient }, g) {
  return [...byClient[g], avg[g], all[g]];
}

/** @param {Element} group @param {number} g @param {number[]} values @param {(value: number) => number} at @param {(r: number) => number} rowAt */
function paintColumn(group, g, values, at, rowAt) {
  setHue(group, g);
  resizeChildren(group, values.length, () => svg("path")).forEach((node, r) =>
    setAttributes(node, {
      d: shapeOfMark(g),
      transform: `translate(${at(values[r]).toFixed(1)} ${rowAt(r)})`,
    }),
  );
}

/** @param {Scene} scene @param {Aggregates} numbers */
function tableOf(scene, numbers) {
  const columns = scene.generators.map((_, g) => columnOf(numbers, g));
  const names = [...scene.clients.map((client) => client.name), "avg", "all"];
  const gaps = columns.map((column) => figure(column[names.length - 2] - column[names.length - 1]));
  return {
    heads: ["Client", ...scene.generators.map((item) => item.name)],
    rows: [...names.map((name, r) => [name, ...columns.map((column) => figure(column[r]))]), ["gap", ...gaps]],
  };
}

/** @param {Scene} scene @param {number} g @param {string} label @param {Aggregates} numbers */
function readAloud(scene, g, label, { avg, all, byClient }) {
  const clients = scene.clients.map((client, i) => `${client.name} ${figure(byClient[g][i])}`).join(", ");
  return `${label} of ${scene.generators[g].name}: ${clients}; avg ${figure(avg[g])}, all ${figure(all[g])}`;
}
