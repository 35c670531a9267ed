"""Cautions about the clients themselves, before any score: unlike the others, clipped, or there twice.

Another preprocessing: each client is compared with the others by the means and variances of its features. Clients that
hold other classes differ along a few directions, and their variances stay below that of all classes together, T = the
others' mean variance + the variance of their means. A change of preprocessing moves most features at once, or makes
them wider than T. So a statistic is a median or quantile over features, and it is judged by its spread over the other
clients.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..arrays import is_on_host, mean_rows, namespace, row_blocks, to_float64, to_numpy
from ..metrics import Sample
from ..ranking import figure, numeral
from ..summaries.moments import Moments
from .cells import Cells

# A client of fewer rows says too little of its own scale.
MIN_ROWS = 5
# How many clients are named at most, and how far (as a factor of its limit) the first of two may be from the other.
MAX_NAMED = 5
# Of log scales above and below the others', and of the 25 % and 50 % quantiles of |z|: how many spreads away, and the
# least spread. Tuned on 1,000 federations with and without an altered client (tests/acceptance/step25/sites.py).
LIMITS, LEAST = np.array([2.7, 3.0, 2.7, 3.0]), np.array([0.07, 0.06, 0.2, 0.2])
QUANTILES = (0.25, 0.5)
# Variance of a log scale for each row; how much unlike means (B/T) and unlike scales widen the spreads.
NOISE, BELOW, ABOVE = 0.3, 0.6, 0.25
# Two clients, or two camps of them, cannot say which of them is right: told beyond this ratio, or so many deviations.
MAX_RATIO, MAX_APART = 30.0, 30.0
# Means that are compared; of more only every second, third … feature, or many clients of many features take seconds.
MAX_NUMBERS = 40_000
ADVICE = "other preprocessing (units, standardization)?"
# A value is a bound where at least so many rows have it, a share beyond this many times the others' share, and others
# go beyond it; and a client is clipped where so many of its features are.
MIN_AT_BOUND, MIN_TIMES, MIN_SHARE_CLIPPED = 3, 4.0, 0.5
# Common rows are told from this share of the smaller side, and from so many times what chance makes.
COMMON_SHARE, COMMON_TIMES = 0.5, 5.0


@np.errstate(all="ignore")
def with_client_cautions(tables: Sequence[Cells], names: Sequence[str], generators: Sequence[str]) -> tuple[Cells, ...]:
    """Return the tables of all metrics; the first has cautions about the clients themselves.

    They are about rows that are here, else about the mean and covariance that FID has of a client, and not about
    distributions.
    """
    clients = zip(names, zip(*(table.clients for table in tables), strict=True), strict=True)
    generator_sides = zip(generators, zip(*(table.generators for table in tables), strict=True), strict=True)
    rows, generated = ({n: x for n, s in side if (x := _rows(s)) is not None} for side in (clients, generator_sides))
    spreads = {}
    for name, summaries in zip(names, zip(*(table.real for table in tables), strict=True), strict=True):
        moments = [s for s in summaries if isinstance(s, Moments) and s.count < math.inf]
        if name in rows:
            spreads[name] = Spread.of_rows(rows[name])
        elif moments:
            variance = np.diagonal(to_numpy(moments[0].cov))
            spreads[name] = Spread(moments[0].count, to_numpy(moments[0].mean), variance)
    lines = [*unlike_clients(spreads), *clipped_clients(rows), *shared_rows(rows, generated)]
    first, *others = tables
    return (replace(first, cautions=(*lines, *first.cautions)), *others)


def _rows(samples: Sequence[Sample | None]) -> Any:
    """Return the rows of one party that are here and were not drawn for it; None where there are none."""
    samples_here = [s for s in samples if s is not None and s.rows is not None and not s.is_drawn and not s.is_stand_in]
    return samples_here[0].rows if samples_here else None


class Spread(NamedTuple):
    """What a client's summary says of its location and scale: rows, mean and variance of each feature, (d,)."""

    size: float
    mean: np.ndarray
    variance: np.ndarray

    @classmethod
    def of_rows(cls, rows: Any) -> Spread:
        """From rows (n, d), block by block."""
        n, mean = rows.shape[0], mean_rows(rows)
        squares = mean * 0.0
        for block in row_blocks(n, 16 * rows.shape[1]):
            squares += namespace(rows).sum((to_float64(rows[block, :]) - mean) ** 2, axis=0)
        return cls(n, to_numpy(mean), to_numpy(squares) / max(n - 1, 1))


class Difference(NamedTuple):
    """How a client differs from the others: the log ratio of scales, |z|, and which statistics are beyond limits."""

    log_ratio: float
    apart: float
    excess: np.ndarray


def unlike_clients(spreads: Mapping[str, Spread]) -> list[str]:
    """Return a sentence for each client whose location or scale is outside the others' spread, the farthest first."""
    known = {n: s for n, s in spreads.items() if MIN_ROWS <= s.size < math.inf and (s.variance > 0).any()}
    step = max(1, sum(spread.mean.size for spread in known.values()) // MAX_NUMBERS)
    left = {n: Spread(s.size, s.mean[::step], s.variance[::step]) for n, s in known.items()}
    lines: list[str] = []
    while len(left) > 2 and len(lines) < MAX_NAMED:
        differences = {name: difference(left, name) for name in left}
        first = max(differences, key=lambda name: differences[name].excess.max())
        if differences[first].excess.max() <= 1.0:
            break
        lines.append(_sentence(first, differences[first]))
        del left[first]
    return lines or _camps(left)


def difference(spreads: Mapping[str, Spread], name: str) -> Difference:
    """Return how one of at least three clients differs from the others."""
    counts, means, variances = (np.array(part, dtype=float) for part in zip(*spreads.values(), strict=True))
    own = list(spreads).index(name)
    k, is_other = len(spreads), np.arange(len(spreads)) != own
    within, between = variances[is_other].mean(axis=0), means[is_other].var(axis=0)
    total = within + between
    if not (total > 0).any():
        return Difference(0.0, 0.0, np.zeros(len(LIMITS)))
    lively = total > 1e-6 * np.median(total[total > 0])
    total, between, means, variances = (x[..., lively] for x in (total, between, means, variances))
    # Of few others the means vary more than is seen.
    reach = between * (k / (k - 2)) * (1 + 2 / (k - 2))
    logs = np.median(0.5 * np.log(np.maximum(variances, 1e-12 * total) / total), axis=1)
    z = np.abs(means - means[is_other].mean(axis=0)) / np.sqrt(total - between + reach)
    unlike = float(np.median(np.maximum(means.var(axis=0) - (variances / counts[:, None]).mean(axis=0), 0.0) / total))
    share = float(np.median(reach / (total - between + reach)))
    statistics = np.array([np.maximum(logs, 0.0), -logs, *np.quantile(z, QUANTILES, axis=1)])
    others = statistics[:, is_other]
    middle = others.mean(axis=1)
    middle[1] = max(middle[1], others[1].max())
    spread = others.var(axis=1, ddof=1) + np.array([ABOVE * logs[is_other].var(ddof=1), 0.0, 0.0, 0.0])
    spread = spread * (1 + 1 / (k - 1)) * (1 + 1 / (k - 2)) + LEAST**2 + NOISE / counts[own]
    spread += np.array([0.0, (BELOW * unlike) ** 2, share / len(total), share / len(total)])
    excess = np.nan_to_num((statistics[:, own] - middle) / np.sqrt(spread) / LIMITS)
    log_ratio = float(logs[own] - np.median(logs[is_other]))
    return Difference(log_ratio, float(np.median(z[own])), excess)


def _times(value: float) -> str:
    return numeral(value, ",.0f") if value >= 10 else figure(value, 2)


def _sentence(name: str, found: Difference) -> str:
    parts = []
    if found.excess[:2].max() > 1.0:
        parts.append(f"are {_times(math.exp(found.log_ratio))} times as spread as the others'")
    if found.excess[2:].max() > 1.0:
        parts.append(f"lie {_times(found.apart)} standard deviations from the others'")
    return f"{name!r}: its values {' and '.join(parts)}: {ADVICE}"


def _camps(spreads: Mapping[str, Spread]) -> list[str]:
    """Return a sentence where nobody is alone, but two clients, or camps of them, are of very unlike scale or place."""
    if len(spreads) < 2:
        return []
    names = list(spreads)
    scales = [math.sqrt(max(spread.variance.mean(), 0.0)) for spread in spreads.values()]
    low, high = int(np.argmin(scales)), int(np.argmax(scales))
    if scales[high] > MAX_RATIO * scales[low] > 0.0:
        ratio = _times(scales[high] / scales[low])
        return [f"The values of {names[high]!r} are {ratio} times as spread as those of {names[low]!r}: {ADVICE}"]
    if len(names) == 2:
        (_, first, one), (_, second, other) = spreads.values()
        total = (one + other) / 2
        apart = np.abs(first - second)[total > 0] / np.sqrt(total[total > 0])
        if np.quantile(apart, QUANTILES[0]) > MAX_APART:
            far = _times(float(np.median(apart)))
            return [f"The values of {names[0]!r} and {names[1]!r} lie {far} standard deviations apart: {ADVICE}"]
    return []


def clipped_clients(rows_by_client: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each client that has many rows exactly at a bound which others go beyond."""
    rows = {n: to_numpy(x) for n, x in rows_by_client.items() if x.shape[0] >= MIN_ROWS and is_on_host(x)}
    if len(rows) < 2:
        return []
    lines = []
    edges = {name: (x.min(axis=0), x.max(axis=0)) for name, x in rows.items()}
    for name, own in rows.items():
        for side, word in enumerate(("smallest", "largest")):
            bound, sign = edges[name][side], (-1, 1)[side]
            others = [other for other in rows if other != name]
            beyond = np.any([sign * edges[other][side] > sign * bound for other in others], axis=0)
            many = (own == bound).sum(axis=0)
            suspects = np.flatnonzero(beyond & (many >= MIN_AT_BOUND) & (edges[name][0] < edges[name][1]))
            if len(suspects) < MIN_SHARE_CLIPPED * own.shape[1]:
                continue
            at_bound = np.mean([(rows[o][:, suspects] == bound[suspects]).mean(axis=0) for o in others], axis=0)
            clipped = suspects[many[suspects] / len(own) > MIN_TIMES * at_bound]
            if len(clipped) >= MIN_SHARE_CLIPPED * own.shape[1]:
                share = float((many[clipped] / len(own)).mean())
                lines.append(
                    f"{name!r}: in {len(clipped):,} of {own.shape[1]:,} features its {word} value is that of several "
                    f"rows ({share:.0%} of them on average), and the others go beyond it: were its values clipped?"
                )
                break
    return lines if len(lines) <= max(1, len(rows) // 4) else []  # that of many is how these features are


class Digests(NamedTuple):
    """The distinct rows of one party as sorted numbers, how many rows it has, and how often two of them are equal."""

    distinct: np.ndarray
    size: int
    repeats: float

    @classmethod
    def of(cls, rows: Any) -> Digests:
        """From rows (n, d), compared as float32: a sum of the 32-bit words of a row times random odd numbers."""
        n, width = rows.shape
        factors = np.random.default_rng(0).integers(2**63, size=width, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
        sums = np.empty(n, dtype=np.uint64)
        for block in row_blocks(n, 16 * width):
            words = (to_numpy(rows[block, :]).astype(np.float32) + np.float32(0.0)).view(np.uint32)  # −0 is 0
            sums[block] = (words * factors).sum(axis=1, dtype=np.uint64)
        distinct, counts = np.unique(sums, return_counts=True)
        return cls(distinct, n, float((counts * (counts - 1)).sum() + 2) / max(n * (n - 1), 1))

    def is_copy(self, other: Digests, common: int) -> bool:
        """Whether so many common rows are most of one of them, and more than rows of few possible values have."""
        by_chance = self.size * other.size * min(self.repeats, other.repeats)
        is_most = common >= COMMON_SHARE * min(len(self.distinct), len(other.distinct))
        return is_most and common > COMMON_TIMES * by_chance


def shared_rows(clients: Mapping[str, Any], generators: Mapping[str, Any]) -> list[str]:
    """Return a sentence for two clients that share most rows, and for a generator most of whose rows are a client's.

    Values are (n, d) rows.
    """
    real, made = ({n: Digests.of(x) for n, x in side.items() if is_on_host(x)} for side in (clients, generators))
    if not real:
        return []
    names, parties = list(real), list(real.values())
    lines = [
        f"{names[i]!r} and {names[j]!r} share {common:,} rows (of {parties[i].size:,} and {parties[j].size:,}): "
        "what two clients hold counts twice."
        for i, j, common in _common(parties)
        if parties[i].is_copy(parties[j], common)
    ][:MAX_NAMED]
    for name, own in made.items():
        counts = [len(np.intersect1d(own.distinct, party.distinct, assume_unique=True)) for party in parties]
        best = int(np.argmax(counts))
        if counts[best] >= COMMON_SHARE * len(own.distinct) and own.is_copy(parties[best], counts[best]):
            lines.append(
                f"{counts[best]:,} of the {len(own.distinct):,} distinct rows of generator {name!r} are rows of client "
                f"{names[best]!r}: copies score better than new rows would."
            )
    return lines


def _common(parties: list[Digests]) -> list[tuple[int, int, int]]:
    """Return the places of two parties with common rows, and how many; of a row at several, neighbours only."""
    whose = np.repeat(np.arange(len(parties)), [len(own.distinct) for own in parties])
    digests = np.concatenate([own.distinct for own in parties])
    order = np.argsort(digests, kind="stable")
    is_same = digests[order][1:] == digests[order][:-1]
    pairs = np.stack([whose[order][:-1][is_same], whose[order][1:][is_same]], axis=1)
    pairs, counts = np.unique(pairs, axis=0, return_counts=True)
    return [(int(i), int(j), int(n)) for (i, j), n in zip(pairs, counts, strict=True)]
