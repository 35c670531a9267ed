"""The documentation as a site: `make docs`.

The guides are read on GitHub, too, so they are plain Markdown; pages in api/ name what is public, and reference.py
writes the rest of these out of docstrings.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import nbmetrics  # noqa: E402

project, author = "nbmetrics", "The nbmetrics developers"
version = release = nbmetrics.__version__
project_copyright = author

extensions = ["myst_parser", "sphinx.ext.autodoc", "reference"]
exclude_patterns = ["_build"]
# As GitHub: a link to a heading, pictures with a width.
myst_heading_anchors = 4
myst_enable_extensions = ["html_image"]
# Code with `…` for what the reader puts there, and shell with comments, is shown as it stands.
suppress_warnings = ["misc.highlighting_failure"]

default_role = "literal"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 100
# Quotes in prose are often code.
smartquotes = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
# Furo's own, and the way to the labs and lessons where these pages are part of their site.
templates_path = ["_templates"]
html_sidebars = {
    "**": [f"sidebar/{part}.html" for part in ("brand", "search", "scroll-start")]
    + ["labs_and_lessons.html"]
    + [f"sidebar/{part}.html" for part in ("navigation", "scroll-end")]
}
html_title = f"nbmetrics {release}"
html_static_path, html_css_files = ["_static"], ["own.css"]
html_copy_source = html_show_sourcelink = False
