"""The theorems on the gap, on FID-all and on the conditional family, both sides computed apart."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nbmetrics as nm
from nbmetrics import theory
from tests.distributions import frechet, random_federation, random_generator, random_rows, root_trace

KERNELS = [None, nm.RBF(1.5), nm.Polynomial(2), lambda x, y: np.exp(-np.abs(x[:, None] - y[None]).sum(axis=2))]


class TestKidGap:
    @pytest.mark.parametrize("kernel", KERNELS, ids=["cubic", "rbf", "quadratic", "laplace"])
    @pytest.mark.parametrize("weights", [None, [5, 1, 1]])
    def test_of_samples_is_the_same_for_every_generator(self, kernel, weights):
        federation = nm.Federation(random_rows(0, (30, 20, 25), 3))
        federation = federation if weights is None else federation.with_weights(weights)
        for seed in range(4):
            sides = theory.kid_gap_identity(federation, random_rows(10 + seed, [40], 3)[0], kernel)
            assert abs(sides.difference) < 1e-12 * max(1, abs(sides.left))

    def test_of_samples_is_the_textbook_estimate(self):
        x, y = random_rows(1, (12, 20), 2)
        both = np.concatenate([x, y])

        def unbiased(z):
            k = (z @ z.T / 2 + 1) ** 3
            return (k.sum() - np.trace(k)) / (len(z) * (len(z) - 1))

        wanted = 12 / 32 * unbiased(x) + 20 / 32 * unbiased(y) - unbiased(both)
        assert theory.kid_gap([x, y]) == pytest.approx(wanted, rel=1e-12)

    @pytest.mark.parametrize("kernel", [None, nm.RBF(2**0.5)])
    def test_of_distributions_is_the_mean_kid_between_pool_and_clients(self, kernel):
        federation = random_federation(2, 4, 3)
        pool = nm.Mixture([c.distribution for c in federation], federation.weights)
        kids = [nm.kid(pool, c.distribution, *([] if kernel is None else [kernel])) for c in federation]
        assert theory.kid_gap(federation, kernel) == pytest.approx(np.dot(federation.weights, kids), rel=1e-9)

    def test_on_the_golden_rows_varies_by_rounding_only(self):
        with np.load("tests/golden/blobs64.npz") as data:
            rows = {name: data[name] for name in data.files}
        arrays = [rows[name] for name in sorted(rows)]
        federation = nm.Federation([arrays[0][:150], arrays[0][150:]])
        generators = [arrays[1], arrays[1][:100] * 2, np.roll(arrays[1], 1, axis=1)]
        gaps = [theory.kid_gap_identity(federation, g).left for g in generators]
        assert np.ptp(gaps) < 1e-12 * max(1, abs(gaps[0]))
        assert gaps[0] == pytest.approx(theory.kid_gap(federation), abs=1e-12)


class TestFidAll:
    @pytest.mark.parametrize("rank", [None, 1])
    def test_of_distributions_is_the_fid_of_the_pooled_moments(self, rank):
        federation = random_federation(3, 3, 4, rank)
        sides = theory.fid_all_identity(federation, random_generator(3, 4))
        assert sides.difference == pytest.approx(0, abs=1e-7 if rank else 1e-10)

    @pytest.mark.parametrize("weights", [None, [1, 3]])
    def test_of_rows_is_the_fid_of_the_pooled_moments(self, weights):
        x, y, g = random_rows(4, (30, 12, 50), 3)
        federation = nm.Federation([x, y]) if weights is None else nm.Federation([x, y]).with_weights(weights)
        sides = theory.fid_all_identity(federation, g)
        assert sides.difference == pytest.approx(0, abs=1e-10)
        shares = np.repeat(np.array(federation.weights) / (30, 12), (30, 12))
        wanted = np.cov(np.concatenate([x, y]).T, aweights=shares)
        np.testing.assert_allclose(theory.minimizers(federation).of_all.cov, wanted, rtol=1e-12)


class TestFidGap:
    @pytest.mark.parametrize("rank", [None, 2])
    def test_of_distributions_is_twice_the_difference_of_the_mean_roots(self, rank):
        federation, generator = random_federation(50, 3, 4), random_generator(50, 4, rank)
        clients, weights = [c.distribution for c in federation], np.array(federation.weights)
        pooled = nm.Mixture(clients, weights)
        avg = np.dot(weights, [frechet(c, generator) for c in clients])
        mean_root = np.dot(weights, [root_trace(c.cov, generator.cov) for c in clients])
        sides = theory.fid_gap_identity(federation, generator)
        assert sides.left == pytest.approx(avg - frechet(pooled, generator), abs=1e-5 if rank else 1e-9)
        assert sides.right == pytest.approx(
            2 * (root_trace(pooled.cov, generator.cov) - mean_root), abs=1e-5 if rank else 1e-9
        )
        assert sides.difference == pytest.approx(0, abs=1e-10)

    @pytest.mark.parametrize("weights", [None, [1, 3, 2]])
    def test_of_rows_has_a_constant_that_knows_no_generator(self, weights):
        federation = nm.Federation(random_rows(51, (12, 40, 9), 3))
        federation = federation if weights is None else federation.with_weights(weights)
        for seed in range(3):
            rows = random_rows(52 + seed, [30], 3)[0]
            sides = theory.fid_gap_identity(federation, rows)
            scores = nm.evaluate(federation, {"g": rows}, "fid").table
            assert sides.left == pytest.approx(scores["gap"][0], rel=1e-9)
            assert sides.difference == pytest.approx(0, abs=1e-10)

    def test_does_not_know_the_generators_mean(self):
        federation, distribution = random_federation(53, 3, 3), random_generator(53, 3)
        moved = nm.Gaussian(distribution.mean + 5, distribution.cov)
        right = [theory.fid_gap_identity(federation, g).right for g in (distribution, moved)]
        assert right[0] == right[1]
        assert theory.fid_gap_identity(federation, moved).difference == pytest.approx(0, abs=1e-9)


class TestConvexity:
    @settings(max_examples=25, deadline=None)
    @given(st.integers(0, 10**6), st.sampled_from(["fid", "kid"]))
    def test_all_is_never_above_avg_for_distributions(self, seed, metric):
        sides = theory.convexity(random_federation(seed, 3, 3), random_generator(seed, 3), metric)
        assert sides.difference >= -1e-9 * sides.right

    def test_all_is_never_above_avg_for_whole_populations(self):
        few = [nm.Empirical(np.array([[0.0], [1.0]]))] * 2
        assert theory.convexity(few, nm.Empirical(np.array([[0.0], [10.0]]))).difference >= 0

    def test_unbiased_estimates_of_few_rows_can_break_it(self):
        rows = np.array([[0.0], [1.0]])
        sides = theory.convexity([rows, rows], np.array([[0.0], [10.0]]))
        assert sides.left == pytest.approx(62.42, abs=0.005) and sides.right == pytest.approx(60.75, abs=0.005)

    def test_recall_and_log_likelihood_are_equal_on_both_sides(self):
        x, y, g = random_rows(5, (40, 30, 50), 2)
        assert theory.linearity([x, y], g, "recall").difference == pytest.approx(0, abs=1e-12)
        distributions = random_federation(5, 3, 2)
        assert theory.linearity(distributions, random_generator(5, 2)).difference == pytest.approx(0, abs=1e-10)


class OnlySample:
    dim = 2

    def sample(self, n, rng=None):
        return np.random.default_rng(rng).normal(size=(n, 2))


def test_distributions_that_can_only_be_sampled_give_one_set_of_rows_to_both_sides():
    sides = theory.fid_all_identity([OnlySample(), OnlySample()], OnlySample())
    assert sides.difference == pytest.approx(0, abs=2e-4)  # 10,000 rows a client, pooled with and without ddof
    frame = __import__("pandas").DataFrame(np.eye(3)[:, :2])
    assert theory.convexity([np.eye(2), frame], frame).right >= 0


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 2))
def test_the_conditional_family_is_ordered(seed, condition_dim):
    real, made = random_generator(seed, 4), random_generator(seed + 1, 4)
    order = theory.conditional_order(real, made, condition_dim)
    assert order.mfid <= order.rfid + 1e-9 <= order.cfid + 2e-9
    rows = real.sample(60, seed), made.sample(60, seed)
    order = theory.conditional_order(*rows, condition_dim)
    assert order.mfid <= order.rfid + 1e-9 <= order.cfid + 2e-9


SHORT = {"good": np.eye(2), "short": np.ones((1, 2))}


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: theory.kid_gap([]), "clients"),
        (lambda: theory.fid_avg_bound([nm.Gaussian([0, 0])], nm.Gaussian([0, 0, 0])), "generator"),
        (lambda: theory.convexity([nm.Gaussian([0])], nm.Gaussian([0]), "fidd"), "metric"),
        (lambda: theory.kid_gap_identity([nm.Gaussian([0])], lambda n, rng: rng.normal(size=(n, 1))), "generator"),
        (lambda: theory.twin([nm.Gaussian([0, 1]), nm.Gaussian([1, 0])], starts=0), "starts"),
        (lambda: theory.convexity([nm.Gaussian([0])], [nm.Gaussian([0]), nm.Gaussian([1])]), "generator"),
        (lambda: theory.barycenter_residual([nm.Gaussian([0])], nm.Mixture([nm.Gaussian([0])])), "distribution"),
        (lambda: theory.barycenter_residual([nm.Gaussian([0])], nm.Gaussian([0, 0])), "distribution"),
        (lambda: theory.conditional_order(nm.Gaussian([0, 0]), nm.Gaussian([0, 0]), 2), "condition_dim"),
        (lambda: theory.twin_differences([nm.Gaussian([0])], 3), "^pair: is 3"),
        (lambda: theory.kid_gap(SHORT), "^client 'short', rows: has 1 row"),
        (lambda: theory.kid_gap_identity(SHORT, nm.Gaussian([0, 0])), "^client 'short', rows: has 1 row"),
        (lambda: theory.fid_avg_bound(SHORT, nm.Gaussian([0, 0])), "^client 'short', rows: has 1 row"),
        (lambda: theory.convexity(SHORT, nm.Gaussian([0, 0])), "^client 'short', rows: has 1 row"),
        (lambda: theory.barycenter(SHORT), "^client 'short', rows: has 1 row"),
    ],
)
def test_bad_input_is_named(call, argument):
    with pytest.raises(nm.InvalidInput, match=argument):
        call()
