"""Random clients and generators for the tests of the theorems, and the textbook's formula of FID."""

import numpy as np
from scipy.linalg import sqrtm

import nbmetrics as nm


def covariance(rng, d, rank=None):
    factor = rng.normal(size=(d, d if rank is None else rank))
    return factor @ factor.T


def random_federation(seed, clients, d, rank=None, same_mean=False):
    rng = np.random.default_rng(seed)
    distributions = [
        nm.Gaussian(np.zeros(d) if same_mean else rng.normal(size=d), covariance(rng, d, rank)) for _ in range(clients)
    ]
    return nm.Federation([nm.Client(distribution, weight=rng.uniform(0.2, 1)) for distribution in distributions])


def random_generator(seed, d, rank=None):
    rng = np.random.default_rng([seed, 1])
    return nm.Gaussian(rng.normal(size=d), covariance(rng, d, rank))


def random_rows(seed, sizes, d):
    rng = np.random.default_rng(seed)
    return [rng.normal(rng.normal(size=d), rng.uniform(0.5, 2), size=(n, d)) for n in sizes]


def frechet(a, b):
    """The textbook formula, with a matrix square root."""
    root = np.real(sqrtm(a.cov @ b.cov))
    return float(np.sum((a.mean - b.mean) ** 2) + np.trace(a.cov + b.cov - 2 * root))


def root_trace(a, b):
    """Tr (AB)^{1/2} of two covariances."""
    return float(np.trace(np.real(sqrtm(a @ b))))
