"""Data of federated experiments, to cut into clients and generators: labelled rows, digits, or features of images.

items = LabelledRows.of(X, y, images, extractor), then split_halves(items, seed), then
class_and_noise_generators(half, noise, seed)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..arrays import as_rows, to_numpy
from ..datasets import digit_images, digits
from ..errors import InvalidInput, check_list, shown
from ..features import Extraction, extraction, images
from ..partition import by_label

BATCH = 64


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Labelled rows; where they are features of images, these too, and the extraction that made them."""

    rows: np.ndarray
    labels: np.ndarray
    pictures: Any = None
    extraction: Extraction | None = None

    @classmethod
    def of(cls, X: Any, y: Any, source: Any = None, extractor: Any = None) -> LabelledRows:
        """From rows and labels; or from images, with labels of their own or in `y`; digits where neither is given.

        An extractor makes rows of the images, "pixels" unless one is given. Digits without one are the pixels as they
        are, x / 16, not rounded to uint8.
        """
        if X is not None and (source is not None or extractor is not None):
            other = "images" if source is not None else "extractor"
            raise InvalidInput(other, "is given together with X", "Give rows X and y, or images and an extractor")
        if source is None and extractor is None:
            return cls(*_labelled_rows(X, y))
        extraction_of_source = extraction("pixels" if extractor is None else extractor, progress=False)
        pictures, labels = _labelled_images(source, y)
        return cls(read_argument("images", extraction_of_source.rows, pictures), labels, pictures, extraction_of_source)

    def part(self, index: np.ndarray) -> LabelledRows:
        pictures = None if self.pictures is None else self.pictures.select(index)
        return LabelledRows(self.rows[index], self.labels[index], pictures, self.extraction)

    def by_label(self) -> dict[str, np.ndarray]:
        return by_label(self.labels, len(self.rows))

    def with_noise(self, deviation: float, rng: np.random.Generator) -> np.ndarray:
        """Return the rows with Gaussian noise; of images, the features of noisy images, clipped to grey values."""
        if self.extraction is None:
            return self.rows + deviation * rng.standard_normal(self.rows.shape)
        parts = [self.extraction.extractor(batch) for batch in self._noisy_batches(deviation, rng)]
        return np.concatenate(parts)

    def _noisy_batches(self, deviation: float, rng: np.random.Generator) -> Iterator[list[np.ndarray]]:
        for batch in self.pictures.batches(BATCH):
            changed = [image + 255 * deviation * rng.standard_normal(image.shape) for image in batch]
            yield [np.clip(np.round(image), 0, 255).astype(np.uint8) for image in changed]

    @property
    def conventions(self) -> list[str]:
        return [] if self.extraction is None else [self.extraction.extractor.convention]


def _labelled_rows(X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and labels given, or the digits."""
    if X is None and y is None:
        return digits()
    if X is None or y is None:
        missing = "X" if X is None else "y"
        raise InvalidInput(missing, "is not given", "Give X and y together, or neither")
    rows = to_numpy(as_rows(X, "X"))
    return rows, _as_labels(y)


def _labelled_images(source: Any, y: Any) -> tuple[Any, np.ndarray]:
    """Return the images and their labels; the digits where there is no source."""
    if source is None:
        if y is not None:
            raise InvalidInput("y", f"is {shown(y)}, and there are no images", "Give images and their labels")
        pictures, labels = digit_images()
        return images(pictures), labels
    stack = read_argument("images", images, source)
    labels = _as_labels(stack.labels if y is None else y)
    if stack.labels is None and y is None:
        raise InvalidInput("y", "is not given, and the images have no labels", "Give a label for each image")
    by_label(labels, len(stack))
    return stack, labels


def _as_labels(y: Any) -> np.ndarray:
    try:
        return to_numpy(y.detach()) if hasattr(y, "detach") else np.asarray(y)
    except (TypeError, ValueError, RuntimeError):
        raise InvalidInput("y", f"got {shown(y)}", "Give one label for each row") from None


def read_argument(argument: str, read: Callable[[Any], Any], source: Any) -> Any:
    """Return `read(source)`; what it refuses of its source is then about this argument of an experiment."""
    try:
        return read(source)
    except InvalidInput as error:
        raise InvalidInput(argument if error.argument == "source" else error.argument, error.seen, error.fix) from None


def image_stack(source: Any) -> np.ndarray:
    """Return images of one shape, (n, h, w) or (n, h, w, 3) in [0, 1]; the digits where there is no source."""
    if source is None:
        return digit_images()[0] / 255.0
    listed = list(read_argument("images", images, source))
    shapes = sorted({image.shape for image in listed})
    if len(shapes) != 1:
        seen = f"has images of shapes {shown(shapes)}" if shapes else "has no images"
        raise InvalidInput("images", seen, "Give images of one size, all grey or all in colour")
    return np.stack(listed) / 255.0


def feature_function(extractor: Any) -> tuple[Callable[[np.ndarray], np.ndarray], str]:
    """Return a function from images in [0, 1] to rows, by way of uint8, and the convention of the rows."""
    extraction_of_source = extraction(extractor, progress=False)

    def features(pictures: np.ndarray) -> np.ndarray:
        return read_argument(
            "images", extraction_of_source.rows, np.round(255 * np.clip(pictures, 0, 1)).astype(np.uint8)
        )

    return features, extraction_of_source.extractor.convention


def extractor_list(value: Any, argument: str = "extractors") -> list[Any]:
    """Return one extractor or name, or several, as a list."""
    is_one = isinstance(value, str) or callable(value) or not isinstance(value, Iterable)
    listed = [value] if is_one else check_list(value, argument)
    if not listed or not all(isinstance(one, str) or callable(one) for one in listed):
        raise InvalidInput(argument, f"got {shown(value)}", "Give a name, or several")
    return listed


def extractor_name(extractor: Any) -> str:
    """Return the name of an extractor in a table."""
    names = (extractor if isinstance(extractor, str) else getattr(extractor, key, None) for key in ("name", "__name__"))
    return next((name for name in names if isinstance(name, str)), type(extractor).__name__)


def split_halves(items: LabelledRows, seed: int) -> tuple[LabelledRows, LabelledRows]:
    """Return the items cut at random into two halves of every label."""
    rng = np.random.default_rng(seed)
    shuffled = [rng.permutation(index) for index in items.by_label().values()]
    small = min(map(len, shuffled))
    if small < 4:
        raise InvalidInput("y", f"has a label with {small} rows", "Give every label at least 4, 2 for each half")
    first = np.concatenate([index[: len(index) // 2] for index in shuffled])
    second = np.concatenate([index[len(index) // 2 :] for index in shuffled])
    return items.part(first), items.part(second)


def class_and_noise_generators(items: LabelledRows, noise: Iterable[float], seed: int) -> dict[str, np.ndarray]:
    """Return generators: the rows of each label, and all rows with noise of each standard deviation.

    The names have as many digits as tell different standard deviations apart; one given twice counts once.
    """
    rng = np.random.default_rng([seed, 1])
    classes = {f"class {name}": items.rows[index] for name, index in items.by_label().items()}
    levels = dict.fromkeys(noise)
    short = next(p for p in range(6, 18) if len({f"{sd:.{p}g}" for sd in levels}) == len(levels))
    return classes | {f"noise {sd:.{short}g}": items.with_noise(sd, rng) for sd in levels}


def add_conventions(table: pd.DataFrame, items: LabelledRows) -> pd.DataFrame:
    """Return the table with a line of what made rows of images."""
    table.attrs["conventions"] = [*table.attrs["conventions"], *items.conventions]
    return table
