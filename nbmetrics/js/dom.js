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
  put(node, attributes);
  node.append(...children);
  return node;
}

/** Set attributes, touching only those that change. @param {Element} node @param {Record<string, string | number>} attributes */
export function put(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    const text = String(value);
    if (node.getAttribute(name) !== text) node.setAttribute(name, text);
  }
}

/** Set the text, touching the page only if it changes. @param {Element} node @param {string} text */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** One paint per animation frame, however often it is asked for. @param {() => void} paint @param {AbortSignal} signal */
export function framed(paint, signal) {
  let due = 0;
  signal.addEventListener("abort", () => cancelAnimationFrame(due));
  return () => {
    due ||= requestAnimationFrame(() => {
      due = 0;
      paint();
    });
  };
}
