/**
 * The fitted mixture as shading: each generated point is a bump with its own standard deviations along both axes, so a
 * bump on a grid is the product of two lists, and the whole picture takes a millisecond or two. No DOM.
 *
 * A collapsed bump is narrower than a cell: it keeps its mass there, as a dot, instead of falling between the cells.
 */

const REACH = 3;
const NARROWEST = 0.6;

/**
 * @param {Float64Array} points x and y in turn @param {Float64Array} sigma likewise
 * @param {{left: number, top: number, cell: number, columns: number, rows: number}} grid  y falls from the top
 * @param {Float32Array} out the density in each cell, row by row
 */
export function shade(points, sigma, { left, top, cell, columns, rows }, out) {
  out.fill(0);
  const count = points.length / 2;
  const [across, down] = [new Float32Array(columns), new Float32Array(rows)];
  for (let i = 0; i < count; i++) {
    const [x0, x1] = profile((points[2 * i] - left) / cell, sigma[2 * i] / cell, across);
    const [y0, y1] = profile((top - points[2 * i + 1]) / cell, sigma[2 * i + 1] / cell, down);
    for (let y = y0; y < y1; y++) {
      const weight = down[y] / count;
      for (let x = x0, k = y * columns + x0; x < x1; x++, k++) out[k] += weight * across[x];
    }
  }
}

/** A bump along one axis, in cells, summing to 1; the cells it reaches. @param {number} at @param {number} sigma @param {Float32Array} out @returns {[number, number]} */
function profile(at, sigma, out) {
  const width = Math.max(NARROWEST, sigma);
  const from = Math.max(0, Math.floor(at - REACH * width));
  const to = Math.min(out.length, Math.ceil(at + REACH * width));
  const scale = 1 / (width * Math.sqrt(2 * Math.PI));
  for (let k = from; k < to; k++) out[k] = scale * Math.exp(-0.5 * ((k + 0.5 - at) / width) ** 2);
  return [from, Math.max(from, to)];
}

/**
 * The density as a veil of one colour, from clear to `deepest`.
 * @param {Float32Array} density mass in each cell @param {number} full the mass that is nearly as deep as it gets
 * @param {[number, number, number]} colour @param {number} deepest @param {Uint8ClampedArray} pixels
 */
export function tint(density, full, [red, green, blue], deepest, pixels) {
  for (let k = 0; k < density.length; k++) {
    pixels[4 * k] = red;
    pixels[4 * k + 1] = green;
    pixels[4 * k + 2] = blue;
    pixels[4 * k + 3] = 255 * deepest * (1 - Math.exp(-density[k] / full));
  }
}

/**
 * Standard deviations on their way to new ones, as a bump swells or collapses: `part` of the way, in decades.
 * @param {Float64Array} shown changed in place @param {Float64Array} wanted @param {number} part @returns {boolean} whether all are there
 */
export function approach(shown, wanted, part) {
  let isThere = true;
  for (let k = 0; k < shown.length; k++) {
    const ratio = wanted[k] / shown[k];
    if (part >= 1 || Math.abs(ratio - 1) < 0.02) shown[k] = wanted[k];
    else {
      shown[k] *= ratio ** part;
      isThere = false;
    }
  }
  return isThere;
}
