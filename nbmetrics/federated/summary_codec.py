"""The codec of summaries: what a client reveals for each metric, as arrays, and a summary made of them again.

    moments    mean and covariance                                FID
    thirds     mean, second and third moments about it            KID with the cubic kernel, up to 128 features
    features   the mean of random features                        KID(nm.RandomFeatures(…))
    second     second moments of random features                 Modes
    classes    mean class probabilities and their clarity         AM Score
    nothing    the metric looks at the generator alone            Inception Score, Vendi, RKE
    rows       every row, with test rows and condition            neighbours, FLD, W1, KID of another kernel, …

Moments are sent as functions of mean and covariance alone: the factor that `Moments` of few rows keeps would give the
rows themselves back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..arrays import LARGEST, to_numpy
from ..distributions import Gaussian
from ..errors import InvalidInput, check_choice, check_count
from ..metrics import AMScore, Sample
from ..metrics.base import Adapted
from ..metrics.conditional import Conditional
from ..metrics.fid.metric import FID
from ..metrics.generator_only import GeneratorOnly
from ..metrics.inception_score import MAX_SUM_ERROR, Classes
from ..metrics.kid.cmmd import CMMD
from ..metrics.kid.embedding import Embedding, ThirdMoments
from ..metrics.kid.estimators import AllPairs
from ..metrics.kid.metric import KID
from ..metrics.kid.polynomial import MAX_EMBEDDING_DIM, Polynomial
from ..metrics.kid.random_features import RandomFeatures
from ..metrics.modes import Modes, SecondMoment
from ..summaries.kernel_mean import KernelMean, KernelPart
from ..summaries.moments import Moments
from .serialization import FIX_DAMAGED, Section

# Of the trace of second moments, in float32 too.
MAX_TRACE_ERROR = 1e-4
EPS = float(np.finfo(np.float64).eps)
# What each kind tells, in the words of a ledger.
REVEALS = {
    "noisy moments": "mean and covariance, with noise",
    "noisy features": "mean of random features, with noise",
    "moments": "mean and covariance",
    "thirds": "moments up to order 3",
    "features": "mean of random features",
    "second": "second moments of random features",
    "classes": "mean class probabilities",
    "nothing": "nothing",
    "rows": "every row",
    "own": "its summary",
}
Arrays = Mapping[str, np.ndarray]


def kind_of(metric: Any, dim: int) -> str:
    """Return the least that the metric can be computed from, for rows of `dim` features; "own": a user's metric."""
    if isinstance(metric, GeneratorOnly):
        return "nothing"
    if isinstance(metric, FID) and type(metric).__module__.startswith("nbmetrics."):
        return "moments"
    if type(metric) is AMScore:
        return "classes"
    if type(metric) is Modes:
        return "second"
    if type(metric) in (KID, CMMD) and isinstance(metric.estimator, AllPairs):
        kernel = metric.kernel
        if isinstance(kernel, RandomFeatures):
            return "features"
        if isinstance(kernel, Polynomial) and kernel.is_cubic and dim <= MAX_EMBEDDING_DIM:
            return "thirds"
    is_known = type(metric).__module__.startswith("nbmetrics.") and not isinstance(metric, Adapted | Conditional)
    return "rows" if is_known else "own"


def settings_text(metric: Any) -> str:
    """Return the settings that client and server must share: the convention, before the clients' data resolve it."""
    return str(metric.canonical.convention)


@dataclass(frozen=True)
class Thrift:
    """The numbers and directions that are left out to send less.

    Attributes
    ----------
    type : of numbers, "<f8" or "<f4"
    rank : how many directions of a covariance are sent, or None for all
    """

    type: str = "<f8"
    rank: int | None = None

    @classmethod
    def of(cls, precision: str, rank: int | None) -> Thrift:
        """Return the thrift of what a user said."""
        name = check_choice(precision, ("float64", "float32"), "precision")
        return cls("<f4" if name == "float32" else "<f8", None if rank is None else check_count(rank, "rank"))

    def type_of(self, kind: str, arrays: Arrays) -> str:
        """Return the type of the numbers of a section: rows of float32 need no more."""
        is_single = kind in ("rows", "own") and all(array.dtype == np.float32 for array in arrays.values())
        return "<f4" if is_single else self.type


def arrays_of(kind: str, metric: Any, sample: Sample, thrift: Thrift) -> tuple[Arrays, dict[str, float]]:
    """Return what a client reveals of its sample, and the notes beside it."""
    if kind == "nothing":
        return {}, {}
    if kind in ("rows", "own"):
        parts = {"rows": sample.rows, "test": sample.test, "condition": sample.condition}
        return {name: to_numpy(part) for name, part in parts.items() if part is not None}, {}
    if kind == "thirds":
        moments = _thirds(metric, sample)
        numbers = {"mean": moments.mean, "second": moments.second, "third": moments.third}
        return {**numbers, "diagonal": np.array([moments.diagonal])}, {}
    summary = metric.single_row_summary(sample) if kind == "moments" and _is_lone(sample) else metric.summarize(sample)
    return arrays_of_summary(kind, summary, thrift)


def arrays_of_summary(kind: str, summary: Any, thrift: Thrift) -> tuple[Arrays, dict[str, float]]:
    """Return the same of a metric's own summary, of the kinds that are one."""
    if kind == "moments":
        is_cut = thrift.rank is not None and thrift.rank < len(summary.mean)
        return low_rank_arrays(summary, cast(int, thrift.rank)) if is_cut else (moment_arrays(summary), {})
    if kind == "classes":
        return {"marginal": summary.marginal, "clarity": summary.clarity}, {}
    if kind == "second":
        return {"second": summary.matrix[np.triu_indices(len(summary.matrix))]}, {}
    pairs = list(zip(summary.weights, summary.parts, strict=True))
    mean = np.sum([w * part.content.vector for w, part in pairs], axis=0)
    return {"mean": mean, "diagonal": np.array([math.fsum(w * part.diagonal for w, part in pairs)])}, {}


def blank_arrays(kind: str, summary: Any, sample: Sample, thrift: Thrift) -> tuple[Arrays, dict[str, float]]:
    """Return empty arrays of the shapes of `arrays_of`, and its notes, from a summary that is at hand."""
    if kind == "thirds":
        d = sample.dim
        shapes = {"mean": d, "second": math.comb(d + 1, 2), "third": math.comb(d + 2, 3), "diagonal": 1}
        return {name: np.broadcast_to(0.0, (size,)) for name, size in shapes.items()}, {}
    if kind == "nothing":
        return {}, {}
    if kind == "rows":  # which may be on a cluster
        parts = {"rows": sample.rows, "test": sample.test, "condition": sample.condition}
        return {name: _blank_rows(part) for name, part in parts.items() if part is not None}, {}
    return arrays_of_summary(kind, summary, thrift)


def _blank_rows(rows: Any) -> np.ndarray:
    kind = rows.dtype if isinstance(rows.dtype, np.dtype) else to_numpy(rows[:1]).dtype
    return np.broadcast_to(np.zeros((), dtype=kind), tuple(rows.shape))


def _is_lone(sample: Sample) -> bool:
    return sample.rows is not None and sample.rows.shape[0] == 1


def _thirds(metric: Any, sample: Sample) -> ThirdMoments:
    if sample.rows is not None:
        return ThirdMoments.of_rows(sample.rows, metric.kernel)
    if isinstance(sample.exact_distribution, Gaussian):
        return ThirdMoments.of_distribution(sample.exact_distribution)
    raise InvalidInput("rows", f"is a {type(sample.exact_distribution).__name__}", "Give rows, or a Gaussian")


def moment_arrays(moments: Moments) -> Arrays:
    """Return the mean, and of the covariance a triangle or, where that is smaller, its factor in row echelon form."""
    mean = to_numpy(moments.mean)
    if moments.kept_dense is not None:
        return {"mean": mean, "covariance": to_numpy(moments.dense)[np.triu_indices(mean.size)]}
    factor = canonical_root(to_numpy(moments.root))
    return {"mean": mean, "factor": factor[np.triu_indices(len(factor), m=mean.size)]}


def low_rank_arrays(moments: Moments, rank: int) -> tuple[Arrays, dict[str, float]]:
    """Return the mean and the `rank` largest directions of the covariance; of the others their mean variance.

    `rest` is that variance, `lost` the distance √Σ(√λ_i − √rest)² of what is sent from the covariance: no √FID of this
    client is off by more, as √FID is Wasserstein's distance between Gaussians, and so keeps the triangle inequality.
    """
    values, vectors = np.linalg.eigh(to_numpy(moments.cov))
    values = np.where(values > len(values) * EPS * values[-1], values, 0.0)[::-1]
    vectors = vectors[:, ::-1]
    others = values[rank:]
    rest = float(others.mean()) if len(others) else 0.0
    lost = float(np.linalg.norm(np.sqrt(others) - math.sqrt(rest)))
    factor = canonical_root(np.sqrt(values[:rank])[:, None] * vectors[:, :rank].T)
    arrays = {"mean": to_numpy(moments.mean), "factor": factor[np.triu_indices(len(factor), m=len(values))]}
    return arrays, {"rest": rest, "lost": lost}


def canonical_root(root: np.ndarray) -> np.ndarray:
    """Return R (r, d), upper trapezoidal, with RᵀR = rootᵀroot: of all such roots the one that tells nothing else.

    A root of centred rows is the rows, up to an orthogonal matrix that everybody knows. Singular values and right
    vectors are those of the covariance, and so is a triangle made of them.
    """
    if root.shape[0] >= root.shape[1]:
        triangle = np.linalg.qr(root, mode="r")
        pivots = np.abs(np.diagonal(triangle))
        if pivots.min() > len(pivots) * EPS * pivots.max():  # the Cholesky factor, of which there is one
            return np.asarray(triangle * np.sign(np.diagonal(triangle))[:, None])
    _, values, vectors = np.linalg.svd(root, full_matrices=False)
    kept = values > len(values) * EPS * values.max(initial=0.0)
    values, vectors = values[kept], vectors[kept]
    signs = np.sign(vectors[np.arange(len(vectors)), np.abs(vectors).argmax(axis=1)])
    triangle = np.linalg.qr((signs * values)[:, None] * vectors, mode="r")
    return np.asarray(triangle * np.where(np.diagonal(triangle) < 0, -1.0, 1.0)[:, None])


def summary_of(metric: Any, section: Section, dim: int) -> Any:
    """Return the summary under a metric that is resolved for all clients; a `Sample` where rows are revealed.

    InvalidInput where the arrays are not of the kind, or no such rows exist.
    """
    arrays = section.arrays
    if section.kind in ("rows", "own"):
        if len(arrays.get("rows", ())) != section.count:
            raise InvalidInput("rows", f"are not the {section.count} that are counted", FIX_DAMAGED)
        return _sample(arrays, dim)
    if section.kind == "nothing":
        return metric.summarize(metric.unread_client(dim))
    if section.kind == "moments":
        return _moments(section, dim)
    if section.kind == "classes":
        return _classes(section, dim)
    if section.kind == "second":
        return _second_moment(section, metric.count)
    if section.kind == "features":
        _check_shapes(arrays, {"mean": (metric.kernel.count,), "diagonal": (1,)})
        return _kernel_mean(metric, Embedding(arrays["mean"]), section.count, float(arrays["diagonal"][0]))
    sizes = {"mean": dim, "second": math.comb(dim + 1, 2), "third": math.comb(dim + 2, 3), "diagonal": 1}
    _check_shapes(arrays, {name: (size,) for name, size in sizes.items()})
    third_moments = ThirdMoments(arrays["mean"], arrays["second"], arrays["third"], float(arrays["diagonal"][0]))
    mean = metric.kernel.finite(lambda: third_moments.embedding(metric.kernel).vector)
    return _kernel_mean(
        metric, Embedding(mean), section.count, third_moments.diagonal_under(metric.kernel, Embedding(mean))
    )


def _kernel_mean(metric: Any, mean: Embedding, count: float, diagonal: float) -> KernelMean:
    diagonal = 0.0 if math.isinf(count) else diagonal
    return KernelMean((KernelPart(metric.kernel, mean, count, diagonal),), (1.0,))


def _classes(section: Section, dim: int) -> Classes:
    marginal, clarity = (section.arrays.get(name, np.zeros((0, 0))) for name in ("marginal", "clarity"))
    _check_shapes(section.arrays, {"marginal": (max(len(clarity), 1), dim), "clarity": (len(clarity),)})
    if (marginal < 0).any() or (np.abs(marginal.sum(axis=1) - 1.0) > MAX_SUM_ERROR).any() or (clarity > 0).any():
        raise InvalidInput("marginal", "are not class probabilities", FIX_DAMAGED)
    return Classes(marginal, clarity, section.count)


def _second_moment(section: Section, count: int) -> SecondMoment:
    _check_shapes(section.arrays, {"second": (math.comb(count + 1, 2),)})
    matrix = np.zeros((count, count))
    matrix[np.triu_indices(count)] = section.arrays["second"]
    matrix += np.triu(matrix, 1).T
    if abs(float(np.trace(matrix)) - 1.0) > MAX_TRACE_ERROR:
        raise InvalidInput("second", "has another trace than 1", FIX_DAMAGED)
    _check_positive(matrix, section.type)
    return SecondMoment(matrix)


def _moments(section: Section, dim: int) -> Moments:
    arrays, triangle = section.arrays, math.comb(dim + 1, 2)
    for name, most in (("mean", LARGEST), ("factor", LARGEST), ("covariance", LARGEST**2)):
        if name in arrays and float(np.abs(arrays[name]).max(initial=0.0)) > most:
            raise InvalidInput(name, f"has numbers beyond {most:g}", FIX_DAMAGED)
    if "covariance" in arrays:
        _check_shapes(arrays, {"mean": (dim,), "covariance": (triangle,)})
        matrix = np.zeros((dim, dim))
        matrix[np.triu_indices(dim)] = arrays["covariance"]
        matrix += np.triu(matrix, 1).T
        _check_positive(matrix, section.type)
        return Moments(section.count, arrays["mean"], None, matrix)
    rank = rank_of(arrays.get("factor", np.zeros(0)).size, dim)
    _check_shapes(arrays, {"mean": (dim,), "factor": (rank * dim - math.comb(rank, 2),)})
    factor = np.zeros((rank, dim))
    factor[np.triu_indices(rank, m=dim)] = arrays["factor"]
    if rest := max(section.notes.get("rest", 0.0), 0.0):
        basis = np.linalg.qr(factor.T)[0]
        return Moments(section.count, arrays["mean"], None, factor.T @ factor + rest * (np.eye(dim) - basis @ basis.T))
    return Moments(section.count, arrays["mean"], factor, None)


def rank_of(size: int, dim: int) -> int:
    """Return r of an upper trapezoid (r, dim) of so many numbers; 0 of none."""
    root = 2 * dim + 1 - math.sqrt(max((2 * dim + 1) ** 2 - 8 * size, 0))
    return max(0, min(dim, round(root / 2)))


def _check_positive(matrix: np.ndarray, kind: str) -> None:
    """Raise InvalidInput for a matrix that is no covariance, beyond rounding."""
    slack = len(matrix) * (1e-6 if kind == "<f4" else 1e-13)
    shifted = matrix + slack * max(float(np.abs(np.diagonal(matrix)).max()), 1e-300) * np.eye(len(matrix))
    try:
        np.linalg.cholesky(shifted)
    except np.linalg.LinAlgError:
        raise InvalidInput("covariance", "has a negative eigenvalue", FIX_DAMAGED) from None


def _sample(arrays: Arrays, dim: int) -> Sample:
    rows = arrays.get("rows", np.zeros((0, 0)))
    beside = {name: arrays[name] for name in ("test", "condition") if name in arrays}
    test, condition = beside.get("test"), beside.get("condition")
    shapes: dict[str, Sequence[int]] = {"rows": (max(len(rows), 1), dim)}
    if test is not None:
        shapes["test"] = (max(len(test), 1), dim)
    if condition is not None:
        shapes["condition"] = (len(rows), condition.shape[-1])
    _check_shapes(arrays, shapes)
    return Sample(rows=rows, test=test, condition=condition)


def _check_shapes(arrays: Arrays, shapes: Mapping[str, Sequence[int]]) -> None:
    """Raise InvalidInput for arrays of other names or shapes."""
    seen = {name: tuple(array.shape) for name, array in arrays.items()}
    if seen != {name: tuple(shape) for name, shape in shapes.items()}:
        raise InvalidInput("arrays", f"have shapes {seen}", FIX_DAMAGED)
