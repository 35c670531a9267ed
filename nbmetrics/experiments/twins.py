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
from ..theory import NoTwin, Twin, printed_twin, twin
from .base import DISTRIBUTED, experiment


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
        federation = _shared(check_count(clients, "clients", minimum=2), check_count(dim, "dim", minimum=2), seed)
    elif not isinstance(federation, Federation):
        federation = Federation(federation)
    parts = [_scored("corrected", federation, twin(federation, seed=seed))]
    with suppress(NoTwin):
        parts.append(_scored("printed", federation, printed_twin(federation)))
    table = published("twin_generators_ffhq").rename(columns=lambda name: name.replace("client_", "fid_client_"))
    table = table.assign(construction="published", generator=["first", "second"])
    joined = pd.concat([*parts, table], ignore_index=True)
    of_clients = [name for name in map(str, joined) if name.startswith("fid_client_")]
    joined = joined[["construction", "generator", "fid_avg", "fid_all", *of_clients]]
    joined.attrs["conventions"] = ["FID of the clients' means and covariances (ddof 1 for rows); published: Inception"]
    return joined


def _shared(clients: int, dim: int, seed: Any) -> Federation:
    rng = np.random.default_rng(seed)
    variances = rng.uniform(0.5, 2.0, size=dim)
    return Federation([Client(Gaussian(rng.normal(0, 1.5, size=dim), variances)) for _ in range(clients)])


def _scored(construction: str, federation: Federation, pair: Twin) -> pd.DataFrame:
    scores = evaluate(federation, {"first": pair.first, "second": pair.second}, "fid", progress=False)
    table = pd.DataFrame({"construction": construction, "generator": scores.generators})
    table = table.assign(fid_avg=scores.table["avg"], fid_all=scores.table["all"])
    values = scores.clients.pivot(index="generator", columns="client", values="value")
    return table.assign(
        **{f"fid_client_{k}": values.loc[["first", "second"], c].to_numpy() for k, c in enumerate(federation.names, 1)}
    )
