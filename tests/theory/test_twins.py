"""Twin generators: as printed they do not score alike, as corrected they do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nbmetrics as nm
from nbmetrics import theory
from tests.distributions import covariance, frechet, random_federation, random_rows
from tests.slow import slow


def printed_twins(federation):
    """Proposition 1 as printed: the twins score alike with every client."""
    pair = theory.printed_twin(federation)
    np.testing.assert_allclose(theory.twin_differences(federation, pair), 0, atol=1e-8)


def corrected_twins(federation):
    """Proposition 1 corrected: they do, and FID-all tells them apart."""
    pair = theory.twin(federation)
    np.testing.assert_allclose(theory.twin_differences(federation, pair), 0, atol=1e-8)
    assert pair.all_gap > 1e-3


@pytest.mark.parametrize(
    "claim",
    [
        pytest.param(printed_twins, marks=pytest.mark.xfail(raises=AssertionError, reason="false as printed")),
        corrected_twins,
    ],
)
def test_how_twins_are_made(claim):
    claim(nm.Federation([nm.Gaussian([1, 0, 0]), nm.Gaussian([-1, 0, 0])]))


class TestTwin:
    def test_printed_scores_of_the_counterexample(self):
        federation = nm.Federation([nm.Gaussian([1, 0, 0]), nm.Gaussian([-1, 0, 0])])
        pair = theory.printed_twin(federation)
        scores = [[nm.fid(c.distribution, g) for g in (pair.first, pair.second)] for c in federation]
        np.testing.assert_allclose(scores, [[1.1716, 2.0]] * 2, atol=5e-5)

    @settings(max_examples=20, deadline=None)
    @given(st.integers(0, 10**6), st.integers(2, 4))
    def test_with_a_shared_covariance_the_gap_is_twice_the_offset(self, seed, clients):
        rng = np.random.default_rng(seed)
        shared = covariance(rng, 5)
        federation = nm.Federation([nm.Gaussian(rng.normal(size=5), shared) for _ in range(clients)])
        pair = theory.twin(federation)
        np.testing.assert_allclose(theory.twin_differences(federation, pair), 0, atol=1e-8)
        u = nm.fid(nm.Gaussian(pair.first.mean, shared), pair.first)
        assert pair.all_gap == pytest.approx(2 * u, rel=1e-6)
        scores = nm.evaluate(federation, {"first": pair.first, "second": pair.second}, "fid").table
        assert scores["avg"][0] == pytest.approx(scores["avg"][1], abs=1e-8)
        assert scores["all"][1] - scores["all"][0] == pytest.approx(pair.all_gap, abs=1e-8)

    def test_offset_is_orthogonal_to_the_centred_means(self):
        means = np.array([[3.0, 1, 0], [3, -1, 0], [3, 0, 1]])
        pair = theory.twin([nm.Gaussian(m) for m in means])
        offset = pair.second.mean - pair.first.mean
        np.testing.assert_allclose((means - means.mean(axis=0)) @ offset, 0, atol=1e-12)

    def test_where_no_offset_is_left_the_covariance_moves(self):
        federation = nm.Federation([nm.Gaussian(m) for m in ([1, 0], [-1, 0], [0, 2])])
        pair = theory.twin(federation)
        np.testing.assert_allclose(pair.second.mean, pair.first.mean, atol=1e-12)
        np.testing.assert_allclose(theory.twin_differences(federation, pair), 0, atol=1e-8)
        assert pair.all_gap > 0.5
        with pytest.raises(theory.NoTwin, match="span all 2 dimensions"):
            theory.printed_twin(federation)

    @pytest.mark.parametrize(("clients", "d", "rank"), [(2, 1, None), (2, 2, None), (3, 2, 1), (3, 4, None), (4, 3, 2)])
    def test_with_unequal_covariances_it_is_found_numerically(self, clients, d, rank):
        federation = random_federation(13, clients, d, rank)
        pair = theory.twin(federation, starts=2)
        np.testing.assert_allclose(theory.twin_differences(federation, pair), 0, atol=1e-8)
        assert pair.all_gap > 1e-3
        if rank is None:
            assert pair.all_gap == pytest.approx(frechet(pair.first, pair.second), rel=1e-7)

    def test_nearly_shared_covariances_far_apart_are_not_taken_for_shared(self):
        federation = nm.Federation([nm.Gaussian([1e5, 0], 1), nm.Gaussian([-1e5, 0], 1.009)])
        pair = theory.twin(federation, starts=1)
        scores = [nm.fid(c.distribution, pair.first) for c in federation]
        assert np.abs(theory.twin_differences(federation, pair)).max() <= 1e-8 * max(scores)

    def test_exists_now_and_then_where_clients_are_as_many_as_unknowns(self):
        pair = theory.twin(random_federation(40, 5, 2), starts=2)
        np.testing.assert_allclose(theory.twin_differences(random_federation(40, 5, 2), pair), 0, atol=1e-8)

    @pytest.mark.parametrize("seed", slow(8, 20, 21, 58, 97, 110))
    def test_a_search_that_leaves_the_numbers_ends_in_a_twin_or_none(self, seed):
        rng = np.random.default_rng(seed)
        distributions = []
        for _ in range(5):
            mean, factor = rng.normal(size=2), rng.normal(size=(2, 2))
            distributions.append(nm.Gaussian(mean, factor @ factor.T))
        try:
            pair = theory.twin(distributions)
        except theory.NoTwin:
            return
        scores = [nm.fid(distribution, pair.first) for distribution in distributions]
        assert np.abs(theory.twin_differences(distributions, pair)).max() <= 1e-8 * max(scores) and pair.all_gap > 0

    def test_is_seeded(self):
        federation = random_federation(14, 3, 2)
        first, second = (theory.twin(federation, starts=1, seed=4).second for _ in range(2))
        np.testing.assert_array_equal(first.cov, second.cov)

    def test_of_rows_scores_alike_by_evaluate(self):
        federation = nm.Federation(random_rows(15, (40, 60), 3))
        pair = theory.twin(federation, starts=2)
        table = nm.evaluate(federation, {"first": pair.first, "second": pair.second}, "fid").table
        assert table["avg"][0] == pytest.approx(table["avg"][1], abs=1e-8)
        assert table["all"][1] - table["all"][0] == pytest.approx(pair.all_gap, abs=1e-8) and pair.all_gap > 1e-3

    def test_says_why_there_is_none(self):
        with pytest.raises(theory.NoTwin, match="the same mean and covariance"):
            theory.twin([nm.Gaussian([0, 0]), nm.Gaussian([0, 0])])
        with pytest.raises(theory.NoTwin, match="3 scores fixed, and mean and covariance have 2 numbers"):
            theory.twin(random_federation(16, 3, 1), starts=1)

    def test_gradients_are_those_of_the_scores(self):
        from nbmetrics.theory.aggregates import moments_of, pooled_gaussian
        from nbmetrics.theory.twins import _Problem

        federation = random_federation(17, 3, 3)
        problem = _Problem(moments_of(federation), pooled_gaussian(federation))
        z = np.random.default_rng(17).normal(size=12)
        steps = 1e-6 * np.eye(12)
        by_hand = [(problem.objective(z + s)[0] - problem.objective(z - s)[0]) / 2e-6 for s in steps]
        np.testing.assert_allclose(problem.objective(z)[1], by_hand, rtol=1e-5, atol=1e-6)
        by_hand = [(problem.constraints(z + s)[0] - problem.constraints(z - s)[0]) / 2e-6 for s in steps]
        np.testing.assert_allclose(problem.constraints(z)[1].T, by_hand, rtol=1e-5, atol=1e-6)


class TestPrintedBound:
    """Proposition 1's FID-all(G′) − FID-all(Ĝ) ≥ 2 Tr Σ λ_i (μ_i μ_iᵀ − μ̂ μ̂ᵀ)."""

    def test_fails_on_two_clients_in_space(self):
        # u = 1, and the pair is apart by u and by (√2 − 1)² along e₁.
        sides = theory.printed_twin_bound([nm.Gaussian([1, 0, 0]), nm.Gaussian([-1, 0, 0])])
        assert sides.left == pytest.approx(2, abs=1e-12)
        assert sides.right == pytest.approx(1 + (2**0.5 - 1) ** 2, abs=1e-12)

    def test_no_twin_at_all_reaches_it_there(self):
        federation = nm.Federation([nm.Gaussian([1, 0, 0]), nm.Gaussian([-1, 0, 0])])
        first, most = nm.Gaussian([0, 0, 0], [2, 1, 1]), 4 * (2**0.5 - 1) ** 2
        assert most < theory.printed_twin_bound(federation).left
        rng = np.random.default_rng(24)
        wanted, found = 1 + (2**0.5 - 1) ** 2, []
        for _ in range(300):
            root = np.eye(3) + 0.2 * rng.normal(size=(3, 3))
            cov = root @ root.T
            left = wanted - 1 - frechet(nm.Gaussian([0, 0, 0]), nm.Gaussian([0, 0, 0], cov))
            if left >= 0:  # an offset across the means makes it a twin
                distribution = nm.Gaussian([0, left**0.5, 0], cov)
                assert frechet(nm.Gaussian([1, 0, 0]), distribution) == pytest.approx(wanted, abs=1e-9)
                found.append(frechet(first, distribution))
        assert len(found) > 10 and max(found) <= most
        assert theory.twin(federation).all_gap <= most

    @settings(max_examples=30, deadline=None)
    @given(st.integers(0, 10**6), st.integers(2, 3), st.sampled_from([None, 2, 1]))
    def test_for_distributions_it_is_the_other_way_round(self, seed, clients, rank):
        federation = random_federation(seed, clients, 4, rank)
        sides, weights = theory.printed_twin_bound(federation), np.array(federation.weights)
        means = np.array([c.distribution.mean for c in federation])
        u = np.trace(np.cov(means.T, aweights=weights, ddof=0))
        assert sides.left == pytest.approx(2 * u, rel=1e-12)
        assert u <= sides.right <= sides.left * (1 + 1e-12)
        if rank is None:
            within = np.einsum("k,kij->ij", weights, [c.distribution.cov for c in federation])
            pooled = nm.Mixture([c.distribution for c in federation], weights).cov
            apart = frechet(nm.Gaussian(np.zeros(4), within), nm.Gaussian(np.zeros(4), pooled))
            assert sides.right == pytest.approx(u + apart, rel=1e-7)

    def test_it_is_met_by_clients_that_do_not_vary(self):
        sides = theory.printed_twin_bound([nm.Gaussian([1, 0, 0], 0), nm.Gaussian([-1, 0, 0], 0)])
        assert sides.difference == pytest.approx(0, abs=1e-12)
