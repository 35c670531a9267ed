"""Cautions about features that are none: labels and ids scored with the others, and bits of half precision."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..arrays import is_array, to_numpy
from ..errors import shown
from ..summaries.stream import HEAD_ROWS, Stream

# What a column is called that says which row or group it is.
NOT_A_FEATURE = re.compile(
    r"(^|[_\W])(u?id|idx|index|labels?|targets?|class|fold|level_0__)$|^unnamed: 0$", re.IGNORECASE
)
# Rows by which whole numbers that only grow are no chance.
MIN_ROWS_COUNTED = 12
# Bits of bfloat16 of 2⁻⁶³ to 2³², and of float16 of 2⁻⁷ to 2⁵, without the sign.
HALF_BITS = 0x2000, 0x5000
MIN_HALF_SHARE = 0.95


def feature_cautions(clients: Sequence[Any], generators: Sequence[Any]) -> Iterator[str]:
    """Yield cautions about the first rows of clients, and of generators (pairs of a `Generator` and its source)."""
    heads = [(f"client {client.name!r}", _head(client.stream or vars(client).get("rows"))) for client in clients]
    rows = [head for _, head in heads if head is not None]
    names = next((party.columns for party in (*clients, *(g for g, _ in generators)) if party.columns), ())
    if rows and rows[0].shape[1] > 1:
        whole = np.logical_and.reduce([(head == np.round(head)).all(axis=0) for head in rows])
        varied = np.logical_or.reduce([(head != rows[0][0]).any(axis=0) for head in rows])
        grows = np.logical_and.reduce([_only_grows(head) for head in rows])
        for column in np.flatnonzero(whole & varied):
            name = names[column] if len(names) == len(whole) else ""
            is_lone = not names and whole[varied].sum() == 1 < varied.sum() - 1
            if grows[column] or is_lone or NOT_A_FEATURE.search(name):
                which = f"Column {shown(name)}" if name else f"Column {column} (from 0)"
                yield f"{which} holds whole numbers, as an id or a label does. Leave it out if it is no feature."
    heads += [(f"generator {generator.name!r}", _head(source)) for generator, source in generators]
    if bits := [who for who, head in heads if head is not None and _is_half_bits(head)]:
        more = f" and {len(bits) - 3} more" * (len(bits) > 3)
        yield (
            f"The values of {', '.join(bits[:3])}{more} look like the bits of bfloat16 or float16, kept as uint16. If "
            "they are, give the numbers themselves: x.view(torch.bfloat16).float()."
        )


def _head(rows: Any) -> np.ndarray | None:
    """Return the first rows of rows or a stream, None of anything else."""
    if isinstance(rows, Stream):
        return rows.head
    return to_numpy(rows[:HEAD_ROWS]) if is_array(rows) and rows.ndim == 2 and len(rows) else None


def _only_grows(head: np.ndarray) -> Any:
    return (np.diff(head, axis=0) > 0).all(axis=0) & (len(head) >= MIN_ROWS_COUNTED)


def _is_half_bits(head: np.ndarray) -> bool:
    """Whether all are whole numbers of 16 bits, and nearly all of them bits of usual numbers."""
    low, high = HALF_BITS
    if head.min() < 0 or head.max() >= 2**16 or head.max() < low or (head != np.round(head)).any():
        return False
    size = np.where(head >= 2**15, head - 2**15, head)[head > 0]
    return bool((size < high).all() and (size >= low).mean() >= MIN_HALF_SHARE)
