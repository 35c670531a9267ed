"""The theorems, both sides computed apart; the two claims that are wrong as printed fail here as they should."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import sqrtm

import nbmetrics as nm
from nbmetrics import theory


def covariance(rng, d, rank=None):
    factor = rng.normal(size=(d, d if rank is None else rank))
    return factor @ factor.T


def random_federation(seed, clients, d, rank=None, same_mean=False):
    rng = np.random.default_rng(seed)
    laws = [
        nm.Gaussian(np.zeros(d) if same_mean else rng.normal(size=d), covariance(rng, d, rank)) for _ in range(clients)
    ]
    return nm.Federation([nm.Client(law, weight=rng.uniform(0.2, 1)) for law in laws])


def random_generator(seed, d, rank=None):
    rng = np.random.default_rng([seed, 1])
    return nm.Gaussian(rng.normal(size=d), covariance(rng, d, rank))


def random_rows(seed, sizes, d):
    rng = np.random.default_rng(seed)
    return [rng.normal(rng.normal(size=d), rng.uniform(0.5, 2), size=(n, d)) for n in sizes]


def frechet(a, b):
    """The textbook formula, with a matrix square root."""
    root = np.real(sqrtm(a.cov @ b.cov))
    return float(np.sum((a.mean - b.mean) ** 2) + np.trace(a.cov + b.cov - 2 * root))


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
    def test_of_laws_is_the_mean_kid_between_pool_and_clients(self, kernel):
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
    def test_of_laws_is_the_fid_of_the_pooled_moments(self, rank):
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


class TestConvexity:
    @settings(max_examples=25, deadline=None)
    @given(st.integers(0, 10**6), st.sampled_from(["fid", "kid"]))
    def test_all_is_never_above_avg_for_laws(self, seed, metric):
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
        laws = random_federation(5, 3, 2)
        assert theory.linearity(laws, random_generator(5, 2)).difference == pytest.approx(0, abs=1e-10)


class TestBarycenter:
    @pytest.mark.parametrize(("clients", "d", "rank"), [(2, 4, None), (6, 8, None), (3, 4, 2), (5, 4, 1), (3, 2, 1)])
    def test_is_a_fixed_point(self, clients, d, rank):
        federation = random_federation(6, clients, d, rank)
        assert theory.barycenter_residual(federation, theory.barycenter(federation)) < 1e-12

    @pytest.mark.parametrize(("seed", "rank"), [(780, 1), (25, None), (31, None), (34, 1)])
    def test_settles_where_it_is_nearly_singular_or_rounding_never_rests(self, seed, rank):
        federation = random_federation(seed, 4 if seed == 780 else 2, 3, rank)
        assert theory.barycenter_residual(federation, theory.barycenter(federation)) < 1e-9

    def test_too_few_iterations_are_refused(self):
        for iterations in range(1, 7):
            with pytest.raises(nm.InvalidInput, match="not enough to settle"):
                theory.barycenter(random_federation(6, 6, 8), iterations=iterations)

    def test_residual_tells_other_laws_apart(self):
        federation = random_federation(6, 3, 3)
        assert theory.barycenter_residual(federation, theory.minimizers(federation).of_all) > 0.01

    def test_residual_of_a_shifted_law_is_the_shift_by_its_own_spread(self):
        federation = random_federation(6, 3, 3)
        best, shift = theory.barycenter(federation), np.array([0.3, -0.4, 1.2])
        moved = nm.Gaussian.factored(best.mean + shift, best.root)
        residual = theory.barycenter_residual(federation, moved)
        assert residual == pytest.approx(1.3 / np.sqrt(np.trace(best.cov)), rel=1e-12)
        clients = [nm.Gaussian(1e3 * c.distribution.mean + 7, 1e6 * c.distribution.cov) for c in federation]
        rescaled = nm.Federation(clients).with_weights(federation.weights)
        moved = nm.Gaussian(1e3 * moved.mean + 7, 1e6 * moved.cov)
        assert theory.barycenter_residual(rescaled, moved) == pytest.approx(residual, rel=1e-9)

    def test_residual_of_a_singular_law_proves_nothing(self):
        clients, point = [nm.Gaussian([1, 0]), nm.Gaussian([-1, 0], 4)], nm.Gaussian([0, 0], 0)
        assert theory.barycenter_residual(clients, point) == 0
        assert theory.fid_avg_bound(clients, theory.barycenter(clients)).avg < theory.fid_avg_bound(clients, point).avg

    def test_where_covariances_commute_it_is_the_square_of_the_mean_root(self):
        rng = np.random.default_rng(7)
        axes = np.linalg.qr(rng.normal(size=(4, 4)))[0]
        spectra = rng.uniform(0, 3, size=(3, 4))
        federation = nm.Federation([nm.Gaussian(rng.normal(size=4), (axes * s) @ axes.T) for s in spectra])
        wanted = (axes * np.mean(np.sqrt(spectra), axis=0) ** 2) @ axes.T
        np.testing.assert_allclose(theory.barycenter(federation).cov, wanted, atol=1e-10)

    def test_of_two_clients_lies_on_the_geodesic(self):
        federation = random_federation(8, 2, 3)
        a, b = (c.distribution.cov for c in federation)
        half = np.real(sqrtm(a))
        transport = np.linalg.inv(half) @ np.real(sqrtm(half @ b @ half)) @ np.linalg.inv(half)
        step = federation.weights[0] * np.eye(3) + federation.weights[1] * transport
        np.testing.assert_allclose(theory.barycenter(federation).cov, step @ a @ step, rtol=1e-9)

    @pytest.mark.parametrize("rank", [None, 2])
    def test_no_other_gaussian_has_a_lower_fid_avg(self, rank):
        federation = random_federation(9, 4, 4, rank)
        best = theory.barycenter(federation)
        rng = np.random.default_rng(9)
        scores = nm.evaluate(
            federation,
            {"best": best}
            | {
                f"{k}": nm.Gaussian.factored(best.mean, best.root + 10.0 ** -(k % 4) * rng.normal(size=best.root.shape))
                for k in range(40)
            },
            "fid",
        ).table["avg"]
        assert scores.idxmin() == 0

    def test_settles_in_wide_spaces_and_on_clients_of_few_rows(self):
        wide = random_federation(30, 3, 64)
        assert theory.barycenter_residual(wide, theory.barycenter(wide, iterations=200)) < 1e-12
        few = nm.Federation(random_rows(31, (12, 15, 9), 20))
        law = theory.barycenter(few, iterations=400)
        near = [nm.Gaussian.factored(law.mean, law.root * s) for s in (0.999, 1.001)]
        avg = nm.evaluate(few, {"best": law, "less": near[0], "more": near[1]}, "fid").table["avg"]
        assert avg.idxmin() == 0

    def test_says_when_it_has_not_settled(self):
        with pytest.raises(nm.InvalidInput, match="iterations: 2 were not enough"):
            theory.barycenter(random_federation(6, 3, 3), iterations=2)

    def test_clients_without_any_spread_meet_in_a_point(self):
        law = theory.barycenter([nm.Gaussian([0, 0], 0), nm.Gaussian([2, 0], 0)])
        assert law.mean.tolist() == [1, 0] and not law.cov.any()


def printed_avg(federation, generator):
    """Theorem 1.2 as printed: an equality."""
    both = theory.fid_avg_bound(federation, generator)
    assert both.avg == pytest.approx(both.bound, rel=1e-9)


def corrected_avg(federation, generator):
    """Theorem 1.2 corrected: FID-avg is never the larger side."""
    both = theory.fid_avg_bound(federation, generator)
    assert both.avg <= both.bound * (1 + 1e-9)


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
        pytest.param(printed_avg, marks=pytest.mark.xfail(raises=AssertionError, reason="false as printed")),
        corrected_avg,
    ],
)
def test_what_fid_avg_has_to_do_with_the_barycenter(claim):
    claim(random_federation(10, 3, 4), random_generator(10, 4))


@pytest.mark.parametrize(
    "claim",
    [
        pytest.param(printed_twins, marks=pytest.mark.xfail(raises=AssertionError, reason="false as printed")),
        corrected_twins,
    ],
)
def test_how_twins_are_made(claim):
    claim(nm.Federation([nm.Gaussian([1, 0, 0]), nm.Gaussian([-1, 0, 0])]))


class TestFidAvgBound:
    @settings(max_examples=60, deadline=None)
    @given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([None, 1, 2]))
    def test_fid_avg_is_never_above_it(self, seed, clients, rank):
        corrected_avg(random_federation(seed, clients, 3, rank), random_generator(seed, 3, rank))

    def test_its_sides_are_the_textbook_formula(self):
        federation, generator = random_federation(11, 3, 4), random_generator(11, 4)
        both, middle = theory.fid_avg_bound(federation, generator), theory.barycenter(federation)
        clients = [c.distribution for c in federation]
        assert both.avg == pytest.approx(np.dot(federation.weights, [frechet(c, generator) for c in clients]), rel=1e-8)
        spread = np.dot(federation.weights, [frechet(c, middle) for c in clients])
        assert both.bound == pytest.approx(frechet(middle, generator) + spread, rel=1e-8)

    def test_it_is_met_where_the_generator_commutes_too_and_only_there(self):
        rng = np.random.default_rng(12)
        clients = [nm.Gaussian(rng.normal(size=3), rng.uniform(0.1, 3, size=3)) for _ in range(3)]
        assert theory.fid_avg_bound(clients, nm.Gaussian([1, 0, 0], [2, 1, 0.5])).difference == pytest.approx(
            0, abs=1e-9
        )
        assert theory.fid_avg_bound(clients, nm.Gaussian([1, 0, 0], covariance(rng, 3))).difference > 0.01


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
        with pytest.raises(theory.NoTwin, match="one mean and covariance"):
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


class OnlySample:
    dim = 2

    def sample(self, n, rng=None):
        return np.random.default_rng(rng).normal(size=(n, 2))


def test_laws_that_can_only_be_sampled_give_one_set_of_rows_to_both_sides():
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
        (lambda: theory.barycenter_residual([nm.Gaussian([0])], nm.Mixture([nm.Gaussian([0])])), "law"),
        (lambda: theory.barycenter_residual([nm.Gaussian([0])], nm.Gaussian([0, 0])), "law"),
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
