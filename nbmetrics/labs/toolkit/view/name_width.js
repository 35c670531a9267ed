/** How wide names are, and how they are said in little room. No DOM. */

/** Ems of letters in a wide bold face, so that in most faces a name is no wider than is thought. @type {[RegExp, number][]} */
const EMS = [
  [/\p{M}/u, 0],
  [/[iIjl.,:;'’|!()[\] ]/, 0.45],
  [/[tfr"/\\–-]/, 0.52],
  [/[mwMW@%—…]/, 1.1],
  [/\p{Lu}/u, 0.83],
  [/[\0-\u052f]/, 0.72],
];
const MAX_LETTER_EMS = 1.2;
// The letters of a chart are not bold: those of 11.5 pixels are as wide as bold ones of 10.
const CHARTS_FONT = 10;
// Of a name that is cut, this many letters of its end stay, where numbers are.
const TAIL_LETTERS = 4;
/** @type {Map<string, number>} */
const emsOf = new Map();

/** @param {string} letter */
function letterEms(letter) {
  let ems = emsOf.get(letter);
  if (ems === undefined) emsOf.set(letter, (ems = EMS.find(([kind]) => kind.test(letter))?.[1] ?? MAX_LETTER_EMS));
  return ems;
}

/** Pixels of a name in bold letters of `font` pixels, or a little more. @param {string} name @param {number} [font] */
export function nameWidth(name, font = 12) {
  let ems = 0;
  for (const letter of name) ems += letterEms(letter);
  return font * ems;
}

/** A name short enough for its place, its middle cut out. @param {string} name @param {number} room pixels @param {number} [font] bold, as in `nameWidth` */
export function shortened(name, room, font = CHARTS_FONT) {
  if (nameWidth(name, font) <= room) return name;
  const letters = [...name];
  const left = room / font - letterEms("…");
  const tail = howMany(letters.slice(-TAIL_LETTERS).reverse(), left / 2);
  const end = letters.slice(letters.length - tail).join("");
  const head = Math.max(1, howMany(letters, left - nameWidth(end, 1)));
  return `${letters.slice(0, head).join("")}…${end}`;
}

/** How many of the letters go into so many ems. @param {string[]} letters @param {number} room */
function howMany(letters, room) {
  let used = 0;
  const over = letters.findIndex((letter) => (used += letterEms(letter)) > room);
  return over < 0 ? letters.length : over;
}
