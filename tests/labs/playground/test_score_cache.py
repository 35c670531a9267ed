"""In a drag one item moves: the answer is as without a memory, and only that item is computed."""

import math
import threading
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from nbmetrics.labs.playground.numbers import FROM_ROWS, MADE, MARGIN_REDRAWS, compute
from nbmetrics.labs.playground.score_cache import ScoreCache
from nbmetrics.metrics import fld, mixture
from nbmetrics.metrics.fid.metric import FID
from tests.slow import by_default
from tests.waiting import until

RNG = np.random.default_rng(0)
SOURCES = {"a": nm.Gaussian([-2, 0], [1, 0.5]), "b": nm.Gaussian([2, 1]), "rows": RNG.normal(size=(40, 2))}
CLIENTS = nm.Federation([nm.Client(source, weight=1, name=name) for name, source in SOURCES.items()])
GENERATORS = {
    "g": nm.Gaussian([0, 0], [3, 1]),
    "h": nm.Gaussian([1, 0]),
    "bumps": nm.scene.Bumps([0, 0], 2, 0.5, 30),
    "smaller": nm.scene.Truncated(CLIENTS, 0.5),
    "copies": nm.scene.Copycat(CLIENTS, "b", 5),
}


# Each metric once, of exact distributions or of rows drawn.
QUICK = [("fid", 0), ("fid", 20), *((name, 0) for name in [*MADE][::2]), *((name, 20) for name in [*FROM_ROWS][::2])]


def scene_of(metric, **settings):
    return nm.Playground(CLIENTS, GENERATORS, metric=metric, **settings)._scene


def moved(scene, kind, step):
    first, *others = getattr(scene, kind)
    first = replace(first, x=math.sin(step), y=math.cos(step))
    return replace(scene, **{kind: (first, *others)})


def drag(scene):
    """The scenes of a drag of a generator, then of a client, and back to the first of them."""
    for kind in ("generators", "clients"):
        for step in (0, 1, 2, 0):
            scene = moved(scene, kind, step)
            yield scene
    yield replace(scene, clients=tuple(replace(c, weight=k + 1.0) for k, c in enumerate(scene.clients)))
    yield replace(scene, clients=scene.clients[1:], generators=scene.generators[:2])


@pytest.mark.parametrize(("metric", "samples"), by_default(product(["fid", *MADE, *FROM_ROWS], (0, 20)), *QUICK))
def test_a_drag_is_answered_as_each_of_its_scenes_alone(metric, samples):
    memory, start = ScoreCache(), scene_of(metric, samples=samples)
    if metric == "fld":  # which takes long
        start = replace(start, generators=start.generators[:2])
    for scene in drag(start):
        found, wanted = compute(scene, memory)["scores"], compute(scene)["scores"]
        assert found.keys() == wanted.keys()
        for name in wanted:
            for part in ("avg", "all", "byClient"):
                np.testing.assert_allclose(found[name][part], wanted[name][part], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "pairs"),
    [("generators", 3), ("clients", 2 + 2)],  # each client and the pool; each generator with that client and the pool
)
def test_only_what_moved_is_computed(kind, pairs, monkeypatch):
    asked = []
    terms = FID.terms
    monkeypatch.setattr(FID, "terms", lambda *given: asked.append(given) or terms(*given))
    memory, scene = ScoreCache(), scene_of("fid")
    scene = replace(scene, clients=scene.clients[:2], generators=scene.generators[:2])
    for step in range(3):
        asked.clear()
        compute(moved(scene, kind, step), memory)
    assert len(asked) == pairs


def test_fld_fits_a_moved_generator_alone(monkeypatch):
    fits = []
    fit = mixture.fit
    monkeypatch.setattr(fld, "fit", lambda *given: fits.append(given) or fit(*given))
    memory, scene = ScoreCache(), scene_of("fld")
    compute(scene, memory)
    fits.clear()
    compute(moved(scene, "generators", 1), memory)
    # g; what follows the clients, "smaller" and "copies", is made anew; and each in the redraws
    assert len(fits) == (len(CLIENTS) + 1) * 3 * (1 + MARGIN_REDRAWS)


def test_what_is_gone_is_forgotten():
    memory, scene = ScoreCache(), scene_of("cfid")
    sizes = []
    for step in range(6):
        compute(moved(scene, "clients", step), memory)
        sizes.append(len(memory._entries))
    assert len(set(sizes[2:])) == 1


def test_fld_of_a_generator_that_is_the_clients_is_about_0():
    same = nm.Gaussian([0, 0])

    def fld_all(generator):
        labs = [nm.Playground([same, same], {"g": generator}, metric="fld", seed=seed) for seed in range(2)]
        return np.mean([lab.result["scores"]["fld"]["all"] for lab in labs])

    assert abs(fld_all(same)) < 6 < 20 < fld_all(nm.Gaussian([1, 0]))


@pytest.mark.threads
def test_scores_that_are_asked_beside_an_answer_leave_nothing():
    """They may be reweighted ten thousand times, in another thread than that of the answers."""
    lab = nm.Playground([RNG.normal(k, 1, (30, 5)) for k in (0, 1)], {"g": RNG.normal(0, 1, (30, 5))})
    scores, memory = lab.scores(), lab._kept._memory
    before = dict(memory._entries)
    first = scores.with_weights([1, 3]).table
    assert memory._entries == before and memory._requested == set()
    with memory:
        forgotten, memory._entries = memory._entries, {}
        found = []
        asking = threading.Thread(target=lambda: found.append(scores.with_weights([1, 3]).table))
        asking.start()
        asking.join()
        assert memory._entries == {} and memory._requested == set()
        memory._entries = forgotten
    assert found[0].equals(first)
    lab.close()


def test_points_that_are_remembered_cannot_be_changed():
    def scene():
        return nm.Scene.of([nm.Gaussian([1.5, 0])], {"g": nm.Gaussian([0.25, 0])}, samples=50)

    (client,) = scene().federation
    with pytest.raises(ValueError, match="read-only"):
        client.rows *= 3.0
    assert scene().sources["g"].flags.writeable is False


def test_rows_that_the_user_changes_afterwards_are_as_they_were_given():
    rows = RNG.normal(size=(40, 2))
    lab = nm.Playground({"mine": rows}, {"g": nm.Gaussian([0, 0])})
    before = lab.scores().table
    rows += 5.0
    lab.attach("h", nm.Gaussian([1, 0]))
    after = lab.scores().table.query("generator == 'g'").reset_index(drop=True)
    pd.testing.assert_frame_equal(after, before, rtol=1e-9, atol=1e-12)
    until(lambda: lab.result["rev"] == lab.scene["rev"])
    np.testing.assert_allclose(lab.result["scores"]["fid"]["all"], lab.scores().values("fid").all, rtol=1e-9)
    lab.close()
