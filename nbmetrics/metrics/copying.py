"""AuthPct and C_T: does a generator repeat its training rows?

Both look at the distance from a generated row to the nearest train row: AuthPct holds it against the distances
among the train rows, C_T against the distances of unseen test rows.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, mean_rows, to_float64, to_numpy
from ..errors import InvalidInput, check_count
from ..lazy_imports import unmoved_random_state
from ..summaries.rows import Rows
from ..tables import check_frames
from .base import RowsMetric, Sample, sample_if_needed
from .nearest_neighbors import Distinct, Neighbors, in_one_place, kth_between, kth_within
from .prdc import compute_once, distinct_of
from .weak_cache import remember

# C_T as published: so many dimensions and cells, and so many generated rows in a cell that counts.
PCA_DIMENSIONS = 64
CELL_COUNT = 3
MIN_ROWS_OF_CELL = 20


class _Copying(RowsMetric):
    """What both have in common."""

    def terms(self, real: Rows, generated: Rows) -> dict[str, float]:
        """The score, under its name."""
        self.check_weights(real)
        return {self.name: self._score(real, generated)}

    def _score(self, real: Rows, generated: Rows) -> float:
        raise NotImplementedError


class AuthPct(_Copying):
    """Percentage of generated rows that are authentic (Alaa et al. 2022), 0 to 100; higher is better.

    A generated row is authentic if it is farther from its nearest train row than that row is from its own
    nearest train neighbour (features as given). Fresh rows score about 50 in low dimension and more in high
    dimension; exact copies of train rows score 0. A train row that appears twice makes its copies authentic
    unless they are exact. Of several nearest train rows the one with most room around it counts, in whatever order
    they come.
    """

    name = "auth_pct"
    higher_is_better = True
    highest = 100.0
    copies_matter = True
    label = "AuthPct"
    lowest = 0.0

    def _score(self, real: Rows, generated: Rows) -> float:
        train, rows = in_one_place(distinct_of(real), distinct_of(generated))
        key = train.digest, rows.digest, "authentic"
        return float(compute_once(key, lambda: authentic(nearest_train_rows(rows, train), train)))

    @property
    def convention(self) -> str:
        return "AuthPct: percent authentic, nearest train rows, features as given"


def authentic(nearest: Neighbors, train: Distinct) -> float:
    """AuthPct of generated rows, from their nearest train rows."""
    return 100.0 * float(np.mean(nearest.squared > _spacing(train)[nearest.index]))


def _spacing(train: Distinct) -> np.ndarray:
    """The squared distance of each train row to its own nearest."""
    return compute_once((train.digest, "spacing"), lambda: kth_within(train, 1).squared)


def nearest_train_rows(generated: Distinct, train: Distinct) -> Neighbors:
    """The nearest train row of every generated row, both in one place; of equals that with most room."""
    widest = np.argsort(-_spacing(train)[train.first], kind="stable")
    return kth_between(generated, train.reorder(widest))


class CT(_Copying):
    """Data-copying test C_T (Meehan et al. 2020): are generated rows nearer to train than test rows are?

    Parameters
    ----------
    seed : of the k-means starts (and of PCA's solver)

    Above 64 features, a PCA to 64 fitted on train (none where all train rows are equal). Three k-means cells
    are fitted on train (10 starts); within each cell the distances of generated rows to their nearest train row
    are ranked against those of test rows: a z-scored Mann–Whitney U. Cells with 20 generated rows or fewer are
    left out, and so are cells without a test row; the others are averaged by their share of the test rows.

    A z-score, in standard deviations: far below 0 means copying, about 0 is right, far above 0 means that
    generated rows lie away from the data. Generators are ranked by |C_T|: lower is better.
    """

    name = "c_t"
    best = 0.0
    copies_matter = True
    needs_test = True
    label = "C_T"

    def __init__(self, seed: int = 0) -> None:
        self.seed = check_count(seed, "seed", minimum=0)

    def _score(self, real: Rows, generated: Rows) -> float:
        if real.test is None:
            seen = "the real side has no test rows, and C_T compares with rows not seen by the generator"
            raise InvalidInput("test", seen, "Use federation.split(test=0.2, seed=0), or Client(rows, test=…)")
        return _cells(real, self.seed).score(_plain(generated.rows))

    @property
    def convention(self) -> str:
        return (
            f"C_T: {CELL_COUNT} k-means cells on train (10 starts, seed {self.seed}), "
            f"PCA to {PCA_DIMENSIONS} above that; negative means copying, ranked by distance from 0"
        )


def _centering(train: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """About the mean of train, in units of its largest deviation."""
    mean = mean_rows(train)
    largest = float(np.max(np.abs(train - mean)))
    unit = math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest else 1.0  # a power of two rounds nothing
    return lambda rows: (rows - mean) / unit


def _projection(train: np.ndarray, seed: int) -> Callable[[np.ndarray], np.ndarray]:
    """To the first 64 principal directions of train where it has more features, and varies."""
    if train.shape[1] <= PCA_DIMENSIONS or not np.ptp(train, axis=0).any():
        return lambda rows: rows
    with unmoved_random_state():
        from sklearn.decomposition import PCA

    model: Any = PCA(min(PCA_DIMENSIONS, len(train)), random_state=seed).fit(train)
    return lambda rows: np.asarray(model.transform(rows))


def _plain(rows: Array) -> np.ndarray:
    return to_numpy(to_float64(rows))


@dataclass(frozen=True, eq=False)
class _Cells:
    """k-means cells of train rows, and in each how far its test rows are from its train rows.

    Rows are seen about the mean of train and in units of its largest deviation: k-means predicts from inner products,
    which lose all digits at a large common offset, and squares of small features are 0.
    """

    reduce: Callable[[np.ndarray], np.ndarray]
    model: Any
    train: tuple[Distinct, ...]
    test: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, train: np.ndarray, test: np.ndarray, seed: int) -> _Cells:
        # scikit-learn takes 32 bits
        seed = seed if seed < 2**32 else int(np.random.SeedSequence(seed).generate_state(1)[0])
        center = _centering(train)
        project = _projection(center(train), seed)

        def reduce(rows: np.ndarray) -> np.ndarray:
            return project(center(rows))

        train, test = reduce(train), reduce(test)
        # k-means draws its starts by row number: by distance from the mean, they depend on the set of rows alone
        train = train[np.argsort(np.sum(train * train, axis=1), kind="stable")]
        model = _cluster_rows(train, seed)
        near = tuple(Distinct.of(train[model.labels_ == cell]) for cell in range(model.n_clusters))
        return cls(reduce, model, near, tuple(map(_apart, _cut(model, test), near)))

    def score(self, generated: np.ndarray) -> float:
        """C_T of generated rows."""
        parts = _cut(self.model, self.reduce(generated))
        joined = zip(parts, self.train, self.test, strict=True)
        cells = [(part, near, far) for part, near, far in joined if len(part) > MIN_ROWS_OF_CELL and len(far)]
        if not cells:
            counts, fewest = [len(part) for part in parts], MIN_ROWS_OF_CELL
            seen = f"no cell has more than {fewest} of the {len(generated)} generated rows and also test rows: {counts}"
            raise InvalidInput("generated", seen, "Draw more generated rows, or use auth_pct")
        scores = [_z_score(_apart(part, near), test) for part, near, test in cells]
        return float(np.average(scores, weights=[len(test) for _, _, test in cells]))


def _cells(real: Rows, seed: int) -> _Cells:
    """The cells of one client or pool, found once."""
    return remember(real, ("c_t", seed), lambda: _Cells.of(_plain(real.rows), _plain(real.test), seed))


def _cluster_rows(train: np.ndarray, seed: int) -> Any:
    """k-means with as many cells as hold rows: beside a row far off, distinct ones may be one to rounding."""
    with unmoved_random_state():
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning

    cells = min(CELL_COUNT, Distinct.of(train).size)
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = KMeans(cells, n_init=10, random_state=seed).fit(train)
        if len(np.unique(model.labels_)) == cells:
            return model
        cells -= 1


def _cut(model: Any, rows: np.ndarray) -> list[np.ndarray]:
    labels = model.predict(rows)
    return [rows[labels == cell] for cell in range(model.n_clusters)]


def _apart(rows: np.ndarray, train: Distinct) -> np.ndarray:
    """Squared distance of each row to its nearest train row."""
    return kth_between(Distinct.of(rows), train).squared if len(rows) else np.zeros(0)


def _z_score(generated: np.ndarray, test: np.ndarray) -> float:
    """Mann–Whitney U of the generated rows' nearest-train distances, as a z-score under equal distributions."""
    from scipy.stats import rankdata

    m, n = len(generated), len(test)
    u = rankdata(np.concatenate([generated, test]))[:m].sum() - m * (m + 1) / 2
    # the continuity correction is the authors'
    return float((u - (m * n / 2 - 0.5)) / np.sqrt(m * n * (m + n + 1) / 12))


def auth_pct(train: Any, generated: Any) -> float:
    """Percentage of generated rows that are authentic (Alaa et al. 2022).

    Parameters
    ----------
    train, generated : (n, d) and (m, d) rows of features (NumPy or torch, n ≥ 2), or distributions, of which
        10,000 rows are drawn

    Returns
    -------
    float in [0, 100]; higher is better. Some report it minus 50.

    Raises
    ------
    InvalidInput
        For NaN or infinity, a wrong rank or dtype, mismatched d, or fewer than 2 train rows.

    Examples
    --------
    >>> train, fresh = np.random.default_rng(0).normal(size=(2, 200, 4))
    >>> nm.auth_pct(train, train), nm.auth_pct(train, fresh) > 40
    (0.0, True)
    """
    check_frames(train=train, generated=generated)
    metric = AuthPct()
    first = Sample.of(train, "train", min_rows=metric.min_rows)
    second = Sample.of(generated, "generated", dim=first.dim)
    return metric.distance(
        *(Rows.of(sample_if_needed(metric, s, 10_000, [0, i])) for i, s in enumerate((first, second)))
    )


def c_t(train: Any, test: Any, generated: Any, seed: int = 0) -> float:
    """Data-copying test C_T (Meehan et al. 2020).

    Parameters
    ----------
    train, test, generated : (n, d), (n′, d) and (m, d) rows of features (NumPy or torch, n ≥ 2, more than 20
        generated), or distributions, of which 10,000 rows are drawn
    seed : of the k-means starts

    Returns
    -------
    float, a z-score: far below 0 means copying, about 0 is right, far above 0 that the rows lie elsewhere

    Raises
    ------
    InvalidInput
        For NaN or infinity, a wrong rank or dtype, mismatched d, too few rows, or no cell to score.

    Examples
    --------
    >>> train, test, fresh = np.random.default_rng(0).normal(size=(3, 200, 4))
    >>> nm.c_t(train, test, train) < -5 < nm.c_t(train, test, fresh)  # copies, and fresh rows
    True
    """
    check_frames(train=train, test=test, generated=generated)
    metric = CT(seed)
    first = Sample.of(train, "train", min_rows=metric.min_rows)
    others = [Sample.of(x, name, dim=first.dim) for x, name in ((test, "test"), (generated, "generated"))]
    rows: list[Array] = [sample_if_needed(metric, s, 10_000, [0, i]).rows for i, s in enumerate((first, *others))]
    return metric.distance(Rows.of(Sample(rows=rows[0], test=rows[1])), Rows.of(Sample(rows=rows[2])))
