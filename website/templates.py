"""A page of the site: its template filled, with the navigation, and what those see who are sent a link to it.

Whatever is put into a template is escaped, but for `Markup`, which is the site's own.
"""

import posixpath
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from . import ROOT

FOLDER = Path(__file__).parent / "templates"
# What a page may do. A lab's page lets run the one script whose hash it names; the others run none.
CSP = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' blob: data:"


@cache
def urls() -> dict[str, str]:
    """Return [project.urls] of pyproject.toml: `Repository` with the notebooks for Binder, `Site` where it is."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return {name.lower(): address.rstrip("/") for name, address in project.get("urls", {}).items()}


def binder(notebook: str = "00_start_here") -> str | None:
    """Return the address at which Binder opens a notebook; None where no GitHub repository is named."""
    _, is_github, where = urls().get("repository", "").partition("https://github.com/")
    if not is_github:
        return None
    return (
        f"https://mybinder.org/v2/gh/{where.removesuffix('.git')}/HEAD?labpath={quote(f'notebooks/{notebook}.ipynb')}"
    )


@dataclass(frozen=True)
class Page:
    """One file of the site.

    Attributes
    ----------
    path : in the site, such as "labs/playground.html"
    title, description : for its head, and for those who get a link to it
    template : in templates/
    section : the path of the navigation's entry that it belongs to
    picture : the path of a picture in the site
    values : what the template shows
    """

    path: str
    title: str
    description: str
    template: str
    section: str = ""
    picture: str = "images/playground.png"
    values: Mapping[str, Any] = field(default_factory=dict)

    def to(self, target: str) -> str:
        """The relative address of another file of the site; what stands behind # stays."""
        path, hash_, rest = target.partition("#")
        return (posixpath.relpath(path, posixpath.dirname(self.path) or ".") if path else "") + hash_ + rest


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(page: Page, sections: Mapping[str, str], has: Callable[[str], bool]) -> str:
    """Return the HTML of a page; `sections` are the navigation's paths by name, and `has` says what was written."""
    own = {key: Markup(page.values[key]) for key in ("script", "state", "style") if key in page.values}
    csp = f"{CSP}; script-src 'sha256-{page.values['hash']}'" if "hash" in page.values else CSP
    return (
        _environment()
        .get_template(page.template)
        .render(
            {"style": "", **page.values, **own},
            page=page,
            to=page.to,
            has=has,
            sections=sections,
            csp=csp,
            site=urls().get("site"),
            repository=urls().get("repository"),
            binder=binder,
            own_style=Markup((FOLDER / "site.css").read_text("utf-8")),
        )
    )
