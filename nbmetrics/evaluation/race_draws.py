"""The rows that the samplers of a race gave, look by look; kept in a folder where one is given.

    folder / nbmetrics-race.json        the version of the format, the seed, and the number of features
    folder / <sampler>-<look>-<n>-<part>.npy    the rows of one look

Those of look k come from the seed (seed, sampler, k), so a race that was killed goes on as if it had not been. Look 0
is a few rows that are drawn again when the folder is opened: a sampler that gives others is refused.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import as_rows, to_numpy
from ..distributions import Distribution, draw_rows
from ..errors import InvalidInput, check_list, shown
from ..federation import Federation, Generator
from ..files import make_folder, read_plain, write
from ..metrics import Sample
from ..summaries.npz import read_header
from ..tables import check_same_order

FORMAT, HEAD = 1, "nbmetrics-race.json"
PROBE_ROWS = 4
# How far the same rows may lie apart, in standard deviations of all: a GPU adds in any order.
PROBE_TOLERANCE = 1e-2
# Of the rows that come again; fewer kinds of rows may come in one order by chance.
MIN_KINDS_REPEATED = 10
MAX_SAMPLERS = 100
MAX_HEAD_BYTES, MAX_NPY_HEAD_BYTES = 1_000, 10_000
FIX = "Give a dict name -> function (n, rng) -> rows"
FIX_INTRA = "Give a dict name -> function (client, n, rng) -> rows"


def as_samplers(samplers: Any, by: str, federation: Federation, clients: Sequence[str]) -> dict[str, list[Generator]]:
    """Return by name the source of each sampler, or by intra one for each of `clients`."""
    fix = FIX_INTRA if by == "intra" else FIX
    if not isinstance(samplers, Mapping):
        raise InvalidInput("samplers", f"got {shown(samplers)}", fix)
    items = check_list(samplers.items(), "samplers", MAX_SAMPLERS)
    if len(items) < 2:
        raise InvalidInput("samplers", f"has {len(items)} sampler{'s' * (len(items) != 1)}", "Give at least 2 to race")
    return {name: _sources(name, source, by, federation, clients) for name, source in items}


def _sources(name: Any, source: Any, by: str, federation: Federation, clients: Sequence[str]) -> list[Generator]:
    who = f"sampler {shown(name)}"
    if name is None:
        raise InvalidInput(who, "has no name", "Give names as text")
    try:
        if by == "intra" and not isinstance(source, (Generator, Mapping)):
            source = Generator.by_client(source)
        generator = replace(source if isinstance(source, Generator) else Generator(source), name=name)
    except InvalidInput as error:
        raise error.of(who) from None
    if generator.is_by_client != (by == "intra"):
        seen = "is one for all clients" if by == "intra" else "has one distribution for each client"
        raise InvalidInput(who, seen, FIX_INTRA if by == "intra" else f'{FIX}, or race by="intra"')
    every = dict(zip(federation.names, generator.for_clients(federation.names), strict=False))
    parts = [every[client] for client in clients] if generator.is_by_client else [generator]
    extraction = federation.extraction and replace(federation.extraction, progress=False)
    parts = [part.through(extraction).with_columns_of(federation.clients) for part in parts]
    parties: tuple[Any, ...] = (*federation.clients, *parts)
    check_same_order([(party.name or "", party.columns) for party in parties], who)
    for part in parts:
        if not (part.answers or isinstance(part.source, Distribution)):
            seen = f"got {shown(part.source)}, of which no more rows can be drawn"
            raise InvalidInput(who, seen, FIX_INTRA if by == "intra" else FIX)
        if isinstance(part.source, Distribution):
            Sample.of(part.source, who, dim=federation.dim)
    return parts


class Draws:
    """All rows of all samplers.

    Parameters
    ----------
    samplers : by name, see `as_samplers`
    dim : number of features
    store : a folder, or None
    """

    def __init__(self, samplers: Mapping[str, Sequence[Generator]], dim: int, seed: int, store: Any = None) -> None:
        self.samplers, self.dim, self.seed = samplers, dim, seed
        self._parts: dict[str, list[list[np.ndarray]]] = {name: [[] for _ in own] for name, own in samplers.items()}
        self._folder = None if store is None else _checked_folder(store, {"seed": seed, "features": dim})
        if self._folder is not None:
            for name in samplers:
                self._check_sampler(name)

    def draw(self, name: str, look: int, n: int) -> list[np.ndarray]:
        """Draw n more rows, or find them, of each part of a sampler; all parts or none. Returns them."""
        new = [self._kept_or_drawn(name, look, n, part) for part in range(len(self.samplers[name]))]
        for rows, more in zip(self._parts[name], new, strict=True):
            if rows:
                _check_other_rows(name, rows[0], more)
            rows.append(more)
        return new

    def rows(self, name: str) -> list[np.ndarray]:
        """All rows of a sampler, one array for each part."""
        joined = [np.concatenate(rows) if len(rows) > 1 else rows[0] for rows in self._parts[name]]
        self._parts[name] = [[rows] for rows in joined]
        return joined

    def count(self, name: str) -> int:
        """How many rows of a sampler there are, in all parts together."""
        return sum(len(rows) for part in self._parts[name] for rows in part)

    def _kept_or_drawn(self, name: str, look: int, n: int, part: int) -> np.ndarray:
        path = self._folder and self._folder / f"{_digest(name).hex()}-{look}-{n}-{part}.npy"
        rows = None if path is None else _read(path, n, self.dim)
        if rows is None:
            rows = self._drawn(name, look, n, part)
            if path is not None:
                stream = io.BytesIO()
                np.save(stream, rows, allow_pickle=False)
                _write(path, stream.getvalue())
        return rows

    def _drawn(self, name: str, look: int, n: int, part: int) -> np.ndarray:
        """New rows, checked."""
        source = self.samplers[name][part]
        seed = [self.seed, int.from_bytes(_digest(name), "big"), look, part]
        who = f"rows from sampler {name!r}"
        if isinstance(source.source, Distribution):
            return draw_rows(source.source, n, np.random.default_rng(seed), who)
        rows = to_numpy(source.draw(n, seed, dim=self.dim).rows)
        if len(rows) != n:
            raise InvalidInput(who, f"are {len(rows):,} where {n:,} were asked for", "Return n rows")
        return np.array(rows)  # a sampler may write into its own again

    def _check_sampler(self, name: str) -> None:
        """Refuse a sampler that no longer gives the rows that are kept of it."""
        for part in range(len(self.samplers[name])):
            kept, now = self._kept_or_drawn(name, 0, PROBE_ROWS, part), self._drawn(name, 0, PROBE_ROWS, part)
            scale = max(float(np.std(now)), float(np.abs(now).max()) * 1e-3)
            if np.abs(kept.astype(float) - now).max() > PROBE_TOLERANCE * scale:
                seen = f"sampler {name!r} gives other rows for the same rng than those that are kept"
                raise InvalidInput("store", seen, "Draw with rng alone, or give a new folder for another model")


def _check_other_rows(name: str, first: np.ndarray, more: np.ndarray) -> None:
    """Refuse a sampler that gives the same rows at each look, which would count as new ones."""
    count = min(len(first), len(more))
    if not np.array_equal(first[:count], more[:count]):
        return
    if len(np.unique(more[:count], axis=0)) >= MIN_KINDS_REPEATED:
        seen = "gives the rows of its first look again"
        raise InvalidInput(f"sampler {name!r}", seen, "Draw new rows with rng, which is another at each call")


def _digest(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()[:8]


def _checked_folder(folder: Any, about: Mapping[str, int]) -> Path:
    """Return the folder, made where it is not there, if it is empty or of such a race."""
    fix = "Give the folder of a race with the same seed and features, or of a new one"
    path, names = make_folder(folder, "store", fix)
    if HEAD not in names:
        if any(not name.startswith(".") for name in names):
            raise InvalidInput("store", f"{shown(str(path))} contains other files and is no race", fix)
        _write(path / HEAD, json.dumps({"format": FORMAT, **about}).encode())
    try:
        content = json.loads(read_plain(path / HEAD, MAX_HEAD_BYTES, follow=False))
    except (OSError, ValueError, RecursionError):
        content = None
    if content != {"format": FORMAT, **about}:
        raise InvalidInput("store", f"{shown(str(path / HEAD))} says {shown(content)}", fix)
    return path


def _write(path: Path, data: bytes) -> None:
    try:
        write(path, data)
    except InvalidInput as error:
        raise InvalidInput("store", error.seen, "Give a folder with room; what it has stays there") from None


def _read(path: Path, n: int, dim: int) -> np.ndarray | None:
    """Return the rows of a file, None where it is not there or damaged."""
    try:
        content = read_plain(path, MAX_NPY_HEAD_BYTES + 8 * n * dim, follow=False)
        header = read_header(io.BytesIO(content))
        if header.shape != (n, dim) or header.dtype.kind != "f" or len(content) != header.start + header.nbytes:
            return None
        rows = np.frombuffer(content, header.dtype, offset=header.start)
        return to_numpy(as_rows(rows.reshape(n, dim, order="F" if header.is_by_columns else "C"), "rows"))
    except (OSError, ValueError):  # InvalidInput, too: numbers that no sampler may give
        return None
