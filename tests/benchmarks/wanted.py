"""MiFID beside torchmetrics and Inception Score beside torch-fidelity: seconds on the same inputs."""

from __future__ import annotations

import numpy as np

import nbmetrics as nm
from nbmetrics.metrics.prdc import forget

from . import peers
from .distributions import MILD, features


def mifid_lines(distribution: str, dtype, n: int = 5_000, d: int = 2048):
    """A row of the table: generated rows of which half are near copies of train rows."""
    from .__main__ import Line, same, timed

    if (peer := peers.torchmetrics_mifid()) is None:
        return
    train, fresh = features(n, d, 1, dtype, distribution), features(n, d, 2, dtype, distribution)
    generated = np.concatenate([1.01 * train[: n // 2], fresh[n // 2 :]])

    def ours():
        forget()
        return nm.mifid(train, generated)

    name, score = peer
    first, second, theirs, own = timed(lambda: score(train, generated), ours)
    same(theirs, own, 1e-3)
    yield Line(f"MiFID, {n:,} rows a side, d = {d}, {np.dtype(dtype)}", name, first, second, rows=distribution)


def inception_lines(n: int = 50_000, classes: int = 1008):
    """A row of the table: from logits, softmax included on both sides."""
    from .__main__ import Line, same, timed

    if (peer := peers.torch_fidelity_isc()) is None:
        return
    logits = 3.0 * np.random.default_rng(1).standard_normal((n, classes)).astype(np.float32)

    def ours():
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        odds /= odds.sum(axis=1, keepdims=True)
        return nm.inception_score(odds)

    name, score = peer
    first, second, theirs, own = timed(lambda: score(logits), ours)
    same(theirs, own, 1e-4)
    yield Line(f"Inception Score, {n:,} rows of {classes:,} logits, float32", name, first, second, rows=MILD)
