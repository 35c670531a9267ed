"""What to do after a verdict: as read, and Python beside the page."""

import math

import numpy as np
import pytest

from nbmetrics.labs.dashboard.recommendation import points, recommendation
from nbmetrics.labs.dashboard.verdict import Verdict
from tests.labs.dashboard.page import said
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
