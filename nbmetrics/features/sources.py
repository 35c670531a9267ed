"""Sources of images: each numbers what it found from 0, reads one at a time, and holds no pixels of its own.

`check_all` reads everything once and remembers what could be read, the sizes, and why the others could not.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..errors import InvalidInput
from ..threads import can_start
from .decode import RULES, Unread, decode_image, decode_pillow
from .files import HARMLESS, File, Member
from .layouts import Stack, one_image

# Each may hold an image of 50 million pixels.
MAX_THREADS = 4
_ITEMS_PER_THREAD = 8

# What became of the files that this process decoded, by their digests: (height, width) or None, and remark or reason.
Verdict = tuple[tuple[int, int] | None, str]
_verdicts: dict[bytes, Verdict] = {}
_MAX_VERDICTS = 200_000


@dataclass
class SourceCheck:
    """The result of a first pass over n found things: which are images, their (height, width), reasons and remarks."""

    read: np.ndarray
    sizes: np.ndarray
    reasons: dict[int, str] = field(default_factory=dict)
    labels: np.ndarray | None = None

    def unreadable(self) -> list[int]:
        """Return the places of those that may be images and could not be read."""
        return [int(i) for i in np.flatnonzero(~self.read) if self.reasons[int(i)] not in HARMLESS]


class ImageSource(Protocol):
    """Things found at one place, numbered from 0."""

    def __len__(self) -> int:
        """How many things were found, images or not."""

    def name(self, index: int) -> str:
        """Return what people call this one, in one line."""

    def read(self, index: int) -> tuple[np.ndarray, str]:
        """Return the image and what a rule changed; raises `Unread` with the reason."""

    def digest(self, index: int) -> bytes:
        """Return 32 bytes that name the content."""

    def check(self) -> SourceCheck:
        """Return the result of one pass over everything."""


def check_all(count: int, judge: Callable[[int], Verdict], threads: int = 1) -> SourceCheck:
    """Return the verdicts on all of `count` things found."""
    seen = SourceCheck(np.zeros(count, bool), np.zeros((count, 2), np.int32))

    def look(start: int) -> None:
        for i in range(start, min(start + _ITEMS_PER_THREAD, count)):
            size, said = judge(i)
            if size is not None:
                seen.read[i], seen.sizes[i] = True, size
            if said:
                seen.reasons[i] = said

    _for_each(look, range(0, count, _ITEMS_PER_THREAD), threads)
    return seen


def verdict_of(read: Callable[..., tuple[np.ndarray, str]], *what: Any) -> Verdict:
    """Return the verdict on something: its size and remark, or why it is no image, found by reading it."""
    try:
        pixels, remark = read(*what)
    except Unread as reason:
        return None, str(reason)
    return pixels.shape[:2], remark


def _for_each(work: Callable[[int], None], starts: Iterable[int], threads: int) -> None:
    if threads == 1 or not can_start():
        for start in starts:
            work(start)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        for _ in pool.map(work, starts):
            pass
    finally:
        pool.shutdown(cancel_futures=True)  # an interrupt does not wait for all that is left


def digest_of(pixels: np.ndarray) -> bytes:
    """Return 32 bytes that name an image, by shape and pixels."""
    return hashlib.sha256(f"{pixels.shape} ".encode() + pixels.tobytes()).digest()


class Arrays:
    """The images of one stack."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack

    def __len__(self) -> int:
        return len(self.stack)

    def name(self, index: int) -> str:
        return f"image {index}"

    def read(self, index: int) -> tuple[np.ndarray, str]:
        return self.stack.image(index), ""

    def digest(self, index: int) -> bytes:
        return digest_of(self.stack.image(index))

    def check(self) -> SourceCheck:
        """Everything can be read: the stack was checked when it was made."""
        count = len(self)
        return SourceCheck(np.ones(count, bool), np.broadcast_to(np.array(self.stack.size, np.int32), (count, 2)))


class FileItems:
    """Files, members of a zip file, Pillow's images or arrays: each an object of its own."""

    def __init__(self, items: Sequence[Any], folders: bool = False) -> None:
        self.items, self.folders = items, folders

    def __len__(self) -> int:
        return len(self.items)

    def name(self, index: int) -> str:
        item = self.items[index]
        return item.name if isinstance(item, File | Member) else f"image {index}"

    def read(self, index: int) -> tuple[np.ndarray, str]:
        item = self.items[index]
        if not isinstance(item, File | Member):
            return read_value(item, index)
        if item.reason:
            raise Unread(item.reason)
        return decode_image(item.data())

    def digest(self, index: int) -> bytes:
        item = self.items[index]
        return _digest_of_file(item.data()) if isinstance(item, File | Member) else digest_of(self.read(index)[0])

    def check(self) -> SourceCheck:
        # images of Pillow's may share one open file
        files = all(isinstance(item, File | Member) for item in self.items)
        seen = check_all(len(self), self._judge, min(MAX_THREADS, os.cpu_count() or 1) if files else 1)
        if self.folders:
            tops = ["." if len(item.parts) == 1 else item.parts[0] for item in self.items]
            if {tops[i] for i in np.flatnonzero(seen.read)} - {"."}:
                seen.labels = np.array(tops)
        return seen

    def _judge(self, index: int) -> Verdict:
        """The verdict on one item; a file with the bytes of one that was decoded before is not decoded again."""
        item = self.items[index]
        if not isinstance(item, File | Member):
            return verdict_of(self.read, index)
        if item.reason:
            return None, item.reason
        try:
            data = item.data()
        except Unread as reason:
            return None, str(reason)
        digest = _digest_of_file(data)
        if digest not in _verdicts:
            if len(_verdicts) >= _MAX_VERDICTS:
                _verdicts.clear()
            _verdicts[digest] = verdict_of(decode_image, data)
        return _verdicts[digest]


def _digest_of_file(data: bytes) -> bytes:
    """Return 32 bytes that name the content of a file."""
    named = hashlib.sha256(RULES)
    named.update(data)
    return named.digest()


def is_pillow(value: Any) -> bool:
    """Return whether this is one of Pillow's images; importing nothing, for without Pillow there is none."""
    return any(kind.__module__ == "PIL.Image" and kind.__name__ == "Image" for kind in type(value).__mro__)


def read_value(value: Any, index: int) -> tuple[np.ndarray, str]:
    """Return an image that is given as an object: Pillow's, an array or a tensor."""
    if is_pillow(value):
        return decode_pillow(value)
    try:
        return one_image(value), ""
    except InvalidInput as error:
        raise error.of(f"image {index}") from None
