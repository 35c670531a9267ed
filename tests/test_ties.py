"""What is a tie: rounding is one, a difference of 1e-9 of the scale is none; and the page decides alike."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nbmetrics.orders import is_tie, lowest
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
