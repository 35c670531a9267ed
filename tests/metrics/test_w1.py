"""W1 beside closed forms in one dimension, linear programming, assignment, and its own properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment, linprog
from scipy.spatial.distance import cdist
from scipy.stats import wasserstein_distance

import nbmetrics as nm
from nbmetrics.metrics import w1 as transport
from nbmetrics.metrics.base import Sample
from nbmetrics.metrics.w1 import W1, w1
from nbmetrics.summaries.rows import Rows

pytest.importorskip("ot", reason="W1 needs POT: pip install nbmetrics[transport]")
RNG = np.random.default_rng(20261122)
seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=20, deadline=None, derandomize=True)


def draw(seed, *shapes):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in shapes]


def weighted(rows, weights):
    return Rows(rows, np.asarray(weights, float) / np.sum(weights))


def by_linear_programming(x, y, a, b):
    """The transport problem as any solver sees it."""
    n, m = len(x), len(y)
    leaving, arriving = np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))
    found = linprog(cdist(x, y).ravel(), A_eq=np.vstack([leaving, arriving]), b_eq=np.concatenate([a, b]))
    return found.fun


def test_in_one_dimension_it_is_the_distance_of_sorted_samples():
    x, y = RNG.normal(size=200), RNG.normal(size=200) * 2 + 1
    expected = np.abs(np.sort(x) - np.sort(y)).mean()
    for method in ("exact", "sliced", "auto"):
        assert w1(x[:, None], y[:, None], method) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("method", ["exact", "sliced"])
def test_in_one_dimension_with_weights_it_is_scipys(method):
    x, y = RNG.normal(size=60), RNG.normal(size=45) + 0.5
    a, b = RNG.uniform(0.1, 1, 60), RNG.uniform(0, 1, 45)
    expected = wasserstein_distance(x, y, a, b)
    found = W1(method).distance(weighted(x[:, None], a), weighted(y[:, None], b))
    assert found == pytest.approx(expected, rel=1e-9)


def test_exact_is_the_best_assignment():
    x, y = RNG.normal(size=(80, 5)), RNG.normal(size=(80, 5)) + 0.3
    costs = cdist(x, y)
    assert w1(x, y, "exact") == pytest.approx(costs[linear_sum_assignment(costs)].mean(), rel=1e-12)


def test_exact_with_weights_is_the_linear_program():
    x, y = RNG.normal(size=(12, 3)), RNG.normal(size=(9, 3))
    a, b = RNG.dirichlet(np.ones(12)), RNG.dirichlet(np.ones(9))
    found = W1("exact").distance(weighted(x, a), weighted(y, b))
    assert found == pytest.approx(by_linear_programming(x, y, a, b), rel=1e-8)


def test_sliced_is_the_mean_over_the_same_directions():
    x, y = RNG.normal(size=(50, 4)), RNG.normal(size=(70, 4)) * 1.3
    directions = np.random.default_rng(5).standard_normal((4, 16))
    directions /= np.linalg.norm(directions, axis=0)
    expected = np.mean([wasserstein_distance(x @ u, y @ u) for u in directions.T])
    assert w1(x, y, "sliced", projections=16, seed=5) == pytest.approx(expected, rel=1e-9)
    assert w1(x, y, "sliced", projections=16, seed=6) != pytest.approx(expected, rel=1e-9)
    assert np.isfinite(w1(x, y, "sliced", seed=2**200))


@pytest.mark.parametrize("method", ["exact", "sliced"])
@pytest.mark.parametrize("scale", [1e-139, 1e-13, 1e-12, 1e12, 1e44])
def test_units_change_nothing(method, scale):
    x, y = draw(0, (100, 2), (40, 2))
    y = x[:40] + 0.3
    assert w1(scale * x, scale * y, method) / scale == pytest.approx(w1(x, y, method), rel=1e-9)


@pytest.mark.parametrize("method", ["exact", "sliced"])
@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e-141])
def test_features_that_differ_by_too_little_are_refused(method, scale):
    x, y = draw(0, (100, 2), (40, 2))
    with pytest.raises(nm.InvalidInput, match="too little to square"):
        w1(scale * x, scale * y, method)


def test_small_features_at_an_offset_are_the_best_assignment():
    x, y = (1e-9 * z for z in draw(3, (60, 3), (60, 3)))
    x, y = x + 1.0, y + 1.0  # what the sum rounds away is no error of the distance between these rows
    costs = cdist(x, y)
    assert w1(x, y, "exact") == pytest.approx(costs[linear_sum_assignment(costs)].mean(), rel=1e-12)


@pytest.mark.parametrize("far", [1e3, 1e9, 1e12, 1e15])
def test_an_outlier_on_both_sides_is_right_or_refused(far):
    x, y = draw(4, (100, 2), (100, 2))
    x[0] = y[0] = far
    costs = cdist(x, y)
    best = costs[linear_sum_assignment(costs)].mean()
    if far < 1e10:
        assert w1(x, y, "exact") == pytest.approx(best, rel=1e-6)
    else:
        with pytest.raises(nm.InvalidInput, match="known only to lie between"):
            w1(x, y, "exact")


def test_rows_all_alike_are_at_distance_0():
    for method in ("exact", "sliced", "critic"):
        assert w1(np.full((5, 2), 7.0), np.full((3, 2), 7.0), method) == 0


def test_a_shift_costs_its_length_and_sliced_less():
    x = RNG.normal(size=(60, 30))
    shift = RNG.normal(size=30)
    assert w1(x, x + shift, "exact") == pytest.approx(np.linalg.norm(shift), rel=1e-9)
    expected = np.linalg.norm(shift) * np.sqrt(2 / (np.pi * 30))
    assert w1(x, x + shift, "sliced", projections=4000) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("method", ["exact", "sliced"])
@given(seed=seeds, scale=st.floats(0.1, 10))
@quick
def test_it_is_a_metric_that_scales(method, seed, scale):
    rng = np.random.default_rng(seed)
    x, y, z = (rng.normal(size=(n, 3)) + rng.normal(size=3) for n in (20, 25, 15))
    between = w1(x, y, method)
    assert between >= 0
    assert w1(x, x, method) == pytest.approx(0, abs=1e-12)
    assert w1(y, x, method) == pytest.approx(between, rel=1e-9)
    assert w1(scale * x, scale * y, method) == pytest.approx(scale * between, rel=1e-9)
    assert w1(x + 3, y + 3, method) == pytest.approx(between, rel=1e-9)
    assert w1(rng.permutation(x), rng.permutation(y), method) == pytest.approx(between, rel=1e-9)
    assert w1(x, z, method) <= between + w1(y, z, method) + 1e-9
    assert w1(x, y, "sliced") <= w1(x, y, "exact") + 1e-9


@given(st.floats(0.01, 0.99))
@quick
def test_all_takes_any_weights(share):
    clients = [RNG.normal(size=(20, 2)), RNG.normal(size=(30, 2)) + 2]
    generated = RNG.normal(size=(25, 2)) + 1
    federation = nm.Federation(clients).with_weights([share, 1 - share])
    row = nm.evaluate(federation, {"g": generated}, [W1("exact")], progress=False).table.iloc[0]
    parts = [w1(rows, generated, "exact") for rows in clients]
    a = np.repeat([share / 20, (1 - share) / 30], [20, 30])
    expected = W1("exact").distance(weighted(np.concatenate(clients), a), weighted(generated, np.ones(25)))
    assert row["avg"] == pytest.approx(np.dot([share, 1 - share], parts), rel=1e-9)
    assert row["all"] == pytest.approx(expected, rel=1e-9)
    assert row["all"] <= row["avg"] + 1e-9


def test_auto_is_settled_once_for_the_federation(monkeypatch):
    monkeypatch.setattr(transport, "EXACT_ROWS", 50)
    clients, generated = [RNG.normal(size=(n, 2)) for n in (20, 31)], RNG.normal(size=(30, 2))
    scores = nm.evaluate(clients, {"g": generated}, [W1()], progress=False)
    expected = np.average([w1(rows, generated, "sliced") for rows in clients], weights=[20, 31])
    assert scores.table["avg"][0] == pytest.approx(expected)
    assert W1().resolve([Sample(rows=clients[0])]).method == "exact"
    assert W1().resolve([Sample(distribution=nm.Gaussian([0, 0]))]).method == "sliced"
    assert W1("exact").resolve([Sample(rows=np.zeros((51, 2)))]).method == "exact"
    assert w1(clients[0], generated) == w1(clients[0], generated, "exact")


def test_conventions():
    assert "exact optimal transport" in W1("exact").convention
    assert "sliced, 9 directions, seed 4" in W1("sliced", projections=9, seed=4).convention
    assert "exact up to" in W1().convention
    assert not W1().higher_is_better


@pytest.mark.parametrize("method", ["exact", "sliced"])
def test_torch_and_float32_give_the_same(method):
    torch = pytest.importorskip("torch")
    x, y = (RNG.normal(size=(n, 4)).astype(np.float32) for n in (40, 30))
    expected = w1(x.astype(float), y.astype(float), method)
    assert w1(x, y, method) == pytest.approx(expected, rel=1e-9)
    assert w1(torch.from_numpy(x), y, method) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("act", "match"),
    [
        (lambda: W1("sinkhorn"), "method"),
        (lambda: W1(projections=0), "projections"),
        (lambda: w1(np.eye(3), np.eye(4)), "generated: has 4 features"),
        (lambda: w1(np.eye(3) * np.nan, np.eye(3)), "real: .* NaN"),
        (lambda: w1(np.zeros((0, 3)), np.eye(3)), "real: has 0 rows"),
        (lambda: w1(np.ones((10**5, 1)), np.zeros((10**4, 1)), "exact"), "W1.'sliced'"),
    ],
)
def test_bad_input(act, match):
    with pytest.raises(nm.InvalidInput, match=match):
        act()


@pytest.mark.slow
def test_the_critic_finds_a_shift_and_stays_below_the_distance(monkeypatch):
    pytest.importorskip("torch", reason="the critic is a torch network: pip install nbmetrics[images]")
    import torch

    monkeypatch.setattr("nbmetrics.metrics.w1.CRITIC_STEPS", 150)  # of 400: enough in the plane
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(600, 2)), rng.normal(size=(500, 2)) + np.array([3.0, 0.0])
    before = torch.random.get_rng_state()
    found, exact = nm.w1(x, y, "critic"), nm.w1(x, y, "exact")
    assert 0.9 * exact < found < 1.02 * exact
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.slow
def test_the_critic_repeats_finds_nothing_between_equals_and_pools():
    pytest.importorskip("torch", reason="the critic is a torch network: pip install nbmetrics[images]")
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(600, 2)), rng.normal(size=(500, 2)) + np.array([3.0, 0.0])
    assert nm.w1(x, y, "critic") == nm.w1(x, y, "critic", seed=0)
    assert nm.w1(x, x, "critic") < 0.1
    scores = nm.evaluate([x, x + 1], {"g": y}, nm.metrics.W1("critic"), progress=False).with_weights([3, 1])
    assert np.isfinite(scores.table["all"]).all()
