"""maths.js and Python give the same numbers: golden vectors written here, checked in node.

Tolerance: 1e-9 of the scale of the sums (traces, or kernel means), and 1e-7 of the trace where a covariance has a
condition number beyond 1e12, singular ones included.
"""

import json
import math
from functools import cache
from itertools import islice, zip_longest
from pathlib import Path

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.labs.plane.distributions import summary
from nbmetrics.labs.playground.numbers import MADE, metrics_of
from tests import TESTS
from tests.node import needs_node, node, ran
from tests.slow import slow


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


def mixed_scene(rng):
    """Every kind of generator, clients that are rows or distributions of the lab's data, sometimes drawn points."""
    scene = random_scene(rng).to_json()
    data = {}
    if rng.integers(2):
        data["clients 0"] = rng.normal(rng.normal(size=2), 1.5, size=(int(rng.integers(2, 400)), 2))
        scene["clients"][0] |= {"kind": "data"}
    ellipse = {key: random_item(rng, "generators", 0)[key] for key in ("x", "y", "width", "height", "angle")}
    more = [
        {"name": "bumps", "kind": "bumps", **ellipse},
        {"name": "truncated", "kind": "truncated", "psi": float(rng.choice([0.0, 0.4, 1.0, 1.7]))},
        {"name": "cat", "kind": "copycat", "of": scene["clients"][-1]["name"], "count": int(rng.integers(2, 60))},
        {"name": "rows", "kind": "data", **ellipse},
        {"name": "distribution", "kind": "data", **ellipse},
    ]
    data["rows"] = rng.normal(size=(40, 2)) * 2
    data["distribution"] = nm.Mixture([nm.Gaussian([0, 1], [1, 2]), nm.Gaussian([3, 0], 0.1)], [1, 3])
    settings = {"samples": int(rng.choice([0, 0, 5, 60])), "seed": int(rng.integers(1000))}
    return nm.Scene.parse({**scene, "generators": scene["generators"] + more, **settings}, data)


METRICS = {name: MADE[name]() for name in ("kid_rbf", "mfid", "rfid", "cfid")}


def reach_of(scene):
    """Upper bounds of second moments: of the pooled clients, and of each generator."""
    own = [
        float(np.trace(distribution.cov) + distribution.mean @ distribution.mean)
        for distribution in map(moments, [c.distribution if c.rows is None else c.rows for c in scene.federation])
    ]
    return max(own), [
        float(np.trace(distribution.cov) + distribution.mean @ distribution.mean)
        for distribution in map(moments, scene.sources.values())
    ]


def moments(source):
    return nm.Gaussian.fit(source) if isinstance(source, np.ndarray) else source


def expected(scene):
    metrics = {"fid": "fid", "kid": "kid", **METRICS}
    drawn = scene.samples or any(i.kind in ("data", "copycat") for i in (*scene.clients, *scene.generators))
    if drawn:
        del metrics["kid_rbf"]
    table = nm.evaluate(scene.federation, scene.sources, list(metrics.values()), progress=False).table
    flat = any(is_flat(item) for item in scene.clients)
    real, made = reach_of(scene)
    scales = [real + reach for reach in made]
    found = {}
    for name in metrics:
        rows = table[table["metric"] == name]
        found[name] = {part: rows[part].tolist() for part in ("avg", "all")}
        powers = {"kid": [(1 + s) ** 3 for s in scales], "kid_rbf": [1.0] * len(scales)}
        found[name]["scale"] = powers.get(name, scales)
        loose = [name[:3] != "kid" and (flat or bool(drawn) or is_flat(g)) for g in scene.generators]
        found[name]["tolerance"] = [1e-7 if is_loose else 1e-9 for is_loose in loose]
    return found


def is_ill_conditioned(item):
    low, high = sorted((item.width, item.height))
    return low**2 * 1e12 <= high**2


def is_flat(item):
    return item.kind not in ("gaussian", "bumps") or is_ill_conditioned(item)


def vector(scene):
    return {
        "scene": scene.to_json(),
        "expected": expected(scene),
        "data": {k: summary(v) for k, v in scene.data.items()},
    }


ALL = 2000


@cache
def scenes():
    rng = np.random.default_rng(20)
    return [mixed_scene(rng) if k % 5 == 0 else random_scene(rng) for k in range(ALL)]


def stratum(scene):
    """What decides which formulas a scene needs: how many there are, of which kinds, and how flat."""
    sized = ellipses([scene])
    flat = any(is_singular(i) for i in sized), any(is_ill_conditioned(i) and not is_singular(i) for i in sized)
    return min(len(scene.clients), 3), len(scene.generators), scene.clients[0].kind, scene.samples > 0, *flat


def ellipses(scenes):
    return [i for scene in scenes for i in (*scene.clients, *scene.generators) if i.width is not None]


def is_singular(item):
    return min(item.width, item.height) == 0


def stratified(count):
    """So many of the scenes, the same number of every stratum as far as it has them."""
    waiting = {}
    for scene in scenes():
        waiting.setdefault(stratum(scene), []).append(scene)
    turns = zip_longest(*waiting.values())
    return list(islice((scene for turn in turns for scene in turn if scene is not None), count))


# A scene of every stratum; all of them at length.
COUNTS = [140, *slow(ALL)]


@needs_node
@pytest.mark.filterwarnings("ignore::nbmetrics.FewPairsWarning")
@pytest.mark.parametrize("count", COUNTS)
def test_page_and_python_agree_on_golden_vectors(tmp_path, count):
    cases = [vector(scene) for scene in stratified(count)]
    path = tmp_path / "vectors.json"
    path.write_text(json.dumps({"cases": cases}))
    test = TESTS / "js" / "maths.test.js"
    run = node("--test", str(test), NBMETRICS_VECTORS=path)
    assert f"of {count} scenes" in run


def test_the_strata_are_all_there():
    chosen = stratified(140)
    assert len(chosen) == len({id(scene) for scene in chosen}) == 140 and len(stratified(ALL)) == ALL
    assert {stratum(scene) for scene in chosen} == {stratum(scene) for scene in scenes()}


@pytest.mark.parametrize("count", [140, ALL])
def test_the_vectors_include_singular_and_flat_covariances(count):
    items = ellipses(stratified(count))
    assert sum(is_singular(i) for i in items) > count / 4
    assert sum(is_ill_conditioned(i) and not is_singular(i) for i in items) > count / 20
    assert math.isfinite(sum(i.x for i in items))


def code_scene(rng):
    """Every kind of generator that needs no data."""
    scene = mixed_scene(rng).to_json()
    kept = [g for g in scene["generators"] if g.get("kind") != "data"]
    clients = [{k: v for k, v in c.items() if k != "kind"} for c in scene["clients"]]
    return nm.Scene.parse({**scene, "clients": clients, "generators": kept, "samples": 40, "view": {"metric": "cfid"}})


@needs_node
@pytest.mark.filterwarnings("ignore::nbmetrics.FewPairsWarning")
def test_code_written_in_the_page_rebuilds_the_scene():
    scene = code_scene(np.random.default_rng(3))
    clients = [
        scene.clients[0].to_json() | {"name": '<img src=x onerror=alert(1)> "\\ é'},
        *map(nm.scene.Item.to_json, scene.clients[1:]),
    ]
    scene = nm.Scene.parse({**scene.to_json(), "clients": clients})
    module = Path(nm.__file__).parent / "labs/playground/view/scene.js"
    source, given = json.dumps(module.as_uri()), json.dumps(scene.to_json())
    code = ran(f"import {{playgroundCode}} from {source}; process.stdout.write(playgroundCode({given}))")
    assert code == scene.to_code()
    made: dict = {}
    exec(code, made)
    assert [g.kind for g in nm.Scene.parse(made["lab"].scene).generators] == [g.kind for g in scene.generators]
    ours = nm.evaluate(scene.federation, scene.sources, metrics_of(scene)).table
    np.testing.assert_allclose(made["scores"].table[["avg", "all"]], ours[["avg", "all"]], rtol=1e-12)
    assert made["federation"].names[0] == scene.clients[0].name
