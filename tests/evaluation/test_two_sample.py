"""The two-sample test: its statistic and p-value beside code of their own, its level, and what it refuses."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist

import nbmetrics as nm

RNG = np.random.default_rng(5)
A, B = RNG.normal(size=(40, 3)), RNG.normal(0.5, 1.2, size=(25, 3))
FEW_A, FEW_B = A[:4], B[:5]


def mmd(a, b, k):
    """MMD² without bias, pair by pair."""
    total = 0.0
    for x in (a, b):
        pairs = [k(x[i], x[j]) for i in range(len(x)) for j in range(len(x)) if i != j]
        total += np.mean(pairs)
    return total - 2.0 * np.mean([k(x, y) for x in a for y in b])


def gaussian(sigma):
    return lambda x, y: np.exp(-((x - y) ** 2).sum() / (2.0 * sigma**2))


def cubic(x, y):
    return (x @ y / len(x) + 1.0) ** 3


def test_the_statistic_is_mmd_over_pairs():
    sigma = np.median(pdist(np.concatenate([A, B])))
    assert nm.two_sample(A, B).statistic == pytest.approx(mmd(A, B, gaussian(sigma)), rel=1e-10)
    assert nm.two_sample(A, B, nm.Polynomial()).statistic == pytest.approx(mmd(A, B, cubic), rel=1e-10)
    assert nm.two_sample(A, B, nm.Polynomial()).statistic == pytest.approx(nm.kid(A, B), rel=1e-10)
    own = nm.two_sample(A, B, lambda x, y: np.exp(-cdist(x, y)))
    assert own.statistic == pytest.approx(mmd(A, B, lambda x, y: np.exp(-np.linalg.norm(x - y))), rel=1e-10)


@pytest.mark.parametrize("kernel", [nm.RBF(1.0), nm.Polynomial()])
def test_p_is_that_of_all_exchanges(kernel):
    """All C(9, 4) of them, by code of their own; 4,000 random ones come within four standard errors."""
    k, rows = gaussian(1.0) if isinstance(kernel, nm.RBF) else cubic, np.concatenate([FEW_A, FEW_B])
    every = [
        mmd(rows[list(chosen)], np.delete(rows, chosen, axis=0), k) for chosen in combinations(range(len(rows)), 4)
    ]
    exact = np.mean(np.array(every) >= mmd(FEW_A, FEW_B, k) - 1e-12)
    found = nm.two_sample(FEW_A, FEW_B, kernel, permutations=4_000).p
    assert abs(found - exact) < 4.0 * np.sqrt(exact * (1 - exact) / 4_000) + 1e-3


def test_without_a_difference_p_is_uniform_and_with_one_it_is_small():
    """300 sets of heavy-tailed rows in unequal numbers; .05 and .5 within three standard errors."""
    rng = np.random.default_rng(0)
    alike = [nm.two_sample(*np.split(rng.standard_t(3, (30, 8)), [8]), permutations=99, seed=i).p for i in range(300)]
    for level in (0.05, 0.5):
        assert abs(np.mean(np.array(alike) <= level) - level) < 3.0 * np.sqrt(level * (1 - level) / 300)
    unlike = [nm.two_sample(rng.normal(size=(40, 8)), rng.normal(0, 1.8, (40, 8))).p for _ in range(5)]
    assert max(unlike) < 0.05


def test_a_cubic_kernel_misses_what_the_default_notices():
    """Two points and three points with equal moments up to the third."""
    a = np.repeat([[-1.0], [1.0]], 100, axis=0)
    b = np.repeat([[-np.sqrt(2)], [0.0], [0.0], [np.sqrt(2)]], 50, axis=0)
    assert nm.two_sample(a, b).p == 0.001 and nm.two_sample(a, b, nm.Polynomial()).p > 0.5


@settings(max_examples=20)
@given(shift=st.floats(-1e6, 1e6), scale=st.floats(1e-3, 1e3), seed=st.integers(0, 100))
def test_units_and_the_order_of_sets_and_rows_do_not_matter(shift, scale, seed):
    test = nm.two_sample(A, B, permutations=19, seed=seed)
    moved = nm.two_sample(A * scale + shift, B * scale + shift, permutations=19, seed=seed)
    swapped = nm.two_sample(B, A[::-1], permutations=19, seed=seed)
    assert moved.statistic == pytest.approx(test.statistic, rel=1e-4) and moved.p == test.p
    assert swapped.statistic == pytest.approx(test.statistic, rel=1e-9)


def test_equal_rows_differ_nowhere():
    assert nm.two_sample(A, A, permutations=99).p > 0.5
    with pytest.raises(nm.InvalidInput, match="median distance"):
        nm.two_sample(np.zeros((5, 2)), np.zeros((4, 2)))
    assert nm.two_sample(np.zeros((5, 2)), np.zeros((4, 2)), nm.RBF(1.0)).p == 1.0


def test_the_convention_says_what_it_is():
    test = nm.two_sample(A, B, nm.RBF(2.0), permutations=9)
    assert test.convention == "MMD² without bias, RBF exp(−‖x−y‖²/2σ²), σ = 2; 9 random exchanges of the rows, seed 0"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a": A[:1]}, "a"),
        ({"b": B[:, :2]}, "b"),
        ({"a": np.full((5, 3), np.nan)}, "a"),
        ({"kernel": "rbf"}, "kernel"),
        ({"kernel": lambda x, y: np.full((len(x), len(y)), np.nan)}, "kernel: gives NaN"),
        ({"kernel": lambda x, y: 1j * (x @ y.T)}, "kernel: returned complex"),
        ({"a": A * 1e40, "b": B * 1e40, "kernel": nm.Polynomial(degree=9)}, "kernel: gives NaN"),
        ({"permutations": 0}, "permutations"),
        ({"permutations": 10**6}, "permutations"),
        ({"seed": -1}, "seed"),
        ({"a": np.zeros((20_001, 3))}, "random part"),
        ({"a": np.tile(A, (400, 1)), "permutations": 100_000}, "memory"),
    ],
)
def test_what_cannot_be_tested_is_refused_by_name(change, message):
    settings = {"a": A, "b": B, **change}
    with pytest.raises(nm.InvalidInput, match=message):
        nm.two_sample(settings.pop("a"), settings.pop("b"), **settings)
