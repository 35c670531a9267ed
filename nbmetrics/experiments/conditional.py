"""Two correlated numbers x and y, and what MFID, RFID and CFID make of a generator ŷ that has x wrong; real models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..arrays import as_rows
from ..distributions import Gaussian
from ..errors import InvalidInput, check_count, check_number
from ..figures.drawing import COLOURS, CONDITIONAL_LOOKS, Drawing, caption, legend, panels, requires_columns
from ..metrics.conditional import CFID, MFID, RFID, Conditional, cfid, mfid, rfid
from ..summaries.joint import JointMoments
from .base import CFID_PAPER, experiment, grid

ESTIMATE_COLUMNS = [f"{m}_{e}" for m in ("mfid", "rfid", "cfid") for e in ("sc", "nsc1", "nsc2")]
CORRELATIONS = tuple(k / 20 for k in range(-20, 21))
SCALES = tuple(10 ** (k / 10) for k in range(-20, 21))
SIZES = (5, 7, 10, 15, 20, 30, 50, 70, 100)
METRICS: tuple[Conditional, ...] = (MFID(condition_dim=1), RFID(condition_dim=1), CFID(condition_dim=1))
EXACT = [*(metric.convention for metric in METRICS), "distributions exact"]
ESTIMATOR_LOOKS: dict[str, dict[str, Any]] = {
    "sc": {"label": "SC: sample covariance", "color": COLOURS[0], "linestyle": "-", "marker": "o"},
    "nsc1": {"label": "NSC1: variance of y known", "color": COLOURS[1], "linestyle": "--", "marker": "D"},
    "nsc2": {"label": "NSC2: variances of x and y known", "color": COLOURS[2], "linestyle": "-.", "marker": "s"},
}
SURFACES = {"squared_difference": r"$(\rho - \hat{\rho})^2$", "rfid": "RFID", "cfid": "CFID"}


def _distribution(correlation: float, deviation: float = 1.0, scale: float = 1.0) -> JointMoments:
    """The moments of (αx, y): x of variance 1, y of standard deviation `deviation`."""
    off = scale * deviation * correlation
    return JointMoments.of_distribution(Gaussian([0, 0], [[scale**2, off], [off, deviation**2]]), 1)


def _scores(real: JointMoments, generated: JointMoments) -> dict[str, float]:
    return {metric.name: metric.distance(real, generated) for metric in METRICS}


@experiment("C1", f"{CFID_PAPER}, Figure 2")
def correlation_contours(rho: Any = CORRELATIONS, rho_hat: Any = CORRELATIONS) -> pd.DataFrame:
    """The squared difference, RFID and CFID over pairs of correlations.

    CFID and RFID see a wrong correlation that MFID cannot, CFID the more.

    x, y and ŷ have mean 0 and variance 1; y has the correlation ρ with x, and ŷ has ρ̂. All values are exact.

    Parameters
    ----------
    rho, rho_hat : correlations from −1 to 1; every pair of them is scored

    Returns
    -------
    DataFrame rho, rho_hat, squared_difference = (ρ − ρ̂)², mfid = 0, rfid, cfid, in squared units of y. Everywhere
    CFID ≥ RFID ≥ MFID and CFID ≥ (ρ − ρ̂)². CFID is the squared chord between the angles arccos ρ and arccos ρ̂.
    """
    distributions, generated = (
        {r: _distribution(r) for r in sorted(set(grid(values, name, minimum=-1, maximum=1)))}
        for name, values in (("rho", rho), ("rho_hat", rho_hat))
    )
    rows = [
        {"rho": r, "rho_hat": s, "squared_difference": (r - s) ** 2, **_scores(distributions[r], generated[s])}
        for r in distributions
        for s in generated
    ]
    table = pd.DataFrame(rows)
    table.attrs["conventions"] = EXACT
    return table


@experiment("C2", f"{CFID_PAPER}, Figure 3")
def condition_scale(
    alpha: Any = SCALES,
    *,
    rho: float = 0.8,
    rho_hat: float = -0.8,
    deviation: float = 1.5,
    x: Any = None,
    y: Any = None,
    y_hat: Any = None,
) -> pd.DataFrame:
    """MFID, RFID and CFID over the scale of x.

    CFID does not depend on it; RFID runs from MFID up to CFID.

    The condition αx takes the place of x. Without rows the distributions are exact: x and y have mean 0, variance 1 and
    correlation ρ, ŷ has the standard deviation `deviation` and the correlation ρ̂.

    Parameters
    ----------
    alpha : scales of x, from 1e-3 to 1e3
    rho, rho_hat : correlations from −1 to 1
    deviation : standard deviation of ŷ, 0 or more; with 1 MFID is 0
    x, y, y_hat : your own rows instead, (n, dx), (n, dy), (n, dy), n ≥ 10·(dx + dy)

    Returns
    -------
    DataFrame alpha, mfid, rfid, cfid, in squared units of y. RFID of the scaled x is JFID at α.

    The paper does not say which pair its figure has, and stops at α = 1, where its Lemma 3 does. Beyond, RFID goes on
    to CFID: the larger αx, the more it costs to pair an x with another one. At α = 0 there would be no condition left
    and CFID would fall to MFID, so α is positive; beyond 1e3 RFID is the small difference of two large traces.
    """
    scales = grid(alpha, "alpha", minimum=1e-3, maximum=1e3)
    if x is None and y is None and y_hat is None:
        real, generated = (
            check_number(v, name, minimum=-1, maximum=1) for name, v in (("rho", rho), ("rho_hat", rho_hat))
        )
        wide = check_number(deviation, "deviation", minimum=0)
        rows = [{"alpha": a, **_scores(_distribution(real, 1.0, a), _distribution(generated, wide, a))} for a in scales]
        conventions = EXACT
    else:
        inputs = as_rows(x, "x", min_rows=2)
        rows = [{"alpha": a, **{f.__name__: f(a * inputs, y, y_hat) for f in (mfid, rfid, cfid)}} for a in scales]
        conventions = [*(kind().convention for kind in (MFID, RFID, CFID)), f"{len(inputs)} rows as given"]
    table = pd.DataFrame(rows)
    table.attrs["conventions"] = conventions
    return table


@experiment("C3", f"{CFID_PAPER}, Figure 4")
def covariance_estimators(n: Any = SIZES, *, rho: float = 0.8, draws: int = 4_000, seed: int = 0) -> pd.DataFrame:
    """MFID, RFID and CFID of three covariance estimators over the number of pairs.

    Knowing the scales of y and of x helps, and MFID cannot see the second.

    Pairs (x, y) have mean 0, variance 1 and correlation ρ. From n of them a covariance is estimated, which with the
    true variance of x is the distribution of (x, ŷ), and this is scored against the truth. SC is the second moment S =
    Σ zzᵀ/n; NSC1 divides y by √S₂₂, as if the variance of y were known, NSC2 also x by √S₁₁.

    Parameters
    ----------
    n : numbers of pairs, 2 or more
    rho : correlation of x and y, from −0.999 to 0.999
    draws : independent estimates for each n, 2 or more
    seed : of the draws; the three estimators share them

    Returns
    -------
    DataFrame n, then for each metric m of mfid, rfid, cfid: m_sc, m_nsc1, m_nsc2, means over the draws, and m_sc_se,
    m_nsc1_se, m_nsc2_se, their standard errors.

    The paper does not say its ρ. SC and NSC1 may find a covariance of x and ŷ that the true variance of x does not
    allow (one draw in four at n = 5); their residual variance counts as 0 in RFID and CFID. MFID takes the variance
    of ŷ as estimated, so that it is 0 for NSC1 and NSC2.
    """
    from scipy.stats import wishart

    sizes = [check_count(size, "n", minimum=2) for size in grid(n, "n")]
    rho = check_number(rho, "rho", minimum=-0.999, maximum=0.999)
    draws = check_count(draws, "draws", minimum=2)
    rows: list[dict[str, float]] = []
    for size in sizes:
        # n·S is a Wishart matrix, so nothing of length n need be drawn
        scale = np.array([[1.0, rho], [rho, 1.0]]) / size
        s = wishart.rvs(size, scale, size=draws, random_state=np.random.default_rng([seed, size]))
        rows.append({"n": size, **_summary(_estimates(s, rho))})
    table = pd.DataFrame(rows)
    table.attrs["conventions"] = [
        "MFID, RFID, CFID: squared Fréchet distance to the exact distribution",
        "S about the known mean 0, divided by n; true variance of x; residual variance clamped at 0",
        f"means over {draws} draws for each n, seed {seed}",
    ]
    return table


def _estimates(s: np.ndarray, rho: float) -> dict[str, np.ndarray]:
    """Every metric of every estimator, one value for each second moment in `s`, (draws, 2, 2)."""
    xx, xy, yy = s[:, 0, 0], s[:, 0, 1], s[:, 1, 1]
    one = np.ones_like(yy)
    estimates = {"sc": (xy, yy), "nsc1": (xy / np.sqrt(yy), one), "nsc2": (xy / np.sqrt(xx * yy), one)}
    scores = {name: _bivariate(rho, *estimate) for name, estimate in estimates.items()}
    return {f"{metric}_{name}": scores[name][metric] for metric in ("mfid", "rfid", "cfid") for name in estimates}


def _bivariate(rho: float, covariance: np.ndarray, variance: np.ndarray) -> dict[str, np.ndarray]:
    """The metrics between N(0, [[1, ρ], [ρ, 1]]) and N(0, [[1, c], [c, v]]), for arrays c and v."""
    spread = np.sqrt(1 - rho**2)
    residual = np.sqrt(np.maximum(variance - covariance**2, 0.0))
    # the distribution of (x, ŷ) that RFID and CFID see has the variance that its clamped residual leaves it
    total = covariance**2 + residual**2
    cross = np.sqrt(1 + 2 * rho * covariance + total + 2 * spread * residual)
    return {
        "mfid": (1 - np.sqrt(variance)) ** 2,
        "rfid": np.maximum(3 + total - 2 * cross, 0.0),
        "cfid": (rho - covariance) ** 2 + (spread - residual) ** 2,
    }


def _summary(values: dict[str, np.ndarray]) -> dict[str, float]:
    means = {name: float(v.mean()) for name, v in values.items()}
    errors = {f"{name}_se": float(v.std(ddof=1) / np.sqrt(len(v))) for name, v in values.items()}
    return means | errors


@requires_columns("rho rho_hat squared_difference rfid cfid")
def draw_correlation_contours(table: pd.DataFrame) -> Drawing:
    """The squared difference, RFID and CFID over all pairs of correlations, at the same levels (C1)."""
    if min(table["rho"].nunique(), table["rho_hat"].nunique()) < 2:
        raise InvalidInput("table", "has one value of rho or of rho_hat", "Give two or more of each for contours")
    figure, axes = panels(3, height=4.2)
    highest = float(table[list(SURFACES)].to_numpy().max()) or 1.0
    for ax, (column, name) in zip(axes, SURFACES.items(), strict=True):
        surface = table.pivot(index="rho_hat", columns="rho", values=column)
        grid = surface.columns.to_numpy(), surface.index.to_numpy(), surface.to_numpy()
        filled = ax.contourf(*grid, levels=np.linspace(0, highest, 17), cmap="cividis")
        levels, inks = highest * np.array([0.025, 0.125, 0.25, 0.5, 0.75]), ["white"] * 4 + ["black"]
        lines = ax.contour(*grid, levels=levels, colors=inks)
        ax.clabel(lines, fmt="%.2g", fontsize=8, manual=_innermost_points(ax, lines))
        _draw_diagonal(ax)
        ax.set_aspect("equal")
        ax.set_title(name, fontsize=10)
        ax.set_xlabel(r"correlation of x and y, $\rho$")
    axes[0].set_ylabel(r"correlation of x and ŷ, $\hat{\rho}$")
    figure.colorbar(filled, ax=list(axes), label="squared units of y", shrink=0.8)
    return caption(figure, table)


def _innermost_points(ax: Any, lines: Any) -> list[Any]:
    """The point of each contour that is furthest from the frame, where a label beside it is not cut."""
    low, high = (ax.transData.inverted().transform(ax.transAxes.transform((end, end))) for end in (0, 1))
    innermost = []
    for line in (piece for pieces in lines.allsegs for piece in pieces if len(piece)):
        points = np.concatenate([line, (line[1:] + line[:-1]) / 2])
        room = (np.minimum(points - low, high - points) / (high - low)).min(axis=1)
        if room.max() > 0.07:
            innermost.append(points[room.argmax()])
    return innermost


def _draw_diagonal(ax: Any) -> None:
    """Where both correlations are equal, if the panel shows any of it; its name stands on it."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    low, high = max(left, bottom), min(right, top)
    if low >= high:
        return
    ax.plot((low, high), (low, high), color="white", linestyle="--", linewidth=1.8, scalex=False, scaley=False)
    middle, box = (low + high) / 2, {"facecolor": "#00224e", "edgecolor": "none", "pad": 1}
    look = {"rotation": 45, "rotation_mode": "anchor", "ha": "center", "va": "center", "bbox": box, "clip_on": True}
    ax.text(middle, middle, r"$\hat{\rho} = \rho$", color="white", **look)


@requires_columns("alpha mfid rfid cfid")
def draw_condition_scale(table: pd.DataFrame) -> Drawing:
    """MFID, RFID and CFID against the scale of x (C2)."""
    figure, (ax,) = panels(1, width=7.0)
    for metric, style in CONDITIONAL_LOOKS.items():
        ax.plot(table["alpha"], table[metric], linewidth=1.8, markevery=0.1, **style)
    ax.set_xscale("log")
    ax.set_ylim(bottom=0)
    ax.set_xlabel("scale of x, α")
    ax.set_ylabel("distance (squared units of y)")
    legend(figure, ax)
    return caption(figure, table)


@requires_columns(f"n {' '.join(f'{c} {c}_se' for c in ESTIMATE_COLUMNS)}")
def draw_covariance_estimators(table: pd.DataFrame) -> Drawing:
    """The mean score of each covariance estimator against the number of pairs, with ± 2 standard errors (C3)."""
    figure, axes = panels(3)
    for ax in axes[1:]:
        ax.sharey(axes[0])
    for ax, (metric, look) in zip(axes, CONDITIONAL_LOOKS.items(), strict=True):
        for name, style in ESTIMATOR_LOOKS.items():
            mean, error = table[f"{metric}_{name}"], 2 * table[f"{metric}_{name}_se"]
            ax.plot(table["n"], mean, linewidth=1.8, markersize=5, **style)
            ax.fill_between(table["n"], mean - error, mean + error, color=style["color"], alpha=0.2, linewidth=0)
        ax.set_xscale("log")
        ax.set_title(look["label"], fontsize=10)
        ax.set_xlabel("number of pairs, n")
    axes[0].set_ylabel("mean distance to the truth ± 2 se\n(squared units of y)")
    legend(figure, axes[0])
    return caption(figure, table)
