"""What more rows would settle: Python beside the page, and beside worlds in which the rows are really drawn."""

import math

import numpy as np
import pytest

from nbmetrics.labs.dashboard.sample_size_planning import variance_by_source
from tests.labs.dashboard.page import said
from tests.labs.dashboard.sample_size_oracle import ROWS, kept_after, p_after, settle, settle_sentence
from tests.node import needs_node


def test_the_promise_holds_where_the_rows_are_really_drawn():
    """A difference of two clients' means, 20 rows each of variances 4 and 1, and 60 more rows of the first.

    Worlds of all true differences alike; kept are those whose difference is about as far from 0 as one was seen.
    """
    rng = np.random.default_rng(0)
    count, n, more = 150_000, 20, 60
    sigma = np.array([2.0, 1.0])
    variances, sizes = sigma**2 / n, np.array([n, n])
    true = rng.uniform(-6, 6, count)
    first = true + rng.normal(0, sigma[0], (n, count)).mean(axis=0)
    second = rng.normal(0, sigma[1], (n, count)).mean(axis=0)
    away = np.abs(first - second) / math.sqrt(variances.sum())
    seen = (away > 1.1) & (away < 1.25)
    extra = true[seen] + rng.normal(0, sigma[0], (more, seen.sum()))
    after = (n * first[seen] + extra.sum(axis=0)) / (n + more) - second[seen]
    for difference, kept in (
        ((first - second)[seen], 1.0),
        (after, kept_after(variances, sizes, np.array([more, 0]))),
    ):
        share = np.mean(difference * true[seen] < 0)
        error = math.sqrt(share * (1 - share) / seen.sum())
        assert abs(share - p_after(1.175, kept)) < 4 * error + 0.002
    assert p_after(1.175, 0.4) < p_after(1.175, 1.0) - 0.02


def test_the_ends_of_the_promise():
    from scipy.special import ndtr

    assert p_after(1.3, 1.0) == pytest.approx(ndtr(-1.3)) and p_after(1.3, 0.0) == 0
    assert p_after(0.0, 0.25) == pytest.approx(math.atan(math.sqrt(1 / 3)) / math.pi)
    assert p_after(math.inf, 0.5) == 0 and math.isnan(p_after(math.nan, 0.5))


def test_parts_add_up_to_the_variance_of_the_difference():
    rng = np.random.default_rng(1)
    scale = np.array([1.0, 2.0, 0.5])
    real = rng.normal(size=(20_000, 1, 3)) * scale + rng.normal(size=(20_000, 2, 3)) * scale
    generated = np.repeat(rng.normal(size=(20_000, 2, 1)), 3, axis=2) * [[[0.3], [0.6]]]
    weights = np.array([0.5, 0.25, 0.25])
    found = variance_by_source(real, generated, weights, 0, 1)
    np.testing.assert_allclose(found, [0.5, 0.5, 2 * (0.5 / 4) ** 2, 0.09, 0.36], rtol=0.05)
    apart = ((real + generated) @ weights) @ [1, -1]
    assert found.sum() == pytest.approx(apart.var(), rel=0.03)


CASES = {
    "a client": (
        (1.2, [0.1, 4.0, 0.1, 0.0, 0.0], [100, 100, 100, 10_000, 10_000]),
        "3,000 more rows from south should bring one-sided p = 0.12 to p = 0.043; more generated rows would not help.",
    ),
    "generated": (
        (1.0, [0.1, 0.2, 0.1, 2.0, 1.0], [1000, 1000, 1000, 500, 500]),
        "10,000 more rows from each of the two generators should bring one-sided p = 0.16 to p = 0.077.",
    ),
    "nothing": (
        (0.1, [1.0] * 5, [100_000] * 5),
        "More rows from one source would not decide between Narrow and Wide: with 10,000 more rows from each of the "
        "two generators, one-sided p = 0.46 should become p = 0.43.",
    ),
    # No "settled": among several pairs compared at once the leader may still be tied.
    "little left": (
        (3.0, [1.0] * 5, [100] * 5),
        "More rows would hardly change the winner by avg: one-sided p = 0.001 for Narrow over Wide, unadjusted.",
    ),
    "exact": (
        (math.inf, [0.0] * 5, [0] * 5),
        "More rows would change nothing: Narrow and Wide are compared exactly.",
    ),
    "unknown": (
        (math.nan, [1.0] * 5, [100] * 5),
        "Not known: how many more rows would decide between Narrow and Wide.",
    ),
}
NAMES = "Narrow", "Wide", ["north", "south", "east"]


def settled(away, variances, sizes):
    return settle(away, np.array(variances), np.array(sizes, dtype=float))


@pytest.mark.parametrize("case", CASES)
def test_what_is_said(case):
    given, sentence = CASES[case]
    assert settle_sentence(settled(*given), *NAMES) == sentence


def test_the_best_buy_comes_first_and_more_rows_never_hurt():
    found = settled(1.0, [1.0, 3.0, 2.0, 0.1, 0.1], [100, 1000, 100, 50, 50])
    n = ROWS.index(found.rows)
    assert found.buys[0].client == 1
    assert [buy.after[n] for buy in found.buys] == sorted(buy.after[n] for buy in found.buys)
    for buy in found.buys:
        assert list(buy.after) == sorted(buy.after, reverse=True) and buy.after[0] < found.now


@needs_node
def test_page_and_python_promise_the_same():
    rng = np.random.default_rng(2)
    cases = [case for case, _ in CASES.values()]
    for _ in range(40):
        variances = rng.exponential(size=5) * (rng.uniform(size=5) < 0.8)
        cases.append((float(rng.exponential(1.5)), variances, rng.integers(10, 5000, 5)))
    found = said(
        "sample_size_planning.js",
        "settle, settleSentence",
        "const clients = ['north', 'south', 'east']; say(given.map((case_) => { const found = settle(...case_);"
        " return { found, sentence: settleSentence(found, 'Narrow', 'Wide', clients) }; }))",
        cases,
    )
    for given, page in zip(cases, found, strict=True):
        ours = settled(*given)
        assert page["sentence"] == settle_sentence(ours, *NAMES)
        assert [buy["client"] for buy in page["found"]["buys"]] == [buy.client for buy in ours.buys]
        np.testing.assert_allclose(page["found"]["now"], ours.now, rtol=1e-9)
        for buy, own in zip(page["found"]["buys"], ours.buys, strict=True):
            np.testing.assert_allclose(buy["after"], own.after, rtol=1e-6, atol=1e-9)
