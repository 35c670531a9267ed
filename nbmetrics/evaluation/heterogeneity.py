"""Is the gap between FID-avg and FID-all heterogeneity, or sample size? The same rows, dealt to the clients at random.

Beside it, of KID: its gap under any weights, from one matrix of kernel means of clients.
Twin: labs/toolkit/view/kid_gap.js · held by: tests/labs/dashboard/test_kid_gap_page.py

    gap = Σ λ_i D(S_i, G) − D(pool(S_i), G)

A client's FID has more bias than that of the pooled rows, so the gap is large where all clients are alike and have few
rows. If they are alike, all ways to deal the rows to clients of these sizes and weights are equally likely, whatever
the distribution and the generator, so the share of deals with at least the given gap is a p-value.

Flow: rows and weights of the clients that count → deals → what a gap owes to the rows alone, once → what it owes to
each generator, from the rows in its coordinates → the gap of KID, from one kernel matrix.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from array_api_compat import device

from ..arrays import Array, is_on_host, like, namespace, row_blocks, to_float64, to_numpy
from ..errors import InvalidInput, check_choice, check_count, refusal_of, shown
from ..metrics.base import Sample
from ..metrics.fid.metric import FID
from ..metrics.kid.estimators import AllPairs
from ..metrics.kid.mean_tables import tabulate
from ..metrics.kid.metric import KID
from ..metrics.kid.polynomial import CentredPolynomial
from ..metrics.stratified import Strata
from ..summaries.kernel_mean import KernelMean
from ..summaries.moments import Moments
from ..summaries.roots import nuclear_norm
from .cells import Cells, caution_lines
from .influence import Influences
from .resampling import Ends
from .samples import shares_of
from .scores_protocol import ScoresProtocol

if TYPE_CHECKING:
    import pandas as pd

# The metrics whose gap can be dealt.
FIDS = ("fid", "fid_infinity")
# Of the interval of the debiased gap.
LEVEL = 0.9
KID_SHUFFLES = 499
# Deals, and the places in all of them together, that are held at once: 4 bytes a place, three times.
MAX_SHUFFLES, MAX_PLACES = 100_000, 100_000_000
# The test of KID looks at so many rows at most, of each client in proportion.
KID_ROWS = 2_500
# Sums over pairs of rows: for a client with more than a twelfth of all rows one product for all deals is quicker.
BY_PRODUCT = 12
# Of the traces, how exactly a dealt gap is computed; deals closer than ten times that are alike.
PRECISION = 1e-8
# Gaps of KID closer than this share of their range, or than rounding of the mean |k|, are alike.
ALIKE, ROUNDING = 1e-10, 1e-13


@dataclass(frozen=True, eq=False)
class Parties:
    """The rows of all clients, one client after the other.

    Attributes
    ----------
    rows : (n, d) float64; on a device only for `kernel_gaps`
    sizes : n_i
    weights : λ_i, sum 1
    """

    rows: Array
    sizes: tuple[int, ...]
    weights: tuple[float, ...]

    @cached_property
    def ends(self) -> np.ndarray:
        """Where the rows of the next client start."""
        return np.cumsum(self.sizes)[:-1]

    @cached_property
    def row_weights(self) -> np.ndarray:
        """λ_i/n_i of each place in a deal, (n,)."""
        return np.repeat(np.array(self.weights) / self.sizes, self.sizes)

    @property
    def has_fixed_pool(self) -> bool:
        """Whether every deal pools to the same distribution: weights in proportion to the numbers of rows."""
        return bool(np.ptp(self.row_weights) <= 1e-9 * self.row_weights.max())

    def deals(self, count: int, seed: Sequence[int]) -> np.ndarray:
        """Which row comes to each place, (1 + count, n): as given, and dealt at random."""
        places = np.arange(len(self.rows), dtype=np.int32)
        dealt = np.random.default_rng(list(seed)).permuted(np.tile(places, (count, 1)), axis=1)
        return np.concatenate([places[None], dealt])

    def gaps(self, deals: np.ndarray, part: Any) -> np.ndarray:
        """Σ λ_i part(client i) − part(pool) of each deal; `part` takes positions of rows and their weights, sum 1."""
        pooled = part(deals[0], self.row_weights)
        gaps = []
        for deal in deals:
            clients = np.split(deal, self.ends)
            avg = sum(w * part(c, np.full(len(c), 1.0 / len(c))) for w, c in zip(self.weights, clients, strict=True))
            gaps.append(avg - (pooled if self.has_fixed_pool else part(deal, self.row_weights)))
        return np.array(gaps)


def heterogeneity(result: Cells, scores: ScoresProtocol, shuffles: int, seed: int) -> pd.DataFrame:
    """See `Scores.heterogeneity`."""
    from .p_value_frame import PValueFrame  # pandas comes when it is needed

    shuffles = check_count(shuffles, "shuffles", maximum=MAX_SHUFFLES)
    seed = check_count(seed, "seed", minimum=0)
    parties = _parties(result, scores)
    most = MAX_PLACES // len(parties.rows)
    if shuffles > most:
        seen = f"got {shuffles:,} deals of {len(parties.rows):,} rows, which need too much memory"
        raise InvalidInput("shuffles", seen, f"Give {most:,} at most" if most else "Evaluate fewer rows")
    deals = parties.deals(shuffles, [seed, 0])
    real = _strata(result.real, result.clients)
    generated = _strata(result.generated, result.generators)
    pairs = fid_gaps(parties, deals, [strata.summary for strata in generated])
    rows = [(gaps[0], gaps[1:].mean(), p_value(gaps, tie)) for gaps, tie in pairs]
    gap, shuffled, p = (np.array(column) for column in zip(*rows, strict=True))
    (debiased, low, high), doubts = _debiased_gap(real, generated, scores.weights)
    debiased = np.where(np.isnan(low), math.nan, debiased)
    columns = {"gap": gap, "shuffled": shuffled, "debiased": debiased, "debiased_low": low, "debiased_high": high}
    frame = PValueFrame({"generator": scores.generators, **columns, "p": p, "p_kid": p_kid(parties, seed)})
    frame.floors = {"p": 1.0 / (shuffles + 1), "p_kid": 1.0 / (KID_SHUFFLES + 1)}
    frame.footnote = _smallest(shuffles)
    dealt = [f"{shuffles} deals for FID, {KID_SHUFFLES} for KID, seed {seed}", _smallest(shuffles)]
    frame.attrs["conventions"] = [*dealt, *caution_lines("debiased FID", doubts), *scores.conventions]
    return frame


def _smallest(shuffles: int) -> str:
    """The smallest p that so many deals can give, and how many give a tenth of it."""
    more = 10 * shuffles + 9
    fix = f"; give shuffles={more} for a smaller one" if more <= MAX_SHUFFLES else ""
    return f"{shuffles} deals: the smallest possible p is {1.0 / (shuffles + 1):.3g}{fix}"


def check_deals(metric: Any, scores: ScoresProtocol) -> str:
    """The FID that was evaluated, or InvalidInput with the way to one, or that there is none without the rows."""
    fids = [name for name in scores.metrics if name in FIDS]
    result = scores.result((fids or scores.metrics)[0])
    if result.sent:
        for name, sample, weight in zip(scores.names, result.clients, scores.weights, strict=True):
            if weight and (sample.distribution is not None or sample.moments is not None):
                raise _without_rows(name, result, scores)
    if not fids:
        fix = "Evaluate 'fid' too; KID's own test is its column p_kid"
        raise InvalidInput("metric", f"got {shown(metric)}, and no FID was evaluated", fix)
    if isinstance(metric, str) and metric == "kid":
        raise InvalidInput("metric", "got 'kid'", f"Give {fids[0]!r}: its column p_kid is KID's own test")
    return check_choice(metric, fids, "metric")


def _parties(result: Cells, scores: ScoresProtocol) -> Parties:
    """The rows of the clients that have a weight, or InvalidInput where there is nothing to deal."""
    if refusal := refusal_of(*result.real, *result.generated):
        raise refusal
    for name, sample, own in zip_longest(scores.generators, result.generators, result.own_samples):
        if own:
            seen = f"generator {name!r} has one distribution for each client, which belong to those clients"
            raise InvalidInput("metric", seen, "Evaluate generators with one distribution for all clients")
        if sample is None:
            seen = f"generator {name!r} answered the clients' conditions, which belong to those rows"
            raise InvalidInput("metric", seen, "Evaluate rows of outputs, and clients without condition")
    counted = [(n, c, w) for n, c, w in zip(scores.names, result.clients, scores.weights, strict=True) if w > 0]
    for name, client, _ in counted:
        if client.distribution is not None or client.moments is not None:
            raise _without_rows(name, result, scores)
    if len(counted) < 2:
        seen = f"there is {len(counted)} client with a weight, so its rows cannot be shuffled among clients"
        raise InvalidInput("metric", seen, "Give two clients or more")
    rows = [to_numpy(to_float64(client.together())) for _, client, _ in counted]
    return Parties(np.concatenate(rows), tuple(len(x) for x in rows), tuple(w for *_, w in counted))


def _without_rows(name: str, result: Cells, scores: ScoresProtocol) -> InvalidInput:
    """Why the rows of a client that has none here cannot be dealt: they stayed with it, or it is a distribution."""
    if result.clients[scores.names.index(name)].moments is not None:
        seen = f"client {name!r} is a mean and a covariance, and has no rows to shuffle"
        fix = f"Compare the gap with scores.size_gap({result.name!r}), or evaluate where the rows are"
    elif any(math.isfinite(section.count) for section in result.sent):
        seen = f"client {name!r} sent a summary, and its rows stayed with it"
        is_known = any(result.size_gaps)
        fix = f"Compare the gap with scores.size_gap({result.name!r})" if is_known else "Evaluate where the rows are"
    else:
        seen = f"client {name!r} is an exact distribution, which has no rows to shuffle, and no bias"
        fix = "Use scores.table, where the gap is exact" + ("" if result.sent else ", or evaluate(…, samples=1_000)")
    return InvalidInput("metric", seen, fix)


def fid_gaps(parties: Parties, deals: np.ndarray, generators: Sequence[Moments]) -> Iterator[tuple[np.ndarray, float]]:
    """For each generator, FID-avg − FID-all of each deal, and how far apart two of them must be to differ."""
    own = parties.gaps(deals, _Spread(parties.rows))
    for generated in generators:
        cross = _Cross(parties.rows, generated)
        yield own - 2.0 * parties.gaps(deals, cross), 10.0 * cross.tolerance


class _Spread:
    """‖μ‖² + Tr C of weighted rows, about the mean of all rows: the gap does not depend on the origin."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = rows - rows.mean(axis=0)
        self.squares = np.einsum("nd,nd->n", self.rows, self.rows)

    def __call__(self, which: np.ndarray, weights: np.ndarray) -> float:
        mean = weights @ self.rows[which]
        length = float(mean @ mean)
        return length + (float(weights @ self.squares[which]) - length) / (1.0 - float(weights @ weights))


class _Cross:
    """Tr (C C_G)^{1/2} of weighted rows, from their coordinates R x, computed once."""

    def __init__(self, rows: np.ndarray, generated: Moments) -> None:
        self.rows = (rows - rows.mean(axis=0)) @ to_numpy(to_float64(generated.root)).T
        self.tolerance = PRECISION * (generated.trace + float(np.var(rows, axis=0).sum()))

    def __call__(self, which: np.ndarray, weights: np.ndarray) -> float:
        rows = self.rows[which]
        scale = np.sqrt(weights / (1.0 - float(weights @ weights)))
        return nuclear_norm(scale[:, None] * (rows - weights @ rows), self.tolerance)


def p_value(gaps: np.ndarray, tie: float) -> float:
    """The share of gaps, the given one among them, that are at least the given one, which comes first.

    Exact for any number of deals. A t statistic of the deals would go below 1/(1 + deals), but rejects too often where
    a few long rows decide the gap (docs/heterogeneity.md).
    """
    return float(np.mean(gaps >= gaps[0] - tie))


def _strata(summaries: Sequence[Any], samples: Sequence[Sample | None]) -> list[Strata[Moments]]:
    """Moments beside the rows they came from."""
    strata = []
    for summary, sample in zip(summaries, samples, strict=True):
        rows = None if sample is None else sample.together()
        strata.append(summary if isinstance(summary, Strata) else FID().strata(summary, rows))
    return strata


def _debiased_gap(
    real: Sequence[Strata[Moments]], generated: Sequence[Strata[Moments]], weights: Sequence[float]
) -> tuple[Ends, list[str]]:
    """Debiased FID-avg − debiased FID-all, the ends of its interval, and why they are missing or doubtful."""
    influences = Influences(FID(), real, [(own,) for own in generated], LEVEL)
    return influences.ends(weights, "gap", np.zeros(len(generated))), influences.cautions(weights)


def p_kid(parties: Parties, seed: int, shuffles: int = KID_SHUFFLES) -> float:
    """The p-value of KID's gap without bias: means of k over pairs of different rows, of clients and between them.

    k is the cubic kernel about the mean of all rows, which every deal shares. What that leaves out of k cancels in the
    gap; far from 0, or for small features, it is nearly all of k.
    """
    parties = _draw_some(parties, seed)
    kernel = CentredPolynomial(centre=parties.rows.mean(axis=0))
    return p_value(*kernel_gaps(kernel, parties, parties.deals(shuffles, [seed, 1])))


def _draw_some(parties: Parties, seed: int) -> Parties:
    """At most `KID_ROWS` rows, drawn of each client in proportion to its own."""
    if len(parties.rows) <= KID_ROWS:
        return parties
    rng = np.random.default_rng([seed, 2])
    sizes = shares_of([size / len(parties.rows) for size in parties.sizes], KID_ROWS)
    clients = np.split(parties.rows, parties.ends)
    rows = [client[rng.permutation(len(client))[:k]] for client, k in zip(clients, sizes, strict=True)]
    return Parties(np.concatenate(rows), tuple(len(x) for x in rows), parties.weights)


def kernel_gaps(kernel: Any, parties: Parties, deals: np.ndarray) -> tuple[np.ndarray, float]:
    """Σ λ_i(1 − λ_i)U_ii − Σ_{i≠j} λ_iλ_j K̄_ij of each deal, and how far apart two of them must be to differ.

    Label sums of one kernel matrix, seen in blocks of rows. U_ii is over n_i(n_i − 1) pairs; wᵀKw without those of a
    row with itself lacks n_i of the n_i² that its weights count, so Σ λ_i² U_ii/n_i is added to it.
    """
    rows, n, sizes = parties.rows, len(parties.rows), np.array(parties.sizes)
    dealt = deals if is_on_host(rows) else namespace(rows).asarray(deals, device=device(rows))
    weights = _spread(dealt[:1] if parties.has_fixed_pool else dealt, like(parties.row_weights, rows))
    within, pooled, size = np.zeros((len(deals), len(sizes))), np.zeros(len(weights)), 0.0
    for block in row_blocks(n, 8 * n):
        values = kernel.block(rows[block], rows)
        values[range(block.stop - block.start), range(block.start, block.stop)] = 0.0
        size += float(abs(values).sum()) / n**2
        pooled += _quadratic_form(values, weights, block)
        for client, start in enumerate([0, *parties.ends]):
            places = dealt[:, start : start + sizes[client]]
            if BY_PRODUCT * sizes[client] > n or not is_on_host(rows):
                within[:, client] += _quadratic_form(values, _spread(places, 1.0, n), block)
            else:
                within[:, client] += [_sum_over(values, chosen, block) for chosen in places]
    u, shares = within / (sizes * (sizes - 1.0)), np.array(parties.weights)
    gaps = u @ (shares - shares**2 / sizes) - pooled
    return gaps, ALIKE * float(np.ptp(gaps)) + ROUNDING * size


def _spread(places: Array, weights: Any, n: int | None = None) -> Array:
    """The weights at their places among n rows, (deals, n), 0 elsewhere."""
    xp, count = namespace(places), places.shape[0]
    spread = xp.zeros((count, places.shape[1] if n is None else n), dtype=xp.float64, device=device(places))
    spread[xp.arange(count, device=device(places))[:, None], places] = weights
    return spread


def _quadratic_form(values: Array, weights: Array, block: slice) -> np.ndarray:
    """wᵀKw of each deal, over the rows of K in `block`."""
    products = weights[:, block] @ values
    products *= weights
    return to_numpy(products.sum(axis=1))


def _sum_over(values: np.ndarray, chosen: np.ndarray, block: slice) -> float:
    """The sum of K over pairs of chosen rows, over the rows of K in `block`."""
    inside = chosen[(chosen >= block.start) & (chosen < block.stop)].astype(np.int64) - block.start
    return float(values.take(inside[:, None] * values.shape[1] + chosen).sum())


def client_kernel_means(result: Cells) -> np.ndarray | None:
    """Return the kernel means of every two clients, M (k, k), from which KID's gap follows under any weights.

    M_ij is the mean of k over the rows of clients i and j, and M_ii = U_i that over pairs of different rows (over all
    pairs for the biased estimator and for exact distributions). No generator takes part:

        gap(λ) = Σ λ_i M_ii − λᵀMλ

    is KID-avg − KID-all of the "stratified" estimator, without bias under any weights. None for estimators that are
    not on all pairs, refused clients, or too many clients for a matrix. Source: Theorem 1 of Wang et al.

    Examples
    --------
    >>> scores = nm.evaluate({"a": nm.Gaussian([0.0]), "b": nm.Gaussian([2.0])}, {"g": nm.Gaussian([0.0])}, "kid")
    >>> means, weights = client_kernel_means(scores._results[0]), np.array([0.5, 0.5])
    >>> bool(np.isclose(kid_gap(means, weights), scores.table["gap"][0]))
    True
    """
    estimator = result.metric.estimator if isinstance(result.metric, KID) else None
    if not isinstance(estimator, AllPairs) or refusal_of(*result.real):
        return None
    return kernel_mean_table(estimator, result.real)


def kernel_mean_table(estimator: AllPairs, summaries: Sequence[KernelMean]) -> np.ndarray | None:
    """Return the table of `client_kernel_means` for any summaries of KID; None where it would be too large."""
    parts = [part for mean in summaries for part in mean.parts]
    shares = np.zeros((len(summaries), len(parts)))  # a client that is a mixture has several parts
    stop = 0
    for row, mean in zip(shares, summaries, strict=True):
        row[stop : stop + len(mean.parts)] = mean.weights
        stop += len(mean.parts)
    table = tabulate(estimator.kernel, parts)
    if table is None:
        return None
    where = [part.position for part in parts]
    means = shares @ table[np.ix_(where, where)] @ shares.T
    np.fill_diagonal(means, [mean.self_mean(unbiased=estimator.unbiased) for mean in summaries])
    return np.asarray(means)


def kid_gap(means: np.ndarray, weights: np.ndarray) -> float:
    """Return Σ λ_i M_ii − λᵀMλ, M (k, k) of `client_kernel_means`, λ (k,); clients of weight 0 take no part."""
    used = weights > 0
    means, weights = means[np.ix_(used, used)], weights[used]
    return float(weights @ np.diag(means) - weights @ means @ weights)
