"""Distributions of many features whose moments are known exactly: what estimators and intervals are held against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Distribution:
    """Rows by `draw(n, rng)`, with the population's mean and covariance."""

    mean: np.ndarray
    cov: np.ndarray
    draw: object

    def sample(self, n, rng):
        return self.draw(n, rng)


def normal(d, mean=0.0, scale=1.0):
    """N(mean, scale² I)."""
    centre = np.broadcast_to(np.asarray(mean, dtype=float), (d,))
    return Distribution(centre, scale**2 * np.eye(d), lambda n, rng: centre + scale * rng.normal(size=(n, d)))


def rectified(d, seed, mean=0.0, scale=1.0, decay=0.7):
    """scale·max(0, Az) + mean, A random with columns that decay: as network features. Moments by arc-cosines."""
    rng = np.random.default_rng(seed)
    a = 3.0 * rng.normal(size=(d, d)) / np.sqrt(d) * (1.0 + np.arange(d)) ** -decay
    k = a @ a.T
    s = np.sqrt(np.diag(k))
    angle = np.arccos(np.clip(k / np.outer(s, s), -1.0, 1.0))
    first = s / np.sqrt(2.0 * np.pi)
    second = np.outer(s, s) / (2.0 * np.pi) * (np.sin(angle) + (np.pi - angle) * np.cos(angle))
    cov = scale**2 * (second - np.outer(first, first))
    return Distribution(
        scale * first + mean, cov, lambda n, g: scale * np.maximum(0.0, g.normal(size=(n, d)) @ a.T) + mean
    )


def elliptical(d, spread):
    """Normal rows of different lengths: r² has mean 1 and this variance."""
    shape = 1.0 / spread

    def draw(n, rng):
        return rng.normal(size=(n, d)) * np.sqrt(rng.gamma(shape, spread, size=(n, 1)))

    return Distribution(np.zeros(d), np.eye(d), draw)


def mixture(distributions, weights):
    """The distribution of the pooled clients."""
    mean = sum(w * distribution.mean for w, distribution in zip(weights, distributions, strict=True))
    shifts = [distribution.mean - mean for distribution in distributions]
    cov = sum(
        w * (distribution.cov + np.outer(s, s))
        for w, distribution, s in zip(weights, distributions, shifts, strict=True)
    )

    def draw(n, rng):
        chosen = rng.choice(len(distributions), size=n, p=weights)
        return np.concatenate(
            [distribution.sample(int((chosen == k).sum()), rng) for k, distribution in enumerate(distributions)]
        )

    return Distribution(mean, cov, draw)


def fid(a, b):
    """Between the distributions, from singular values of roots by eigenvectors."""
    roots = [vectors * np.sqrt(np.clip(values, 0, None)) for values, vectors in map(np.linalg.eigh, (a.cov, b.cov))]
    cross = np.linalg.svd(roots[0].T @ roots[1], compute_uv=False).sum()
    return float(np.sum((a.mean - b.mean) ** 2) + np.trace(a.cov) + np.trace(b.cov) - 2.0 * cross)


def fid_avg_and_all(distributions, weights, generator):
    """FID-avg and FID-all of the distributions."""
    avg = sum(w * fid(distribution, generator) for w, distribution in zip(weights, distributions, strict=True))
    return avg, fid(mixture(distributions, weights), generator)
