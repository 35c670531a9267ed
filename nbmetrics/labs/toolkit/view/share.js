/**
 * Twin: labs/toolkit/share.py · held by: tests/labs/toolkit/test_share_page.py
 *
 * A lab's scene as a short string, and back. Both sides read what the other wrote; the letters differ where two
 * programs deflate differently. What cannot be read throws an error that says why. No DOM.
 */

export const MARK = "nbm1";
// Bytes of JSON: far above any scene, and the most that reading a string may unpack.
const LARGEST = 2 ** 22;
const LONGEST = 2 * LARGEST;
const FORM = /^nbm(\d+)\.(\w+)\.([A-Za-z0-9_-]*)$/;
const AGAIN = "Copy the whole link again.";
// Letters of a part of a string that a message repeats.
const REPEATED = 40;

/** The string of a scene. @param {string} lab the name of its class @param {{rev: number}} scene @returns {Promise<string>} */
export async function packed(lab, scene) {
  const text = new TextEncoder().encode(JSON.stringify({ ...scene, rev: 0 }));
  if (text.length > LARGEST) throw new Error("The picture is too large for a link.");
  const data = await through(new CompressionStream("deflate"), text);
  const raw = new Uint8Array(4 + data.length);
  new DataView(raw.buffer).setUint32(0, sumOf(lab, data));
  raw.set(data, 4);
  return `${MARK}.${lab}.${written(raw)}`;
}

/** The scene of a string that `lab` made, which its own checks have still to see. @param {string} text @param {string} lab @returns {Promise<any>} */
export async function unpacked(text, lab) {
  if (text.length > LONGEST) throw new Error(`It has ${text.length} letters: no lab creates such a link.`);
  const match = FORM.exec(text.replace(/\s/g, "")); // mail programs break long lines
  if (!match) throw new Error(`After # a link has ${MARK}.${lab}.eNq1…: ${AGAIN}`);
  const [, version, maker, body] = match;
  if (`nbm${version}` !== MARK) throw new Error(`It has version ${brief(version)}, but this page reads version 1.`);
  if (maker !== lab) throw new Error(`It is for a ${brief(maker)}, but this page shows a ${lab}.`);
  const raw = read(body);
  if (raw.length < 4 || new DataView(raw.buffer).getUint32(0) !== sumOf(lab, raw.subarray(4)))
    throw new Error(`It is damaged: its checksum does not fit. ${AGAIN}`);
  return parsed(await inflated(raw.slice(4)));
}

/** @param {Uint8Array} data */
async function inflated(data) {
  const text = await through(new DecompressionStream("deflate"), data).catch((error) => {
    if (error instanceof RangeError) throw error;
    throw new Error(`It is damaged: it cannot be unpacked. ${AGAIN}`);
  });
  // Not every program minds what stands behind the end of what was deflated.
  if (new DataView(data.buffer, data.length - 4).getUint32(0) !== adlerOf(text))
    throw new Error(`It is damaged: parts of it are unknown. ${AGAIN}`);
  return text;
}

/** The checksum that ends deflated data. @param {Uint8Array} text */
function adlerOf(text) {
  let [low, high] = [1, 0];
  for (const byte of text) {
    low = (low + byte) % 65521;
    high = (high + low) % 65521;
  }
  return high * 65536 + low;
}

/** @param {Uint8Array} text */
function parsed(text) {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(text));
  } catch {
    throw new Error(`It contains no scene. ${AGAIN}`);
  }
}

/** What a stream makes of bytes, if that is not more than a scene can take. @param {CompressionStream | DecompressionStream} stream @param {Uint8Array} data */
async function through(stream, data) {
  const writer = stream.writable.getWriter();
  // What goes wrong here is told by the reader, too.
  writer.write(/** @type {any} */ (data)).catch(() => {});
  writer.close().catch(() => {});
  const reader = stream.readable.getReader();
  /** @type {Uint8Array[]} */
  const parts = [];
  let length = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    length += part.value.length;
    if (length > LARGEST) {
      reader.cancel().catch(() => {});
      throw new RangeError(`It unpacks to more than ${LARGEST} bytes: no lab creates such a link.`);
    }
    parts.push(part.value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The checksum of a lab's name and data, CRC-32. @param {string} lab @param {Uint8Array} data */
function sumOf(lab, data) {
  let sum = ~0;
  for (const part of [new TextEncoder().encode(lab), data])
    for (const byte of part) sum = CRC[(sum ^ byte) & 255] ^ (sum >>> 8);
  return ~sum >>> 0;
}

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let k = 0; k < 8; k++) sum = sum & 1 ? 0xedb88320 ^ (sum >>> 1) : sum >>> 1;
  return sum;
});

/** Bytes as URL-safe base64 without its padding. @param {Uint8Array} bytes */
function written(bytes) {
  let letters = "";
  for (const byte of bytes) letters += String.fromCharCode(byte);
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** @param {string} text */
function read(text) {
  if (text.length % 4 === 1) return new Uint8Array();
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
}

/** @param {string} text */
function brief(text) {
  return text.length > REPEATED ? `${text.slice(0, REPEATED)}…` : text;
}
