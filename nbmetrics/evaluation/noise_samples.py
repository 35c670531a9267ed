"""Joint draws of the noise of scores: what is linear in the scores, as avg under any weights, has its noise at once.

A draw multiplies what each row pulls on a score by a normal number of that row: the same one for every
generator that meets a client's row, for every client that meets a generated one, and for the pooled clients. So the
draws vary together as the scores do. How much n rows vary is itself known only so well: each party's noise is divided
by a draw of that, √(χ²/(n−1)) with n − 1 degrees of freedom, so that one party's noise is Student's t, and its variance
that of `Influences` times (n−1)/(n−3). For resampled scores the replicates take the place of pulls.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays import row_blocks
from ..errors import check_count
from ..metrics.base import Metric
from ..metrics.stratified import InfluenceValues, Strata
from .influence import Influences, pulls_of
from .resampling import Replicas
from .result import Result
from .standing import Standing
from .uncertainty import JackknifeResamples

NO_DESIGN = "evaluated without uncertainty"
NO_REPLICATE = "some resampled rows have no score"
# Rows with which noise has a variance; as a part of the pooled clients fewer may be, since they weigh little.
LEAST_ROWS = 4
# The largest of the numbers that a draw is rounded to.
INT8 = 127


@dataclass(frozen=True, eq=False)
class Noise:
    """The noise of one metric's scores: k clients, G generators, B draws.

    Attributes
    ----------
    by_client, all : (B, G, k) and (B, G), mean 0; 0 for exact distributions, NaN where there is no interval
    centres, all_centres : (G, k) and (G,) the scores that they lie about, without the bias of few rows where it can be
        taken off; NaN where rows are too few for that
    reasons, all_reasons : why there is no interval, "" where there is one; (G, k) and (G,) strings
    generated : (B, G, k) what of `by_client` comes from the generated rows; the rest comes from the clients' own. None
        where replicates do not tell the two apart
    """

    by_client: np.ndarray
    all: np.ndarray
    centres: np.ndarray
    all_centres: np.ndarray
    reasons: tuple[tuple[str, ...], ...]
    all_reasons: tuple[str, ...]
    generated: np.ndarray | None = None

    @classmethod
    def of(cls, clients: Sequence[NoiseColumn], pooled: Sequence[NoiseColumn]) -> Noise:
        """Of several generators, from the columns of each."""
        made = [c.generated for c in clients if c.generated is not None]
        return cls(
            np.stack([c.draws for c in clients], axis=1),
            np.concatenate([c.draws for c in pooled], axis=1),
            np.stack([c.centres for c in clients]),
            np.concatenate([c.centres for c in pooled]),
            tuple(c.reasons for c in clients),
            tuple(c.reasons[0] for c in pooled),
            np.stack(made, axis=1) if len(made) == len(clients) else None,
        )


@dataclass(frozen=True, eq=False)
class NoiseColumn:
    """The noise of k scores of one generator: draws and generated (B, k), centres (k,) and reasons, as in `Noise`."""

    draws: np.ndarray
    centres: np.ndarray
    reasons: tuple[str, ...]
    generated: np.ndarray | None = None

    @classmethod
    def unknown(cls, count: int, scores: int, reason: str) -> NoiseColumn:
        return cls(np.full((count, scores), np.nan), np.full(scores, np.nan), (reason,) * scores)

    @classmethod
    def exact(cls, count: int, values: np.ndarray) -> NoiseColumn:
        """Of distributions, which do not vary."""
        none = np.zeros((count, len(values)))
        return cls(none, values, ("",) * len(values), none)


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
    scores = np.column_stack([result.by_client, result.pooled_without_bias(weights)])
    if result.replicas is None and all(
        s is not None and s.distribution is not None for s in (*result.clients, *result.generators)
    ):
        return Noise.of(*zip(*(split(NoiseColumn.exact(count, own)) for own in scores), strict=True))
    standing = result.replicas
    if not isinstance(standing, Standing):
        standing = Standing(standing, [None] * len(scores))
    replicas, places = standing.replicas, standing.places
    whys = [str(refusal or NO_DESIGN) for refusal in standing.refusals]
    columns = [split(NoiseColumn.unknown(count, scores.shape[1], why)) for why in whys]
    if isinstance(replicas, Influences):
        together = replicas.metric.pool_strata(replicas.real, weights)
        for p, generated in zip(places, replicas.generated, strict=True):
            made = Made(replicas.metric, generated, p, Multipliers(count, seed))
            columns[p] = made.clients(replicas.real), made.all(together, weights)
    elif isinstance(replicas, Replicas):
        for g, p in enumerate(places):
            columns[p] = split(replicated(replicas, g, scores[p], weights, count, seed))
    return Noise.of(*zip(*columns, strict=True))


def split(column: NoiseColumn) -> tuple[NoiseColumn, NoiseColumn]:
    """A column of clients, and one of the pooled clients, which come last."""
    draws, centres, reasons = column.draws, column.centres, column.reasons
    made = None if column.generated is None else column.generated[:, :-1]
    clients = NoiseColumn(draws[:, :-1], centres[:-1], reasons[:-1], made)
    return clients, NoiseColumn(draws[:, -1:], centres[-1:], reasons[-1:])


@dataclass(frozen=True)
class Multipliers:
    """Normal numbers, one a row and draw, and a χ² a party and draw: the same whenever they are asked for."""

    count: int
    seed: int

    def mean(self, influence_values: np.ndarray, party: Sequence[int]) -> np.ndarray:
        """Σ_r ξ_rb (pull_r − mean)/√(n(n−1)) / √(χ²_b/(n−1)) along the last axis, (…, B).

        Variances are those of means of n pulls times (n−1)/(n−3), infinite for n < 4.

        `party` : 0 and a client's position, or 1 and a generator's
        """
        n = influence_values.shape[-1]
        if n < 2:  # one does not say how they vary
            return np.full((*influence_values.shape[:-1], self.count), np.nan)
        centred = (influence_values - influence_values.mean(axis=-1, keepdims=True)) / math.sqrt(n * (n - 1.0))
        rng, drawn = np.random.default_rng([self.seed, *party]), 0.0
        for block in row_blocks(n, 8 * self.count):
            drawn = drawn + centred[..., block] @ rng.standard_normal((block.stop - block.start, self.count))
        return np.asarray(drawn / np.sqrt(rng.chisquare(n - 1, self.count) / (n - 1)))


@dataclass(frozen=True, eq=False)
class Made:
    """One generator to draw the noise of: its rows, its position among all, which seeds it, and known pulls."""

    metric: Metric[Any]
    generated: Strata[Any]
    position: int
    xi: Multipliers
    known: Mapping[Strata[Any], InfluenceValues] = field(default_factory=dict)

    def clients(self, real: Sequence[Strata[Any]]) -> NoiseColumn:
        """Of the scores of single clients."""
        influence_values = [_of_enough(self._influence_values(client)) for client in real]
        return self._column(influence_values, [[(i, 1.0)] for i in range(len(real))])

    def all(self, together: Strata[Any], weights: Sequence[float]) -> NoiseColumn:
        """Of the score of the pooled clients, the only one in the column."""
        return self._column([self._influence_values(together)], [[(i, w) for i, w in enumerate(weights) if w]])

    def _influence_values(self, real: Strata[Any]) -> InfluenceValues:
        return self.known[real] if real in self.known else pulls_of(self.metric, real, self.generated)

    def _column(
        self, influence_values: Sequence[InfluenceValues], parts: Sequence[Sequence[tuple[int, float]]]
    ) -> NoiseColumn:
        """Each score's pulls, and which clients' rows with which shares are its real parts."""
        with np.errstate(invalid="ignore"):
            drawn = np.stack(
                [_side(p.real, own, self.xi) for p, own in zip(influence_values, parts, strict=True)], axis=1
            )
            made, generated = (
                [p.generated[0] for p in influence_values if p.generated[0] is not None],
                np.zeros_like(drawn),
            )
            if made:  # rows, and so for every score
                generated = self.xi.mean(np.stack(made), [1, self.position]).T
            drawn += generated
        centres = np.array([p.value for p in influence_values])
        drawn[:, np.isnan(centres)] = np.nan
        reasons = tuple(_reason(p, d) for p, d in zip(influence_values, drawn.T, strict=True))
        return NoiseColumn(drawn, centres, reasons, generated)


def _of_enough(influence_values: InfluenceValues) -> InfluenceValues:
    """The pulls, NaN where the rows are too few for an interval."""
    sides = [rows for rows in (*influence_values.real, *influence_values.generated) if rows is not None]
    if all(len(rows) >= LEAST_ROWS for rows in sides) or math.isnan(influence_values.value):
        return influence_values
    real, made = (tuple(None if r is None else np.full(len(r), np.nan) for r in own) for own in influence_values[1:3])
    return InfluenceValues(influence_values.value, real, made, f"fewer than {LEAST_ROWS} rows: no interval")


def _side(
    influence_values: Sequence[np.ndarray | None], parts: Sequence[tuple[int, float]], xi: Multipliers
) -> np.ndarray:
    """(B,) noise that the clients' rows make; clients and their shares in `parts`."""
    drawn = np.zeros(xi.count)
    for rows, (i, share) in zip(influence_values, parts, strict=True):
        if rows is not None:
            drawn += share * xi.mean(rows, [0, i])
    return drawn


def _reason(influence_values: InfluenceValues, drawn: np.ndarray) -> str:
    return (influence_values.caution or "influence values are not finite") if np.isnan(drawn).any() else ""


def replicated(
    replicas: Replicas, g: int, scores: np.ndarray, weights: Sequence[float], count: int, seed: int
) -> NoiseColumn:
    """The noise of the `scores` (k + 1,) of one generator, the pooled clients' last, from those on resampled rows.

    `g` : its place in the replicas
    """
    by_client, pooled = replicas.scores(weights)
    again, resamples = np.concatenate([by_client[:, g], pooled[:, g, None]], axis=1), replicas.resamples
    with np.errstate(invalid="ignore"):
        if isinstance(resamples, JackknifeResamples):
            drawn = _jackknifed(resamples, replicas.parties, again, count, seed)
        else:
            drawn = (again - again.mean(axis=0))[:count]
        centres = resamples.centre(scores, again)
    return NoiseColumn(drawn, centres, tuple(NO_REPLICATE * bool(np.isnan(d).any()) for d in drawn.T))


def _jackknifed(
    resamples: JackknifeResamples, parties: Sequence[tuple[int, int]], scores: np.ndarray, count: int, seed: int
) -> np.ndarray:
    """What each group takes away when it is left out, times a normal number of the group."""
    drawn, start = np.zeros((count, scores.shape[1])), 0
    for party, groups in zip(parties, resamples.groups, strict=True):
        rng = np.random.default_rng([seed, *party])
        for _ in range(resamples.cuts):
            part = scores[start : start + groups]
            scale = math.sqrt((groups - 1.0) / groups / resamples.cuts)
            drawn += scale * rng.standard_normal((count, groups)) @ (part - part.mean(axis=0))
            start += groups
    return drawn


def packed(draws: np.ndarray) -> tuple[np.ndarray, bytes]:
    """Draws rounded to whole numbers from −127 to 127, and what one of them is worth, for each column.

    Parameters
    ----------
    draws : (B, k) float

    Returns
    -------
    scale (k,) float and B × k bytes, a row a draw; a column of NaN has scale NaN and bytes 0
    """
    largest = np.abs(draws).max(axis=0)
    scale = largest / INT8
    unit = np.where(scale > 0, scale, 1.0)
    return scale, np.nan_to_num(np.rint(draws / unit)).astype(np.int8).tobytes()


def unpacked(scale: np.ndarray, numbers: bytes) -> np.ndarray:
    """Draws (B, k) from their scale and bytes."""
    return np.asarray(scale) * np.frombuffer(numbers, dtype=np.int8).reshape(-1, len(scale))
