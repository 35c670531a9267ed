"""The order of the clients: distances against nm.kid, the order of leaves against every turn of the tree."""

import itertools

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.labs.dashboard import clustering as module
from nbmetrics.labs.dashboard.clustering import cluster_clients, squared_mmd, squared_score_distances, tree_of
from nbmetrics.metrics.base import Sample


def samples(*clients):
    return [Sample.of(client, "clients") for client in clients]


def test_clients_are_apart_by_kid():
    rng = np.random.default_rng(0)
    rows = [rng.normal(shift, 1, (n, 3)) for shift, n in ((0, 40), (1, 25), (5, 30))]
    distributions = [nm.Gaussian([0, 0, 0]), nm.Mixture([nm.Gaussian([1, 0, 0]), nm.Gaussian([-1, 0, 2])])]
    clients = [*rows, *distributions]
    expected = [[nm.kid(a, b) for b in clients] for a in clients]
    found = squared_mmd(samples(*clients))
    np.testing.assert_allclose(squared_mmd(samples(*rows)), found[:3, :3], rtol=1e-8, atol=1e-12)
    off = ~np.eye(len(clients), dtype=bool)
    np.testing.assert_allclose(found[off], np.array(expected)[off], rtol=1e-8)


def turns(node, joins, count):
    """Every order of leaves that a tree has."""
    if node < count:
        yield [node]
        return
    left, right, _ = joins[node - count]
    for a, b in itertools.product(list(turns(left, joins, count)), list(turns(right, joins, count))):
        yield a + b
        yield b + a


@pytest.mark.parametrize("seed", range(3))
def test_neighbours_are_as_alike_as_the_tree_allows(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(7, 2))
    squared = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    leaves, joins = tree_of(squared)
    way = lambda order: sum(np.sqrt(squared[a, b]) for a, b in itertools.pairwise(order))  # noqa: E731
    orders = list(turns(2 * len(points) - 2, joins, len(points)))
    assert leaves in orders
    assert way(leaves) == pytest.approx(min(map(way, orders)), rel=1e-9)


def test_two_kinds_of_clients_stand_side_by_side():
    leaves, joins = cluster_clients(samples(*(nm.Gaussian([x, 0]) for x in (0, 4, 0.1, 4.1, 0.2))))
    assert {frozenset(leaves[:3]), frozenset(leaves[2:])} & {frozenset({0, 2, 4})}
    assert [far for _, _, far in joins] == sorted(far for _, _, far in joins)


@pytest.mark.parametrize("count", [1, 2])
def test_of_one_or_two_there_is_one_order(count):
    assert cluster_clients(samples(*[nm.Gaussian([0.0])] * count)).leaves == list(range(count))


def test_too_many_clients_stand_as_given(monkeypatch):
    clients = samples(*(nm.Gaussian([x]) for x in (5.0, 0.0, 6.0, 1.0)))
    assert cluster_clients(clients).leaves != [0, 1, 2, 3]
    monkeypatch.setattr(module, "MAX_CLIENTS", 3)
    assert cluster_clients(clients).leaves == [0, 1, 2, 3]


def test_of_many_distributions_some_rows_tell_which_are_alike(monkeypatch):
    monkeypatch.setattr(module, "MAX_EXACT_CLIENTS", 3)
    found = squared_mmd(samples(*(nm.Gaussian([x, 0.0]) for x in (0.0, 3.0, 0.0, 3.0))))
    assert (found[0, 2], found[1, 3]) < (0.1 * found[0, 1], 0.1 * found[0, 3])


def test_a_table_alone_tells_which_clients_are_alike():
    scores = np.array([[1.0, 9.0, 1.1, np.inf], [np.nan, 0.0, 0.1, 0.0], [2.0, 2.0, 2.0, 2.0]])
    squared = squared_score_distances(scores)
    assert np.isfinite(squared).all() and (squared == squared.T).all() and not squared.diagonal().any()
    assert squared[0, 3] > squared[1, 3]
