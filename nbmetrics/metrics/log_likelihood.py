"""The mean log-likelihood of real rows under generators that have a density."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..arrays import Array, as_rows, is_array, to_numpy
from ..distributions import Distribution, Gaussian, HasDensity, HasMoments, Mixture, has_density, has_moments
from ..errors import InvalidInput, check_count, shown
from .base import Metric, Sample
from .capabilities import ClosedForm
from .weak_cache import remember


class LogLikelihood(Metric["DensityParts"], ClosedForm):
    """Mean log-density, in nats, that the generator's density gives to the real data (Experiment E2).

    Parameters
    ----------
    samples, seed : rows drawn from a real *distribution* where the expectation has no closed form; with a
        Gaussian generator it is exact for every real distribution with `.mean` and `.cov`

    Higher is better, any sign. LL-avg = LL-all identically. The generator needs a density, `.log_prob`; of one
    distribution for each client, avg and all take the density of their mixture.

    The difference of two generators' scores estimates their relative KL divergence, and `scores.flips` is the test of
    Gao, Sun & Su (Statistical Inference for Generative Model Comparison, TMLR 2026, arXiv 2501.18897) in its normal
    approximation; docs/intervals.md has their simulation.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(100, 2))
    >>> distributions = {"narrow": nm.Gaussian([0, 0], 0.1), "right": nm.Gaussian([0, 0])}
    >>> nm.evaluate([rows], distributions, "log_likelihood").ranks("log_likelihood")["avg"].tolist()
    [2, 1]
    """

    name = "log_likelihood"
    label = "Log-likelihood"
    higher_is_better = True
    min_rows = 1
    # The generator's distribution itself is scored, however many rows are asked for.
    needs_density = True

    def __init__(self, samples: int = 10_000, seed: int = 0) -> None:
        self.samples = check_count(samples, "samples")
        self.seed = check_count(seed, "seed", minimum=0)

    def summarize(self, sample: Sample) -> DensityParts:
        """The rows, or the distribution itself: of a generator its density, of a client what it is tried on."""
        content = sample.distribution if sample.rows is None else sample.rows
        return DensityParts([DensityPart(content, self.samples, self.seed)], (1.0,))

    def pool(self, summaries: Sequence[DensityParts], weights: Sequence[float]) -> DensityParts:
        """The evidence of the mixture; parts of weight 0 are left out."""
        weighted = [(e, w) for e, w in zip(summaries, weights, strict=True) if w > 0]
        shares = tuple(w * v for e, w in weighted for v in e.weights)
        return DensityParts([part for e, _ in weighted for part in e.parts], shares)

    def terms(self, real: DensityParts, generated: DensityParts) -> dict[str, float]:
        """`log_likelihood` = Σ λ_i E log p_G(X_i)."""
        distribution = generated.mixture
        values = [part.mean_log_density(distribution) for part in real.parts]
        return {"log_likelihood": float(sum(w * v for w, v in zip(real.weights, values, strict=True)))}

    def has_closed_form(self, distribution: Distribution) -> bool:
        return has_density(distribution) or has_moments(distribution)

    @property
    def convention(self) -> str:
        return "Log-likelihood: mean log-density in nats of the features as given"


class DensityPart:
    """One client's rows or distribution, or a generator's; each mean log-density is computed once."""

    def __init__(self, content: Any, samples: int, seed: int) -> None:
        self.content = content
        self._samples, self._seed = samples, seed

    def with_content(self, content: Any) -> DensityPart:
        """One of another content, with the same seed and number of rows to draw."""
        return DensityPart(content, self._samples, self._seed)

    def mean_log_density(self, generator: DensityPart) -> float:
        """E log p_G(X) for X of this part."""
        distribution = generator.content
        if not has_density(distribution):
            source = f"{distribution.shape[0]} rows" if is_array(distribution) else shown(distribution)
            seen = f"the generator is {source}, which has no log_prob"
            fix = "It needs a density: nm.Gaussian, nm.Mixture, or nm.KernelDensity(rows, bandwidth)"
            raise InvalidInput("generators", seen, fix)
        means: WeakKeyDictionary[DensityPart, float] = remember(self, "means", WeakKeyDictionary)
        if generator not in means:
            means[generator] = self._mean_of(distribution)
        return means[generator]

    def _mean_of(self, distribution: HasDensity) -> float:
        if isinstance(distribution, Gaussian) and not is_array(self.content) and has_moments(self.content):
            return _expected_log_density(distribution, self.content)
        return _mean_log_prob(distribution, self._rows)

    @cached_property
    def _rows(self) -> Array:
        if is_array(self.content):
            return self.content
        drawn = self.content.sample(self._samples, np.random.default_rng(self._seed))
        return as_rows(drawn, "sample", dim=self.content.dim)

    @property
    def nbytes(self) -> int:
        """Bytes to send it: the rows, or about the parameters of a Gaussian distribution."""
        if is_array(self.content):
            return int(self.content.shape[0] * self.content.shape[1] * self.content.itemsize)
        return 8 * self.content.dim * (self.content.dim + 3) // 2


class DensityParts:
    """Σ λ_i P_i as a list of parts; the summary of the log-likelihood, of both sides."""

    def __init__(self, parts: Sequence[DensityPart], weights: Sequence[float]) -> None:
        self.parts, self.weights = tuple(parts), tuple(weights)

    @cached_property
    def mixture(self) -> DensityPart:
        """One part with the density Σ λ_i p_i; where some part has no density, that part."""
        without = [part for part in self.parts if not has_density(part.content)]
        if without or len(self.parts) == 1:
            return (without or self.parts)[0]
        return self.parts[0].with_content(Mixture([part.content for part in self.parts], self.weights))

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts)


def _expected_log_density(distribution: Gaussian, real: HasMoments) -> float:
    """E log N(X; m, C) = log N(μ) − ½ Tr C⁻¹S, for any distribution of X with mean μ and covariance S."""
    root = np.asarray(Gaussian(real.mean, real.cov).root)
    centre, *spread = distribution.log_prob(np.concatenate([distribution.mean[None, :], distribution.mean + root]))
    # log N(m + r) − log N(m) = −½ rᵀC⁻¹r for each row r of a factor of S.
    return float(distribution.log_prob(np.asarray(real.mean)[None, :])[0] + sum(value - centre for value in spread))


def _mean_log_prob(distribution: HasDensity, rows: Array) -> float:
    values = np.asarray(to_numpy(distribution.log_prob(rows)), dtype=np.float64)
    if values.shape != (rows.shape[0],) or np.isnan(values).any():
        seen = f"log_prob gave shape {values.shape}" + ", NaN among it" * bool(np.isnan(values).any())
        raise InvalidInput("generators", seen, f"It should give {rows.shape[0]} log-densities in nats")
    return float(values.mean())
