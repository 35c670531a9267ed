"""What is a tie: rounding is one, a difference of 1e-9 of the scale is none; and the page decides alike."""

import ast
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbmetrics.ranking import is_tie, lowest, order
from tests import ROOT
from tests.labs.dashboard.page import said
from tests.node import needs_node

numbers = st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-9)


@given(st.lists(numbers, min_size=1, max_size=50), st.randoms(use_true_random=False))
def test_the_same_terms_in_another_order_tie(terms, random):
    other = random.sample(terms, len(terms))
    assert is_tie(sum(terms), sum(other), sum(map(abs, terms)))
    assert is_tie(sum(terms), math.fsum(terms), sum(map(abs, terms)))


@given(st.lists(numbers, min_size=1, max_size=50).filter(any), st.sampled_from([-1, 1]))
def test_a_real_difference_of_a_billionth_of_the_scale_is_no_tie(terms, sign):
    scale = sum(map(abs, terms))
    assert not is_tie(sum(terms), sum(terms) + sign * 1e-9 * scale, scale)


def test_nothing_ties_with_nan_and_an_infinity_with_itself_alone():
    inf, nan = math.inf, math.nan
    assert not is_tie(nan, nan, 1) and not is_tie(1, nan, nan) and not is_tie(1, inf, inf)
    assert is_tie(inf, inf, inf) and not is_tie(inf, -inf, inf)


def test_the_first_of_those_that_tie_is_the_lowest():
    assert lowest([0.3, 0.1 + 0.2, 1.0], np.ones(3)) == 0
    assert lowest([0.1 + 0.2, 0.3, 1.0], np.ones(3)) == 0
    assert lowest([0.3 + 1e-9, 0.3], np.ones(2)) == 1
    assert lowest([math.nan, 2.0, -math.inf], np.ones(3)) == 2
    assert lowest([math.nan, math.nan], np.ones(2)) == 0


@needs_node
def test_the_page_and_python_have_the_same_ties_and_the_same_lowest():
    rng = np.random.default_rng(0)
    cases = []
    for _ in range(200):
        scores = rng.choice([0.3, 0.1 + 0.2, 0.3 + 1e-9, 0.3 + 1e-13, 0.5, math.nan, math.inf, -math.inf], 5)
        cases.append([scores, rng.choice([1.0, 0.1, 100.0, math.inf], 5)])
    found = said(
        "../../toolkit/view/ties.js",
        "isTie, lowest",
        "say(given.map(([scores, scale]) => ({ least: lowest(scores, scale),"
        " ties: [...scores].map((score, g) => isTie(score, scores[0], scale[g])) })))",
        cases,
    )
    for (scores, scale), page in zip(cases, found, strict=True):
        assert page["least"] == lowest(scores, scale)
        assert page["ties"] == is_tie(scores, scores[0], scale).tolist()


@given(st.lists(st.sampled_from([0.3, 0.1 + 0.2, 0.3 + 1e-9, 1.0, -1.0, math.nan]), max_size=12))
def test_an_order_is_that_of_the_scores_and_what_ties_stays_as_given(scores):
    at = order(scores, 1.0).tolist()
    assert sorted(at) == list(range(len(scores)))
    grid = [math.inf if math.isnan(x) else round(x, 10) for x in scores]
    assert at == sorted(range(len(scores)), key=lambda g: (grid[g], g))


@needs_node
def test_the_page_and_python_order_alike():
    rng = np.random.default_rng(1)
    cases = [rng.choice([0.3, 0.1 + 0.2, 0.3 + 1e-13, 0.5, math.nan, math.inf, -math.inf], 9) for _ in range(200)]
    own = said("../../toolkit/view/ties.js", "orderOf", "say(given.map((scores) => orderOf(scores)))", cases)
    wide = said("../../toolkit/view/ties.js", "orderOf", "say(given.map((scores) => orderOf(scores, 1)))", cases)
    for scores, page, scaled in zip(cases, own, wide, strict=True):
        assert page == order(scores).tolist() and scaled == order(scores, 1.0).tolist()


# Where the lowest or highest of floats is taken, and why it decides nothing that rounding could turn.
FREE = {
    "evaluation/cells.py": {"size_gap_caution": "which of several generators a caution names"},
    "evaluation/sentences.py": {"_inversion": "which pair is the example", "_agreement": "which pair is the example"},
    "federated/noise_error.py": {"_pair_caution": "which pair a caution names"},
    "federated/noise_study.py": {"pair_survival": "of noisy draws, which do not tie"},
    "federated/summary_codec.py": {"*": "the sign of an axis"},
    "federated/site_checks.py": {"*": "which site a caution names"},
    "labs/dashboard/leaf_ordering.py": {"*": "the order of a drawing"},
    "labs/monitor/page_encoding.py": {"*": "which points of a curve are drawn"},
    "labs/monitor/run_state.py": {"_commonest": "counts, in whole numbers"},
    "labs/privacy/numbers.py": {"*": "the nearest ε of a list"},
    "theory/best_mixture.py": {"*": "of several starts of one search"},
    "theory/simplex.py": {"*": "pivots of a search"},
    "theory/twins.py": {"*": "of several finds of one search"},
}


def bare_choices(path):
    """(function, what) of every argmin, argmax, and min or max with a key."""
    tree = ast.parse(path.read_text("utf-8"))
    for outer in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        for node in ast.walk(outer):
            name = node.attr if isinstance(node, ast.Attribute) else getattr(getattr(node, "func", None), "id", "")
            has_key = isinstance(node, ast.Call) and any(word.arg == "key" for word in node.keywords)
            if name in ("argmin", "argmax", "nanargmin", "nanargmax") or (name in ("min", "max") and has_key):
                yield outer.name, name


@pytest.mark.parametrize("room", ["evaluation", "federated", "labs", "theory"])
def test_whoever_is_lowest_is_said_by_lowest(room):
    home = ROOT / "nbmetrics"
    for path in sorted((home / room).rglob("*.py")):
        free = FREE.get(path.relative_to(home).as_posix(), {})
        bare = [(name, what) for name, what in bare_choices(path) if "*" not in free and name not in free]
        assert not bare, f"{path}: take orders.lowest or orders.order, which know ties: {bare}"


@pytest.mark.parametrize("room", ["dashboard", "monitor", "playground"])
def test_no_page_has_a_tolerance_of_its_own_for_scores(room):
    """`1e-9 * size` beside a comparison of scores; those left compare weights, positions or pixels."""
    pattern = re.compile(r"[<>]=? 1e-9 \*")
    for path in sorted((ROOT / "nbmetrics/labs" / room / "view").rglob("*.js")):
        assert not pattern.search(path.read_text("utf-8")), path
