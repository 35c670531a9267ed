"""Memory and secrets: what is too large is refused within 3 GB, no message shows a password, no release is lost."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import nbmetrics as nm
from nbmetrics.federated import Account, Privacy
from tests.acceptance.harness import Part, share
from tests.pyodide import test_pyodide

ROOT = Path(__file__).parents[3]
# Each in a process of its own that may address 4 GB; prints the name of what was raised.
BOMBS = {
    "fid of a range": "nm.fid(range(10**12), X)",
    "fid against a range": "nm.fid(X, range(10**12))",
    "a list of ranges": "nm.kid([range(10**12)] * 3, X)",
    "a client": "nm.evaluate({'a': range(10**12)}, {'g': X}, 'fid', progress=False)",
    "a sampler": "nm.evaluate({'a': X}, {'g': lambda n, rng: range(10**12)}, 'fid', samples=50, progress=False)",
    "a race": "nm.race({'a': X}, {n: lambda n, rng: range(10**12) for n in 'pq'}, progress=False)",
    "a summary": "nm.federated.client_summary(range(10**12), 'fid')",
    "labels": "nm.Federation.from_labels(X, range(10**12))",
    "weights": "nm.Federation({'a': X, 'b': X}).with_weights(range(10**12))",
    "scores of empty lists": "write(b'{\"a\":[' + b'[],' * (60 << 20) + b'[]]}'); nm.Scores.open('f')",
    "an account of 30 GB": "nm.federated.Account('f', epsilon=1, delta=1e-6).spend(nm.federated.Privacy(0.5));"
    "os.truncate('f', 30 << 30); nm.federated.Account.open('f')",
    "a summary of 30 GB": "write(b'NBMETSM'); os.truncate('f', 30 << 30); main(['inspect', 'f']) and refuse()",
}
ANSWERS = {
    "inspect of 1 kB": "write(nm.federated.client_summary(X, 'fid')); assert main(['inspect', 'f']) == 0",
    "a store of one line": "[nm.evaluate({'a': X}, {'g': X + 1}, 'fid', store='s', progress=False) for _ in 'ab']",
}
SCRIPT = """
import os, resource, numpy as np, nbmetrics as nm
from nbmetrics.cli import main
import nbmetrics.evaluation.evaluate, nbmetrics.federated, nbmetrics.evaluation.race
X = np.random.default_rng(0).normal(size=(40, 3))
def write(data): open('f', 'wb').write(data)
def refuse(): raise nm.InvalidInput('f', 'was refused', 'by the command')
used = int(open('/proc/self/statm').read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + ({room} << 20),) * 2)
try:
    {act}
    print('answered')
except BaseException as error:
    print(type(error).__name__)
"""


def told(act, room):
    """What a process with so many MB of room says of an act."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", SCRIPT.format(act=act, room=room)]
        environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin", "OPENBLAS_NUM_THREADS": "1", "HOME": folder}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.stdout.splitlines()[-1] if done.stdout else done.stderr[-200:]


def bombs(seed):
    names = [*BOMBS, *ANSWERS]
    name = names[seed % len(names)]
    return {"name": name, "told": told(BOMBS[name], 3000) if name in BOMBS else told(ANSWERS[name], 800)}


def judge_bombs(results):
    wrong = [r for r in results if r["told"] != ("InvalidInput" if r["name"] in BOMBS else "answered")]
    right = f"{len(results) - len(wrong)}/{len(results)}"
    return [(not wrong, f"refused by InvalidInput within 3 GB, or answered within 800 MB: {right} {wrong}")]


SECRET = "s3cr3t"


def random_url(rng):
    """A URL with a secret in its password or query, perhaps in a chain."""

    def pick(*items):
        return items[int(rng.integers(len(items)))]

    scheme = pick("http", "https", "ftp", "sftp", "webhdfs", "nosuch", "memory")
    user = pick("user", "a.b", "us%40er", "", "x@y")
    password = pick(SECRET, f"p@{SECRET}", f"p:{SECRET}", f"a/{SECRET}", f"{SECRET}%2F", f"{SECRET}'q")
    query = pick("", f"?sig={SECRET}", f"?a=1&token={SECRET}#f", f"?a::b={SECRET}")
    path = pick("x.npy", "a/b.parquet", "*.parquet", "x.zarr", "d@1/x.npy", "", "y" * 90 + ".npy")
    host = pick("127.0.0.1:1", "localhost:1", "[::1]:1")  # nothing answers there
    first = pick(
        "",
        "",
        "zip://x.npy::",
        "tar://a.parquet::",
        "simplecache::",
        "filecache::",
        "blockcache::",
        "zip://*.parquet::simplecache::",
    )
    return f"{first}{scheme}://{user}:{password}@{host}/{path}{query}"


def secrets(seed):
    """How many of 40 random URLs were refused otherwise than by InvalidInput, or showed the secret."""
    rng, X = np.random.default_rng(seed), np.zeros((5, 2))
    uses = (
        lambda url: nm.fid(url, X),
        nm.Client,
        nm.Stream,
        lambda url: nm.evaluate({"a": X}, {"g": url}, "fid", progress=False),
        lambda url: nm.evaluate({"a": url}, {"g": X}, "fid", progress=False),
        nm.images,
        nm.Moments.load,
        nm.Scores.open,
    )
    shown, bare = [], []
    for _ in range(40):
        url, use = random_url(rng), uses[int(rng.integers(len(uses)))]
        try:
            use(url)
        except nm.InvalidInput as error:
            if SECRET in str(error) or (error.__context__ is not None and not error.__suppress_context__):
                shown.append([url, str(error)])
        except Exception as error:
            bare.append([url, f"{type(error).__name__}: {error}"[:200]])
    return {"shown": shown, "bare": bare}


def judge_secrets(results):
    shown, bare = ([each for r in results for each in r[key]] for key in ("shown", "bare"))
    total = 40 * len(results)
    return [
        (not shown, f"messages with a secret: {share(len(shown), total)} {shown[:2]}"),
        (not bare, f"bare errors: {share(len(bare), total)} {bare[:2]}"),
    ]


def account(seed):
    """Of one account of random releases: damaged copies that are taken for one that has spent less."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        kept = Account(Path(folder) / "a", epsilon=90.0, delta=1e-6)
        for k in range(int(rng.integers(1, 7))):
            kept.spend(Privacy(float(rng.uniform(0.1, 2.0)), 1e-6, 1.0), f"release {k}" * int(rng.integers(1, 20)))
        lines, spent = kept.path.read_bytes().splitlines(keepends=True), kept.spent
        whole = b"".join(lines)
        changed = [b"".join(lines[:k] + lines[k + 1 :]) for k in range(len(lines))]
        changed += [b"".join(lines[:k]) for k in range(len(lines))]
        for _ in range(100):
            at, width = int(rng.integers(len(whole))), int(rng.integers(1, 300))
            insert = [b"", rng.bytes(width), whole[at : at + width]][int(rng.integers(3))]
            changed.append(whole[:at] + insert + whole[at + int(rng.choice([0, 1, width])) :])
        low, bare = 0, 0
        for content in changed:
            kept.path.write_bytes(content)
            try:
                low += kept.spent < spent
            except nm.InvalidInput:
                pass
            except Exception:
                bare += 1
    return {"low": low, "bare": bare, "tried": len(changed), "lines": 2 * len(lines)}


def judge_accounts(results):
    low, bare, tried, lines = (sum(r[key] for r in results) for key in ("low", "bare", "tried", "lines"))
    return [
        (low == 0, f"damaged accounts taken with less spent: {share(low, tried)}; {lines} of them without whole lines"),
        (bare == 0, f"bare errors: {share(bare, tried)}"),
    ]


def pyodide(seed):
    """The calls of tests/pyodide, or why they cannot run."""
    if why := test_pyodide.missing():
        return {"skipped": why}
    there, here = test_pyodide.run_pyodide(), test_pyodide.of_cpython()
    wrong = {name: test_pyodide.problem(name, here, there) for name in here}
    return {"calls": len(here), "wrong": {name: why[:300] for name, why in wrong.items() if why}}


def judge_pyodide(results):
    (only,) = results
    if "skipped" in only:
        return [(True, f"SKIPPED, each public function in Pyodide: {only['skipped']}; make test-pyodide fetches it")]
    right = f"{only['calls'] - len(only['wrong'])}/{only['calls']}"
    return [(not only["wrong"], f"calls in Pyodide with CPython's numbers: {right} {json.dumps(only['wrong'])}")]


PARTS = [
    Part("bombs", bombs, judge_bombs, quick=len(BOMBS) + len(ANSWERS), full=len(BOMBS) + len(ANSWERS)),
    Part("secrets", secrets, judge_secrets, quick=5, full=100),
    Part("accounts", account, judge_accounts, quick=10, full=300),
    Part("pyodide", pyodide, judge_pyodide),
]
