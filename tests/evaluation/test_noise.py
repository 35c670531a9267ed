"""Draws of the noise of scores vary together as the variances say, and are rounded to bytes."""

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.evaluation.influence import mixture_strata
from nbmetrics.evaluation.noise import InfluenceNoise, Multipliers, pack_draws, unpack_draws
from tests.evaluation.whole_noise import noise
from tests.slow import slow

MANY = 20_000
ERROR = 4.0 / np.sqrt(2 * MANY)  # of a standard deviation, four of its own


@pytest.fixture(scope="module")
def sides():
    rng = np.random.default_rng(0)
    rows = [rng.normal(0.3 * i, 1, size=(30 + 5 * i, 3)) for i in range(3)]
    real = [*(nm.Client(x, weight=w) for x, w in zip(rows, (2, 1, 1))), nm.Client(nm.Gaussian(np.ones(3)), weight=0)]
    made = {f"g{j}": rng.normal(0.2 * j, 1 + 0.2 * j, size=(60, 3)) for j in range(2)}
    return nm.Federation(real), {**made, "exact": nm.Gaussian(np.zeros(3))}


class Parties(Multipliers):
    """The multipliers without the doubt about how much few rows vary, whose variances are those of influence values."""

    def mean(self, influence_values, party):
        n = influence_values.shape[-1]
        rng = np.random.default_rng([self.seed, *party])
        rng.standard_normal((n, self.count))
        return super().mean(influence_values, party) * np.sqrt(rng.chisquare(n - 1, self.count) / (n - 1))


@pytest.mark.parametrize("n", [5, 12, 200])
def test_draws_of_one_party_are_student_t_and_shared(n):
    """σ/√n times Student's t with n − 1 degrees of freedom; whatever meets the same rows meets the same noise."""
    from scipy import stats

    influence_values = np.random.default_rng(n).gamma(2.0, size=(2, n))
    drawn = Multipliers(MANY, 0).mean(influence_values, [0, 3])
    error = influence_values.std(axis=1, ddof=1) / np.sqrt(n)
    for own, scale in zip(drawn, error, strict=True):
        assert stats.kstest(own / scale, stats.t(n - 1).cdf).pvalue > 0.001
    np.testing.assert_allclose(
        Multipliers(MANY, 0).mean(influence_values[0] - influence_values[1], [0, 3]), drawn[0] - drawn[1], atol=1e-12
    )
    assert abs(np.corrcoef(drawn[0], Multipliers(MANY, 0).mean(influence_values[0], [0, 4]))[0, 1]) < 5 / np.sqrt(MANY)
    if n > 100:
        np.testing.assert_allclose(drawn.var(axis=1), error**2 * (n - 1) / (n - 3), rtol=0.05)


@pytest.mark.parametrize("metric", ["fid", *slow("kid")])
def test_draws_have_the_variances_of_influence_values(sides, metric, monkeypatch):
    monkeypatch.setattr("tests.evaluation.whole_noise.Multipliers", Parties)
    scores = nm.evaluate(*sides, metric, uncertainty=nm.Influence(), progress=False)
    (result,) = scores._results
    drawn, spread = noise(result, MANY), result.noise.source.spread(scores.weights)
    avg = drawn.by_client[:, :, :3] @ scores.weights[:3]
    parts = {"client": drawn.by_client, "all": drawn.all, "avg": avg, "gap": avg - drawn.all}
    for part, draws in parts.items():
        np.testing.assert_allclose(draws.std(axis=0), spread.variance[part].root, rtol=ERROR, atol=1e-12)
    for part, draws in (("avg", avg), ("all", drawn.all)):
        apart = (draws[:, :, None] - draws[:, None, :]).std(axis=0)
        np.testing.assert_allclose(apart, spread.apart[part].root, rtol=ERROR, atol=1e-12)
    np.testing.assert_array_equal(drawn.centres, spread.client)
    np.testing.assert_array_equal(drawn.all_centres, spread.all)
    assert drawn.by_client.std(axis=0)[2, 3] == 0.0  # distribution with distribution
    assert abs(drawn.by_client.mean(axis=0)).max() < ERROR * spread.variance["client"].root.max() * 2


@pytest.mark.parametrize("metric", ["fid", *slow("kid")])
def test_draws_with_a_mixture_have_the_variances_of_influence_values(sides, metric):
    """Of clients, avg, intra and the gap, of a generator that two clients share a part of."""
    federation, rng = sides[0], np.random.default_rng(1)
    both = rng.normal(0.2, 1.2, (60, 3))
    made = dict(zip(federation.names, [both, rng.normal(size=(40, 3)), both, nm.Gaussian(np.ones(3))], strict=True))
    scores = nm.evaluate(federation, [made], metric, uncertainty=nm.Influence(), progress=False)
    source, weights = scores._results[0].noise.source, scores.weights
    spread, (generated,) = source.spread(weights), source.generated
    mixture = mixture_strata(source.metric, generated, weights)
    noise = InfluenceNoise(source.metric, generated, 0, Parties(MANY, 0))
    drawn = noise.with_mixture(source.real, mixture, weights)
    of_all = noise.all(source.metric.pool_strata(source.real, weights), mixture, weights).draws[:, 0]
    avg, intra = (column.draws @ np.array(weights) for column in (drawn, noise.clients(source.real)))
    parts = {"client": drawn.draws[:, None], "avg": avg, "all": of_all, "gap": avg - of_all, "intra": intra}
    for part, draws in parts.items():
        root = spread.variance[part].root
        np.testing.assert_allclose(draws.std(axis=0), root if part == "client" else root[0], rtol=ERROR, atol=1e-12)
    np.testing.assert_array_equal(drawn.centres, spread.client[0])


@pytest.mark.parametrize("metric", ["kid", *slow("precision")])
def test_draws_of_the_jackknife_have_its_variances(sides, metric):
    federation, made = sides
    real = nm.Federation(federation.clients[:3]).with_weights([30, 35, 40])
    scores = nm.evaluate(real, made, metric, uncertainty=nm.Jackknife(15), samples=40, progress=False)
    (result,) = scores._results
    drawn, weights = noise(result, MANY), scores.weights
    resamples, shares = result.noise.source.resamples, np.array(weights)
    by_client, pooled = result.noise.source.scores(weights)
    for draws, again in (
        (drawn.by_client, by_client),
        (drawn.all, pooled),
        (drawn.by_client @ shares - drawn.all, by_client @ shares - pooled),
    ):
        variance = resamples._spread(again[0], again)[1]
        np.testing.assert_allclose(draws.std(axis=0), variance, rtol=ERROR, atol=1e-12)


def test_draws_of_a_bootstrap_are_its_replicates():
    rng = np.random.default_rng(1)
    real, made = [rng.normal(size=(20, 2)) for _ in range(2)], {"g": rng.normal(size=(30, 2))}
    scores = nm.evaluate(real, made, "kid", uncertainty=nm.Bootstrap(40), progress=False)
    by_client, pooled = scores._results[0].noise.source.scores(scores.weights)
    drawn = noise(scores._results[0])
    np.testing.assert_allclose(drawn.by_client, by_client - by_client.mean(axis=0), atol=1e-15)
    np.testing.assert_allclose(drawn.all, pooled - pooled.mean(axis=0), atol=1e-15)


def test_where_there_is_no_interval_the_noise_is_unknown_and_says_why():
    rng = np.random.default_rng(2)
    real = {"few": rng.normal(size=(12, 20)), "many": rng.normal(size=(200, 20))}
    made = {"g": rng.normal(size=(200, 20))}
    plain = nm.evaluate(real, made, "fid", progress=False)
    drawn = noise(plain._results[0])
    assert np.isnan(drawn.by_client).all() and drawn.all_reasons == ("evaluated without uncertainty",)
    sure = nm.evaluate(real, made, "fid", uncertainty=nm.Influence(), progress=False)
    drawn = noise(sure._results[0])
    assert np.isnan(drawn.by_client).all(axis=0).tolist() == [[True, False]]
    assert "12 rows" in drawn.reasons[0][0] and drawn.reasons[0][1] == ""
    distributions = nm.evaluate(
        [nm.Gaussian([0.0]), nm.Gaussian([1.0])], {"g": nm.Gaussian([0.5])}, "kid", progress=False
    )
    drawn = noise(distributions._results[0])
    assert (drawn.by_client == 0).all() and (drawn.all == 0).all()
    np.testing.assert_array_equal(drawn.centres, distributions.values("kid").by_client)


def test_rows_too_few_for_a_variance_have_no_noise_of_their_own_and_stop_nobody_else():
    rng = np.random.default_rng(4)
    real = {"three": rng.normal(size=(3, 2)), "four": rng.normal(size=(4, 2)), "many": rng.normal(size=(90, 2))}
    made = {"g": rng.normal(size=(80, 2)), "three": rng.normal(size=(3, 2))}
    scores = nm.evaluate(real, made, "kid", uncertainty=nm.Influence(), progress=False)
    drawn = noise(scores._results[0])
    assert np.isnan(drawn.by_client).any(axis=0).tolist() == [[True, False, False], [True, True, True]]
    assert drawn.reasons[0] == ("fewer than 4 rows: no interval", "", "")
    assert np.isfinite(drawn.all).all() and np.isfinite(drawn.centres).all()


def test_packed_draws_are_right_to_half_a_unit():
    rng = np.random.default_rng(3)
    draws = rng.normal(size=(256, 4)) * [1.0, 1e-9, 0.0, np.nan]
    scale, numbers = pack_draws(draws)
    assert len(numbers) == draws.size
    np.testing.assert_allclose(scale[:2], abs(draws[:, :2]).max(axis=0) / 127)
    found = unpack_draws(scale, numbers)
    assert (abs(found - draws)[:, :2] <= 0.5 * scale[:2] * (1 + 1e-12)).all()
    assert (found[:, 2] == 0).all() and np.isnan(found[:, 3]).all()
    np.testing.assert_allclose(found[:, 0].std(), draws[:, 0].std(), rtol=1e-3)
