"""Images to rows of features: reading, extractors, a cache of what was computed. Importing it imports no torch.

    source → images (lazy, checked) → extractor, batch by batch → (n, d) float32 rows, kept in the cache

`extraction` settles extractor and settings once, so that every client and generator of a federation share them.
"""

from .extract import Extraction, extract, extraction
from .images import Images, images

__all__ = ["Extraction", "Images", "extract", "extraction", "images"]
