"""The rows themselves, weighed: what clients reveal for metrics that need to see every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..arrays import (
    Array,
    concat,
    device,
    namespace,
)


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows themselves, with one weight each; the summary of metrics that need to see every row.

    Attributes
    ----------
    rows : (n, d)
    weights : (n,) float64, sum 1; λ_i/n_i for a row of client i after pooling
    test, condition : further rows, where every part has them
    is_drawn : whether the rows were drawn from distributions in proportion to their weights, up to one row a
        distribution
    """

    rows: Array
    weights: Array
    test: Array | None = None
    condition: Array | None = None
    is_drawn: bool = False

    @classmethod
    def of(cls, sample: Any) -> Rows:
        """The rows of one client or generator, equally weighted."""
        xp = namespace(sample.rows)
        n = sample.rows.shape[0]
        weights = xp.full((n,), 1.0 / n, dtype=xp.float64, device=device(sample.rows))
        return cls(sample.rows, weights, sample.test, sample.condition, sample.is_drawn)

    @classmethod
    def pool(cls, parts: Sequence[Rows], weights: Sequence[float]) -> Rows:
        """All rows, those of part i weighing λ_i times as before; rows of weight 0 are left out."""
        weighted = [(part, w) for part, w in zip(parts, weights, strict=True) if w > 0]
        sizes = [part.rows.shape[0] for part, _ in weighted]
        is_drawn = all(p.is_drawn and abs(w * sum(sizes) - n) <= 1.0 for (p, w), n in zip(weighted, sizes, strict=True))
        joined: dict[str, Any] = {
            field: None
            if any(getattr(p, field) is None for p, _ in weighted)
            else concat([getattr(p, field) for p, _ in weighted])
            for field in ("test", "condition")
        }
        rows, shares = concat([p.rows for p, _ in weighted]), concat([w * p.weights for p, w in weighted])
        return cls(rows, shares, **joined, is_drawn=is_drawn)

    @property
    def is_uniform(self) -> bool:
        """Whether plain concatenation pools the rows: they weigh alike, but for the rounding of numbers drawn."""
        xp = namespace(self.weights)
        return self.is_drawn or float(xp.max(self.weights)) <= (1.0 + 1e-9) * float(xp.min(self.weights))

    @property
    def nbytes(self) -> int:
        """Bytes to send all rows."""
        arrays = (self.rows, self.test, self.condition)
        return sum(x.shape[0] * x.shape[1] * (8 if "64" in str(x.dtype) else 4) for x in arrays if x is not None)
