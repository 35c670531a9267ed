"""Arrays and tensors of pixels, in whatever layout, to uint8 images: (H, W, 3), or (H, W) where they are grey.

A stack is (n, H, W), (n, H, W, channels) or (n, channels, H, W), one image the same without n; channels are 1, 3 or 4
(red, green, blue, and opacity, which is laid on white). Numbers are uint8, or floats from 0 to 1, which become
round(255·x). Where both the axis after n and the last one could be channels, the way in which the images are square is
taken, (n, 4, 4, 3) as three channels last; where neither or both are, (n, 3, H, 3), the array is refused.
"""

from __future__ import annotations

import sys
from typing import Any, Literal

import numpy as np
from array_api_compat import is_torch_array

from ..arrays import is_array
from ..errors import InvalidInput, shown
from .decode import on_white

CHANNELS = (1, 3, 4)
Layout = Literal["grey", "last", "first"]

_BLOCK = 2**22


class Stack:
    """(n, …) pixels of n images, checked, and turned into uint8 one image at a time."""

    def __init__(self, value: Any, argument: str = "source") -> None:
        pixels = _array(value, argument)
        self.layout = _layout_of_stack(pixels.shape, argument)
        _check_range(pixels, argument)
        self.pixels, self.argument = pixels, argument

    def __len__(self) -> int:
        return len(self.pixels)

    @property
    def size(self) -> tuple[int, int]:
        """The height and width of each image."""
        shape = self.pixels.shape
        return (shape[2], shape[3]) if self.layout == "first" else (shape[1], shape[2])

    def image(self, index: int) -> np.ndarray:
        """The image at this place, an array of its own."""
        pixels = self.pixels[index]
        if pixels.dtype != np.uint8:
            _check_range(pixels, self.argument)  # the user may have written into it since
        return _uint8(pixels, self.layout)


def one_image(value: Any, argument: str = "source") -> np.ndarray:
    """One array or tensor as an image of its own."""
    pixels = _array(value, argument)
    layout = _layout(pixels.shape, pixels.shape, argument)
    _check_range(pixels, argument)
    return _uint8(pixels, layout)


def _array(value: Any, argument: str) -> np.ndarray:
    """`value` as an array of uint8 or floats in main memory, its values unseen."""
    if is_torch_array(value):
        value = _from_torch(value, argument)
    if not is_array(value) or np.ma.is_masked(value):
        seen = "has masked values" if np.ma.isMaskedArray(value) else f"got {shown(value)}"
        raise InvalidInput(argument, seen, "Give an array of pixels, uint8 or floats from 0 to 1")
    pixels = np.asarray(value)
    if pixels.dtype != np.uint8 and pixels.dtype.kind != "f":
        whole = "x.astype(np.uint8), if it contains 0 to 255" if pixels.dtype.kind in "iu" else "uint8 or floats 0 to 1"
        fix = "x.astype(np.uint8) * 255" if pixels.dtype == bool else whole
        raise InvalidInput(argument, f"has dtype {pixels.dtype}", f"Give {fix}")
    if pixels.size == 0:
        raise InvalidInput(argument, f"has shape {pixels.shape}, no pixels", "Give at least one image")
    return pixels


def _from_torch(value: Any, argument: str) -> np.ndarray:
    torch = sys.modules["torch"]
    if value.layout != torch.strided or value.is_quantized or value.is_meta:
        raise InvalidInput(argument, f"is a tensor of a special kind ({value.dtype})", "Give a dense tensor of pixels")
    value = value.detach().cpu()
    return (value.float() if value.dtype == torch.bfloat16 else value).numpy()


def _layout_of_stack(shape: tuple[int, ...], argument: str) -> Layout:
    if len(shape) == 3 and shape[2] in CHANNELS and shape[1] > shape[2]:
        fix = "Give x[None] for one image; very narrow grey ones as x[..., None]"
        raise InvalidInput(argument, f"has shape {shape}, which may be one image (H, W, channels)", fix)
    if len(shape) not in (3, 4):
        fix = "Give (n, H, W), (n, H, W, channels) or (n, channels, H, W)"
        raise InvalidInput(argument, f"has shape {shape}", fix if len(shape) != 2 else f"{fix}; x[None] for one image")
    return _layout(shape[1:], shape, argument)


def _layout(image: tuple[int, ...], whole: tuple[int, ...], argument: str) -> Layout:
    """How one image of this shape lies."""
    if len(image) == 2:
        return "grey"
    if len(image) != 3:
        raise InvalidInput(argument, f"has shape {whole}", "Give (H, W), (H, W, channels) or (channels, H, W)")
    first, last = image[0] in CHANNELS, image[2] in CHANNELS
    if first and last:
        is_square = {"last": image[0] == image[1], "first": image[1] == image[2]}
        if is_square["last"] != is_square["first"]:
            return "last" if is_square["last"] else "first"
        seen = f"has shape {whole}, where the channels may come first or last"
        raise InvalidInput(argument, seen, "Give Pillow's images: Image.fromarray(x) of each (H, W, channels)")
    if not (first or last):
        raise InvalidInput(argument, f"has shape {whole}", "Give 1, 3 or 4 channels, first or last")
    return "last" if last else "first"


def _check_range(pixels: np.ndarray, argument: str) -> None:
    """Raise `InvalidInput` where floats are not pixels in [0, 1]."""
    if pixels.dtype == np.uint8:
        return
    flat = pixels.reshape(-1) if pixels.flags.c_contiguous else pixels
    step = _BLOCK if flat.ndim == 1 else max(1, _BLOCK // max(pixels[0].size, 1))
    parts = [flat[start : start + step] for start in range(0, len(flat), step)]
    # NumPy's minimum carries NaN along, Python's does not
    low, high = float(np.min([part.min() for part in parts])), float(np.max([part.max() for part in parts]))
    if 0 <= low <= high <= 1:
        return
    if not (np.isfinite(low) and np.isfinite(high)):
        raise InvalidInput(argument, "has pixels that are NaN or infinite", "Fix those images first")
    fix = "Scale to 0 to 1: undo a normalization by mean and deviation, and np.clip(x, 0, 1) what overshoots"
    if low >= 0 and 128 <= high <= 255 and all((part == np.rint(part)).all() for part in parts):
        fix = "Give x.astype(np.uint8)"
    elif low >= 0 and high > 2:
        fix = f"Divide by the value that stands for white: x / 255, or x / {high:g}"
    elif low >= -1 and high <= 1:
        fix = "Give (x + 1) / 2, if these are -1 to 1"
    raise InvalidInput(argument, f"is of floats from {low:.6g} to {high:.6g}", fix)


def _uint8(pixels: np.ndarray, layout: Layout) -> np.ndarray:
    """One image of checked pixels, an array of its own."""
    if pixels.dtype != np.uint8:
        wide = pixels if pixels.dtype.itemsize >= 4 else pixels.astype(np.float32)
        pixels = np.rint(wide * 255).astype(np.uint8)
    if layout == "grey":
        return np.array(pixels, order="C")
    if layout == "first":
        pixels = np.moveaxis(pixels, 0, 2)
    if pixels.shape[2] == 1:
        pixels = pixels[..., 0]
    elif pixels.shape[2] == 4:
        pixels = on_white(pixels)
    return np.array(pixels, order="C")
