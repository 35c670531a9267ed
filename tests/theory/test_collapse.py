"""What a collapse does to FID-avg: beside the closed form on a line, SciPy's square roots, and scores of drawn rows."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import nbmetrics as nm
from nbmetrics import theory
from tests.distributions import frechet

places, widths, shares = (st.integers(low, 500).map(lambda n: n / 100) for low in (-500, 1, 5))
line = st.lists(st.tuples(places, widths, shares), min_size=2, max_size=5)


def distribution(mean, cov):
    return SimpleNamespace(mean=mean, cov=cov)


def on_a_line(clients):
    """(federation, means, standard deviations, λ) of Gaussians with d = 1, whose FID is (μ − m)² + (σ − s)²."""
    means, spreads, weights = np.array(clients).T
    distributions = [nm.Client(nm.Gaussian([m], s**2), weight=w) for m, s, w in clients]
    return nm.Federation(distributions), means, spreads, weights / weights.sum()


@settings(max_examples=60)
@given(line, st.lists(places, min_size=1, max_size=6))
def test_on_a_line_it_is_what_the_closed_form_says(clients, target):
    federation, means, spreads, weights = on_a_line(clients)
    found = theory.collapse(federation, np.array(target)[:, None])
    centre = weights @ means
    total = weights @ (spreads**2 + (means - centre) ** 2)
    assert pytest.approx(total) == found.T
    assert found.r == pytest.approx(weights @ spreads / np.sqrt(total))
    assert found.q == pytest.approx((np.mean(target) - centre) ** 2 / total, abs=1e-9)
    before = weights @ ((means - centre) ** 2 + (spreads - np.sqrt(total)) ** 2)
    after = weights @ ((means - np.mean(target)) ** 2 + (spreads - np.std(target)) ** 2)
    assert (found.before, found.after) == pytest.approx((before, after), abs=1e-7)
    assume(before > 1e-3)
    assert found.ratio == pytest.approx(after / before, rel=1e-4)
    if len(target) == 1 and abs(found.q - (1 - 2 * found.r)) > 1e-6:
        assert (found.ratio < 1) == (found.q < 1 - 2 * found.r)


def test_clients_that_are_alike_have_no_ratio_and_those_of_one_point_no_distribution():
    alike = [nm.Gaussian([1.0, 2.0])] * 2
    found = theory.collapse(alike, [1.0, 2.0])
    assert found.ratio == np.inf and found.after == pytest.approx(2.0)
    with pytest.raises(nm.InvalidInput, match="do not vary"):
        theory.collapse([np.ones((4, 2)), np.ones((5, 2))], [1.0, 1.0])


@pytest.mark.filterwarnings("ignore:Matrix is singular")
@pytest.mark.parametrize("kind", ["a point", "a narrow heap", "a line"])
def test_in_several_dimensions_it_is_the_mean_of_scipys_fids(kind):
    rng = np.random.default_rng(3)
    roots, means, weights = rng.normal(size=(4, 3, 3)), rng.normal(size=(4, 3)), np.array([0.4, 0.3, 0.2, 0.1])
    covs = roots @ roots.transpose(0, 2, 1)
    distributions = [nm.Client(nm.Gaussian(m, c), weight=w) for m, c, w in zip(means, covs, weights, strict=True)]
    rows = {"a point": means[:1], "a narrow heap": 0.1 * rng.normal(size=(9, 3)), "a line": [[1.0, 1, 1], [2, 2, 2]]}
    target = np.asarray(rows[kind])
    found = theory.collapse(distributions, target)
    mean = weights @ means
    pool = np.einsum("k,kij->ij", weights, covs + (means - mean)[:, :, None] * (means - mean)[:, None])
    left = (target.mean(axis=0), np.cov(target.T, ddof=0) if len(target) > 1 else np.zeros((3, 3)))
    before, after = (
        sum(w * frechet(distribution(m, c), made) for w, m, c in zip(weights, means, covs, strict=True))
        for made in (distribution(mean, pool), distribution(*left))
    )
    assert found[:3] == pytest.approx((before, after, after / before), rel=1e-6)
    assert pytest.approx(np.trace(pool)) == found.T


def test_drawn_rows_score_as_it_says():
    """FID's bias at 4,000 rows of 3 columns is about 0.002, of scores of 2 to 6."""
    rng = np.random.default_rng(0)
    clients = {f"c{i}": rng.normal(3 * np.eye(3)[i], 0.4, (4_000, 3)) for i in range(3)}
    target = np.array([1.2, 0.8, 1.0]) + 0.2 * rng.normal(size=(4_000, 3))
    perfect = np.concatenate([rng.normal(3 * np.eye(3)[i], 0.4, (4_000, 3)) for i in range(3)])
    table = nm.evaluate(clients, {"perfect": perfect, "heap": target}, "fid", progress=False).table
    found = theory.collapse(clients, target)
    assert table["avg"].to_numpy() == pytest.approx([found.before, found.after], rel=0.01)
    assert table["all"][0] < 0.01 and found.ratio < 1  # FID-avg calls it an improvement
    # a random point of the data raises FID-avg, 1 / (1 − r) times on average
    some = np.concatenate(list(clients.values()))[::120]
    ratios = [theory.collapse(clients, row).ratio for row in some]
    assert np.mean(ratios) == pytest.approx(1 / (1 - found.r), rel=4 * np.std(ratios) / len(some) ** 0.5)
