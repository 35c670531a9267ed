"""The gallery: the papers' figures that are drawn within seconds, made anew."""

from collections.abc import Iterator
from pathlib import Path

import nbmetrics as nm
from nbmetrics.labs.toolkit.snapshot import png_of

from .pictures import save_png
from .templates import Page

GALLERY = "gallery.html"
# The other experiments take up to minutes.
QUICK_EXPERIMENTS = (
    "gaussian_toy",
    "gaussian_samples",
    "likelihood_toy",
    "single_class",
    "published_ranks",
    "truncation",
    "published_models",
    "correlation_contours",
    "condition_scale",
    "published_conditional",
)


def gallery_pages(out: Path) -> Iterator[Page]:
    """Yield one page with all figures, each with its title, its source and the line that draws it."""
    figures = []
    for name in QUICK_EXPERIMENTS:
        table = getattr(nm.experiments, name)()
        path = f"images/experiments/{name}.png"
        size = save_png(out / path, png_of(nm.figures.draw(table)))
        about = {key: table.attrs[key] for key in ("id", "title", "source")}
        figures.append({**about, "name": name, "path": path, "size": size})
    text = "Figures and tables of the papers, computed again: each is one function that you can rerun, sweep and draw."
    yield Page(GALLERY, "Gallery", text, "gallery.html", GALLERY, values={"figures": figures})
