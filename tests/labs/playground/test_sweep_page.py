"""sweep.js and Python give the same curves: `gaussian_toy` of the papers, and single values of random scenes."""

import json
import math

import numpy as np

import nbmetrics as nm
from nbmetrics.labs.playground.numbers import MADE
from tests import TESTS
from tests.node import needs_node, node

STEPS = 60
HALF = 5.0


def set_to(parameter, item, value):
    if parameter == "variance":
        return {**item, "width": math.sqrt(value)}
    if parameter == "scale":
        factor = value / max(item["width"], item["height"])
        return {**item, "width": factor * item["width"], "height": factor * item["height"]}
    return {**item, parameter: value}


RANGES = {
    "variance": (0, 0.2 * HALF**2),
    "height": (0, HALF / 2),
    "scale": (HALF / 250, HALF / 2),
    "x": (-HALF, HALF),
    "y": (-HALF, HALF),
    "angle": (-90, 90),
    "psi": (0, 1.5),
}


def toy_cases():
    values = [5 * k / STEPS for k in range(STEPS + 1)]
    table = nm.experiments.gaussian_toy(values)
    scene = nm.scene.presets()["Two clients"].to_json()
    for metric in ("fid", "kid"):
        columns = {"avg": "avg", "all": "all", "gap": "gap", "ideal": "ref"}
        for k, row in enumerate(table.to_dict("records")):
            expected = {curve: row[f"{metric}_{name}"] for curve, name in columns.items()}
            yield {"scene": scene, "metric": metric, "at": [k, values[k]], "expected": expected}


def random_cases(rng):
    def item(name, **more):
        place = {key: float(rng.uniform(-3, 3)) for key in ("x", "y")}
        shape = {key: float(rng.uniform(0.2, 2)) for key in ("width", "height")}
        return {"name": name, **place, **shape, "angle": float(rng.uniform(-90, 90)), **more}

    for parameter in (*RANGES, "weight"):
        for metric in ("fid", "kid", "kid_rbf", "cfid"):
            clients = [item(f"C{i}", weight=float(rng.uniform(0.2, 2))) for i in range(3)]
            generator = {"name": "G", "kind": "truncated", "psi": 0.5} if parameter == "psi" else item("G")
            view = {"metric": metric, "panel": "sweep", "sweep": parameter}
            scene = {"clients": clients, "generators": [generator], "half": HALF, "view": view}
            others = 4 * (clients[1]["weight"] + clients[2]["weight"]) / 2
            low, high = RANGES.get(parameter, (0, others))
            k = int(rng.integers(1, STEPS))
            value = low + (high - low) * k / STEPS
            kind = "clients" if parameter == "weight" else "generators"
            moved = {**scene, kind: [set_to(parameter, scene[kind][0], value), *scene[kind][1:]]}
            yield {
                "scene": nm.Scene.parse(scene).to_json(),
                "metric": metric,
                "at": [k, value],
                "expected": scores_of(nm.Scene.parse(moved), metric),
            }


def scores_of(scene, metric):
    made = MADE[metric]() if metric in MADE else metric
    sources = {**scene.sources, "ideal": nm.scene.Truncated(scene.distributions, 1.0)}
    table = nm.evaluate(scene.federation, sources, [made], progress=False).table
    row, ideal = table.to_dict("records")
    return {"avg": row["avg"], "all": row["all"], "gap": row["gap"], "ideal": ideal["avg"]}


@needs_node
def test_the_page_sweeps_as_python_does(tmp_path):
    cases = [*toy_cases(), *random_cases(np.random.default_rng(5))]
    path = tmp_path / "sweeps.json"
    path.write_text(json.dumps(cases))
    test = TESTS / "js" / "sweep.test.js"
    run = node("--test", str(test), NBMETRICS_SWEEPS=path)
    assert f"compared {4 * len(cases)} numbers" in run
