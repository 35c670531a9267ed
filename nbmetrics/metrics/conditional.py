"""MFID, RFID, JFID and CFID: Fréchet distances for generators that answer an input x with an output ŷ.

Twin: labs/plane/view/scores.js · held by: tests/labs/plane/test_scores_page.py
Twin: labs/correlation/view/maths.js · held by: tests/labs/correlation/test_correlation.py

Rows (x, y) are real, rows (x, ŷ) generated from the same x. MFID forgets x; RFID compares the joint distributions; CFID
compares the distributions of y given x, and so sees a generator that makes good outputs for the wrong inputs:

    CFID = ‖m_y − m_ŷ‖² + Tr[(C_yx − C_ŷx) C_xx⁺ (C_xy − C_xŷ)] + Bures²(C_yy|x, C_ŷŷ|x)  ≥  RFID  ≥  MFID

A generated distribution with an x of its own (a joint Gaussian, say) is read as its distribution of y given x and put
on the real x first, so this order always holds. The definitions and the order are those of Soloveitchik, Diskin,
Morin and Wiesel, "Conditional Frechet Inception Distance" (2021), with covariances of ddof 1 for their 0.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, cast

from ..arrays import LARGEST, Array, align, as_rows, namespace
from ..distributions import Distribution, HasMoments, has_moments
from ..errors import InvalidInput, caller_level, check_count, check_names, check_number
from ..summaries.joint import JointMoments, short
from ..summaries.roots import nuclear_norm
from ..tables import check_frames
from .base import Metric, Sample
from .capabilities import Cautious, ClosedForm, MergeablePool
from .fid.metric import PRECISION
from .sample import parties_with_few_rows

# Pairs for each feature of x and y below which CFID is mostly the noise of its own estimate.
MIN_PAIRS_PER_FEATURE = 10


class FewPairsWarning(UserWarning):
    """There are too few (x, y) pairs for the number of features; the score is mostly noise."""


class Conditional(Metric[JointMoments], MergeablePool, ClosedForm, Cautious):
    """What the conditional family shares: its summary, the moments of (x, y) together.

    Parameters
    ----------
    condition_dim : where rows or a distribution come without a condition, this many of their first features are x and
        the others y, so that a joint Gaussian is scored exactly and a 2-D picture reads its axes as x → y
    """

    is_conditional = True

    def __init__(self, *, condition_dim: int | None = None) -> None:
        self.condition_dim = None if condition_dim is None else check_count(condition_dim, "condition_dim")

    def summarize(self, sample: Sample) -> JointMoments:
        """Joint moments of `sample.condition` and `.rows` (n ≥ 2), or of an exact joint distribution."""
        if sample.rows is None:
            return JointMoments.of_distribution(cast(HasMoments, sample.exact_distribution), self._split(sample))
        if sample.rows.shape[0] < 2:
            raise InvalidInput("rows", "has 1 row, and a covariance needs 2", "Give more rows, or leave these out")
        if sample.condition is not None:
            return JointMoments.of_rows(sample.condition, sample.rows)
        dx = self._split(sample)
        return JointMoments.of_rows(sample.rows[:, :dx], sample.rows[:, dx:])

    def _split(self, sample: Sample) -> int:
        if self.condition_dim is None:
            fix = "Use nm.Client(y, condition=x) with one row x for each row y, or the option condition_dim"
            raise InvalidInput("condition", f"is missing, and {self.label} compares y given x", fix)
        if self.condition_dim >= sample.dim:
            seen = f"is {self.condition_dim} of {sample.dim} features, so none is left for y"
            raise InvalidInput("condition_dim", seen, "Give fewer, or more features")
        return self.condition_dim

    def pool(self, summaries: Sequence[JointMoments], weights: Sequence[float]) -> JointMoments:
        """Joint moments of the pooled pairs."""
        return JointMoments.pool(summaries, weights)

    def pool_operator(self, dim: int) -> Callable[[Sequence[JointMoments], Sequence[float]], JointMoments]:
        """Moments of mixtures are those of their mixture."""
        return JointMoments.pool

    def has_closed_form(self, distribution: Distribution) -> bool:
        return self.condition_dim is not None and has_moments(distribution)

    def cautions(self, clients: Sequence[Sample], generators: Sequence[Sample]) -> list[str]:
        """Who has too few pairs for a score to be more than bias."""
        first = clients[0]
        conditions = 0 if first.condition is None or isinstance(self, MFID) else first.condition.shape[1]
        needed = MIN_PAIRS_PER_FEATURE * (first.dim + conditions)
        who = parties_with_few_rows(needed, client=clients)
        seen = f"{who} fewer than {needed:,} pairs (10 per feature)"
        return [f"{self.label}: {seen}, so much of it, and of avg − all, is bias."] if who else []

    @property
    def convention(self) -> str:
        read = "" if self.condition_dim is None else f", x is the first {self.condition_dim} of the features"
        return f"{self.label}: squared Fréchet distance, covariances with ddof 1{read}"


class MFID(Conditional):
    """Marginal Fréchet Inception Distance: FID of y against ŷ, whatever their x (Soloveitchik et al., eq. 14).

    Range [0, ∞), lower is better; units are squared units of y.
    """

    name = "mfid"
    label = "MFID"

    def terms(self, real: JointMoments, generated: JointMoments) -> dict[str, float]:
        """`mean` = ‖m_y − m_ŷ‖² and `covariance` = Bures²(C_yy, C_ŷŷ), both ≥ 0."""
        return _joint_terms(real, generated, 0.0)


class RFID(Conditional):
    """Restricted Fréchet Inception Distance: FID of (x, y) against (x, ŷ) (Soloveitchik et al., eq. 16).

    Range [0, ∞), lower is better; units are squared units of x and y, which should be alike: scaling x changes it.
    """

    name = "rfid"
    label = "RFID"

    def terms(self, real: JointMoments, generated: JointMoments) -> dict[str, float]:
        """`mean` = ‖m_y − m_ŷ‖² and `covariance` = Bures² of the joint covariances, both ≥ 0."""
        return _joint_terms(real, generated, 1.0)


class JFID(Conditional):
    """FID of (αx, y) against (αx, ŷ): MFID at α = 0, RFID at α = 1 (Soloveitchik et al., section III-B).

    Parameters
    ----------
    alpha : how much x counts beside y, from 0 to 1e45
    condition_dim : as for the other conditional metrics
    name : the key in tables; give others to compare several α in one evaluation

    Range [0, ∞), lower is better; it grows with α.
    """

    def __init__(self, alpha: float = 1.0, *, condition_dim: int | None = None, name: str = "jfid") -> None:
        super().__init__(condition_dim=condition_dim)
        self.alpha = check_number(alpha, "alpha", minimum=0, maximum=LARGEST)
        self.name = check_names([name], "name")[0]
        self.label = f"JFID (α = {self.alpha:g})"

    def terms(self, real: JointMoments, generated: JointMoments) -> dict[str, float]:
        """`mean` = ‖m_y − m_ŷ‖² and `covariance` = Bures² of the joint covariances of (αx, y), both ≥ 0."""
        return _joint_terms(real, generated, self.alpha)


class CFID(Conditional):
    """Conditional Fréchet Inception Distance, E_x of the FID of y given x (Soloveitchik et al., eq. 17).

    Range [0, ∞), lower is better; units are squared units of y. Any invertible linear map of x leaves it as it is.
    Give n ≥ 10·(dx + dy) pairs: below that a `FewPairsWarning` is issued once, and at n ≤ dx + 1 every y is a
    linear function of x, so that the residual term is 0 whatever the generator.
    """

    name = "cfid"
    label = "CFID"

    def terms(self, real: JointMoments, generated: JointMoments) -> dict[str, float]:
        """`mean` = ‖m_y − m_ŷ‖², `regression` = E‖(B − B̂)ᵀ(x − m_x)‖² and `residual` = Bures²(C_yy|x, C_ŷŷ|x).

        B = C_xx⁺C_xy and B̂ = C_xx⁺C_xŷ, so `regression` is Tr[(C_yx − C_ŷx) C_xx⁺ (C_xy − C_xŷ)]; all are ≥ 0.
        """
        generated = generated.carried_to(real)
        ours, theirs = real.regression, generated.regression
        fitted, inputs, coefficients = align(ours.fitted, ours.inputs, theirs.coefficients)
        gap = fitted - inputs @ coefficients
        return {
            "mean": _squared_shift(real.mean_y, generated.mean_y),
            "regression": float(namespace(gap).sum(gap * gap)),
            "residual": _bures(ours.residual, theirs.residual),
        }

    def resolve(self, clients: Sequence[Sample]) -> CFID:
        """This metric; warns where the smallest client has too few pairs for its features."""
        sizes = [(s.rows.shape[0], self._widths(s)) for s in clients if s.rows is not None and self._readable(s)]
        if sizes:
            n, (dx, dy) = min(sizes, key=lambda pair: pair[0])
            warn_of_few(n, dx, dy)
        return self

    def _readable(self, sample: Sample) -> bool:
        if sample.condition is not None:
            return True
        return self.condition_dim is not None and self.condition_dim < sample.dim

    def _widths(self, sample: Sample) -> tuple[int, int]:
        if sample.condition is not None:
            return sample.condition.shape[1], sample.dim
        dx = self._split(sample)
        return dx, sample.dim - dx


def warn_of_few(n: int, dx: int, dy: int) -> None:
    """Warn, at the line of the user's own code, where n pairs are too few for dx + dy features."""
    enough = MIN_PAIRS_PER_FEATURE * (dx + dy)
    if n >= enough:
        return
    text = f"CFID of {n} pairs with dim x = {dx} and dim y = {dy} is noisy: give {enough} or more"
    if n <= dx + 1:
        text += f". With n ≤ dim x + 1 = {dx + 1} its residual term is 0 whatever the generator"
    warnings.warn(text, FewPairsWarning, stacklevel=caller_level())


def _joint_terms(real: JointMoments, generated: JointMoments, alpha: float) -> dict[str, float]:
    generated = generated.carried_to(real)
    roots = [_weighted_root(distribution, alpha) for distribution in (real, generated)]
    return {"mean": _squared_shift(real.mean_y, generated.mean_y), "covariance": _bures(*roots)}


def _weighted_root(distribution: JointMoments, alpha: float) -> Array:
    if alpha == 0:
        return distribution.marginal_root
    return namespace(distribution.root_y).concat([alpha * distribution.root_x, distribution.root_y], axis=1)


def _squared_shift(a: Array, b: Array) -> float:
    a, b = align(a, b)
    return float((a - b) @ (a - b))


def _bures(a: Array, b: Array) -> float:
    """Tr C + Tr C_G − 2 Tr (C C_G)^{1/2} from factors, C = aᵀa and C_G = bᵀb."""
    a, b = align(short(a), short(b))
    xp = namespace(a, b)
    traces = float(xp.sum(a * a)) + float(xp.sum(b * b))
    return max(0.0, traces - 2.0 * nuclear_norm(a @ b.T, PRECISION * traces))


def cfid(x: Any, y: Any, y_hat: Any) -> float:
    """CFID of generated ŷ against real y, both given x (Soloveitchik et al., eq. 17).

    Parameters
    ----------
    x : (n, dx) conditions, n ≥ 2
    y, y_hat : (n, dy) real and generated rows for them (NumPy or torch)

    Returns
    -------
    float ≥ 0, squared units of y; lower is better, never below `rfid`, which is never below `mfid`

    Raises
    ------
    InvalidInput
        For NaN or infinity, a wrong rank or dtype, unequal n, y and ŷ of unequal width, or fewer than 2 rows.

    Warns
    -----
    FewPairsWarning
        Where n < 10·(dx + dy).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 1))
    >>> y = x + 0.1 * rng.normal(size=(200, 1))
    >>> round(nm.cfid(x, y, y), 6)
    0.0
    >>> nm.cfid(x, y, -y) > 3 > 0.1 > nm.mfid(x, y, -y)  # MFID does not see the wrong sign
    True
    """
    return _between(CFID(), x, y, y_hat)


def rfid(x: Any, y: Any, y_hat: Any) -> float:
    """RFID: FID of (x, y) against (x, ŷ) (Soloveitchik et al., eq. 16).

    Arguments and errors as for `cfid`. Returns a float ≥ 0 in squared units of x and y; lower is better.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(500, 1))
    >>> nm.rfid(x, x, -x) > 1, nm.mfid(x, x, -x) < 0.1  # the wrong way round: only the pairs tell
    (True, True)
    """
    return _between(RFID(), x, y, y_hat)


def mfid(x: Any, y: Any, y_hat: Any) -> float:
    """MFID: FID of y against ŷ (Soloveitchik et al., eq. 14); x does not matter, and is checked only.

    Arguments and errors as for `cfid`. Returns a float ≥ 0 in squared units of y; lower is better.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(500, 1))
    >>> round(nm.mfid(x, x, x + 2), 6)  # the means are 2 apart
    4.0
    """
    return _between(MFID(), x, y, y_hat)


def jfid(x: Any, y: Any, y_hat: Any, alpha: float) -> float:
    """JFID: FID of (αx, y) against (αx, ŷ), α ≥ 0: MFID at 0, RFID at 1 (Soloveitchik et al., section III-B).

    Other arguments and errors as for `cfid`. Returns a float ≥ 0; lower is better.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(500, 1))
    >>> bool(np.isclose(nm.jfid(x, x, -x, 1), nm.rfid(x, x, -x)))
    True
    >>> bool(np.isclose(nm.jfid(x, x, -x, 0), nm.mfid(x, x, -x)))
    True
    """
    return _between(JFID(alpha), x, y, y_hat)


def _between(metric: Conditional, x: Any, y: Any, y_hat: Any) -> float:
    check_frames(y=y, y_hat=y_hat)
    x, y = as_rows(x, "x", min_rows=2), as_rows(y, "y", min_rows=2)
    y_hat = as_rows(y_hat, "y_hat", dim=y.shape[1], min_rows=2)
    for name, rows in (("y", y), ("y_hat", y_hat)):
        if rows.shape[0] != x.shape[0]:
            seen = f"has {rows.shape[0]} rows for {x.shape[0]} rows of x"
            raise InvalidInput(name, seen, "Give one row for each row of x, in the same order")
    samples = [Sample(rows=rows, condition=x) for rows in (y, y_hat)]
    metric.resolve(samples)
    return math.fsum(metric.terms(*map(metric.summarize, samples)).values())
