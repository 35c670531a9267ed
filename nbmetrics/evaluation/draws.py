"""Joint draws of the noise of scores: what is linear in them, avg under any weights too, has its noise at once.

A draw multiplies what each row pulls on a score (`Pulls`) by a normal number of that row: the same one for every
generator that meets a client's row, for every client that meets a generated one, and for the pooled clients. So the
draws vary together as the scores do, and their variances are those of `Influences`. For resampled scores the replicates
take the place of pulls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import row_blocks
from ..errors import check_count
from ..metrics.base import Metric
from ..metrics.strata import Pulls, Strata
from .influence import Influences, pulls_of
from .result import Result
from .uncertainty import BootstrapResamples, JackknifeResamples, Replicas

NO_DESIGN = "evaluated without uncertainty"
# The largest of the numbers that a draw is rounded to.
INT8 = 127


@dataclass(frozen=True, eq=False)
class Noise:
    """The noise of one metric's scores: k clients, G generators, B draws.

    Attributes
    ----------
    by_client, all : (B, G, k) and (B, G), mean 0; 0 for exact laws, NaN where there is no interval
    centres, all_centres : (G, k) and (G,) the scores that they lie about, without the bias of few rows where it can be
        taken off; NaN where rows are too few for that
    reasons, all_reasons : why there is no interval, "" where there is one; (G, k) and (G,) strings
    """

    by_client: np.ndarray
    all: np.ndarray
    centres: np.ndarray
    all_centres: np.ndarray
    reasons: tuple[tuple[str, ...], ...]
    all_reasons: tuple[str, ...]

    @classmethod
    def of(cls, columns: Sequence[NoiseColumn]) -> Noise:
        """Of the generators together."""
        return cls(
            np.stack([c.by_client for c in columns], axis=1),
            np.stack([c.all for c in columns], axis=1),
            np.stack([c.centres for c in columns]),
            np.array([c.all_centre for c in columns]),
            tuple(c.reasons for c in columns),
            tuple(c.all_reason for c in columns),
        )


@dataclass(frozen=True, eq=False)
class NoiseColumn:
    """The noise of one generator's scores: (B, k) and (B,) draws, (k,) centres and reasons."""

    by_client: np.ndarray
    all: np.ndarray
    centres: np.ndarray
    all_centre: float
    reasons: tuple[str, ...]
    all_reason: str

    @classmethod
    def unknown(cls, count: int, clients: int, reason: str) -> NoiseColumn:
        none = np.full((count, clients), np.nan)
        return cls(none, none[:, 0], none[0], math.nan, (reason,) * clients, reason)

    @classmethod
    def exact(cls, count: int, values: np.ndarray, pooled: float) -> NoiseColumn:
        """Of laws, which do not vary."""
        none = np.zeros((count, len(values)))
        return cls(none, none[:, 0], values, pooled, ("",) * len(values), "")


def noise(result: Result, weights: Sequence[float], count: int = 256, seed: int = 0) -> Noise:
    """The noise of all scores of a result under some weights.

    Parameters
    ----------
    result : of `evaluate`, one metric
    weights : λ_i of the clients, for the pooled scores
    count : draws B; of a bootstrap all its replicates, at most so many
    seed : of the normal multipliers

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> clients = {"a": rng.normal(size=(50, 2)), "b": rng.normal(size=(60, 2))}
    >>> scores = nm.evaluate(clients, {"g": rng.normal(size=(80, 2))}, "kid", uncertainty=nm.Influence())
    >>> noise(scores._results[0], scores.weights).by_client.shape
    (256, 1, 2)
    """
    count = check_count(count, "count", maximum=100_000)
    seed = check_count(seed, "seed", minimum=0)
    replicas, sides = result.replicas, range(len(result.generated))
    if isinstance(replicas, Influences):
        together = pool_of(replicas.metric, replicas.real, weights)
        of = Multipliers(count, seed)
        sides_of = zip(sides, replicas.generated, strict=True)
        return Noise.of([column(replicas.metric, replicas.real, together, g, weights, of, p) for p, g in sides_of])
    if isinstance(replicas, Replicas):
        return replicated(replicas, result, weights, count, seed)
    pooled = result.pooled(weights)
    samples = (*result.clients, *result.generators)
    if all(sample is not None and sample.rows is None for sample in samples):
        return Noise.of([NoiseColumn.exact(count, result.by_client[g], pooled[g]) for g in sides])
    return Noise.of([NoiseColumn.unknown(count, len(result.real), NO_DESIGN) for _ in sides])


@dataclass(frozen=True)
class Multipliers:
    """Normal numbers, one a row and draw, the same whenever they are asked for."""

    count: int
    seed: int

    def mean(self, pulls: np.ndarray, party: Sequence[int]) -> np.ndarray:
        """Σ_r ξ_rb (pull_r − mean)/√(n(n−1)) along the last axis, (…, B): variances are those of means of n pulls.

        `party` : 0 and a client's position, or 1 and a generator's
        """
        n = pulls.shape[-1]
        centred = (pulls - pulls.mean(axis=-1, keepdims=True)) / math.sqrt(n * (n - 1.0))
        rng, drawn = np.random.default_rng([self.seed, *party]), 0.0
        for block in row_blocks(n, 8 * self.count):
            drawn = drawn + centred[..., block] @ rng.standard_normal((block.stop - block.start, self.count))
        return np.asarray(drawn)


def pool_of(metric: Metric[Any], real: Sequence[Strata[Any]], weights: Sequence[float]) -> Strata[Any]:
    """The pooled clients with their rows."""
    return metric.pool_strata(real, weights)


def column(
    metric: Metric[Any],
    real: Sequence[Strata[Any]],
    together: Strata[Any],
    generated: Strata[Any],
    weights: Sequence[float],
    xi: Multipliers,
    position: int,
) -> NoiseColumn:
    """The noise of one generator's scores, from influence values."""
    pooled = pulls_of(metric, together, generated)
    own = [pulls_of(metric, client, generated) for client in real]
    with np.errstate(invalid="ignore"):
        by_client = np.stack([_side(p.real, [(i, 1.0)], xi) for i, p in enumerate(own)], axis=1)
        parts = [(i, w) for i, w in enumerate(weights) if w]
        of_all = _side(pooled.real, parts, xi)
        made = [p.generated[0] for p in (*own, pooled)]
        if made[0] is not None:
            drawn = xi.mean(np.stack([rows for rows in made if rows is not None]), [1, position])
            by_client, of_all = by_client + drawn[:-1].T, of_all + drawn[-1]
    return NoiseColumn(
        by_client,
        of_all,
        np.array([p.value for p in own]),
        pooled.value,
        tuple(_reason(p, d) for p, d in zip(own, by_client.T, strict=True)),
        _reason(pooled, of_all),
    )


def _side(pulls: Sequence[np.ndarray | None], parts: Sequence[tuple[int, float]], xi: Multipliers) -> np.ndarray:
    """(B,) noise that the clients' rows make; clients and their shares in `parts`."""
    drawn = np.zeros(xi.count)
    for rows, (i, share) in zip(pulls, parts, strict=True):
        if rows is not None:
            drawn += share * xi.mean(rows, [0, i])
    return drawn


def _reason(pulls: Pulls, drawn: np.ndarray) -> str:
    return (pulls.caution or "influence values are not finite") if np.isnan(drawn).any() else ""


def replicated(replicas: Replicas, result: Result, weights: Sequence[float], count: int, seed: int) -> Noise:
    """The noise from scores on resampled rows."""
    by_client, pooled = replicas.scores(weights)
    shape = by_client.shape[1:]
    make = _SPREADS[type(replicas.resamples)]
    with np.errstate(invalid="ignore"):
        drawn = make(replicas.resamples, np.concatenate([by_client, pooled[:, :, None]], axis=2), count, seed)
    centres = replicas.resamples.centre(result.by_client, by_client)
    all_centres = replicas.resamples.centre(result.pooled(weights), pooled)
    reason = np.where(np.isnan(drawn).any(axis=0), "a replicate has no score", "")
    reasons = tuple(tuple(map(str, row)) for row in reason)
    return Noise(
        drawn[:, :, : shape[1]],
        drawn[:, :, -1],
        centres,
        all_centres,
        tuple(row[:-1] for row in reasons),
        tuple(row[-1] for row in reasons),
    )


def _bootstrapped(_: BootstrapResamples, scores: np.ndarray, count: int, __: int) -> np.ndarray:
    """Each replicate less their mean."""
    return (scores - scores.mean(axis=0))[:count]


def _jackknifed(resamples: JackknifeResamples, scores: np.ndarray, count: int, seed: int) -> np.ndarray:
    """What each group takes away when it is left out, times a normal number of the group."""
    drawn, start = np.zeros((count, *scores.shape[1:])), 0
    rng = np.random.default_rng([seed, 2])
    for groups in resamples.groups:
        for _ in range(resamples.cuts):
            part = scores[start : start + groups]
            scale = math.sqrt((groups - 1.0) / groups / resamples.cuts)
            drawn += scale * np.tensordot(rng.standard_normal((count, groups)), part - part.mean(axis=0), axes=1)
            start += groups
    return drawn


_SPREADS: dict[type, Callable[..., np.ndarray]] = {
    BootstrapResamples: _bootstrapped,
    JackknifeResamples: _jackknifed,
}


def packed(draws: np.ndarray) -> tuple[np.ndarray, bytes]:
    """Draws rounded to whole numbers from −127 to 127, and what one of them is worth, for each column.

    Parameters
    ----------
    draws : (B, k) float

    Returns
    -------
    scale (k,) float and B × k bytes; a column of NaN has scale NaN and bytes 0. `unpacked` is its inverse.
    """
    largest = np.abs(draws).max(axis=0)
    scale = largest / INT8
    unit = np.where(scale > 0, scale, 1.0)
    return scale, np.nan_to_num(np.rint(draws / unit)).astype(np.int8).tobytes()


def unpacked(scale: np.ndarray, numbers: bytes) -> np.ndarray:
    """Draws (B, k) from their scale and bytes."""
    return np.asarray(scale) * np.frombuffer(numbers, dtype=np.int8).reshape(-1, len(scale))
