"""The notebooks, run from top to bottom and written down: text, code, tables and pictures, without a script.

Where a notebook shows a lab stands its picture, with a link to the lab's page that opens what the notebook ended with.
"""

import base64
import posixpath
import re
import shutil
import subprocess
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

import nbmetrics as nm
from nbmetrics import labs as room
from nbmetrics.errors import InvalidInput
from nbmetrics.labs.toolkit import share

from .examples import EXAMPLES
from .labs import path_of
from .markdown import html_of, without_corner
from .pictures import save_png
from .templates import Page

BOOKS = "notebooks/index.html"
CELL_SECONDS = 600  # for a cell
STATE, VIEW = "application/vnd.jupyter.widget-state+json", "application/vnd.jupyter.widget-view+json"
_BARE_FIGURE = re.compile(r"<Figure size .*>")
_HAT = re.compile(r"\\hat\s*\{?(\w)\}?")
# A last sentence that leads on to what is not here.
_LEADING_ON = re.compile(r"\s*[^.?!]*:$")
_MARKUP = re.compile(r"<[^>]+>|[*`]|!\[[^\]]*\]\([^)]*\)|\[([^\]]*)\]\([^)]*\)")


def book_pages(paths: list[Path], out: Path) -> Iterator[Page]:
    """Yield a page for each notebook, which is run for it, and their list."""
    titles = {path: _title(nbformat.read(path, as_version=4)) for path in paths}
    listed = []
    for k, path in enumerate(paths):
        page = _book_page(path, titles, k, out)
        listed.append({"path": page.path, "title": page.title, "text": page.description, "stem": path.stem})
        yield page
    text = "Read the notebooks here as they ran. To run and change them, use Python."
    yield Page(BOOKS, "Notebooks", text, "notebooks.html", BOOKS, values={"books": listed})


def _book_page(path: Path, titles: dict[Path, str], k: int, out: Path) -> Page:
    paths = list(titles)
    beside = {
        name: {"path": f"notebooks/{paths[j].stem}.html", "title": titles[paths[j]]} if 0 <= j < len(paths) else None
        for name, j in (("before", k - 1), ("after", k + 1))
    }
    book = nbformat.read(path, as_version=4)
    client = NotebookClient(book, timeout=CELL_SECONDS, resources={"metadata": {"path": str(path.parent)}})
    client.execute(stderr=subprocess.DEVNULL)  # of the kernel itself; what cells write comes in messages
    written = NotebookCells(path, book, out)
    values = {"cells": list(written.cells()), "stem": path.stem, **beside}
    return Page(written.path, titles[path], _opening(book), "notebook.html", BOOKS, values=values)


def _title(book: NotebookNode) -> str:
    return _plain(book.cells[0].source.partition("\n")[0].lstrip("# "))


def _opening(book: NotebookNode) -> str:
    """Return a notebook's first sentences."""
    paragraphs = book.cells[0].source.split("\n\n")[1:]
    text = _plain(next((text for text in paragraphs if text.strip()), ""))
    return _LEADING_ON.sub("", text) or text


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFC", _HAT.sub("\\1\u0302", text))
    return " ".join(_MARKUP.sub(lambda match: match[1] or "", text).replace("$", "").split())


class NotebookCells:
    """The cells of one notebook that was run, as its page shows them."""

    def __init__(self, source: Path, book: NotebookNode, out: Path) -> None:
        self.source, self.book, self.out = source, book, out
        self.path = f"notebooks/{source.stem}.html"
        self.heading, self.pictures = _title(book), 0

    def cells(self) -> Iterator[dict[str, Any]]:
        """Yield each cell: kind "text" with html; kind "code" with html and outputs."""
        for cell in self.book.cells:
            if cell.cell_type == "markdown":
                for line in cell.source.splitlines():
                    self.heading = _plain(line.lstrip("# ")) if line.startswith("#") else self.heading
                yield {"kind": "text", "html": html_of(cell.source, self._link, self._picture)}
            elif cell.cell_type == "code" and cell.source.strip():
                code = highlight(cell.source, PythonLexer(), HtmlFormatter(nowrap=True))
                outputs = [shown for output in cell.outputs if (shown := self._output(output))]
                yield {"kind": "code", "html": code, "outputs": outputs}

    def _output(self, output: NotebookNode) -> dict[str, Any] | None:
        """kind "text", "html" or "picture" (with a lab's name and link, where it is one); None for nothing to see."""
        if output.output_type == "stream":
            return {"kind": "text", "text": output.text.rstrip()} if output.name == "stdout" else None
        if output.output_type == "error":
            return {"kind": "text", "text": f"{output.ename}: {output.evalue}"}
        data = output.data
        if "image/png" in data:
            return self._save_picture(output)
        if "text/html" in data:
            return {"kind": "html", "html": without_corner(data["text/html"])}
        return None if VIEW in data else {"kind": "text", "text": data.get("text/plain", "")}

    def _save_picture(self, output: NotebookNode) -> dict[str, Any]:
        """Return a picture, saved in a file of its own."""
        self.pictures += 1
        path = f"notebooks/images/{self.source.stem}-{self.pictures}.png"
        size = save_png(self.out / path, base64.b64decode(output.data["image/png"]))
        words = output.metadata.get("image/png", {}).get("alt") or output.data.get("text/plain", "")
        alt = f"Figure of the section “{self.heading}”" if _BARE_FIGURE.fullmatch(words) or not words else words
        return {"kind": "picture", "path": path, "size": size, "alt": alt, **self._lab(output.data.get(VIEW))}

    def _lab(self, view: Any) -> dict[str, Any]:
        """Return the lab that an output shows, and where it is alive."""
        states = self.book.metadata.get("widgets", {}).get(STATE, {}).get("state", {})
        state = states.get((view or {}).get("model_id"), {}).get("state", {})
        name = str(state.get("_anywidget_id", "")).rpartition(".")[2]
        if name not in room.__all__:
            return {"lab": "", "link": ""}
        hash_ = "" if name in EXAMPLES else _hash(name, state["scene"])
        return {"lab": name, "link": path_of(name) + hash_}

    def _link(self, href: str) -> str | None:
        """Return where a link of the notebook leads on the site; None where the site lacks it."""
        path, hash_, rest = href.partition("#")
        target = posixpath.normpath(posixpath.join("notebooks", path))
        if target == "notebooks/README.md":
            return posixpath.relpath(BOOKS, "notebooks")
        if target.endswith(".ipynb"):
            return posixpath.relpath(target.replace(".ipynb", ".html"), "notebooks")
        html = target.removesuffix(".md") + ".html"
        return posixpath.relpath(html, "notebooks") + hash_ + rest if (self.out / html).exists() else None

    def _picture(self, source: str) -> str:
        """Copy a picture beside the notebook and return its address."""
        path = (self.source.parent / source).resolve()
        target = self.out / "notebooks/images" / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        return f"images/{path.name}"


def _hash(name: str, scene: dict[str, Any]) -> str:
    """Return what opens a scene in its lab's page; "" for one of data, or with numbers, that only the notebook has."""
    kind = getattr(nm, name)
    lab, parsed = kind(), kind._state.parse(scene)
    text = share.pack(name, parsed)
    try:
        kind.from_share(text).close()
        return f"#{text}" if lab._saved_shows(parsed) else ""
    except InvalidInput:
        return ""
    finally:
        lab.close()
