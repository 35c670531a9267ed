"""Clients whose rows stay where they are: kernel means of every two of them are all that their pool needs.

Kernel means are bilinear, so a table of (clients, clients) numbers and the means with each generator give KID of the
pooled clients under any weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...arrays import is_array
from ...summaries.kernel_mean import KernelMean, KernelPart
from .batches import mean_blocks, share_table


def parts_of_all(means: Sequence[KernelMean]) -> list[KernelPart]:
    """The parts of all clients, in order."""
    return [part for mean in means for part in mean.parts]


def between(left: Sequence[KernelMean], right: Sequence[KernelMean]) -> np.ndarray:
    """E k of every part of the one with every part of the others; the same sequence twice takes half the work."""
    first = parts_of_all(left)
    second = first if right is left else parts_of_all(right)
    table = np.empty((len(first), len(second)))
    rows = [p for p, part in enumerate(first) if is_array(part.content)]
    columns = rows if second is first else [q for q, part in enumerate(second) if is_array(part.content)]
    contents = [first[p].content for p in rows]
    others = contents if second is first else [second[q].content for q in columns]
    if rows and columns:
        for i, j, means in mean_blocks(first[0].kernel, contents, others):
            table[np.ix_(rows[i], columns[j])] = means
            if second is first:
                table[np.ix_(rows[j], columns[i])] = means.T
    for p, part in enumerate(first):
        for q, other in enumerate(second):
            if not (is_array(part.content) and is_array(other.content)):
                table[p, q] = part.mean_with(other)
    return table


def without_rows(mean: KernelMean, generated: Sequence[KernelMean]) -> KernelMean:
    """The kernel mean without what its parts hold, with their means with every part of the generators."""
    others = parts_of_all(generated)
    return KernelMean(tuple(part.apart(others) for part in mean.parts), mean.weights)


def tabulated(means: Sequence[KernelMean], table: np.ndarray) -> None:
    """Leave the means of every two parts, in the order of `between`, where pools look for them."""
    share_table(parts_of_all(means), table)


def squares(generated: Sequence[Any]) -> list[float | None]:
    """E k(Y, Y′) of each generator, self-pairs included, where it was computed."""
    return [vars(mean).get("_square") for mean in generated]


def remember(generated: Sequence[Any], found: Sequence[float | None]) -> None:
    """Leave those means where terms look for them."""
    for mean, square in zip(generated, found, strict=True):
        if square is not None:
            vars(mean)["_square"] = square
