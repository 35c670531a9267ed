"""Metrics that look at the generator alone: whatever the clients hold, avg = all."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from ..errors import InvalidInput
from .base import Metric, Sample, rows_refusal, sample_if_needed
from .capabilities import Cautious

S = TypeVar("S")
# Of the number of rows, which bounds these scores: from this share on few rows keep them low.
CAUTION_SHARE_OF_ROWS = 0.1
# Rows of one generator beside those of another, beyond which their scores are not to be compared.
MAX_ROWS_RATIO = 1.5


class GeneratorOnly(Metric[S], Cautious):
    """A score of the generated rows alone, higher is better: at least 1, and at most their number.

    It is no judgement of quality: noise is diverse. Summaries are made of both sides, and that of a client is not read.
    """

    higher_is_better = True
    lowest = 1.0
    min_rows = 1
    copies_matter = True

    @abstractmethod
    def score(self, generated: S) -> float:
        """The score of one sample."""

    @abstractmethod
    def rows_of(self, generated: S) -> float:
        """How many equal rows are behind it; infinity for an exact distribution."""

    @property
    @abstractmethod
    def settings(self) -> str:
        """What the score depends on beside the rows."""

    def unread_client(self, dim: int) -> Sample:
        """Rows in the place of a client's that are not here: any will do, of class probabilities too."""
        return Sample(rows=np.full((max(self.min_rows, 2), dim), 1.0 / dim))

    def terms(self, real: Any, generated: S) -> dict[str, float]:
        """The score, under its name."""
        return {self.name: self.score(generated)}

    def caution(self, real: Any, generated: S) -> str:
        """Where the score is so near the number of rows that these, and not the distribution behind them, limit it."""
        try:
            score, n = self.score(generated), self.rows_of(generated)
        except InvalidInput:  # there is none, and why is said already
            return ""
        if score <= max(CAUTION_SHARE_OF_ROWS * n, 1.0):
            return ""
        return f"rows are few for such a score: {score:.3g} of at most {n:.0f}, one a row, and more rows raise it"

    def cautions(self, clients: Sequence[Sample], generators: Sequence[Sample]) -> list[str]:
        """Generators that the number of their rows makes incomparable."""
        sizes = [g.rows.shape[0] for g in generators if g.rows is not None] or [0]
        if max(sizes) <= MAX_ROWS_RATIO * min(sizes):
            return []
        span = f"{min(sizes):,} to {max(sizes):,}"
        return [f"{self.label}: generators have {span} rows, and it rises with their number: compare equal numbers."]

    @property
    def convention(self) -> str:
        return f"{self.label}: {self.settings}; looks at the generator alone: avg = all"


def score_alone(metric: GeneratorOnly[Any], data: Any, argument: str) -> float:
    """The metric of one sample, rows or a distribution (10,000 rows of it where there is no closed form)."""
    sample = Sample.of(data, argument, min_rows=metric.min_rows)
    if refusal := rows_refusal(metric, sample, argument):
        raise refusal
    metric = metric.resolve([sample])  # type: ignore[assignment]
    return metric.score(metric.summarize(sample_if_needed(metric, sample, 10_000, [0, 0])))
