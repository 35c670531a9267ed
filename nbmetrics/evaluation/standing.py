"""What stands when a metric refuses the rows of some client or generator: the others' scores, and their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from ..errors import InvalidInput, refusal_of
from ..metrics.base import Metric, Sample
from ..summaries.stream import BadRows
from .influence import Influences
from .resampling import Replicas
from .uncertainty import Ends

# What an InvalidInput is about where it is the call's, not some party's rows: no metric of this name would stand.
SETTINGS = {"metrics", "method", "kernel", "condition", "condition_dim"}


class PoolOnlyClient(InvalidInput):
    """Why a client has no score of its own; its rows are part of the pool all the same.

    Attributes
    ----------
    part : what they add to it, a summary
    """

    def __init__(self, refusal: InvalidInput, part: Any) -> None:
        super().__init__(refusal.argument, refusal.seen, refusal.fix)
        self.part = part

    def __reduce__(self) -> tuple[Any, ...]:
        return PoolOnlyClient, (InvalidInput(self.argument, self.seen, self.fix), self.part)


class RemoteSummary(InvalidInput):
    """In the place of a summary that stayed where it was made: the score stands, the summary cannot be pooled anew.

    Attributes
    ----------
    nbytes, count : of the summary, and of its rows where it says so
    """

    def __init__(self, label: str, nbytes: int, count: float | None = None) -> None:
        fix = "Evaluate again under these weights, or allow more by nm.set_memory_limit(megabytes)"
        super().__init__("cluster", f"kept the clients' summaries of {label}, which are too large to send", fix)
        self.label, self.nbytes, self.count = label, nbytes, count

    def __reduce__(self) -> tuple[Any, ...]:
        return RemoteSummary, (self.label, self.nbytes, self.count)


def part_of(summary: Any) -> Any:
    """What a client adds to the pool: its summary, or that of its few rows; or why nothing."""
    return summary.part if isinstance(summary, PoolOnlyClient) else summary


def is_of_call(error: InvalidInput) -> bool:
    """Whether the call is refused, and not the rows of one party, whose scores alone are missing then."""
    return error.argument in SETTINGS


def summarized(metric: Metric[Any], sample: Sample, who: str) -> Any:
    """What `summarize` gives, or why these rows give nothing; raised where it is not about them."""
    try:
        return metric.summarize(sample)
    except BadRows:
        raise
    except InvalidInput as error:
        refusal = error.of(f"{who}, {metric.name}")
        if is_of_call(error):
            raise refusal from None
        return refusal


def client_summary(metric: Metric[Any], sample: Sample, who: str) -> Any:
    """The same of a client, with what rows too few for a score add to the pool."""
    summary = summarized(metric, sample, who)
    if (refusal := refusal_of(summary)) is None or (part := metric.single_row_summary(sample)) is None:
        return summary
    return PoolOnlyClient(refusal, part)


def pool(metric: Metric[Any], summaries: Sequence[Any], weights: Sequence[float]) -> Any:
    """The summary of the mixture; InvalidInput where that of a client with a weight was refused.

    Rows too few for a score of their own are part of the mixture, save where there are no others.
    """
    weighed = [summary for summary, weight in zip(summaries, weights, strict=True) if weight]
    if len(weighed) == 1 and (refusal := refusal_of(*weighed)):
        raise refusal
    pairs = [(part_of(summary), weight) for summary, weight in zip(summaries, weights, strict=True)]
    counted = [pair for pair in pairs if pair[1] or not refusal_of(pair[0])]
    if refusal := refusal_of(*(summary for summary, _ in counted)):
        raise refusal
    return metric.pool([summary for summary, _ in counted], [weight for _, weight in counted])


class Standing:
    """Intervals of those generators that can have them; NaN for the others.

    `refusals` : why each generator has none, or None; `replicas` are of those that have, None where there are none
    """

    def __init__(self, replicas: Replicas | Influences | None, refusals: Sequence[InvalidInput | None]) -> None:
        self.replicas, self.refusals = replicas, list(refusals)

    @property
    def places(self) -> list[int]:
        """The generators that have intervals."""
        return [place for place, refusal in enumerate(self.refusals) if refusal is None]

    @property
    def refusal(self) -> InvalidInput:
        """The first of the reasons."""
        return cast(InvalidInput, refusal_of(*self.refusals))

    @property
    def design(self) -> Any:
        return "" if self.replicas is None else self.replicas.design

    def ends(self, weights: Sequence[float], part: str, estimate: np.ndarray) -> Ends:
        """As those of `Replicas`, in the places of these generators."""
        if self.replicas is None:
            raise self.refusal
        found = self.replicas.ends(weights, part, estimate[self.places])
        ends = Ends(*(np.full_like(estimate, np.nan) for _ in found))
        for column, known in zip(ends, found, strict=True):
            column[self.places] = known
        return ends

    def worse(self, weights: Sequence[float], part: str, pair: tuple[int, int], estimate: np.ndarray) -> float:
        """As that of `Replicas`; NaN where one of the two has no interval."""
        if self.replicas is None:
            raise self.refusal
        if not set(pair) <= set(self.places):
            return math.nan
        first, second = (self.places.index(g) for g in pair)
        return self.replicas.worse(weights, part, (first, second), estimate[self.places])

    def cautions(self, weights: Sequence[float]) -> list[str]:
        """As those of `Influences`."""
        return self.replicas.cautions(weights) if isinstance(self.replicas, Influences) else []
