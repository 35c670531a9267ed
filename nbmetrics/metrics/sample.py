"""What a metric sees of one client or generator: rows, an exact distribution, a stream of rows, or moments alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..arrays import Array, as_rows
from ..distributions import Distribution, as_distribution
from ..errors import InvalidInput
from ..summaries.reference import Moments
from ..summaries.stream import Stream


@dataclass(frozen=True, eq=False)
class Sample:
    """What a metric sees of one client or generator.

    Attributes
    ----------
    rows : (n, d) array, or None for an exact distribution
    distribution : the exact distribution, or None for rows
    test, condition : further rows of a client, for the metrics that need them
    is_drawn : whether the rows were drawn from a distribution, in proportion to its weight up to one row
    stream : rows that come in batches, in place of `rows`; only metrics whose `streaming_mode` says so are given it
    moments : the mean and covariance of rows that are not here; only metrics that `takes_moments` are given them
    is_stand_in : whether the rows are there to be counted alone, in place of those that stay where they are
    """

    rows: Array | None = None
    distribution: Distribution | None = None
    test: Array | None = None
    condition: Array | None = None
    is_drawn: bool = False
    stream: Stream | None = None
    moments: Moments | None = None
    is_stand_in: bool = False

    @classmethod
    def of(cls, data: Any, argument: str, *, dim: int | None = None, min_rows: int = 1) -> Sample:
        """A sample from rows, a distribution, moments, or anything with `to_sample`, such as a client."""
        if hasattr(data, "to_sample"):
            data = data.to_sample()
        if isinstance(data, Stream):
            data = data.collect()
        if isinstance(data, Moments):
            data = cls(moments=data)
        known: Any
        if isinstance(data, Sample):
            known = data.moments or data.distribution
        else:
            known = None if type(data) is np.ndarray else as_distribution(data, argument)
        if known is None:
            rows = as_rows(data.rows if isinstance(data, Sample) else data, argument, dim=dim, min_rows=min_rows)
            return data if isinstance(data, Sample) else cls(rows=rows)
        if dim is not None and known.dim != dim:
            raise InvalidInput(argument, f"has dimension {known.dim} where {dim} was expected", "Use one space")
        return data if isinstance(data, Sample) else cls(distribution=known)

    def with_repeats(self, counts: np.ndarray) -> Sample:
        """The sample with each row as often as `counts` says; the condition with it, and test rows spread alike."""
        rows, test = np.repeat(np.arange(len(counts)), counts), self.test
        if test is not None:
            size = test.shape[0]
            test = test[np.repeat(np.arange(size), counts[np.arange(size) * len(counts) // size])]
        condition = None if self.condition is None else self.condition[rows]
        return Sample(cast(Array, self.rows)[rows], None, test, condition, self.is_drawn)

    @property
    def dim(self) -> int:
        if self.stream is not None:
            return self.stream.dim
        if self.moments is not None:
            return self.moments.dim
        return int(self.exact_distribution.dim if self.rows is None else self.rows.shape[1])

    @property
    def size(self) -> int | None:
        """The number of rows; None of a distribution, of a stream that was not read, and where nobody knows."""
        if self.stream is not None:
            return self.stream.size
        if self.moments is not None:
            return self.moments.n
        return None if self.rows is None else int(self.rows.shape[0])

    def together(self) -> Array | None:
        """The rows, those of a stream put together within the memory limit; None of a distribution."""
        return self.rows if self.stream is None else self.stream.collect()

    @property
    def exact_distribution(self) -> Distribution:
        """The distribution of a sample without rows."""
        return cast(Distribution, self.distribution)


def parties_with_few_rows(needed: int, **sides: Sequence[Sample]) -> str:
    """Return whose rows are too few, with the verb ("the client has", "2 of 3 clients have"), or nothing."""
    numbers = {name: sum(s.size is not None and s.size < needed for s in side) for name, side in sides.items()}
    who = [
        f"the {name}" if len(sides[name]) == 1 else f"{few} of {len(sides[name])} {name}s"
        for name, few in numbers.items()
        if few
    ]
    return f"{' and '.join(who)} {'has' if sum(numbers.values()) == 1 else 'have'}" if who else ""
