"""What to do after a verdict: as read, and Python beside the page."""

import math

import numpy as np
import pytest

from nbmetrics.labs.dashboard.metric_view import encode_noise, round_as_page
from nbmetrics.labs.dashboard.recommendation import points, recommendation, regret
from nbmetrics.labs.dashboard.verdict import Verdict
from tests.labs.dashboard.page import VIEW, said
from tests.labs.dashboard.test_certificate_page import world
from tests.node import needs_node

CLIENTS = ["north", "south", "east"]
CENTRES = [[1.0, 2.0, 5.0], [2.0, 1.5, 1.0]]
THAN = "worse than with its best generator"
QUESTION = f"For each client: A (east: 4 {THAN}). For the pool: B (north: 1 worse)."
CASES = [
    ("winner", "A", "B", CENTRES, QUESTION),
    ("winner", "A", "A", CENTRES, f"Ship A (east: 4 {THAN})."),
    ("winner", "A", "A", [[1.0, 1.0, 1.0], [2.0, 1.0, 3.0]], "Ship A (no client has a better one)."),
    ("tie", "AB", "AB", CENTRES, "Choose among A and B by price or speed, or score more rows."),
    ("tie", "AB", "B", CENTRES, f"Ship B (north: 1 {THAN})."),
    ("tie", "A", "B", CENTRES, "Score more rows before you choose."),
    ("size", "A", "B", CENTRES, "Score more rows, or compare by KID, before you choose."),
    ("unknown", "A", "B", CENTRES, ""),
    ("testing", "A", "B", CENTRES, ""),
    ("winner", "A", "A", [[math.nan] * 3, [1.0, 2.0, 3.0]], "Ship A (the loss of each client is not known)."),
    ("winner", "A", "A", [[math.inf, 1.0, 1.0], [1.0, 2.0, 3.0]], f"Ship A (north: ∞ {THAN})."),
]


@pytest.mark.parametrize(("state", "avg", "pooled", "centres", "told"), CASES)
def test_what_to_do_is_said(state, avg, pooled, centres, told):
    assert recommendation(Verdict(state, tuple(avg), tuple(pooled), ()), "AB", CLIENTS, np.array(centres)) == told


def test_regret_is_beside_the_clients_own_best():
    centres = np.array([[1.0, math.nan, math.inf, -1], [3, 2, math.inf, -3]])
    np.testing.assert_array_equal(regret(centres), [[0, math.nan, 0, 2], [2, 0, 0, 0]])


@needs_node
def test_page_and_python_give_the_same_regret():
    rng = np.random.default_rng(5)
    cases = [world(rng, clients=6)[0] for _ in range(50)]
    for n in range(0, 50, 5):
        cases[n][0, 0] = (math.nan, math.inf)[n % 2]
    found = said("recommendation.js", "regret", "say(given.map(regret))", cases)
    for centres, page in zip(cases, found, strict=True):
        np.testing.assert_allclose(page, regret(centres), rtol=1e-12)


def drawn_noise(rng, spread):
    """(B, 2, 3) noise of the centres, with a part that both generators share."""
    shared = rng.normal(0, 5, (64, 1, 3))
    return round_as_page((shared + rng.normal(0, spread, (64, 2, 3))).reshape(64, 6)).reshape(64, 2, 3)


@pytest.mark.parametrize(
    ("spread", "told"),
    [
        (0.01, f"Ship A (east: 4 {THAN})."),
        ((0.1, 0.1, 3.0), f"Ship A (south: 0.5 {THAN})."),
        (5.0, "Ship A (no client has a better one by more than chance)."),
    ],
)
def test_a_loss_that_chance_may_make_is_none(spread, told):
    """A difference of noises with spreads s each has spread √2 s; chance is up to 1.96 of it."""
    draws = drawn_noise(np.random.default_rng(0), spread)
    verdict = Verdict("winner", ("A",), ("A",), ())
    assert recommendation(verdict, "AB", CLIENTS, np.array(CENTRES), draws) == told
    exact = recommendation(verdict, "AB", CLIENTS, np.array([[1.0, 1.0, 1.0], [2.0, 1.0, 3.0]]), draws)
    assert exact == "Ship A (no client has a better one)."


@needs_node
def test_page_and_python_say_the_same_of_chance():
    rng = np.random.default_rng(1)
    cases, told = [], []
    for k in range(120):
        draws = drawn_noise(rng, 10.0 ** rng.uniform(-2, 1))
        centres = np.round(rng.normal(3, 1, (2, 3)), 3)
        avg, pooled = (("A",), ("B",)) if k % 2 else (("A",), ("A",))
        told.append(recommendation(Verdict("winner", avg, pooled, ()), "AB", CLIENTS, centres, draws))
        cases.append((avg, pooled, centres, [encode_noise(draws[:, g]) for g in range(2)]))
    found = said(
        "recommendation.js",
        "recommendation",
        f'const {{ isNoMoreThanChance }} = await import("{(VIEW / "cell_noise.js").as_uri()}");'
        "say(given.map(([avg, all, centres, noise]) => recommendation({ state: 'winner', avg, all }, "
        '["A", "B"], ["north", "south", "east"], centres, '
        "(regret, g, best, i) => isNoMoreThanChance(regret, noise[g], noise[best], i))));",
        cases,
    )
    assert found == told
    assert any("more than chance" in text for text in told) and any("worse" in text for text in told)


@needs_node
def test_page_and_python_say_the_same():
    rng = np.random.default_rng(0)
    drawn = [
        (*CASES[k % len(CASES)][:3], np.round(rng.normal(3, 2, (2, 3)) * 10.0 ** rng.integers(-6, 8), 3))
        for k in range(200)
    ]
    cases = [*(case[:4] for case in CASES), *drawn]
    told = [recommendation(Verdict(s, tuple(a), tuple(p), ()), "AB", CLIENTS, np.array(c)) for s, a, p, c in cases]
    found = said(
        "recommendation.js",
        "recommendation",
        "say(given.map(([state, avg, all, centres]) => recommendation({ state, avg: [...avg], all: [...all] }, "
        '["A", "B"], ["north", "south", "east"], centres)));',
        cases,
    )
    assert found == told
    numbers = [*10.0 ** rng.uniform(-9, 12, 300), 1e-4, 1e6, 9.95, 99.5, 0.5]
    assert said("recommendation.js", "points", "say(given.map(points));", numbers) == [points(x) for x in numbers]
