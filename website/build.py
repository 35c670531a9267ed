"""The build of the site: from the package to a folder of plain files."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from nbmetrics.errors import InvalidInput, check_choice, check_list, shown

from . import ROOT, books, gallery, labs
from .templates import Page, render

# By this a folder is known as a site of ours, which a new one may replace.
MARK = '<meta name="generator" content="nbmetrics website">'
# What is in such a folder, and nothing else that a user may have put there.
SITE_ENTRIES = {"index.html", "class.html", "teachers.html", "gallery.html", ".nojekyll", "images", "labs", "lessons"}
SITE_ENTRIES |= {"notebooks", "docs"}


def build(
    out: str | Path,
    *,
    only: Iterable[str] | None = None,
    notebooks: bool = True,
    figures: bool = True,
    docs: bool = True,
    say: Callable[[str], object] = lambda line: None,
) -> Path:
    """Write the site into a folder, which appears whole or not at all; returns its path.

    Parameters
    ----------
    out : the folder; an older site in it is replaced, anything else refused
    only : names of the labs to show, the Playground among them; all by default
    notebooks, figures, docs : whether those parts are made
    say : told what was written and what was left out
    """
    target, names = _check_target(out), _lab_names(only)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".site-") as folder:
        draft = Path(folder) / "site"
        draft.mkdir()
        parts = {
            "Labs": labs.LABS,
            "Lessons": labs.LESSONS,
            **({"Notebooks": books.BOOKS} if notebooks else {}),
            **({"Gallery": gallery.GALLERY} if figures else {}),
            **({"Docs": "docs/index.html"} if docs and _build_docs(draft, notebooks, say) else {}),
        }
        for page in _pages(draft, names, notebooks=notebooks, figures=figures):
            _write(draft, page, parts)
            say(f"wrote {page.path}")
        (draft / ".nojekyll").touch()  # or GitHub Pages leaves out the folders of Sphinx that begin with _
        if target.exists():
            target.rename(Path(folder) / "older")
        draft.rename(target)
    say(f"The site is in {out}: open index.html, or put the folder on any static host.")
    return target


def _pages(draft: Path, names: list[str], *, notebooks: bool, figures: bool) -> Iterator[Page]:
    yield from labs.lab_pages(names, draft)
    yield from labs.lesson_pages()
    if figures:
        yield from gallery.gallery_pages(draft)
    if notebooks:
        yield from books.book_pages(sorted((ROOT / "notebooks").glob("*.ipynb")), draft)


def _write(draft: Path, page: Page, sections: dict[str, str]) -> None:
    path = draft / page.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render(page, sections, lambda target: (draft / target).exists()), "utf-8")


def _lab_names(only: Iterable[str] | None) -> list[str]:
    """Return the labs to show, each once."""
    if only is None:
        return labs.all_labs()
    names = list(dict.fromkeys(check_choice(name, labs.all_labs(), "only") for name in check_list(only, "only")))
    if "Playground" not in names:
        raise InvalidInput("only", f"got {shown(only)}", "Name the Playground too: it is what the site opens with")
    return names


def _check_target(out: Any) -> Path:
    """Return the folder, if a site can be put there; InvalidInput otherwise."""
    try:
        target = Path(out).expanduser().resolve()
        is_there, is_folder = target.exists(), target.is_dir()
    except (TypeError, ValueError, RuntimeError, OSError) as error:
        raise InvalidInput("out", f"got {shown(out)} ({error})", "Name a folder that is empty or new") from None
    if not os.access(target.parent, os.W_OK) or not target.parent.is_dir():
        fix = "Make it first, or name one elsewhere"
        raise InvalidInput("out", f"there is no folder {shown(str(target.parent))} to write in", fix)
    if is_there and not is_folder:
        raise InvalidInput("out", f"{shown(str(target))} is a file", "Name a folder")
    if is_there and (others := _others(target)):
        fix = "Name a folder that is empty or new"
        raise InvalidInput("out", f"{shown(str(target))} holds something else, such as {shown(others[0])}", fix)
    return target


def _others(folder: Path) -> list[str]:
    """Return what a folder holds beside a site of ours; all of it where there is none."""
    names, index = sorted(path.name for path in folder.iterdir()), folder / "index.html"
    is_ours = index.is_file() and MARK in index.read_text("utf-8", "replace")
    return [name for name in names if not (is_ours and name in SITE_ENTRIES)]


def _build_docs(draft: Path, notebooks: bool, say: Callable[[str], object]) -> bool:
    """Whether the API reference was built into docs/; it leads to index.html, and to the notebooks if there are."""
    if not (ROOT / "docs/conf.py").exists():
        say("left out docs/: there is no docs/conf.py")
        return False
    if importlib.util.find_spec("sphinx") is None:
        say("left out docs/: no sphinx here; pip install -e '.[docs]'")
        return False
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(ROOT / "docs"), str(draft / "docs")]
    beside = ["-A", "site=yes", *(["-t", "notebooks"] if notebooks else [])]
    place = ["-d", str(draft.parent / "doctrees")]
    ran = subprocess.run([*command, *beside, *place], capture_output=True, text=True, check=False)
    if ran.returncode:
        say(f"left out docs/: sphinx failed\n{ran.stderr[-2000:]}")
        shutil.rmtree(draft / "docs", ignore_errors=True)
        return False
    (draft / "docs/.buildinfo").unlink(missing_ok=True)
    say("wrote docs/")
    return True
