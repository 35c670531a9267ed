"""Kernel means: what clients reveal for KID; those of a mixture are weighed sums."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import numpy as np

from ..arrays import Array, is_array
from ..distributions import Distribution
from ..errors import InvalidInput


@dataclass(frozen=True)
class Absent:
    """In the place of rows that stayed elsewhere.

    Attributes
    ----------
    nbytes, dim : of what there was
    """

    nbytes: int
    dim: int


class KernelPart:
    """One client's (or generator's) share in a kernel mean: its rows, embedding or exact distribution.

    Means with other parts are remembered, so each client–generator block is computed once.

    Attributes
    ----------
    count, diagonal : rows that made it (infinity for an exact distribution) and their mean of k(x, x)
    mean_omission : the mean of what the kernel leaves out at each row, see `Kernel.omission`
    table, position : means of every two parts of a federation, and where this part is in them; None until known
    """

    def __init__(self, kernel: Any, content: Any, count: float, diagonal: float) -> None:
        self.kernel = kernel
        self.content = content
        self.count = count
        self.diagonal = diagonal
        self.mean_omission = kernel.mean_omission(content)
        self.table: np.ndarray | None = None
        self.position = 0
        self._key = uuid4().bytes  # by which others remember their mean with this part, without keeping it alive
        self._means: dict[bytes, float] = {}

    def mean_with(self, other: KernelPart) -> float:
        """E k(X, Y) over this part and the other, self-pairs included."""
        mean = other._means.get(self._key, self._means.get(other._key))
        if mean is None:
            mean = self.kernel.mean(self.content, other.content)
            self.remember(other, mean)
        return mean

    def remember(self, other: KernelPart, mean: float) -> None:
        """Keep the mean with the other part, for both; it goes when the other part does."""
        other._means[self._key] = mean

    def light(self) -> KernelPart:
        """This part without what it holds, in a mean that holds the embedding of all its parts."""
        own = self.mean_with(self)
        part = copy(self)
        part.content, part.table, part._means = None, None, {self._key: own}
        return part

    def apart(self, others: Sequence[KernelPart]) -> KernelPart:
        """This part without its rows, with its means with itself, where that is known, and with the others."""
        part = copy(self)
        if is_array(self.content):
            part.content = Absent(self.nbytes - 8, int(self.content.shape[1]))
        own = {self._key: self._means[self._key]} if self._key in self._means else {}
        part._means, part.table = {**own, **{other._key: self.mean_with(other) for other in others}}, None
        return part

    @property
    def nbytes(self) -> int:
        return 8 + int(getattr(self.content, "nbytes", 0) or _distribution_bytes(self.content))


def _distribution_bytes(distribution: Any) -> int:
    return (
        8 * (distribution.dim + distribution.dim * (distribution.dim + 1) // 2)
        if isinstance(distribution, Distribution)
        else 0
    )


@dataclass(frozen=True, eq=False)
class KernelMean:
    """The mean embedding of Σ λ_i P_i under one kernel: a weighted list of parts; the summary of KID.

    Cross means are bilinear in the parts; the self term of rows leaves out pairs of a row with itself:
    U = (wᵀKw − Σ w_a² k_aa) / (1 − Σ w_a²) for row weights w_a = λ_i/n_i.

    Attributes
    ----------
    parts, weights : P_i and λ_i
    strata : how many parts in a row are of one client; () where each is a client of its own
    """

    parts: tuple[KernelPart, ...]
    weights: tuple[float, ...]
    strata: tuple[int, ...] = ()

    @classmethod
    def pool(cls, means: Sequence[KernelMean], weights: Sequence[float]) -> KernelMean:
        """The kernel mean of the mixture."""
        parts = tuple(part for mean in means for part in mean.parts)
        shares = tuple(w * v for mean, w in zip(means, weights, strict=True) for v in mean.weights)
        strata = tuple(size for mean in means for size in mean.strata or (1,) * len(mean.parts))
        return cls(parts, shares, strata if max(strata) > 1 else ())

    @classmethod
    def merge(cls, means: Sequence[KernelMean], weights: Sequence[float]) -> KernelMean:
        """The kernel mean of the mixture as one embedding, with no more of each part than its numbers."""
        held: list[tuple[Any, float]] = []
        for mean, w in zip(means, weights, strict=True):
            parts = zip(mean.parts, mean.weights, strict=True)
            merge = [(SimpleNamespace(content=mean._embedding), 1.0)] if mean.is_merged else parts
            held += [(part, w * v) for part, v in merge]
        pooled = cls.pool(means, weights)
        light = tuple(part if part.content is None else part.light() for part in pooled.parts)
        mean_of_all = cls(light, pooled.weights, pooled.strata)
        vars(mean_of_all)["_embedding"] = light[0].kernel.pool_parts(*zip(*held, strict=True))
        return mean_of_all

    @property
    def is_merged(self) -> bool:
        """Whether it is one embedding, and its parts hold nothing."""
        return self.parts[0].content is None

    def mean_with(self, other: KernelMean) -> float:
        """E k(X, Y), X from this mixture and Y from the other."""
        if self.is_merged:
            kernel, mine = self.parts[0].kernel, self._embedding
            return math.fsum(v * kernel.mean(mine, q.content) for q, v in zip(other.parts, other.weights, strict=True))
        return math.fsum(
            w * v * p.mean_with(q)
            for p, w in zip(self.parts, self.weights, strict=True)
            if w
            for q, v in zip(other.parts, other.weights, strict=True)
            if v
        )

    def self_mean(self, *, unbiased: bool = True) -> float:
        """E k(X, X′); without the pairs of a row with itself where `unbiased`."""
        return self._unbiased if unbiased else self._square

    @cached_property
    def stratified(self) -> float:
        """E k(X, X′) without bias where the rows are a fixed number of each client: Σ λᵢ² Uᵢᵢ + Σ_{i≠j} λᵢλⱼ K̄ᵢⱼ.

        Raises InvalidInput for a client of one row, which has no pair of its own.
        """
        return self._stratified(None)

    def row_means(self, rows: Array) -> np.ndarray:
        """E k(x_a, Y), Y from this mixture, for each row x_a, (n,) float64."""
        if self._embedding is not None:
            return np.asarray(self.parts[0].kernel.row_means(rows, self._embedding))
        return np.asarray(self.parts[0].kernel.mixture_means(rows, self.parts, self.weights))

    @cached_property
    def _square(self) -> float:
        """E k(X, X′), self-pairs included."""
        first = self.parts[0]
        if len(self.parts) == 1:
            return self.weights[0] ** 2 * first.mean_with(first)
        has_table = first.table is not None and all(p.table is first.table for p in self.parts)
        if not has_table and self._embedding is not None:
            return float(self._embedding.vector @ self._embedding.vector)
        return float(first.kernel.square(self.parts, self.weights))

    @cached_property
    def _embedding(self) -> Any:
        """This mixture as one embedding, or None where its pairs cost less."""
        kernel = self.parts[0].kernel
        return kernel.pool_parts(self.parts, self.weights) if kernel.should_pool(self.parts) else None

    @cached_property
    def _unbiased(self) -> float:
        own = math.fsum(w * w * p.diagonal / p.count for p, w in zip(self.parts, self.weights, strict=True))
        return (self._square - own + 2.0 * self._omission_of_self_pairs) / (1.0 - self._lost)

    @property
    def _lost(self) -> float:
        """Σ w_a², the share of the pairs of a row with itself."""
        return math.fsum(w * w / p.count for p, w in zip(self.parts, self.weights, strict=True))

    @property
    def has_strata(self) -> bool:
        """Whether rows of several clients are in it."""
        return self._lost > 0.0 and sum(weight > 0.0 for _, weight in self._clients()) > 1

    @property
    def pairs(self) -> float:
        """The share of the pairs of a row with another one; 0 for a single row."""
        return 1.0 - self._lost

    @property
    def _omission_of_self_pairs(self) -> float:
        lost = self._lost
        return math.fsum(
            w * (lost - w / p.count) * p.mean_omission for p, w in zip(self.parts, self.weights, strict=True)
        )

    @cached_property
    def self_bias(self) -> float:
        """What U is too large by on average where the rows are a fixed number of each client: U − `stratified`.

        A client of one row counts as if its rows were of the mixture.
        """
        return self._unbiased - self._stratified(self._unbiased)

    def _stratified(self, lone: float | None) -> float:
        """`stratified`, with `single_row_summary` in the place of Uᵢᵢ of a client of one row."""
        return self._square - math.fsum(w * w * own._self_pairs(lone) for own, w in self._clients() if w)

    def _self_pairs(self, lone: float | None) -> float:
        """What pairs of a row with itself add to the mean of one client."""
        if self.pairs > 0.0:
            return self._square - self._unbiased
        if lone is None:
            fix = "Give more rows, leave the client out, or use estimator='unbiased'"
            raise InvalidInput("rows", "are one row of a client, but a pair needs 2", fix)
        return self._square - lone

    def _clients(self) -> Iterator[tuple[KernelMean, float]]:
        """The mean of each client alone, and its weight."""
        start = 0
        for size in self.strata or (1,) * len(self.parts):
            parts, weights = self.parts[start : start + size], self.weights[start : start + size]
            total = math.fsum(weights)
            yield KernelMean(parts, tuple(w / total for w in weights) if total else weights, (size,)), total
            start += size

    @property
    def nbytes(self) -> int:
        """Bytes to send it: rows, embeddings or the parameters of exact distributions."""
        return sum(part.nbytes for part in self.parts) + (self._embedding.nbytes if self.is_merged else 0)
