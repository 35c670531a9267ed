/** Save picture: the stage as a PNG, styled as on the page. */

const STYLES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-opacity",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "paint-order",
  "display",
];

/** The stage as a self-contained SVG text. @param {SVGSVGElement} stage @param {string} title */
export function svgText(stage, title) {
  const copy = /** @type {SVGSVGElement} */ (stage.cloneNode(true));
  const [from, to] = [stage.querySelectorAll("*"), copy.querySelectorAll("*")];
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    for (const name of STYLES) to[i].setAttribute(name, style.getPropertyValue(name));
  });
  for (const handle of copy.querySelectorAll(".nbm-width, .nbm-height, .nbm-angle, .nbm-stem")) handle.remove();
  const heading = document.createElementNS("http://www.w3.org/2000/svg", "title");
  heading.textContent = title;
  copy.prepend(heading);
  copy.setAttribute("width", String(stage.clientWidth));
  copy.setAttribute("height", String(stage.clientHeight));
  copy.setAttribute("style", `background: ${getComputedStyle(stage).backgroundColor}`);
  return new XMLSerializer().serializeToString(copy);
}

/** Offer the stage as a PNG of three pixels a point. @param {SVGSVGElement} stage @param {string} title @param {string} name */
export async function savePicture(stage, title, name) {
  const image = new Image();
  const source = URL.createObjectURL(new Blob([svgText(stage, title)], { type: "image/svg+xml" }));
  image.src = source;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 3 * stage.clientWidth;
  canvas.height = 3 * stage.clientHeight;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(source);
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(/** @type {Blob} */ (blob));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
