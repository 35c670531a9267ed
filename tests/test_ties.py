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


# Where floats are ordered, or compared with 0, without ranking.py, and why rounding could turn nothing by it.
FREE = {
    "evaluation/modes.py": {"nearest_rows": "which rows are named"},
    "evaluation/run_statistics.py": {"p_of_labels": "beside a tie of its own", "holm": "steps of p-values"},
    "evaluation/two_sample.py": {"_sorted": "rows in an order of their own"},
    "evaluation/cells.py": {"size_gap_caution": "which of several generators a caution names"},
    "evaluation/decisions.py": {"inversions": "of a pair that is inverted, so no tie"},
    "evaluation/samples.py": {"*": "who gets the rows that rounding leaves over"},
    "evaluation/sentences.py": {
        "_inversions": "which pair is the example",
        "_half_ties": "which pair is the example",
        "leading_clients": "which generator is the example",
        "_leader": "of parts of which one is more than half",
    },
    "evaluation/client_cautions.py": {"*": "which client a caution names first"},
    "experiments/class_generators.py": {"*": "where rows are cut into parts"},
    "experiments/generator_order.py": {"with_ranks": "less a floor that knows ties"},
    "experiments/images.py": {"*": "which images are drawn"},
    "experiments/moons.py": {"*": "the ends of a drawing"},
    "experiments/conditional.py": {"*": "where a drawing has room for words"},
    "experiments/__init__.py": {"*": "names of functions"},
    "federated/noise_error.py": {"_pair_caution": "which pair a caution names"},
    "federated/noise_study.py": {"pair_survival": "of noisy draws, which do not tie", "*": "the ε of a list"},
    "federated/recipes.py": {"_probabilities": "counts, in whole numbers"},
    "federated/summary_codec.py": {"*": "the sign of an axis"},
    "federated/site_checks.py": {"*": "which site a caution names"},
    "labs/dashboard/leaf_ordering.py": {"*": "the order of a drawing"},
    "labs/dashboard/place_ranges.py": {"*": "quantiles of draws, and places, in whole numbers"},
    "labs/dashboard/recommendation.py": {"_is_chance": "where a regret is 0, as those that tie are"},
    "labs/dashboard/view_model.py": {"client_order": "names, and positions"},
    "labs/memorization/study.py": {"*": "random orders"},
    "labs/monitor/alarm_rules.py": {"_row_medians": "medians, where a tie is no choice"},
    "labs/monitor/page_encoding.py": {"*": "which points of a curve are drawn; counts, in whole numbers"},
    "labs/monitor/alarms.py": {"*": "steps, in whole numbers"},
    "labs/privacy/numbers.py": {"nearest": "the nearest ε of a list"},
    "theory/best_mixture.py": {"*": "of several starts of one search"},
    "theory/simplex.py": {"*": "pivots of a search"},
    "theory/twins.py": {"*": "of several finds of one search"},
}
CHOICES = {"argmin", "argmax", "nanargmin", "nanargmax", "idxmin", "idxmax", "argsort", "lexsort", "rankdata"}
WITH_KEY = {"min", "max", "sorted", "sort"}
# What a name of a difference, score or weight has in it; those that only ask whether a client counts are no difference.
DIFFERENCE = re.compile(r"behind|gap|margin|missing|gain|apart|difference|saved|regret|loss|score")


def is_difference(node):
    """Whether it is a subtraction, or by its name a difference or a score."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        return True
    while isinstance(node, ast.Subscript):
        node = node.value
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return bool(DIFFERENCE.search(name))


def bare_choices(source):
    """(function, what) of every order of floats, and of every difference or score that is compared with 0."""
    for outer in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)):
        for node in ast.walk(outer):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                is_numpy = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") == "np"
                has_key = any(word.arg == "key" for word in node.keywords)
                if name in CHOICES or (name in WITH_KEY and has_key) or (name == "sort" and is_numpy):
                    yield outer.name, name
            if isinstance(node, ast.Compare) and is_difference(node.left):
                zero = node.comparators[0]
                if isinstance(zero, ast.Constant) and zero.value == 0 and not isinstance(zero.value, bool):
                    yield outer.name, ast.unparse(node)


# Comparisons with 0 that is_tie stands beside, or that only say how something is drawn.
FREE_ZEROS = {
    "evaluation/model_sentences.py": "of a pair that is told apart, so no tie",
    "evaluation/noise.py": "weights of scores that are missing",
    "labs/dashboard/certificate.py": "beside is_tie",
    "labs/dashboard/figures.py": "regrets, 0 where they tie",
    "labs/dashboard/recommendation.py": "regrets, 0 where they tie",
    "labs/dashboard/view_model.py": "regrets, 0 where they tie",
}


@pytest.mark.parametrize("room", ["evaluation", "experiments", "federated", "labs", "theory"])
def test_whoever_is_lowest_is_said_by_lowest(room):
    home = ROOT / "nbmetrics"
    for path in sorted((home / room).rglob("*.py")):
        where = path.relative_to(home).as_posix()
        free = FREE.get(where, {})
        bare = [(name, what) for name, what in bare_choices(path.read_text("utf-8")) if not {"*", name} & set(free)]
        bare = [(name, what) for name, what in bare if where not in FREE_ZEROS or what.isidentifier()]
        assert not bare, f"{path}: take ranking.lowest, order or is_tie, which know ties: {bare}"


# Of pages likewise: orders of numbers by a comparator, and the place of the least or largest.
PAGE_CHOICE = re.compile(
    r"\.(?:sort|toSorted)\(\(|indexOf\(Math\.(?:min|max)"
    r"|(?:behind|gap|missing|gain|apart|saved)\w*(?:\[[^]]*\])* (?:[<>]=?|[!=]==) 0\b"
)
FREE_PAGES = {
    "correlation/view/angle.js": "the two ends of an arc",
    "dashboard/view/cell_values.js": "the quantile that a colour scale ends at, and regrets, 0 where they tie",
    "dashboard/view/certificate.js": "beside isTie",
    "dashboard/view/client_order.js": "names and positions",
    "dashboard/view/mixture_card.js": "savings, 0 where they tie",
    "dashboard/view/place_ranges.js": "positions",
    "memorization/view/sentences.js": "a median",
    "monitor/view/step_plot.js": "a median of widths",
    "monitor/view/weight_sliders.js": "positions",
    "plane/view/geometry.js": "which item is drawn on top",
    "playground/view/collect.js": "the order of a drawing",
    "playground/view/owners.js": "the order of names",
    "playground/view/score_table.js": "which pair is the example",
    "playground/view/sweep_chart.js": "a median",
    "privacy/view/numbers.js": "the nearest ε of a list",
    "toolkit/view/chart.js": "where labels find room",
    "toolkit/view/ties.js": "ties themselves",
    "twins/view/board.js": "a word beside a difference that is shown",
}


def test_no_page_orders_scores_by_itself():
    home = ROOT / "nbmetrics/labs"
    for path in sorted(home.rglob("view/*.js")):
        bare = PAGE_CHOICE.findall(path.read_text("utf-8"))
        assert not bare or path.relative_to(home).as_posix() in FREE_PAGES, f"{path}: take ties.js: {bare}"


def test_a_bare_choice_is_found():
    planted = """
def choose(scores, behind):
    np.argsort(scores), scores.argmin(), np.sort(scores), rankdata(scores)
    sorted(names, key=lambda g: scores[g]), pairs.sort(key=len), min(names, key=scores.get)
    behind == 0, scores[0] - scores[1] > 0, behind < 0.0
    sorted(names), scores.size > 0, order(scores)
"""
    assert len(list(bare_choices(planted))) == 10
    for line in (
        "at.sort((a, b) => s[a] - s[b])",
        "gaps.indexOf(Math.max(...gaps))",
        "if (missing <= 0)",
        "behind[to] > 0",
    ):
        assert PAGE_CHOICE.search(line), line
    assert not PAGE_CHOICE.search("names.sort()") and not PAGE_CHOICE.search("orderOf(scores)")


def test_every_exception_is_one():
    home = ROOT / "nbmetrics"
    for where in (*FREE, *FREE_ZEROS):
        assert list(bare_choices((home / where).read_text("utf-8"))), where
    for where in FREE_PAGES:
        assert PAGE_CHOICE.search((home / "labs" / where).read_text("utf-8")), where


@pytest.mark.parametrize("room", ["dashboard", "monitor", "playground"])
def test_no_page_has_a_tolerance_of_its_own_for_scores(room):
    """`1e-9 * size` beside a comparison of scores; those left compare weights, positions or pixels."""
    pattern = re.compile(r"[<>]=? 1e-9 \*")
    for path in sorted((ROOT / "nbmetrics/labs" / room / "view").rglob("*.js")):
        assert not pattern.search(path.read_text("utf-8")), path
