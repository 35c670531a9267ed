/**
 * A button that opens a menu below it: arrows, Home, End and letters go from item to item, Escape goes back to the
 * button, and a press or a step of Tab elsewhere closes it. Beside the button it tells what became of a choice.
 */
import { el, setAttributes, setText } from "./dom.js";

// How long what was told stays, in milliseconds: long enough to be read twice.
const MESSAGE_SHOWN_MS = 8000;

export class Menu {
  /** @param {string} name @param {AbortSignal} signal @param {() => void} [opening] called before it is shown */
  constructor(name, signal, opening = () => {}) {
    this.signal = signal;
    this.opening = opening;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    const caret = el("span", { class: "nbm-caret", "aria-hidden": "true" }, ["▾"]);
    this.button = el("button", { type: "button", "aria-haspopup": "menu", "aria-expanded": "false" }, [name, caret]);
    this.list = el("div", { class: "nbm-menu-list", role: "menu", "aria-label": name });
    this.list.hidden = true;
    this.told = el("span", { class: "nbm-bubble nbm-told", role: "status" });
    this.told.hidden = true;
    this.root = el("div", { class: "nbm-menu" }, [this.button, this.list, this.told]);
    const options = { signal };
    this.button.addEventListener("click", () => (this.isOpen ? this.close() : this.open()), options);
    this.root.addEventListener("keydown", (event) => this.key(event), options);
    this.root.addEventListener("focusout", (event) => this.left(event.relatedTarget), options);
    const outside = (/** @type {Event} */ event) => event.composedPath().includes(this.root) || this.leave();
    document.addEventListener("pointerdown", outside, { signal, capture: true });
    signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  get isOpen() {
    return !this.list.hidden;
  }

  /** What can be chosen now. */
  get items() {
    const all = /** @type {HTMLElement[]} */ ([...this.list.querySelectorAll("[role=menuitem]")]);
    return all.filter((item) => !item.closest("[hidden]:not([role=menu]), .nbm-locked"));
  }

  /**
   * An item of a menu, to be put into one; it is closed before `run` is called, and the focus is at its button.
   * @param {string} text @param {() => void} run
   */
  item(text, run) {
    const node = el("button", { type: "button", role: "menuitem", tabindex: "-1" }, [text]);
    const choose = () => {
      this.close();
      this.button.focus({ preventScroll: true });
      if (node.getAttribute("aria-disabled") === "true") this.tell(node.title);
      else run();
    };
    node.addEventListener("click", choose, { signal: this.signal });
    return node;
  }

  /** @param {...Node} nodes items, and groups of them */
  add(...nodes) {
    this.list.append(...nodes);
  }

  open() {
    this.opening();
    this.hush();
    this.list.hidden = false;
    setAttributes(this.button, { "aria-expanded": "true" });
    this.fit(this.list);
    this.items[0]?.focus({ preventScroll: true });
  }

  leave() {
    this.close();
    this.hush();
  }

  close() {
    if (!this.isOpen) return;
    this.list.hidden = true;
    setAttributes(this.button, { "aria-expanded": "false" });
  }

  /** What would leave the lab on the right begins further left. @param {HTMLElement} node */
  fit(node) {
    const lab = this.root.closest(".nbm")?.getBoundingClientRect();
    node.style.left = "0";
    if (!lab) return;
    const over = node.getBoundingClientRect().right - (lab.right - 8);
    if (over > 0) node.style.left = `${-Math.ceil(over)}px`;
  }

  /** @param {EventTarget | null} where the focus went */
  left(where) {
    if (where instanceof Node && !this.root.contains(where)) this.close();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (!this.isOpen) {
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      event.preventDefault();
      this.open();
      if (event.key === "ArrowUp") this.items.at(-1)?.focus();
      return;
    }
    if (event.key === "Escape") {
      event.preventDefault();
      this.close();
      return this.button.focus({ preventScroll: true });
    }
    const next = this.after(event.key);
    if (!next) return;
    event.preventDefault();
    next.focus({ preventScroll: true });
  }

  /** The item that a key goes to. @param {string} key */
  after(key) {
    const { items } = this;
    const now = items.indexOf(/** @type {any} */ (document.activeElement));
    if (key === "ArrowDown") return items[(now + 1) % items.length];
    if (key === "ArrowUp") return items.at(now > 0 ? now - 1 : -1);
    if (key === "Home") return items[0];
    if (key === "End") return items.at(-1);
    if (key.length !== 1 || key === " ") return undefined;
    const begins = (/** @type {HTMLElement} */ item) =>
      (item.textContent ?? "").toLowerCase().startsWith(key.toLowerCase());
    return [...items.slice(now + 1), ...items.slice(0, now + 1)].find(begins);
  }

  /** Say beside the button what became of a choice. @param {string} text */
  tell(text) {
    this.hush();
    this.told.hidden = false;
    setText(this.told, text);
    this.fit(this.told);
    this.timer = setTimeout(() => this.hush(), MESSAGE_SHOWN_MS);
  }

  hush() {
    if (this.told.hidden) return;
    clearTimeout(this.timer);
    this.told.hidden = true;
    setText(this.told, "");
  }
}

/** Why an item can do nothing now, which it says when it is chosen; "" if it can. @param {HTMLElement} item @param {string} why */
export function forbid(item, why) {
  setAttributes(item, { title: why });
  if (why) setAttributes(item, { "aria-disabled": "true" });
  else item.removeAttribute("aria-disabled");
}
