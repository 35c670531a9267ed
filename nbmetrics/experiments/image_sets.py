"""Image sets of experiments: train, test and generated images, and what makes feature rows of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import as_rows, to_numpy
from ..datasets import digits
from ..errors import InvalidInput, shown
from ..lazy_imports import unmoved_random_state
from ..partition import by_label
from ..tables import check_frames
from .federated_data import LabelledRows, feature_function, image_stack
from .image_transforms import as_images

Rows = np.ndarray
COMPONENTS = 32
PRINCIPAL = f"the first {COMPONENTS} principal components of the train images"
DIGITS = f"scikit-learn digits, features: {PRINCIPAL}"


@dataclass(frozen=True, eq=False, repr=False)
class Pictures:
    """Train, test and generated images, (n, h, w) or (n, h, w, 3) in [0, 1].

    May stand in a table's `attrs`, where pandas copies and compares what it finds: it is its own copy, equal to
    itself alone.
    """

    train: np.ndarray
    test: np.ndarray
    generated: np.ndarray

    def __deepcopy__(self, memo: Any) -> Pictures:
        return self

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(x)} {name}" for name, x in vars(self).items())
        return f"Pictures({counts}, each {' × '.join(map(str, self.train.shape[1:]))})"


def principal(train: np.ndarray, count: int = COMPONENTS) -> Callable[[np.ndarray], Rows]:
    """The first principal components of the train images, as a function from images (n, …) to rows (n, `count`)."""
    with unmoved_random_state():
        from sklearn.decomposition import PCA

    flat = train.reshape(len(train), -1)
    model = PCA(min(count, *flat.shape), svd_solver="full").fit(flat)
    # A matrix product may round equal rows apart by their place in it; copies have the features of their originals.
    return lambda images: np.einsum("nd,kd->nk", images.reshape(len(images), -1) - model.mean_, model.components_)


def split_digits(seed: int, *shares: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return digits (n, 8, 8) and labels, cut at random into parts of these shares; the last is the rest."""
    rows, labels = digits()
    order = np.random.default_rng(seed).permutation(len(rows))
    cuts = np.round(np.cumsum(shares) * len(rows)).astype(int)
    return [(rows[part].reshape(-1, 8, 8), labels[part]) for part in np.split(order, cuts)]


def all_or_none(**sets: Any) -> bool:
    """Return whether the arguments are given; InvalidInput where only some are."""
    missing = [name for name, value in sets.items() if value is None]
    if missing and len(missing) < len(sets):
        raise InvalidInput(missing[0], "is missing while others are given", f"Give all of {', '.join(sets)}, or none")
    return not missing


def image_setup(
    train: Any, test: Any, generated: Any, source: Any, features: Any, extractor: Any, seed: int
) -> tuple[Pictures, Callable[..., Rows], str]:
    """Return the images, the function that makes feature rows of them, and what both are."""
    pictures, whose = _parts(train, test, generated, source, seed)
    if features is not None and extractor is not None:
        raise InvalidInput("extractor", "is given together with features", "Give one of them")
    if features is not None and not callable(features):
        raise InvalidInput("features", f"got {shown(features)}", "Give a function from images (n, …) to rows (n, d)")
    kind = PRINCIPAL
    if features is not None:
        features_of, kind = features, "as given"
    elif extractor is not None:
        features_of, kind = feature_function(extractor)
    else:
        features_of = principal(pictures.train)

    def extract(images: np.ndarray) -> Rows:
        rows = to_numpy(as_rows(features_of(images), "features"))
        if len(rows) != len(images):
            raise InvalidInput("features", f"gave {len(rows)} rows for {len(images)} images", "Give one row an image")
        return rows

    return pictures, extract, f"{whose}, features: {kind}"


def _parts(train: Any, test: Any, generated: Any, source: Any, seed: int) -> tuple[Pictures, str]:
    """Return train, test and generated images, and whose they are."""
    sets = {"train": train, "test": test, "generated": generated}
    if all_or_none(**sets):
        if source is not None:
            raise InvalidInput("images", "is given together with train, test and generated", "Give one of them")
        pictures = Pictures(*(as_images(value, name) for name, value in sets.items()))
        shape = pictures.train.shape[1:]
        for name in ("test", "generated"):
            if (other := getattr(pictures, name).shape[1:]) != shape:
                raise InvalidInput(name, f"has images of shape {other}, train {shape}", "Use one shape")
        return pictures, "images as given"
    # Train twice as large as the others: FLD's baseline then has a density of as many centres as they.
    if source is None:
        return Pictures(*(images for images, _ in split_digits(seed, 0.5, 0.25))), "scikit-learn digits"
    stack = image_stack(source)
    if len(stack) < 8:
        raise InvalidInput("images", f"has {len(stack)} images", "Give at least 8, to split into three sets")
    order = np.random.default_rng(seed).permutation(len(stack))
    cuts = np.round(np.array([0.5, 0.75]) * len(stack)).astype(int)
    return Pictures(*(stack[part] for part in np.split(order, cuts))), "images as given"


def labelled_rows(
    train: Any, test: Any, generated: Any, labels: Any, seed: int
) -> tuple[Rows, Rows, Rows, list[np.ndarray]]:
    """Train, test and generated rows, and those of each label among the last; by default digits, most generated."""
    if not all_or_none(train=train, test=test, generated=generated, labels=labels):
        (real, _), (test_images, _), (pictures, classes) = split_digits(seed, 0.25, 0.2)
        extract = principal(real)
        return extract(real), extract(test_images), extract(pictures), list(by_label(classes, len(pictures)).values())
    check_frames(train=train, test=test, generated=generated)
    rows = to_numpy(as_rows(train, "train", min_rows=2))
    others = [to_numpy(as_rows(x, n, dim=rows.shape[1])) for n, x in (("test", test), ("generated", generated))]
    return rows, others[0], others[1], list(by_label(labels, len(others[1]), "labels").values())


def labelled_images(
    source: Any, labels: Any, extractor: Any, seed: int
) -> tuple[Rows, Rows, Rows, list[np.ndarray], str]:
    """Return the same of images: features by the extractor, or their principal components."""
    try:
        items = LabelledRows.of(None, labels, source, "pixels" if extractor is None else extractor)
    except InvalidInput as error:
        raise InvalidInput("labels" if error.argument == "y" else error.argument, error.seen, error.fix) from None
    order = np.random.default_rng(seed).permutation(len(items.rows))
    parts = [items.part(index) for index in np.split(order, np.round(len(order) * np.array([0.25, 0.45])).astype(int))]
    if min(len(part.rows) for part in parts) < 2:
        raise InvalidInput("images", f"has {len(order)} images", "Give more, to split into three sets")
    groups = list(parts[2].by_label().values())
    if extractor is not None:
        return *(part.rows for part in parts), groups, items.conventions[0]  # type: ignore[return-value]
    features = principal(parts[0].rows)
    return *(features(part.rows) for part in parts), groups, PRINCIPAL  # type: ignore[return-value]
