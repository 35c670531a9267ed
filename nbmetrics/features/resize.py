"""resize="clean": images brought to a network's size as clean-fid does it."""

from __future__ import annotations

import numpy as np

CLEAN = "by antialiased bicubic interpolation per channel, as clean-fid does"


def clean(image: np.ndarray, size: int) -> np.ndarray:
    """(size, size, 3) or (size, size) float32 in [0, 255], not rounded, of a uint8 image (H, W, 3) or (H, W).

    Pillow's bicubic filter on floating-point numbers, channel by channel: antialiased where the image shrinks, without
    the rounding of 8-bit images, and so bit for bit what clean-fid 0.1.35 computes in its mode "clean" (Parmar, Zhang
    and Zhu, On Aliased Resizing and Surprising Subtleties in GAN Evaluation, CVPR 2022).
    """
    from PIL import Image

    def resized(channel: np.ndarray) -> np.ndarray:
        plane = Image.fromarray(np.ascontiguousarray(channel, dtype=np.float32))
        return np.asarray(plane.resize((size, size), Image.Resampling.BICUBIC))

    channels = [image] if image.ndim == 2 else [image[:, :, c] for c in range(image.shape[2])]
    planes = [resized(channel).clip(0, 255) for channel in channels]
    return planes[0] if image.ndim == 2 else np.stack(planes, axis=2)


def rounded(image: np.ndarray) -> np.ndarray:
    """To the nearest of the 256 levels, uint8: for networks that take nothing else."""
    return np.rint(image).astype(np.uint8)
