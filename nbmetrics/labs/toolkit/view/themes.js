/** Light and dark. */

/** Tell when the page goes dark or light, as a canvas keeps the colours that it was painted with. @param {AbortSignal} signal @param {() => void} tell */
export function watchTheme(signal, tell) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell, { signal });
  const themes = new MutationObserver(tell);
  themes.observe(document.body, { attributes: true });
  signal.addEventListener("abort", () => themes.disconnect());
}
