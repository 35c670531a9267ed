"""Summaries with noise: what a client sends under `Privacy`, and FID of what the server receives.

Means and second moments pool as they are, noise and all, and only what is scored is made a covariance: the noise of
many clients averages out before negative eigenvalues are cut off, which FID-avg has to do client by client.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from ..arrays import Array, cholesky
from ..errors import InvalidInput
from ..metrics import Metric, Sample
from ..metrics.base import Terms
from ..metrics.fid.metric import FID
from ..metrics.kid.embedding import Embedding
from ..metrics.kid.random_features import RandomFeatures
from ..summaries.kernel_mean import KernelMean, KernelPart
from ..summaries.moments import Moments
from .privacy import (
    FEATURES,
    MAX_CLIP,
    MIN_CLIP,
    MOMENTS,
    Normals,
    Privacy,
    centre_of,
    clipped_moments,
    symmetric_matrix,
)
from .serialization import FIX_DAMAGED, Section
from .summary_codec import kind_of, settings_text

# Of means of rows in the unit ball with noise, and of its deviation.
MAX_ABS_VALUE = 1e9
FIX_UNBOUNDED = "Take 'fid' with a clip, or KID(nm.RandomFeatures(nm.RBF(sigma), 1024)), or leave privacy out"


def noisy_sections(metrics: Sequence[Metric[Any]], sample: Sample, privacy: Privacy) -> list[Section]:
    """Return what a client reveals for these metrics, its (ε, δ) spent on all of them together."""
    sections = [bounded_section(metric, sample, privacy) for metric in metrics]
    z, normals = privacy.multiplier(max(1, sum(bool(s.arrays) for s in sections))), privacy.stream()
    return [with_noise(section, z, normals) for section in sections]


def check_is_bounded(metric: Any, sample: Sample) -> str:
    """Return the kind of a metric's summary, if one row moves it a bounded way only; InvalidInput otherwise."""
    kind = kind_of(metric, sample.dim)
    if sample.rows is None:
        what = "a distribution" if sample.moments is None else "a mean and a covariance"
        raise InvalidInput("rows", f"is {what}, which has no rows to protect", "Leave privacy out")
    if kind == "features" and metric.kernel.is_bounded and metric.estimator.unbiased:
        return kind
    if kind not in ("moments", "nothing"):
        seen = f"{metric.label} of {metric.convention!r} has no summary on which one row has a bounded effect"
        raise InvalidInput("metrics", seen, FIX_UNBOUNDED)
    return kind


def bounded_section(metric: Any, sample: Sample, privacy: Privacy) -> Section:
    """Return what noise is added to; `sigma` in its notes is its sensitivity, the noise of multiplier 1."""
    kind, rows = check_is_bounded(metric, sample), cast(Array, sample.rows)
    n, d = rows.shape
    if kind == "nothing":
        return Section(metric.name, settings_text(metric), kind, n, {})
    notes = {"epsilon": privacy.epsilon, "delta": privacy.delta}
    if kind == "features":
        notes["sigma"] = math.sqrt(FEATURES * metric.kernel.kernel.scale) / n
        return Section(
            metric.name,
            settings_text(metric),
            f"noisy {kind}",
            n,
            {"mean": metric.kernel.embed(rows).vector},
            "<f8",
            notes,
        )
    mean, second = clipped_moments(rows, privacy)
    notes |= {"clip": cast(float, privacy.clip), "sigma": math.sqrt(MOMENTS) / n}
    arrays = {"mean": mean, "second": second, "centre": centre_of(privacy.centre, d)}
    return Section(metric.name, settings_text(metric), f"noisy {kind}", n, arrays, "<f8", notes)


def with_noise(section: Section, multiplier: float, normals: Normals) -> Section:
    """Return a release: noise of `multiplier` times the sensitivity in all numbers but the public centre's."""
    if not section.arrays:
        return section
    sigma = multiplier * section.notes["sigma"]
    noised = {
        name: array if name == "centre" else array + sigma * normals.draw(array.size)
        for name, array in section.arrays.items()
    }
    return replace(section, arrays=noised, notes={**section.notes, "sigma": sigma})


@dataclass(frozen=True, eq=False)
class NoisyMoments:
    """Mean and second moment about a public centre, with noise.

    Attributes
    ----------
    count : rows that made it
    mean, second : (d,) and (d, d), of x − c
    centre : (d,) c
    variance : of the noise in each number of the mean
    """

    count: float
    mean: np.ndarray
    second: np.ndarray
    centre: np.ndarray
    variance: float

    @classmethod
    def of(cls, section: Section, dim: int) -> NoisyMoments:
        """Return the moments from what a client sent."""
        notes, arrays = section.notes, section.arrays
        sizes = {"mean": (dim,), "second": (math.comb(dim + 1, 2),), "centre": (dim,)}
        if {k: a.shape for k, a in arrays.items()} != sizes or not {"clip", "sigma"} <= set(notes):
            raise InvalidInput("arrays", f"are {sorted(arrays)} of another size", FIX_DAMAGED)
        c = notes["clip"]
        sizes_of = [float(np.abs(arrays[name]).max()) for name in ("mean", "second")] + [notes["sigma"]]
        if not (MIN_CLIP <= c <= MAX_CLIP and min(sizes_of) >= 0.0 and max(sizes_of) <= MAX_ABS_VALUE):
            raise InvalidInput("arrays", "are larger than clipping and noise allow", FIX_DAMAGED)
        return cls.of_trusted(section)

    @classmethod
    def of_trusted(cls, section: Section) -> NoisyMoments:
        """Return the moments from a section that is checked, or was made here."""
        c, arrays = section.notes["clip"], section.arrays
        second = c * c * symmetric_matrix(arrays["second"], len(arrays["mean"]))
        return cls(section.count, c * arrays["mean"], second, arrays["centre"], (c * section.notes["sigma"]) ** 2)

    @classmethod
    def pool(cls, parts: Sequence[NoisyMoments], weights: Sequence[float]) -> NoisyMoments:
        """Return the moments of the mixture: all of it is linear."""
        if any(not np.array_equal(part.centre, parts[0].centre) for part in parts):
            raise InvalidInput(
                "privacy", "has another centre for some clients", "Let all clients clip around one point"
            )
        pairs = [pair for pair in zip(parts, weights, strict=True) if pair[1]]
        mean, second = sum(w * p.mean for p, w in pairs), sum(w * p.second for p, w in pairs)
        lost, variance = (math.fsum(w * w * x for x, w in zip(xs, weights, strict=True)) for xs in _scalars(parts))
        return cls(1.0 / lost, np.asarray(mean), np.asarray(second), parts[0].centre, variance)

    @cached_property
    def repaired_moments(self) -> Moments:
        """Moments whose covariance has no negative eigenvalue; those that noise made negative are 0.

        Before that the covariance is unbiased: the noise of the mean is taken off its square. After it the trace is too
        large by what was cut off.
        """
        spread = self.second - np.outer(self.mean, self.mean) + self.variance * np.eye(len(self.mean))
        cov, mean = spread * (1.0 if self.count <= 1 else self.count / (self.count - 1)), self.mean + self.centre
        if cholesky(cov) is not None:  # nothing to cut off, as it takes a thirtieth of the time to see
            return Moments(self.count, mean, None, cov)
        values, vectors = np.linalg.eigh(cov)
        kept = values > 0.0
        root = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
        return Moments(self.count, mean, root[::-1], None)


def _scalars(parts: Sequence[NoisyMoments]) -> tuple[list[float], list[float]]:
    return [1.0 / part.count for part in parts], [part.variance for part in parts]


class NoisyFID(FID):
    """FID of clients whose moments have noise."""

    has_influence_values = False

    def pool(self, summaries: Sequence[Any], weights: Sequence[float]) -> Any:
        """Noisy moments pool as they are; all clients must send them."""
        noisy = [isinstance(s, NoisyMoments) for s in summaries]
        if not any(noisy):
            return super().pool(summaries, weights)
        if not all(noisy):
            raise InvalidInput("privacy", "is set for some clients and not for others", "Let all add noise, or none")
        return NoisyMoments.pool(summaries, weights)

    def all_terms(self, real: Sequence[Any], generated: Sequence[Moments]) -> Iterable[Iterable[Terms]]:
        """Pair by pair: the factors of all clients stacked would be as large as their covariances."""
        return Metric.all_terms(self, real, generated)

    def terms(self, real: Any, generated: Moments) -> dict[str, float]:
        """Those of FID on the repaired moments."""
        return super().terms(_as_moments(real), generated)

    def size_gap(self, *args: Any) -> float:
        """Unknown: noise makes a gap too."""
        return 0.0

    def slopes(self, clients: Sequence[Any], *args: Any) -> np.ndarray:  # type: ignore[override]
        """Unknown."""
        return np.full(len(clients), np.nan)

    def scale(self, summary: Any) -> float:
        return _as_moments(summary).trace

    @property
    def convention(self) -> str:
        return f"{super().convention}; of moments with noise, negative eigenvalues cut off"


def _as_moments(summary: Any) -> Moments:
    return summary.repaired_moments if isinstance(summary, NoisyMoments) else summary


def noisy_mean(metric: Any, section: Section) -> KernelMean:
    """Return the kernel mean of random features with noise, its square taken off pairs of a row with itself."""
    kernel: RandomFeatures = metric.kernel
    arrays, notes = section.arrays, section.notes
    if {name: array.shape for name, array in arrays.items()} != {"mean": (kernel.count,)}:
        raise InvalidInput("arrays", f"are {sorted(arrays)} of another size", FIX_DAMAGED)
    noise = section.count * kernel.count * notes.get("sigma", 0.0) ** 2
    part = KernelPart(kernel, Embedding(arrays["mean"]), section.count, kernel.kernel.scale + noise)
    return KernelMean((part,), (1.0,))


def server_summaries(metric: Metric[Any], sent: Sequence[Section]) -> tuple[Metric[Any], list[Any]]:
    """Return the metric that scores the clients' sections, and their summaries as the server reads them."""
    if sent[0].kind == "noisy moments":
        return NoisyFID(), [NoisyMoments.of_trusted(section) for section in sent]
    return metric, [noisy_mean(metric, section) for section in sent]
