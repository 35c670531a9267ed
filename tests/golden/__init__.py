"""Inputs (`*.npz`), what the field's own implementations return on them (`peers.json`), what releases wrote (`v*/`).

`python -m tests.golden.make` keeps what the present code writes in a new folder; tests/test_golden.py opens them all.
"""

import json
from pathlib import Path

import numpy as np

import nbmetrics as nm

FOLDER = Path(__file__).parent
NAMES = ("blobs2", "blobs64", "overlap8", "wide512", "digits")
PEERS = json.loads((FOLDER / "peers.json").read_text())


def load(name):
    """The rows of the clients and of the generators of one set, as two lists."""
    with np.load(FOLDER / f"{name}.npz") as stored:
        keys = sorted(stored, key=lambda k: (k.rstrip("0123456789"), int(k.lstrip("abcdefghijklmnopqrstuvwxyz"))))
        return tuple([stored[k] for k in keys if k.startswith(kind)] for kind in ("client", "generator"))


def scores(name, metrics=("fid", "kid"), weights=None):
    """evaluate() on one set, under the row counts or other weights."""
    clients, generators = load(name)
    federation = nm.Federation(clients)
    if weights is not None:
        federation = federation.with_weights(weights)
    return nm.evaluate(federation, [nm.Generator(g) for g in generators], metrics, progress=False)
