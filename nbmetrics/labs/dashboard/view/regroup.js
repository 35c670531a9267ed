/**
 * Other clients: choose some, and take them together, leave them out, cut one into its classes or move a class of it.
 * Python does it, and the page goes on with the clients that it then has; undo goes back.
 *
 * @import { Store } from "../../toolkit/view/store.js"
 * @import { Board, ClientFacts } from "./types.js"
 */
import { el, setAttributes, setText } from "../../toolkit/view/dom.js";
import { lockable } from "../../toolkit/view/locks.js";

// Of a name as Python takes it, in letters.
const MAX_NAME_LETTERS = 300;
// Names that stand in the name of the merged client.
const MAX_NAMES_JOINED = 3;

/** Whether two scenes, or a scene and what Python said, are of the same clients. @param {any} a @param {any} b */
export function sameClients(a, b) {
  return JSON.stringify(a?.regroup ?? []) === JSON.stringify(b?.regroup ?? []);
}

/** What merged clients are called unless somebody says. @param {string[]} names */
export function mergedName(names) {
  const rest = names.length - MAX_NAMES_JOINED;
  const said = rest > 1 ? [...names.slice(0, MAX_NAMES_JOINED), `${rest} more`] : names;
  const whole = said.join(" + ");
  return [...whole].length <= MAX_NAME_LETTERS ? whole : `${names.length} clients`;
}

/** Why each can not be done to the chosen clients, "" where it can. @param {ClientFacts[]} chosen @param {ClientFacts[]} clients */
export function whyNot(chosen, clients) {
  const [only] = chosen.length === 1 ? chosen : [];
  const cut = (only?.classes?.length ?? 0) > 1 ? "" : "Choose one client that has two classes or more.";
  const others = clients.some((client) => client !== only && client.classes?.length);
  return {
    merge: chosen.length > 1 ? "" : "Choose two clients or more.",
    drop: chosen.length === clients.length ? "One client must stay." : chosen.length ? "" : "Choose a client.",
    split: cut,
    move: cut || (others ? "" : "No other client has classes."),
  };
}

export class Regroup {
  /** @param {Store} store @param {AbortSignal} signal */
  constructor(store, signal) {
    this.store = store;
    this.signal = signal;
    /** @type {Set<string>} */
    this.chosen = new Set();
    this.shown = "";
    /** Python's last answer when something was asked of it, until it has answered that. @type {any} */
    this.asked = null;
    this.list = el("div", { class: "nbm-regroup-list", role: "group", "aria-label": "Clients to regroup" });
    this.words = el("p", { class: "nbm-note", role: "status" });
    this.name = el("input", { type: "text", class: "nbm-input", "aria-label": "Name of the merged client" });
    setAttributes(this.name, { maxlength: MAX_NAME_LETTERS, "data-lock": "items" });
    this.class = el("select", { "aria-label": "Class to move" });
    this.target = el("select", { "aria-label": "Client that gets the class" });
    this.acts = {
      merge: this.button("Merge", "merge", () => this.name.value.trim() || mergedName([...this.chosen])),
      drop: this.button("Drop", "drop"),
      split: this.button("Split by label", "split"),
      move: this.button("Move", "move", () => this.class.value),
    };
    this.move = el("div", { class: "nbm-regroup-act" }, ["Class", this.class, "to", this.target, this.acts.move]);
    this.fold = el("details", {}, [
      el("summary", {}, ["Merge, drop or split clients"]),
      this.list,
      el("div", { class: "nbm-regroup-act" }, [this.name, this.acts.merge]),
      el("div", { class: "nbm-regroup-act" }, [this.acts.drop, this.acts.split]),
      this.move,
      this.words,
    ]);
    this.root = el("div", { class: "nbm-regroup" }, [this.fold]);
    lockable("items", this.root);
    this.fold.addEventListener("toggle", () => this.paint(), { signal });
    this.list.addEventListener("change", () => this.choose(), { signal });
  }

  /** @returns {Board} */
  get board() {
    return this.store.model.get("board");
  }

  /** @param {string} text @param {"merge" | "drop" | "split" | "move"} what @param {() => string} [nameOf] */
  button(text, what, nameOf = () => "") {
    const node = el("button", { type: "button" }, [text]);
    const act = () => {
      const why = this.why[what];
      if (this.asked) return; // once is enough
      if (why) return setText(this.words, why);
      const clients = [...this.chosen, ...(what === "move" ? [this.target.value] : [])];
      this.ask({ do: what, clients, name: nameOf() }, text);
    };
    node.addEventListener("click", act, { signal: this.signal });
    return node;
  }

  /** @param {any} change see changes.py @param {string} text */
  ask(change, text) {
    const { store } = this;
    store.finish();
    this.asked = store.model.get("result");
    setText(this.words, `${text}: Python is computing …`);
    store.send({ kind: "regroup", change });
  }

  get why() {
    const { clients } = this.board;
    return whyNot(
      clients.filter(({ name }) => this.chosen.has(name)),
      clients,
    );
  }

  choose() {
    const boxes = [...this.list.querySelectorAll("input")];
    const { clients } = this.board;
    this.chosen = new Set(clients.filter((_, i) => boxes[i].checked).map(({ name }) => name));
    this.asked = null;
    setText(this.words, this.chosen.size ? `${this.chosen.size} chosen.` : "");
    this.paintActs();
  }

  paint() {
    const { store, board } = this;
    const isTable = board.metrics?.every(({ pooled }) => pooled === false);
    this.root.hidden = Boolean(store.saved) || store.lost || Boolean(isTable);
    if (this.root.hidden || !this.fold.open || !board.clients) return;
    const shown = JSON.stringify([board.regroup, board.clients.map(({ name }) => name)]);
    if (shown !== this.shown) this.paintClients(shown);
    else this.paintAnswer();
  }

  /** Others than before: none is chosen yet. @param {string} shown */
  paintClients(shown) {
    const { clients } = this.board;
    const isFirst = !this.shown;
    this.shown = shown;
    this.chosen.clear();
    this.name.value = "";
    this.list.replaceChildren(
      ...clients.map(({ name }) => el("label", {}, [el("input", { type: "checkbox" }), el("span", {}, [name])])),
    );
    this.asked = null;
    setText(this.words, isFirst ? "" : `Now ${clients.length === 1 ? "1 client" : `${clients.length} clients`}.`);
    this.paintActs();
  }

  /** What Python refused is said here, too. */
  paintAnswer() {
    const { asked } = this;
    const result = this.store.model.get("result");
    if (!asked || result === asked || !result.error) return;
    this.asked = null;
    setText(this.words, result.error.message);
  }

  paintActs() {
    const { clients } = this.board;
    const why = this.why;
    for (const [what, button] of Object.entries(this.acts)) {
      const said = why[/** @type {keyof typeof why} */ (what)];
      setAttributes(button, { "aria-disabled": said ? "true" : "false", title: said });
    }
    setAttributes(this.name, { placeholder: this.chosen.size > 1 ? mergedName([...this.chosen]) : "Merged client" });
    this.acts.split.hidden = !clients.some(({ classes }) => (classes?.length ?? 0) > 1);
    this.move.hidden = Boolean(why.move);
    if (this.move.hidden) return;
    const giver = clients.find(({ name }) => this.chosen.has(name));
    const takers = clients.filter((client) => client !== giver && client.classes?.length);
    fill(this.class, giver?.classes ?? []);
    fill(
      this.target,
      takers.map(({ name }) => name),
    );
  }
}

/** @param {HTMLSelectElement} select @param {string[]} values */
function fill(select, values) {
  select.replaceChildren(...values.map((value) => el("option", { value }, [value])));
}
