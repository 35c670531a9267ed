/** A front end of the widget protocol: models and their views in a page that has nothing else. Twin: plain.py. */
const models = new Map();
window.__models = models;
const socket = new WebSocket(`ws://${location.host}/socket`);
const say = (message) => socket.send(JSON.stringify(message));

/** Jupyter's own model of a lab's layout, which knows whether Python has its other half. */
const layout = {
  comm_live: true,
  calls: new Set(),
  on: (_event, call) => layout.calls.add(call),
  off: (_event, call) => layout.calls.delete(call),
};
window.__lose = () => {
  layout.comm_live = false;
  for (const call of [...layout.calls]) call();
};

class Model {
  constructor(id, state) {
    Object.assign(this, { id, state, listeners: new Map(), unsaved: {}, unsent: {}, isOpen: false });
    this.end = new AbortController();
    this.widget = this.load();
  }

  async load() {
    const style = document.createElement("style");
    style.textContent = this.state._css;
    document.head.append(style);
    this.end.signal.addEventListener("abort", () => style.remove());
    const url = URL.createObjectURL(new Blob([this.state._esm], { type: "text/javascript" }));
    const definition = (await import(url)).default;
    const widget = typeof definition === "function" ? await definition() : definition;
    await this.call((given) => widget.initialize?.({ model: this, ...given }));
    return widget;
  }

  /** Give a signal; where `__old` is set none, as anywidget before 0.11, and call at the end what comes back. */
  async call(part) {
    const { signal } = this.end;
    const end = await part(window.__old ? {} : { signal });
    if (end) signal.addEventListener("abort", end);
  }

  async show() {
    const el = document.createElement("div");
    document.getElementsByTagName("main")[0].append(el);
    this.end.signal.addEventListener("abort", () => el.remove());
    const widget = await this.widget;
    await this.call((given) => widget.render({ model: this, el, ...given }));
  }

  get(name) {
    return name === "layout" ? layout : this.state[name];
  }

  set(name, value) {
    if (!this.put({ [name]: value })) return;
    this.unsaved[name] = value;
  }

  /** All of them are there before anybody hears of one. */
  put(values) {
    const changed = Object.keys(values).filter((name) => JSON.stringify(this.state[name]) !== JSON.stringify(values[name]));
    Object.assign(this.state, values);
    for (const name of changed) for (const call of [...(this.listeners.get(`change:${name}`) ?? [])]) call();
    return changed.length;
  }

  /** As in Jupyter, what Python took is told back, and is old news of what was written since. */
  echo(values) {
    this.put(Object.fromEntries(Object.entries(values).filter(([name]) => !(name in this.unsent))));
  }

  hear(content) {
    for (const call of [...(this.listeners.get("msg:custom") ?? [])]) call(content);
  }

  on(event, call) {
    this.listeners.set(event, (this.listeners.get(event) ?? new Set()).add(call));
  }

  off(event, call) {
    this.listeners.get(event)?.delete(call);
  }

  /** As in Jupyter, what is written while Python has not taken the last of it waits, and goes together. */
  save_changes() {
    Object.assign(this.unsent, this.unsaved);
    this.unsaved = {};
    if (this.isOpen || !Object.keys(this.unsent).length) return;
    this.isOpen = true;
    say({ kind: "message", id: this.id, data: { method: "update", state: this.unsent, buffer_paths: [] } });
    this.unsent = {};
  }

  taken() {
    this.isOpen = false;
    this.save_changes();
  }

  send(content) {
    say({ kind: "message", id: this.id, data: { method: "custom", content } });
  }
}

const heard = {
  comm_open: ({ id, data }) => data.state._esm && models.set(id, new Model(id, data.state)),
  comm_msg: ({ id, data: { method, state, content } }) => {
    const model = models.get(id);
    if (method === "custom") model?.hear(content);
    else if (method === "echo_update") model?.echo(state);
    else model?.put(state);
  },
  comm_close: ({ id }) => {
    models.get(id)?.end.abort();
    models.delete(id);
  },
  display: ({ id }) => models.get(id).show(),
  taken: ({ id }) => models.get(id)?.taken(),
  settled: () => window.__settled(),
};
socket.onmessage = ({ data }) => {
  const message = JSON.parse(data);
  heard[message.kind](message);
};
window.__open = new Promise((done) => {
  socket.onopen = done;
});
const answered = () =>
  new Promise((done) => {
    window.__settled = done;
    say({ kind: "settle" });
  });
/** Until Python has heard all that was said before, and the page all that Python said before it heard that. */
window.__settle = async () => {
  do await answered();
  while ([...models.values()].some(({ isOpen }) => isOpen));
};
