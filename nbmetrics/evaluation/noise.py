"""What makes noise for the cells of one metric: intervals and p-values, and joint draws of the noise of scores.

`CellNoise` holds influence values or resampled rows, whichever the design asks for, of those generators that have them.

What is linear in the scores, as avg under any weights, has its noise at once by joint draws. A draw multiplies the
influence value of each row by a normal number of that row: the same one for every
generator that meets a client's row, for every client that meets a generated one, and for the pooled clients. So the
draws vary together as the scores do. How much n rows vary is itself known only so well: each party's noise is divided
by a draw of that, √(χ²/(n−1)) with n − 1 degrees of freedom, so that one party's noise is Student's t, and its variance
that of `Influences` times (n−1)/(n−3). For resampled scores the replicates take the place of influence values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from ..arrays import row_blocks
from ..errors import InvalidInput, refusal_of, shown
from ..metrics.base import Metric
from ..metrics.stratified import InfluenceValues, Strata, merge_shared
from .influence import Influence, Influences, influence_values_of
from .resampling import Bootstrap, Ends, Jackknife, JackknifeResamples, ResampledScores

NO_REPLICATE = "some resampled rows have no score"
# Rows with which noise has a variance; as a part of the pooled clients fewer may be, since they weigh little.
MIN_ROWS_OF_NOISE = 4
# Of intervals where no design says another one.
LEVEL = 0.9
# The largest of the numbers that a draw is rounded to.
INT8 = 127


Design = Bootstrap | Jackknife | Influence
# Real and generated rows of a score; the parts of one side, by position, and their shares.
Pair = tuple[Strata[Any], Strata[Any]]
Parts = Sequence[tuple[int, float]]


def check_design(design: Any) -> Design:
    """Return the design, or raise InvalidInput."""
    if isinstance(design, (Bootstrap, Jackknife, Influence)):
        return design
    fix = "Give nm.Influence(), nm.Jackknife() or nm.Bootstrap(200, seed=0)"
    raise InvalidInput("uncertainty", f"got {shown(design)}", fix)


class CellNoise:
    """Intervals and p-values of the cells of those generators that can have them; NaN for the others.

    Attributes
    ----------
    source : influence values, or scores on resampled rows, of the generators that have some; None where there are none
    refusals : why each generator has none, or None
    """

    def __init__(self, source: ResampledScores | Influences | None, refusals: Sequence[InvalidInput | None]) -> None:
        self.source, self.refusals = source, list(refusals)

    @property
    def places(self) -> list[int]:
        """The generators that have intervals."""
        return [place for place, refusal in enumerate(self.refusals) if refusal is None]

    @property
    def refusal(self) -> InvalidInput:
        """The first of the reasons."""
        return cast(InvalidInput, refusal_of(*self.refusals))

    @property
    def none_because(self) -> InvalidInput | None:
        """Why no generator has intervals, or None."""
        return self.refusal if self.source is None else None

    @property
    def design(self) -> Any:
        return "" if self.source is None else self.source.design

    def ends(self, weights: Sequence[float], part: str, estimate: np.ndarray) -> Ends:
        """The corrected scores and the ends of their intervals; `part` is avg, all, gap or client."""
        if self.source is None:
            raise self.refusal
        columns = self.source.ends(weights, part, estimate[self.places])
        ends = Ends(*(np.full_like(estimate, np.nan) for _ in columns))
        for column, values in zip(ends, columns, strict=True):
            column[self.places] = values
        return ends

    def worse(self, weights: Sequence[float], part: str, pair: tuple[int, int], estimate: np.ndarray) -> float:
        """The one-sided p-value of the first of two generators being better; NaN where one of them has no interval."""
        if self.source is None:
            raise self.refusal
        if not set(pair) <= set(self.places):
            return math.nan
        first, second = (self.places.index(g) for g in pair)
        return self.source.worse(weights, part, (first, second), estimate[self.places])

    @property
    def level(self) -> float:
        """Of the intervals."""
        source = self.source
        return LEVEL if source is None else source.level if isinstance(source, Influences) else source.design.level

    def real_part(self, weights: Sequence[float], part: str, contrasts: np.ndarray) -> tuple[np.ndarray, float]:
        """What the clients' rows, which all generators share, add to the variance of combinations of scores.

        Parameters
        ----------
        part : avg, all or intra
        contrasts : (K, generators) float, the combinations

        Returns
        -------
        (K,) variances, NaN where a generator of the combination has no interval, and the degrees of freedom
        """
        known, missing = contrasts[:, self.places], np.delete(contrasts, self.places, axis=1)
        if self.source is None:
            return np.full(len(contrasts), np.nan), math.inf
        variance, freedom = self.source.real_part(weights, part, known)
        return np.where(
            (missing != 0.0).any(axis=1) | ~np.isfinite(variance), np.nan, np.maximum(variance, 0.0)
        ), freedom

    def cautions(self, weights: Sequence[float]) -> list[str]:
        """Of every score, clients' and pooled, by influence values: why its interval is missing or doubtful, or ""."""
        return self.source.cautions(weights) if isinstance(self.source, Influences) else []


@dataclass(frozen=True, eq=False)
class Noise:
    """The noise of one metric's scores: k clients, G generators, B draws.

    Attributes
    ----------
    by_client, all : (B, G, k) and (B, G), mean 0; 0 for exact distributions, NaN where there is no interval
    centres, all_centres : (G, k) and (G,) the scores that they lie about, corrected for few rows where it can be
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
        """Of several generators, from the columns of each, cut to as many draws as all of them have."""
        count = min(len(c.draws) for c in (*clients, *pooled))  # replicates may be fewer than the draws of an unknown
        from_generated = [c.generated[:count] for c in clients if c.generated is not None]
        return cls(
            np.stack([c.draws[:count] for c in clients], axis=1),
            np.concatenate([c.draws[:count] for c in pooled], axis=1),
            np.stack([c.centres for c in clients]),
            np.concatenate([c.centres for c in pooled]),
            tuple(c.reasons for c in clients),
            tuple(c.reasons[0] for c in pooled),
            np.stack(from_generated, axis=1) if len(from_generated) == len(clients) else None,
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


def split(column: NoiseColumn) -> tuple[NoiseColumn, NoiseColumn]:
    """A column of clients, and one of the pooled clients, which come last."""
    draws, centres, reasons = column.draws, column.centres, column.reasons
    generated = None if column.generated is None else column.generated[:, :-1]
    clients = NoiseColumn(draws[:, :-1], centres[:-1], reasons[:-1], generated)
    return clients, NoiseColumn(draws[:, -1:], centres[-1:], reasons[-1:])


@dataclass(frozen=True)
class Multipliers:
    """Normal numbers, one a row and draw, and a χ² a party and draw: the same whenever they are asked for."""

    count: int
    seed: int

    def mean(self, influence_values: np.ndarray, party: Sequence[int]) -> np.ndarray:
        """Σ_r ξ_rb (value_r − mean)/√(n(n−1)) / √(χ²_b/(n−1)) along the last axis, (…, B).

        Variances are those of means of n values times (n−1)/(n−3), infinite for n < 4.

        `party` : 0 and a client's position, or 1 and a generator's, and of what it made for each client the part
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
class InfluenceNoise:
    """The noise of the scores of one generator, by influence values.

    `generated` : its rows, or those that it made for each client; `position` : its place among all, which seeds the
    draws; `values` : what is computed already, by pairs of real and generated rows
    """

    metric: Metric[Any]
    generated: tuple[Strata[Any], ...]
    position: int
    xi: Multipliers
    values: Mapping[Pair, InfluenceValues] = field(default_factory=dict)

    def clients(self, real: Sequence[Strata[Any]]) -> NoiseColumn:
        """Of the scores of single clients, each with what was made for it."""
        pairs = pairs_of(real, self.generated)
        influence_values = [_of_enough(self._influence_values(pair)) for pair in pairs]
        parts, _ = merge_shared(self.generated, [0.0] * len(self.generated))
        places = {id(part): place for place, part in enumerate(parts)}
        real_parts = [[(i, 1.0)] for i in range(len(real))]
        return self._column(influence_values, real_parts, [[(places[id(own)], 1.0)] for _, own in pairs])

    def with_mixture(self, real: Sequence[Strata[Any]], mixture: Strata[Any], weights: Sequence[float]) -> NoiseColumn:
        """Of the scores of single clients, each with what was made for all of them, see `mixture_strata`."""
        influence_values = [_of_enough(self._influence_values((own, mixture)), is_mixture=True) for own in real]
        real_parts = [[(i, 1.0)] for i in range(len(real))]
        return self._column(influence_values, real_parts, [self._mixture_parts(weights)] * len(real))

    def all(self, together: Strata[Any], mixture: Strata[Any], weights: Sequence[float]) -> NoiseColumn:
        """Of the score of the pooled clients with that mixture, the only one in the column."""
        real_parts = [(i, w) for i, w in enumerate(weights) if w]
        of_all = self._influence_values((together, mixture))
        return self._column([of_all], [real_parts], [self._mixture_parts(weights)])

    def _mixture_parts(self, weights: Sequence[float]) -> Parts:
        _, shares = ((), [1.0]) if len(self.generated) == 1 else merge_shared(self.generated, weights)
        return [(place, share) for place, share in enumerate(shares) if share]

    def _influence_values(self, pair: Pair) -> InfluenceValues:
        return self.values[pair] if pair in self.values else influence_values_of(self.metric, *pair)

    def _column(
        self, influence_values: Sequence[InfluenceValues], real_parts: Sequence[Parts], generated_parts: Sequence[Parts]
    ) -> NoiseColumn:
        """Each score's influence values, and which rows with which shares are its real and its generated parts."""
        with np.errstate(invalid="ignore"):
            drawn = np.stack(
                [_side(p.real, own, self.xi) for p, own in zip(influence_values, real_parts, strict=True)], axis=1
            )
            generated = self._generated_side([p.generated for p in influence_values], generated_parts, drawn.shape)
            drawn += generated
        centres = np.array([p.value for p in influence_values])
        drawn[:, np.isnan(centres)] = np.nan
        reasons = tuple(_reason(p, d) for p, d in zip(influence_values, drawn.T, strict=True))
        return NoiseColumn(drawn, centres, reasons, generated)

    def _generated_side(
        self,
        influence_values: Sequence[tuple[np.ndarray | None, ...]],
        parts: Sequence[Parts],
        shape: tuple[int, ...],
    ) -> np.ndarray:
        """Return the noise (B, scores) that the generated rows make; what is made of the same rows is drawn at once."""
        by_part: dict[int, list[tuple[int, float, np.ndarray]]] = {}
        for score, (values, own) in enumerate(zip(influence_values, parts, strict=True)):
            for rows, (place, share) in zip(values, own, strict=True):
                if rows is not None:
                    by_part.setdefault(place, []).append((score, share, rows))
        drawn, is_one = np.zeros(shape), len(self.generated) == 1
        for place, members in by_part.items():
            scores, shares, rows_by_score = zip(*members, strict=True)
            party = [1, self.position] if is_one else [1, self.position, place]
            drawn[:, list(scores)] += (np.array(shares)[:, None] * self.xi.mean(np.stack(rows_by_score), party)).T
        return drawn


def pairs_of(real: Sequence[Strata[Any]], generated: Sequence[Strata[Any]]) -> list[Pair]:
    """Return each client with the rows of a generator, or with those that it made for that client."""
    return list(zip(real, generated if len(generated) > 1 else [*generated] * len(real), strict=True))


def _of_enough(influence_values: InfluenceValues, *, is_mixture: bool = False) -> InfluenceValues:
    """The influence values, NaN where the rows are too few for an interval.

    `is_mixture` : whether the generated parts may have fewer, as together they have enough
    """
    of_real, made = ([len(rows) for rows in own if rows is not None] for own in influence_values[1:3])
    counts = [*of_real, *([sum(made)] if is_mixture and made else made)]
    if all(count >= MIN_ROWS_OF_NOISE for count in counts) or math.isnan(influence_values.value):
        return influence_values
    real, generated = (
        tuple(None if r is None else np.full(len(r), np.nan) for r in own) for own in influence_values[1:3]
    )
    return InfluenceValues(influence_values.value, real, generated, f"fewer than {MIN_ROWS_OF_NOISE} rows: no interval")


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


def resampled_noise(
    replicas: ResampledScores, g: int, scores: np.ndarray, weights: Sequence[float], count: int, seed: int
) -> NoiseColumn:
    """The noise of the `scores` (k + 1,) of one generator, the pooled clients' last, from those on resampled rows.

    `g` : its place in the replicas
    """
    by_client, pooled = replicas.scores(weights)
    again, resamples = np.concatenate([by_client[:, g], pooled[:, g, None]], axis=1), replicas.resamples
    with np.errstate(invalid="ignore"):
        if isinstance(resamples, JackknifeResamples):
            drawn = _jackknife_draws(resamples, replicas.parties, again, count, seed)
        else:
            drawn = (again - again.mean(axis=0))[:count]
        centres = resamples.centre(scores, again)
    return NoiseColumn(drawn, centres, tuple(NO_REPLICATE * bool(np.isnan(d).any()) for d in drawn.T))


def _jackknife_draws(
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


def pack_draws(draws: np.ndarray) -> tuple[np.ndarray, bytes]:
    """Return draws rounded to whole numbers from −127 to 127, and what one of them is worth, for each column.

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


def unpack_draws(scale: np.ndarray, numbers: bytes) -> np.ndarray:
    """Return draws (B, k) from their scale and bytes."""
    return np.asarray(scale) * np.frombuffer(numbers, dtype=np.int8).reshape(-1, len(scale))
