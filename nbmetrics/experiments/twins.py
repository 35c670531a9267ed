"""Twin generators: equal to every client, unequal to their union; computed, as printed, and as published."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd

from ..datasets import published
from ..distributions import Gaussian
from ..errors import check_count
from ..evaluation.evaluate import evaluate
from ..federation import Client, Federation
from ..figures.drawing import TWIN_LOOKS, Drawing, caption, legend, panels, requires_columns, with_unit
from ..ranking import numeral
from ..theory import NoTwin, Twin, printed_twin, twin
from .base import DISTRIBUTED, experiment

MAX_CLIENT_LABELS = 8
CONSTRUCTION_TITLES = {
    "corrected": "twins",
    "printed": "by the papers’ formula",
    "published": "the papers’ table (FFHQ)",
}


@experiment("E12", f"{DISTRIBUTED}, Table 1 and Proposition 1")
def twin_generators(federation: Any = None, *, clients: int = 6, dim: int = 8, seed: int = 0) -> pd.DataFrame:
    """Twin generators: FID of both with each client, by avg and by all.

    Twins score alike with every client and differ by FID-all.

    Three pairs of generators: the corrected construction of `nm.theory.twin`, the papers' own (`printed_twin`), which
    does not score alike, and the published pair on face images, which nearly does.

    Parameters
    ----------
    federation : clients of your own, distributions or rows; by default `clients` Gaussians in `dim` dimensions with a
        shared covariance and random means
    clients, dim, seed : of the default federation

    Returns
    -------
    DataFrame construction ("corrected", "printed", "published"), generator ("first", "second"), fid_avg, fid_all,
    fid_client_1, fid_client_2, … (NaN where a construction has fewer clients). A construction that these clients do
    not allow is left out; where there is no twin at all, `nm.theory.NoTwin` is raised.
    """
    if federation is None:
        federation = _default_clients(
            check_count(clients, "clients", minimum=2), check_count(dim, "dim", minimum=2), seed
        )
    elif not isinstance(federation, Federation):
        federation = Federation(federation)
    parts = [_score_pair("corrected", federation, twin(federation, seed=seed))]
    with suppress(NoTwin):
        parts.append(_score_pair("printed", federation, printed_twin(federation)))
    table = published("twin_generators_ffhq").rename(columns=lambda name: name.replace("client_", "fid_client_"))
    table = table.assign(construction="published", generator=["first", "second"])
    joined = pd.concat([*parts, table], ignore_index=True)
    of_clients = [name for name in map(str, joined) if name.startswith("fid_client_")]
    joined = joined[["construction", "generator", "fid_avg", "fid_all", *of_clients]]
    joined.attrs["conventions"] = ["FID of the clients' means and covariances (ddof 1 for rows); published: Inception"]
    return joined


def _default_clients(clients: int, dim: int, seed: Any) -> Federation:
    rng = np.random.default_rng(seed)
    variances = rng.uniform(0.5, 2.0, size=dim)
    return Federation([Client(Gaussian(rng.normal(0, 1.5, size=dim), variances)) for _ in range(clients)])


def _score_pair(construction: str, federation: Federation, pair: Twin) -> pd.DataFrame:
    scores = evaluate(federation, {"first": pair.first, "second": pair.second}, "fid", progress=False)
    table = pd.DataFrame({"construction": construction, "generator": scores.generators})
    table = table.assign(fid_avg=scores.table["avg"], fid_all=scores.table["all"])
    values = scores.clients.pivot(index="generator", columns="client", values="value")
    return table.assign(
        **{f"fid_client_{k}": values.loc[["first", "second"], c].to_numpy() for k, c in enumerate(federation.names, 1)}
    )


@requires_columns("construction generator fid_avg fid_all fid_client_*")
def draw_twin_generators(table: pd.DataFrame) -> Drawing:
    """One panel a construction: client scores on the left, avg and all on the right (E12)."""
    shown = [name for name in CONSTRUCTION_TITLES if name in set(table["construction"])]
    figure, axes = panels(len(shown), width=4.2)
    for ax, name in zip(axes, shown, strict=True):
        rows = table[table["construction"] == name].set_index("generator").drop(columns="construction")
        rows = rows.dropna(axis=1)
        clients = [c for c in map(str, rows) if c.startswith("fid_client_")]
        every = -(-len(clients) // MAX_CLIENT_LABELS)
        places = np.append(np.arange(len(clients)), len(clients) - 1 + every * np.array([1.6, 2.6]))
        for generator, look in TWIN_LOOKS.items():
            values = rows.loc[generator, [*clients, "fid_avg", "fid_all"]]
            ax.plot(places, values, linestyle="none", clip_on=False, label=f"{generator} generator", **look)
        ax.axvline(len(clients) - 1 + 0.8 * every, color="0.6", linewidth=0.8)
        named = [c.removeprefix("fid_client_") for c in clients[::every]]
        ax.set_xticks([*places[:-2:every], *places[-2:]], [*named, "avg", "all"])
        ax.set_xlabel("client")
        ax.set_ylabel(with_unit("fid"))
        ax.set_ylim(bottom=0)
        apart = (rows.loc["second"] - rows.loc["first"]).abs()
        of_clients, of_all = float(np.max(apart[clients])), float(np.max(apart["fid_all"]))
        furthest = numeral(of_clients, ".2g", beside=float(np.max(rows.loc["first"])))
        words = f"apart by {furthest} at most with a client, by {numeral(of_all, '.2g')} for all"
        ax.set_title(f"{CONSTRUCTION_TITLES[name]}:\n{words}", fontsize=10)
    legend(figure, axes[0])
    return caption(figure, table)
