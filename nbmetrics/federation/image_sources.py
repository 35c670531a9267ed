"""Which values count as images, not rows, and how they become rows: through the extraction that a federation keeps.

Everything about images is entered late: who has rows needs none of it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence, Set
from inspect import signature
from typing import Any

import numpy as np

from ..arrays import Array, as_rows, concat, is_array, uniform_blocks
from ..errors import InvalidInput, caller_level, shown
from ..lazy_imports import import_room
from ..progress import progress_bar

# Images that a function is asked for at a time; part of what a seed means, so no setting changes it.
IMAGES_PER_DRAW = 64
# Files that were not read are told by so many reasons.
MAX_REASONS = 3


class UnreadWarning(UserWarning):
    """Files that were not read where images were asked for, or answers of a class that hold no guess.

    `nm.images(…).report` and `federation.report` list the files, the warning names whose answers.
    """


def extraction_of(extractor: Any, settings: Mapping[str, Any] | None = None) -> Any:
    """Return the `Extraction` of this name, object or function, with these settings of `nm.extract`; None of None."""
    if settings and (unknown := sorted({*settings} - {*signature(import_room("features").extraction).parameters})):
        fix = "Leave it out, or correct its name: see help() of this function and of nm.extract"
        raise InvalidInput(unknown[0], "is not an argument here, nor a setting of an extractor", fix)
    if extractor is None:
        if settings:
            name = next(iter(settings))
            fix = "Give extractor= too" + ", or clients as nm.Client(rows, weight=…)" * (name == "weights")
            raise InvalidInput(name, "is a setting of an extractor, and none is given", fix)
        return None
    features = import_room("features")
    if not isinstance(extractor, features.Extraction):
        return features.extraction(extractor, **settings or {})
    if settings:
        name = next(iter(settings))
        raise InvalidInput(name, "is given together with an extraction, which has its own settings", "Leave it out")
    return extractor


def check_extraction(value: Any) -> None:
    """Raise InvalidInput for a value that is no `Extraction`."""
    if value is not None and not isinstance(value, import_room("features").Extraction):
        raise InvalidInput("extraction", f"got {shown(value)}", "Give federation.extraction, or leave it out")


def check_one_space(parties: Sequence[tuple[str, Any]], argument: str) -> None:
    """Raise InvalidInput where the images of parties (name, extraction or None) became rows in two ways."""
    extracted = [(name, extraction) for name, extraction in parties if extraction is not None]
    for name, own in extracted:
        other, first = extracted[0]
        if own is not first and (
            apart := [pair for pair in zip(_space(own), _space(first), strict=True) if len({*pair}) > 1]
        ):
            seen = f"{name!r} has features by {apart[0][0]}, {other!r} by {apart[0][1]}"
            raise InvalidInput(argument, seen, "Give all the same: nm.Federation(clients, extractor=…)")


def _space(extraction: Any) -> tuple[str, str, str]:
    """Return what must be the same where rows are compared; a module may have been trained since it made them."""
    extractor = extraction.extractor
    return str(extractor.fingerprint or extractor.name), extractor.name, extraction.made


def are_images(value: Any) -> bool:
    """Return whether a value is images: a folder, zip, `Images`, or array of three or four axes; nothing is opened."""
    if isinstance(value, (str, os.PathLike)):
        return str(value).lower().endswith(".zip") or os.path.isdir(value)
    if isinstance(value, np.ndarray) or is_array(value):
        return value.ndim in (3, 4)
    return type(value).__name__ == "Images" and isinstance(value, import_room("features").Images)


def is_data_set(value: Any) -> bool:
    """Return whether a value is a data set, such as a torch `Dataset` or a loader of one; nothing of it is read."""
    if isinstance(value, (Mapping, Set, list, tuple, range, str, bytes, os.PathLike)) or is_array(value):
        return False
    if any(hasattr(value, name) for name in ("to_numpy", "__array__", "shape")):
        return False
    return hasattr(value, "__len__") and (hasattr(value, "__getitem__") or hasattr(value, "dataset"))


def images_of(value: Any, argument: str, extraction: Any) -> Any:
    """Return a lazy sequence of these images, to be put through `extraction`.

    Warns with `UnreadWarning` where files beside them were not read. Raises InvalidInput without an extraction.
    """
    if extraction is None:
        fix = (
            'Give extractor=, such as "inception-v3-compat", or "pixels" or "digits-cnn", which need no torch, '
            "where the federation is made"
        )
        if hasattr(value, "shape"):
            fix += "; or flatten each item to one row if they are not images"
        raise InvalidInput(argument, f"{describe_images(value)}, and no extractor is given", fix)
    images = _images(value, argument)
    if not len(images):
        raise InvalidInput(argument, f"{describe_images(value)}, and none can be read", "Give at least one image")
    if images is not value:  # who made `Images` of them has seen the report
        warn_unread(images, argument)
    return images


def _images(value: Any, who: str) -> Any:
    try:
        return import_room("features").images(value)
    except InvalidInput as error:
        raise error.of(who) from None


def describe_images(value: Any) -> str:
    """Return images as text for a message: where they lie, or how many."""
    if isinstance(value, (str, os.PathLike)):
        return f"is images in {shown(str(value))}"
    return f"is images of shape {tuple(value.shape)}" if hasattr(value, "shape") else f"is {len(value)} images"


def rows_of(images: Any, extraction: Any, argument: str) -> Array:
    """Return the features of images, a row each."""
    try:
        rows = extraction.rows(images)
    except InvalidInput as error:
        raise (
            InvalidInput(argument, error.seen, error.fix) if error.argument == "source" else error.of(argument)
        ) from None
    return as_rows(rows, f"features of {argument}", min_rows=len(images))


def warn_unread(images: Any, who: str) -> None:
    """Warn once of files that may be images and could not be read: how many, and the first reasons."""
    report = images.report
    lost = report[~report["read"] & ~report["reason"].isin(import_room("features").files.HARMLESS)]
    if len(lost):
        first = [f"{row['file']} ({row['reason']})" for row in lost.head(MAX_REASONS).to_dict("records")]
        more = f", and {len(lost) - MAX_REASONS} more" * (len(lost) > MAX_REASONS)
        verb = "was" if len(lost) == 1 else "were"
        said = f"{who}: {len(lost)} of {len(report)} files {verb} not read: {', '.join(first)}{more}"
        warnings.warn(said, UnreadWarning, stacklevel=caller_level())


def batched_rows(source: Callable[..., Any], extraction: Any, who: str) -> Callable[..., Any]:
    """Return a function of images as one of rows: asked for up to 64 at a time, extracted, and not kept.

    Each batch has a child of `rng`, so that a seed gives the same rows whatever the extraction's batches. A function
    whose first batch is rows of features is asked again for all of them at once, as it would be without an extraction.
    """

    def rows(asked: Any, rng: np.random.Generator) -> Any:
        is_count = np.ndim(asked) == 0
        total = asked if is_count else len(asked)
        extraction.check_unchanged()
        parts: list[Array] = []
        with progress_bar(extraction.progress, total, who, " images") as bar:
            for block in uniform_blocks(total, IMAGES_PER_DRAW):
                count = block.stop - block.start
                batch = source(count if is_count else asked[block], rng.spawn(1)[0])
                if not parts and not _is_batch(batch):
                    return source(asked, rng)
                parts.append(_features(batch, count, extraction, who))
                bar.update(count)
        return concat(parts)

    return rows


def _is_batch(value: Any) -> bool:
    if isinstance(value, (list, tuple)) and value:
        return hasattr(value[0], "convert") or (is_array(value[0]) and value[0].ndim in (2, 3))
    return not isinstance(value, (str, os.PathLike)) and are_images(value)


def _features(batch: Any, count: int, extraction: Any, who: str) -> Array:
    """Return the features of one batch of images that a function gave; nothing is kept in memory or in the cache."""
    batch = _images(batch, who)
    if len(batch) != count:
        fix = f"Return one for each that is asked for: they are asked for in batches of up to {IMAGES_PER_DRAW}"
        raise InvalidInput(f"images from {who}", f"are {len(batch)} where {count} were asked for", fix)
    return features_of(batch, extraction, who)


def features_of(batch: Any, extraction: Any, who: str) -> Array:
    """Return the features of images that are here, a row each, neither looked for in the cache nor kept there."""
    images = _images(batch, who)
    try:
        blocks = uniform_blocks(len(images), extraction.batch_size)
        parts = [extraction.batch([images[k] for k in range(block.start, block.stop)]) for block in blocks]
        return as_rows(concat(parts), "features")
    except InvalidInput as error:
        raise error.of(who) from None
