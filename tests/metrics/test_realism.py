"""Realism of each row, by all distances at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import nbmetrics as nm

RNG = np.random.default_rng(20261126)
REAL, MADE = RNG.normal(size=(40, 5)), RNG.normal(size=(25, 5)) * 1.3


def naive(real, generated, k=3):
    """The paper's, with the balls wider than the median left out."""
    radii = np.sort(cdist(real, real), axis=1)[:, k]
    kept = radii <= np.median(radii)
    with np.errstate(divide="ignore"):
        return (radii[kept] / cdist(generated, real[kept])).max(axis=1)


@pytest.mark.parametrize("k", [1, 3, 10])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_is_the_formula(k, dtype):
    found = nm.realism(REAL.astype(dtype), MADE.astype(dtype), k)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, naive(REAL, MADE, k), rtol=1e-5 if dtype is np.float32 else 1e-9)


def test_many_rows_go_block_by_block():
    real, made = (np.random.default_rng(s).normal(size=(n, 3)) for s, n in ((1, 1500), (2, 900)))
    np.testing.assert_allclose(nm.realism(real, made), naive(real, made), rtol=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tensors(dtype):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    real, made = REAL.astype(dtype), MADE.astype(dtype)
    found = nm.realism(torch.from_numpy(real), torch.from_numpy(made))
    assert found.dtype == torch.float64
    np.testing.assert_allclose(found.numpy(), nm.realism(real, made), rtol=1e-6)


def test_a_copy_is_infinitely_real_unless_its_ball_is_left_out():
    found, radii = nm.realism(REAL, REAL), np.sort(cdist(REAL, REAL), axis=1)[:, 3]
    assert (np.isinf(found) == (radii <= np.median(radii))).all()


def test_1_is_the_edge_of_precision():
    # with all radii alike, none is left out
    real = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    made = RNG.normal(size=(200, 2)) * 1.5
    found = nm.realism(real, made, k=1)
    assert nm.prdc(real, made, k=1, inclusive=True).precision == pytest.approx(np.mean(found >= 1.0))
    assert 0.1 < np.mean(found >= 1.0) < 0.9


@settings(max_examples=25, deadline=None)
@given(st.floats(1e-30, 1e30), st.integers(-3, 3), st.integers(0, 9))
def test_units_offsets_and_order(unit, offset, seed):
    order = np.random.default_rng(seed).permutation(40)
    moved = nm.realism(unit * (REAL[order] + offset), unit * (MADE + offset))
    np.testing.assert_allclose(moved, nm.realism(REAL, MADE), rtol=1e-9)


@pytest.mark.parametrize("far", [1e8, 1e30])
def test_an_outlier_makes_nothing_real_and_blurs_nothing(far):
    real = np.concatenate([REAL, [[far] * 5]])
    np.testing.assert_allclose(nm.realism(real, MADE), naive(real, MADE), rtol=1e-9)
    assert nm.realism(real, [[far / 2] * 5]) < 1e-6


REFUSED = {
    "k + 1 rows": (lambda: nm.realism(REAL[:3], MADE), "real", "at least 4"),
    "another width": (lambda: nm.realism(REAL, MADE[:, :2]), "generated", "same features"),
    "k of 0": (lambda: nm.realism(REAL, MADE, 0), "k", "at least 1"),
    "a distribution": (lambda: nm.realism(nm.Gaussian([0.0]), MADE), "real", "rows|numbers"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case):
    act, argument, fix = REFUSED[case]
    with pytest.raises(nm.InvalidInput, match=rf"^{argument}: .*({fix})"):
        act()
