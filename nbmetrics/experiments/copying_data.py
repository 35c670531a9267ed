"""Data of the experiments on copying: three sets of one distribution, and scores of generated rows against two of them.

`data` is "digits", "moons" or (train, test, fresh) rows: `fresh` stands for an honest generator.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import as_rows, to_numpy
from ..datasets import digits
from ..densities import TwoMoons
from ..errors import InvalidInput, check_choice, check_count, shown
from ..metrics.base import Sample
from ..metrics.copying import CT, AuthPct, auth_pct, c_t
from ..metrics.fid.metric import FID, fid
from ..metrics.fld import FLD, fitted_density
from ..summaries.rows import Rows
from ..tables import check_frames

MOONS = 1000


class Sets(NamedTuple):
    """Rows of one distribution: what a generator learnt from, what it never saw, and what an honest one would make.

    Of the last at most half as many as of the first, or FLD would call an honest generator better than perfect.
    """

    train: np.ndarray
    test: np.ndarray
    fresh: np.ndarray

    @classmethod
    def of(cls, data: Any, seed: int) -> Sets:
        """From a name or from three sets of rows."""
        rng = np.random.default_rng(check_count(seed, "seed", minimum=0))
        if isinstance(data, str):
            check_choice(data, ("digits", "moons"), "data")
            if data == "digits":
                rows = rng.permutation(digits()[0])
                return cls(*np.split(rows, [len(rows) // 2, len(rows) - len(rows) // 4]))
            return cls(*(TwoMoons().sample(n, rng) for n in (MOONS, MOONS, MOONS // 2)))
        if not isinstance(data, (tuple, list)) or len(data) != 3:
            raise InvalidInput("data", f"got {shown(data)}", 'Give "digits", "moons" or (train, test, fresh) rows')
        check_frames(**dict(zip(("train", "test", "fresh"), data, strict=True)))
        train = to_numpy(as_rows(data[0], "train", min_rows=2))
        others = [to_numpy(as_rows(x, n, dim=train.shape[1], min_rows=2)) for x, n in zip(data[1:], ("test", "fresh"))]
        return cls(train, *others)

    def with_copies(self, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Train rows for this share of `fresh`, and the rest of `fresh`; those of a smaller share are among them."""
        count = round(share * len(self.fresh))
        order = np.random.default_rng([seed, 1]).permutation(len(self.train))
        return self.train[np.resize(order, count)], self.fresh[count:]


class Reference:
    """Train and test rows that generated ones are held against; features that are constant in test are left out."""

    def __init__(self, train: np.ndarray, test: np.ndarray, seed: int) -> None:
        self.kept = np.ptp(test, axis=0) > 0
        if not self.kept.any():
            raise InvalidInput("test", "has the same value in every row", "Give test rows that differ")
        self.train, self.test, self.seed = train[:, self.kept], test[:, self.kept], seed
        self.real = Rows.of(Sample(rows=self.train, test=self.test))

    def scores(self, generated: np.ndarray) -> dict[str, float]:
        """fid_train, fid_test, fld, fld_gap, c_t and auth_pct."""
        rows = generated[:, self.kept]
        fitted = fitted_density(self.real, rows, self.seed)
        return {
            "fid_train": fid(self.train, rows),
            "fid_test": fid(self.test, rows),
            "fld": fitted.fld,
            "fld_gap": fitted.gap,
            "c_t": c_t(self.train, self.test, rows, self.seed),
            "auth_pct": auth_pct(self.train, rows),
        }

    @property
    def conventions(self) -> list[str]:
        (n, d), k, dropped = self.train.shape, len(self.test), int((~self.kept).sum())
        sizes = f"{n:,} train and {k:,} test rows of {d} features"
        left_out = f"; {dropped} constant in test left out" * bool(dropped)
        metrics = (FID(), FLD(self.seed), CT(self.seed), AuthPct())
        return [*(metric.convention for metric in metrics), f"{sizes}{left_out}; seed {self.seed}"]
