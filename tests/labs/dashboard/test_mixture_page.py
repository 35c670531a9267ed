"""KID of any mixture of generators in the page: beside pairs of weighed rows, and beside Python."""

import json

import numpy as np
import pytest

import nbmetrics as nm
from tests.labs.dashboard.page import said
from tests.labs.inside import mixture_of, scene_of
from tests.node import needs_node

SIZES = {"north": 30, "south": 45, "isle": 12}
COUNT = {"a": 40, "b": 25, "c": 60, "d": 33}


def cubic(x, y):
    return (x @ y.T / x.shape[1] + 1.0) ** 3


def weighed(samples, weights):
    """The rows of a mixture, the weight of each, and which sample it is of."""
    rows = np.concatenate(samples)
    own = np.concatenate([np.full(len(x), w / len(x)) for x, w in zip(samples, weights, strict=True)])
    return rows, own, np.repeat(np.arange(len(samples)), [len(x) for x in samples])


def kid_by_pairs(real, weights, made, alpha):
    """KID of pooled clients and a mixture, every pair of rows weighed, none of a row with itself.

    Pairs within one client or generator have its share squared: its rows are a sample of their own.
    """
    (x, v, _), (y, w, _) = weighed(real, weights), weighed(made, alpha)
    own = [_own_pairs(weighed(samples, shares), shares) for samples, shares in ((real, weights), (made, alpha))]
    return sum(own) - 2.0 * v @ cubic(x, y) @ w


def _own_pairs(side, shares):
    rows, each, whose = side
    pairs = np.outer(each, each)
    np.fill_diagonal(pairs, 0.0)
    for j, share in enumerate(shares):
        inside = np.ix_(whose == j, whose == j)
        pairs[inside] *= share**2 / (pairs[inside].sum() or 1.0)
    return (pairs * cubic(rows, rows)).sum()


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(2)
    real = {name: rng.normal(i - 1, 1, (n, 4)) for i, (name, n) in enumerate(SIZES.items())}
    made = {name: rng.normal(0.5 * j - 1, 1.2, (n, 4)) for j, (name, n) in enumerate(COUNT.items())}
    lab = nm.Dashboard(real, made, "kid")
    mixture_of(lab).now(type(scene_of(lab)).parse({**lab.scene, "weights": [2, 1, 1]}))
    found = json.loads(json.dumps(lab.mixture))
    lab.close()
    return list(real.values()), list(made.values()), found


@needs_node
def test_the_page_scores_every_mixture_as_pairs_of_its_rows_do(world):
    real, made, found = world
    rng = np.random.default_rng(3)
    shares = [found["alpha"], *np.eye(4), [0, 0.5, 0.5, 0], *rng.dirichlet(np.ones(4), 6)]
    line = "say(given[1].map((alpha) => mixtureScores(given[0], alpha)))"
    shown = said("mixture_card.js", "mixtureScores", line, [found, shares])
    assert shown[0]["all"] == pytest.approx(found["score"], rel=1e-9)
    for alpha, score in zip(shares, shown, strict=True):
        assert score["all"] == pytest.approx(kid_by_pairs(real, [0.5, 0.25, 0.25], made, np.array(alpha)), abs=1e-9)
        alone = [kid_by_pairs([rows], [1.0], made, np.array(alpha)) for rows in real]
        assert score["clients"] == pytest.approx(alone, abs=1e-9)
    best = min(score["all"] for score in shown)
    assert best == shown[0]["all"] < min(score["all"] for score in shown[1:5])


@needs_node
def test_shares_move_in_proportion_and_from_a_single_one_as_in_the_best():
    given = [[[0.2, 0.3, 0.5], 0, 0.6], [[1, 0, 0], 0, 0.4], [[0.2, 0.3, 0.5], 2, 7]]
    best = [0.5, 0.1, 0.4]
    line = "say(given[0].map(([alpha, j, share]) => withShareOf(alpha, j, share, given[1])))"
    proportional, alone, most = said("mixture_card.js", "withShareOf", line, [given, best])
    assert proportional == pytest.approx([0.6, 0.15, 0.25])
    assert alone == pytest.approx([0.4, 0.12, 0.48])
    assert most == [0, 0, 1]
