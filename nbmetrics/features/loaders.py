"""Data sets as sources of images: torch's, or anything with a length and items, and loaders of them.

A data set is read item by item, whenever an image is asked for, and each has to be what it was when it was checked:
a transform that draws at random would give each metric other images. What can be gone through only once (an iterable
data set) is written as uint8 into a temporary file that has no name and goes with the process.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import partial
from typing import Any

import numpy as np

from ..arrays import is_array
from ..errors import MAX_ITEMS, InvalidInput, check_count
from .decode import Unread, one_line, reason_of
from .layouts import Stack
from .sources import ImageSource, SourceCheck, check_all, digest_of, read_value, verdict_of

MAX_SPOOL_BYTES = 8 * 10**9
_MAX_REASON_LETTERS = 200


def source_of_data_set(value: Any) -> ImageSource | None:
    """Return a source of a data set or loader; None for anything else."""
    torch = sys.modules.get("torch")
    if torch is not None:
        data = torch.utils.data
        if isinstance(value, data.DataLoader) and not isinstance(value.dataset, data.IterableDataset):
            _check_plain(value, data)
            return DataSet(value.dataset)
        if isinstance(value, data.DataLoader):
            return Spool(_unpack_batches(value, batched=value.batch_size is not None))
        if isinstance(value, data.IterableDataset):
            return Spool(_unpack_batches(value, batched=False))
        if isinstance(value, data.Dataset):
            return DataSet(value)
    if isinstance(value, Mapping | Set | str | bytes | bytearray | range | type) or hasattr(value, "to_numpy"):
        return None
    return DataSet(value) if hasattr(value, "__getitem__") and hasattr(value, "__len__") else None


def _check_plain(loader: Any, data: Any) -> None:
    """Raise InvalidInput for a loader that does not give each item of its data set once, as it is."""
    batches, plain_samplers = loader.batch_sampler, (data.SequentialSampler, data.RandomSampler)
    sampler: Any = loader.sampler if batches is None else getattr(batches, "sampler", None)
    once = type(batches) in (type(None), data.BatchSampler) and type(sampler) in plain_samplers
    once = once and len(sampler) == len(loader.dataset) and not getattr(sampler, "replacement", False)
    if not once or loader.collate_fn not in (data.default_collate, data.default_convert):
        own = "collate_fn" if once else "sampler"
        fix = "Give loader.dataset, or torch.utils.data.Subset of it"
        raise InvalidInput("source", f"is a DataLoader with a {own} of its own", fix)


class DataSet:
    """The images of a data set with a length, by their places in it."""

    def __init__(self, data: Any) -> None:
        self.data = data
        try:
            length = len(data)
        except Exception as error:
            raise InvalidInput("source", f"its length is not available: {reason_of(error)}", "Mend __len__") from None
        self.length = check_count(length, "source, its length", minimum=0, maximum=MAX_ITEMS)
        self.digests = np.zeros((self.length, 32), np.uint8)
        self.known = np.zeros(self.length, bool)
        self._labels: list[Any] = [None] * self.length

    def __len__(self) -> int:
        return self.length

    def name(self, index: int) -> str:
        return f"image {index}"

    def read(self, index: int) -> tuple[np.ndarray, str]:
        try:
            value, label = _parts(self.data[index])
        except Exception as error:  # the user's code, which may read broken files
            raise Unread(one_line(f"{type(error).__name__}: {reason_of(error)}", _MAX_REASON_LETTERS)) from None
        pixels, remark = read_value(value, index)
        digest = np.frombuffer(digest_of(pixels), np.uint8)
        if not self.known[index]:
            self.digests[index], self.known[index], self._labels[index] = digest, True, label
        elif (digest != self.digests[index]).any():
            seen = f"image {index} of the data set has changed since it was checked"
            raise InvalidInput("source", seen, "Give a data set with a transform that is not random")
        return pixels, remark

    def digest(self, index: int) -> bytes:
        return self.digests[index].tobytes()

    def check(self) -> SourceCheck:
        # no threads: a data set of the user's own need not bear them
        seen = check_all(self.length, partial(verdict_of, self.read))
        labels, self._labels = self._labels, [None] * self.length
        if all(label is None for label in labels):
            targets = getattr(self.data, "targets", None)
            if targets is not None and hasattr(targets, "__len__") and len(targets) == self.length:
                labels = list(targets)
        seen.labels = _column([_plain(label) for label in labels], seen.read)
        return seen


class Spool:
    """Images that come only once, kept on disk."""

    def __init__(self, items: Iterator[tuple[np.ndarray, Any]]) -> None:
        self.file = tempfile.TemporaryFile(prefix="nbmetrics-")  # noqa: SIM115 (it lives as long as this)
        self.starts: list[int] = []
        self.shapes: list[tuple[int, ...]] = []
        self.labels: list[Any] = []
        end = 0
        for pixels, label in items:
            if len(self.starts) >= MAX_ITEMS or end + pixels.nbytes > MAX_SPOOL_BYTES:
                seen = f"gives more than {MAX_ITEMS:,} images or {MAX_SPOOL_BYTES / 1e9:g} GB of pixels"
                raise InvalidInput("source", seen, "Save its images in a folder, and give that")
            self.starts.append(end)
            self.shapes.append(pixels.shape)
            self.labels.append(_plain(label))
            self.file.write(pixels.tobytes())
            end += pixels.nbytes
        self.file.flush()

    def __len__(self) -> int:
        return len(self.starts)

    def name(self, index: int) -> str:
        return f"image {index}"

    def read(self, index: int) -> tuple[np.ndarray, str]:
        mapped = np.memmap(self.file, np.uint8, "r", self.starts[index], self.shapes[index])
        return np.array(mapped), ""

    def digest(self, index: int) -> bytes:
        return digest_of(self.read(index)[0])

    def check(self) -> SourceCheck:
        read, sizes = np.ones(len(self), bool), np.array([shape[:2] for shape in self.shapes], np.int32).reshape(-1, 2)
        return SourceCheck(read, sizes, labels=_column(self.labels, read))


def _unpack_batches(values: Iterable[Any], batched: bool) -> Iterator[tuple[np.ndarray, Any]]:
    """Yield (image, label) one by one of what an iterable gives, images or batches of them."""
    count = 0
    for value in values:
        image, label = _parts(value)
        if not batched:
            try:
                yield read_value(image, count)[0], label
            except Unread as reason:
                raise InvalidInput("source", f"image {count}: {reason}", "Leave it out of the data set") from None
            count += 1
            continue
        stack = Stack(image)
        labels = list(label) if label is not None and hasattr(label, "__len__") else []
        labels = labels if len(labels) == len(stack) else [None] * len(stack)
        yield from ((stack.image(k), labels[k]) for k in range(len(stack)))
        count += len(stack)


def _parts(item: Any) -> tuple[Any, Any]:
    """Return the image and the label (or None) of what a data set gives."""
    if isinstance(item, Mapping):
        return item["img" if "img" in item else "image"], item.get("label")
    if isinstance(item, tuple | list) and item and not isinstance(item[0], int | float):
        return item[0], item[1] if len(item) > 1 else None
    return item, None


def _plain(label: Any) -> Any:
    """Return a label as a number or text; None for anything else."""
    if is_array(label) or isinstance(label, np.generic):
        label = label.item() if label.ndim == 0 or tuple(label.shape) == (1,) else None
    return label if isinstance(label, int | str) else None


def _column(labels: list[Any], read: np.ndarray) -> np.ndarray | None:
    """Return the labels as an array, None where one that is needed is missing or they are of two kinds."""
    needed = [label for label, is_read in zip(labels, read, strict=True) if is_read]
    if not needed or len({isinstance(label, str) for label in needed}) > 1 or None in needed:
        return None
    return np.array([type(needed[0])() if label is None else label for label in labels])
