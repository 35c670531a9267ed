"""Places as ranges: Python beside the page, beside counting by hand, and how often they are wrong."""

import itertools
import math

import numpy as np
import pytest

from nbmetrics.evaluation.noise import Multipliers
from nbmetrics.labs.dashboard.place_ranges import average, leaders, order_pvalue, place_ranges
from tests.labs.dashboard.page import said
from tests.node import needs_node


def average_noise(draws, scale, weights):
    """The noise of `average`, (B, G), of draws (B, G, k) in units of scale (G, k): averageNoise of the page."""
    counted = weights > 0
    return np.einsum("bgi,gi->bg", draws[:, :, counted], scale[:, counted] * weights[counted])


def noisy(rng, size, count=64):
    """Losses and draws of a random number of generators, many of them tied, alike, infinite or unknown."""
    losses = rng.integers(0, 4, size) / rng.choice([1, 7, 1e6]) + rng.normal(0, 1e-3, size) * rng.integers(2)
    draws = (rng.normal(size=(count, 1)) + rng.normal(size=(count, size))) * rng.choice([0.0, 0.05, 0.5, 1e-8])
    if rng.integers(6) == 0:  # squares are beyond all numbers
        unit = rng.choice([1e-200, 1e200])
        losses, draws = losses * unit, draws * unit
    if size > 2:
        draws[:, 1] = draws[:, 0] * (1 + 1e-15)
        losses[rng.integers(size)] = rng.choice([math.nan, math.inf, -math.inf, 0.0])
    if rng.integers(8) == 0:
        draws[:, rng.integers(size)] = math.nan
    return losses, draws if rng.integers(10) else None


def by_hand(losses, draws, level):
    """The set of told-apart pairs by loops over pairs and sorted lists, with the standard library alone."""
    pairs = [(a, b) for a in range(len(losses)) for b in range(a) if not math.isnan(losses[a] + losses[b])]
    errors = {}
    for a, b in itertools.permutations(range(len(losses)), 2):
        apart = [row[a] - row[b] for row in draws]
        errors[a, b] = math.sqrt(sum((x - sum(apart) / len(apart)) ** 2 for x in apart) / len(apart))
    largest = sorted(max((abs(r[a] - r[b]) / e for (a, b), e in errors.items() if e > 0), default=0.0) for r in draws)
    beyond = largest[math.ceil((len(draws) + 1) * level) - 1]
    return {
        (a, b) if losses[a] < losses[b] else (b, a)
        for a, b in pairs
        if abs(losses[a] - losses[b]) > beyond * errors[a, b]
    }


def test_places_are_those_counted_by_hand():
    rng = np.random.default_rng(0)
    for size in (2, 3, 7):
        losses, draws = rng.normal(size=size), rng.normal(0, 0.4, (40, size))
        losses[-1] = rng.choice([math.nan, 0.1])
        told = by_hand(losses.tolist(), draws.tolist(), 0.9)
        ranges = place_ranges(losses, draws, 0.9)
        assert set(zip(*map(np.ndarray.tolist, np.nonzero(ranges.better)), strict=True)) == told
        for g, loss in enumerate(losses):
            beaten, beats = sum(b == g for _, b in told), sum(a == g for a, _ in told)
            wanted = (0, 0) if math.isnan(loss) else (1 + beaten, (~np.isnan(losses)).sum() - beats)
            assert (ranges.low[g], ranges.high[g]) == wanted


def test_what_is_shared_by_all_generators_separates_nobody_and_hides_nobody():
    """The noise of the real rows is common: whiskers overlap, and the difference is still told."""
    rng = np.random.default_rng(1)
    shared = rng.normal(size=(256, 1))
    losses = np.array([1.0, 1.2])
    assert place_ranges(losses, shared + rng.normal(0, 0.01, (256, 2))).better[0, 1]
    assert not place_ranges(losses, rng.normal(0, 1, (256, 2))).better.any()
    same = place_ranges(losses, np.repeat(shared, 2, axis=1))
    assert same.better[0, 1] and not place_ranges(np.array([1.0, 1.0]), np.repeat(shared, 2, axis=1)).better.any()
    assert place_ranges(losses, None).high.tolist() == [2, 2]
    assert not place_ranges(np.array([1.0, 1.0 + 1e-13]), np.zeros((9, 2))).better.any()
    assert place_ranges(np.array([1.0, math.inf, math.inf]), rng.normal(size=(9, 3))).high.tolist() == [1, 3, 3]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e264])
def test_noise_whose_squares_are_no_numbers_still_tells_nobody_apart(unit):
    draws = np.random.default_rng(6).normal(size=(256, 3)) * [1.0, 1.0, 10.0] * unit
    assert not place_ranges(np.array([0.1, 0.2, -1.0]) * unit, draws).better.any()
    assert place_ranges(np.array([0.0, 20.0, 200.0]) * unit, draws).better[0, 1:].all()


def test_average_leaves_out_who_has_no_weight():
    values = np.array([[1.0, math.nan, 3.0], [2.0, math.inf, 1.0]])
    assert average(values, np.array([0.5, 0.0, 0.5])).tolist() == [2.0, 1.5]
    assert np.isnan(average(values, np.array([0.5, 0.1, 0.4]))[0])


def test_flip_is_the_share_of_worlds_in_which_the_pair_is_the_other_way():
    """A flat prior on the true difference: of worlds with this difference seen, the share that is the other way."""
    rng = np.random.default_rng(2)
    draws = rng.normal(size=(100_000, 2)) * [0.3, 0.4]
    assert order_pvalue(np.array([1.0, 1.6]), draws, 0, 1) == pytest.approx(
        np.mean(0.6 + draws[:, 0] - draws[:, 1] < 0), abs=0.004
    )
    assert order_pvalue(np.array([1.0, 1.0]), draws, 0, 1) == 0.5
    assert math.isnan(order_pvalue(np.array([1.0, 1.6]), None, 0, 1))


@needs_node
def test_page_and_python_give_the_same_places():
    rng = np.random.default_rng(3)
    cases = [noisy(rng, int(rng.integers(1, 9))) for _ in range(60)]
    found = said(
        "place_ranges.js",
        "leads, leaders, flip",
        "say(given.map(([losses, draws]) => { const noise = columns(draws), ranges = leads(losses, noise);"
        " return { ...ranges, leaders: leaders(ranges, losses),"
        " flips: losses.map((_, g) => flip(losses, noise, 0, g)) }; }))",
        cases,
    )
    for (losses, draws), page in zip(cases, found, strict=True):
        ranges = place_ranges(losses, draws)
        assert [page["low"], page["high"]] == [ranges.low.tolist(), ranges.high.tolist()]
        assert page["better"] == ranges.better.tolist() and page["leaders"] == leaders(ranges, losses)
        flips = [order_pvalue(losses, draws, 0, g) for g in range(len(losses))]
        np.testing.assert_allclose(page["flips"], flips, rtol=1e-7, atol=1e-12)
    assert sum(any(map(any, page["better"])) for page in found) > 20


@needs_node
def test_page_and_python_give_the_same_averages_and_noise():
    rng = np.random.default_rng(4)
    draws, scale = rng.integers(-127, 128, (20, 3, 5)), rng.uniform(0, 1, (3, 5))
    values, weights = rng.normal(size=(3, 5)), np.array([0.1, 0.2, 0.0, 0.4, 0.3])
    values[1, 2] = math.nan
    page = said(
        "place_ranges.js",
        "average, averageNoise",
        "const [draws, scale, values, weights] = given;"
        "say([average(values, weights), scale.map((own, g) =>"
        " [...averageNoise(Int8Array.from(draws.flatMap((row) => row[g])), own, weights)])])",
        [draws, scale, values, weights],
    )
    np.testing.assert_allclose(page[0], average(values, weights), rtol=1e-12)
    np.testing.assert_allclose(np.array(page[1]).T, average_noise(draws, scale, weights), rtol=1e-12)


@needs_node
def test_tails_of_the_normal_distribution():
    from scipy.special import ndtr

    at = [0.0, 1e-9, 0.3, 1.0, 2.9, 2.9999999, 3.0, 4.5, 8.0, 37.0, math.inf]
    found = said("place_ranges.js", "upperTail", "say(given.map(upperTail))", at)
    np.testing.assert_allclose(found, ndtr(-np.array(at)), rtol=2e-12)


@pytest.mark.parametrize(("ahead", "least", "most"), [(0.0, 0.0, 0.05), (4.0, 0.5, 1.0)])
def test_how_often_a_tie_is_told_apart(ahead, least, most):
    """Eight generators, three clients of ten heavy-tailed rows: level where all are tied, power where one is ahead."""
    rng, told, worlds = np.random.default_rng(5), 0, 300
    loads = rng.normal(1.0, 0.5, (3, 3, 8))
    for world in range(worlds):
        losses, draws = np.zeros(8), np.zeros((256, 8))
        for i, (weight, load) in enumerate(zip((0.5, 0.3, 0.2), loads, strict=True)):
            influence_values = rng.standard_t(3, (10, 3)) @ load
            losses += weight * influence_values.mean(axis=0)
            draws += weight * Multipliers(256, world).mean(influence_values.T, [0, i]).T
        losses[0] -= ahead
        better = place_ranges(losses, draws).better
        told += better[0].any() if ahead else better.any()
    error = math.sqrt(most * (1 - most) / worlds)
    assert least <= told / worlds <= most + 3 * error
