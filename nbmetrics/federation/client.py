"""One client: a holder of real data, as rows, as a distribution, or as a mean and a covariance."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array, as_rows, concat, is_array
from ..distributions import Distribution, as_distribution
from ..errors import InvalidInput, check_list, check_names, check_number, shown
from ..files import open_plain
from ..lazy_imports import import_room
from ..metrics.base import Sample
from ..partition import labels_of
from ..summaries.reference import SUFFIX, Moments, read_statistics
from ..summaries.source_kinds import is_rows_path
from ..summaries.sources import peeked
from ..summaries.stream import Stream, as_stream, of_whom
from ..tables import check_same_order, column_names, is_batch
from .image_sources import are_images, extraction_of, images_of, rows_of


class Client:
    """One party with real data of its own.

    Parameters
    ----------
    data : (n, d) rows (NumPy, torch, data frame, nested list), a distribution, or the path of a `.npy` file
        (memory-mapped, never unpickled). Rows that are streamed: an iterator of batches (m, d), read once; a function
        without arguments that returns one; a dask or zarr array; parquet, a file or a folder; a torch `DataLoader`;
        an `nm.Stream`. `nm.Moments`, or the path of a `.npz` file that it loads. With an `extractor` also images: a
        folder, a zip, `nm.images(…)`, an array (n, H, W[, 3]), or the path of a `.npz` file with one as `arr_0`
    test : rows, or images, held out, for metrics that compare with unseen data
    condition : rows x that the generator is conditioned on, one for each row of `data`
    labels : (n,) the class of each row, for `Federation.describe` and `.plot`; of images by default those of
        `nm.images(…)`
    weight : its share λ before normalisation; by default the number of rows (n of `nm.Moments`), or equal for
        distributions
    name : how tables and views call it
    extractor : what makes rows of images: a name, an object or a function, as `nm.extract` takes it; beside rows,
        what they were made with, so that generators of images can be scored

    Examples
    --------
    >>> halves = nm.Client(lambda: ([[0.0], [1.0]], [[2.0]]), name="halves")  # two batches, read when they are needed
    >>> halves.dim, halves.size
    (1, 3)
    """

    def __init__(
        self,
        data: Any,
        *,
        test: Any = None,
        condition: Any = None,
        labels: Any = None,
        weight: float | None = None,
        name: str | None = None,
        extractor: Any = None,
    ) -> None:
        self.weight = None if weight is None else check_number(weight, "weight", minimum=0)
        self.name = None if name is None else check_names([name], "name")[0]
        self.extraction = None if extractor is None else extraction_of(extractor)
        self.report: Any = None
        self.columns: tuple[str, ...] | None = None
        # What the rows are made of, one for each, where that is known.
        self.images: Any = None
        self.distribution: Any = None
        self.stream: Stream | None = None
        self.moments: Moments | None = None
        if type(data) is np.ndarray and data.ndim == 2:
            self.rows = as_rows(data, "data")
        else:
            self._read(data)
        images = self.images
        if self.moments is not None:
            _check_alone(test=test, condition=condition, labels=labels)
        self.condition_columns = None if condition is None else column_names(condition)
        self.condition = None if condition is None else as_rows(condition, "condition")
        if self.stream is not None and (condition is not None or (labels is not None and self.stream.size is None)):
            self.rows, self.stream = self.stream.collect(), None  # what belongs to its rows, one by one, needs them
        is_counted = images is None and (condition is not None or labels is not None)
        count = self.size if is_counted else len(images or ())
        if self.condition is not None and len(self.condition) != count:
            seen = f"has {len(self.condition)} rows for {count or 'a distribution'}"
            raise InvalidInput("condition", seen, "Give one condition row for each data row")
        if images is not None:
            labels, self.report = images.labels if labels is None else labels, images.report
        self.labels = None if labels is None else labels_of(labels, count, "labels")[0]
        if images is not None:
            self.rows = rows_of(images, self.extraction, "data")
        if test is not None and are_images(test):
            test = rows_of(images_of(test, "test", self.extraction), self.extraction, "test")
        if test is not None:
            check_same_order([("data", self.columns), ("test", column_names(test))])
        self.test = None if test is None else as_rows(test, "test", dim=self.dim)

    def _read(self, data: Any) -> None:
        """Take what is no array of rows: images, a stream, a distribution, or what rows are made of."""
        data = open_npy(data, "data")
        self.columns = column_names(data)
        if are_images(data) and not is_rows_path(data):
            self.images = images_of(data, "data", self.extraction)
            return
        source = distribution_or_rows(data, "data")
        if isinstance(source, Stream):
            self.stream, self.columns = source, source.columns or self.columns
        elif isinstance(source, Moments):
            self.moments, self.rows = source, None
        elif isinstance(source, Distribution):
            self.distribution, self.rows = source, None
        else:
            self.rows = source

    @cached_property
    def rows(self) -> Array | None:
        """(n, d), or None without rows; of a stream all together, InvalidInput where the memory limit forbids."""
        assert self.stream is not None
        rows = self.stream.collect()
        if not self.stream.is_repeatable:
            self.stream = None  # what it gave is here, and comes no more
        return rows

    @property
    def dim(self) -> int:
        if self.stream is not None:
            return self.stream.dim
        if self.moments is not None:
            return self.moments.dim
        return int(self.distribution.dim if self.rows is None else self.rows.shape[1])

    @property
    def size(self) -> int:
        """How many rows it has; 0 of a distribution, and of moments of unknown n. Of a function of batches by a pass,
        unless one was made."""
        if self.stream is not None:
            return self.stream.count()
        if self.moments is not None:
            return self.moments.n or 0
        return 0 if self.rows is None else int(self.rows.shape[0])

    def to_sample(self, reads: str = "rows") -> Sample:
        """Return what a metric sees of this client; of a stream by its way of reading, see `Metric.streaming_mode`."""
        if self.stream is not None and (stream := stream_for(self.stream, reads)) is not None:
            return Sample(test=self.test, stream=stream)
        return Sample(self.rows, self.distribution, self.test, self.condition, moments=self.moments)

    @property
    def without_rows(self) -> str:
        """What it is in the place of rows, in words."""
        return shown(self.distribution) if self.moments is None else "a mean and a covariance"

    def _with(self, **changes: Any) -> Client:
        copy = object.__new__(Client)
        apart = {"images": None, "stream": None, "moments": None} if "rows" in changes else {}
        copy.__dict__.update({**self.__dict__, **apart, **changes})
        return copy

    def __repr__(self) -> str:
        if self.stream is not None:
            return f"Client({shown(self.name)}: {self.stream!r})"
        what = (
            repr(self.moments or self.distribution) if self.rows is None else f"{len(self.rows)} rows, dim={self.dim}"
        )
        return f"Client({shown(self.name)}: {what})"


def distribution_or_rows(data: Any, argument: str) -> Any:
    """Return the distribution, moments, stream or rows (n, d) that a client or a generator is given, images apart."""
    if isinstance(data, Moments):
        return data
    distribution = as_distribution(data, argument)
    if distribution is not None:
        return distribution
    if isinstance(data, Iterator):
        data = peeked(data)
    try:
        stream = as_stream(data)
    except InvalidInput as error:
        raise of_whom(error, argument) from error.__cause__
    if stream is not None:
        return check_mapped_rows(stream, argument)
    is_array_like = is_array(data) or hasattr(data, "__array__") or isinstance(data, memoryview)
    if not is_array_like and isinstance(data, Iterable):
        items = check_list(data, argument)
        if items and all(map(is_batch, items)):
            named = [(f"{argument}, batch {number}", item) for number, item in enumerate(items, 1)]
            check_same_order([(name, column_names(item)) for name, item in named])
            batches = [as_rows(item, name) for name, item in named]
            widths = {batch.shape[1] for batch in batches}
            if len(widths) > 1:
                raise InvalidInput(argument, f"has batches of widths {sorted(widths)}", "Give all the same features")
            return as_rows(concat(batches), argument)
        data = items
    return as_rows(data, argument)


def check_mapped_rows(stream: Stream, argument: str) -> Stream:
    """Return the stream after reading a mapped file to its end, so that bad rows are reported at once."""
    if stream.is_file and not stream.was_read:
        try:
            for _ in stream.batches():
                pass
        except InvalidInput as error:
            raise of_whom(error, argument) from None
    return stream


def stream_for(stream: Stream | None, reads: str) -> Stream | None:
    """Return the stream of a client for a metric that reads it so, or None; see `Metric.streaming_mode`."""
    if stream is None or reads == "rows" or ((reads == "again" or stream.is_mapped) and stream.fits):
        return None
    return stream


def open_npy(data: Any, argument: str) -> Any:
    """Return what a file holds whose path was given: the array of a `.npy` file, moments or images of a `.npz` file.

    Anything else, such as a folder of images, as it is.
    """
    if not isinstance(data, (str, os.PathLike)) or is_rows_path(data) or are_images(data):
        return data
    if str(data).lower().endswith(SUFFIX):
        return _open_npz(data, argument)
    fix = "Give the path of a .npy, .npz or parquet file, or of a folder or zip of images"
    try:
        os.close(open_plain(Path(data), os.O_RDONLY))  # NumPy would wait for a FIFO
        array = np.load(data, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        why = f": {error.strerror}" if error.strerror else ""
        raise InvalidInput(argument, f"cannot read {shown(str(data))}{why}", fix) from None
    except Exception:  # garbage fails in many ways, and NumPy's words advise to unpickle what is no .npy file
        fix += ". Rows of a table or of text: read them first, as with pandas.read_csv"
        raise InvalidInput(
            argument, f"{shown(str(data))} contains no array of numbers in the .npy format", fix
        ) from None
    if not isinstance(array, np.ndarray):
        array.close()
        return _open_npz(data, argument)
    return array


def _open_npz(path: Any, argument: str) -> Any:
    try:
        moments = read_statistics(path)
        return import_room("features").images(path) if moments is None else moments
    except InvalidInput as error:
        raise InvalidInput(argument, error.seen, error.fix) from None


def _check_alone(**beside: Any) -> None:
    """Raise InvalidInput for what belongs to rows, where these are not here."""
    for name, value in beside.items():
        if value is not None:
            seen = "is given for a mean and a covariance, whose rows are not here"
            raise InvalidInput(name, seen, "Leave it out, or give the rows")
