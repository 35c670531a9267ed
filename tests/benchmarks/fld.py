"""FLD's mixture fit beside the authors' way, Adam on the log-variances, on the same inputs.

`lines` returns rows of the table of `python -m tests.benchmarks`.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from nbmetrics.metrics.mixture import Scale, fit

from . import peers
from .distributions import MILD, features

PEER = "Adam, lr 0.5, <= 50 epochs (the FLD authors' fit)"


def adam_fit(train, centres, epochs=50, batch=10_000) -> float:
    """The objective (NLL per dimension) that the authors' loop stops at, float32 on the CPU."""
    import torch

    torch.manual_seed(0)
    x, y = torch.from_numpy(train).float(), torch.from_numpy(centres).float()
    dim, m = x.shape[1], len(y)
    origin = 0.81 * ((x - x.mean(0)) ** 2).sum(1, keepdim=True)
    apart = torch.cat([torch.cdist(x, y) ** 2, origin], dim=1)
    log_weight = torch.full((m + 1,), -math.log(m))
    log_weight[-1] = 0.0
    log_var = torch.log((apart.min(dim=0).values + 1e-3) / dim).requires_grad_()
    optimizer = torch.optim.Adam([log_var], lr=0.5)
    best, waited = math.inf, 0
    for _ in range(epochs):
        total = 0.0
        for start in range(0, len(x), batch):
            part = apart[start : start + batch]
            joint = log_weight - 0.5 * part * torch.exp(-log_var) - 0.5 * dim * log_var
            loss = -torch.logsumexp(joint, dim=1).mean() / dim + 0.5 * math.log(2 * math.pi)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                log_var.clamp_(-40, 40)
            total += loss.item() * len(part) / len(x)
        waited = 0 if total < best - 1e-4 else waited + 1
        best = min(best, total)
        if waited > 3:
            break
    return best


def lines(distribution: str = MILD, n: int = 5_000, d: int = 768):
    """Rows of the table: the fit of n centres to n rows, z-scored by n test rows."""
    from .__main__ import Line, timed

    train, test, generated = (features(n, d, seed, np.float32, distribution) for seed in (1, 2, 3))
    scale = Scale.of(test)
    if peers.imported("torch") is None:
        return
    z = scale(train), scale(generated)
    theirs, ours, a, b = timed(partial(adam_fit, *z), lambda: -fit(train, generated, scale).objective)
    if not b <= a + 1e-4:
        raise AssertionError(f"the peer stops at {a}, ours at {b}")
    yield Line(f"FLD's fit, {n:,} x {n:,} rows, d = {d}, float32", PEER, theirs, ours, rows=distribution)
