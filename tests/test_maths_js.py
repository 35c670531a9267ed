"""maths.js and Python give the same numbers: golden vectors written here, checked in node.

Tolerance: 1e-9 of the scale of the sums (traces, or kernel means), and 1e-7 of the trace where a covariance has a
condition number beyond 1e12, singular ones included.
"""

import json
import math
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import nbmetrics as nm

SIGMA = 1.3
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="no node on PATH: install Node.js 20 or newer")


def random_item(rng, kind, number):
    lengths = np.exp(rng.uniform(-2.5, 1.2, 2))
    flat = rng.integers(8)
    if flat == 0:
        lengths[rng.integers(2)] = 0.0
    elif flat == 1:
        lengths[rng.integers(2)] *= 10.0 ** -rng.uniform(3, 9)
    elif flat == 2:
        lengths[:] = 0.0
    item = dict(zip(("x", "y"), rng.normal(0, 10.0 ** rng.integers(-1, 2), 2), strict=True))
    item |= {
        "name": f"{kind} {number}",
        "width": lengths[0],
        "height": lengths[1],
        "angle": rng.uniform(-180, 180),
    }
    return {**item, "weight": rng.uniform(0.05, 3)} if kind == "clients" else item


def random_scene(rng):
    counts = {"clients": rng.integers(1, 7), "generators": rng.integers(1, 4)}
    items = {kind: [random_item(rng, kind, i) for i in range(n)] for kind, n in counts.items()}
    return nm.Scene.parse(items)


def is_ill_conditioned(item):
    low, high = sorted((item.width, item.height))
    return low**2 * 1e12 <= high**2


def expected(scene):
    metrics = ["fid", "kid", nm.metrics.KID(nm.RBF(SIGMA), name="rbf")]
    table = nm.evaluate(scene.federation, scene.sources, metrics, progress=False).table
    flat = any(is_ill_conditioned(item) for item in scene.clients)
    pooled = scene.federation.pooled().distribution
    reach = float(np.trace(pooled.cov) + pooled.mean @ pooled.mean)
    found = {}
    for name in ("fid", "kid", "rbf"):
        rows = table[table["metric"] == name]
        found[name] = {part: rows[part].tolist() for part in ("avg", "all")}
        scales = [reach + g.width**2 + g.height**2 + g.x**2 + g.y**2 for g in scene.generators]
        found[name]["scale"] = {
            "fid": scales,
            "kid": [(1 + s) ** 3 for s in scales],
            "rbf": [1.0] * len(scales),
        }[name]
        loose = [1e-7 if name == "fid" and (flat or is_ill_conditioned(g)) else 1e-9 for g in scene.generators]
        found[name]["tolerance"] = loose
    return found


@needs_node
def test_page_and_python_agree_on_golden_vectors(tmp_path):
    rng = np.random.default_rng(20)
    scenes = [random_scene(rng) for _ in range(2000)]
    cases = [{"scene": scene.to_json(), "expected": expected(scene)} for scene in scenes]
    path = tmp_path / "vectors.json"
    path.write_text(json.dumps({"sigma": SIGMA, "cases": cases}))
    test = Path(__file__).parent / "js" / "maths.test.js"
    run = subprocess.run(
        [NODE, "--test", str(test)],
        env={**os.environ, "NBMETRICS_VECTORS": str(path)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout[-3000:]
    assert "of 2000 scenes" in run.stdout


def test_the_vectors_include_singular_and_flat_covariances():
    rng = np.random.default_rng(20)
    items = [item for _ in range(2000) for scene in [random_scene(rng)] for item in scene.clients + scene.generators]
    assert sum(min(i.width, i.height) == 0 for i in items) > 500
    assert sum(is_ill_conditioned(i) and min(i.width, i.height) > 0 for i in items) > 100
    assert math.isfinite(sum(i.x for i in items))


@needs_node
def test_code_written_in_the_page_rebuilds_the_scene():
    rng = np.random.default_rng(3)
    scene = random_scene(rng)
    clients = [
        scene.clients[0].to_json() | {"name": '<img src=x onerror=alert(1)> "\\\n é'},
        *map(nm.scene.Item.to_json, scene.clients[1:]),
    ]
    scene = nm.Scene.parse({**scene.to_json(), "clients": clients})
    edits = Path(nm.__file__).parent / "js" / "edits.js"
    source, given = json.dumps(edits.as_uri()), json.dumps(scene.to_json())
    script = f"import {{codeOf}} from {source}; process.stdout.write(codeOf({given}))"
    code = subprocess.run(
        [NODE, "--input-type=module", "-e", script], capture_output=True, text=True, check=True
    ).stdout
    made: dict = {}
    exec(code.replace("lab = nm.Playground(federation, generators)\nlab\n", ""), made)
    ours = nm.evaluate(scene.federation, scene.sources).table
    np.testing.assert_allclose(made["scores"].table[["avg", "all"]], ours[["avg", "all"]], rtol=1e-12)
    assert made["federation"].names[0] == scene.clients[0].name
