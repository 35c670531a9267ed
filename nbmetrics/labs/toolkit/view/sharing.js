/**
 * The menu Share: a link, Python code, a page of its own, a picture. What became of it is told beside the button.
 *
 * A saved page makes all of it itself. In a notebook a link would lead to a server of one's own, so a line of Python is
 * copied instead; the page and the picture are Python's, and where Python does not answer the page draws the picture.
 * Questions to Python are numbered, so that of several displays of a lab the one that asked hears the answer.
 *
 * @import { Store } from "./store.js"
 * @import { Pictured } from "./picture.js"
 */
import { el } from "./dom.js";
import { lockable } from "./locks.js";
import { Menu } from "./menu.js";
import { pictureOf } from "./picture.js";
import { packed } from "./share.js";

let asked = 0;
// Pages of one lab may be in several browsers.
const asker = Math.random().toString(36).slice(2);

/**
 * What Python answers, which may be an error in words; the scene goes along, as the answer is about it.
 * @param {Store} store @param {string} kind "page" or "picture" @param {AbortSignal} signal
 * @returns {Promise<Record<string, any>>} never, where Python never answers
 */
export function answerOf(store, kind, signal) {
  const ticket = `${asker} ${++asked}`;
  const { model } = store;
  return new Promise((resolve) => {
    const stop = () => model.off("msg:custom", hear);
    const hear = (/** @type {any} */ message) => {
      if (message?.ticket !== ticket) return;
      stop();
      resolve(message);
    };
    model.on("msg:custom", hear);
    signal.addEventListener("abort", stop);
    store.send({ kind, ticket, scene: store.scene });
  });
}

/** `answer`, or null if it takes longer than so many milliseconds. @template T @param {Promise<T>} answer @param {number} milliseconds @returns {Promise<T | null>} */
export function within(answer, milliseconds) {
  return Promise.race([answer, new Promise((done) => setTimeout(done, milliseconds, null))]);
}

/**
 * @typedef {object} Shared
 * @property {(scene: any) => string} code Python that rebuilds a scene
 * @property {(text: string) => string} [opening] Python that opens a share string; its class alone by default
 * @property {() => Pictured} picture
 * @property {(menu: ShareMenu) => import("./view_export.js").SaveView} [chooser] of a lab whose views can be saved one by one
 * @property {() => boolean} [isSecret] whether Python's picture would show what the page still hides
 */

// Milliseconds after which it is said what is waited for, and after which Python is busy or unreachable.
const QUICK_ANSWER_MS = 500;
const ANSWER_TIMEOUT_MS = 5000;

export class ShareMenu {
  /** @param {Store} store @param {AbortSignal} signal @param {Shared} shared @param {() => string} title of pictures */
  constructor(store, signal, shared, title) {
    this.store = store;
    this.signal = signal;
    this.shared = shared;
    this.title = title;
    this.menu = new Menu("Share", signal);
    const item = (/** @type {string} */ text, /** @type {() => Promise<void>} */ run) =>
      this.menu.item(text, () => run().catch((error) => this.menu.tell(`That could not be done: ${error.message}`)));
    const code = item("Copy code", () => this.copyCode());
    lockable("code", code);
    this.menu.add(
      item("Copy link", () => this.copyLink()),
      code,
      item("Save page", () => this.savePage()),
      item("Save picture", () => this.savePicture()),
    );
    this.fold = new CopyFold();
    this.chooser = null;
    this.chooser = shared.chooser?.(this) ?? null;
    if (this.chooser) this.menu.add(this.menu.item("Save a view", () => this.chooser?.open()));
  }

  get file() {
    return this.store.lab.toLowerCase();
  }

  /** @param {string} text @param {(scene: any) => string} now the text of a later scene @param {string} name @param {string} done */
  async copy(text, now, name, done) {
    this.fold.show(text, now, name);
    try {
      await navigator.clipboard.writeText(text);
      this.menu.tell(done);
    } catch {
      this.fold.offer();
      this.menu.tell(`Copy the ${name.toLowerCase()} below the picture${name === "Link" ? "" : " into a cell"}.`);
    }
  }

  async copyCode() {
    const { code } = this.shared;
    await this.copy(code(this.store.scene), code, "Code", "Code copied: paste it into a cell.");
  }

  async copyLink() {
    const { store } = this;
    const text = await packed(store.lab, store.scene);
    if (!store.saved) {
      const line = this.shared.opening?.(text) ?? openingCode(this.shared.code(store.scene), text);
      const done = "Python that opens this state copied. For a link: Save page, and Copy link there.";
      return this.copy(line, () => line, "Line", done);
    }
    const { href, protocol } = location;
    const link = `${href.split("#")[0]}#${text}`;
    const isFile = protocol === "file:";
    const done = isFile
      ? "Link copied. It opens this file: send the file along, or put it on the web."
      : "Link copied.";
    await this.copy(link, () => link, "Link", done);
  }

  async savePage() {
    const { menu, store } = this;
    const name = `${this.file}.html`;
    if (store.saved) download(new Blob([store.model.page?.() ?? ""], { type: "text/html" }), name);
    else {
      const asked = answerOf(store, "page", this.signal);
      if (!(await within(asked, ANSWER_TIMEOUT_MS)))
        menu.tell("Python is busy or unreachable: the page comes once it answers.");
      const { error, page } = await asked;
      if (error) return menu.tell(`Python: ${error}`);
      download(new Blob([page], { type: "text/html" }), name);
    }
    menu.tell(`Page saved: ${name}`);
  }

  /** What Python answers, or null where it is busy or unreachable. */
  async pictureOfPython() {
    const asked = answerOf(this.store, "picture", this.signal);
    const soon = await within(asked, QUICK_ANSWER_MS);
    if (soon) return soon;
    this.menu.tell("Python draws the picture …");
    return within(asked, ANSWER_TIMEOUT_MS);
  }

  async savePicture() {
    const { menu, store } = this;
    const name = `${this.file}.png`;
    const isOwn = Boolean(store.saved) || this.shared.isSecret?.();
    const answer = isOwn || store.waiting ? null : await this.pictureOfPython();
    if (answer?.picture) {
      download(bytesOf(answer.picture), name);
      return menu.tell(`Picture saved: ${name}`);
    }
    const root = /** @type {HTMLElement} */ (menu.root.closest(".nbm"));
    download(await pictureOf(root, this.title(), this.shared.picture()), name);
    menu.tell(isOwn ? `Picture saved: ${name}` : `Picture saved as this page shows it, without Python: ${name}`);
  }
}

/** What was copied, below the picture, to look at or to copy by hand. */
class CopyFold {
  constructor() {
    this.name = el("summary");
    this.text = el("textarea", { class: "nbm-verbatim nbm-code", readonly: "", rows: "8", spellcheck: "false" });
    this.root = el("details", { class: "nbm-fold" }, [this.name, this.text]);
    this.root.hidden = true;
    /** @type {(scene: any) => string} */
    this.now = () => "";
  }

  /** @param {string} text @param {(scene: any) => string} now @param {string} name */
  show(text, now, name) {
    this.now = now;
    this.name.textContent = name;
    this.text.setAttribute("aria-label", name);
    this.text.value = text;
    this.root.hidden = false;
  }

  offer() {
    this.root.open = true;
    this.text.select();
  }

  /** @param {any} scene @param {boolean} isLocked */
  paint(scene, isLocked) {
    if (isLocked) this.root.hidden = true;
    if (!this.root.hidden) this.text.value = this.now(scene);
  }
}

/** Python that opens a share string, by the names that a lab's own code has. @param {string} code @param {string} text */
function openingCode(code, text) {
  const imports = code.match(/^(?:import|from) .*$/gm) ?? [];
  const maker = /^lab = ([\w.]+)\(/m.exec(code)?.[1];
  return `${imports.join("\n")}\n\nlab = ${maker}.from_share("${text}")\nlab\n`;
}

/** @param {string} base64 of a PNG */
function bytesOf(base64) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  return new Blob([bytes], { type: "image/png" });
}

/** @param {Blob} content @param {string} name */
export function download(content, name) {
  const link = el("a", { href: URL.createObjectURL(content), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
