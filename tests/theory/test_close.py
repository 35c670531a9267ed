"""Twins of clients that lie close together: the gap to all its digits, or none and why."""

import mpmath
import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics import theory


def exact_bures(cov, mean):
    """Bures²(C, C + mmᵀ) in two dimensions: Tr (C Ĉ)^{1/2} is √(Tr CĈ + 2 √det CĈ), with 60 digits."""
    with mpmath.workdps(60):
        c = mpmath.matrix(cov.tolist())
        m = mpmath.matrix(mean.tolist())
        pooled = c + m * m.T
        product = c * pooled
        cross = mpmath.sqrt(product[0, 0] + product[1, 1] + 2 * mpmath.sqrt(mpmath.det(product)))
        return float(c[0, 0] + c[1, 1] + pooled[0, 0] + pooled[1, 1] - 2 * cross)


@pytest.mark.parametrize(
    ("variances", "angle", "distance"),
    [((1, 1), 0, 1e-2), ((1, 1), 0, 4e-3), ((2, 0.5), 0.7, 0.02), ((1e12, 1), np.pi / 2, 2)],
)
def test_of_close_clients_the_gap_has_all_its_digits(variances, angle, distance):
    mean = distance / 2 * np.array([np.cos(angle), np.sin(angle)])
    federation = nm.Federation([nm.Gaussian(m, variances) for m in (mean, -mean)])
    pair = theory.twin(federation)
    u = exact_bures(np.diag(variances), mean)
    assert pair.all_gap == pytest.approx(2 * u, rel=1e-7)
    assert np.linalg.norm(pair.second.mean - pair.first.mean) == pytest.approx(np.sqrt(u), rel=1e-7)


@pytest.mark.parametrize("distance", [5e-4, 1e-4, 1e-9])
@pytest.mark.parametrize(
    ("dim", "excess", "reason"),
    [(1, 0, "too little to tell it apart"), (2, 0, "too little to tell it apart"), (2, 1e-8, "rounding")],
)
def test_clients_that_nearly_coincide_have_none(distance, dim, excess, reason):
    clients = [nm.Gaussian(np.zeros(dim)), nm.Gaussian(distance * np.eye(dim)[0], 1 + excess)]
    with pytest.raises(theory.NoTwin, match=f"nearly coincide.*{reason}"):
        theory.twin(clients)
