"""`nbmetrics features`: a folder of images as a .npy file of rows."""

from __future__ import annotations

import io
from argparse import Namespace

import numpy as np

from ..errors import InvalidInput
from .files import writer
from .parties import FEATURES, Party, Reader, existing
from .score import settings


def run(options: Namespace) -> None:
    """Write the rows, and say how many of how wide."""
    write = writer("--out", options.out, FEATURES)
    folder = existing("FOLDER", options.folder)
    if folder.suffix.lower() == FEATURES:
        raise InvalidInput("FOLDER", f"{folder} are features already", "Give a folder or a zip of images")
    reader = Reader(lambda: settings(options))
    extraction = reader.extraction
    rows = extraction.rows(reader.data(Party("FOLDER", folder.name, folder)))
    content = io.BytesIO()
    np.save(content, rows, allow_pickle=False)
    path = write(content.getvalue())
    print(f"{len(rows):,} rows of {rows.shape[1]:,} features in {path}")
    print(f"Features: {extraction.convention}")
