"""Winner regions, shares of all weightings, regret: Python beside the page and beside grids of weights."""

import math

import numpy as np
import pytest

from nbmetrics.labs.dashboard import win_shares as module
from nbmetrics.labs.dashboard.win_shares import share_of_weightings
from nbmetrics.labs.dashboard.winner_regions import polygons, regions, regret, worst
from tests.labs.dashboard.page import said
from tests.labs.dashboard.test_certificate_page import world
from tests.node import needs_node

# The middles of small triangles, equally many everywhere.
STEPS = 60
GRID = np.array([[i, j, STEPS - i - j] for i in range(STEPS + 1) for j in range(STEPS + 1 - i)]) / STEPS
SIDE = GRID * 0.999 + 0.001 / 3


def inside(polygon, points):
    """Whether points lie in a convex polygon of either turn."""
    edges = np.roll(polygon, -1, axis=0)[:, :2] - polygon[:, :2]
    away = points[:, None, :2] - polygon[None, :, :2]
    turns = edges[None, :, 0] * away[:, :, 1] - edges[None, :, 1] * away[:, :, 0]
    return (turns >= -1e-9).all(axis=1) | (turns <= 1e-9).all(axis=1)


def test_regions_are_those_of_a_grid():
    rng = np.random.default_rng(0)
    for _ in range(20):
        centres, weights = world(rng, clients=7)
        groups = rng.permutation([0, 0, 1, 1, 2, 2, 2])
        found = regions(centres, groups, weights)
        for point in SIDE[:: 1 + int(rng.integers(40))]:
            spread = np.zeros(7)
            for group in range(3):
                which = groups == group
                own = weights[which] if weights[which].sum() > 0 else np.ones(which.sum())
                spread[which] = point[group] * own / own.sum()
            scores = centres @ spread
            winners = [g for g, polygon in enumerate(found) if len(polygon) and inside(polygon, point[None])[0]]
            assert min(scores[g] for g in winners) == pytest.approx(scores.min(), abs=1e-7)
            assert max(scores[g] for g in winners) == pytest.approx(scores.min(), abs=1e-7)
    assert [len(polygon) for polygon in regions(np.ones((2, 2)), np.array([0, 1]), np.full(2, 0.5))] == [0, 0]


def test_three_clients_are_shared_exactly():
    rng = np.random.default_rng(1)
    for _ in range(10):
        centres, _ = world(rng, clients=3)
        wins = centres @ SIDE.T
        wins = wins <= wins.min(axis=0) + 1e-12
        found = share_of_weightings(centres)
        np.testing.assert_allclose(found.share, (wins / wins.sum(axis=0)).mean(axis=1), atol=0.04)
        assert found.share.sum() == pytest.approx(1) and not found.error.any()
    # The second wins where its client has more than ¾ of the weight: (¼)² of the triangle.
    corner = share_of_weightings(np.array([[0.0, 0, 0], [-1, 3, 3]])).share
    np.testing.assert_allclose(corner, [15 / 16, 1 / 16])


def test_two_clients_and_many():
    two = share_of_weightings(np.array([[0.0, 3], [1, 1], [1, 1], [math.nan, 0], [math.inf, 0]]))
    np.testing.assert_allclose(two.share, [1 / 3, 1 / 3, 1 / 3, math.nan, 0])
    centres = np.array([[0.0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]])
    four = share_of_weightings(centres, seed=3)
    assert np.all(np.abs(four.share - 0.25) < 4 * four.error) and four.error[0] == pytest.approx(0.0068, abs=5e-4)
    assert share_of_weightings(np.array([[2.0], [1.0]])).share.tolist() == [0, 1]


def test_dirichlet_draws_agree_with_areas(monkeypatch):
    centres, _ = world(np.random.default_rng(4), size=4, clients=3)
    padded = np.column_stack([centres, centres[:, 0]])
    drawn = np.random.default_rng(0).dirichlet(np.ones(4), 200_000)
    wanted = np.bincount((padded @ drawn.T).argmin(axis=0), minlength=4) / 200_000
    found = share_of_weightings(padded)
    assert np.all(np.abs(found.share - wanted) <= 4 * found.error + 0.004)
    assert module.WEIGHTINGS == 4096


def test_regret_is_beside_the_clients_own_best():
    centres = np.array([[1.0, math.nan, math.inf, -1], [3, 2, math.inf, -3]])
    np.testing.assert_array_equal(regret(centres), [[0, math.nan, 0, 2], [2, 0, 0, 0]])
    assert worst(np.array([[1.0, 5, 9], [2, 3, math.nan]]), np.array([0.5, 0.5, 0])).tolist() == [5, 3]


@needs_node
def test_page_and_python_give_the_same_regions():
    rng = np.random.default_rng(5)
    cases = []
    for n in range(50):
        centres, weights = world(rng, clients=6)
        if n % 5 == 0:
            centres[0, 0] = (math.nan, math.inf)[n % 2]
        cases.append([centres, rng.permutation([0, 0, 1, 1, 2, 2]), weights])
    found = said(
        "winner_regions.js",
        "regions, regret, worst",
        "say(given.map(([centres, groups, weights]) =>"
        " [regions(centres, groups, weights), regret(centres), worst(centres, weights)]))",
        cases,
    )
    for (centres, groups, weights), (page, lost, least) in zip(cases, found, strict=True):
        for ours, theirs in zip(regions(centres, groups, weights), page, strict=True):
            np.testing.assert_allclose(np.array(theirs).reshape(-1, 3), ours, atol=1e-9)
        np.testing.assert_allclose(lost, regret(centres), rtol=1e-12)
        np.testing.assert_allclose(least, worst(centres, weights))
    assert len(polygons(np.zeros((2, 3)))[1]) == 0
