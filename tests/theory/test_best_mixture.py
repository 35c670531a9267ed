"""The best mixture by KID-all: against a grid, another solver, pairs of rows, and fresh rows of the same
distributions."""

import itertools

import numpy as np
import pytest
import scipy.optimize

import nbmetrics as nm
from nbmetrics.theory.best_mixture import Halved, mixture_of
from nbmetrics.theory.simplex import descend


def rows(rng, mean, n, d=3, scale=1.0):
    return mean + scale * rng.standard_normal((n, d))


def setting(seed=0, count=3, n=60):
    rng = np.random.default_rng(seed)
    federation = nm.Federation({"a": rows(rng, -1.0, 50), "b": rows(rng, 1.0, 80)})
    made = {f"g{j}": rows(rng, rng.normal(0, 1, 3), n + j, scale=rng.uniform(0.5, 1.5)) for j in range(count)}
    return federation, made


def cubic(x, y):
    return (x @ y.T / x.shape[1] + 1.0) ** 3


def kid_all_by_pairs(federation, made, weights, kernel=cubic):
    """KID-all of the mixture from every pair of different rows, pair by pair weighed."""
    real = np.concatenate([client.rows for client in federation])
    total = 0.0  # of pooled clients, each a stratum
    for (a, v), (b, w) in itertools.product(zip(federation, federation.weights, strict=True), repeat=2):
        gram, n = kernel(a.rows, b.rows), len(a.rows)
        total += v * w * ((gram.sum() - np.trace(gram)) / (n * (n - 1)) if a is b else gram.mean())
    for (x, v), (y, w) in itertools.product(zip(made.values(), weights, strict=True), repeat=2):
        gram = kernel(x, y)
        n = len(x)
        mean = (gram.sum() - np.trace(gram)) / (n * (n - 1)) if x is y else gram.mean()
        total += v * w * mean
    return total - 2.0 * sum(w * kernel(real, y).mean() for y, w in zip(made.values(), weights, strict=True))


def simplex_grid(steps):
    cells = np.array([(i, j, steps - i - j) for i in range(steps + 1) for j in range(steps + 1 - i)])
    return cells / steps


def test_three_generators_equal_a_grid_of_all_their_mixtures_by_pairs_of_rows():
    federation, made = setting(1)
    best = nm.best_mixture(federation, made)
    corners = {tuple(w): kid_all_by_pairs(federation, made, w) for w in simplex_grid(2)}
    for weights, wanted in corners.items():
        assert best.means.score(np.array(weights)) == pytest.approx(wanted, rel=1e-9)
    grid = simplex_grid(200)
    k, c = best.means.between, best.means.cross
    values = best.means.real + np.einsum("wi,ij,wj->w", grid, k, grid) - 2.0 * grid @ c
    found = np.array(list(best.weights.values()))
    assert best.score == pytest.approx(kid_all_by_pairs(federation, made, found), rel=1e-9)
    assert values.min() - 1e-3 * np.abs(k).max() < best.score <= values.min()
    assert np.abs(found - grid[np.argmin(values)]).max() < 0.01
    stratified = nm.metrics.KID(estimator="stratified")
    table = nm.evaluate(federation, made, stratified).table.set_index("generator")["all"]
    assert (best.best_single, best.best_single_score) == (table.idxmin(), pytest.approx(table.min(), rel=1e-9))


def test_twenty_generators_equal_another_solver():
    federation, made = setting(2, count=20, n=30)
    best = nm.best_mixture(federation, made, nm.metrics.KID(nm.RBF("median"), "biased"))
    q, c, start = best.means.full, best.means.cross, np.full(20, 0.05)
    found = scipy.optimize.minimize(
        lambda w: w @ q @ w - 2 * w @ c,
        start,
        jac=lambda w: 2 * (q @ w - c),
        method="SLSQP",
        bounds=[(0, 1)] * 20,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like},
        options={"ftol": 1e-16, "maxiter": 2000},
    )
    weights = np.array(list(best.weights.values()))
    assert weights.min() >= 0 and weights.sum() == pytest.approx(1, abs=1e-12)
    assert 1 < (weights > 0).sum() < 20
    assert best.score <= best.means.real + found.fun + 1e-12
    np.testing.assert_allclose(weights, found.x, atol=1e-4)


@pytest.mark.parametrize("seed", range(20))
def test_a_convex_quadratic_is_solved_to_the_last_digits(seed):
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((rng.integers(1, 30), 12))
    q, c = factor.T @ factor * 10.0 ** rng.uniform(-9, 9), None
    c = q @ rng.dirichlet(np.ones(12)) + 0.1 * np.abs(q).max() * rng.standard_normal(12)
    weights = descend(q, c, np.eye(12)[seed % 12])
    slope = 2 * (q @ weights - c)
    # Nothing on the simplex is lower by more than this.
    assert slope @ weights - slope.min() <= 1e-10 * np.abs(q).max()


@pytest.mark.parametrize("seed", range(10))
def test_a_quadratic_that_curves_down_never_ends_above_its_start(seed):
    rng = np.random.default_rng(seed)
    q, c = rng.standard_normal((2, 6, 6))
    q, c = q + q.T, c[0]

    def value(weights):
        return weights @ q @ weights - 2 * weights @ c

    for start in [*np.eye(6), np.full(6, 1 / 6)]:
        found = descend(q, c, start)
        assert found.min() >= 0 and found.sum() == pytest.approx(1)
        assert value(found) <= value(start) + 1e-12
        near = [value((1 - 1e-3) * found + 1e-3 * vertex) for vertex in np.eye(6)]
        assert value(found) <= min(near) + 1e-12


def test_a_mixture_is_never_above_the_best_single_generator():
    federation, made = setting(3)
    twice = {"first": made["g0"], "again": made["g0"].copy()}
    best = nm.best_mixture(federation, twice)  # the unbiased curvature along (1, −1) is negative
    assert best.means.between[0, 0] < best.means.between[0, 1]
    assert best.weights == {"first": 1.0, "again": 0.0}
    assert best.score == best.best_single_score and best.best_single == "first"
    assert (best.clients["saved"] == 0).all()


def test_weighted_rows_are_the_biased_definition_and_weights_of_clients_count():
    federation, made = setting(4)
    federation = federation.with_weights([3, 1])
    best = nm.best_mixture(federation, made, nm.metrics.KID(estimator="biased"))
    real = np.concatenate([client.rows for client in federation])
    share = np.repeat(np.array(federation.weights) / [50, 80], [50, 80])
    generated = np.concatenate(list(made.values()))
    own = np.repeat(np.array(list(best.weights.values())) / [60, 61, 62], [60, 61, 62])
    together, signed = np.concatenate([real, generated]), np.concatenate([share, -own])
    assert best.score == pytest.approx(signed @ cubic(together, together) @ signed, rel=1e-9)


def test_what_it_costs_and_saves_each_client():
    federation, made = setting(5)
    best = nm.best_mixture(federation, made)
    assert best.clients.columns.tolist() == ["client", "mixture", "best_single", "saved"]
    weights = list(best.weights.values())
    for client, row in zip(federation, best.clients.to_dict("records"), strict=True):
        alone = nm.Federation([client])
        assert row["client"] == client.name
        assert row["mixture"] == pytest.approx(kid_all_by_pairs(alone, made, weights), rel=1e-9)
        assert row["best_single"] == pytest.approx(nm.kid(client.rows, made[best.best_single]), rel=1e-9)
        assert row["saved"] == row["best_single"] - row["mixture"]


@pytest.mark.slow
def test_cross_fitted_scores_are_honest_on_fresh_rows_where_those_in_sample_are_too_low():
    rng = np.random.default_rng(6)
    distributions = [nm.Gaussian(rng.normal(0, 0.5, 4), rng.uniform(0.5, 1.5)) for _ in range(8)]
    client = nm.Gaussian(np.zeros(4))
    truth = nm.best_mixture([client], distributions).means  # of the distributions themselves
    in_sample, cross_fitted, honest = [], [], []
    for _ in range(50):
        made = {f"g{j}": distribution.sample(60, rng) for j, distribution in enumerate(distributions)}
        real = client.sample(60, rng)
        best = nm.best_mixture([real], made)
        half = nm.best_mixture([real[:30]], {name: x[:30] for name, x in made.items()})
        in_sample.append(best.score - truth.score(np.array(list(best.weights.values()))))
        cross_fitted.append(best.cross_fitted)
        honest.append(truth.score(np.array(list(half.weights.values()))))

    def error(values):
        return np.std(values) / np.sqrt(len(values))

    assert np.mean(in_sample) < -4 * error(in_sample)
    assert abs(np.mean(cross_fitted) - np.mean(honest)) < 4 * np.hypot(error(cross_fitted), error(honest))


def test_cross_fitting_is_seeded_and_blind_to_exact_distributions():
    federation, made = setting(7)
    first, again, other = (nm.best_mixture(federation, made, seed=seed) for seed in (0, 0, 1))
    assert first.cross_fitted == again.cross_fitted != other.cross_fitted
    assert first.score == again.score == pytest.approx(other.score, rel=1e-9)
    exact = nm.best_mixture([nm.Gaussian([0.0])], {"l": nm.Gaussian([-1.0]), "r": nm.Gaussian([2.0])})
    assert exact.cross_fitted == exact.score and "exact" in exact.note
    sides = [nm.Gaussian([-1.0]), nm.Gaussian([2.0])]
    found = scipy.optimize.minimize_scalar(
        lambda w: nm.kid(nm.Gaussian([0.0]), nm.Mixture(sides, [w, 1 - w])), bounds=(0, 1), method="bounded"
    )
    assert exact.weights["l"] == pytest.approx(found.x, abs=1e-4) and exact.score == pytest.approx(found.fun)
    few = nm.best_mixture(federation, {"few": made["g0"][:3], "g1": made["g1"]})
    assert np.isnan(few.cross_fitted) and "'few' has too few rows" in few.note and np.isfinite(few.score)


def test_every_block_of_rows_is_computed_once():
    federation, made = setting(8)
    seen = []

    def kernel(x, y):
        seen.append(len(x) * len(y))
        return cubic(x, y)

    nm.best_mixture(federation, made, nm.metrics.KID(kernel))
    most = (130 + 60 + 61 + 62) ** 2
    assert sum(seen) <= 1.1 * most


def test_new_weights_of_clients_need_no_new_blocks():
    federation, made = setting(10)
    seen = []

    def kernel(x, y):
        seen.append(1)
        return cubic(x, y)

    scores = nm.evaluate(federation, made, Halved(nm.metrics.KID(kernel), 0), progress=False)
    mixture_of(scores, "kid")
    before = len(seen)
    found = mixture_of(scores.with_weights([3, 1]), "kid")
    assert len(seen) == before
    wanted = nm.best_mixture(federation.with_weights([3, 1]), made)
    assert found.weights == pytest.approx(wanted.weights, abs=1e-9)
    assert [found.score, found.cross_fitted] == pytest.approx([wanted.score, wanted.cross_fitted], rel=1e-9)
    plain = mixture_of(nm.evaluate(federation, made, "kid", progress=False).with_weights([3, 1]), "kid")
    assert plain.score == pytest.approx(wanted.score, rel=1e-9)
    assert np.isnan(plain.cross_fitted) and "halves" in plain.note


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("fid", "FID-all is not quadratic"),
        ("w1", "not quadratic"),
        (nm.metrics.KID(estimator="linear"), "needs all pairs"),
        (nm.metrics.KID(estimator=nm.Subsets(2, 5)), "needs all pairs"),
        ("kidd", "Did you mean 'kid'"),
        (["kid"], "Give a name or a Metric"),
        (None, "Give a name or a Metric"),
    ],
)
def test_other_metrics_are_refused_with_the_reason_before_the_work(metric, said):
    with pytest.raises(nm.InvalidInput, match=rf"metric: .*{said}"):
        nm.best_mixture(None, None, metric)


def test_any_generator_that_evaluate_takes():
    federation, made = setting(9)
    kinds = {
        "rows": made["g0"].astype(np.float32),
        "mixture": nm.Mixture([nm.Gaussian(np.full(3, -1.0)), nm.Gaussian(np.full(3, 1.0))]),
        "function": lambda n, rng: rng.standard_normal((n, 3)),
    }
    best = nm.best_mixture(federation, kinds, "cmmd", samples=200)
    assert list(best.weights) == list(kinds) and best.score <= best.best_single_score
    assert f"{best.score:.5g}" in repr(best) and f"{best.cross_fitted:.5g}" in repr(best)
    one = nm.best_mixture(federation, {"only": made["g0"]})
    assert one.weights == {"only": 1.0} and one.score == one.best_single_score
    asked = nm.Federation([nm.Client(c.rows, condition=c.rows[:, :1]) for c in federation])
    answers = nm.best_mixture(asked, {"f": lambda x, rng: x + rng.standard_normal((len(x), 3)), "g": made["g0"]})
    scored = nm.evaluate(asked, {"g": made["g0"]}, nm.metrics.KID(estimator="stratified")).table["all"]
    assert answers.means.score(np.array([0.0, 1.0])) == pytest.approx(scored[0]) and np.isfinite(answers.cross_fitted)


def test_a_client_or_generator_that_kid_refuses_is_told():
    x = np.random.default_rng(0).normal(size=(40, 2))
    for clients, made in (({"a": x, "one": x[:1]}, {"g": x, "h": x}), ({"a": x}, {"g": x, "one": x[:1]})):
        with pytest.raises(nm.InvalidInput, match=r"'one', .*has 1 row"):
            nm.best_mixture(clients, made)
