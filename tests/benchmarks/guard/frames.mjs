/** Times the numbers of a page: node frames.mjs PAGE STATE, then a line of input a run; answers [ms a frame, numbers]. */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const RUN_MS = 60;
const [pagePath, statePath] = process.argv.slice(2);
const page = await import(pathToFileURL(pagePath));
const compute = page.points ?? page.default;
const { traits, scenes } = JSON.parse(readFileSync(statePath, "utf-8"));
const model = { get: (name) => traits[name], set() {}, on() {}, off() {}, save_changes() {}, send() {} };

/** How many numbers there are in a value; reading them all computes those that wait to be asked for. */
function count(value) {
  if (typeof value === "number") return 1;
  if (ArrayBuffer.isView(value)) return value.length;
  if (value === null || typeof value !== "object") return 0;
  const parts = value instanceof Map ? value.values() : Object.values(value);
  let numbers = 0;
  for (const part of parts) numbers += count(part);
  return numbers;
}

let numbers = 0;
for await (const _ of createInterface({ input: process.stdin })) {
  let frames = 0;
  const start = performance.now();
  do {
    for (const scene of scenes) numbers = count(compute(scene, model));
    frames += scenes.length;
  } while (performance.now() - start < RUN_MS);
  console.log(JSON.stringify([(performance.now() - start) / frames, numbers]));
}
