"""Rows behind an address: a URL that fsspec opens, a zarr path, a pattern of parquet files, a pyarrow data set.

Nothing is fetched unless the user gave a URL. A pass reads from the first row to the last, a few batches at a time;
parquet also by row groups. What is said of a URL leaves out passwords and what follows a question mark.
"""

from __future__ import annotations

import glob
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidInput, shown
from ..tables import row_bytes, schema_columns, schema_rows
from .sources import MOST_PATHS, PARQUET, Parquet, SliceSource, Source, passing_rows

NPY, ZARR = ".npy", ".zarr"
INSTALL = 'pip install "nbmetrics[cluster]"'
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
MAX_URL_LETTERS, MAX_HEADER_BYTES = 4_000, 10_000
FIX = "Give a URL of a .npy file, of parquet files, or of a zarr array, such as s3://bucket/rows.parquet"
# What fsspec needs to open them.
PACKAGES = {
    **dict.fromkeys(("http", "https"), "pip install aiohttp"),
    "s3": "pip install s3fs",
    **dict.fromkeys(("gs", "gcs"), "pip install gcsfs"),
    **dict.fromkeys(("abfs", "abfss", "az"), "pip install adlfs"),
}
# File systems that another process does not have.
OF_THIS_PROCESS = {"memory"}


def is_address(value: Any) -> bool:
    """Whether a value is a URL, the path of a zarr array, a pattern of parquet files, or a pyarrow data set."""
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value)
        if not isinstance(text, str):
            return False
        is_zarr = text.rstrip("/").endswith(ZARR) and os.path.isdir(text)
        return bool(_SCHEME.match(text)) or is_zarr or (glob.has_magic(text) and text.lower().endswith(PARQUET))
    return type(value).__module__.startswith("pyarrow") and hasattr(value, "to_batches") and hasattr(value, "scanner")


def address_source(value: Any, columns: Sequence[str] | None) -> Source:
    """Return what streams the rows of an address; InvalidInput that says what was tried."""
    if not isinstance(value, (str, os.PathLike)):
        return DataSet(value, columns)
    text = os.fspath(value)
    if len(text) > MAX_URL_LETTERS:
        raise InvalidInput("data", f"is a text of {len(text):,} letters", FIX)
    if not _SCHEME.match(text):
        if text.rstrip("/").endswith(ZARR):
            return _without_columns(Zarr(text, text), columns, text)
        paths = sorted(path for path in map(Path, glob.glob(text, recursive=True)) if path.is_file())
        if not paths:
            raise InvalidInput("data", f"{shown(text)} matches no file", "Give a pattern of parquet files")
        return Parquet(paths[:MOST_PATHS], columns)
    path = _path_in(text).rstrip("/").lower()
    if path.endswith(NPY):
        return _without_columns(RemoteArray(text), columns, text)
    if path.endswith(ZARR):
        return _without_columns(Zarr(text, shown(text)), columns, text)
    files = _files(text)
    if not files:
        raise InvalidInput("data", f"{shown(text)} has no file that ends in {PARQUET}", FIX)
    return RemoteParquet(text, files, columns)


def _path_in(url: str) -> str:
    """Return host and path of a URL, of a chain ("zip://a.npy::https://host/b.zip") those of its first part."""
    return re.split(r"[?#]|::", url.partition("://")[2], maxsplit=1)[0]


def _is_local(url: str) -> bool:
    """Whether a URL is of a file system that only this process has."""
    match = _SCHEME.match(url)
    return match is not None and match[1].lower() in OF_THIS_PROCESS


def file_system(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path in it."""
    try:
        import fsspec
    except ImportError:
        raise InvalidInput("data", f"{shown(url)} needs fsspec, which is not installed", f"Run: {INSTALL}") from None
    try:
        return fsspec.core.url_to_fs(url)  # type: ignore[no-any-return]
    except ImportError:
        package = PACKAGES.get(url.partition("://")[0], "see fsspec's list of file systems")
        seen = f"{shown(url)} needs a package that is not installed"
        raise InvalidInput("data", seen, f"Install what opens such URLs: {package}") from None
    except Exception as error:  # of a chain, the file system already opens what is behind it
        if isinstance(error, ValueError) and "Protocol not known" in str(error):
            seen = f"{shown(url)}: fsspec knows no {shown(url.partition('://')[0])}"
            raise InvalidInput("data", seen, FIX) from None
        raise _failed(url, error) from None


def _failed(url: str, error: Exception) -> InvalidInput:
    """Return the error that a URL cannot be read, whatever fsspec's file system raised."""
    status = getattr(error, "status", None)
    why = f"HTTP {status}" if status else getattr(error, "strerror", None) or type(error).__name__
    if isinstance(error, FileNotFoundError | PermissionError):
        why = "not found, or not allowed"
    return InvalidInput("data", f"{shown(url)} cannot be read ({why})", "Check the address and who may read it")


def _files(url: str) -> list[str]:
    """Return the parquet files of a URL: the one that it names, those that match it, or those of a folder."""
    system, path = file_system(url)
    is_pattern = glob.has_magic(_path_in(url))
    if _path_in(url).lower().endswith(PARQUET) and not is_pattern:
        return [path]
    try:
        names = system.glob(path) if is_pattern else system.find(path)
    except Exception as error:
        raise _failed(url, error) from None
    return sorted(name for name in names if name.lower().endswith(PARQUET))[:MOST_PATHS]


def _without_columns(source: Source, columns: Sequence[str] | None, what: str) -> Source:
    if columns is not None:
        seen = f"are given together with {shown(what)}"
        raise InvalidInput("columns", seen, "They select from parquet")
    return source


class RemoteFile:
    """A file behind a URL, opened by whoever reads it: it travels to another process as its address."""

    def __init__(self, url: str, path: str) -> None:
        self.url, self.path, self.name = url, path, path.partition("?")[0].rpartition("/")[2]

    def open(self) -> Any:
        """Return the file, open from its beginning."""
        system, _ = file_system(self.url)
        try:
            return system.open(self.path, "rb")
        except Exception as error:
            raise _failed(self.url, error) from None


class Reader:
    """The bytes of an open file, one after the other; what its file system raises becomes InvalidInput."""

    def __init__(self, file: Any, url: str) -> None:
        self._file, self._url = file, url

    def read(self, size: int = MAX_HEADER_BYTES) -> bytes:
        """Return so many bytes, however many the file gives at once; fewer at its end."""
        whole = io.BytesIO()
        try:
            while whole.tell() < size and (part := self._file.read(size - whole.tell())):
                whole.write(part)
        except Exception as error:
            raise _failed(self._url, error) from None
        return whole.getvalue()


class RemoteArray(Source):
    """A .npy file behind a URL, read from its beginning to its end."""

    def __init__(self, url: str) -> None:
        self.what, self.first, self.is_local = shown(url), 0, _is_local(url)
        self._file = RemoteFile(url, file_system(url)[1])
        with self._file.open() as file:
            (self.size, self._width), self._dtype = self._header(Reader(file, url))

    def _header(self, file: Reader) -> tuple[tuple[int, int], np.dtype[Any]]:
        """Return shape and type of the rows, and leave the file where they begin."""
        try:
            version = np.lib.format.read_magic(file)
            read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
            shape, by_columns, dtype = read(file, max_header_size=MAX_HEADER_BYTES)
        except InvalidInput:
            raise
        except Exception:  # NumPy reads the header as Python, and garbage makes that fail in many ways
            raise InvalidInput("data", f"{self.what} contains no array in the .npy format", FIX) from None
        if len(shape) != 2 or dtype.hasobject or dtype.kind not in "fiub" or by_columns:
            kind = f"an array of shape {shape} and type {dtype}{', stored by columns' * by_columns}"
            raise InvalidInput("data", f"{self.what} is {kind}", "Give rows (n, d) of numbers, stored by rows")
        return (int(shape[0]), int(shape[1])), dtype

    def parts(self, rows: int | None) -> Iterator[Any]:
        with self._file.open() as opened:
            file = Reader(opened, self._file.url)
            shape, dtype = self._header(file)
            if (shape, dtype) != ((self.size, self._width), self._dtype):
                raise InvalidInput("data", f"{self.what} has another shape than before", "Give one that stays the same")
            row = self._width * dtype.itemsize
            step = passing_rows(row) if rows is None else rows
            for start in range(0, shape[0], step):
                count = min(step, shape[0] - start)
                content = file.read(count * row)
                if len(content) < count * row:
                    seen = f"{self.what} ends after {start:,} of {self.size:,} rows"
                    raise InvalidInput("data", seen, "The connection was cut, or the file is not complete: try again")
                yield np.frombuffer(content, dtype=dtype).reshape(count, self._width).copy()


class RemoteParquet(Parquet):
    """Parquet files behind a URL."""

    def __init__(self, url: str, files: Sequence[str], columns: Sequence[str] | None) -> None:
        super().__init__([RemoteFile(url, path) for path in files], columns)
        self.what = shown(url)

    @staticmethod
    def _opened(path: Any) -> Any:
        return path.open()

    @staticmethod
    def _unreadable(path: Any, error: Exception) -> InvalidInput:
        return _failed(path.url, error)

    def _read(self, groups: Iterable[Any]) -> Iterator[Any]:
        try:
            yield from super()._read(groups)
        except InvalidInput:
            raise
        except Exception as error:  # whose text may have the whole URL
            raise _failed(self._paths[0].url, error) from None


class Zarr(SliceSource):
    """A zarr array by its path or URL, opened by whoever reads it."""

    def __init__(self, path: str, name: str) -> None:
        self._path, self._name, self.is_local = path, name, _is_local(path)
        super().__init__(self._open(), f"the zarr array {name}")

    def _open(self) -> Any:
        try:
            import zarr
        except ImportError:
            raise InvalidInput("data", f"{self._name} needs zarr, which is not installed", f"Run: {INSTALL}") from None
        try:
            array = zarr.open_array(self._path, mode="r")
        except Exception as error:
            why = f"{self._name} cannot be opened as a zarr array ({type(error).__name__})"
            raise InvalidInput("data", why, "Give the path of an array; of a group, that of one in it") from None
        if len(array.shape) != 2 or array.dtype.kind not in "fiub":
            seen = f"{self._name} has the shape {array.shape} and the type {array.dtype}"
            raise InvalidInput("data", seen, "Give rows (n, d) of numbers")
        return array

    def read(self, start: int, stop: int) -> np.ndarray:
        try:
            return super().read(start, stop)
        except Exception as error:  # whose text may have the whole URL
            seen = f"{self._name} cannot be read ({type(error).__name__})"
            raise InvalidInput("data", seen, "Check the address and who may read it") from None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "array": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.array = self._open()


class DataSet(Source):
    """A pyarrow data set: batches of the columns named, or see `feature_columns`."""

    what = "a pyarrow data set"

    def __init__(self, data: Any, columns: Sequence[str] | None) -> None:
        self._data = data
        self.columns, self.size = schema_columns(data.schema, columns, self.what), int(data.count_rows())

    def parts(self, rows: int | None) -> Iterator[Any]:
        names = list(self.columns or ())
        step = passing_rows(row_bytes(self._data.schema, names)) if rows is None else rows
        for table in self._data.to_batches(columns=names, batch_size=step):
            yield schema_rows(table, names, self.what)
