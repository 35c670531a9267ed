"""Cautions about the clients' summaries themselves: no checksum, one site under two names, a site unlike the others.

All of it is made of what arrived, so of noisy summaries only a copy can be seen: noise that is drawn anew hides a site
that is there twice, and clipping hides its scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from ..evaluation.client_cautions import Spread, clipped_clients, shared_rows, unlike_clients
from .serialization import Section
from .summary_codec import rank_of

# How closely the numbers of one site agree with themselves, summarized anew: in another order, or as float32.
AGREEMENT = {"<f8": 1e-9, "<f4": 1e-6}
# Two sites nearly agree where chance makes that in fewer than so many federations, and their squared differences are
# below this share of what independent rows have.
MAX_CHANCE, MAX_RELATIVE = 1e-4, 0.3
# Means (in deviations) and correlations below this are 0 because a site made them so.
STANDARDIZED = 1e-6
MAX_NAMES_SHOWN = 5
Clients = Mapping[str, Sequence[Section]]


@np.errstate(all="ignore")
def site_cautions(clients: Clients, unchecked: Sequence[str], generators: Mapping[str, Any]) -> tuple[str, ...]:
    """Return sentences about clients, by name: their sections, which of them sent no checksum, and generated rows."""
    lines = [_without_checksum(unchecked)] if unchecked else []
    same = list(same_sites(clients))
    lines += [
        f"{first!r} and {second!r} sent the same numbers: one site with two names counts twice."
        for first, second in same
    ]
    spreads = {name: spread for name, sections in clients.items() if (spread := _spread(sections)) is not None}
    lines += [
        f"{first!r} and {second!r} sent nearly the same means and correlations, which different rows would not have: "
        "the same rows in two files count twice."
        for first, second in nearly_same(clients, spreads)
        if second not in {copy for _, copy in same}
    ][:MAX_NAMES_SHOWN]
    rows = {n: p.arrays["rows"] for n, parts in clients.items() for p in parts[:1] if p.kind == "rows"}
    shared = shared_rows({} if same else rows, generators)
    told_by_means = {name: spread for name, spread in spreads.items() if name not in rows}
    made = {name: Spread.of_rows(x) for name, x in generators.items()} if told_by_means else {}
    shared += [
        f"Generator {name!r} has the number of rows and the means of client {client!r}: copies score better than new."
        for name, own in made.items()
        for client, spread in told_by_means.items()
        if _is_copy(own, spread)
    ]
    return (*lines, *unlike_clients(spreads), *clipped_clients(rows), *shared)


def _is_copy(generated: Spread, client: Spread) -> bool:
    """Whether both have as many rows and the same mean, which is not 0 because both were standardized."""
    scale = np.sqrt(np.maximum(client.variance, 1e-300))
    offsets = np.abs(generated.mean / scale).max(), np.abs((generated.mean - client.mean) / scale).max()
    return bool(generated.size == client.size and offsets[0] > STANDARDIZED and offsets[1] < STANDARDIZED)


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


def _spread(sections: Sequence[Section]) -> Spread | None:
    """Return the location and scale of the first section that tells them; None where none does."""
    for section in sections:
        arrays = section.arrays
        if section.kind in ("rows", "own"):
            return Spread.of_rows(arrays["rows"])
        if section.kind in ("moments", "thirds"):
            triangle = arrays.get("covariance", arrays.get("second"))
            variance = np.diagonal(_covariance(section)) if triangle is None else triangle[_diagonal(triangle)]
            return Spread(section.count, arrays["mean"], variance)
    return None


def _covariance(section: Section) -> np.ndarray:
    """Return the covariance (d, d) of moments, from a triangle of it, or a factor and the variance of what it lacks."""
    arrays, dim = section.arrays, section.arrays["mean"].size
    triangle = arrays.get("covariance", arrays.get("second"))
    if triangle is None:
        rank = rank_of(arrays["factor"].size, dim)
        factor = np.zeros((rank, dim))
        factor[np.triu_indices(rank, m=dim)] = arrays["factor"]
        left_out = max(section.notes.get("rest", 0.0), 0.0) * (dim - rank) / dim
        return np.asarray(factor.T @ factor + left_out * np.eye(dim))
    matrix = np.zeros((dim, dim))
    matrix[np.triu_indices(dim)] = triangle
    return np.asarray(matrix + np.triu(matrix, 1).T)


def nearly_same(clients: Clients, spreads: Mapping[str, Spread]) -> Iterator[tuple[str, str]]:
    """Return pairs of clients whose means and correlations agree more closely than two independent samples can."""
    sent = {n: part for n, parts in clients.items() for part in parts if part.kind in ("moments", "thirds")}
    known = [name for name in sent if 10 < spreads[name].size < math.inf]
    chances = math.comb(len(known), 2)
    for first, second in combinations(known, 2):
        sizes = sorted([spreads[first].size, spreads[second].size])
        if sizes[1] < 2 * sizes[0] and (apart := mean_distance(spreads[first], spreads[second])) < MAX_RELATIVE:
            covariances = [_covariance(sent[name]) for name in (first, second)]
            if _chance(apart, covariances, sum(1 / size for size in sizes)) * chances < MAX_CHANCE:
                yield first, second


def mean_distance(one: Spread, other: Spread) -> float:
    """Return how far two means lie apart, squared, over what independent rows have; 0 where both are standardized."""
    live = (one.variance > 0) & (other.variance > 0)
    scale = np.sqrt((one.variance + other.variance)[live] / 2)
    first, second = one.mean[live] / scale, other.mean[live] / scale
    if not live.any():
        return math.inf
    if max(np.abs(first).max(), np.abs(second).max()) < STANDARDIZED:
        return 0.0
    return float(((first - second) ** 2).mean()) / (1 / one.size + 1 / other.size)


def _chance(apart: float, covariances: Sequence[np.ndarray], noise: float) -> float:
    """Return about how likely independent rows of one distribution agree so closely in means and correlations.

    What was standardized (`apart` is 0) or whitened is alike anyway, and tells nothing.
    """
    from scipy.stats import chi2

    live = np.all([np.diagonal(c) > 0 for c in covariances], axis=0)
    first, second = (c[np.ix_(live, live)] / np.sqrt(np.outer(*[np.diagonal(c)[live]] * 2)) for c in covariances)
    free = len(first) ** 2 / float((first**2).sum())  # as many independent features would vary as much
    chance = float(chi2.cdf(free * apart, free)) if apart else 1.0
    upper = np.triu_indices(len(first), 1)
    if len(first) > 1 and max(np.abs(first[upper]).max(), np.abs(second[upper]).max()) > STANDARDIZED:
        pairs = free * (free - 1) / 2 + 0.5
        expected = max(float(((1 - first[upper] ** 2) ** 2).mean()) * noise, 1e-300)
        chance *= float(chi2.cdf(pairs * ((first - second)[upper] ** 2).mean() / expected, pairs))
    return chance
