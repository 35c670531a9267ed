"""MemorizationLab's page computes its generated points itself: they are Python's, and so is the code it copies."""

import json

import numpy as np

from nbmetrics.labs.memorization.scene import MemorizationScene
from nbmetrics.labs.memorization.study import study_of
from nbmetrics.labs.toolkit import modules
from tests import TESTS
from tests.node import needs_node, node

BASES = [("moons", 37, 5), ("moons", 400, 0), ("digits", 60, 1), ("digits", 700, 0)]


def random_scene(rng, data, points, seed):
    """Sliders at random places, a third of them at rest, halves of a point among the shares."""
    resting = rng.random(4) < 1 / 3
    shares = (rng.random(), (rng.integers(points) + 0.5) / points)
    moved = {
        "copied": float(shares[rng.integers(2)]),
        "jitter": float(10 ** rng.uniform(-4, 0)),
        "bandwidth": float(10 ** rng.uniform(-4, 1)),
        "spread": float(rng.uniform(0.1, 3)),
    }
    settings = {name: value for (name, value), rests in zip(moved.items(), resting) if not rests}
    return MemorizationScene.parse({"data": data, "points": points, "seed": seed, **settings})


def cases(rng, count):
    for at, (data, points, seed) in enumerate(BASES):
        study = study_of(data, points, seed)
        for _ in range(count if points < 100 else count // 10):
            scene = random_scene(rng, data, points, seed)
            yield {
                "at": at,
                "scene": scene.to_json(),
                "points": study.flat(study.generated(scene)).tolist(),
                "copies": np.flatnonzero(study.copies(scene)).tolist(),
                "code": scene.to_code(),
            }


@needs_node
def test_the_pages_points_are_pythons(tmp_path):
    vectors = {
        "bases": [study_of(*which).base() for which in BASES],
        "cases": list(cases(np.random.default_rng(6), 150)),
        "own": [
            {"scene": scene.to_json(), "items": items, "code": scene.fill_template("own_items" if items else "own")}
            for scene in (MemorizationScene.parse({"data": "own", "points": 7, "seed": seed}) for seed in (0, 7))
            for items in (False, True)
        ],
    }
    assert sum(case["scene"]["spread"] != 1 for case in vectors["cases"]) > 100
    assert sum(case["copies"] != [] for case in vectors["cases"]) > 100
    path = tmp_path / "memo.json"
    path.write_text(json.dumps(vectors))
    run = node("--test", TESTS / "js" / "memo.test.js", NBMETRICS_MEMO=path)
    assert f"compared {len(vectors['cases'])} scenes" in run


@needs_node
def test_the_joined_module_is_one_that_node_can_read(tmp_path):
    path = tmp_path / "memo.mjs"
    path.write_text(modules.module("memorization/view/index.js"))
    node("--check", path)
