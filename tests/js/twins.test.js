/** TwinsLab's closed forms and edits; the vectors are written by tests/labs/twins/test_twins.py. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { clientsKey, tied, withSharing } from "../../nbmetrics/labs/twins/view/edits.js";
import { correctedPair, pairOf, pairScores, printedPair } from "../../nbmetrics/labs/twins/view/maths.js";

const client = (name, x, y, width = 1, height = 1, angle = 0, weight = 1) => ({ name, x, y, width, height, angle, weight });
const close = (own, wanted, allowed, what) => assert.ok(Math.abs(own - wanted) <= allowed, `${what}: ${own} for ${wanted}`);

test("means ±e₁ and C = I: √u = √2 − 1 across the line, clients alike, FID-all apart by 2u", () => {
  const clients = [client("a", -1, 0), client("b", 1, 0)];
  const { how, first, second, u } = correctedPair(clients);
  assert.equal(how, "offset");
  close(u, (Math.SQRT2 - 1) ** 2, 1e-14, "u");
  close(second.y, Math.SQRT2 - 1, 1e-14, "offset");
  const scores = pairScores(clients, first, second);
  close(scores.second[0], scores.first[0], 1e-14, "client");
  close(scores.second[3] - scores.first[3], 2 * u, 1e-14, "all");
});

test("as printed the clients' scores are 1.1716 and 2", () => {
  const clients = [client("a", -1, 0), client("b", 1, 0)];
  const { first, second } = printedPair(clients);
  const scores = pairScores(clients, first, second);
  close(scores.first[0], 4 - 2 * Math.SQRT2, 1e-14, "first");
  close(scores.second[0], 2, 1e-14, "second");
});

test("as printed, clients of one mean have the first for second, and no direction", () => {
  const [one, third] = [client("a", 0.1, -0.3, 1.6, 1, 20), client("c", 0.1, -0.3, 1.6, 1, 20)];
  const alike = pairOf({ clients: [one, client("b", 0.1, -0.3, 1.6, 1, 20), third], construction: "printed" });
  assert.deepEqual([alike.u, alike.beta, alike.other], [0, null, null]);
  assert.equal(alike.second, alike.first);
  assert.match(alike.reason, /alike/);
  const unlike = pairOf({ clients: [one, { ...third, width: 3 }], construction: "printed" });
  assert.equal(unlike.second, unlike.first);
  assert.equal(unlike.reason, "");
  const spanned = pairOf({ clients: [client("a", 1, 0), { ...client("b", 0, 1), weight: 0 }], construction: "printed" });
  assert.equal(spanned.how, "none");
});

test("shared shapes: one changes all, an added client takes theirs, and the switch gives all the chosen one", () => {
  const before = { rev: 0, preset: "", half: 5, shared: true, construction: "corrected", clients: [client("a", 0, 0), client("b", 1, 0)] };
  const wide = { ...before, clients: [before.clients[0], { ...before.clients[1], width: 2 }] };
  assert.deepEqual(tied(before, wide).clients.map((c) => c.width), [2, 2]);
  assert.equal(tied({ ...before, shared: false }, { ...wide, shared: false }).clients[0].width, 1);
  const added = { ...before, clients: [...before.clients, client("c", 3, 3, 0.4, 0.2, 7)] };
  assert.deepEqual(tied(before, added).clients.map((c) => c.angle), [0, 0, 0]);
  assert.deepEqual(withSharing({ ...wide, shared: false }, true, 1).clients.map((c) => c.width), [2, 2]);
  assert.equal(clientsKey(wide.clients) === clientsKey(before.clients), false);
  assert.equal(clientsKey(before.clients), clientsKey(before.clients.map((c) => ({ ...c, name: "other" }))));
});

const vectors = process.env.NBMETRICS_TWINS;

test("golden vectors from Python", { skip: vectors ? false : "run by tests/labs/twins/test_twins.py, which writes the vectors" }, () => {
  const counts = { offset: 0, covariance: 0, printed: 0, search: 0, none: 0 };
  for (const { scene, expected } of JSON.parse(readFileSync(vectors, "utf-8"))) {
    const { how, first, second } = pairOf(scene);
    const what = `${how} ${JSON.stringify(scene)}`;
    counts[how]++;
    assert.equal(["search", "none"].includes(how) ? how : "pair", expected.how, what);
    if (expected.how !== "pair") continue;
    // A covariance without a height has scores that are only known to the root of rounding.
    const isFlat = scene.clients.some(({ width, height }) => Math.min(width, height) < 1e-6 * Math.max(width, height));
    const allowed = (isFlat ? 1e-7 : 1e-9) * expected.scale;
    // The direction of the printed construction, and that of a tie, is only known up to its sign.
    const side = how === "covariance" ? 1 : Math.sign((second.x - first.x) * (expected.mean[0] - first.x) + (second.y - first.y) * (expected.mean[1] - first.y)) || 1;
    if (how === "offset") assert.equal(side, 1, what);
    const far = Math.sqrt(allowed * expected.scale);
    close(first.x + side * (second.x - first.x), expected.mean[0], far, what);
    close(first.y + side * (second.y - first.y), expected.mean[1], far, what);
    [second.a, second.b, second.b, second.c].forEach((value, i) => close(value, expected.cov[i], allowed, what));
    const own = pairScores(scene.clients, first, second);
    const clients = scene.clients.length;
    [own.first, own.second].forEach((scores, g) => {
      [...scores.slice(0, clients), scores[clients + 1]].forEach((value, i) => {
        const reach = expected.scale + Math.max(...expected.scores[g]);
        close(value, expected.scores[g][i], (isFlat ? 1e-7 : 1e-9) * reach, `${g} ${i} ${what}`);
      });
    });
  }
  console.log(`compared ${JSON.stringify(counts)}`);
});
