"""Images from any source as one lazy sequence: decoded when asked for, listed with what was not read.

folder, zip, paths, Pillow, arrays, tensors, data sets  →  Source  →  one pass that reads all once  →  Images
"""

from __future__ import annotations

import operator
import os
import zipfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import is_array, plain_array
from ..errors import MAX_ITEMS, InvalidInput, check_count, check_flag, check_list, shown
from ..summaries.reference import SUFFIX, read_images
from .decode import Unread
from .files import file_of_path, files_in_folder, files_in_zip, is_path, refusal_by_name
from .layouts import Stack
from .loaders import source_of_data_set
from .sources import Arrays, FileItems, ImageSource, SourceCheck, is_pillow

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_FIX = "Give a folder, a zip file, a list of paths or of images, an array (n, H, W, 3), or a data set"
_FIRST = 5
# Of the images of a .npz file that is compressed: others stay where they are.
MAX_COMPRESSED_BYTES = 4 * 10**9


class Images(Sequence[np.ndarray]):
    """A lazy sequence of images, each decoded when it is asked for: made by `images`.

    `[i]` is an uint8 array of its own, (H, W, 3) or, where grey, (H, W); a slice, or what `select` takes, is `Images`
    again. A file that changed or disappeared since it was checked raises InvalidInput that names it.

    Attributes
    ----------
    labels : (n,) array, or None
    names : list of str
        Paths below the source, with / between the folders, or "image 3" where there are none.
    report : DataFrame file, read, reason
        Every file found in its order, those without an image too, with the reason; of a read one, what a rule
        changed. Of a part (`select`, a slice) it has the images of that part.
    """

    def __init__(
        self,
        source: ImageSource,
        checked: SourceCheck,
        labels: np.ndarray | None = None,
        places: np.ndarray | None = None,
    ) -> None:
        self._source, self._check, self.labels = source, checked, labels
        self._is_part = places is not None
        self._places = np.flatnonzero(checked.read) if places is None else places

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.select(np.arange(len(self))[index])
        if isinstance(index, list) or (is_array(index) and index.ndim):
            return self.select(index)
        place = self._place(index)
        try:
            return self._source.read(place)[0]
        except Unread as reason:
            raise self._gone(place, reason) from None

    @property
    def names(self) -> list[str]:
        return [self._source.name(int(place)) for place in self._places]

    @property
    def parts(self) -> list[tuple[str, ...]]:
        """Of a folder or a zip, for each line of `report`: the folders below it and the file, as they are called."""
        places = self._places if self._is_part else range(len(self._source))
        return [self._source.items[int(i)].parts for i in places] if isinstance(self._source, FileItems) else []

    @property
    def sizes(self) -> np.ndarray:
        """(n, 2): the height and width of each, in pixels."""
        return self._check.sizes[self._places]

    @property
    def report(self) -> pd.DataFrame:
        import pandas as pd

        places = self._places if self._is_part else range(len(self._source))
        return pd.DataFrame(
            {
                "file": pd.Series([self._source.name(int(i)) for i in places], dtype=object),
                "read": np.array([self._check.read[i] for i in places], dtype=bool),
                "reason": pd.Series([self._check.reasons.get(int(i), "") for i in places], dtype=object),
            }
        )

    def select(self, indices: Any) -> Images:
        """Those at these places (whole numbers from 0, or one True or False each), in this order, still undecoded."""
        chosen = plain_array(indices, "indices", "Give a list of whole numbers")
        if chosen.dtype == bool and chosen.shape == (len(self),):
            chosen = np.flatnonzero(chosen)
        if chosen.shape == (0,):  # an empty list makes an array of floats
            chosen = np.zeros(0, np.intp)
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
            raise InvalidInput("indices", f"got {shown(indices)}", "Give a list of whole numbers")
        if chosen.size and not 0 <= chosen.min() <= chosen.max() < len(self):
            seen = f"go from {chosen.min()} to {chosen.max()} of {len(self)} images"
            raise InvalidInput("indices", seen, f"Give places from 0 to {len(self) - 1}")
        labels = None if self.labels is None else self.labels[chosen]
        return Images(self._source, self._check, labels, self._places[chosen.astype(np.intp)])

    def digest(self, index: int) -> bytes:
        """32 bytes that name what the image at this place is, for a cache.

        A file by its bytes and the version of the rules, without decoding it; anything else by shape and pixels, so
        that one image has one name in whatever layout it is given.
        """
        place = self._place(index)
        try:
            return self._source.digest(place)
        except Unread as reason:
            raise self._gone(place, reason) from None

    def batches(self, size: int) -> Iterator[list[np.ndarray]]:
        """The images in their order, `size` at a time, the last ones perhaps fewer."""
        size = check_count(size, "size")
        return ([self[i] for i in range(k, min(k + size, len(self)))] for k in range(0, len(self), size))

    def plot(self, across: int = 12) -> Figure:
        """Some of the images as a matplotlib Figure: a row for each label, `across` of them evenly spread over it.

        At most 40 labels, with their numbers of images; of images without labels one row.
        """
        from .figure import plot_sheet

        return plot_sheet(self, self.labels, int(self.sizes.max(initial=1)), across)

    def __repr__(self) -> str:
        said = f"Images: {len(self):,}{_size_range(self.sizes)}"
        if self.labels is not None:
            count = len(np.unique(self.labels))
            said += f", {count:,} label{'s' * (count != 1)}"
        lost = 0 if self._is_part else len(self._check.unreadable())
        return said + (f"; {lost:,} not read, see .report" if lost else "")

    def _place(self, index: Any) -> int:
        number = operator.index(index)
        if not -len(self) <= number < len(self):
            raise IndexError(f"image {number} of {len(self)}")
        return int(self._places[number])

    def _gone(self, place: int, reason: Unread) -> InvalidInput:
        seen = f"{shown(self._source.name(place))} was read before, and now: {reason}"
        return InvalidInput("source", seen, "Call nm.images again")


def images(source: Any, *, labels: Any = None, strict: bool = False) -> Images:
    """One lazy, sized, indexable sequence of images, out of wherever they are.

    Everything is read once, to know what can be read, and nothing of it is held; images are decoded again when asked
    for. What could not be read is no part of the sequence, and is listed with its reason in `.report`.

    Parameters
    ----------
    source : where the images are
        A **folder** or a **zip file** (by path): all images below it in natural order (img2 before img10), known by
        their endings (.png .jpg .jpeg .jfif .gif .bmp .webp .tif .tiff). Their labels are the names of the folders
        directly below the source, "." for images beside these; a zip file's one folder around all others is passed
        over. Hidden and system files are listed, and not opened.
        A **.npz file** (by path) with an array (n, H, W, 3) of uint8 as `arr_0`, as ADM's samples are kept: as that
        array.
        A **list** (or iterator) of paths, which are opened whatever their names; a list of Pillow's images, arrays or
        tensors, each (H, W), (H, W, channels) or (channels, H, W).
        An **array or tensor** (n, H, W), (n, H, W, channels) or (n, channels, H, W), of uint8 or of floats from 0 to
        1, which become round(255·x); 1, 3 or 4 channels (the fourth, opacity, on white). Where channels may be first
        or last, the images are taken to be square; (n, 3, H, 3), which cannot be, is refused.
        A torch **`Dataset`**, or anything with a length whose items are images, (image, label, …) or {"image" or
        "img": …, "label": …}: every item has to be the same image at each access. A **`DataLoader`** over one stands
        for all of its data set, in that one's order. An iterable data set or a loader of one is read once, as uint8
        into a temporary file on disk (up to 8 GB).
        Images: themselves.
    labels : (n,) texts or numbers, optional
        One per image that is read, or one per line of `.report`. By default those of folders or of the data set.
    strict : refuse where anything that may be an image could not be read, instead of leaving it out.

    Returns
    -------
    Images
        uint8 (H, W, 3) or (H, W). Of 16 bits the high byte is taken, transparency is laid on white, EXIF orientation
        is applied, CMYK is converted without its profile; animations, floating-point and 32-bit pixels, truncated and
        broken files and those of more than 50 million pixels are not read. `help(nbmetrics.features.decode)` has all
        rules.

    Raises
    ------
    InvalidInput
        Where there is no image at all, with what was found; for arrays whose values or layout are not known; where
        labels do not fit; with `strict`, naming the first files that could not be read.

    Examples
    --------
    >>> import numpy as np
    >>> import nbmetrics as nm
    >>> given = nm.images(np.zeros((5, 28, 28)), labels=[0, 0, 1, 1, 1])
    >>> given
    Images: 5 of 28 × 28 pixels, 2 labels
    >>> given[0].shape, given[0].dtype
    ((28, 28), dtype('uint8'))
    """
    is_strict = check_flag(strict, "strict")
    if isinstance(source, Images):
        sequence = source
    else:
        image_source = _source(source)
        seen = image_source.check()
        if not seen.read.any():
            many = f"{len(image_source):,} found" if len(image_source) else "nothing found"
            where = shown(str(source)) if is_path(source) else f"the {type(source).__name__}"
            raise InvalidInput(
                "source", f"{where} has no image that can be read: {many}{_unread_lines(image_source, seen)}", _FIX
            )
        sequence = Images(image_source, seen, None if seen.labels is None else seen.labels[seen.read])
    if is_strict and not sequence._is_part and (lost := sequence._check.unreadable()):
        reasons = _unread_lines(sequence._source, sequence._check)
        many = f"{len(lost):,} of {len(sequence._source):,} found cannot be read{reasons}"
        raise InvalidInput("source", many, "Fix or remove them, or leave out strict")
    if labels is None:
        return sequence
    return Images(
        sequence._source,
        sequence._check,
        _labels(labels, sequence),
        sequence._places if sequence._is_part else None,
    )


def _source(source: Any) -> ImageSource:
    """Return the source that fits what is given."""
    if is_path(source):
        return _at_path(os.fspath(source))
    if is_array(source):
        return Arrays(Stack(source))
    if isinstance(source, list | tuple):
        return FileItems([_item(value, k) for k, value in enumerate(check_list(source, "source"))])
    if (data := source_of_data_set(source)) is not None:
        return data
    if isinstance(source, Iterator):
        return FileItems([file_of_path(path) for path in check_list(map(_path, source), "source", MAX_ITEMS)])
    raise InvalidInput("source", f"got {shown(source)}", "Give [image]" if is_pillow(source) else _FIX)


def _at_path(path: str | bytes) -> ImageSource:
    if isinstance(path, str) and os.path.isdir(path):
        return FileItems(files_in_folder(path), folders=True)
    if isinstance(path, str) and path.lower().endswith(SUFFIX) and os.path.isfile(path):
        try:
            return Arrays(Stack(read_images(path, MAX_COMPRESSED_BYTES)))
        except InvalidInput as error:
            raise InvalidInput("source", error.seen, error.fix) from None
    if isinstance(path, str) and os.path.isfile(path):
        is_zip = refusal_by_name((path,)) and zipfile.is_zipfile(path)
        return FileItems(files_in_zip(path), folders=True) if is_zip else FileItems([file_of_path(path)])
    raise InvalidInput("source", f"{shown(path)} is not a folder or file that can be opened", _FIX)


def _item(value: Any, index: int) -> Any:
    if is_path(value):
        return file_of_path(_path(value))
    if is_array(value) or is_pillow(value):
        return value
    raise InvalidInput("source", f"item {index} is {shown(value)}", "Give a list of paths, Pillow's images or arrays")


def _path(value: Any) -> Any:
    if not is_path(value) or isinstance(os.fspath(value), bytes):
        raise InvalidInput("source", f"the iterator gives {shown(value)}", "Give paths, or a list of images")
    return value


def _size_range(sizes: np.ndarray) -> str:
    """Return the smallest and the largest image, as width × height."""
    if len(sizes) == 0:
        return ""
    areas = sizes.prod(axis=1, dtype=np.int64)
    small, large = (f"{w} × {h}" for h, w in (sizes[areas.argmin()], sizes[areas.argmax()]))
    return f" of {small} pixels" if small == large else f" of {small} to {large} pixels"


def _labels(labels: Any, sequence: Images) -> np.ndarray:
    """Return the given labels of the images that were read."""
    wanted = "Give one per image read, or one per line of .report, as texts or numbers"
    values = plain_array(labels, "labels", wanted)
    if values.dtype == object and all(isinstance(label, str) for label in values.flat):
        values = values.astype(str)
    if (
        values.ndim != 1
        or values.dtype.kind not in "biufU"
        or (values.dtype.kind == "f" and not np.isfinite(values).all())
    ):
        raise InvalidInput("labels", f"got {shown(labels)}", wanted)
    if len(values) == len(sequence):
        return values
    if not sequence._is_part and len(values) == len(sequence._source):
        return values[sequence._places]
    raise InvalidInput("labels", f"got {len(values):,} labels for {len(sequence):,} images", wanted)


def _unread_lines(source: ImageSource, seen: SourceCheck) -> str:
    """Return the first few that were not read, each with its reason."""
    lost = (seen.unreadable() or [int(i) for i in np.flatnonzero(~seen.read)])[:_FIRST]
    return "".join(f"; {source.name(i)} ({seen.reasons[i]})" for i in lost)
