"""Which kind of source a value is: the one place that knows them all."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, MappingView, Set
from typing import Any

import numpy as np

from ..arrays import is_array
from ..errors import InvalidInput, check_list, check_names, shown
from ..tables import is_batch, is_table
from .remote import address_source, is_address
from .sources import (
    Again,
    ChunkSource,
    Loader,
    MemoryMapSource,
    Once,
    Parquet,
    SliceSource,
    Source,
    is_batch_function,
    is_loader,
    parquet_files,
)


def is_rows_path(value: Any) -> bool:
    """Whether a value is parquet by its path, or another address of rows."""
    return bool(parquet_files(value)) or is_address(value)


def source_of(value: Any, columns: Any = None) -> Source | None:
    """What streams the rows of `value`; None of rows in memory, of an iterator whose items are no batches, and of
    what holds no rows.
    """
    named = [columns] if isinstance(columns, str) else columns
    chosen = None if named is None else check_names(check_list(named, "columns"), "columns")
    if files := parquet_files(value):
        return Parquet(files, chosen)
    if is_address(value):
        return address_source(value, chosen)
    if columns is not None:
        seen = f"are given together with {shown(value)}"
        raise InvalidInput("columns", seen, "They select from a parquet file, or a folder of them")
    if isinstance(value, np.memmap):
        return MemoryMapSource(value, "a memory-mapped file") if value.ndim == 2 else None
    is_plain = isinstance(value, (str, bytes, os.PathLike, type)) or hasattr(value, "state_dict")
    if is_plain or is_array(value) or is_table(value):
        return None
    if all(hasattr(value, name) for name in ("shape", "dtype", "chunks", "__getitem__")):
        return _lazy(value) if len(value.shape) == 2 else None
    if is_loader(value):
        return Loader(value)
    if is_batch_function(value):
        return Again(value, "the function")
    if hasattr(value, "__array__") or not isinstance(value, Iterable):
        return None
    if isinstance(value, Once):
        return value
    in_memory = (list, tuple, deque, Set, Mapping, MappingView, range)
    if isinstance(value, (Iterator, *in_memory)) or not _gives_batches(value):
        return None
    return Again(lambda: value, f"the {type(value).__name__}")


def _gives_batches(value: Iterable[Any]) -> bool:
    """Whether what comes first is a batch; an iterable that raises is for who takes it as rows to tell."""
    try:
        return is_batch(next(iter(value), None))
    except Exception:
        return False


def _lazy(array: Any) -> Source:
    return (
        ChunkSource(array)
        if hasattr(array, "numblocks")
        else SliceSource(array, f"a {type(array).__module__.split('.')[0]} array")
    )
