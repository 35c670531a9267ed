"""Cautions about rows that are there twice: at two clients, or at a client and in what a generator made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..arrays import is_on_host, row_blocks, to_numpy

# Common rows are told from this share of the smaller side, and from so many times what chance makes.
MIN_SHARE, MIN_TIMES = 0.5, 5.0
MAX_NAMED = 5


class Digests(NamedTuple):
    """The distinct rows of one party as sorted numbers, how many rows it has, and how often two of them are equal."""

    distinct: np.ndarray
    size: int
    repeats: float

    @classmethod
    def of(cls, rows: Any) -> Digests:
        """From rows (n, d), compared as float32."""
        n = rows.shape[0]
        distinct, counts = np.unique(_row_digests(rows), return_counts=True)
        return cls(distinct, n, float((counts * (counts - 1)).sum() + 2) / max(n * (n - 1), 1))

    def is_copy(self, other: Digests, common: int) -> bool:
        """Whether so many common rows are most of one of them, and more than rows of few possible values have."""
        by_chance = self.size * other.size * min(self.repeats, other.repeats)
        return common >= MIN_SHARE * min(len(self.distinct), len(other.distinct)) and common > MIN_TIMES * by_chance


def shared_rows(clients: Mapping[str, Any], generators: Mapping[str, Any]) -> list[str]:
    """Return a sentence for two clients that share most rows, and for a generator most of whose rows are a client's.

    Values are (n, d) rows.
    """
    real, made = ({n: Digests.of(x) for n, x in side.items() if is_on_host(x)} for side in (clients, generators))
    names, parties = list(real), list(real.values())
    lines = [
        f"{names[i]!r} and {names[j]!r} share {common:,} rows (of {parties[i].size:,} and {parties[j].size:,}): "
        "what two clients hold counts twice."
        for i, j, common in _common(parties)
        if parties[i].is_copy(parties[j], common)
    ][:MAX_NAMED]
    for name, own in made.items():
        counts = [len(np.intersect1d(own.distinct, party.distinct, assume_unique=True)) for party in parties]
        best = int(np.argmax(counts)) if counts else 0
        if counts and counts[best] >= MIN_SHARE * len(own.distinct) and own.is_copy(parties[best], counts[best]):
            lines.append(
                f"{counts[best]:,} of the {len(own.distinct):,} distinct rows of generator {name!r} are rows of client "
                f"{names[best]!r}: copies score better than new rows would."
            )
    return lines


def _common(parties: list[Digests]) -> list[tuple[int, int, int]]:
    """Return the places of two parties with common rows, and how many; of a row at several, neighbours only."""
    if len(parties) < 2:
        return []
    whose = np.repeat(np.arange(len(parties)), [len(own.distinct) for own in parties])
    digests = np.concatenate([own.distinct for own in parties])
    order = np.argsort(digests, kind="stable")
    is_same = digests[order][1:] == digests[order][:-1]
    pairs = np.stack([whose[order][:-1][is_same], whose[order][1:][is_same]], axis=1)
    pairs, counts = np.unique(pairs, axis=0, return_counts=True)
    return [(int(i), int(j), int(n)) for (i, j), n in zip(pairs, counts, strict=True)]


def _row_digests(rows: Any) -> np.ndarray:
    """Return a sum of the 32-bit words of each row times random numbers, modulo 2⁶⁴: equal rows have the same."""
    factors = np.random.default_rng(0).integers(2**63, size=rows.shape[1], dtype=np.uint64) * np.uint64(2)
    factors += np.uint64(1)
    sums = np.empty(rows.shape[0], dtype=np.uint64)
    for block in row_blocks(rows.shape[0], 16 * rows.shape[1]):
        words = (to_numpy(rows[block, :]).astype(np.float32) + np.float32(0.0)).view(np.uint32)
        sums[block] = (words * factors).sum(axis=1, dtype=np.uint64)
    return sums
