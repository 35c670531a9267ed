"""The store of `evaluate`: scores that were computed once, in a folder that no crash and no other process can make lie.

    folder / nbmetrics-store.json       the version of the format, and the key of all hashes
    folder / cells-<random>.log         a line a score: a keyed hash of the line, and JSON

A score is found by what it is of: the hashes of the client's rows, the generator's rows, and the metric with its
settings and the version of the package; a pooled score by those of all clients, and their weights. Rows are not in the
store. Every process appends to a log of its own, a line with one write, so that kill -9 leaves at most one line torn,
which is not read; and what does not match its hash is computed again.
"""

from __future__ import annotations

import json
import math
import os
import re
import secrets
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from ..errors import InvalidInput, shown
from ..files import make_folder, read_plain, write_once
from ..metrics import Metric
from ..metrics.stratified import merge_shared
from ..summaries.stream import Stream
from .cells import Cell, KeptCells
from .fingerprints import KEY_BYTES, Fingerprints

FORMAT, HEAD = 1, "nbmetrics-store.json"
_LOG = re.compile(r"cells-[0-9a-f]{16}\.log", re.ASCII)
_KEY = re.compile(rf"[0-9a-f]{{{2 * KEY_BYTES}}}", re.ASCII)
MAX_HEAD_BYTES, MAX_LOG_BYTES, MIN_LINE_BYTES, MAX_LINE_BYTES = 1_000, 1 << 30, 34, 1 << 16


class StoreWarning(UserWarning):
    """Scores were computed and are returned, but could not be kept."""


class Store:
    """The scores that are kept in a folder, and those of this process.

    Parameters
    ----------
    folder : made where it is not there; empty, or a store

    Attributes
    ----------
    fingerprints : hashes with its key
    found, computed : how many scores were read from it, and computed

    Raises
    ------
    InvalidInput
        For a folder with other files in it, or of another version of the format, which stays as it is.
    """

    def __init__(self, folder: Any) -> None:
        self.folder = _checked_folder(folder)
        self.fingerprints = Fingerprints(_key_of(self.folder))
        self.found = self.computed = 0
        self._cells = dict(self._read_logs())
        self._log: Any = None
        self._is_open, self._lock = True, Lock()

    @property
    def counts(self) -> dict[str, int]:
        """How many scores were found and computed by now."""
        return {"found": self.found, "computed": self.computed}

    def cells_of(
        self, metric: Metric[Any], clients: Sequence[str | None], weights: Sequence[float], generators: Sequence[Any]
    ) -> MetricStore:
        """Return the scores of one metric.

        `clients` : their hashes; `generators` : a sample each, or a tuple of answers to each client
        """
        return MetricStore(self, metric, clients, weights, generators)

    def get(self, key: str) -> dict[str, Any] | None:
        """Return what was kept under a key."""
        return self._cells.get(key)

    def keep(self, key: str, record: dict[str, Any]) -> None:
        """Keep a score, on the disk as soon as this returns; where that fails it is only not kept, said once."""
        if key in self._cells:  # of another client with the same rows
            return
        self._cells[key] = record
        line = self._line(json.dumps({**record, "key": key}, separators=(",", ":"), allow_nan=False))
        try:
            with self._lock:
                if self._is_open:
                    self._write(line)
        except OSError as error:
            self._is_open = False
            why = f"{self.folder} cannot be written ({error.strerror or error})"
            warnings.warn(f"{why}; scores from here on are returned, but not kept", StoreWarning, stacklevel=2)

    def _write(self, line: bytes) -> None:
        if self._log is None:
            self._log = (self.folder / f"cells-{secrets.token_hex(8)}.log").open("xb", buffering=0)
        if self._log.write(line) != len(line):
            raise OSError("the disk is full")
        if os.fstat(self._log.fileno()).st_nlink == 0:
            raise OSError("its file was removed")

    def close(self) -> None:
        """Let go of the log; nothing is kept any more."""
        with self._lock:
            self._is_open = False
            if self._log is not None:
                self._log.close()
                self._log = None

    def _line(self, text: str) -> bytes:
        return f"{self.fingerprints.of_text(text)[:32]} {text}\n".encode()

    def _read_logs(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield every score of every log, what is torn, damaged or of another store left out."""
        for path in sorted(self.folder.iterdir()):
            if not _LOG.fullmatch(path.name):
                continue
            try:
                content = read_plain(path, MAX_LOG_BYTES, follow=False)
            except OSError:
                continue
            for line in re.finditer(rb"[^\n]+", content):
                if (record := self._read_line(line[0])) is not None:
                    yield record

    def _read_line(self, line: bytes) -> tuple[str, dict[str, Any]] | None:
        if not MIN_LINE_BYTES <= len(line) <= MAX_LINE_BYTES:
            return None
        try:
            text = line[33:].decode()
            if self._line(text) != line + b"\n":
                return None
            record = json.loads(text)
            numbers = [record["value"], *dict(record["terms"]).values()]
            numbers += [] if record["size_gap"] is None else [record["size_gap"]]
            if not all(isinstance(number, float) and math.isfinite(number) for number in numbers):
                return None
            return str(record["key"]), record
        except (ValueError, KeyError, TypeError, RecursionError):
            return None


def let_hash(streams: Iterable[Any], store: Store | None) -> None:
    """Let later passes of the streams among these hash what they read for a store; without one, let none."""
    for stream in streams:
        if isinstance(stream, Stream):
            stream.hasher, stream.digest = None if store is None else store.fingerprints.rows_hash, None


class MetricStore(KeptCells):
    """The scores of one metric of one evaluation, by the places of generators and clients.

    A party without a hash, such as a distribution of a user's own class, has its scores computed every time.
    """

    def __init__(
        self,
        store: Store,
        metric: Metric[Any],
        clients: Sequence[str | None],
        weights: Sequence[float],
        generators: Sequence[Any],
    ) -> None:
        self._store, of = store, store.fingerprints
        self._metric, self._terms = of.of_metric(metric), of.of_terms(metric)
        self._clients, self._shares, self._weights = list(clients), list(weights), _numbers_text(weights)
        self._generators = [self._hashes_of(source, metric.is_conditional) for source in generators]
        self._own = [self._hashes_of(source, True) for source in generators]

    def _hashes_of(self, source: Any, is_conditional: bool) -> list[str | None]:
        """Return the hash of what each client's score is of: the generator itself, or its answers to the client.

        Of a metric that is not conditional it is the mixture of all answers, which depends on the weights.
        """
        of = self._store.fingerprints
        if not isinstance(source, tuple):
            return [of.of_sample(source)] * len(self._clients)
        if is_conditional:
            return [of.of_sample(sample) for sample in source]
        parts, shares = merge_shared(source, self._shares)
        return [self._joined(_numbers_text(shares), *map(of.of_sample, parts))] * len(source)

    def find(self, g: int, i: int | None, *, own: bool = False) -> Cell | None:
        """Return the score of a generator with a client, with all pooled for None; None where it is not kept."""
        key = self._key(g, i, own)
        record = None if key is None else self._store.get(key)
        if record is None:
            return None
        self._store.found += 1
        terms = record["terms"] if record["about"] == self._terms else {"score": record["value"]}
        size_gap = math.nan if record["size_gap"] is None else record["size_gap"]
        return Cell(record["value"], terms, None, size_gap)

    def keep(self, g: int, i: int | None, cell: Cell, *, own: bool = False) -> None:
        """Keep a score that was computed, but no refusal."""
        self._store.computed += 1
        key = self._key(g, i, own)
        if key is None or cell.refusal is not None or not math.isfinite(cell.value):
            return
        size_gap = cell.size_gap if math.isfinite(cell.size_gap) else None
        terms = {str(name): float(value) for name, value in cell.terms.items()}
        self._store.keep(key, {"value": float(cell.value), "terms": terms, "size_gap": size_gap, "about": self._terms})

    def _key(self, g: int, i: int | None, own: bool) -> str | None:
        if i is None:
            parts = ["pooled", self._metric, self._weights, *self._clients, *self._generators[g]]
        else:
            parts = ["client", self._metric, self._clients[i], (self._own if own else self._generators)[g][i]]
        return self._joined(*parts)

    def _joined(self, *parts: str | None) -> str | None:
        """Return the hash of several, None where one is missing."""
        hashes = [part for part in parts if part is not None]
        return self._store.fingerprints.of_text(*hashes) if len(hashes) == len(parts) else None


def _numbers_text(numbers: Iterable[float]) -> str:
    return ",".join(map(repr, numbers))


def _checked_folder(folder: Any) -> Path:
    """Return the folder, made where it is not there, if it is a store or empty."""
    fix = "Give the folder of a store, or of a new one"
    path, names = make_folder(folder, "store", fix)
    if HEAD not in names and any(not name.startswith(".") for name in names):
        raise InvalidInput("store", f"{shown(str(path))} contains other files and is not a store", fix)
    return path


def _key_of(folder: Path) -> bytes:
    """Return the key of a store, made where there is none."""
    head = folder / HEAD
    if not head.exists():
        content = json.dumps({"format": FORMAT, "key": secrets.token_hex(KEY_BYTES)})
        try:
            write_once(head, content.encode(), 0o600)
        except OSError as error:
            seen = f"{shown(str(head))} cannot be written ({error.strerror})"
            raise InvalidInput("store", seen, "Give a folder that can be written") from None
    try:
        content = json.loads(read_plain(head, MAX_HEAD_BYTES, follow=False))
        version, key = content["format"], content["key"]
    except OSError as error:
        raise InvalidInput("store", f"{head} cannot be read ({error.strerror})", "Give another folder") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InvalidInput("store", f"{head} is damaged", "Give a new folder; this one is left as it is") from None
    if version != FORMAT:
        seen = f"{head} is of format {shown(version)}, and this version of nbmetrics reads format {FORMAT}"
        raise InvalidInput("store", seen, "Give a new folder; this one is left as it is")
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise InvalidInput("store", f"{head} is damaged", "Give a new folder; this one is left as it is")
    return bytes.fromhex(key)
