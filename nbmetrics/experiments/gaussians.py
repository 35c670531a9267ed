"""Gaussian toys: two clients and one generator whose variance or shift is swept, by FID, KID and log-likelihood."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd

from ..arrays import as_rows, to_numpy
from ..distributions import Gaussian, Mixture
from ..errors import check_count, check_number
from ..evaluation.evaluate import evaluate
from ..federation import Client, Federation
from ..figures.drawing import (
    CLIENT,
    MARKERS,
    Drawing,
    aggregates_of,
    best,
    caption,
    curve,
    generator_look,
    legend,
    panels,
    requires_columns,
    with_unit,
)
from ..metrics.kid.metric import KID
from ..ranking import numeral
from .base import DISTRIBUTED, experiment, grid, sweep

MEANS = ((-1.0, 0.0), (1.0, 0.0))
VARIANCES = tuple(k / 10 for k in range(41))
POSITIVE = (*(k / 5 for k in range(1, 41)), *(float(k) for k in range(9, 41)))
SHIFTS = tuple(k / 10 for k in range(-20, 21))


def _clients(means: Any) -> Federation:
    centres = to_numpy(as_rows(means, "means", dim=2))
    return Federation([Client(Gaussian(centre), name=f"C{k}") for k, centre in enumerate(centres, 1)])


@experiment("E1", f"{DISTRIBUTED}, Figure 12 a and b")
def gaussian_toy(
    v: Any = VARIANCES,
    *,
    means: Any = MEANS,
    kernel: Any = None,
    samples: int | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """FID and KID over the variance of a generator N(0, diag(v, 1)), on clients N(mean, I).

    The clients are by default at (±1, 0). There FID-avg and FID-all have different best variances, and KID has one.

    Parameters
    ----------
    v : variances along x to sweep, 0 or more
    means : the clients' means, each (x, y)
    kernel : of KID, cubic by default; `nm.RBF(2**0.5)` moves KID's minimum from 2 to 2.19
    samples : None for exact values; a number (50,000 in the paper) for that many rows on each side
    seed : of the rows

    Returns
    -------
    DataFrame v, fid_avg, fid_all, fid_gap, kid_avg, kid_all, kid_gap, and fid_ref, kid_ref: the avg of the ideal
    estimator, the union of the clients, whose all is 0. For the default clients FID-avg = 1 + (1 − √v)² has its minimum
    at 1, FID-all = (√2 − √v)² at 2, and KID-avg − KID-all is constant.

    Examples
    --------
    >>> nm.experiments.gaussian_toy(v=[1, 2])[["v", "fid_avg", "fid_all", "kid_gap"]].round(3)
         v  fid_avg  fid_all  kid_gap
    0  1.0    1.000    0.172    3.875
    1  2.0    1.172    0.000    3.875
    """
    federation = _clients(means)
    metrics = ["fid", KID(kernel)]
    rows = None if samples is None else check_count(samples, "samples", minimum=2)
    options: dict[str, Any] = {"samples": rows, "seed": seed}
    variances = grid(v, "v", minimum=0)
    table = sweep("v", variances, federation, lambda x: Gaussian([0, 0], [x, 1]), metrics, **options)
    ideal = Mixture([client.distribution for client in federation], federation.weights)
    reference = evaluate(federation, {"ideal": ideal}, metrics, progress=False, **options).table
    return table.assign(**{f"{m}_ref": value for m, value in zip(reference["metric"], reference["avg"], strict=True)})


@experiment("E2", f"{DISTRIBUTED}, Figure 13")
def likelihood_toy(
    v: Any = POSITIVE,
    shift: Any = SHIFTS,
    *,
    means: Any = MEANS,
    shifted_v: float = 2.0,
) -> pd.DataFrame:
    """LL-avg and LL-all over the variance and over the shift of a generator.

    The two are one number.

    Clients as in `gaussian_toy`. First generators N(0, diag(v, 1)) over `v`, then N((shift, 0), diag(shifted_v, 1))
    over `shift`; nothing is drawn.

    Parameters
    ----------
    v, shifted_v : variances along x, above 0 (at 0, where the paper's axis starts, there is no density)
    shift : means along x
    means : the clients' means, each (x, y)

    Returns
    -------
    DataFrame v, shift, log_likelihood_avg, log_likelihood_all, log_likelihood_gap, in nats, higher is better, and
    log_likelihood_ref: that of the ideal estimator, the union of the clients, by avg as by all. No generator is above
    it, unlike fid_ref in `gaussian_toy`, which generators beat by avg.
    """
    federation, fixed_v = _clients(means), check_number(shifted_v, "shifted_v", minimum=1e-9)
    metric = ["log_likelihood"]
    first = sweep("v", grid(v, "v", minimum=1e-9), federation, lambda x: Gaussian([0, 0], [x, 1]), metric)
    shifts = grid(shift, "shift")
    second = sweep("shift", shifts, federation, lambda x: Gaussian([x, 0], [fixed_v, 1]), metric)
    table = pd.concat([first.assign(shift=0.0), second.assign(v=fixed_v)], ignore_index=True)
    table = table.assign(log_likelihood_ref=_own_likelihood(federation))
    table.attrs["conventions"] = first.attrs["conventions"]
    return table[["v", "shift", *(f"log_likelihood_{a}" for a in ("avg", "all", "gap", "ref"))]]


def _own_likelihood(federation: Federation) -> float:
    """The mean log-density that the union of clients N(mean, I) gives to itself.

    By the trapezoidal rule, which for such smooth and fast-falling functions is right to rounding.
    """
    steps = np.linspace(-9, 9, 121)
    offsets = np.array(list(itertools.product(steps, steps)))
    shares = np.exp(-0.5 * np.sum(offsets**2, axis=1))
    clients = [client.distribution for client in federation]
    union = Mixture(clients, federation.weights)
    own = [union.log_prob(client.mean + offsets) @ shares / shares.sum() for client in clients]
    return float(np.dot(federation.weights, own))


@experiment("E13", f"{DISTRIBUTED}, Figure 12 c")
def gaussian_samples(v: float = 2.0, *, means: Any = MEANS, points: int = 500, seed: int = 0) -> pd.DataFrame:
    """Samples of the clients of the Gaussian toy and of one generator.

    Clients and generator N(0, diag(v, 1)) as in `gaussian_toy`. The paper does not say its generator's variance; 2 is
    the best one by FID-all.

    Parameters
    ----------
    v : variance of the generator along x, 0 or more
    means : the clients' means, each (x, y)
    points : of each client and of the generator
    seed : of the points

    Returns
    -------
    DataFrame source ("C1", "C2", …, "generator"), x, y.
    """
    federation, count = _clients(means), check_count(points, "points")
    variance = check_number(v, "v", minimum=0)
    distributions = {str(client.name): client.distribution for client in federation}
    distributions["generator"] = Gaussian([0, 0], [variance, 1])
    rng = np.random.default_rng(seed)
    rows = np.concatenate([distribution.sample(count, rng) for distribution in distributions.values()])
    table = pd.DataFrame({"source": np.repeat(list(distributions), count), "x": rows[:, 0], "y": rows[:, 1]})
    table.attrs["conventions"] = [f"{count} points of each distribution, seed {seed}"]
    return table


@requires_columns("v fid_avg fid_all kid_avg kid_all")
def draw_gaussian_toy(table: pd.DataFrame) -> Drawing:
    """FID and KID of a generator of growing variance, with the score of the ideal estimator (E1)."""
    figure, axes = panels(2, width=4.8)
    for ax, metric in zip(axes, ("fid", "kid"), strict=True):
        for aggregate in aggregates_of(table, metric):
            marked = "min" if aggregate in ("avg", "all") else None
            curve(ax, table["v"], table[f"{metric}_{aggregate}"], aggregate, aggregate, best=marked)
        ax.set_title(best(table, metric, "v"), fontsize=10)
        ax.set_ylabel(with_unit(metric))
        ax.set_xlabel("variance of the generator along x, v")
    legend(figure, *axes)
    return caption(figure, table)


@requires_columns("v shift log_likelihood_avg log_likelihood_all log_likelihood_gap log_likelihood_ref")
def draw_likelihood_toy(table: pd.DataFrame) -> Drawing:
    """Log-likelihood over the generator's variance and over its shift, by avg and by all (E2)."""
    figure, axes = panels(2, width=4.8)
    shifted_v = table.attrs["arguments"].get("shifted_v", table["v"].iloc[-1])
    parts = table[table["shift"] == 0], table[table["v"] == shifted_v]
    for ax, part, column in zip(axes, parts, ("v", "shift"), strict=True):
        part = part.sort_values(column)
        for aggregate in ("avg", "all"):
            y = part[f"log_likelihood_{aggregate}"]
            curve(ax, part[column], y, aggregate, f"LL-{aggregate}", best="max")
        curve(ax, part[column], part["log_likelihood_ref"], "ref", "LL of the union of the clients")
        apart = float(np.abs(part["log_likelihood_gap"]).max())
        ax.set_title(f"LL-avg and LL-all differ by at most {numeral(apart, '.1g')}", fontsize=10)
        ax.set_ylabel("log-likelihood (nats; higher is better)")
    axes[0].set_xlabel("variance of the generator along x, v")
    axes[1].set_xlabel("shift of the generator along x")
    legend(figure, axes[0])
    return caption(figure, table)


@requires_columns("source x y")
def draw_gaussian_samples(table: pd.DataFrame) -> Drawing:
    """Samples of clients and of a generator in the plane (E13)."""
    figure, (ax,) = panels(1, width=6.4, height=4.8)
    for k, (name, rows) in enumerate(table.groupby("source", sort=False)):
        look = {"color": CLIENT, "marker": MARKERS[k % len(MARKERS)], "label": f"client {k + 1}"}
        if name == "generator":
            look = {**generator_look(0), "label": "generator"}
        ax.scatter(rows["x"], rows["y"], alpha=0.5, s=10, **look)
    ax.set_aspect("equal")
    ax.set_xlabel("x")
    ax.set_ylabel("y")
    legend(figure, ax)
    return caption(figure, table)
