"""What clients are made of, as tables: sizes, weights and classes, and the files their images came from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from .client import Client

SHARE = "share of "
FILES = ["client", "file", "read", "reason"]


def describe(clients: Sequence[Client], weights: Sequence[float]) -> pd.DataFrame:
    """One row a client: client, n, weight, test, and the share of each class where labels are known."""
    table = pd.DataFrame(
        {
            "client": [client.name for client in clients],
            "n": pd.array([client.size if client.rows is not None else None for client in clients], dtype="Int64"),
            "weight": weights,
            "test": [0 if client.test is None else len(client.test) for client in clients],
        }
    )
    known = [client.labels for client in clients if client.labels is not None]
    distinct = np.unique(np.concatenate(known)) if known else np.empty(0)
    shares = np.full((len(clients), len(distinct)), np.nan)
    for row, client in zip(shares, clients, strict=True):
        if client.labels is not None:
            found, counts = np.unique(client.labels, return_counts=True)
            row[:] = 0.0
            row[np.searchsorted(distinct, found)] = counts / client.size
    mix = pd.DataFrame(shares, columns=[f"{SHARE}{label}" for label in distinct])
    return pd.concat([table, mix], axis=1)


def files(clients: Sequence[Client], beside: pd.DataFrame | None) -> pd.DataFrame:
    """Every file found where the clients' images were looked for, and those beside, which belong to none."""
    reports = [(client.name, client.report) for client in clients] + [("", beside)]
    frames = [report.assign(client=name)[FILES] for name, report in reports if report is not None]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=FILES)
