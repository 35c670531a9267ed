"""Both sides of what intra and all have to do with each other, beside sums over all pairs of rows and closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nbmetrics as nm


def sides_of(seed, clients, rows=None):
    """Clients, and what was made for each: Gaussians, or `rows` rows."""
    rng = np.random.default_rng(seed)

    def one():
        factor = rng.normal(size=(2, 2))
        mean, cov = rng.normal(size=2), factor @ factor.T + 0.1 * np.eye(2)
        return (
            nm.Gaussian(mean, cov) if rows is None else rng.multivariate_normal(mean, cov, rows + int(rng.integers(5)))
        )

    names = [f"c{i}" for i in range(clients)]
    weights = rng.dirichlet(np.ones(clients))
    federation = nm.Federation([nm.Client(one(), name=n, weight=w) for n, w in zip(names, weights, strict=True)])
    return federation, {name: one() for name in names}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5))
def test_intra_is_all_and_how_far_the_differences_are_apart(seed, clients):
    sides = nm.theory.kid_intra_identity(*sides_of(seed, clients))
    assert sides.difference == pytest.approx(0.0, abs=1e-9 * (1.0 + abs(sides.left)))
    assert sides.left >= -1e-9 * (1.0 + abs(sides.left))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from(["fid", "kid"]))
def test_all_is_never_above_intra_for_distributions(seed, clients, metric):
    federation, made = sides_of(seed, clients)
    sides = nm.theory.intra_convexity(federation, made, metric)
    assert sides.difference >= -1e-9 * (1.0 + sides.right)
    table = nm.evaluate(federation, {"g": made}, metric).table
    assert [sides.left, sides.right] == pytest.approx([table["all"][0], table["intra"][0]], rel=1e-9, abs=1e-9)


def test_rows_as_whole_populations_keep_the_order():
    for seed in range(20):
        federation, made = sides_of(seed, 3, rows=4)
        whole = {client.name: nm.Client(nm.Empirical(client.rows), weight=client.weight) for client in federation}
        sides = nm.theory.intra_convexity(whole, {name: nm.Empirical(rows) for name, rows in made.items()})
        assert sides.difference >= -1e-9


def test_of_rows_both_sides_are_sums_over_pairs():
    federation, made = sides_of(3, 3, rows=20)
    sides = nm.theory.kid_intra_identity(federation, made)
    kernel = lambda a, b: (a @ b.T / 2 + 1.0) ** 3  # noqa: E731

    def inner(a, b):
        k = kernel(a, b)
        return (k.sum() - np.trace(k)) / (len(a) * (len(a) - 1)) if a is b else k.mean()

    real, generated = [c.rows for c in federation], [made[name] for name in federation.names]
    products = np.array(
        [
            [inner(a, b) - inner(a, h) - inner(g, b) + inner(g, h) for b, h in zip(real, generated, strict=True)]
            for a, g in zip(real, generated, strict=True)
        ]
    )
    weights = np.array(federation.weights)
    expected = weights @ np.diag(products) - weights @ products @ weights
    assert sides.left == pytest.approx(expected, rel=1e-9) and sides.right == pytest.approx(expected, rel=1e-9)


def test_theorem_1_does_not_extend_to_intra():
    """Two generators with the same KID-all and avg, whose KID-intra differs: by 3 · 2² for x and 8² for x³."""
    clients = {"cats": nm.Gaussian([-1.0]), "dogs": nm.Gaussian([1.0])}
    swapped = {"cats": clients["dogs"], "dogs": clients["cats"]}
    table = nm.evaluate(clients, {"right": clients, "swapped": swapped}, "kid").table
    assert table["all"].tolist() == pytest.approx([0.0, 0.0], abs=1e-12)
    assert table["avg"][0] == pytest.approx(table["avg"][1]) and table["intra"].round(9).tolist() == [0.0, 76.0]


def test_one_distribution_for_all_is_refused():
    with pytest.raises(nm.InvalidInput, match="has one distribution for all clients"):
        nm.theory.kid_intra_identity([nm.Gaussian([0.0])], nm.Gaussian([0.0]))
