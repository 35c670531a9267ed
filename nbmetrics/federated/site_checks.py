"""Cautions about the clients' summaries themselves: no checksum, one site under two names, a site of another scale.

All of it is made of what arrived, so of noisy summaries only a copy can be seen: noise that is drawn anew hides a site
that is there twice, and clipping hides its scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from ..ranking import numeral
from .serialization import Section
from .summary_codec import rank_of

# How closely the numbers of one site agree with themselves, summarized anew: in another order, or as float32.
AGREEMENT = {"<f8": 1e-9, "<f4": 1e-6}
# A scale is far from the others' beyond this factor, and beyond so many (normalized) median deviations of theirs.
MIN_FAR_LOG, MIN_FAR_DEVIATIONS = math.log(100.0), 6.0 * 1.4826
MAX_NAMES_SHOWN = 5
Clients = Mapping[str, Sequence[Section]]


def site_cautions(clients: Clients, unchecked: Sequence[str]) -> tuple[str, ...]:
    """Return sentences about clients, by name: their sections, and which of them sent no checksum."""
    lines = [_without_checksum(unchecked)] if unchecked else []
    lines += [
        f"{first!r} and {second!r} sent the same numbers: one site with two names counts twice."
        for first, second in same_sites(clients)
    ]
    return (*lines, *_scales(clients))


def _without_checksum(names: Sequence[str]) -> str:
    listed = ", ".join(map(repr, names[:MAX_NAMES_SHOWN]))
    more = f" and {len(names) - MAX_NAMES_SHOWN:,} more" if len(names) > MAX_NAMES_SHOWN else ""
    who = f"The summary of {listed} is" if len(names) == 1 else f"The summaries of {listed}{more} are"
    return f"{who} of version 1, without checksum: damage in transit cannot be detected."


def same_sites(clients: Clients) -> Iterator[tuple[str, str]]:
    """Return pairs of clients with as many rows and the same numbers, bit for bit or up to rounding."""
    groups: dict[float, list[tuple[float, int, list[Section]]]] = {}
    names = list(clients)
    for place, sections in enumerate(clients.values()):
        sent = [section for section in sections if section.arrays]
        if sent and math.isfinite(sent[0].count):
            size = math.fsum(float(np.abs(array).sum()) for section in sent for array in section.arrays.values())
            groups.setdefault(sent[0].count, []).append((size, place, sent))
    for group in groups.values():
        ordered = sorted(group, key=lambda client: client[0])
        for (_, first, one), (_, second, other) in pairwise(ordered):
            if len(one) == len(other) and all(map(_is_same, one, other)):
                yield names[min(first, second)], names[max(first, second)]


def _is_same(first: Section, second: Section) -> bool:
    """Return whether all arrays agree, beside what standardized or whitened rows have in common anyway."""
    if {k: a.shape for k, a in first.arrays.items()} != {k: a.shape for k, a in second.arrays.items()}:
        return False
    slack = max(AGREEMENT[first.type], AGREEMENT[second.type])
    for name, one in first.arrays.items():
        apart = float(np.linalg.norm(one - second.arrays[name]))
        if apart > slack * _own(name, one):
            return False
    return True


def _own(name: str, array: np.ndarray) -> float:
    """Return the length of what tells this client from others: a covariance less a variance of all features."""
    if name not in ("covariance", "second"):
        return float(np.linalg.norm(array))
    diagonal = _diagonal(array)
    own = array.copy()
    own[diagonal] -= array[diagonal].mean()
    return float(np.linalg.norm(own))


def _diagonal(triangle: np.ndarray) -> np.ndarray:
    """Return the places of the diagonal of a (d, d) matrix in its upper triangle, of d (d + 1) / 2 numbers."""
    dim = round((math.sqrt(8 * triangle.size + 1) - 1) / 2)
    return np.cumsum(np.r_[0, np.arange(dim, 1, -1)])


def _scales(clients: Clients) -> list[str]:
    """Return a sentence for each client with far larger or smaller rows than the others, or one where half are."""
    scales = {name: scale for name, sections in clients.items() if (scale := _scale(sections)) is not None}
    names, logs = list(scales), np.log(np.array(list(scales.values())).reshape(-1, 2))
    off = {names[k]: float(ratio) for k, ratio in enumerate(far_off(logs)) if ratio}
    if not off:
        return []
    advice = "check its units, and whether it standardized them as the others did"
    if 2 * len(off) >= len(names):
        low, high = (names[place(logs[:, 0])] for place in (np.argmin, np.argmax))
        ratio = _factor(float(np.ptp(logs[:, 0])))
        return [f"The rows of {high!r} are about {ratio} times larger than those of {low!r}: {advice}."]
    return [
        f"The rows of {name!r} are about {_factor(abs(ratio))} times {'larger' if ratio > 0 else 'smaller'} than those "
        f"of the other clients (median): {advice}."
        for name, ratio in off.items()
    ]


def _factor(log: float) -> str:
    return numeral(float(f"{math.exp(log):.2g}"), ",.0f")


def far_off(logs: np.ndarray) -> np.ndarray:
    """Return (k,) how far the log scale of each client is off the median of the others'; 0 where that is not far.

    `logs` is (k, 2), of the standard deviation and of the root mean square. A change of units moves both alike, while a
    narrow client has a small deviation alone, and one far from the origin a large mean square.
    """
    off = np.zeros(len(logs))
    for k in range(len(logs) if len(logs) > 1 else 0):
        others = np.delete(logs, k, axis=0)
        middle = np.median(others, axis=0)
        reach = np.maximum(MIN_FAR_LOG, MIN_FAR_DEVIATIONS * np.median(np.abs(others - middle), axis=0))
        move = logs[k] - middle
        if (np.abs(move) > reach).all() and move[0] * move[1] > 0:
            off[k] = move[0]
    return off


def _scale(sections: Sequence[Section]) -> tuple[float, float] | None:
    """Return the standard deviation and the root mean square of the rows, over all features; None where unknown."""
    for section in sections:
        arrays, variance = section.arrays, 0.0
        if section.kind in ("rows", "own"):
            mean, variance = arrays["rows"].mean(axis=0), float(arrays["rows"].var(axis=0).sum())
        elif section.kind in ("moments", "thirds"):
            mean, triangle = arrays["mean"], arrays.get("covariance", arrays.get("second"))
            if triangle is None:
                left_out = mean.size - rank_of(arrays["factor"].size, mean.size)
                variance = float((arrays["factor"] ** 2).sum()) + left_out * max(section.notes.get("rest", 0.0), 0.0)
            else:
                variance = float(triangle[_diagonal(triangle)].sum())
        if variance > 0.0:
            return math.sqrt(variance), math.sqrt(variance + float(mean @ mean))
    return None
