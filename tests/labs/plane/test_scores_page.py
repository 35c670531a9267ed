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


def owned_scene(rng):
    """Generators with an ellipse for each client, in any order, beside others; sometimes drawn points."""
    scene = random_scene(rng).to_json()
    if rng.integers(4) == 0:
        scene["clients"][0]["weight"] = 0.0 if len(scene["clients"]) > 1 else 1.0
    names = [client["name"] for client in scene["clients"]]
    for k in range(2):
        owners = rng.permutation(names).tolist()
        parts = [{**random_item(rng, "generators", 0), "name": owner} for owner in owners]
        scene["generators"].append({"name": f"owned {k}", "kind": "by_client", "parts": parts})
    rng.shuffle(scene["generators"])
    settings = {"samples": int(rng.choice([0, 0, 5, 60])), "seed": int(rng.integers(1000))}
    return nm.Scene.parse({**scene, **settings})


METRICS = {name: MADE[name]() for name in ("kid_rbf", "mfid", "rfid", "cfid")}


def reach_of(scene):
    """Upper bounds of second moments: of the pooled clients, and of each generator."""
    own = [
        float(np.trace(distribution.cov) + distribution.mean @ distribution.mean)
        for distribution in map(moments, [c.distribution if c.rows is None else c.rows for c in scene.federation])
    ]
    return max(own), [reach(source) for source in scene.sources.values()]


def reach(source):
    if isinstance(source, dict):
        return max(map(reach, source.values()))
    distribution = moments(source)
    return float(np.trace(distribution.cov) + distribution.mean @ distribution.mean)


def moments(source):
    return nm.Gaussian.fit(source) if isinstance(source, np.ndarray) else source


def expected(scene):
    metrics = {"fid": "fid", "kid": "kid", **METRICS}
    drawn = scene.samples or any(i.kind in ("data", "copycat") for i in (*scene.clients, *scene.generators))
    has_owners = any(item.parts for item in scene.generators)
    if has_owners:  # the others have no score of a mixture
        metrics = {name: metrics[name] for name in ("fid", "kid", "kid_rbf")}
    if drawn:
        del metrics["kid_rbf"]
    table = nm.evaluate(scene.federation, scene.sources, list(metrics.values()), progress=False).table
    flat = any(is_flat(item) for item in scene.clients)
    real, made = reach_of(scene)
    scales = [real + reach for reach in made]
    found = {}
    for name in metrics:
        rows = table[table["metric"] == name]
        found[name] = {part: rows[part].tolist() for part in ("intra",) * has_owners + ("avg", "all")}
        powers = {"kid": [(1 + s) ** 3 for s in scales], "kid_rbf": [1.0] * len(scales)}
        found[name]["scale"] = powers.get(name, scales)
        loose = [name[:3] != "kid" and (flat or bool(drawn) or is_flat(g)) for g in scene.generators]
        found[name]["tolerance"] = [1e-7 if is_loose else 1e-9 for is_loose in loose]
    return found


def is_ill_conditioned(item):
    low, high = sorted((item.width, item.height))
    return low**2 * 1e12 <= high**2


def is_flat(item):
    if item.parts:
        return any(map(is_ill_conditioned, item.parts))
    return item.kind not in ("gaussian", "bumps") or is_ill_conditioned(item)


def vector(scene):
    return {
        "scene": scene.to_json(),
        "expected": expected(scene),
        "data": {k: summary(v) for k, v in scene.data.items()},
    }


OWNED = 400
ALL = 2000 + OWNED


@cache
def scenes():
    rng, of_owned = np.random.default_rng(20), np.random.default_rng(21)
    others = [mixed_scene(rng) if k % 5 == 0 else random_scene(rng) for k in range(ALL - OWNED)]
    return [*others, *(owned_scene(of_owned) for _ in range(OWNED))]


def stratum(scene):
    """What decides which formulas a scene needs: how many there are, of which kinds, and how flat."""
    sized = ellipses([scene])
    flat = any(is_singular(i) for i in sized), any(is_ill_conditioned(i) and not is_singular(i) for i in sized)
    has_owners = any(item.parts for item in scene.generators)
    counts = min(len(scene.clients), 3), 0 if has_owners else len(scene.generators)
    return *counts, scene.clients[0].kind, has_owners, scene.samples > 0, *flat


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
COUNTS = [165, *slow(ALL)]


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
    chosen = stratified(165)
    assert len(chosen) == len({id(scene) for scene in chosen}) == 165 and len(stratified(ALL)) == ALL
    assert {stratum(scene) for scene in chosen} == {stratum(scene) for scene in scenes()}


@pytest.mark.parametrize("count", [165, ALL])
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
    parts = [{**random_item(rng, "generators", 0), "name": client["name"]} for client in reversed(clients)]
    kept.append({"name": "owned", "kind": "by_client", "parts": parts})
    return nm.Scene.parse({**scene, "clients": clients, "generators": kept, "samples": 40, "view": {"metric": "kid"}})


COLUMNS = ["intra", "avg", "all"]
EVIL_NAME = '<img src=x onerror=alert(1)> "\\ é'


@needs_node
@pytest.mark.filterwarnings("ignore::nbmetrics.FewPairsWarning")
def test_code_written_in_the_page_rebuilds_the_scene():
    scene = code_scene(np.random.default_rng(3))
    given = json.dumps(scene.to_json()).replace(json.dumps(scene.clients[0].name), json.dumps(EVIL_NAME))
    scene = nm.Scene.parse(json.loads(given))
    module = Path(nm.__file__).parent / "labs/playground/view/scene.js"
    source, given = json.dumps(module.as_uri()), json.dumps(scene.to_json())
    code = ran(f"import {{playgroundCode}} from {source}; process.stdout.write(playgroundCode({given}))")
    assert code == scene.to_code()
    made: dict = {}
    exec(code, made)
    again = nm.Scene.parse(made["lab"].scene)
    assert [g.kind for g in again.generators] == [g.kind for g in scene.generators]
    assert [p.name for p in again.generators[-1].parts] == [p.name for p in scene.generators[-1].parts]
    ours = nm.evaluate(scene.federation, scene.sources, metrics_of(scene)).table
    np.testing.assert_allclose(made["scores"].table[COLUMNS], ours[COLUMNS], rtol=1e-12)
    assert made["federation"].names[0] == scene.clients[0].name
