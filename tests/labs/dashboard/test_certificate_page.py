"""The winner's certificate, and who wins along a weight: Python beside the page, a linear programme, a fine grid."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import nbmetrics as nm
from nbmetrics.labs.dashboard.certificate import certificate_of, least_reweighting
from tests.labs.dashboard.along_a_weight import breakpoints, with_weight
from tests.labs.dashboard.page import said
from tests.node import needs_node


def world(rng, size=None, clients=None):
    size, clients = size or int(rng.integers(1, 6)), clients or int(rng.integers(1, 8))
    centres = rng.integers(0, 5, (size, clients)) + rng.normal(0, 0.3, (size, clients)) * rng.integers(2)
    weights = rng.dirichlet(np.ones(clients)) * (rng.uniform(size=clients) < 0.8)
    weights = weights / weights.sum() if weights.sum() > 0 else np.full(clients, 1 / clients)
    return centres, weights


def least_by_programme(centres, weights):
    """min ½ Σ|λ' − λ| over λ' in the simplex at which some other generator is at least level with the winner."""
    size, k = centres.shape
    winner = int(np.argmin(centres @ weights))
    least = math.inf
    for rival in set(range(size)) - {winner}:
        cost = np.concatenate([np.zeros(k), np.full(k, 0.5)])
        apart = np.block([[np.eye(k), -np.eye(k)], [-np.eye(k), -np.eye(k)]])
        ahead = np.concatenate([centres[rival] - centres[winner], np.zeros(k)])
        found = linprog(
            cost,
            A_ub=np.vstack([apart, ahead]),
            b_ub=np.concatenate([weights, -weights, [0.0]]),
            A_eq=[[1.0] * k + [0.0] * k],
            b_eq=[1.0],
        )
        least = min(least, found.fun if found.status == 0 else math.inf)
    return least


def test_the_certificate_is_the_optimum_of_the_linear_programme():
    rng = np.random.default_rng(0)
    none = 0
    for _ in range(120):
        centres, weights = world(rng)
        least, found = least_by_programme(centres, weights), least_reweighting(centres, weights)
        none += found is None
        assert (math.inf if found is None else found.moved) == pytest.approx(least, abs=1e-8)
        if found is not None and found.sources:
            after = weights.copy()
            after[found.target] += found.moved
            for i, share in found.sources:
                after[i] -= share
            assert after.min() >= -1e-12 and after.sum() == pytest.approx(1)
            scores = centres @ after
            assert scores[found.rival] == pytest.approx(scores[found.winner], abs=1e-9)
    assert 10 < none < 110


def test_what_the_certificate_says():
    centres = np.array([[1.0, 1, 1], [4, 2, 0]])
    weights, names = np.array([0.25, 0.5, 0.25]), (["Narrow", "Wide"], ["north", "east", "south"])
    change, told = least_reweighting(centres, weights), certificate_of(*names, centres, weights)
    assert (change.moved, change.sources, change.target) == (0.25, ((0, 0.25),), 2)
    assert (told.winner, told.rival, told.moved) == ("Narrow", "Wide", 0.25)
    assert (told.sources, told.target) == ({"north": 0.25}, "south")
    assert str(told) == "Move 25\u00a0% of the weight from north to south, and Wide overtakes Narrow."
    beaten = np.add(centres, [[0], [1.0001]])
    assert least_reweighting(beaten, np.full(3, 1 / 3)) is None
    none = certificate_of(*names, beaten, np.full(3, 1 / 3))
    assert str(none) == "No change of the weights makes another generator win."
    assert (none.winner, none.rival, none.sources, none.target) == ("Narrow", "", {}, "") and math.isnan(none.moved)
    level = certificate_of(*names, centres[[0, 0]], np.full(3, 1 / 3))
    assert str(level) == "Wide is already level with Narrow." and level.moved == 0
    assert str(certificate_of(*names, np.full((2, 3), math.nan), weights)) == "Not known yet."
    assert least_reweighting(np.array([[1.0, 1], [math.inf, 0]]), np.array([0.5, 0.5])) is None


def test_a_dashboard_gives_the_certificate_of_its_winner_under_the_weights_on_show():
    table = pd.DataFrame({"a": [0.3, 0.9], "b": [0.4, 0.5], "c": [0.0, 9.0]}, index=["north", "south"])
    lab = nm.Dashboard.from_table(table)
    lab.remove("c")
    lab.weights = [3, 2]
    told = lab.certificate()
    assert (told.winner, told.rival, told.target) == ("b", "a", "north")
    assert told.moved == pytest.approx(0.2) and told.sources == pytest.approx({"south": 0.2})
    lab.weights = [81, 19]
    assert lab.certificate().winner == "a"


def test_the_track_is_that_of_a_grid():
    rng = np.random.default_rng(1)
    pieces = 0
    for _ in range(60):
        centres, weights = world(rng, clients=int(rng.integers(2, 8)))
        i, held = (
            int(rng.integers(len(weights))),
            [int(j) for j in np.flatnonzero(rng.uniform(size=len(weights)) < 0.2)],
        )
        if len({*held, i}) == len(weights):
            held = []
        found = breakpoints(centres, weights, i, held)
        top = 1 - sum(weights[j] for j in held if j != i)
        assert found[0][0] == 0 and found[-1][1] == pytest.approx(top)
        assert [end for _, end, _ in found[:-1]] == [start for start, _, _ in found[1:]]
        for t in np.linspace(0, top, 41):
            scores = centres @ with_weight(weights, i, t, held)
            winners = [g for start, end, g in found if start - 1e-12 <= t <= end + 1e-12]
            assert min(scores[g] for g in winners) == pytest.approx(scores.min(), abs=1e-9)
        pieces += len(found)
    assert pieces > 80


def test_weights_move_in_proportion_and_those_held_stay():
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose(with_weight(weights, 0, 0.4, [3]), [0.4, 0.08, 0.12, 0.4])
    np.testing.assert_allclose(with_weight(np.array([1.0, 0, 0]), 0, 0.5), [0.5, 0.25, 0.25])
    assert breakpoints(np.array([[1.0], [0.5]]), np.array([1.0]), 0) == [(0.0, 1.0, 1)]
    assert breakpoints(np.array([[math.nan, 1], [1.0, 1]]), np.array([0.5, 0.5]), 0) == [(0.0, 1.0, 1)]


@needs_node
def test_page_and_python_give_the_same_certificates():
    rng = np.random.default_rng(2)
    worlds = [world(rng) for _ in range(80)]
    for n, hostile in enumerate((math.nan, math.inf, -math.inf)):
        worlds[n][0][0, 0] = hostile
    cases = [[*one, int(rng.integers(len(one[1]))), [0] if rng.integers(2) else []] for one in worlds]
    found = said(
        "certificate.js",
        "breakpoints, certificateSentence, leastReweighting, withWeight",
        "say(given.map(([centres, weights, i, held]) => { const least = leastReweighting(centres, weights);"
        " return { least, moved: withWeight(weights, i, 0.3, held), track: breakpoints(centres, weights, i, held),"
        " sentence: certificateSentence(least, [...'abcde'], [...'ABCDEFGH']) }; }))",
        cases,
    )
    for (centres, weights, i, held), page in zip(cases, found, strict=True):
        least = least_reweighting(centres, weights)
        names = "abcde"[: len(centres)], "ABCDEFGH"[: len(weights)]
        said_by_python = certificate_of(*names, centres, weights)
        if said_by_python.winner:
            assert page["sentence"] == str(said_by_python)
        assert (least is None) == (page["least"] is None)
        if least is not None:
            assert (page["least"]["winner"], page["least"]["rival"]) == (least.winner, least.rival)
            assert page["least"]["target"] == least.target
            np.testing.assert_allclose(page["least"]["sources"], least.sources, rtol=1e-9)
        np.testing.assert_allclose(page["moved"], with_weight(weights, i, 0.3, held), rtol=1e-12)
        np.testing.assert_allclose(page["track"], breakpoints(centres, weights, i, held), rtol=1e-9, atol=1e-12)
