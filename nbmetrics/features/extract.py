"""extract(): images, batch by batch, through an extractor into rows; what was computed before comes from the cache.

Flow: check the settings → digests of the images → rows that the cache knows → the others, chunk by chunk: decode,
extract, keep. A chunk that is finished is on the disk, so a run that was stopped goes on behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidInput, check_choice, check_count, check_flag, shown
from ..progress import progress_bar
from ..threads import can_start
from .batches import as_float32
from .cache import Shelf, cache
from .extractors import Extractor, extractor_of
from .images import Images, images
from .torch_environment import DEFAULT_EXTRACTOR

if TYPE_CHECKING:
    from tqdm import tqdm

# Images whose rows make one file: at 8 a second, what is lost when a process is killed took half a minute.
IMAGES_PER_CHUNK = 256
MAX_BATCH = 100_000
RESIZES = ("extractor", "clean")


@dataclass(frozen=True)
class Extraction:
    """An extractor with its settings: the one way in which a federation's images become rows."""

    extractor: Extractor
    batch_size: int = 64
    cache: bool = True
    progress: str | bool = "auto"
    # What the first rows were made with: a module may be trained since, and its rows then compare with none of before.
    _made: list[str] = field(default_factory=list, repr=False, compare=False)

    def __repr__(self) -> str:
        return f"Extraction({self.extractor.name!r}, batch_size={self.batch_size}, cache={self.cache})"

    @property
    def convention(self) -> str:
        """How images become rows, for the line under a table."""
        return self.extractor.convention

    @property
    def made(self) -> str:
        """The convention when the first rows were made, or that of now where there are none."""
        return self._made[0] if self._made else self.convention

    def rows(self, source: Any) -> np.ndarray:
        """Return (n, d) float32 rows of a source of images, in its order."""
        source_images = images(source)
        if not len(source_images):
            raise InvalidInput("source", f"{shown(source)} has no image", "Give at least one")
        self.check_unchanged()
        rows = _Run(self, source_images).rows()
        self._made[:] = [self.convention]
        return rows

    def batch(self, images: Sequence[np.ndarray]) -> np.ndarray:
        """Return (b, d) float32 rows of a few images, neither looked for in the cache nor kept there."""
        return _check_rows(self.extractor(images), len(images), None)

    def check_unchanged(self) -> None:
        """Raise InvalidInput where the extractor is no longer what the first rows were made with."""
        if self.made != self.convention:
            seen = f"made rows as {shown(self.made, 200)} before, and is {shown(self.convention, 200)} now"
            raise InvalidInput("extractor", seen, "Make the federation again, or give it a copy that is not trained")


class _Run:
    """One source on its way through an extractor."""

    def __init__(self, settings: Extraction, images_: Images) -> None:
        self.settings, self.found, self.extractor = settings, images_, settings.extractor
        self.shelf: Shelf | None = None
        self.digests: list[bytes] = []
        self.done: int | None = None  # images of which the rows are in the cache, once it was looked through
        if hasattr(self.extractor, "admit"):
            # Some compare images of one size alone: the first settles it, and so belongs to the fingerprint.
            self.extractor.admit(images_[0])
        if settings.cache and self.extractor.fingerprint is not None:
            self.shelf = cache.shelf(self.extractor.name, self.extractor.fingerprint)

    def rows(self) -> np.ndarray:
        try:
            return self._rows()
        except KeyboardInterrupt as stop:
            stop.add_note(self._resume_note())
            raise

    def _rows(self) -> np.ndarray:
        rows, missing = self._from_cache()
        step = self.settings.batch_size * -(-IMAGES_PER_CHUNK // self.settings.batch_size)
        with progress_bar(self.settings.progress, len(missing), self.extractor.name, " images") as bar:
            for start in range(0, len(missing), step):
                places = missing[start : start + step]
                chunk = self._chunk(places, bar)
                if rows is None:
                    rows = np.empty((len(self.found), chunk.shape[1]), np.float32)
                rows[places] = _check_rows(chunk, len(places), rows.shape[1])
        assert rows is not None
        return rows

    def _from_cache(self) -> tuple[np.ndarray | None, np.ndarray]:
        """Return the rows that are cached, and the places of the others."""
        if self.shelf is None:
            return None, np.arange(len(self.found))
        with progress_bar(self.settings.progress, len(self.found), "looking in the cache", " images") as bar:
            for place in range(len(self.found)):
                self.digests.append(self.found.digest(place))
                bar.update()
        rows, is_known = self.shelf.find(self.digests)
        self.done = int(is_known.sum())
        return rows, np.flatnonzero(~is_known)

    def _chunk(self, places: np.ndarray, bar: tqdm[Any]) -> np.ndarray:
        """Return rows of the images at these places, from the run of another process, or computed and kept."""
        digests = [self.digests[place] for place in places] if self.shelf else []
        kept_rows = self.shelf.get(digests) if self.shelf else None
        if kept_rows is not None:
            bar.update(len(places))
            return kept_rows
        parts: list[np.ndarray] = []
        try:
            for batch in _prefetch(self.found.select(places).batches(self.settings.batch_size)):
                parts.append(_check_rows(self.extractor(batch), len(batch), parts[0].shape[1] if parts else None))
                bar.update(len(batch))
        finally:  # stopped half-way, too
            if self.shelf and parts:
                rows = np.concatenate(parts)
                self.shelf.keep(digests[: len(rows)], rows)
                self.done = (self.done or 0) + len(rows)
        return np.concatenate(parts)

    def _resume_note(self) -> str:
        if self.shelf is None:
            return "Nothing of this run is kept: it was made without the cache."
        if not self.shelf.is_open:
            return f"Not all of this run is kept: {cache.folder} is full."
        if self.done is None:
            return "What was computed before is in the cache: run the same again to continue."
        done = f"{self.done:,} of {len(self.found):,} images are in the cache"
        return f"{done}: run the same again to continue after them (nm.cache.info() shows where they are)."


def _prefetch(batches: Iterator[list[np.ndarray]]) -> Iterator[list[np.ndarray]]:
    """Yield the same batches, each decoded in a thread while the one before is extracted, where threads can start."""
    if not can_start():
        yield from batches
        return
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = pool.submit(next, batches, None)
            yield batch


def _check_rows(rows: Any, count: int, width: int | None) -> np.ndarray:
    """Return rows of an extractor as (count, width) float32 of their own: it may fill the same array again."""
    rows = np.asarray(rows)
    if rows.ndim != 2 or len(rows) != count or not rows.shape[1] or width not in (None, rows.shape[1]):
        wanted = f"({count}, {'d' if width is None else width})"
        raise InvalidInput("extractor", f"gave an array of shape {rows.shape}", f"Return one of shape {wanted}")
    if rows.dtype.kind not in "biuf":
        raise InvalidInput("extractor", f"gave rows of type {rows.dtype}", "Return real numbers")
    return as_float32(rows)


def extraction(
    extractor: Any = DEFAULT_EXTRACTOR,
    *,
    weights: Any = None,
    download: bool = False,
    batch_size: int = 64,
    device: str = "auto",
    resize: str = "extractor",
    cache: bool = True,
    progress: str | bool = "auto",
) -> Extraction:
    """Return the settings of `extract`, checked once."""
    batch_size = check_count(batch_size, "batch_size", maximum=MAX_BATCH)
    check_choice(resize, RESIZES, "resize")
    is_cached = check_flag(cache, "cache")
    if not isinstance(progress, bool):
        check_choice(progress, ("auto",), "progress")
    model = extractor_of(extractor, weights=weights, download=download, device=device, resize=resize)
    return Extraction(model, batch_size, is_cached, progress)


def extract(
    source: Any,
    extractor: Any = DEFAULT_EXTRACTOR,
    *,
    weights: Any = None,
    download: bool = False,
    batch_size: int = 64,
    device: str = "auto",
    resize: str = "extractor",
    cache: bool = True,
    progress: str | bool = "auto",
) -> np.ndarray:
    """Features of images: (n, d) float32 rows, one for each image of `source`, in its order.

    Parameters
    ----------
    source : what `nm.images` takes: a folder, paths, arrays, a data set
    extractor : a name of `nm.extractors()`, a `torch.nn.Module`, or a function from a batch of images to rows
    weights : path of a file of weights, where the extractor wants one
    download : True lets it fetch its published weights, once; nothing is fetched otherwise
    batch_size : images that go through the extractor at a time, 1 to 100,000
    device : "auto", "cpu", "cuda", …, for extractors in torch
    resize : "extractor" for its own rule, "clean" for the antialiased bicubic one of clean-fid
    cache : whether rows computed before are used again and new ones kept (`nm.cache`); keyed by the images' content
        and the extractor with its weights and transform, so what changed is computed anew. A function has no name
        that a later session could trust, and is not cached.
    progress : "auto" shows a bar after a second; True or False

    Stopped half-way (Ctrl-C, a kernel that was killed), the same call goes on behind the chunk of 256 images that it
    finished last. Which images share a batch moves no row beyond its last bits: sums of a matrix product are
    taken in another order for batches of another size.

    Raises
    ------
    InvalidInput
        For a source without an image, settings that do not exist, an extractor or weights that are not here.

    Examples
    --------
    >>> array = np.zeros((3, 4, 4), dtype=np.uint8)
    >>> nm.extract(array, "pixels").shape
    (3, 16)
    """
    settings = extraction(
        extractor,
        weights=weights,
        download=download,
        batch_size=batch_size,
        device=device,
        resize=resize,
        cache=cache,
        progress=progress,
    )
    return settings.rows(source)
