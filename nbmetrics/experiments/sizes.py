"""How much data a score needs and how long it takes, and the published scores of large models."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from ..arrays import as_rows, to_numpy
from ..datasets import SOURCES, published
from ..errors import InvalidInput, check_choice, check_count
from ..figures.drawing import (
    COLOURS,
    GENERATOR,
    GREY,
    MARKERS,
    Drawing,
    caption,
    label,
    legend,
    panels,
    plain,
    plot_with_spread,
    requires_columns,
)
from ..metrics.copying import auth_pct, c_t
from ..metrics.fid.metric import fid
from ..metrics.fld import FLD, fld
from ..metrics.kid.metric import KID, kid
from ..metrics.prdc import prdc
from ..ranking import numeral
from ..tables import check_frames
from .base import FLD_PAPER, MAX_COUNT, experiment, grid
from .image_sets import DIGITS, all_or_none, principal, split_digits
from .images import AGAINST_TEST, fld_and_fid_scorer

SIZES = (50, 100, 200, 400, 800)
GENERATED_ROWS = (100, 200, 400, 800)
TRAIN_ROWS = (250, 500, 1000, 2000, 4000)
TIMED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "fid": lambda train, test, generated: fid(train, generated),
    "kid": lambda train, test, generated: kid(train, generated),
    "fld": fld,
    "c_t": c_t,
    "auth_pct": lambda train, test, generated: auth_pct(train, generated),
    "prdc": lambda train, test, generated: prdc(train, generated),
}


@experiment("F8", f"{FLD_PAPER}, Figure 11")
def sample_size(
    test_size: Any = SIZES,
    *,
    train: Any = None,
    test: Any = None,
    generated: Any = None,
    repeats: int = 10,
    seed: int = 0,
) -> pd.DataFrame:
    """FLD, FID and KID over the number of test rows.

    On few of them FID is biased upwards; FLD and KID are only noisier.

    Test rows drawn without replacement from all there are, for FID and KID the reference; train and generated rows stay
    the same. By default those are digits, and generated are held-out ones, darker (× 0.8) and with noise of standard
    deviation 0.1 in every pixel.

    Parameters
    ----------
    test_size : numbers of test rows, 2 or more
    train, test, generated : rows of features, (n, d); all three or none
    repeats : draws of the test rows to average over, 2 or more
    seed : of the cut and the noise of the digits, of the draws, and of FLD's baseline

    Returns
    -------
    DataFrame test_size, fld, fid, kid: means over the draws, and fld_sd, fid_sd, kid_sd, their standard deviations.
    The last sizes use most of the rows there are, so their draws share rows and vary too little.
    """
    repeats = check_count(repeats, "repeats", minimum=2)
    real, pool, generated = _three_sets(train, test, generated, seed)
    sizes = [check_count(n, "test_size") for n in grid(test_size, "test_size", minimum=2, maximum=len(pool))]
    rows = []
    for n in sizes:
        draws = []
        for repeat in range(repeats):
            test_rows = pool[np.random.default_rng([seed, 1, repeat]).permutation(len(pool))[:n]]
            draws.append({**fld_and_fid_scorer(real, test_rows, seed)(generated), "kid": kid(test_rows, generated)})
        scores = pd.DataFrame(draws)
        rows.append({"test_size": n, **scores.mean(), **scores.std().add_suffix("_sd")})
    table = pd.DataFrame(rows)
    source = DIGITS if train is None else "features as given"
    lines = [FLD(seed).convention, AGAINST_TEST, f"{KID().convention}, against test", source, f"{repeats} draws"]
    table.attrs["conventions"] = lines
    return table


def _three_sets(train: Any, test: Any, generated: Any, seed: int) -> list[np.ndarray]:
    """Train, test and generated rows."""
    if all_or_none(train=train, test=test, generated=generated):
        return _check_rows(train, test, generated)
    (real, _), (generated, _), (pool, _) = split_digits(seed, 0.36, 0.18)  # 647 train, 323 generated, 827 to test with
    generated = 0.8 * generated + 0.1 * np.random.default_rng([seed, 2]).standard_normal(generated.shape)
    extract = principal(real)
    return [extract(images) for images in (real, pool, generated)]


def _check_rows(train: Any, test: Any, generated: Any) -> list[np.ndarray]:
    check_frames(train=train, test=test, generated=generated)
    rows = as_rows(train, "train", min_rows=2)
    others = [as_rows(x, name, dim=rows.shape[1]) for name, x in (("test", test), ("generated", generated))]
    return [to_numpy(x) for x in (rows, *others)]


@experiment("F13", f"{FLD_PAPER}, Appendix A.1")
def generated_size(
    size: Any = GENERATED_ROWS,
    *,
    train: Any = None,
    test: Any = None,
    generated: Any = None,
    repeats: int = 5,
    seed: int = 0,
) -> pd.DataFrame:
    """FLD and FID over the number of generated rows.

    FLD is only noisier with few of them; FID is biased upwards.

    Generated rows drawn without replacement from all there are; train and test rows stay the same, FID is against test.
    By default train (1,600) and test (1,000) are of N(0, I), generated (4,000) of N(0, 1.2² I), in 16 dimensions.

    Parameters
    ----------
    size : numbers of generated rows, 2 or more
    train, test, generated : rows of features, (n, d); all three or none. Beyond half the train rows FLD drifts
        downwards, as its baseline then has fewer centres than there are generated rows
    repeats : draws of the generated rows, and cuts for FLD's baseline, to average over, 2 or more
    seed : of the rows, the draws and the cuts

    Returns
    -------
    DataFrame size, fld, fid: means over the draws, and fld_sd, fid_sd, their standard deviations.

    The paper says that 10,000 generated rows are enough for FLD where FID is given 50,000, and shows no sweep. Here 100
    nearly are: over four seeds FLD is then 0.6 to 1.8 points above its value at 800 rows, 6.4 to 7.0, and FID more than
    twice its value.
    """
    repeats = check_count(repeats, "repeats", minimum=2)
    if all_or_none(train=train, test=test, generated=generated):
        real, test_rows, pool = _check_rows(train, test, generated)
    else:
        rng = np.random.default_rng([seed, 3])
        real, test_rows, pool = (sd * rng.standard_normal((n, 16)) for n, sd in ((1600, 1), (1000, 1), (4000, 1.2)))
    sizes = [check_count(m, "size") for m in grid(size, "size", minimum=2, maximum=len(pool))]
    scores = [fld_and_fid_scorer(real, test_rows, seed + repeat) for repeat in range(repeats)]
    rows = []
    for m in sizes:
        draws = (np.random.default_rng([seed, 1, repeat]).permutation(len(pool))[:m] for repeat in range(repeats))
        draws_of_size = pd.DataFrame([score(pool[drawn]) for score, drawn in zip(scores, draws, strict=True)])
        rows.append({"size": m, **draws_of_size.mean(), **draws_of_size.std().add_suffix("_sd")})
    table = pd.DataFrame(rows)
    source = "N(0, I) against N(0, 1.44 I), 16 features" if train is None else "features as given"
    lines = [FLD(seed).convention, AGAINST_TEST, source, f"{len(real):,} train rows, {repeats} draws"]
    table.attrs["conventions"] = lines
    return table


@experiment("F9", f"{FLD_PAPER}, Tables 1 and 2")
def published_models() -> pd.DataFrame:
    """Published models ranked by FLD and by FID.

    The two rank much alike, least so on ImageNet by Inception.

    The published scores of 23 models of CIFAR-10, FFHQ and ImageNet, each in the features of DINOv2 and of
    Inception-V3, with their places by FLD and by FID among the models of one data set in one feature space.

    Returns
    -------
    DataFrame model, dataset, features, fld, fld_rank, fid, fid_rank (1 = best; ties share the best place),
    gen_gap_fld, c_t, auth_pct, precision, recall.
    """
    table = published("fld_models")
    group = table.groupby(["features", "dataset"], sort=False)
    for metric in ("fld", "fid"):
        table[f"{metric}_rank"] = group[metric].rank(method="min").astype(int)
    first = ["model", "dataset", "features", "fld", "fld_rank", "fid", "fid_rank"]
    table = table[[*first, *(name for name in table if name not in first)]]
    table.attrs["conventions"] = [f"numbers as printed in {SOURCES['fld_models']}; ranks computed here"]
    return table


@experiment("F11", f"{FLD_PAPER}, Figure 12")
def timing(
    train_rows: Any = TRAIN_ROWS,
    metrics: Iterable[str] = tuple(TIMED),
    *,
    dim: int = 64,
    others: int = 1000,
    repeats: int = 3,
    seed: int = 0,
) -> pd.DataFrame:
    """How long each metric takes as the train rows grow.

    Rows of N(0, I): train rows, and `others` test and generated rows. FID, KID, AuthPct and PRDC (precision, recall,
    density and coverage in one pass) compare generated with train rows; FLD and C_T see the test rows too. Each time
    is the median over `repeats` on one thread, on fresh rows each time, as some metrics remember what they have seen.

    Parameters
    ----------
    train_rows : numbers of train rows, 10 or more
    metrics : which of fid, kid, fld, c_t, auth_pct, prdc
    dim : features
    others : test rows, and generated rows, 100 or more
    repeats : runs that the median is of
    seed : of the rows

    Returns
    -------
    DataFrame train_rows, and _seconds of each of fid, kid, fld, c_t, auth_pct, prdc, of this machine, here and now; the
    paper's are of one GPU. There FLD grows faster than many others while it stays within their order of magnitude; here
    C_T, KID and FLD take much alike, and FID least, as 64 features leave it only small matrices.
    """
    from threadpoolctl import threadpool_limits

    sizes = [check_count(n, "train_rows") for n in grid(train_rows, "train_rows", minimum=10, maximum=MAX_COUNT)]
    listed = [metrics] if isinstance(metrics, str) or not isinstance(metrics, Iterable) else list(metrics)
    names = [check_choice(name, TIMED, "metrics") for name in listed]
    if not names:
        raise InvalidInput("metrics", "is empty", f"Give at least one of: {', '.join(TIMED)}")
    dim, others = check_count(dim, "dim"), check_count(others, "others", minimum=100)
    repeats = check_count(repeats, "repeats")
    rng = np.random.default_rng(seed)
    for name in names:  # what is imported on first use is not the metric's time
        TIMED[name](*(rng.standard_normal((100, dim)) for _ in range(3)))
    rows = []
    with threadpool_limits(1):  # many threads on shared cores wait for one another, and the times say little
        for n in sizes:
            times = {name: [_seconds(name, n, others, dim, rng) for _ in range(repeats)] for name in names}
            rows.append({"train_rows": n, **{f"{name}_seconds": np.median(seconds) for name, seconds in times.items()}})
    table = pd.DataFrame(rows)
    lines = [f"median of {repeats} runs on one thread, {dim} features, {others} test and {others} generated rows"]
    table.attrs["conventions"] = lines
    return table


def _seconds(name: str, n: int, others: int, dim: int, rng: np.random.Generator) -> float:
    rows = [rng.standard_normal((count, dim)) for count in (n, others, others)]
    start = time.perf_counter()
    TIMED[name](*rows)
    return time.perf_counter() - start


@requires_columns("test_size fld fid kid fld_sd fid_sd kid_sd")
def draw_sample_size(table: pd.DataFrame) -> Drawing:
    """FLD, FID and KID against the number of test rows, with the standard deviation of one draw (F8)."""
    figure, axes = panels(3, width=3.5, height=3.4)
    for ax, metric in zip(axes, ("fld", "fid", "kid"), strict=True):
        _plot_against_size(ax, table, "test_size", metric)
        ax.set_xlabel("test rows")
    legend(figure, *axes)
    return caption(figure, table)


@requires_columns("size fld fid fld_sd fid_sd")
def draw_generated_size(table: pd.DataFrame) -> Drawing:
    """FLD and FID against the number of generated rows, with the standard deviation of one draw (F13)."""
    figure, axes = panels(2, width=4.6, height=3.4)
    for ax, metric in zip(axes, ("fld", "fid"), strict=True):
        _plot_against_size(ax, table, "size", metric)
        ax.set_xlabel("generated rows")
    legend(figure, *axes)
    return caption(figure, table)


def _plot_against_size(ax: Any, table: pd.DataFrame, column: str, metric: str) -> None:
    """The means of a metric against a number of rows, down to 0, or a tenth more would look like ten times as much."""
    plot_with_spread(ax, table, column, metric)
    ax.axhline(table[metric].iloc[-1], color=GREY, linestyle=":", label="value at the last size")
    ax.set_xscale("log")
    ax.set_xticks(table[column], table[column])
    ax.minorticks_off()
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, 0), max(high, 0))


@requires_columns("model dataset features fld fld_rank fid fid_rank")
def draw_published_models(table: pd.DataFrame) -> Drawing:
    """Places by FLD (left) and FID (right) of each data set's models in each feature space; crossings dashed (F9)."""
    from scipy.stats import kendalltau

    groups = list(table.groupby(["features", "dataset"], sort=False))
    figure, axes = panels(len(groups), width=3.6, height=3.1, rows=-(-len(groups) // 3))
    for ax, ((features, dataset), rows) in zip(axes, groups, strict=True):
        for row in rows.to_dict("records"):
            is_moved = row["fld_rank"] != row["fid_rank"]
            style = {"color": GENERATOR if is_moved else GREY, "linestyle": "--" if is_moved else "-"}
            ax.plot([0, 1], [row["fld_rank"], row["fid_rank"]], marker="D" if is_moved else "o", markersize=5, **style)
            text = f"{plain(row['model'])}  {numeral(row['fld'], '.2f')}"
            ax.annotate(
                text, (0, row["fld_rank"]), (-8, 0), textcoords="offset points", ha="right", va="center", fontsize=8
            )
            ax.annotate(
                f"{row['fid']:.4g}", (1, row["fid_rank"]), (8, 0), textcoords="offset points", va="center", fontsize=8
            )
        ax.set_xlim(-1.5, 1.5)
        ax.set_xticks([0, 1], ["by FLD", "by FID"])
        ax.set_yticks([])
        ax.spines[["left", "bottom"]].set_visible(False)
        ax.grid(False)
        ax.invert_yaxis()
        tau = kendalltau(rows["fld"], rows["fid"]).statistic
        ax.set_title(f"{plain(dataset)}, {plain(features)}: τ = {numeral(tau, '.2f')}", fontsize=10)
    return caption(figure, table)


@requires_columns("train_rows *_seconds")
def draw_timing(table: pd.DataFrame) -> Drawing:
    """Seconds of each metric against the number of train rows, on logarithmic axes (F11)."""
    figure, [ax] = panels(1, width=7, height=4.4)
    columns = [name for name in map(str, table) if name.endswith("_seconds")]
    for k, column in enumerate(columns):
        name = column.removesuffix("_seconds")
        style = {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)]}
        ax.plot(table["train_rows"], table[column], label=label(name), **style)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(table["train_rows"], table["train_rows"])
    ax.minorticks_off()
    ax.set_xlabel("train rows")
    ax.set_ylabel("time (s)")
    legend(figure, ax, columns=6)
    return caption(figure, table)
