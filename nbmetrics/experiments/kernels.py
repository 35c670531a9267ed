"""What the estimators of KID make of few rows, under one kernel and another.

KID has the unit of its kernel: values of two kernels, or of one kernel on the features of two extractors, differ by
any factor and may order generators differently, so they do not compare. The table has the same two distributions in
three features, and the value as papers print it, times 100.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..distributions import Empirical, Gaussian, Mixture, parts_of
from ..errors import InvalidInput, check_choice, check_count
from ..figures.drawing import COLOURS, GREY, Drawing, caption, legend, panels, plain, requires_columns
from ..metrics.base import Sample
from ..metrics.kid.estimators import Subsets
from ..metrics.kid.kernels import RBF
from ..metrics.kid.metric import KID
from ..metrics.kid.polynomial import Polynomial
from ..ranking import numeral
from .base import KID_PAPER, experiment, grid, named_kernels

DIMENSION, SHIFT = 16, 0.25
SIZES = (32, 64, 128, 256, 512, 1024)
# Standard deviations take squares.
LARGEST_KERNEL = 1e140
KERNELS = {"cubic": Polynomial(3), "RBF": RBF()}
SCORES = ["kid_biased", "kid_unbiased", "kid_linear", "kid_subsets"]
ESTIMATOR_LOOKS: dict[str, dict[str, Any]] = {
    "kid_biased": {"label": "biased", "color": COLOURS[2], "linestyle": "--", "marker": "D"},
    "kid_unbiased": {"label": "unbiased", "color": COLOURS[1], "linestyle": "-", "marker": "o"},
    "kid_linear": {"label": "linear-time", "color": COLOURS[3], "linestyle": "-.", "marker": "s"},
    "kid_subsets": {"label": "subsets", "color": COLOURS[0], "linestyle": (0, (1, 1)), "marker": "^"},
}


@experiment("K1", f"{KID_PAPER}, MMD estimation")
def kid_estimators(
    n: Any = SIZES,
    *,
    kernels: Any = ("cubic", "RBF"),
    real: Any = None,
    generated: Any = None,
    draws: int = 30,
    subsets: int = 30,
    size: int = 64,
    seed: int = 0,
) -> pd.DataFrame:
    """Four estimators of KID over the number of rows, under each kernel.

    Unbiased KID is right on average at every n, biased KID only as n grows.

    From each of two distributions n rows are drawn, again and again. Every kernel and estimator sees the same rows.

    Parameters
    ----------
    n : numbers of rows on each side, 2 or more
    kernels : of "cubic" and "RBF", or a dict name -> kernel, such as {"narrow": nm.RBF(2)}
    real, generated : distributions with an exact KID, such as Gaussians, or rows (m, d) to draw from with replacement;
        by default N(0, I) and N(0.25, I), every feature shifted by 0.25, in 16 dimensions
    draws : samples for each n, 2 or more
    subsets, size : how many random subsets, 2 or more, and rows a side in each (all n where there are fewer)
    seed : of the rows and the subsets

    Returns
    -------
    DataFrame n, kernel, kid_exact, then kid_biased, kid_unbiased, kid_linear (disjoint pairs of rows) and
    kid_subsets (mean over the subsets), means over the draws, and kid_*_sd, their standard deviations. kid_std is what
    packages report: the standard deviation between the subsets of one sample. It is no uncertainty of kid_subsets,
    which is kid_subsets_sd: it is 0 where n ≤ size, and kid_std/√subsets is too small where the subsets overlap.

    Then what forbids comparison: kid_x100 is 100 · kid_unbiased, as many papers print it (some times 1000; the other
    columns are not multiplied). kid_doubled and kid_pca are kid_exact of the same two distributions in other features:
    all features doubled, and only the first half of the principal components of `real` kept, as in an image rebuilt
    from them. Of kernels and of features, each has its own unit and may order generators in its own way.
    """
    sizes = [check_count(rows, "n", minimum=2) for rows in grid(n, "n")]
    draws, size = check_count(draws, "draws", minimum=2), check_count(size, "size", minimum=2)
    plans = [Subsets(1, size, seed + k) for k in range(check_count(subsets, "subsets", minimum=2))]
    distributions = _distributions(real, generated)
    named = _kernels_by_name(kernels)
    exact = {name: _exact(kernel, distributions) for name, kernel in named.items()}
    views = {"kid_doubled": _double_features(distributions), "kid_pca": _rebuild_from_pca(distributions)}
    elsewhere = {name: {v: _exact(kernel, pair)[1] for v, pair in views.items()} for name, kernel in named.items()}
    rows = []
    for count in sizes:
        pairs = [_draw_samples(distributions, count, [seed, count, draw]) for draw in range(draws)]
        for name, (metric, value) in exact.items():
            estimates = pd.DataFrame([_estimates(metric.kernel, pair, plans) for pair in pairs])
            rows.append({"n": count, "kernel": name, "kid_exact": value, **_summary(estimates), **elsewhere[name]})
    table = pd.DataFrame(rows)
    plan = f"{len(plans)} subsets of {size} rows; {draws} draws of n rows a side, seed {seed}"
    table.attrs["conventions"] = [*(f"{name}: MMD², {metric.kernel}" for name, (metric, _) in exact.items()), plan]
    return table


def _distributions(real: Any, generated: Any) -> list[Any]:
    """Return both as distributions; rows become the whole population."""
    if real is None and generated is None:
        return [Gaussian([shift] * DIMENSION) for shift in (0.0, SHIFT)]
    first = Sample.of(real, "real")
    samples = first, Sample.of(generated, "generated", dim=first.dim)
    return [s.distribution if s.rows is None else Empirical(s.rows) for s in samples]


def _double_features(distributions: list[Any]) -> list[Any]:
    """Return the distributions in features of half the unit."""
    return [
        _map(distribution, 2 * np.eye(distribution.dim), np.zeros(distribution.dim)) for distribution in distributions
    ]


def _rebuild_from_pca(distributions: list[Any]) -> list[Any]:
    """The distributions projected on the first half (rounded up) of the principal axes of the first, about its mean."""
    real = distributions[0]
    axes = np.linalg.eigh(real.cov)[1][:, real.dim // 2 :]
    projection = axes @ axes.T
    return [_map(distribution, projection, real.mean - real.mean @ projection) for distribution in distributions]


def _map(distribution: Any, matrix: np.ndarray, shift: np.ndarray) -> Any:
    """Return the distribution of x @ matrix + shift."""
    if parts := parts_of(distribution):
        return Mixture([_map(part, matrix, shift) for _, part in parts], [weight for weight, _ in parts])
    if isinstance(distribution, Empirical):
        return Empirical(distribution.rows @ matrix + shift)
    return Gaussian(distribution.mean @ matrix + shift, matrix.T @ distribution.cov @ matrix)


def _kernels_by_name(kernels: Any) -> dict[str, Any]:
    if isinstance(kernels, Mapping):
        chosen = named_kernels(kernels)
    else:
        listed = [kernels] if isinstance(kernels, str) or not isinstance(kernels, Iterable) else kernels
        chosen = {name: KERNELS[check_choice(name, KERNELS, "kernels")] for name in listed}
    if not chosen:
        raise InvalidInput("kernels", "is empty", "Give at least one, such as 'cubic'")
    return chosen


def _exact(kernel: Any, distributions: list[Any]) -> tuple[KID, float]:
    """Return the metric with its kernel resolved, and its value between the distributions."""
    samples = [Sample(distribution=distribution) for distribution in distributions]
    metric = KID(kernel).resolve(samples)
    for name, distribution in zip(("real", "generated"), distributions, strict=True):
        if not metric.has_closed_form(distribution):
            fix = "Give Gaussians, a mixture of them, or rows, which are taken as the whole population"
            raise InvalidInput(name, f"has no exact KID under {metric.kernel}", fix)
    terms = metric.terms(*map(metric.summarize, samples)).values()
    if max(map(abs, terms)) > LARGEST_KERNEL:
        seen = f"kernel values reach {max(map(abs, terms)):.2g}, too large for their squares"
        raise InvalidInput("real", seen, "Rescale the features")
    return metric, math.fsum(terms)


def _draw_samples(distributions: list[Any], count: int, seed: list[int]) -> list[Sample]:
    rng = np.random.default_rng(seed)
    return [Sample(rows=distribution.sample(count, rng)) for distribution in distributions]


def _estimates(kernel: Any, pair: list[Sample], plans: list[Subsets]) -> dict[str, float]:
    unbiased, biased, linear = (KID(kernel, estimator) for estimator in ("unbiased", "biased", "linear"))
    means = [unbiased.summarize(sample) for sample in pair]  # of both: the same kernel means, computed once
    rows = [linear.summarize(sample) for sample in pair]
    parts = [KID(kernel, plan).distance(*rows) for plan in plans]
    values = [biased.distance(*means), unbiased.distance(*means), linear.distance(*rows), math.fsum(parts) / len(parts)]
    return {**dict(zip(SCORES, values, strict=True)), "kid_std": float(np.std(parts))}


def _summary(estimates: pd.DataFrame) -> dict[str, float]:
    spread = estimates[SCORES].std().add_suffix("_sd")
    mean = estimates.mean()
    return {**mean[SCORES], **spread, "kid_std": mean["kid_std"], "kid_x100": 100 * mean["kid_unbiased"]}


@requires_columns(
    f"n kernel kid_exact kid_std kid_doubled kid_pca {' '.join(f'{c} {c}_sd' for c in SCORES)}",
    arguments=("size", "subsets"),
)
def draw_kid_estimators(table: pd.DataFrame) -> Drawing:
    """Each estimator's mean ± sd against n, and below it the sd alone; one column of panels a kernel (K1)."""
    kernels = list(dict.fromkeys(table["kernel"]))
    figure, axes = panels(2 * len(kernels), width=4.8, height=3.3, rows=2)
    for kernel, above, below in zip(kernels, axes[: len(kernels)], axes[len(kernels) :], strict=True):
        rows = table[table["kernel"] == kernel]
        _plot_means(above, rows)
        _write_units(above, rows.iloc[0])
        _plot_spreads(below, rows, table.attrs["arguments"])
        above.set_title(f"{plain(kernel)} kernel", fontsize=10)
        for ax in (above, below):
            ax.set_xscale("log", base=2)
            ax.set_xlabel("rows a side, n")
        above.set_ylabel("KID, mean ± sd (kernel units)")
        below.set_ylabel("sd over draws (kernel units)")
    legend(figure, *axes, columns=3)
    return caption(figure, table)


def _plot_means(ax: Any, rows: pd.DataFrame) -> None:
    for name, style in ESTIMATOR_LOOKS.items():
        mean, spread = rows[name], rows[f"{name}_sd"]
        ax.plot(rows["n"], mean, linewidth=1.8, markersize=5, **style)
        ax.fill_between(rows["n"], mean - spread, mean + spread, color=style["color"], alpha=0.12, linewidth=0)
    ax.axhline(rows["kid_exact"].iloc[0], color="black", linewidth=1.2, label="exact")


def _write_units(ax: Any, row: Any) -> None:
    values = {"exact": row["kid_exact"], "features doubled": row["kid_doubled"], "half of PCA": row["kid_pca"]}
    lines = [
        "KID × 100 of the same distributions",
        *(f"{name}: {numeral(100 * value, '.3g')}" for name, value in values.items()),
    ]
    ax.text(0.98, 0.97, "\n".join(lines), transform=ax.transAxes, ha="right", va="top", fontsize=8)


def _plot_spreads(ax: Any, rows: pd.DataFrame, arguments: dict[str, Any]) -> None:
    for name, style in ESTIMATOR_LOOKS.items():
        ax.plot(rows["n"], rows[f"{name}_sd"], linewidth=1.8, markersize=5, **style)
    # up to n = size every subset is the whole sample and kid_std is 0
    some = rows[rows["n"] > arguments["size"]]
    reported = some["kid_std"] / math.sqrt(arguments["subsets"])
    ax.plot(some["n"], reported, color=GREY, linestyle=":", marker="v", label="kid_std / √subsets")
    ax.set_yscale("log")
