"""At which ε do the ranks survive? The same summaries, noised again and again, and how often they order alike.

The study needs the rows: it is made before a release, of public or simulated data like those to come.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InvalidInput, check_count, check_list, check_number
from ..evaluation.evaluate import evaluate
from ..evaluation.scores import Scores
from ..evaluation.wanted import listed
from ..federation import Federation, as_generators
from ..metrics import KID
from ..metrics.kid.features import RandomFeatures
from .noisy import bounded, with_noise
from .privacy import Normals, Privacy
from .server import aggregate
from .wire import write

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
# The share of the runs in which the best generator stays the best, from which ranks are said to survive.
KEPT = 0.95


def rank_survival(
    federation: Any,
    generators: Any,
    metrics: Any = None,
    *,
    clip: float,
    epsilons: Sequence[float] = EPSILONS,
    delta: float = 1e-5,
    centre: Any = None,
    repeats: int = 20,
    samples: int | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """How much of the order of generators is left when clients add noise to their summaries, ε by ε.

    Parameters
    ----------
    federation : clients with rows; or what makes one
    generators : two or more, as for `evaluate`
    metrics : "fid" and KID of random features; by default both, the features 1,024 of `nm.RBF()`
    clip, delta, centre : see `Privacy`; δ and each ε hold for all metrics together
    epsilons : from small to large
    repeats : draws of the noise
    samples, seed : as for `evaluate`, and of the noise

    Returns
    -------
    DataFrame, one row for each ε (infinity: clipped, without noise), metric and aggregate:

    - epsilon, metric, aggregate ("avg", "all")
    - agreement: mean Kendall's τ with the order without clipping and noise
    - best_kept: share of the draws in which the best generator stays the best
    - error: mean |score − score without clipping and noise|, over generators and draws

    `attrs["survives"]` has, by metric and aggregate, the smallest ε from which on best_kept is at least 0.95, or None.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> clients = [rng.normal(k, 1, size=(500, 2)) for k in (0, 1)]
    >>> generators = {"near": nm.Gaussian([0.5, 0.5], 1.2), "far": nm.Gaussian([2.0, 2.0])}
    >>> curve = nm.federated.rank_survival(clients, generators, "fid", clip=5.0, epsilons=[0.01, 10], repeats=5)
    >>> curve.attrs["survives"]["fid", "all"]
    10.0
    """
    federation = federation if isinstance(federation, Federation) else Federation(federation)
    wanted = listed(("fid", KID(RandomFeatures(count=1024))) if metrics is None else metrics)
    made, count = as_generators(generators), check_count(repeats, "repeats", maximum=10_000)
    known = sorted(check_number(e, "epsilons") for e in check_list(epsilons, "epsilons", 1_000))
    budgets = [Privacy(e, delta, clip, centre) for e in known]
    if not budgets:
        raise InvalidInput("epsilons", "is empty", "Give at least one")
    exact = evaluate(federation, made, wanted, samples=samples, seed=seed, progress=False)
    known_to = [[bounded(m, client.to_sample(), budgets[0]) for m in wanted] for client in federation]
    releases = max(1, sum(bool(section.arrays) for section in known_to[0]))
    streams = [Normals([check_count(seed, "seed", minimum=0), c]) for c in range(len(federation))]

    def draws(multiplier: float, count: int) -> list[Scores]:
        """All draws as one federation, each with the weights of its own clients: generators are summarised once."""
        sent = [
            write(federation.dim, [with_noise(section, multiplier, normals) for section in sections])
            for _ in range(count)
            for sections, normals in zip(known_to, streams, strict=True)
        ]
        scores = aggregate(sent, np.ones(len(sent)), made, wanted, samples=samples, seed=seed)
        own = np.kron(np.eye(count), federation.weights)
        return [scores.with_weights(weights) for weights in own]

    rows = []
    for budget in budgets:
        rows += _compared(budget.epsilon, exact, draws(budget.multiplier(releases), count))
    rows += _compared(math.inf, exact, draws(0.0, 1))
    frame = pd.DataFrame(rows, columns=["epsilon", "metric", "aggregate", "agreement", "best_kept", "error"])
    frame.attrs["survives"] = {key: _survives(part) for key, part in frame.groupby(["metric", "aggregate"])}
    frame.attrs["title"] = f"Order of {len(made)} generators under noise: {len(federation)} clients, δ = {delta:g}"
    return frame


def _compared(epsilon: float, exact: Scores, runs: Sequence[Scores]) -> list[tuple[Any, ...]]:
    """One row for each metric and aggregate."""
    from scipy.stats import kendalltau

    rows = []
    for metric in exact.metrics:
        losses = [scores.losses(metric) for scores in (exact, *runs)]
        for part, found in (("avg", [own.avg for own in losses]), ("all", [own.all for own in losses])):
            true, drawn = found[0], np.array(found[1:])
            agreement = np.mean([kendalltau(true, one).statistic for one in drawn]) if len(true) > 1 else math.nan
            kept = np.mean([np.argmin(one) == np.argmin(true) for one in drawn])
            rows.append((epsilon, metric, part, float(agreement), float(kept), float(np.mean(np.abs(drawn - true)))))
    return rows


def _survives(part: pd.DataFrame) -> float | None:
    """The smallest ε from which on the best generator stays the best."""
    found = part[np.isfinite(part["epsilon"])].sort_values("epsilon", ascending=False)
    kept = (found["best_kept"] >= KEPT).cumprod().astype(bool)
    return float(found["epsilon"][kept].min()) if kept.any() else None
