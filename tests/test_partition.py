"""How one data set becomes clients: every row once, sizes and labels as asked for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nbmetrics as nm
from nbmetrics.partition import natural, nearest

X = np.arange(400.0).reshape(200, 2)
Y = np.repeat(np.arange(5), 40)


def owned(federation):
    return np.sort(np.concatenate([client.rows[:, 0] for client in federation]))


def shares(federation):
    """The share of each label at each client."""
    table = counts(federation)
    return table / table.sum(axis=1, keepdims=True)


def counts(federation):
    """How many rows of each label each client has, by the rows themselves."""
    return np.array([np.bincount(Y[(c.rows[:, 0] / 2).astype(int)], minlength=5) for c in federation])


def check_dealt(federation, again):
    """Every row at one client, its label beside it; the same seed deals the same."""
    np.testing.assert_array_equal(owned(federation), X[:, 0])
    for client, same in zip(federation, again, strict=True):
        np.testing.assert_array_equal(client.rows, same.rows)
        if client.labels is not None:
            np.testing.assert_array_equal(client.labels, Y[(client.rows[:, 0] / 2).astype(int)])
    assert federation.names == tuple(f"Client {k}" for k in range(1, len(federation) + 1))


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


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(1, 5), st.integers(0, 50))
def test_shards_are_equal_runs_of_one_label_or_two(clients, each, seed):
    federation, again = (nm.Federation.shards(X, Y, clients, each, seed) for _ in range(2))
    check_dealt(federation, again)
    held = counts(federation)
    assert held.sum(axis=1).max() - held.sum(axis=1).min() <= each
    # as long as a shard is shorter than a label, which has 40 rows, it holds at most two
    assert clients * each < 6 or (held > 0).sum(axis=1).max() <= 2 * each


def test_shards_of_as_many_rows_as_a_label_hold_one():
    held = counts(nm.Federation.shards(X, Y, 5, per_client=1, seed=3))
    np.testing.assert_array_equal(np.sort(held, axis=1), [[0, 0, 0, 0, 40]] * 5)
    assert (counts(nm.Federation.shards(X, Y, 10, 2, seed=3)) > 0).sum(axis=1).max() <= 2


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 20), st.integers(1, 5), st.integers(0, 50))
def test_pathological_clients_have_so_many_labels_each_in_equal_parts(clients, classes, seed):
    if clients * classes < 5:
        with pytest.raises(nm.InvalidInput, match="do not cover all 5 labels"):
            nm.Federation.pathological(X, Y, clients, classes, seed)
        return
    federation, again = (nm.Federation.pathological(X, Y, clients, classes, seed) for _ in range(2))
    check_dealt(federation, again)
    held = counts(federation)
    assert set((held > 0).sum(axis=1)) == {classes}
    holders = (held > 0).sum(axis=0)
    assert holders.max() - holders.min() <= 1
    for label in held.T:
        assert label[label > 0].max() - label[label > 0].min() <= 1


@pytest.mark.parametrize(
    "deal",
    [
        lambda seed: nm.Federation.pathological(X, Y, 5, 2, seed),
        lambda seed: nm.Federation.shards(X, Y, 5, 2, seed),
        lambda seed: nm.Federation.power_law(X, 5, 1.0, seed),
    ],
)
def test_another_seed_deals_otherwise(deal):
    dealt = [deal(seed) for seed in range(10)]
    assert len({tuple(federation["Client 1"].rows.ravel()) for federation in dealt}) == 10
    assert len({counts(federation).tobytes() for federation in dealt}) > 5


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 50), st.floats(0, 4), st.integers(0, 50))
def test_sizes_by_a_power_law_fall_as_it_says(clients, exponent, seed):
    federation, again = (nm.Federation.power_law(X, clients, exponent, seed, y=Y) for _ in range(2))
    check_dealt(federation, again)
    sizes = np.array([len(c.rows) for c in federation])
    distribution = np.arange(1, clients + 1.0) ** -exponent
    np.testing.assert_allclose(sizes - 2, distribution / distribution.sum() * (200 - 2 * clients), atol=1)
    assert sizes.min() >= 2


def test_clients_by_id_are_in_natural_order_and_keep_their_labels():
    ids = np.array([f"user {k}" for k in (10, 9, 2, 1)])[np.arange(200) % 4]
    federation = nm.Federation.by_id(X, ids, y=Y)
    assert federation.names == ("user 1", "user 2", "user 9", "user 10")
    np.testing.assert_array_equal(owned(federation), X[:, 0])
    for client in federation:
        places = np.flatnonzero(ids == client.name)
        np.testing.assert_array_equal(client.rows, X[places])
        np.testing.assert_array_equal(client.labels, Y[places])
    assert nm.Federation.by_id(X, Y).names == ("0", "1", "2", "3", "4")
    assert nm.Federation.by_id(X, ids)["user 2"].labels is None


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=6), max_size=8))
def test_natural_order_is_an_order_of_any_texts(names):
    found = sorted(names, key=natural)
    assert sorted(found) == sorted(names) and sorted(reversed(found), key=natural) is not None


def test_natural_order_is_by_size_of_numbers():
    names = ["a", "img2", "img10", "img10b", "Img11", "img012", "1" * 5000]
    assert sorted(names, key=natural) == ["1" * 5000, "a", "img2", "img10", "img10b", "Img11", "img012"]


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda: nm.Federation.iid(X, 0), "clients"),
        (lambda: nm.Federation.iid(X, 201), "clients"),
        (lambda: nm.Federation.dirichlet(X, Y, 150, 0.01), "clients"),
        (lambda: nm.Federation.dirichlet(X, Y, 3, 0), "alpha"),
        (lambda: nm.Federation.dirichlet(X, None, 3, 1.0), "y"),
        (lambda: nm.Federation.from_labels(X), "y"),
        (lambda: nm.Federation.iid(X, 3, y=Y[:-1]), "y"),
        (lambda: nm.Federation.iid(X, 3, seed=-1), "seed"),
        (lambda: nm.Federation.shards(X, Y, 101, 1), "clients"),
        (lambda: nm.Federation.shards(X, Y, 50, 5), "per_client"),
        (lambda: nm.Federation.shards(X, Y, 3, 0), "per_client"),
        (lambda: nm.Federation.shards(X, Y, 3, 10**12), "per_client"),
        (lambda: nm.Federation.shards(X, Y[:3], 3, 2), "y"),
        (lambda: nm.Federation.pathological(X, Y, 3, 6), "classes"),
        (lambda: nm.Federation.pathological(X, Y, 3, 1), "classes"),
        (lambda: nm.Federation.pathological(X, Y, 10**12, 2), "clients"),
        (lambda: nm.Federation.pathological(X, Y, 99, 5), "classes"),
        (lambda: nm.Federation.pathological(X[:6], [0, 0, 0, 0, 1, 2], 3, 1), "clients"),
        (lambda: nm.Federation.pathological(X, Y, 3, 2, seed=1.5), "seed"),
        (lambda: nm.Federation.power_law(X, 101, 1.0), "clients"),
        (lambda: nm.Federation.power_law(X, 5, -1.0), "exponent"),
        (lambda: nm.Federation.power_law(X, 5, np.nan), "exponent"),
        (lambda: nm.Federation.power_law(X, 5, 1e9), "exponent"),
        (lambda: nm.Federation.by_id(X, Y[:-1]), "ids"),
        (lambda: nm.Federation.by_id(X, None), "ids"),
        (lambda: nm.Federation.dirichlet(X, Y[:-1], 3, 1.0), "y"),
        (lambda: nm.Federation.variance_limited(X, Y, 40), "neighbors"),
        (lambda: nm.Federation.variance_limited(X, Y, 0), "neighbors"),
        (lambda: nm.Federation.variance_limited(X, Y[:-1], 3), "y"),
    ],
)
def test_impossible_partitions_are_refused(make, argument):
    with pytest.raises(nm.InvalidInput, match=rf"^{argument}: "):
        make()
