"""The slopes of FID-all over the weights, against differences of FID-all itself."""

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.metrics import FID, Sample


def summaries(rows):
    return [FID().summarize(Sample(rows=x) if isinstance(x, np.ndarray) else Sample(distribution=x)) for x in rows]


def differences(scores, weights, step=1e-5):
    """d FID-all along (1 − t) λ + t e_i, at t = 0, by central differences."""
    found = []
    for unit in np.eye(len(weights)):
        ends = [scores.with_weights((1 - t) * weights + t * unit).values("fid").all for t in (step, -step)]
        found.append((ends[0] - ends[1]) / (2 * step))
    return np.transpose(found)


def wide(rng, d):
    return [rng.normal(0.5 * i, 1 + 0.2 * i, size=(d // 2 + 6 * i, d)) for i in range(4)]


def flat(rng, d):
    """Clients, and so their pool, vary in three directions only."""
    plane = rng.normal(size=(3, d))
    return [rng.normal(0.3 * i, 1, size=(20 + i, 3)) @ plane for i in range(3)]


def mixed(rng, d):
    return [nm.Gaussian(np.ones(d), 1.5), rng.normal(size=(30, d)), nm.Gaussian(np.zeros(d), np.diag(np.arange(d)))]


@pytest.mark.parametrize(("make", "d", "rtol"), [(wide, 6, 1e-6), (wide, 80, 1e-6), (flat, 6, 1e-6), (mixed, 5, 1e-6)])
def test_slopes_are_differences_of_fid_all(make, d, rtol):
    rng = np.random.default_rng(0)
    real, made = make(rng, d), [rng.normal(0.2, 1.3, size=(3 * d, d)), nm.Gaussian(np.zeros(d))]
    made.append(rng.normal(size=(d // 2, d)))  # a generator in few directions
    weights = np.arange(1.0, len(real) + 1)
    weights /= weights.sum()
    clients = [nm.Client(x, weight=w) for x, w in zip(real, weights, strict=True)]
    scores = nm.evaluate(clients, {f"g{j}": x for j, x in enumerate(made)}, "fid", progress=False)
    wanted = differences(scores, weights)
    found = np.array([FID().slopes(summaries(real), weights, g) for g in summaries(made)])
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6 * abs(wanted).max())
    np.testing.assert_allclose(found @ weights, 0.0, atol=1e-9 * abs(found).max())


def test_a_client_of_weight_0_has_a_slope_unless_it_brings_new_directions():
    rng = np.random.default_rng(1)
    real = [rng.normal(size=(30, 2)) * [1.0, 0.0] for _ in range(2)]
    inside, outside = rng.normal(1, 2, size=(20, 2)) * [1.0, 0.0], rng.normal(size=(20, 2))
    (made,) = summaries([rng.normal(size=(50, 2))])
    slopes = FID().slopes(summaries([*real, inside, outside]), [0.5, 0.5, 0.0, 0.0], made)
    assert np.isfinite(slopes[:3]).all() and np.isnan(slopes[3])
    scores = nm.evaluate([*real, inside], [nm.Generator(made_rows(made), name="g")], "fid", progress=False)
    step = 1e-4
    ends = [scores.with_weights([(1 - t) / 2, (1 - t) / 2, t]).values("fid").all[0] for t in (0.0, step, 2 * step)]
    assert slopes[2] == pytest.approx((4 * ends[1] - 3 * ends[0] - ends[2]) / (2 * step), rel=1e-3)


def made_rows(moments):
    """A distribution of these moments."""
    return nm.Gaussian(moments.mean, moments.cov)


def test_other_metrics_have_none_and_one_client_has_nowhere_to_go():
    (alone, made) = summaries([np.random.default_rng(2).normal(size=(n, 2)) for n in (20, 30)])
    assert nm.metrics.KID().slopes([alone], [1.0], made) is None
    np.testing.assert_allclose(FID().slopes([alone], [1.0], made), [0.0], atol=1e-12)
