"""One client: a holder of real data, as rows or as a distribution."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..arrays import Array, as_rows, check_frames, column_names, concat, is_array
from ..distributions import as_law
from ..errors import InvalidInput, check_list, check_names, check_number, shown
from ..metrics.base import Sample
from ..partition import labels_of
from .pictures import are_images, extraction_of, images_of, rows_of


class Client:
    """One party with real data of its own.

    Parameters
    ----------
    data : (n, d) rows (NumPy, torch, data frame, nested list), a distribution, an iterable of batches of
        rows, or the path of a `.npy` file (memory-mapped, never unpickled); with an `extractor` also images:
        a folder, a zip, `nm.images(…)`, or an array (n, H, W[, 3])
    test : rows, or images, held out, for metrics that compare with unseen data
    condition : rows x that the generator is conditioned on, one for each row of `data`
    labels : (n,) the class of each row, for `Federation.describe` and `.plot`; of images by default those of
        `nm.images(…)`
    weight : its share λ before normalisation; by default the number of rows, or equal for distributions
    name : how tables and views call it
    extractor : what makes rows of images: a name, an object or a function, as `nm.extract` takes it; beside rows,
        what they were made with, so that generators of images can be scored
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
        self.extraction = extraction_of(extractor)
        self.report: Any = None
        self.columns = column_names(data)
        check_frames(data=data, test=test)
        given = opened(data, "data")
        images = images_of(given, "data", self.extraction) if are_images(given) else None
        # What the rows are made of, one for each, where that is known.
        self.images: Any = images
        self.distribution: Any = None
        self.rows: Array | None
        self.distribution, self.rows = (None, None) if images is not None else law_or_rows(given, "data")
        self.condition = None if condition is None else as_rows(condition, "condition")
        count = self.size if images is None else len(images)
        if self.condition is not None and len(self.condition) != count:
            seen = f"has {len(self.condition)} rows for {count or 'a distribution'}"
            raise InvalidInput("condition", seen, "Give one condition row for each data row")
        if images is not None:
            labels, self.report = images.labels if labels is None else labels, images.report
        self.labels = None if labels is None else labels_of(labels, count, "labels")[0]
        if images is not None:
            self.rows = rows_of(images, self.extraction, "data")
        if are_images(test):
            test = rows_of(images_of(test, "test", self.extraction), self.extraction, "test")
        self.test = None if test is None else as_rows(test, "test", dim=self.dim)

    @property
    def dim(self) -> int:
        return int(self.distribution.dim if self.rows is None else self.rows.shape[1])

    @property
    def size(self) -> int:
        """How many rows it has; 0 of a distribution."""
        return 0 if self.rows is None else int(self.rows.shape[0])

    def to_sample(self) -> Sample:
        """What a metric sees of this client."""
        return Sample(self.rows, self.distribution, self.test, self.condition)

    def _with(self, **changes: Any) -> Client:
        copy = object.__new__(Client)
        apart = {"images": None} if "rows" in changes else {}
        copy.__dict__.update({**self.__dict__, **apart, **changes})
        return copy

    def __repr__(self) -> str:
        what = repr(self.distribution) if self.rows is None else f"{len(self.rows)} rows, dim={self.dim}"
        return f"Client({shown(self.name)}: {what})"


def law_or_rows(data: Any, argument: str) -> tuple[Any, Array | None]:
    """(law, None) or (None, rows) of what a client or a generator is given, images apart."""
    law = as_law(data, argument)
    if law is not None:
        return law, None
    if not is_array(data) and not hasattr(data, "__array__") and isinstance(data, Iterable):
        items = check_list(data, argument)
        if items and all(is_array(item) and item.ndim == 2 for item in items):
            widths = {item.shape[1] for item in items}
            if len(widths) > 1:
                raise InvalidInput(argument, f"has batches of widths {sorted(widths)}", "Give all the same features")
            return None, as_rows(concat([as_rows(item, argument) for item in items]), argument)
        data = items
    return None, as_rows(data, argument)


def opened(data: Any, argument: str) -> Any:
    """The array in a `.npy` file, whose path was given; anything else, folders and zips of images too, as it is."""
    if not isinstance(data, (str, os.PathLike)) or are_images(data):
        return data
    try:
        return np.load(data, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        fix = "Give the path of a .npy file, or of a folder or zip of images"
        raise InvalidInput(argument, f"cannot read {shown(str(data))}: {error}", fix) from None
