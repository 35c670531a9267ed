"""Uncertainty by resampling: the designs, how often each row counts in each replicate, and scores on those rows.

A design (`Bootstrap` or `Jackknife`) resamples the rows of every client and generator together; each replicate
gives all scores anew, client by client and pooled, so averages, gaps and orders of generators carry over.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidInput, check_count, check_number
from ..metrics.base import Metric, Sample, losses, replicate
from ..ranking import same_scores

# Cuts into thirds, of the jackknife that stands in where repeated rows would read as copies.
CUTS = 7
# Rows below which a resample may be all one row.
MIN_ROWS_TO_RESAMPLE = 10


class Ends(NamedTuple):
    """Scores without the bias of few rows, where it can be taken off, and the ends of their intervals."""

    centre: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True, eq=False)
class Resamples(ABC):
    """How often each row counts in each replicate, and what the spread of the replicates says.

    `counts` holds a (replicates, n) array for each party, or what gives its rows when asked, clients first, then
    generators; n = 0 for exact distributions.
    """

    counts: Sequence[Any]
    level: float

    @abstractmethod
    def interval(self, estimate: np.ndarray, replicates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends; `replicates` runs along axis 0."""

    @abstractmethod
    def centre(self, estimate: np.ndarray, replicates: np.ndarray) -> np.ndarray:
        """The estimate, less its bias where that is known."""

    @abstractmethod
    def variance(self, replicates: np.ndarray, is_real: Sequence[bool]) -> tuple[np.ndarray, float]:
        """What the rows of the clients add to the variance of scores, and its degrees of freedom.

        `is_real` : of each party with rows whether it is a client. Where one draw takes rows of all, that of all
        """

    @abstractmethod
    def above(self, difference: np.ndarray, replicates: np.ndarray) -> float:
        """The one-sided p-value of a difference below 0; ½ where it is 0 and does not vary."""


class BootstrapResamples(Resamples):
    """Quantiles of the replicates, moved by twice the bootstrap's estimate of the bias."""

    def _shift(self, estimate: np.ndarray, replicates: np.ndarray) -> np.ndarray:
        return replicates - 2.0 * (replicates.mean(axis=0) - estimate)

    def interval(self, estimate: np.ndarray, replicates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        tail = (1.0 - self.level) / 2.0
        low, high = np.quantile(self._shift(estimate, replicates), [tail, 1.0 - tail], axis=0)
        return low, high

    def centre(self, estimate: np.ndarray, replicates: np.ndarray) -> np.ndarray:
        return 2.0 * estimate - replicates.mean(axis=0)

    def variance(self, replicates: np.ndarray, is_real: Sequence[bool]) -> tuple[np.ndarray, float]:
        return np.var(replicates, axis=0, ddof=1), float(len(replicates) - 1)

    def above(self, difference: np.ndarray, replicates: np.ndarray) -> float:
        return float(np.mean(0.5 + 0.5 * np.sign(self._shift(difference, replicates))))


class LeftOut:
    """Counts (replicates, n) of one party under the jackknife: 1, but 0 for the rows of the group that is left out.

    They are made when asked for: for all parties at once they would be as many as groups × rows. `left_in` (cuts, n)
    says in which replicate each row is left out, once in every cut.
    """

    def __init__(self, left_in: np.ndarray, replicates: int) -> None:
        self._left_in, self._replicates = left_in, replicates

    def __len__(self) -> int:
        return self._replicates

    def __getitem__(self, chosen: int | slice) -> np.ndarray:
        """(n,) of one replicate, or (b, n) of several."""
        replicate = np.arange(self._replicates)[chosen]
        return np.not_equal(replicate[..., None, None], self._left_in).all(axis=-2).astype(np.int64)


@dataclass(frozen=True, eq=False)
class JackknifeResamples(Resamples):
    """Bias and variance from leaving groups out, summed over the parties that have rows.

    The bias is taken off where the score is smooth in the rows; nearest rows are not, and would turn it to noise.
    """

    groups: Sequence[int]
    cuts: int
    is_smooth: bool

    @classmethod
    def of(
        cls, sizes: Sequence[int], groups: int, *, cuts: int = 1, seed: int, level: float, is_smooth: bool
    ) -> JackknifeResamples:
        """For parties of `sizes` rows (0 for an exact distribution), each cut at random into as many groups, `cuts`
        times."""
        streams = np.random.SeedSequence(seed).spawn(len(sizes))
        cut = [min(groups, n) for n in sizes]
        starts = np.cumsum([0, *(cuts * g for g in cut)])
        counts = []
        for stream, start, n, g in zip(streams, starts, sizes, cut, strict=False):
            rng = np.random.default_rng(stream)
            left_in = [start + cut * g + rng.permutation(n) % max(g, 1) for cut in range(cuts)]
            counts.append(LeftOut(np.array(left_in), int(starts[-1])))
        return cls(counts, level, [g for g in cut if g], cuts, is_smooth)

    def _spread(self, estimate: np.ndarray, replicates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        bias, error, start = np.zeros_like(estimate), np.zeros_like(estimate), 0
        for groups in self.groups:
            part = replicates[start : start + self.cuts * groups]
            part = part.reshape(self.cuts, groups, *part.shape[1:])
            mean = part.mean(axis=1, keepdims=True)
            bias = bias + (groups - 1) * (mean.mean(axis=(0, 1)) - estimate)
            away = np.abs(part - mean)
            unit = np.where((most := away.max(axis=(0, 1))) > 0.0, most, 1.0)  # large squares have no room
            own = unit * np.sqrt((groups - 1) / groups * ((away / unit) ** 2).sum(axis=1).mean(axis=0))
            error = np.hypot(error, own)
            start += self.cuts * groups
        return estimate - bias if self.is_smooth else estimate, error

    def interval(self, estimate: np.ndarray, replicates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        centre, error = self._spread(estimate, replicates)
        from scipy.stats import t  # few groups leave the error itself uncertain

        freedom = self.cuts * (min(self.groups, default=2) - 1)
        reach = float(t.ppf(0.5 + self.level / 2.0, freedom)) * error
        return centre - reach, centre + reach

    def centre(self, estimate: np.ndarray, replicates: np.ndarray) -> np.ndarray:
        return self._spread(estimate, replicates)[0]

    def variance(self, replicates: np.ndarray, is_real: Sequence[bool]) -> tuple[np.ndarray, float]:
        variance, start = np.zeros(replicates.shape[1:]), 0
        for groups, is_counted in zip(self.groups, is_real, strict=True):
            part = replicates[start : start + self.cuts * groups].reshape(self.cuts, groups, -1)
            if is_counted:
                away = part - part.mean(axis=1, keepdims=True)
                variance = variance + (groups - 1) / groups * (away**2).sum(axis=1).mean(axis=0)
            start += self.cuts * groups
        return variance, float(self.cuts * (min(self.groups, default=2) - 1))

    def above(self, difference: np.ndarray, replicates: np.ndarray) -> float:
        centre, error = self._spread(difference, replicates)
        return normal_above(float(centre), float(error))


def normal_above(centre: float, error: float) -> float:
    """Φ(centre/error), the one-sided p-value of a difference below 0; ½ where it is 0 and does not vary."""
    if math.isnan(centre):
        return math.nan
    if error > 0.0:
        return NormalDist().cdf(centre / error)
    return 0.5 + 0.5 * math.copysign(1.0, centre) * (centre != 0.0)


@dataclass(frozen=True)
class Bootstrap:
    """Rows drawn with replacement, `replicates` times.

    The intervals correct the bias to first order in 1/N. That is enough for FID only with many rows for the features
    (5 d, and d²/8), and refused below; `Influence` needs fewer. Between equal distributions, where the score sits at
    its minimum, they are wider than they need to be. Metrics that look at nearest rows (FLD, precision, AuthPct, …)
    would take repeated rows for copies: they get a jackknife of thirds instead.

    Parameters
    ----------
    replicates : number of resamples, from 20 to 100,000
    seed : of the resampling
    level : coverage asked for, between 0.5 and 0.999

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> clients, generators = [rng.normal(size=(200, 2))], {"g": rng.normal(1, 1, size=(200, 2))}
    >>> row = nm.evaluate(clients, generators, "fid", uncertainty=nm.Bootstrap(50)).table.iloc[0]
    >>> bool(row["avg_low"] < row["avg_corrected"] < row["avg_high"])
    True
    """

    replicates: int = 200
    seed: int = 0
    level: float = 0.9

    def __str__(self) -> str:
        return (
            f"{self.level:.0%}, {self.replicates} bootstraps, seed {self.seed}, around the score corrected for few "
            "rows (the plain score may lie outside); at 90 % and 60 rows per client they covered 84 to 87 % of "
            "the gaps in simulations"
        )

    def __post_init__(self) -> None:
        object.__setattr__(self, "replicates", check_count(self.replicates, "replicates", minimum=20, maximum=100_000))
        object.__setattr__(self, "seed", check_count(self.seed, "seed", minimum=0))
        object.__setattr__(self, "level", check_number(self.level, "level", minimum=0.5, maximum=0.999))

    def resample(self, sizes: Sequence[int]) -> Resamples:
        """Multinomial counts for parties of `sizes` rows (0 for an exact distribution)."""
        streams = np.random.SeedSequence(self.seed).spawn(len(sizes))
        counts = [
            np.random.default_rng(s).multinomial(n, np.full(n, 1.0 / n), size=self.replicates)
            if n
            else np.zeros((self.replicates, 0), dtype=np.int64)
            for s, n in zip(streams, sizes, strict=True)
        ]
        return BootstrapResamples(counts, self.level)


@dataclass(frozen=True)
class Jackknife:
    """One group of rows of one party left out at a time; for nearest rows, KID and other nearly unbiased scores.

    Parameters
    ----------
    groups : groups that each party's rows are cut into (single rows where there are no more than that)
    seed : of the cut
    level : coverage asked for, between 0.5 and 0.999
    is_smooth : whether the estimate of the bias may be taken off; not for metrics that look at nearest rows

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> clients, generators = [rng.normal(size=(200, 2))], {"g": rng.normal(1, 1, size=(200, 2))}
    >>> row = nm.evaluate(clients, generators, "precision", uncertainty=nm.Jackknife()).table.iloc[0]
    >>> bool(row["avg_low"] <= row["avg_corrected"] <= row["avg_high"])
    True
    """

    groups: int = 100
    seed: int = 0
    level: float = 0.9
    is_smooth: bool = True

    def __str__(self) -> str:
        return f"{self.level:.0%}, jackknife of {self.groups} groups of rows, seed {self.seed}"

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", check_count(self.groups, "groups", minimum=10))
        object.__setattr__(self, "seed", check_count(self.seed, "seed", minimum=0))
        object.__setattr__(self, "level", check_number(self.level, "level", minimum=0.5, maximum=0.999))

    def resample(self, sizes: Sequence[int]) -> Resamples:
        """Counts of one, and of zero for the group left out, for parties of `sizes` rows (0 for an exact
        distribution)."""
        return JackknifeResamples.of(sizes, self.groups, seed=self.seed, level=self.level, is_smooth=self.is_smooth)


@dataclass(frozen=True)
class Thirds:
    """A third of one party's rows left out at a time, in several cuts; for metrics that look at nearest rows.

    Such a score jumps with single rows. Leaving out few rows at a time takes the jumps for a trend and makes intervals
    1.1 to 2 times too wide; large groups average much of that away (delete-d jackknife, Shao & Wu 1989). What is left,
    at 90 % with 7 cuts, as share of simulations covered (and width as a multiple of the right one), in 60 to 80 runs:

        rows of each side                   precision   recall      density     coverage    AuthPct
        N(0, I), d = 2, 100 and 80          .89 (1.4)   .96 (1.5)   .94 (1.2)   .98 (1.5)   .98 (1.5)
        N(0, I), d = 8, 100 and 80          .92 (1.2)   .98 (1.5)   .90 (1.1)   .95 (1.5)
        mixture of t, d = 16, 150 and 120   .95 (1.3)   .98 (1.3)   .92 (1.3)   .93 (1.3)

        N(2, I) and N(2, 1.44 I)            MiFID       Vendi       RKE         RRKE
        d = 2, 100 and 80                   .80 (0.8)   .93 (0.9)   .93 (1.0)   .97 (1.2)
        d = 8, 100 and 80                   .90 (1.3)   .93 (1.0)   .88 (0.8)   .92 (1.3)

    FLD's baseline is cut anew from the rows that are left, and its chance widens the interval: covered in all of 30
    runs at d = 2, 8 and 16, at 1.2 to 2 times the right width. No factor is taken off: none fits all metrics and
    distributions.
    """

    cuts: int
    seed: int
    level: float

    def __str__(self) -> str:
        return (
            f"{self.level:.0%}, jackknife of thirds of the rows, {self.cuts} cuts, seed {self.seed}; rather wide "
            "(at 90 % they covered 88 to 98 % of simulations, FLD 100 %, MiFID 80 to 90 %)"
        )

    def resample(self, sizes: Sequence[int]) -> Resamples:
        """As `Jackknife.resample`."""
        return JackknifeResamples.of(sizes, 3, cuts=self.cuts, seed=self.seed, level=self.level, is_smooth=False)


class ResampledScores:
    """All scores of one metric on resampled rows.

    Computed when first asked for, and again for other weights only. Each generator has resamples of its own, by its
    place among all that there are: `positions`, by default those given.
    """

    def __init__(
        self,
        metric: Metric[Any],
        real: Sequence[Sample],
        generated: Sequence[Sample],
        design: Bootstrap | Jackknife,
        positions: Sequence[int] | None = None,
    ) -> None:
        self.metric, self.real, self.generated = metric, tuple(real), tuple(generated)
        self.design: Bootstrap | Jackknife | Thirds = design
        if metric.copies_matter:
            cuts = CUTS if isinstance(design, Bootstrap) else max(CUTS, design.groups // 3)
            self.design = Thirds(cuts, design.seed, design.level)
        sizes, k = check_sizes(metric, [*real, *generated]), len(self.real)
        places = [*range(k), *(k + p for p in (range(len(self.generated)) if positions is None else positions))]
        every = [0] * (max(places) + 1)
        for place, size in zip(places, sizes, strict=True):
            every[place] = size
        resamples = self.design.resample(every)
        self.resamples = replace(resamples, counts=[resamples.counts[place] for place in places])
        # clients 0, generators 1, with rows
        self.parties = [(0, p) if p < k else (1, p - k) for p, n in zip(places, sizes, strict=True) if n]
        self._scores: dict[tuple[float, ...], tuple[np.ndarray, np.ndarray]] = {}
        # Weights, the replicates under them so far, and what those share.
        self._begun: tuple[tuple[float, ...], list[tuple[np.ndarray, np.ndarray]], dict[Any, Any]] = (), [], {}

    def scores(self, weights: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
        """By client (replicates, generators, clients) and pooled (replicates, generators)."""
        key = tuple(weights)
        if key not in self._scores:
            counts, split = self.resamples.counts, len(self.real)
            if not len(counts[0]):  # a jackknife of exact distributions leaves nothing out
                none = np.zeros((0, len(self.generated), split))
                self._scores[key] = none, none[:, :, 0]
            else:
                self._scores[key] = self.metric.replicates(
                    self.real, self.generated, key, counts[:split], counts[split:]
                )
        return self._scores[key]

    def advance(self, weights: Sequence[float], seconds: float) -> bool:
        """Compute replicates for so many seconds, one at least; whether none is left that could come in pieces."""
        key, counts, split, start = tuple(weights), self.resamples.counts, len(self.real), time.monotonic()
        if key in self._scores or getattr(self.metric.replicates, "__func__", None) is not Metric.replicates:
            return True
        if self._begun[0] != key:
            self._begun = key, [], {}
        _, done, shared = self._begun
        for b in range(len(done), len(counts[0])):
            one = [c[b : b + 1] for c in counts]
            done.append(replicate(self.metric, self.real, self.generated, key, one[:split], one[split:], shared))
            if time.monotonic() > start + seconds and len(done) < len(counts[0]):
                return False
        if done:
            by_client, pooled = (np.concatenate(part) for part in zip(*done, strict=True))
            self._scores[key] = by_client, pooled
        self._begun = (), [], {}
        return True

    def average(self, weights: Sequence[float]) -> np.ndarray:
        """Σ λ_i D(S_i, S_G) of each replicate: (replicates, generators)."""
        shares = np.asarray(weights)
        return self.scores(weights)[0][:, :, shares > 0] @ shares[shares > 0]

    def ends(self, weights: Sequence[float], part: str, estimate: np.ndarray) -> Ends:
        """The corrected score and the ends of its interval; `part` is avg, all, intra, gap, client or own."""
        replicates = self._of(part, weights)
        with np.errstate(over="ignore", invalid="ignore"):
            ends = Ends(self.resamples.centre(estimate, replicates), *self.resamples.interval(estimate, replicates))
        if any(np.isinf(column).any() for column in ends):
            raise InvalidInput(
                "uncertainty", "the squares of these scores are too large for a number", "Rescale the features"
            )
        return ends

    def worse(self, weights: Sequence[float], part: str, pair: tuple[int, int], estimate: np.ndarray) -> float:
        """The one-sided p-value of the first of two generators being better by avg or all, of losses `estimate`."""
        replicates = losses(self.metric, self._of(part, weights))
        first, second = pair
        is_even = same_scores(estimate[first], estimate[second])
        difference = np.array(0.0 if is_even else estimate[first] - estimate[second])
        return self.resamples.above(difference, replicates[:, first] - replicates[:, second])

    def real_part(self, weights: Sequence[float], part: str, contrasts: np.ndarray) -> tuple[np.ndarray, float]:
        """See `CellNoise.real_part`; of a bootstrap, whose draws take rows of all parties, the part of all of them."""
        is_real, scores = [side == 0 for side, _ in self.parties], self._of(part, weights)
        at = [np.flatnonzero(contrast) for contrast in contrasts]  # no score but these, which may be NaN
        with np.errstate(over="ignore", invalid="ignore"):
            combined = [scores[:, own] @ contrast[own] for contrast, own in zip(contrasts, at, strict=True)]
            return self.resamples.variance(np.stack(combined, axis=1), is_real)

    def _of(self, part: str, weights: Sequence[float]) -> np.ndarray:
        """The replicates of a part; of generators with one distribution each, own is client and intra avg."""
        if part in ("client", "own"):
            return self.scores(weights)[0]
        if part == "all":
            return self.scores(weights)[1]
        average = self.average(weights)
        return average if part in ("avg", "intra") else average - self.scores(weights)[1]


def _size(sample: Sample) -> int:
    return 0 if sample.rows is None else int(sample.rows.shape[0])


def check_can_resample(metric: Metric[Any]) -> None:
    """Raise InvalidInput where its rows cannot be resampled, however many they are."""
    if metric.no_resampling:
        raise InvalidInput("uncertainty", metric.no_resampling, "Leave uncertainty out, or use another estimator")


def no_rows_refusal(sample: Sample, who: str) -> InvalidInput | None:
    """Return why there are no intervals where only moments are here, or None."""
    if sample.moments is None:
        return None
    seen = f"{who} is a mean and a covariance, and intervals need rows"
    return InvalidInput("uncertainty", seen, "Give the rows, or leave uncertainty out")


def few_rows_refusal(sample: Sample, who: str) -> InvalidInput | None:
    """Return why a party's rows are too few for any resampling, or None."""
    if not 0 < (n := _size(sample)) < MIN_ROWS_TO_RESAMPLE:
        return None
    return InvalidInput("uncertainty", f"{who} has {n} row{'s' * (n != 1)}", f"Intervals need {MIN_ROWS_TO_RESAMPLE}")


def check_sizes(metric: Metric[Any], samples: Sequence[Sample]) -> list[int]:
    """The rows of each, 0 for a distribution; InvalidInput where they are too few for resampling to take the bias
    off."""
    check_can_resample(metric)
    sizes = [_size(sample) for sample in samples]
    few = min((n for n in sizes if n), default=math.inf)
    dim = samples[0].dim
    fewest = metric.rows_to_resample(dim)
    if few < fewest:
        seen = (
            f"resampling cannot correct {metric.label} of {few} rows with {dim} features for bias: it needs {fewest:,}"
        )
        others = "nm.Influence()" if metric.name == "fid" else f"intervals without {metric.label}"
        raise InvalidInput("uncertainty", seen, f"Use {others}, or fewer features")
    return sizes
