"""What Python tells beside the verdict: the variance by source, the best mixture, and only what was asked for last."""

import json
import math
import threading

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.labs.dashboard.on_demand import OnDemand
from nbmetrics.labs.dashboard.place_ranges import standard_errors_apart
from nbmetrics.labs.dashboard.scene import DashboardScene
from tests.labs.dashboard.islands import islands
from tests.labs.dashboard.sample_size_oracle import settle
from tests.labs.inside import mixture_of, scene_of, study_of

CLIENTS, GENERATORS = islands(40, narrow=(0, 1.5, 200), wide=(0, 1.7, 150), off=(2, 1, 200))


@pytest.fixture(scope="module")
def lab():
    lab = nm.Dashboard(CLIENTS, GENERATORS, ("fid", "kid"))
    lab.wait()
    yield lab
    lab.close()


def answered(lab):
    return json.loads(json.dumps(study_of(lab).answer(scene_of(lab))))


def test_the_variance_is_that_of_the_leaders_difference_and_falls_with_each_sources_rows(lab):
    study, shares = study_of(lab), scene_of(lab).shares
    known = study.weighted_scores("kid", shares)
    found = answered(lab)["settle"]["kid"]
    pair = [list(GENERATORS).index(name) for name in found["pair"]]
    assert pair[0] == known.avg_centres.argmin()
    others = [g for g in range(3) if g != pair[0]]
    assert pair[1] == min(others, key=lambda g: standard_errors_apart(known.avg_centres, known.avg_draws, pair[0], g))
    assert found["sizes"] == [90, 60, 40, *(len(GENERATORS[name]) for name in found["pair"])]
    assert min(found["variances"]) > 0
    # Draws of single sources are 256 only, so their variances add up to that of all within sampling error.
    whole = (known.avg_draws[:, pair] @ [1, -1]).var()
    assert sum(found["variances"]) == pytest.approx(whole, rel=0.35)
    now = settle(
        standard_errors_apart(known.avg_centres, known.avg_draws, *pair),
        np.array(found["variances"]),
        np.array(found["sizes"]),
    )
    assert 0 < now.now < 0.5 and all(after < now.now for buy in now.buys for after in buy.after)


def test_a_clients_part_of_the_variance_is_that_of_its_rows_resampled(lab):
    """Beside a bootstrap of north's rows alone, of KID by nm.kid."""
    found = answered(lab)["settle"]["kid"]
    first, second = (GENERATORS[name] for name in found["pair"])
    share, rng, north = scene_of(lab).shares[0], np.random.default_rng(7), CLIENTS["north"]
    kid = nm.metrics.KID()

    def influence_values(rows):
        return share * (nm.kid(rows, first, kernel=kid.kernel) - nm.kid(rows, second, kernel=kid.kernel))

    # Rows that come twice would bias KID of one generator, not the difference of two.
    again = [influence_values(north[rng.integers(0, len(north), len(north))]) for _ in range(300)]
    assert found["variances"][0] == pytest.approx(np.var(again), rel=0.4)


def test_why_there_is_nothing_to_buy(lab):
    distributions = {"north": nm.Gaussian([0, 0]), "south": nm.Gaussian([1, 0])}
    exact = nm.Dashboard(distributions, {"a": nm.Gaussian([0, 0]), "b": nm.Gaussian([1, 1])}, "fid")
    exact.wait()
    assert answered(exact)["settle"]["fid"]["variances"] == [0.0] * 4
    exact.remove("b")
    assert "one generator" in answered(exact)["settle"]["fid"]["why"]
    exact.close()
    resampled = nm.Dashboard(CLIENTS, GENERATORS, "kid", uncertainty=nm.Jackknife(10))
    resampled.wait()
    assert "Influence" in answered(resampled)["settle"]["kid"]["why"]
    resampled.close()


def test_the_mixture_is_nm_best_mixture_and_other_weights_compute_no_kernel_again():
    seen = []

    def cubic(x, y):
        seen.append(1)
        return (x @ y.T / 3.0 + 1.0) ** 3

    kid = nm.metrics.KID(cubic)
    lab = nm.Dashboard(CLIENTS, GENERATORS, kid, uncertainty=nm.Influence())
    lab.wait()
    done = threading.Event()
    lab.observe(lambda change: done.set() if change["new"]["doing"] == "" else None, "mixture")
    lab._receive(None, {"kind": "mixture", "scene": lab.scene}, [])
    assert done.wait(30)
    wanted = nm.best_mixture(CLIENTS, GENERATORS)
    found = json.loads(json.dumps(lab.mixture))
    assert found["alpha"] == pytest.approx(list(wanted.weights.values()), abs=1e-6)
    for name in ("score", "cross_fitted", "best_single_score"):
        assert found[name] == pytest.approx(getattr(wanted, name), rel=1e-6)
    assert found["best_single"] == wanted.best_single and found["note"] == wanted.note and found["doing"] == ""
    alone = np.array(found["by_client"])[:, found["generators"].index(wanted.best_single)]
    np.testing.assert_allclose(alone, wanted.clients["best_single"], rtol=1e-6)
    before = len(seen)
    mixture_of(lab).now(type(scene_of(lab)).parse({**lab.scene, "weights": [1, 2, 3]}))
    assert len(seen) == before
    weighted = nm.Federation(CLIENTS).with_weights([1, 2, 3])
    assert lab.mixture["score"] == pytest.approx(nm.best_mixture(weighted, GENERATORS).score, rel=1e-6)
    lab.close()


def test_a_mixture_that_cannot_be_says_why():
    import pandas as pd

    table = nm.Dashboard.from_table(pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, math.nan]}))
    table._mixture.now(table._scene)
    assert "only scores" in table.mixture["error"]
    table.close()


def test_what_is_asked_for_next_or_nothing_more_ends_what_is_under_way():
    written, scene = [], DashboardScene.parse({"metric": "fid", "weights": [1], "generators": ["a"]})

    def find(_):
        yield {"part": 1}
        asked.drop()
        yield {"part": 2}

    asked = OnDemand(find, written.append, "test")
    asked.now(scene)
    assert written == [{"part": 1}]
    asked.close()
