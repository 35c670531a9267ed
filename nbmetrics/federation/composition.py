"""What clients are made of, as tables: sizes, weights and classes, and the files their images came from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..partition import natural
from .client import Client

SHARE = "share of "
FILES = ["client", "file", "read", "reason"]


def describe(clients: Sequence[Client], weights: Sequence[float]) -> pd.DataFrame:
    """One row a client: client, n, weight, test, and the share of each class where labels are known."""
    table = pd.DataFrame(
        {
            "client": [client.name for client in clients],
            "n": pd.array(
                [None if client.distribution is not None else client.size for client in clients], dtype="Int64"
            ),
            "weight": weights,
            "test": [0 if client.test is None else len(client.test) for client in clients],
        }
    )
    shares = [_shares(client) for client in clients]
    classes = sorted({label for found in shares if found for label in found}, key=natural)
    rows = [[np.nan if found is None else found.get(label, 0.0) for label in classes] for found in shares]
    mix = pd.DataFrame(rows, columns=[f"{SHARE}{label}" for label in classes], dtype=float)
    return pd.concat([table, mix], axis=1)


def _shares(client: Client) -> dict[str, float] | None:
    """The share of each class that a client has, None where its labels are not known."""
    if client.labels is None:
        return None
    found, counts = np.unique(client.labels, return_counts=True)
    return {str(label): count / client.size for label, count in zip(found, counts, strict=True)}


def files(clients: Sequence[Client], beside: pd.DataFrame | None) -> pd.DataFrame:
    """Every file found where the clients' images were looked for, and those beside, which belong to none."""
    reports = [(client.name, client.report) for client in clients] + [("", beside)]
    frames = [report.assign(client=name)[FILES] for name, report in reports if report is not None]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=FILES)
