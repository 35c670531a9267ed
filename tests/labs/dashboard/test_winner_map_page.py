"""Who wins by all in the weights of three groups: Python's grid beside scores under each weighting, and the page's."""

import json
import threading

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from nbmetrics.labs.dashboard import winner_regions
from nbmetrics.labs.dashboard.on_demand import OnDemand
from nbmetrics.labs.dashboard.scene import DashboardScene
from nbmetrics.labs.dashboard.winner_regions import proportions
from tests.labs.dashboard.page import said
from tests.labs.inside import scene_of, winners_of
from tests.node import needs_node
from tests.slow import slow

RNG = np.random.default_rng(7)
SIZES = [60, 90, 40, 120, 50]
CENTRES = RNG.normal(0, 1, (5, 8))


def of_rows():
    clients = {f"c{i}": CENTRES[i] + RNG.normal(0, 1, (n, 8)) for i, n in enumerate(SIZES)}
    made = {f"g{j}": CENTRES[[j, j + 2]].mean(0) + RNG.normal(0, 1.2 + 0.2 * j, (150, 8)) for j in range(3)}
    return clients, made


def of_distributions():
    distributions = [nm.Gaussian(CENTRES[i, :3], 0.5 + i) for i in range(5)]
    made = {f"g{j}": nm.Gaussian(CENTRES[[j, j + 2], :3].mean(0), 1.0 + 2 * j) for j in range(3)}
    return {f"c{i}": distribution for i, distribution in enumerate(distributions)}, made


def found(lab, **changes):
    winners_of(lab).now(type(scene_of(lab)).parse({**lab.scene, **changes}))
    return json.loads(json.dumps(lab.winners))


def spread(groups, weights, point):
    """The weights of clients at a point: within a group in proportion, or alike where it has no weight."""
    parts = [np.where(np.array(groups) == g, weights, 0.0) for g in range(3)]
    parts = [own if own.sum() else (np.array(groups) == g).astype(float) for g, own in enumerate(parts)]
    return sum(share * own / own.sum() for share, own in zip(point, parts, strict=True))


SETTINGS = [
    {"groups": [0, 0, 1, 1, 2], "weights": SIZES},
    {"groups": [2, 1, 0, 2, 1], "weights": [1, 1, 1, 1, 5]},
    {"groups": [0, 1, 2, 2, 2], "weights": [0, 3, 1, 0, 2]},
]


@pytest.mark.parametrize("make", [of_rows, *slow(of_distributions)])
def test_losses_are_scores_under_each_weighting(make):
    clients, made = make()
    lab = nm.Dashboard(clients, made, "fid")
    lab.wait()
    scores = nm.evaluate(clients, made, "fid", uncertainty=nm.Influence() if make is of_rows else None)
    names = set()
    for setting in SETTINGS:
        shown = found(lab, **setting)
        assert shown["doing"] == "" and len(shown["points"]) == len(shown["losses"]) >= 15
        rng = np.random.default_rng(1)
        for at in rng.choice(len(shown["points"]), 2, replace=False):
            point = np.array(shown["points"][at]) / shown["unit"]
            weights = spread(setting["groups"], np.array(setting["weights"], float), point)
            table = scores.with_weights(weights).table
            column = table.get("all_corrected", table["all"])
            wanted = column.where(column.notna(), table["all"]).to_numpy()
            np.testing.assert_allclose(shown["losses"][at], wanted, rtol=1e-6, atol=1e-9)
            names.add(table["generator"][wanted.argmin()])
    assert len(names) > 1
    lab.close()


def test_with_many_features_the_bias_is_that_of_the_weights_on_show(monkeypatch):
    clients, made = of_rows()
    lab = nm.Dashboard(clients, made, "fid")
    lab.wait()
    monkeypatch.setattr(winner_regions, "MAX_QUICK_FEATURES", 7)
    shown = found(lab)
    lab.close()
    scores = nm.evaluate(clients, made, "fid", uncertainty=nm.Influence())
    bias = (scores.table["all"] - scores.table["all_corrected"]).to_numpy()
    assert shown["shifted"] and bias.min() > 0
    for at in (0, 5, len(shown["points"]) - 1):
        weights = spread(shown["groups"], np.array(SIZES, float), np.array(shown["points"][at]) / shown["unit"])
        plain = scores.with_weights(weights).table["all"]
        np.testing.assert_allclose(shown["losses"][at], plain - bias, rtol=1e-6)


@needs_node
def test_the_page_draws_the_winners_of_all_weightings():
    clients, made = of_distributions()
    lab = nm.Dashboard(clients, made, "fid")
    lab.wait()
    shown = found(lab, **SETTINGS[0])
    lab.close()
    grid = np.array([[i, j, 20 - i - j] for i in range(21) for j in range(21 - i)]) / 20
    line = """
      const order = [2, 0, 1].map((g) => `g${g}`);
      const turn = (p, [x, y], n) => x * p[(n + 1) % p.length][1] - y * p[(n + 1) % p.length][0];
      const areaOf = (p) => Math.abs(p.reduce((sum, corner, n) => sum + turn(p, corner, n), 0));
      say([patches(given[0], order).map((own) => own.reduce((sum, part) => sum + areaOf(part), 0)),
        given[1].map((point) => winnerAt(given[0], order, point)), turns(given[0], order)])"""
    areas, wins, lines = said("winner_regions.js", "patches, turns, winnerAt", line, [shown, grid])
    within = proportions(np.array(SETTINGS[0]["groups"]), np.array(SETTINGS[0]["weights"], float))
    scores = nm.evaluate(clients, made, "fid")

    def losses_at(points):
        return np.array([scores.with_weights(w).table["all"] for w in points @ within])

    losses = losses_at(grid)
    lead = np.sort(losses, axis=1)
    sure = lead[:, 1] - lead[:, 0] > 0.01 * np.ptp(losses)
    named = np.array([2, 0, 1])[np.array(wins)]
    assert sure.sum() > 200 and (named[sure] == losses.argmin(axis=1)[sure]).all()
    assert sum(areas) == pytest.approx(1, abs=1e-6)
    share = np.bincount(named, minlength=3)[[2, 0, 1]] / len(grid)
    np.testing.assert_allclose(areas, share, atol=0.05)
    level = np.sort(losses_at(np.array(lines)[:40].reshape(-1, 3)), axis=1)
    assert len(lines) > 10 and (level[:, 1] - level[:, 0] < 0.005 * np.ptp(losses)).all()


@needs_node
def test_winners_are_of_their_groups_proportions_and_generators_alone():
    shares, groups = [0.2, 0.3, 0.1, 0.4, 0.0], [0, 1, 1, 2, 2]
    told = {"metric": "fid", "generators": ["a", "b"], "groups": groups, "within": [1, 0.75, 0.25, 1, 0]}
    told |= {"triangles": [], "losses": [], "points": []}
    moved = [0.4, 0.15, 0.05, 0.4, 0.0]  # the same proportions
    cases = [
        [told, ["b"], groups, shares],
        [told, ["b"], groups, moved],
        [told, ["b", "c"], groups, shares],
        [told, ["b"], [1, 0, 1, 2, 2], shares],
        [told, ["b"], groups, [0.2, 0.2, 0.2, 0.4, 0.0]],
        [told, ["b"], groups, [0.6, 0.3, 0.1, 0.0, 0.0]],  # where the last group counts alike
        [{**told, "metric": "kid"}, ["b"], groups, shares],
        [{"doing": "point 1 of 15"}, ["b"], groups, shares],
    ]
    line = """say(given.map(([told, generators, groups, shares]) =>
      winnersOf(told, { metric: "fid", generators }, groups, withinOf(shares, groups)) !== null))"""
    assert said("winner_regions.js", "winnersOf, withinOf", line, cases) == [True, True, *[False] * 6]


def test_the_page_asks_and_what_cannot_be_is_told():
    lab = nm.Dashboard(*of_distributions(), "fid")
    done = threading.Event()
    lab.observe(lambda change: change["new"]["doing"] == "" and done.set(), "winners")
    lab._receive(None, {"kind": "winners", "scene": {**lab.scene, "groups": [0, 0, 1, 1, 1]}}, [])
    assert done.wait(30) and "without clients" in lab.winners["error"]
    done.clear()
    lab._receive(None, {"kind": "winners", "scene": lab.scene}, [])
    assert done.wait(60) and lab.winners["groups"] == lab.scene["groups"] and "error" not in lab.winners
    lab.close()
    table = nm.Dashboard.from_table(pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [2.0, 1.0, 2.0]}))
    assert "pooled data" in found(table)["error"]
    table.close()


def test_what_is_asked_for_next_or_nothing_more_ends_what_is_under_way():
    written, scene = [], DashboardScene.parse({"metric": "fid", "weights": [1], "generators": ["a"]})

    def find(_):
        yield {"part": 1}
        yield None
        asked.drop()
        yield {"part": 2}

    asked = OnDemand(find, written.append, "test")
    asked.now(scene)
    assert written == [{"part": 1}]
    asked.close()
