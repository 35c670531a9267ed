"""Runs of models in a Dashboard: which models differ by more than their runs do, instead of advice to ship a run."""

import numpy as np
import pytest

import nbmetrics as nm
from tests.labs.inside import answer, scene_of

RNG = np.random.default_rng(3)
CLIENTS = {name: RNG.normal(shift, 1.0, (120, 3)) for name, shift in (("a", 0.0), ("b", 1.0))}
MODELS = {name: [RNG.normal(shift, 1.1, (150, 3)) for _ in range(3)] for name, shift in (("ddpm", 0.5), ("gan", 1.2))}


@pytest.fixture
def lab():
    made = nm.Dashboard(CLIENTS, MODELS)
    yield made
    made.close()


def test_the_verdict_is_of_models_as_that_of_the_scores(lab):
    for weights in ([0.5, 0.5], [0.8, 0.2]):
        lab.scene = {**lab.scene, "weights": weights}
        lab.wait()
        answer(lab, scene_of(lab))
        told = lab.result["models"]
        lines = str(lab.scores)
        for metric in ("fid", "kid"):
            assert told[metric] and all(f"{part}." in f"{lines}." for part in told[metric].rstrip(".").split(". "))
        assert lab.verdict[1] == told["fid"] and not any("Ship" in sentence for sentence in lab.verdict)
    assert "ddpm is better than gan" in told["fid"]


def test_models_that_come_and_go_are_told_anew(lab):
    for name in [name for name in lab.scene["generators"] if name.startswith("gan")]:
        lab.remove(name)
    assert "gan" not in " ".join(lab.verdict)
    lab.undo()
    assert "gan has one run" in lab.verdict[1]
    lab.undo(), lab.undo()
    assert "ddpm is better than gan" in lab.verdict[1]
    lab.attach("other", nm.Generator(RNG.normal(2.0, 1.0, (100, 3)), group="other"))
    assert "2 pairs not tested" in lab.verdict[1]


def test_a_run_that_is_replaced_under_its_name_is_told_anew(lab):
    before = lab.verdict[1]
    lab.remove("gan 3")
    lab.attach("gan 3", nm.Generator(RNG.normal(9.0, 1.0, (150, 3)), group="gan"))
    assert lab.verdict[1] != before and "no model is shown to be better" in lab.verdict[1]


def test_without_runs_there_is_nothing_of_models():
    lab = nm.Dashboard(CLIENTS, {name: runs[0] for name, runs in MODELS.items()})
    lab.wait()
    answer(lab, scene_of(lab))
    assert lab.result["models"] == {} and lab.verdict[1].startswith(("Ship", "Choose", "Score", "For each"))
    lab.close()
