"""Generators in training, scored at their checkpoints and through a collapse, from samples that come with the package.

`python -m nbmetrics.training.make_samples` made the samples (`nm.datasets.trained_samples`); no torch is needed here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..datasets import digit_images, digits, trained_samples
from ..datasets.trained import TARGETS, collapse_target
from ..errors import check_count, check_number
from ..evaluation.evaluate import evaluate
from ..federation import Federation
from ..figures.drawing import GREY, Drawing, caption, curve, legend, panels, plain, requires_columns, with_unit
from ..metrics.fid.metric import FID
from ..metrics.kid.metric import KID
from ..ranking import numeral
from ..theory.collapse import collapse
from .base import DISTRIBUTED, experiment, wide_table
from .federated_data import feature_function
from .generator_order import (
    SCORE_COLUMNS,
    inverted_by_metric,
    plot_scatter,
    with_ranks,
)

LEARNED = "digits-cnn"


@experiment("E11", f"{DISTRIBUTED}, Figure 15 left")
def checkpoints(neighbors: int = 30, alpha: float = 0.3, *, rows: int = 500, seed: int = 0) -> pd.DataFrame:
    """Checkpoints of WGAN-GP and DDPM in training, by avg and by all, on four federations.

    FID-avg and FID-all order checkpoints differently, most often where each client varies little (592 of 780 pairs, and
    217 with Dirichlet clients); KID never.

    Ten checkpoints each of two runs of a WGAN-GP and two of a DDPM, trained on all digits; rows of each are scored
    against all 1,797 digits, dealt to clients in four ways.

    Parameters
    ----------
    neighbors : of the item of a variance-limited client
    alpha : of the Dirichlet shares of the ten clients
    rows : of each checkpoint, 2 to 500
    seed : of the items and of the shares, not of the training

    Returns
    -------
    DataFrame step, model, run (its seed), clients ("one class each", "variance-limited", "Dirichlet", all three on
    features of the digits-cnn, and "one class each, pixels"), fid and kid each with _avg, _all, _gap, and places among
    the 40 checkpoints of one federation, _avg_rank and _all_rank. KID-avg − KID-all is one number for each federation.
    """
    share = check_number(alpha, "alpha", minimum=1e-3, maximum=1e6)
    near = check_count(neighbors, "neighbors", minimum=1, maximum=1000)
    count = check_count(rows, "rows", minimum=2, maximum=500)
    samples, (pixels, labels) = trained_samples("checkpoints"), digits()
    features, convention = feature_function(LEARNED)
    generated_rows, real = samples.rows[:, :count], features(digit_images()[0] / 255)
    generated_features = [features(one.reshape(-1, 8, 8)) for one in generated_rows]
    dealt = {
        "one class each": (Federation.from_labels(real, labels), generated_features),
        "variance-limited": (Federation.variance_limited(real, labels, near, seed), generated_features),
        "Dirichlet": (Federation.dirichlet(real, labels, 10, share, seed), generated_features),
        "one class each, pixels": (Federation.from_labels(pixels, labels), generated_rows),
    }
    about = pd.DataFrame({"step": samples.step, "model": samples.model, "run": samples.seed})
    tables = []
    for name, (federation, generated) in dealt.items():
        part = _score_samples(federation, generated)
        conventions = part.attrs["conventions"]
        part = pd.concat([about.assign(clients=name), part], axis=1)
        tables.append(with_ranks(part, {"fid": FID(), "kid": KID()}))
    table = pd.concat(tables, ignore_index=True)
    table.attrs["conventions"] = [*conventions, convention]
    return table


@experiment("E8", f"{DISTRIBUTED}, Figure 6")
def mode_collapse(neighbors: int = 10, runs: int = 5, *, rows: int = 250, seed: int = 0) -> pd.DataFrame:
    """A WGAN-GP whose data become one class, eight alike or one point: FID and KID, by avg and by all.

    FID-avg misses a collapse near the pooled mean of clients who vary little inside; FID-all and KID see every one.

    Runs of five seeds, trained on all digits for 1,200 steps and then on a target alone for 300; rows of each step are
    scored against the digits on features of the digits-cnn, dealt to clients in two ways.

    Parameters
    ----------
    neighbors : of the item of a variance-limited client
    runs : how many of the five runs, 1 to 5
    rows : of each step, 2 to 250
    seed : of the items of the variance-limited clients, not of the training

    Returns
    -------
    DataFrame step, since (steps since the data were switched, 0 and less before), clients ("one class each",
    "variance-limited"), target ("class 8", "8s nearest their mean", "a random digit"), run (its seed), fid and kid each
    with _avg, _all, _gap; fid_avg_law, what `theory.collapse` says of a perfect generator, before and after; law_ratio,
    its after / before, below 1 where FID-avg must call the collapse an improvement; and kid_avg_sds, by how many
    standard deviations of the run's steps before KID-avg is above their mean.
    """
    near = check_count(neighbors, "neighbors", minimum=1, maximum=1000)
    runs = check_count(runs, "runs", minimum=1, maximum=5)
    count = check_count(rows, "rows", minimum=2, maximum=250)
    samples, (pixels, labels) = trained_samples("collapse"), digits()
    features, convention = feature_function(LEARNED)
    real = features(digit_images()[0] / 255)
    kept = np.flatnonzero(samples.seed < runs)
    generated_features = [features(samples.rows[k, :count].reshape(-1, 8, 8)) for k in kept]
    about = pd.DataFrame({"step": samples.step[kept], "target": samples.target[kept], "run": samples.seed[kept]})
    switch = int(about.loc[about["target"] == "", "step"].max())
    dealt = {
        "one class each": Federation.from_labels(real, labels),
        "variance-limited": Federation.variance_limited(real, labels, near, seed),
    }
    tables = []
    for name, federation in dealt.items():
        scores = _score_samples(federation, generated_features)
        whole = pd.concat([about.assign(clients=name, since=about["step"] - switch), scores], axis=1)
        for target in TARGETS:
            for run in range(runs):
                own = whole[(whole["run"] == run) & whole["target"].isin(["", target])].assign(target=target)
                left = features(collapse_target(target, run, pixels, labels).reshape(-1, 8, 8))
                tables.append(_with_prediction(own, collapse(federation, left)))
    table = pd.concat(tables, ignore_index=True)
    first = ["step", "since", "clients", "target", "run"]
    table = table[[*first, *(column for column in table if column not in first)]]
    table.attrs["conventions"] = [*scores.attrs["conventions"], convention]
    return table


def _with_prediction(own: pd.DataFrame, law: Any) -> pd.DataFrame:
    """Return one run with the scores that `theory.collapse` predicts."""
    before = own["since"] <= 0
    earlier = own.loc[before, "kid_avg"]
    return own.assign(
        fid_avg_law=np.where(before, law.before, law.after),
        law_ratio=law.ratio,
        kid_avg_sds=(own["kid_avg"] - earlier.mean()) / earlier.std(ddof=1),
    )


def _score_samples(federation: Federation, generated: Any) -> pd.DataFrame:
    """Return fid and kid with _avg, _all, _gap of each sample."""
    generators = {str(k): rows for k, rows in enumerate(generated)}
    table = wide_table(evaluate(federation, generators, ("fid", "kid"), progress=False))
    scores = table.drop(columns="generator")
    scores.attrs["conventions"] = table.attrs["conventions"]
    return scores


@requires_columns(f"step model clients {SCORE_COLUMNS}")
def draw_checkpoints(table: pd.DataFrame) -> Drawing:
    """Checkpoints of models in training: avg against all on each federation, inverted pairs joined (E11)."""
    kinds = list(table.groupby("clients", sort=False))
    figure, axes = panels(2 * len(kinds), width=3.3, height=3.2, rows=2)
    for row, metric in enumerate(("fid", "kid")):
        for column, (clients, part) in enumerate(kinds):
            ax, pairs = axes[row * len(kinds) + column], inverted_by_metric(part, metric)
            plot_scatter(ax, part.assign(generator=part["model"]), metric, pairs)
            ax.set_title(
                f"{plain(clients)}\n{len(pairs)} of {len(part) * (len(part) - 1) // 2} pairs inverted", fontsize=9
            )
    legend(figure, *axes)
    return caption(figure, table)


@requires_columns(f"step since clients target run {SCORE_COLUMNS} fid_avg_law law_ratio")
def draw_mode_collapse(table: pd.DataFrame) -> Drawing:
    """FID of models through a collapse, by avg and by all, for each kind of clients and each target (E8).

    Lines are means over the runs, and every run is thin behind them; the line by the law is of a perfect generator.
    """
    rows, targets = list(table.groupby("clients", sort=False)), table["target"].nunique()
    figure, axes = panels(len(rows) * targets, width=3.9, height=3.3, rows=len(rows))
    for row, (clients, part) in enumerate(rows):
        for column, (target, own) in enumerate(part.groupby("target", sort=False)):
            ax = axes[row * targets + column]
            mean = own.groupby("since", as_index=False).mean(numeric_only=True)
            for _, run in own.groupby("run"):
                for aggregate in ("avg", "all"):
                    ax.plot(run["since"], run[f"fid_{aggregate}"], color=GREY, linewidth=0.5, alpha=0.6)
            for aggregate in ("avg", "all"):
                curve(ax, mean["since"], mean[f"fid_{aggregate}"], aggregate, f"FID-{aggregate}", best=None)
            ax.step(
                mean["since"], mean["fid_avg_law"], where="post", color=GREY, linestyle="-.", label="FID-avg by the law"
            )
            ax.axvline(0, color=GREY, linewidth=0.8, linestyle=":")
            ax.set_xscale("symlog", linthresh=10)
            ax.set_title(f"{plain(clients)}, {plain(target)}\n{_change_text(own)}", fontsize=9)
            ax.set_xlabel("steps since the data were switched")
            ax.set_ylabel(with_unit("fid"))
    legend(figure, *axes)
    return caption(figure, table)


def _change_text(own: pd.DataFrame) -> str:
    """Return the factors of the scores, from the mean before to that of the last three steps."""
    steps = sorted(own["since"].unique())
    before, after = own[own["since"] <= 0], own[own["since"].isin(steps[-3:])]
    times = {
        c: numeral(after[c].mean() / before[c].mean(), ".2f") for c in ("fid_avg", "fid_all", "kid_avg", "kid_all")
    }
    law = numeral(own["law_ratio"].mean(), ".2f")
    first = f"FID-avg × {times['fid_avg']} (law {law}), FID-all × {times['fid_all']}"
    return f"{first}\nKID-avg × {times['kid_avg']}, KID-all × {times['kid_all']}"
