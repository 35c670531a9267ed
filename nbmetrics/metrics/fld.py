"""FLD, the feature likelihood divergence, with what explains it; and the log-likelihood of generators with a density.

    FLD = 100 · (NLL of the test rows per dimension − the same under a density made from train rows)

It is counted in points, hundredths of a nat per dimension. The density is an equal mixture of isotropic Gaussians
centred on the generated rows, fitted to the train rows (`mixture`). A generated row that copies a train row gets a
tiny variance, and test rows pay for it.

m generated rows are held against as many train rows, fitted to all the others, as the authors' code does. There are
enough of those for m ≤ n_train/2 only: there a perfect generator scores about 0. More generated rows than that make a
better density than half of train can, and a perfect generator scores below 0: with m = n_train, rows of N(0, I) score
half a point to two points below, fresh digits 8.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Array, align, as_rows, device, namespace, row_blocks, to_numpy
from ..errors import InvalidInput, check_count, shown
from ..summaries.rows import Rows
from ..tables import check_frames
from .base import Metric, Sample
from .capabilities import Cautious
from .mixture import MixtureDensity, Scale, fit
from .weak_cache import remember

# Points to a nat per dimension.
POINTS = 100.0

# Nats per dimension below which rows are hopeless, whatever they are: bumps on exact copies have no width.
HOPELESS = -1e6

# Train rows below which the baseline, made from them, varies by points.
FEW_ROWS = 500


class FLD(Metric[Rows], Cautious):
    """Feature Likelihood Divergence (Jiralerspong et al. 2023).

    Parameters
    ----------
    seed : of the cut of the train rows that makes the baseline, the only source of chance

    In points: 1 is a hundredth of a nat per dimension (0.01 nats/dim) of features z-scored by the test rows. Lower is
    better. A perfect generator scores about 0 as long as it gives at most half as many rows as there are train rows,
    and below 0 with more. Every client needs a test set.
    FLD-all is the FLD of the concatenated rows, so it needs weights proportional to the numbers of rows.
    Blind spot: in moderate or high dimension a mildly shrunken generator can score better than a perfect one.
    """

    name = "fld"
    needs_test = True
    copies_matter = True
    label = "FLD"

    def __init__(self, seed: int = 0) -> None:
        self.seed = check_count(seed, "seed", minimum=0)

    def summarize(self, sample: Sample) -> Rows:
        """The rows (n, d) with the client's test rows; a generator's rows alone."""
        if sample.rows is None:
            raise InvalidInput(
                "sample", f"is {shown(sample.distribution)}", "Draw rows from it; FLD has no closed form"
            )
        return Rows.of(sample)

    def pool(self, summaries: Sequence[Rows], weights: Sequence[float]) -> Rows:
        """All train rows and all test rows."""
        return Rows.pool(summaries, weights)

    def terms(self, real: Rows, generated: Rows) -> dict[str, float]:
        """`fld`; the baseline of `real` is fitted once for each size it is needed at."""
        return {"fld": _real_side(real).fld(generated.rows, self.seed)}

    def cautions(self, clients: Sequence[Sample], generators: Sequence[Sample]) -> list[str]:
        """Which clients have too few train rows for a steady baseline."""
        few = [c for c in clients if c.rows is not None and c.rows.shape[0] < FEW_ROWS]
        if not few:
            return []
        who = "the client" if len(clients) == 1 else f"{len(few)} of {len(clients)} clients"
        verb = "has" if len(few) == 1 else "have"
        return [f"FLD: {who} {verb} fewer than {FEW_ROWS} train rows, so its baseline, computed from them, is noisy."]

    @property
    def convention(self) -> str:
        return (
            f"FLD: isotropic mixture fitted by EM, z-scored by the test rows (ddof 1), baseline seed {self.seed}; "
            "about 0 for a perfect generator of at most half as many rows as train, below 0 with more"
        )


def _real_side(real: Rows) -> _RealSide:
    """What FLD knows of one client or pool, as long as its summary lives."""
    if real.test is None:
        fix = "Use federation.split(test=0.2, seed=0), or Client(…, test=rows)"
        raise InvalidInput("test", "is missing, but FLD scores held-out rows", fix)
    if not real.is_uniform:
        fix = "Give FLD-all weights proportional to the clients' numbers of rows (the default), or drop 'fld'"
        raise InvalidInput("weights", "differ from the clients' shares of the rows", fix)
    return remember(real, "fld", lambda: _RealSide(real.rows, real.test))


class _RealSide:
    """Train and test rows, their z-scores, and the baselines fitted so far."""

    def __init__(self, train: Array, test: Array) -> None:
        self.train, self.test = align(train, test)
        if test.shape[0] < 2:
            raise InvalidInput("test", "has 1 row, and a standard deviation needs 2", "Hold out more rows")
        self.scale = Scale.of(self.test)
        self._baselines: dict[tuple[int, int], float] = {}
        self._lock = threading.Lock()

    def fit_on(self, generated: Array) -> MixtureDensity:
        """The density centred on the generated rows."""
        return fit(self.train, self.beside(generated), self.scale)

    def beside(self, x: Array) -> Array:
        """`x` in the library and on the device of the train rows."""
        if type(x) is type(self.train) and device(x) == device(self.train):
            return x
        plain = to_numpy(x)
        return plain if isinstance(self.train, np.ndarray) else align(self.train, plain)[1]

    def fld(self, generated: Array, seed: int) -> float:
        likelihood = _mean(self.fit_on(generated).at(self.test))
        return POINTS * (self.baseline(generated.shape[0], seed) - likelihood)

    def baseline(self, m: int, seed: int) -> float:
        """Mean log-likelihood of test under the mixture centred on m train rows, at most half, fitted to the rest."""
        n = self.train.shape[0]
        if n < 2:
            raise InvalidInput("train", "has 1 row, and a baseline needs 2", "Give more train rows")
        count = min(m, n // 2)
        with self._lock:
            if (count, seed) not in self._baselines:
                order = self._order[np.random.default_rng(seed).permutation(n)]
                density = fit(self.train[order[count:]], self.train[order[:count]], self.scale)
                self._baselines[count, seed] = _mean(density.at(self.test))
            return self._baselines[count, seed]

    @cached_property
    def held_out(self) -> MixtureDensity:
        """The density centred on the test rows: what makes a generated row likely."""
        return fit(self.train, self.test, self.scale)

    @cached_property
    def _order(self) -> np.ndarray:
        # By distance from the centre, z-scored, so that the cut depends on the set of rows alone: neither on how a
        # client happens to sort them, nor on the order and units of the features.
        xp = namespace(self.train)
        norms = [
            xp.sum(self.scale(self.train[block, :]) ** 2, axis=1)
            for block in row_blocks(self.train.shape[0], 16 * self.train.shape[1])
        ]
        return np.argsort(to_numpy(xp.concat(norms)), kind="stable")


def _mean(x: Array) -> float:
    return float(namespace(x).mean(x))


def _gap(test: float, train: float) -> float:
    """FLD-train − FLD-test of two mean log-likelihoods; NaN where both are hopeless, and their difference is chance."""
    return math.nan if max(test, train) < HOPELESS else POINTS * (test - train)


def _check_samples(train: Any, test: Any, generated: Any) -> tuple[_RealSide, Array]:
    check_frames(train=train, test=test, generated=generated)
    rows = as_rows(train, "train")
    dim = rows.shape[1]
    held_out = as_rows(test, "test", dim=dim, min_rows=2)
    real = _RealSide(*align(rows, held_out, others := as_rows(generated, "generated", dim=dim))[:2])
    return real, real.beside(others)


def fld(train: Any, test: Any, generated: Any, seed: int = 0) -> float:
    """FLD of generated rows: novelty, fidelity and diversity in one number (Jiralerspong et al. 2023).

    Parameters
    ----------
    train : (n, d) rows the generator learnt from, n ≥ 2
    test : (k, d) rows it never saw, k ≥ 2
    generated : (m, d) rows
    seed : of the baseline's cut of `train`, the only source of chance (standard deviation 0.3 to 2 points; up to 4 at
        d = 2 with fewer than 75 rows)

    Returns
    -------
    float, in points: 1 is a hundredth of a nat per dimension (0.01 nats/dim); lower is better. A perfect generator
    scores about 0 for m ≤ n/2, and below 0 for larger m: the baseline has at most n/2 centres

    Raises
    ------
    InvalidInput
        For NaN or infinity, a wrong rank or dtype, mismatched d, too few rows, or test rows all alike.

    Warns
    -----
    ConstantFeatureWarning
        For features that are the same in every test row: they are left out.

    Examples
    --------
    >>> train, test, fresh = np.random.default_rng(0).normal(size=(3, 200, 4))
    >>> abs(nm.fld(train, test, fresh)) < 10  # honest
    True
    >>> nm.fld(train, test, train + 1e-3) > 1000  # copies
    True
    """
    seed = check_count(seed, "seed", minimum=0)
    real, generated = _check_samples(train, test, generated)
    return real.fld(generated, seed)


def fld_gap(train: Any, test: Any, generated: Any, seed: int = 0) -> float:
    """FLD of the train rows minus FLD of the test rows; the baseline cancels, so no seed moves it.

    Parameters
    ----------
    train, test, generated : as in `fld`

    Returns
    -------
    float, in points: 1 is a hundredth of a nat per dimension (0.01 nats/dim). A generator that copies `train` is far
    below what fresh data of the same size score (which in low dimension is itself negative). NaN where every generated
    row is an exact copy and some train row has none: neither train nor test is likely then, and FLD says so.

    Raises
    ------
    InvalidInput
        As `fld`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> train, test, fresh = rng.normal(size=(3, 200, 16))
    >>> nm.fld_gap(train, test, train + 0.01) < nm.fld_gap(train, test, fresh)
    True
    """
    check_count(seed, "seed", minimum=0)
    real, generated = _check_samples(train, test, generated)
    density = real.fit_on(generated)
    return _gap(_mean(density.at(real.test)), _mean(density.at_fitted_rows()))


def memorization_scores(train: Any, test: Any, generated: Any) -> Array:
    """How closely each generated row sits on a train row: O_j = max_i log N(train_i | generated_j, σ_j²)/d.

    Parameters
    ----------
    train, test, generated : as in `fld`

    Returns
    -------
    (m,) float64 in the library given, nats per dimension of z-scored features; the highest are copies, 19.08 for an
    exact one whose bump collapsed. Among dense points of few features the fit leaves up to half of the copies wide

    Raises
    ------
    InvalidInput
        As `fld`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> train, test, fresh = rng.normal(size=(3, 200, 16))
    >>> generated = np.concatenate([fresh[:99], train[:1]])  # the last one is a copy
    >>> int(np.argmax(nm.memorization_scores(train, test, generated)))
    99
    """
    real, generated = _check_samples(train, test, generated)
    return real.fit_on(generated).peaks()


def quality_scores(train: Any, test: Any, generated: Any) -> Array:
    """How likely each generated row is: Q_j = its log-density/d under the mixture centred on test, fitted to train.

    Parameters
    ----------
    train, test, generated : as in `fld`

    Returns
    -------
    (m,) float64 in the library given, nats per dimension of z-scored features; higher is better

    Raises
    ------
    InvalidInput
        As `fld`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> train, test, fresh = rng.normal(size=(3, 200, 16))
    >>> generated = np.concatenate([fresh[:99], [[9.0] * 16]])  # the last one is far off
    >>> int(np.argmin(nm.quality_scores(train, test, generated)))
    99
    """
    real, generated = _check_samples(train, test, generated)
    return real.held_out.at(generated)


@dataclass(frozen=True, eq=False)
class Fitted:
    """One fit of FLD's density, and all that it says.

    Attributes
    ----------
    fld, gap : as `fld` and `fld_gap`, in points (0.01 nats/dim)
    fld_train : the same of the train rows
    sigma : (m, d) standard deviation of each generated row's bump, in the units of the features; NaN for constant ones
    variance : (m,) the same of z-scored features, squared: one number for all of them
    memorization : (m,) as `memorization_scores`
    """

    fld: float
    fld_train: float
    gap: float
    sigma: Array
    variance: Array
    memorization: Array


def fitted_density(real: Rows, generated: Any, seed: int = 0) -> Fitted:
    """FLD, its gap and what is behind them, of generated rows (m, d); `real` keeps its baselines between calls."""
    side = _real_side(real)
    generated = side.beside(as_rows(generated, "generated", dim=real.rows.shape[1]))
    density, xp = side.fit_on(generated), namespace(side.train)
    test, train = _mean(density.at(side.test)), _mean(density.at_fitted_rows())
    sigma = xp.full(generated.shape, xp.nan, dtype=xp.float64, device=device(side.train))
    varying = slice(None) if side.scale.kept is None else side.scale.kept
    variance = xp.exp(density.log_variance)
    sigma[:, varying] = xp.sqrt(variance)[:, None] * side.scale.spread
    baseline = side.baseline(generated.shape[0], seed)
    scores = POINTS * (baseline - test), POINTS * (baseline - train), _gap(test, train)
    return Fitted(*scores, sigma, variance, density.peaks())


def fitted_quality(real: Rows, generated: Any) -> Array:
    """`quality_scores` of generated rows (m, d); `real` keeps the density between calls."""
    side = _real_side(real)
    return side.held_out.at(side.beside(as_rows(generated, "generated", dim=real.rows.shape[1])))
