"""W1: the 1-Wasserstein (earth mover's) distance between real and generated features.

    W1 = min over plans π of Σ π_ab ‖x_a − y_b‖

by POT (Python Optimal Transport): exact for moderate numbers of rows, sliced (the mean over random directions
of the one-dimensional distance) beyond. Row weights count in both, so W1-all takes any weights.

POT sees rows about one of them, in units of the largest deviation: its simplex starts from costs near 1, and features
of 1e-12 would drown in them. A dual plan then certifies that the exact distance is one. The papers' spectrally
normalised critic, a network trained to tell two samples apart, is another estimate; torch is imported only for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Array, align, like, namespace, plain_torch, to_float64, to_numpy
from ..errors import InvalidInput, check_choice, check_count
from ..lazy_imports import unmoved_random_state
from ..summaries.rows import Rows
from ..tables import check_frames
from .base import Metric, Sample, sample_if_needed

# Real rows up to which "auto" is exact: 1 s against as many generated rows on 2 cores, 5 s against 10,000.
EXACT_ROWS = 2000
# Entries of the cost matrix that exact transport may take: 0.8 GB.
LARGEST_PLAN = 10**8
# Of the distance, and of the median cost: what a plan may cost more than its dual value.
LOOSE, ROUNDING = 1e-4, 1e-12
# The critic: units of a layer, steps of training, rows of each side in a step, step size.
CRITIC_WIDTH, CRITIC_STEPS, CRITIC_BATCH_ROWS, CRITIC_LEARNING_RATE = 128, 400, 256, 2e-3
METHODS = ("auto", "exact", "sliced", "critic")


class W1(Metric[Rows]):
    """1-Wasserstein distance under the Euclidean ground distance, in feature units; ≥ 0, lower is better.

    Parameters
    ----------
    method : "exact" (optimal transport), "sliced" (a lower bound; of a pure shift Γ(d/2)/(√π·Γ((d + 1)/2)), which is
        2/π at d = 2 and about √(2/πd) at large d), or
        "auto": exact up to 2,000 real rows in all clients together and sliced beyond, settled once for the
        federation so that avg and all are the same distance; "critic" trains the papers' spectrally normalised
        network (needs torch), which stays below the distance by what the training misses
    projections : random directions of the sliced distance
    seed : of these directions, or of the critic

    Needs POT: `pip install nbmetrics[transport]`.
    """

    name = "w1"
    label = "W1"
    lowest = 0.0
    min_rows = 1

    def __init__(self, method: str = "auto", projections: int = 128, seed: int = 0) -> None:
        self.method = check_choice(method, METHODS, "method")
        self.projections = check_count(projections, "projections", maximum=100_000)
        self.seed = check_count(seed, "seed", minimum=0)

    def resolve(self, clients: Sequence[Sample]) -> W1:
        """This metric with "auto" settled; the rows that distributions will give count as many."""
        if self.method != "auto":
            return self
        rows = sum(math.inf if c.rows is None else c.rows.shape[0] for c in clients)
        return W1("exact" if rows <= EXACT_ROWS else "sliced", self.projections, self.seed)

    def summarize(self, sample: Sample) -> Rows:
        """The rows of `sample`."""
        if self.method != "critic":
            _transport_library()
        return Rows.of(sample)

    def pool(self, summaries: Sequence[Rows], weights: Sequence[float]) -> Rows:
        """All rows together, each with its weight."""
        return Rows.pool(summaries, weights)

    def terms(self, real: Rows, generated: Rows) -> dict[str, float]:
        """The distance, under its name."""
        unit, x, y = _in_units(real.rows, generated.rows)
        if not unit:
            return {"w1": 0.0}
        is_exact = self.method == "exact" or (self.method == "auto" and x.shape[0] <= EXACT_ROWS)
        distance = (
            self._critic_distance if self.method == "critic" else _exact_distance if is_exact else self._sliced_distance
        )
        return {"w1": unit * distance(x, y, real.weights, generated.weights)}

    def _critic_distance(self, x: Array, y: Array, a: Array, b: Array) -> float:
        return critic_distance(x, y, a, b, self.seed)

    def _sliced_distance(self, x: Array, y: Array, a: Array, b: Array) -> float:
        directions = np.random.default_rng(self.seed).standard_normal((x.shape[1], self.projections))
        directions /= np.linalg.norm(directions, axis=0)
        a, b = (like(to_numpy(weights), x) for weights in (a, b))
        ot = _transport_library()
        return float(ot.sliced_wasserstein_distance(x, y, a, b, p=1, projections=like(directions, x)))

    @property
    def convention(self) -> str:
        sliced = f"sliced, {self.projections} directions, seed {self.seed}"
        kinds = {
            "exact": "exact optimal transport",
            "sliced": sliced,
            "critic": f"spectrally normalized critic, seed {self.seed}",
            "auto": f"exact up to {EXACT_ROWS} real rows, beyond that {sliced}",
        }
        return f"W1: {kinds[self.method]}; Euclidean ground distance"


def _transport_library() -> Any:
    try:
        with unmoved_random_state():
            import ot
    except ImportError:
        seen = "W1 needs POT (Python Optimal Transport), which is not installed"
        raise InvalidInput("metrics", seen, "Run: pip install POT") from None
    return ot


def _in_units(real: Array, generated: Array) -> tuple[float, Array, Array]:
    """A power of two about the largest deviation from the first row, and float64 deviations in units of it."""
    x, y = (to_float64(rows) for rows in align(real, generated))
    xp = namespace(x, y)
    origin = x[:1, :] + 0.0
    x, y = x - origin, y - origin
    largest = max(float(xp.max(xp.abs(rows))) for rows in (x, y))
    unit = math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest else 0.0  # a power of two rounds nothing
    return (unit, x / unit, y / unit) if unit else (0.0, x, y)


def _exact_distance(x: Array, y: Array, a: Array, b: Array) -> float:
    x, y = to_numpy(x), to_numpy(y)
    if len(x) * len(y) > LARGEST_PLAN:
        seen = f"exact transport between {len(x):,} and {len(y):,} rows needs a plan of {len(x) * len(y):.1e} entries"
        raise InvalidInput("method", seen, "Use W1('sliced'), or fewer rows")
    from scipy.spatial.distance import cdist

    costs = cdist(x, y)  # direct, so that copies cost exactly 0
    # emd2 compares the sums of the weights bit for bit, and rescales what differs
    a, b = (w / w.sum() for w in (to_numpy(a), to_numpy(b)))
    value, plan = _transport_library().emd2(a, b, costs, numItermax=10**7, log=True)
    _check_plan(float(value), plan["u"], costs, a, b)
    return max(0.0, float(value))


def _check_plan(value: float, potential: np.ndarray, costs: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    """Refuse a plan that its dual does not show to be the best: any potential, made feasible, is a lower bound."""
    used = a > 0
    lower = float(a[used] @ potential[used] + b @ (costs[used] - potential[used, None]).min(axis=0))
    if value - lower > LOOSE * value + ROUNDING * float(np.median(costs)):
        seen = f"exact transport is known only to lie between {lower:.3g} and {value:.3g} of the largest deviation"
        raise InvalidInput("rows", seen, "Drop outliers that are 1e9 times as far away as the others, or use 'sliced'")


def critic_distance(x: Any, y: Any, x_weights: Any, y_weights: Any, seed: int) -> float:
    """Return E f(X) − E f(Y) for a 1-Lipschitz network f trained to maximise it; below W1 by what the training misses.

    Parameters
    ----------
    x, y : (n, d) and (m, d) float64 rows
    x_weights, y_weights : their weights, each summing to 1
    seed : of the network, its training batches and nothing else

    Raises
    ------
    InvalidInput
        Where torch is not installed.
    """
    try:
        import torch
    except ImportError:
        fix = """Run: pip install "nbmetrics[images]", or use W1('sliced')"""
        raise InvalidInput("method", "'critic' needs torch, which is not installed", fix) from None
    with plain_torch(), torch.random.fork_rng(devices=[]):  # the user's own random stream stays where it is
        rows = [torch.as_tensor(to_numpy(z)) for z in (x, y)]
        weights = [torch.as_tensor(to_numpy(w)) for w in (x_weights, y_weights)]
        centre = torch.cat(rows).mean(dim=0)
        scale = float((torch.cat(rows) - centre).norm(dim=1).mean())
        if scale == 0:
            return 0.0
        rows = [(z - centre) / scale for z in rows]
        torch.manual_seed(seed)
        network = _critic_network(torch, rows[0].shape[1])
        _train_critic(torch, network, rows, weights)
        with torch.no_grad():
            means = [float(w @ network(z)[:, 0]) for z, w in zip(rows, weights, strict=True)]
    return scale * abs(means[0] - means[1])


def _critic_network(torch: Any, dim: int) -> Any:
    spectral = torch.nn.utils.parametrizations.spectral_norm
    layers = []
    for wide in (dim, CRITIC_WIDTH):
        layers += [spectral(torch.nn.Linear(wide, CRITIC_WIDTH, dtype=torch.float64)), torch.nn.LeakyReLU(0.2)]
    return torch.nn.Sequential(*layers, spectral(torch.nn.Linear(CRITIC_WIDTH, 1, dtype=torch.float64)))


def _train_critic(torch: Any, network: Any, rows: Any, weights: Any) -> None:
    optimizer = torch.optim.Adam(network.parameters(), lr=CRITIC_LEARNING_RATE, betas=(0.5, 0.9))
    for _ in range(CRITIC_STEPS):
        parts = [
            z[torch.multinomial(w, CRITIC_BATCH_ROWS, replacement=True)] for z, w in zip(rows, weights, strict=True)
        ]
        loss = network(parts[1]).mean() - network(parts[0]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    network.eval()


def w1(real: Any, generated: Any, method: str = "auto", projections: int = 128, seed: int = 0) -> float:
    """1-Wasserstein distance between two samples, by POT.

    Parameters
    ----------
    real, generated : (n, d) and (m, d) rows of features (NumPy or torch), or distributions, of which 10,000
        rows are drawn
    method : "exact", "sliced", "critic", or "auto": exact up to 2,000 real rows, sliced beyond
    projections, seed : random directions of the sliced distance, and their seed

    Returns
    -------
    float ≥ 0, feature units; lower is better

    Raises
    ------
    InvalidInput
        For NaN or infinity, a wrong rank or dtype, mismatched d, no rows, too many rows for an exact plan, or
        when POT is not installed.

    Examples
    --------
    >>> round(nm.w1([[0.0], [1.0]], [[2.0], [3.0]]), 6)
    2.0
    """
    check_frames(real=real, generated=generated)
    first = Sample.of(real, "real")
    second = Sample.of(generated, "generated", dim=first.dim)
    metric = W1(method, projections, seed).resolve([first])
    summaries = [metric.summarize(sample_if_needed(metric, s, 10_000, [0, i])) for i, s in enumerate((first, second))]
    return metric.distance(*summaries)
