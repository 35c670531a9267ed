"""A summary beside the rows it came from, client by client, and what is computed from that: influence values."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from ..arrays import Array

S = TypeVar("S")
T = TypeVar("T")
# A long computation that may be left between two pieces, and returns its result.
Pieces = Generator[None, None, T]


@dataclass(frozen=True, eq=False)
class Strata(Generic[S]):
    """A summary and the rows behind it; a part without rows is an exact distribution.

    Attributes
    ----------
    summary : of all parts together
    parts : the summary of each part
    rows : (n_i, d) rows of each part, None for a distribution
    shares : λ_i of each part, sum 1
    """

    summary: S
    parts: tuple[S, ...]
    rows: tuple[Array | None, ...]
    shares: tuple[float, ...]

    @classmethod
    def of(cls, summary: S, rows: Array | None) -> Strata[S]:
        """One client or generator."""
        return cls(summary, (summary,), (rows,), (1.0,))

    @classmethod
    def pool(
        cls, parts: Sequence[Strata[S]], weights: Sequence[float], pool: Callable[[list[S], list[float]], S]
    ) -> Strata[S]:
        """The mixture Σ λ_i P_i; parts of weight 0 are left out."""
        weighted = [(p, w) for p, w in zip(parts, weights, strict=True) if w > 0]
        summaries = tuple(summary for p, _ in weighted for summary in p.parts)
        shares = tuple(w * share for p, w in weighted for share in p.shares)
        return cls(
            pool(list(summaries), list(shares)), summaries, tuple(rows for p, _ in weighted for rows in p.rows), shares
        )

    @property
    def is_exact(self) -> bool:
        """Whether every part is a distribution."""
        return all(rows is None for rows in self.rows)

    @property
    def is_mixed(self) -> bool:
        """Whether some parts are distributions and others rows."""
        return not self.is_exact and any(rows is None for rows in self.rows)

    @property
    def sizes(self) -> list[float]:
        """Rows of each part, infinity for a distribution."""
        return [math.inf if rows is None else float(rows.shape[0]) for rows in self.rows]

    @cached_property
    def lost(self) -> float:
        """Σ λ_i²/n_i: one over the number of equal rows that would be as noisy; 0 for distributions."""
        return math.fsum(s * s / n for s, n in zip(self.shares, self.sizes, strict=True))

    @property
    def effective(self) -> float:
        """How many equal rows would be as noisy."""
        return 1.0 / self.lost if self.lost else math.inf

    @property
    def nbytes(self) -> int:
        """Bytes to send it: its rows, or the summary of a distribution."""
        arrays = [x for x in self.rows if x is not None]
        rows = sum(x.shape[0] * x.shape[1] * (8 if "64" in str(x.dtype) else 4) for x in arrays)
        return rows + (int(getattr(self.summary, "nbytes", 0)) if len(arrays) < len(self.rows) else 0)


class InfluenceValues(NamedTuple):
    """A score and how each row pulls on it (its influence values).

    `real` and `generated` hold one array of a value a row for each part, None for distributions. The parts' own shares
    are not in them: the variance of the score is Σ λ_i² Var(pulls_i)/n_i over both sides. `caution` says why they are
    NaN, or not to be trusted.
    """

    value: float
    real: tuple[np.ndarray | None, ...]
    generated: tuple[np.ndarray | None, ...]
    caution: str = ""


def whole(pieces: Pieces[T]) -> T:
    """Return the result of a computation in pieces, all of them at once."""
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            result: T = end.value
            return result


def merge_shared(parts: Sequence[T], weights: Sequence[float]) -> tuple[list[T], list[float]]:
    """Return what several clients share only once, with the sum of their weights."""
    singles, shares = list({id(part): part for part in parts}.values()), dict[int, list[float]]()
    for part, weight in zip(parts, weights, strict=True):
        shares.setdefault(id(part), []).append(weight)
    return singles, [math.fsum(shares[id(part)]) for part in singles]
