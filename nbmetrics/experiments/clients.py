"""Clients of little variance, where avg and all disagree most: FID and KID, neighbours, and W1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ..distributions import Gaussian
from ..errors import check_choice, check_count, check_number
from ..evaluation.evaluate import evaluate
from ..federation import Client, Federation
from ..figures.drawing import (
    METRIC_LOOKS,
    Drawing,
    best,
    caption,
    curve,
    label,
    legend,
    panels,
    requires_columns,
    whole_ticks,
    with_unit,
)
from ..metrics.fid.metric import FID
from ..metrics.kid.kernels import Kernel
from ..metrics.kid.metric import KID
from ..metrics.kid.polynomial import Polynomial
from ..metrics.prdc import Coverage, Density, Precision, Recall
from ..metrics.w1 import W1
from ..partition import nearest
from .base import DISTRIBUTED, experiment, grid, sweep, wide_table
from .federated_data import LabelledRows, add_conventions, class_and_noise_generators, split_halves
from .generator_order import (
    PLACE_COLUMNS,
    SCORE_COLUMNS,
    inverted_by_metric,
    plot_places,
    plot_scatter,
    with_ranks,
)

NEIGHBOR_COLUMNS = [f"{m}_{a}" for m in ("precision", "recall", "density", "coverage") for a in ("avg", "all")]
SCALES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
PSI = (0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
NOISE_LEVELS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
NEAREST = (20, 40, 80, 150, 300, 500, 700)
RANKED = {"fid": FID(), "kid": KID()}
# Starts in one evaluation: it summarises each generator once, but compares all its clients with one another.
TOGETHER = 5
Source = Callable[[float], np.ndarray]


class CubicOnRows(Polynomial):
    """The cubic kernel without its mean embedding, which hundreds of small clients would each make for every pair."""

    def content(self, sample: Any) -> tuple[Any, float, float]:
        return Kernel.content(self, sample)


@experiment("E6", f"{DISTRIBUTED}, Figures 17 to 21")
def variance_limited(
    scale: Any = SCALES,
    *,
    X: Any = None,
    y: Any = None,
    images: Any = None,
    extractor: Any = None,
    neighbors: Any = (5, 10, 20, 50),
    family: str = "shrunk",
    starts: int = 20,
    seed: int = 0,
) -> pd.DataFrame:
    """FID and KID of generators of growing variety, on clients of little variance.

    There FID-avg prefers generators of little variance.

    One client for each label: a random item and its K nearest neighbours of that label. Scores are means over `starts`
    draws of these items.

    Parameters
    ----------
    scale : above 0, up to 1; how much of the data's variety a generator has
    X, y : (n, d) rows and (n,) labels; digits by default
    images, extractor : images instead of X, and what makes rows of them; see `class_federated`
    neighbors : the K of the clients, one or several
    family : of generators. "neighbors" as in the paper, G_M: a random item (another for each start) and its M
        nearest neighbours, M + 1 = scale · n rows, rounded and never fewer than 2, so that all scales below 2.5/n
        are one generator. "shrunk", which is less noisy: all rows, shrunk about their mean by the factor `scale`
    starts : draws to average over
    seed : of the draws

    Returns
    -------
    DataFrame scale, neighbors, fid and kid each with _avg, _all, _gap, and places among the scales, _avg_rank and
    _all_rank. FID-avg has its best scale below that of FID-all; KID-avg − KID-all is constant.

    On digits shrunk data is best by FID-avg at 0.2 to 0.3 for K up to 20 and 0.4 for 50, by FID-all at 0.9. With G_M,
    where a single start is noisy, FID-avg is best at 0.6 to 0.8 and turns up but slowly; FID-all and KID are best with
    all rows. On learned features (`extractor="digits-cnn"`) both families show it plainly: FID-avg is best at 0.1 to
    0.3 with shrunk data, at 0.3 to 0.4 with G_M.
    """
    scales = grid(scale, "scale", minimum=1e-6, maximum=1)
    makers = {"shrunk": _shrunk_sources, "neighbors": _nearest_sources}
    maker = makers[check_choice(family, makers, "family")]
    sizes = [check_count(k, "neighbors") for k in grid(neighbors, "neighbors", minimum=1)]
    count, state = check_count(starts, "starts"), np.random.SeedSequence(seed)
    items = LabelledRows.of(X, y, images, extractor)
    rows, labels = items.rows, items.labels
    tables = []
    for seeds, source in maker(rows, [int(s) for s in state.generate_state(count)]):
        keys = [k for k in sizes for _ in seeds]
        federations = [Federation.variance_limited(rows, labels, k, s) for k in sizes for s in seeds]
        scores = _score_each(federations, scales, source)
        tables += [table.assign(neighbors=k) for k, table in zip(keys, scores, strict=True)]
    mean = pd.concat(tables).groupby(["neighbors", "scale"]).mean().reset_index()
    mean = mean[["scale", "neighbors", *mean.columns[2:]]]
    mean.attrs["conventions"] = [*tables[0].attrs["conventions"], f"means over {count} starts"]
    return _rank_within(add_conventions(mean, items), "neighbors")


def _shrunk_sources(rows: np.ndarray, seeds: list[int]) -> Iterator[tuple[list[int], Source]]:
    center = rows.mean(axis=0)
    for k in range(0, len(seeds), TOGETHER):
        yield seeds[k : k + TOGETHER], lambda scale: center + scale * (rows - center)


def _nearest_sources(rows: np.ndarray, seeds: list[int]) -> Iterator[tuple[list[int], Source]]:
    for seed in seeds:
        ordered = rows[nearest(rows, int(np.random.default_rng([seed, 1]).integers(len(rows))))]
        yield [seed], partial(_first_rows, ordered)


def _first_rows(rows: np.ndarray, share: float) -> np.ndarray:
    return rows[: max(2, round(share * len(rows)))]


def _score_each(federations: Sequence[Federation], scales: list[float], source: Source) -> list[pd.DataFrame]:
    """Return the sweep on each federation, by one evaluation of them all: each generator is summarized only once."""
    clients = [Client(c.rows, name=f"{k}: {c.name}") for k, members in enumerate(federations) for c in members]
    owner = np.repeat(np.arange(len(federations)), [len(members) for members in federations])
    everyone = Federation(clients)
    generators = {f"{k}: scale {s:g}": source(s) for k, s in enumerate(scales)}
    scores = evaluate(everyone, generators, ["fid", KID(CubicOnRows())], progress=False)
    shares = [np.where(owner == k, everyone.weights, 0.0) for k in range(len(federations))]
    return [wide_table(scores.with_weights(w), "scale").assign(scale=scales) for w in shares]


def _rank_within(table: pd.DataFrame, group: str) -> pd.DataFrame:
    """Return the table with places among the rows of one value of `group`."""
    parts = [with_ranks(part.copy(), RANKED) for _, part in table.groupby(group, sort=False)]
    ranked = pd.concat(parts, ignore_index=True)
    ranked.attrs["conventions"] = table.attrs["conventions"]
    return ranked


@experiment("E7", f"{DISTRIBUTED}, Figure 5")
def truncation(
    psi: Any = PSI,
    *,
    spread: Any = (0.75, 0.0),
    clients: int = 100,
    client_psi: float = 0.25,
    dim: int = 16,
    samples: int | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """FID and KID over the truncation of a generator, on truncated clients.

    FID-avg prefers the truncation of single clients, FID-all that of all data.

    The latents of a truncated generator, seen without a network: generators N(0, ψ² I), clients N(m, ψ_C² I) each
    around a mean m of its own drawn from N(0, spread² I). With spread 0 all clients share their centre, and avg and all
    have the same best ψ.

    Parameters
    ----------
    psi : truncation factors ψ to sweep, above 0
    spread : standard deviations of the clients' means, one or several
    clients, client_psi, dim : number of clients, their ψ_C, and the dimension of the latents
    samples : None for exact distributions; a number (100 in the paper) for that many rows a client, and as many rows
        for each generator as for all clients together
    seed : of the clients' means and of the rows

    Returns
    -------
    DataFrame psi, spread, fid and kid each with _avg, _all, _gap, and places among the ψ, _avg_rank and _all_rank.
    FID-avg is best at ψ_C. FID-all is best at the mean root eigenvalue of the pooled covariance: 0.79 for many
    clients, a little less for 100 of them, the less the larger `dim`. KID-avg − KID-all is constant.
    """
    values = grid(psi, "psi", minimum=1e-6)
    spreads = grid(spread, "spread", minimum=0)
    own = check_number(client_psi, "client_psi", minimum=1e-6)
    count, width = check_count(clients, "clients"), check_count(dim, "dim")
    rows = None if samples is None else count * check_count(samples, "samples", minimum=2)
    centres = np.random.default_rng(seed).standard_normal((count, width))
    tables = []
    for s in spreads:
        federation = Federation([Client(Gaussian(s * centre, own**2)) for centre in centres])
        part = sweep("psi", values, federation, lambda p: Gaussian(np.zeros(width), p * p), samples=rows, seed=seed)
        part.insert(1, "spread", s)
        tables.append(part)
    table = pd.concat(tables, ignore_index=True)
    table.attrs["conventions"] = tables[0].attrs["conventions"]
    return _rank_within(table, "spread")


@experiment("E9", f"{DISTRIBUTED}, Figure 22, and its submission, Figure 6")
def neighbors_federated(
    X: Any = None,
    y: Any = None,
    *,
    images: Any = None,
    extractor: Any = None,
    k: int = 5,
    neighbors: int = 20,
    sizes: Any = None,
    noise: Any = NOISE_LEVELS,
    seed: int = 0,
) -> pd.DataFrame:
    """Precision, recall, density and coverage by avg and by all, on two kinds of clients.

    Precision and density order generators differently by avg and by all, recall never.

    Half of each label's rows make the clients: one for each label with all of them, and then one for each label with a
    random item and its nearest neighbours only (as in `variance_limited`). The other half makes the generators: each
    label, all rows with noise, and a random item with its nearest neighbours.

    Parameters
    ----------
    X, y : (n, d) rows and (n,) labels; digits by default
    images, extractor : images instead of X, and what makes rows of them; see `class_federated`
    k : neighbours that make the radius of a ball in the four metrics
    neighbors : of the item of a variance-limited client, at least k
    sizes : rows of the generators made of an item and its nearest neighbours, more than k; by default those of 20,
        40, 80, 150, 300, 500 and 700 that the other half has
    noise : standard deviations of the noise, in units of X, or of grey values from 0 to 1
    seed : of the halves, the items and the noise

    Returns
    -------
    DataFrame generator, clients ("one class each", "variance-limited"), precision, recall, density, coverage each
    with _avg, _all, _gap, and places by avg and all, such as recall_avg_rank; higher is better. Recall-avg is
    recall-all, to rounding. As in the paper precision inverts most and density some; coverage, which the paper
    finds consistent, inverts few pairs.
    """
    levels = grid(noise, "noise", minimum=0)
    fewest = check_count(k, "k") + 1
    limited = check_count(neighbors, "neighbors", minimum=k)
    items = LabelledRows.of(X, y, images, extractor)
    clients, generating = split_halves(items, seed)
    rows, labels, others = clients.rows, clients.labels, generating.rows
    if sizes is None:
        counts = [m for m in NEAREST if fewest <= m <= len(others)]
    else:
        counts = [check_count(m, "sizes") for m in grid(sizes, "sizes", minimum=fewest, maximum=len(others))]
    order = nearest(others, int(np.random.default_rng([seed, 2]).integers(len(others))))
    generators = class_and_noise_generators(generating, levels, seed)
    generators |= {f"nearest {m}": others[order[:m]] for m in counts}
    federations = {
        "one class each": Federation.from_labels(rows, labels),
        "variance-limited": Federation.variance_limited(rows, labels, limited, seed),
    }
    metrics = [kind(k) for kind in (Precision, Recall, Density, Coverage)]
    tables = []
    for name, federation in federations.items():
        part = wide_table(evaluate(federation, generators, metrics, progress=False))
        part.insert(1, "clients", name)
        tables.append(with_ranks(part, {m.name: m for m in metrics}))
    table = pd.concat(tables, ignore_index=True)
    table.attrs["conventions"] = tables[0].attrs["conventions"]
    return add_conventions(table, items)


@experiment("E10", f"{DISTRIBUTED}, Figure 7")
def transport_federated(
    X: Any = None,
    y: Any = None,
    *,
    images: Any = None,
    extractor: Any = None,
    noise: Any = NOISE_LEVELS,
    method: str = "auto",
    seed: int = 0,
) -> pd.DataFrame:
    """W1 of single classes and of noisy copies of all data, by avg and by all.

    The two order generators differently.

    Half of each label's rows make the clients, one for each label. The other half makes the generators: each label, and
    all rows with noise.

    Parameters
    ----------
    X, y : (n, d) rows and (n,) labels; digits by default
    images, extractor : images instead of X, and what makes rows of them; see `class_federated`
    noise : standard deviations of the noise, in units of X, or of grey values from 0 to 1
    method : of W1: "exact", "sliced", "critic" (as in the paper; needs torch), or "auto": exact up to 2,000 rows.
        All but "critic" need POT: `pip install nbmetrics[transport]`
    seed : of the halves and the noise

    Returns
    -------
    DataFrame generator, w1_avg, w1_all, w1_gap, in units of X, and places w1_avg_rank, w1_all_rank. On digits most
    inversions are between a single class, which avg prefers, and noisy copies of all data, which all prefers;
    among classes alone, as in the paper, few pairs of nearly equal score are inverted. On learned features
    (`extractor="digits-cnn"`) avg prefers copies with more noise to those with less as well.
    """
    levels, metric = grid(noise, "noise", minimum=0), W1(method, seed=seed)
    items = LabelledRows.of(X, y, images, extractor)
    clients, generating = split_halves(items, seed)
    federation = Federation.from_labels(clients.rows, clients.labels)
    scores = evaluate(federation, class_and_noise_generators(generating, levels, seed), metric, progress=False)
    return with_ranks(add_conventions(wide_table(scores), items), {"w1": W1()})


@requires_columns(f"scale neighbors {SCORE_COLUMNS} {PLACE_COLUMNS}")
def draw_variance_limited(table: pd.DataFrame) -> Drawing:
    """FID and KID over the generator's scale, and its places by both, one row of panels for each K (E6)."""
    families = {"neighbors": ("rows kept, (M + 1) / n", "share"), "shrunk": ("data shrunk by ψ", "ψ")}
    family = table.attrs["arguments"].get("family")
    x_label, symbol = families.get(family, ("scale of the generator", "scale"))
    return _sweeps(table, "neighbors", "K = {:g} neighbours a client", x_label, symbol)


@requires_columns(f"psi spread {SCORE_COLUMNS} {PLACE_COLUMNS}")
def draw_truncation(table: pd.DataFrame) -> Drawing:
    """FID and KID over the truncation, and places by both, one row of panels for each spread of the clients (E7)."""
    return _sweeps(table, "spread", "client means spread by {:g}", "truncation of the generator, ψ", "ψ")


@requires_columns(f"generator clients {' '.join(NEIGHBOR_COLUMNS)}")
def draw_neighbors_federated(table: pd.DataFrame) -> Drawing:
    """Precision, recall, density and coverage: avg against all for both kinds of clients (E9)."""
    metrics, kinds = ("precision", "recall", "density", "coverage"), table["clients"].unique()
    figure, axes = panels(len(metrics) * len(kinds), width=2.9, height=3.0, rows=len(kinds))
    for row, kind in enumerate(kinds):
        part = table[table["clients"] == kind]
        for column, metric in enumerate(metrics):
            ax, pairs = axes[row * len(metrics) + column], inverted_by_metric(part, metric)
            plot_scatter(ax, part, metric, pairs)
            ax.set_title(f"{kind}\n{len(pairs)} of {len(part) * (len(part) - 1) // 2} pairs inverted", fontsize=9)
    legend(figure, *axes, columns=5)
    return caption(figure, table)


@requires_columns("generator w1_avg w1_all w1_avg_rank w1_all_rank")
def draw_transport_federated(table: pd.DataFrame) -> Drawing:
    """W1 of single classes and noisy copies: avg against all, and places by both (E10)."""
    figure, axes = panels(2, width=4.8)
    pairs = inverted_by_metric(table, "w1")
    plot_scatter(axes[0], table, "w1", pairs)
    axes[0].set_title(f"{len(pairs)} of {len(table) * (len(table) - 1) // 2} pairs inverted", fontsize=10)
    plot_places(axes[1], table, "w1", pairs)
    legend(figure, *axes)
    return caption(figure, table)


def _sweeps(table: pd.DataFrame, group: str, title: str, x_label: str, symbol: str) -> Drawing:
    """Draw a row of panels for each value of `group`: FID, KID, and places by avg against places by all."""
    groups = list(table.groupby(group, sort=False))
    figure, axes = panels(3 * len(groups), width=3.5, height=2.8, rows=len(groups))
    for row, (value, part) in enumerate(groups):
        ours = axes[3 * row : 3 * row + 3]
        for ax, metric in zip(ours, ("fid", "kid"), strict=False):
            for aggregate in ("avg", "all", "gap"):
                marked = None if aggregate == "gap" else "min"
                curve(ax, part.iloc[:, 0], part[f"{metric}_{aggregate}"], aggregate, aggregate, best=marked)
            ax.set_title(best(part, metric, symbol), fontsize=9)
            ax.set_xlabel(x_label)
            ax.set_ylabel(with_unit(metric))
        ours[0].set_title(f"{title.format(value)}\n{ours[0].get_title()}", fontsize=9)
        for metric in ("fid", "kid"):
            x, y = part[f"{metric}_all_rank"], part[f"{metric}_avg_rank"]
            ours[2].plot(x, y, markersize=5, label=f"{label(metric)} places", **METRIC_LOOKS[metric])
        whole_ticks(ours[2].xaxis, ours[2].yaxis)
        ours[2].set_xlabel("place by all (1 = best)")
        ours[2].set_ylabel("place by avg")
    legend(figure, *axes, columns=5)
    return caption(figure, table)
