"""KID in float32 beside float64: the multinomial expansion of the cubic kernel about a centre, term by term."""

import math
from itertools import product

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.metrics.kid import block_sums
from nbmetrics.metrics.kid.polynomial import CentredPolynomial
from tests.slow import by_default

N, D = 700, 450  # work beyond `FLOAT64_WORK`: float32 is used


def rows(rng, n, d, offset, rectified):
    """Features of decaying spread, their offset in spreads."""
    spread = np.arange(1, d + 1) ** -0.5
    z = rng.standard_normal((n, d)) * spread
    z = np.maximum(z + 0.2 * spread, 0.0) if rectified else z
    return (z + offset * spread).astype(np.float32)


def expanded(x, y, centre):
    """k(x, y) − k(x, c) − k(c, y) + k(c, c) in float64: the terms of (β + a + b + t)³ with t, or with both a and b."""
    u, v, g = x.astype(float) - centre, y.astype(float) - centre, 1.0 / x.shape[1]
    terms = (1.0 + g * centre @ centre, (g * u @ centre)[:, None], (g * v @ centre)[None], g * u @ v.T)
    kernel = np.zeros((len(x), len(y)))
    for powers in product(range(4), repeat=4):
        _, of_a, of_b, of_t = powers
        if sum(powers) == 3 and (of_t or (of_a and of_b)):
            times = 6.0 / math.prod(map(math.factorial, powers))
            kernel += times * math.prod(term**power for term, power in zip(terms, powers, strict=True))
    return kernel


def expanded_kid(x, y):
    """Unbiased MMD²: of a side, the mean over pairs of different rows of what is left out is its mean over the rows."""
    centre = x.astype(float).mean(axis=0)
    own = []
    for side in (x, y):
        kernel = expanded(side, side, centre)
        own.append((kernel.sum() - np.trace(kernel)) / (len(side) * (len(side) - 1)))
    return sum(own) - 2.0 * expanded(x, y, centre).mean()


CASES = list(product((0.0, 10.0, 1e4), (False, True)))


@pytest.mark.parametrize(("offset", "rectified"), by_default(CASES, (10.0, True), (1e4, False)))
def test_float32_is_within_a_thousandth_of_the_standard_error_of_one_distribution(offset, rectified):
    rng = np.random.default_rng([3, int(offset), rectified])
    pairs = [[rows(rng, N, D, offset, rectified) for _ in range(2)] for _ in range(4)]
    expected = np.array([expanded_kid(x, y) for x, y in pairs])
    errors = np.array([nm.kid(x, y) for x, y in pairs]) - expected
    assert np.abs(errors).max() < 1e-3 * expected.std(ddof=1)


@pytest.mark.parametrize("shift", by_default([0.1, 2.0], 2.0))
def test_float32_is_within_a_hundredth_where_the_generator_is_far_from_the_clients(shift):
    rng = np.random.default_rng(8)
    spread = 0.3 * np.arange(1, D + 1) ** -0.7
    draws = [np.maximum(rng.standard_normal((2, N, D)) * spread + 0.5, 0.0) for _ in range(4)]
    pairs = [(x.astype(np.float32), (y + shift).astype(np.float32)) for x, y in draws]
    expected = np.array([expanded_kid(x, y) for x, y in pairs])
    errors = np.array([nm.kid(x, y) for x, y in pairs]) - expected
    assert np.abs(errors).max() < 1e-2 * expected.std(ddof=1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sizes", [[7], [3, 1, 5], [2] * 9])
@pytest.mark.parametrize("is_centred", [False, True])
def test_sums_over_parts_are_those_of_the_kernel(sizes, is_centred, dtype):
    rng = np.random.default_rng(5)
    x, y = rows(rng, sum(sizes), 6, 0.5, True), rows(rng, 8, 6, 0.5, True)
    x, y = x.astype(dtype), y.astype(dtype)
    centre = x.mean(axis=0, dtype=float)
    kernel = CentredPolynomial(3, None, 1.0, centre) if is_centred else nm.Polynomial(gamma=0.4, coef0=0.7)
    whole = expanded(x, y, centre) if is_centred else (0.4 * x.astype(float) @ y.T.astype(float) + 0.7) ** 3
    starts = np.cumsum([0, *sizes[:-1]])
    expected = np.add.reduceat(np.add.reduceat(whole, starts, axis=0), [0, 5], axis=1)
    sums = kernel.cell_sums(kernel.prepare(x, sizes), kernel.prepare(y, [5, 3]))
    tolerance = 1e-12 if dtype is np.float64 else 2e-6
    np.testing.assert_allclose(sums, expected, rtol=tolerance, atol=tolerance * np.abs(whole).sum() / 10)
    before = x.copy()
    kernel.prepare(x, sizes)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("n", [1, 5, 6, 23])
def test_pairs_of_one_side_are_summed_once_whatever_the_blocks(n, monkeypatch):
    monkeypatch.setattr(block_sums, "BLOCK_ROWS", 3)
    monkeypatch.setattr(block_sums, "PREPARED_SHARE", 0.0)  # one block is held at a time
    rng = np.random.default_rng(n)
    x, y = rng.normal(size=(n, 4)), rng.normal(size=(8, 4))
    for kernel in (nm.Polynomial(), nm.Polynomial(2), nm.RBF()):
        assert block_sums.pair_sum(kernel, x, x, False) == pytest.approx(kernel.block(x, x).sum(), rel=1e-12)
        assert block_sums.pair_sum(kernel, x, y, False) == pytest.approx(kernel.block(x, y).sum(), rel=1e-12)
