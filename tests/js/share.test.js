/** Share strings in the page: what Python writes is read, what it refuses is refused, and it reads what is written here. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import test from "node:test";
import { packed, unpacked } from "../../nbmetrics/labs/toolkit/view/share.js";
import correlation from "../../nbmetrics/labs/correlation/view/index.js";
import dashboard from "../../nbmetrics/labs/dashboard/view/index.js";
import memorization from "../../nbmetrics/labs/memorization/view/index.js";
import monitor from "../../nbmetrics/labs/monitor/view/index.js";
import playground from "../../nbmetrics/labs/playground/view/index.js";
import privacy from "../../nbmetrics/labs/privacy/view/index.js";
import twins from "../../nbmetrics/labs/twins/view/index.js";

const WIDGETS = {
  Playground: playground(),
  CorrelationLab: correlation(),
  TwinsLab: twins(),
  MemorizationLab: memorization(),
  Dashboard: dashboard(),
  Monitor: monitor(),
  PrivacyLab: privacy(),
};

test("a scene comes back as it was, but for its revision", async () => {
  const scene = { rev: 7, preset: "é 😀 </script>", x: 1e-300, y: [0.1 + 0.2, -1e300, null, true] };
  const text = await packed("ApartLab", scene);
  assert.match(text, /^nbm1\.ApartLab\.[\w-]+$/);
  assert.deepEqual(await unpacked(text, "ApartLab"), { ...scene, rev: 0 });
  assert.equal(await packed("ApartLab", { ...scene, rev: 9 }), text);
  assert.deepEqual(await unpacked(` ${text.slice(0, 30)}\n${text.slice(30)} `, "ApartLab"), { ...scene, rev: 0 });
});

test("no changed letter goes unnoticed", async () => {
  const text = await packed("ApartLab", { rev: 0, x: 1 });
  for (let k = "nbm1.ApartLab.".length; k < text.length - 1; k++) {
    const other = text[k] === "A" ? "B" : "A";
    await assert.rejects(unpacked(text.slice(0, k) + other + text.slice(k + 1), "ApartLab"), /damaged/);
  }
});

const path = process.env.NBMETRICS_SHARED;
const given = path ? JSON.parse(readFileSync(path, "utf8")) : null;
const options = { skip: given ? false : "asked for by tests/labs/toolkit/test_share_page.py" };

test("what Python writes is read here, and the other way about", options, async () => {
  const written = [];
  for (const { lab, state, text, scene, why, unless } of given.good) {
    const model = { get: (name) => state[name] };
    const opened = await WIDGETS[lab].opened(text, model).catch((error) => {
      if (!unless || !new RegExp(unless).test(error.message)) throw new Error(`${lab} ${why}: ${error.message}`);
    });
    if (!opened) continue;
    assert.deepEqual({ ...opened.scene, rev: 0 }, scene, `${lab} ${why}`);
    assert.ok(opened.scene.rev > state.scene.rev);
    assert.deepEqual(opened.history.past.at(-1), state.scene);
    written.push(await packed(lab, opened.scene));
  }
  writeFileSync(given.out, JSON.stringify(written));
});

test("what Python refuses is refused here, in few words", options, async (t) => {
  for (const { lab, state, text, why, said } of given.bad) {
    const model = { get: (name) => state[name] };
    await assert.rejects(WIDGETS[lab].opened(text, model), (error) => {
      assert.ok(error instanceof Error && error.constructor === (/unpacks/.test(error.message) ? RangeError : Error), `${why}: ${error.stack}`);
      assert.ok(error.message.length < 700, why);
      if (said) assert.match(error.message, new RegExp(said), why);
      return true;
    }, `${lab}: ${why}`);
  }
  t.diagnostic(`${given.bad.length} refused`);
});
