"""Changes to images, imperceptible and large, as the FLD paper's Appendix E.1 lists them, and `resize`.

    changed = TRANSFORMS["rotate"](images, rng)      (n, h, w) or (n, h, w, 3) in [0, 1], the same shape back

Pillow does what works on 8-bit pictures, so those round to 256 levels; blur and elastic keep the numbers as they are.
Sizes are in pixels as in the paper, whose images have 32 × 32 of them: on 8 × 8 digits the same blur is a stronger one.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import as_rows
from ..errors import InvalidInput, shown

Transform = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def as_images(value: Any, argument: str) -> np.ndarray:
    """`value` as float64 images (n, h, w) or (n, h, w, 3) in [0, 1], n ≥ 1."""
    try:
        images = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(argument, f"got {shown(value)}", "Give images as one array of numbers") from None
    if images.ndim not in (3, 4) or (images.ndim == 4 and images.shape[3] != 3) or 0 in images.shape:
        raise InvalidInput(argument, f"has shape {images.shape}", "Give images of shape (n, h, w) or (n, h, w, 3)")
    flat = as_rows(images.reshape(len(images), -1), argument)
    low, high = float(flat.min()), float(flat.max())
    if low < 0 or high > 1:
        raise InvalidInput(argument, f"has values from {low:g} to {high:g}", "Scale the pixels to [0, 1]")
    return images


def _pillow(change: Callable[[Any, np.random.Generator], Any]) -> Transform:
    """A change to one Pillow image, for an array of them."""

    def transform(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        from PIL import Image

        pictures = [Image.fromarray(image) for image in np.round(images * 255).astype(np.uint8)]
        return np.stack([np.asarray(change(picture, rng)) for picture in pictures]) / 255.0

    transform.__name__, transform.__doc__ = change.__name__, change.__doc__
    return transform


@_pillow
def posterize(picture: Any, rng: np.random.Generator) -> Any:
    """The 5 highest of 8 bits."""
    from PIL import ImageOps

    return ImageOps.posterize(picture, 5)


@_pillow
def jpeg_90(picture: Any, rng: np.random.Generator) -> Any:
    """To a JPEG of quality 90 and back."""
    from PIL import Image

    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=90)
    return Image.open(stream)


def blur(images: np.ndarray, sigma: float) -> np.ndarray:
    """A Gaussian blur of σ pixels in a kernel of 5 × 5; 0 leaves the images as they are."""
    from scipy.ndimage import gaussian_filter

    return np.clip(gaussian_filter(images, sigma, mode="mirror", radius=2, axes=(1, 2)), 0, 1)


def light_blur(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A Gaussian blur, σ = 0.5 pixels."""
    return blur(images, 0.5)


def crop(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The central three quarters of the height and width; the rest black."""
    height, width = (max(1, side // 8) for side in images.shape[1:3])
    changed = np.zeros_like(images)
    inside = slice(None), slice(height, -height), slice(width, -width)
    changed[inside] = images[inside]
    return changed


@_pillow
def resize(picture: Any, rng: np.random.Generator) -> Any:
    """To half the height and width and back, bicubic both times."""
    from PIL import Image

    half = tuple(max(1, side // 2) for side in picture.size)
    return picture.resize(half, Image.Resampling.BICUBIC).resize(picture.size, Image.Resampling.BICUBIC)


@_pillow
def rotate(picture: Any, rng: np.random.Generator) -> Any:
    """By 15 to 30 degrees either way, bicubic; corners black."""
    from PIL import Image

    angle = rng.choice([-1, 1]) * rng.uniform(15, 30)
    return picture.rotate(angle, resample=Image.Resampling.BICUBIC)


def elastic(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Pixels moved by a smooth random field, 0.8 pixels in root mean square along each axis.

    That is torchvision's default at 32 × 32, where the field is smooth over σ = 5 pixels; narrower images have a
    proportionally less smooth field, which would otherwise only shift them.
    """
    from scipy.ndimage import gaussian_filter, map_coordinates

    n, *sides = images.shape[:3]
    smooth = min(5.0, 5.0 * min(sides) / 32)
    # Blurring white noise over σ pixels leaves a standard deviation of 1 / (2 √π σ).
    field = 0.8 * 2 * np.sqrt(np.pi) * smooth * rng.standard_normal((n, 2, *sides))
    field = gaussian_filter(field, smooth, mode="wrap", axes=(2, 3))
    moved = np.indices(sides) + field
    layers = images[..., None] if images.ndim == 3 else images
    changed = np.empty_like(layers)
    for image, where, out in zip(layers, moved, changed, strict=True):
        for channel in range(image.shape[2]):
            out[..., channel] = map_coordinates(image[..., channel], where, order=1)
    return changed.reshape(images.shape)


@_pillow
def colour(picture: Any, rng: np.random.Generator) -> Any:
    """Brightness and contrast, and saturation where there is colour, each by a factor from 0.5 to 1.5."""
    from PIL import ImageEnhance

    kinds = [ImageEnhance.Brightness, ImageEnhance.Contrast, *([ImageEnhance.Color] * (picture.mode == "RGB"))]
    for kind in kinds:
        picture = kind(picture).enhance(rng.uniform(0.5, 1.5))
    return picture


IMPERCEPTIBLE: dict[str, Transform] = {"posterize": posterize, "jpeg_90": jpeg_90, "light_blur": light_blur}
LARGE: dict[str, Transform] = {
    "crop": crop,
    "resize": resize,
    "rotate": rotate,
    "elastic": elastic,
    "colour": colour,
}
TRANSFORMS: dict[str, Transform] = {**IMPERCEPTIBLE, **LARGE}
