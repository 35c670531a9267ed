/** Tabs and what is behind them, one at a time: arrows, Home and End go from tab to tab. */
import { el, setAttributes } from "./dom.js";

/**
 * @typedef {object} Choice
 * @property {() => string} now the name of the tab that is chosen
 * @property {(name: string) => void} choose
 * @property {() => string[]} [offered] the names of those that are there now, all if not given
 */

export class Tabs {
  /**
   * @param {string} label @param {Record<string, string>} labels by name @param {Record<string, Node>} contents by name
   * @param {Choice} choice @param {AbortSignal} signal
   */
  constructor(label, labels, contents, choice, signal) {
    this.choice = choice;
    this.names = Object.keys(labels);
    this.tabs = this.names.map((name) => {
      const tab = el("button", { type: "button", role: "tab" }, [labels[name]]);
      tab.addEventListener("click", () => choice.choose(name), { signal });
      tab.addEventListener("keydown", (event) => this.key(event), { signal });
      return tab;
    });
    this.list = el("div", { class: "nbm-tabs", role: "tablist", "aria-label": label }, this.tabs);
    this.panels = this.names.map((name) =>
      el("div", { role: "tabpanel", "aria-label": labels[name] }, [contents[name]]),
    );
  }

  get offered() {
    return this.choice.offered?.() ?? this.names;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { offered } = this;
    const now = offered.indexOf(this.choice.now());
    const last = offered.length - 1;
    /** @type {Record<string, number>} */
    const goes = { ArrowRight: now === last ? 0 : now + 1, ArrowLeft: now > 0 ? now - 1 : last, Home: 0, End: last };
    if (!(event.key in goes)) return;
    event.preventDefault();
    const name = offered[goes[event.key]];
    this.choice.choose(name);
    this.tabs[this.names.indexOf(name)].focus();
  }

  /** Show the chosen tab, or the first where that is not offered. @returns {string} its name */
  paint() {
    const { offered } = this;
    const wanted = this.choice.now();
    const chosen = offered.includes(wanted) ? wanted : offered[0];
    this.names.forEach((name, k) => {
      this.tabs[k].hidden = !offered.includes(name);
      setAttributes(this.tabs[k], { "aria-selected": String(name === chosen), tabindex: name === chosen ? 0 : -1 });
      this.panels[k].hidden = name !== chosen;
    });
    return chosen;
  }
}
