"""How one data set becomes clients: every row once, sizes and labels as asked for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nbmetrics as nm
from nbmetrics.partition import nearest

X = np.arange(400.0).reshape(200, 2)
Y = np.repeat(np.arange(5), 40)


def owned(federation):
    return np.sort(np.concatenate([client.rows[:, 0] for client in federation]))


def shares(federation):
    """The share of each label at each client."""
    table = np.array([np.bincount(Y[(c.rows[:, 0] / 2).astype(int)], minlength=5) for c in federation])
    return table / table.sum(axis=1, keepdims=True)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 12), st.integers(0, 50), st.floats(0.3, 100))
def test_every_row_goes_to_one_client(clients, seed, alpha):
    for federation in (nm.Federation.iid(X, clients, seed), nm.Federation.dirichlet(X, Y, clients, alpha, seed)):
        assert len(federation) == clients
        np.testing.assert_array_equal(owned(federation), X[:, 0])


def test_iid_clients_are_of_one_size_and_seeded():
    federation = nm.Federation.iid(X, 7, seed=3)
    assert {len(c.rows) for c in federation} <= {28, 29}
    np.testing.assert_array_equal(federation["Client 2"].rows, nm.Federation.iid(X, 7, seed=3)["Client 2"].rows)
    assert not np.array_equal(federation["Client 2"].rows, nm.Federation.iid(X, 7, seed=4)["Client 2"].rows)


def test_a_small_alpha_makes_clients_differ():
    unlike, alike = (shares(nm.Federation.dirichlet(X, Y, 4, alpha, seed=1)).std(axis=0).mean() for alpha in (0.2, 1e4))
    assert unlike > 0.2
    assert alike < 0.03


def test_a_variance_limited_client_is_an_item_and_its_nearest_of_the_same_label():
    rng = np.random.default_rng(5)
    rows, labels = rng.standard_normal((60, 3)), np.repeat(["a", "b"], 30)
    federation = nm.Federation.variance_limited(rows, labels, 7, seed=2)
    assert federation.names == ("a", "b")
    for client in federation:
        start, own = client.rows[0], rows[labels == client.name]
        distances = np.linalg.norm(own - start, axis=1)
        np.testing.assert_array_equal(client.rows, own[np.argsort(distances)[:8]])


def test_variance_limited_clients_vary_less_and_are_seeded():
    rng = np.random.default_rng(6)
    rows, labels = rng.standard_normal((200, 2)), np.zeros(200, int)
    few, many = (nm.Federation.variance_limited(rows, labels, k, seed=1)["0"].rows for k in (5, 199))
    assert few.var(axis=0).sum() < 0.3 * many.var(axis=0).sum()
    assert len(many) == 200 and len(np.unique(many, axis=0)) == 200
    starts = {tuple(nm.Federation.variance_limited(rows, labels, 5, seed=s)["0"].rows[0]) for s in range(6)}
    assert len(starts) > 3
    np.testing.assert_array_equal(few, nm.Federation.variance_limited(rows, labels, 5, seed=1)["0"].rows)


def test_the_item_comes_first_and_once_among_copies():
    rows = np.zeros((6, 2))
    assert nearest(rows, 4).tolist() == [4, 0, 1, 2, 3, 5]


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda: nm.Federation.iid(X, 0), "clients"),
        (lambda: nm.Federation.iid(X, 201), "clients"),
        (lambda: nm.Federation.dirichlet(X, Y, 150, 0.01), "clients"),
        (lambda: nm.Federation.dirichlet(X, Y, 3, 0), "alpha"),
        (lambda: nm.Federation.dirichlet(X, Y[:-1], 3, 1.0), "y"),
        (lambda: nm.Federation.variance_limited(X, Y, 40), "neighbors"),
        (lambda: nm.Federation.variance_limited(X, Y, 0), "neighbors"),
        (lambda: nm.Federation.variance_limited(X, Y[:-1], 3), "y"),
    ],
)
def test_impossible_partitions_are_refused(make, argument):
    with pytest.raises(nm.InvalidInput, match=rf"^{argument}: "):
        make()
