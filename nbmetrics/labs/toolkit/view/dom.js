/** Making elements. User text only ever becomes text nodes and attributes. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {Record<string, string>} [attributes] @param {(Node | string)[]} [children]
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, attributes = {}, children = []) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/**
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag @param {Record<string, string | number>} [attributes] @param {(Node | string)[]} [children]
 * @returns {SVGElementTagNameMap[K]}
 */
export function svg(tag, attributes = {}, children = []) {
  const node = document.createElementNS(SVG, tag);
  setAttributes(node, attributes);
  node.append(...children);
  return node;
}

/** Set attributes, touching only those that change. @param {Element} node @param {Record<string, string | number>} attributes */
export function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    const text = String(value);
    if (node.getAttribute(name) !== text) node.setAttribute(name, text);
  }
}

/**
 * Set the text, touching the page only if it changes. A text node that is there is kept: another in its place would cost
 * the page's style rules a look at all of its relatives.
 * @param {Element} node @param {string} text
 */
export function setText(node, text) {
  const only = node.firstChild;
  if (only instanceof Text && !only.nextSibling) {
    if (only.data !== text) only.data = text;
  } else if (node.textContent !== text) node.textContent = text;
}

/**
 * What scrolls sideways where there is no room for it, and is a stop of Tab there, for who scrolls by keys.
 * @param {string} label @param {Element} child @param {AbortSignal} signal
 */
export function scroller(label, child, signal) {
  const node = el("div", { class: "nbm-scroll" }, [child]);
  const fit = () => {
    if (node.scrollWidth > node.clientWidth) setAttributes(node, { tabindex: 0, role: "region", "aria-label": label });
    else for (const name of ["tabindex", "role", "aria-label"]) node.removeAttribute(name);
  };
  for (const part of [node, child]) watchSize(part, signal, fit);
  return node;
}

/** Tell of the size of what is in a node, now and when it changes, so that painting reads no layout. @param {Element} node @param {AbortSignal} signal @param {(size: DOMRectReadOnly) => void} tell */
export function watchSize(node, signal, tell) {
  const watch = new ResizeObserver(([{ contentRect }]) => tell(contentRect));
  watch.observe(node);
  signal.addEventListener("abort", () => watch.disconnect());
}

/** A text takes the most room that it had at this width. @param {HTMLElement} node @param {AbortSignal} signal */
export function keepRoom(node, signal) {
  let [wide, high] = [0, 0];
  watchSize(node, signal, ({ width, height }) => {
    const isOther = wide > 0 && width !== wide; // where it may need less, which is seen once it is let go
    if (!isOther && height <= high) return;
    [wide, high] = [width, isOther ? 0 : height];
    node.style.minHeight = isOther ? "" : `${height}px`;
  });
}

/** One paint per animation frame, however often it is asked for. @param {() => void} paint @param {AbortSignal} signal */
export function oncePerFrame(paint, signal) {
  let due = 0;
  signal.addEventListener("abort", () => cancelAnimationFrame(due));
  return () => {
    due ||= requestAnimationFrame(() => {
      due = 0;
      paint();
    });
  };
}

/** Paint, and where what had the focus goes away or closes, give it to what `next` finds. @param {Element} root @param {() => void} paint @param {() => HTMLElement} next */
export function keepingFocus(root, paint, next) {
  const before = root.contains(document.activeElement) ? document.activeElement : null;
  paint();
  if (before?.closest("[hidden], :disabled")) next().focus({ preventScroll: true });
}
