"""extract(): images, batch by batch, through an extractor into rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .extractors import Extractor, extractor_of
from .images import images


@dataclass(frozen=True)
class Extraction:
    """An extractor with its settings: the one way in which a federation's images become rows."""

    extractor: Extractor
    batch_size: int = 64
    cache: bool = True
    progress: str | bool = "auto"

    def rows(self, source: Any) -> np.ndarray:
        """(n, d) float32 rows of a source of images."""
        parts = [self.extractor(batch) for batch in images(source).batches(self.batch_size)]
        return np.concatenate(parts)


def extraction(
    extractor: Any = "inception-v3-compat",
    *,
    weights: Any = None,
    download: bool = False,
    batch_size: int = 64,
    device: str = "auto",
    resize: str = "extractor",
    cache: bool = True,
    progress: str | bool = "auto",
) -> Extraction:
    """The settings of `extract`, checked once."""
    model = extractor_of(extractor, weights=weights, download=download, device=device, resize=resize)
    return Extraction(model, batch_size, cache, progress)


def extract(source: Any, extractor: Any = "inception-v3-compat", **settings: Any) -> np.ndarray:
    """(n, d) float32 rows of features of the images of `source`."""
    return extraction(extractor, **settings).rows(source)
