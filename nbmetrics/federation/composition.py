"""What clients are made of, as tables: sizes, weights and classes, and the files their images came from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..partition import natural
from .client import Client

SHARE_PREFIX = "share of "
FILE_COLUMNS = ["client", "file", "read", "reason"]


def describe(clients: Sequence[Client], weights: Sequence[float]) -> pd.DataFrame:
    """One row a client: client, n, weight, test, and the share of each class where labels are known."""
    table = pd.DataFrame(
        {
            "client": [client.name for client in clients],
            "n": pd.array([client.size or None for client in clients], dtype="Int64"),
            "weight": weights,
            "test": [0 if client.test is None else len(client.test) for client in clients],
        }
    )
    shares = [_class_shares(client) for client in clients]
    classes = sorted({label for class_shares in shares if class_shares for label in class_shares}, key=natural)
    rows = [
        [np.nan if class_shares is None else class_shares.get(label, 0.0) for label in classes]
        for class_shares in shares
    ]
    mix = pd.DataFrame(rows, columns=[f"{SHARE_PREFIX}{label}" for label in classes], dtype=float)
    return pd.concat([table, mix], axis=1)


def _class_shares(client: Client) -> dict[str, float] | None:
    """Return the share of each class that a client has, None where its labels are not known."""
    if client.labels is None:
        return None
    classes, counts = np.unique(client.labels, return_counts=True)
    return {str(label): count / client.size for label, count in zip(classes, counts, strict=True)}


def files(clients: Sequence[Client], beside: pd.DataFrame | None) -> pd.DataFrame:
    """Return a table of the files found where the clients' images were looked for, and of those that belong to none."""
    reports = [(client.name, client.report) for client in clients] + [("", beside)]
    frames = [report.assign(client=name)[FILE_COLUMNS] for name, report in reports if report is not None]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=FILE_COLUMNS)
