"""The digits-cnn: a small trained network for small grey images, run in NumPy, so that learned features need no torch.

images, 8 × 8 to 28 × 28 → grey → area average to 8 × 8 → three convolutions → one linear layer → 64 features.
`train_digits.py` makes its weights, digits-cnn.npz.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidInput, shown
from ..lazy_imports import unmoved_random_state

WEIGHTS = Path(__file__).with_name("digits-cnn.npz")
SIDE, MIN_SIDE, MAX_SIDE, DIM = 8, 8, 28, 64
# Rows are places in a 3 × 3 neighbourhood (or in the 2 × 2 that is left) times channels in, columns channels out.
SHAPES = {"conv1": (9, 16), "conv2": (144, 32), "conv3": (288, 48), "linear": (192, DIM)}
CHUNK = 64  # images whose numbers stay in a core's cache
# Pillow's weights of red, green and blue, in 65536ths: what is grey already keeps its value.
GREY = np.array([19595, 38470, 7471], dtype=np.int32)
FIX = "Give images of one size, or resize them yourself: enlarged or shrunk copies have other features"


class DigitsCNN:
    """64 features of a network that was trained to tell handwritten digits apart, without its last layer.

    For grey images of one size, from 8 × 8 to 28 × 28, bright on dark as scikit-learn's digits and MNIST. RGB becomes
    grey as Pillow's "L": 0.299 R + 0.587 G + 0.114 B, rounded. Larger sizes than 8 × 8 become it by the area average.
    The features know in which size an image was drawn (digits enlarged to 28 × 28 and brought back here have an FID of
    1.7 to 2.1 against other digits, where untouched ones have 0.3), so the first image settles the size, and any other
    is refused.

    The network was trained on 1,347 of scikit-learn's 1,797 digits (8 × 8, values 0 to 16 as uint8 round(255 x / 16))
    with augmentation, by

        python -m nbmetrics.features.train_digits --out nbmetrics/features/digits-cnn.npz

    Logistic regression on its features of those 1,347 gets 99.3 % of the other 450 right. Other data sets of digits,
    such as MNIST, it never saw.

    Parameters
    ----------
    weights : path of an .npz of the script's, or such arrays by name; None for the one that comes with the package

    Raises
    ------
    InvalidInput
        For a file that is none, and when called with images that are no uint8 arrays, not square, too small, too
        large, or of another size than the first.
    """

    name = "digits-cnn"

    def __init__(self, weights: Any = None) -> None:
        self.arrays = _read(WEIGHTS if weights is None else weights)
        self._layers = {name: _layer(self.arrays, name) for name in SHAPES}
        weights = sorted(self.arrays.keys() - {"accuracy"})
        named = b"".join(name.encode() + self.arrays[name].tobytes() for name in weights)
        self._hash = hashlib.sha256(named).hexdigest()
        self._set_side(None)

    def _set_side(self, side: int | None) -> None:
        """Fix the side of the images: rows of one fingerprint are of the same weights on images of the same size."""
        self._side = side
        self.fingerprint = f"digits-cnn/1/{self._hash}/{f'{side}x{side}' if side else 'unsettled'}/float32"
        size = f"grey images of {side} × {side}" if side else "grey images of one size"
        shrunk = ", area average to 8 × 8" if side and side > SIDE else ""
        reached = float(self.arrays["accuracy"])
        trained = f"tell {100 * reached:.1f} % of held-out digits apart" if reached else "are random"
        self.convention = f"digits-cnn: {DIM} features of {size}{shrunk}; its weights, {self._hash[:8]}, {trained}"

    def admit(self, image: np.ndarray) -> None:
        """Settle on the size of this image, or refuse it where it is none, or another one was settled on."""
        if not isinstance(image, np.ndarray):
            raise InvalidInput("source", f"contains {shown(image)}", "Give images as uint8 arrays (H, W) or (H, W, 3)")
        if image.dtype != np.uint8 or image.ndim not in (2, 3) or image.shape[2:] not in ((), (3,)):
            seen = f"has an image of shape {image.shape} and type {image.dtype}"
            raise InvalidInput("source", seen, "Give images as uint8 arrays (H, W) or (H, W, 3)")
        height, width = image.shape[:2]
        if height != width or not MIN_SIDE <= height <= MAX_SIDE:
            sides = f"{MIN_SIDE} × {MIN_SIDE} to {MAX_SIDE} × {MAX_SIDE}"
            others = "'pixels', or 'inception-v3-compat', with weights from download=True (--download)"
            fix = f"The digits-cnn takes squares from {sides}. Use another extractor: {others}. Or resize the images"
            raise InvalidInput("source", f"has an image of {height} × {width} pixels", fix)
        if self._side is None:
            self._set_side(height)
        elif self._side != height:
            sizes = f"{self._side} × {self._side} and of {height} × {height}"
            raise InvalidInput("source", f"has images of {sizes} pixels in one extraction", FIX)

    def __call__(self, batch: Sequence[np.ndarray]) -> np.ndarray:
        """(b, 64) float32 rows of b uint8 images of one size, (H, H) or (H, H, 3)."""
        for image in batch:
            self.admit(image)
        if not len(batch):
            return np.empty((0, DIM), np.float32)
        grey = np.stack([_grey(image) for image in batch])
        return np.concatenate([self._features(grey[k : k + CHUNK]) for k in range(0, len(grey), CHUNK)])

    def _features(self, grey: np.ndarray) -> np.ndarray:
        average = _area(grey.shape[1])
        x = (average @ (grey / np.float32(255)) @ average.T)[..., None]
        x = self._convolve(x, "conv1")
        x = _max_pool(self._convolve(x, "conv2"))
        x = _max_pool(self._convolve(x, "conv3"))
        weight, bias = self._layers["linear"]
        return (x.reshape(len(x), 1, -1) @ weight)[:, 0] + bias

    def _convolve(self, x: np.ndarray, name: str) -> np.ndarray:
        """Return a 3 × 3 convolution that keeps the size, and ReLU, of (n, h, w, channels).

        A matrix product for each image, not one for all: that would round equal images apart by their places in it.
        """
        weight, bias = self._layers[name]
        n, h, w, _ = x.shape
        padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        shifted = [padded[:, i : i + h, j : j + w] for i in range(3) for j in range(3)]
        flat = np.concatenate(shifted, axis=3).reshape(n, h * w, -1)
        return np.maximum(flat @ weight + bias, 0).reshape(n, h, w, -1)


def _max_pool(x: np.ndarray) -> np.ndarray:
    """Return the largest of each 2 × 2."""
    n, h, w, c = x.shape
    return x.reshape(n, h // 2, 2, w // 2, 2, c).max(axis=(2, 4))


def _grey(image: np.ndarray) -> np.ndarray:
    return image if image.ndim == 2 else ((image.astype(np.int32) @ GREY + 32768) >> 16).astype(np.uint8)


@cache
def _area(side: int) -> np.ndarray:
    """Return (8, side): row i averages what lies between i·side/8 and (i + 1)·side/8."""
    edges, pixels = np.linspace(0, side, SIDE + 1)[:, None], np.arange(side)
    overlap = np.minimum(edges[1:], pixels + 1) - np.maximum(edges[:-1], pixels)
    return (np.maximum(overlap, 0) * (SIDE / side)).astype(np.float32)


def _layer(arrays: dict[str, np.ndarray], name: str) -> tuple[np.ndarray, np.ndarray]:
    return arrays[name].astype(np.float32), arrays[f"{name}_bias"].astype(np.float32)


def _read(weights: Any) -> dict[str, np.ndarray]:
    """Return the arrays of a file of weights, or of a dict, every one of its shape and finite."""
    arrays_read = weights if isinstance(weights, Mapping) else _open_npz(weights)
    arrays = {str(name): np.asarray(array) for name, array in arrays_read.items()}
    wanted = _expected_shapes()
    if arrays.keys() != wanted.keys():
        raise InvalidInput("weights", f"has the arrays {shown(sorted(arrays))}", f"It needs {sorted(wanted)}")
    for name, array in arrays.items():
        if array.shape != wanted[name] or array.dtype.kind != "f" or not np.isfinite(array).all():
            seen = f"has {name} of shape {array.shape} and type {array.dtype}, or not finite"
            raise InvalidInput("weights", seen, f"It needs finite floating-point numbers of shape {wanted[name]}")
    if not 0 <= arrays["accuracy"] <= 1:
        seen = f"has the accuracy {float(arrays['accuracy']):.3g}"
        raise InvalidInput("weights", seen, "It is the share of held-out digits told apart, from 0 to 1")
    return arrays


def _open_npz(path: Any) -> dict[str, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as file:
            # Sizes as the file claims them, before anything is unpacked.
            if sum(entry.file_size for entry in file.zip.infolist()) > 1_000_000:
                raise ValueError
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, TypeError, EOFError, AttributeError, NotImplementedError, zipfile.BadZipFile) as error:
        fix = "Give the path of an .npz that `python -m nbmetrics.features.train_digits --out FILE` made"
        raise InvalidInput("weights", f"{shown(path)} contains no weights of the digits-cnn", fix) from error


def _expected_shapes() -> dict[str, tuple[int, ...]]:
    biases = {f"{name}_bias": shape[1:] for name, shape in SHAPES.items()}
    return {"accuracy": (), **SHAPES, **biases}


def random_weights(seed: int) -> dict[str, np.ndarray]:
    """Return random weights (He et al.) for `DigitsCNN`: what the features are worth without any training."""
    rng = np.random.default_rng(seed)
    arrays = {name: np.zeros(shape) for name, shape in _expected_shapes().items()}
    drawn = {name: np.sqrt(2 / shape[0]) * rng.standard_normal(shape) for name, shape in SHAPES.items()}
    return {name: np.asarray(array, np.float16) for name, array in {**arrays, **drawn}.items()}


def split(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the 1,347 digits that the network was trained on, and of the 450 held out."""
    with unmoved_random_state():
        from sklearn.model_selection import train_test_split

    train, held_out = train_test_split(np.arange(len(labels)), test_size=450, stratify=labels, random_state=0)
    return np.sort(train), np.sort(held_out)


def accuracy(features: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of held-out digits that logistic regression on the features of the others gets right."""
    with unmoved_random_state():
        from sklearn.linear_model import LogisticRegression

    train, held_out = split(labels)
    model = LogisticRegression(max_iter=5000).fit(features[train], labels[train])
    return float(model.score(features[held_out], labels[held_out]))
