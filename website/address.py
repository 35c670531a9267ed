"""Where the repository and the site are, as pyproject.toml says; nothing is linked that it does not name."""

import tomllib
from functools import cache
from urllib.parse import quote

from . import ROOT


@cache
def urls() -> dict[str, str]:
    """[project.urls]: `Repository` is where Binder finds the notebooks, `Site` where this site will be."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return {name.lower(): address.rstrip("/") for name, address in project.get("urls", {}).items()}


def binder(notebook: str = "00_start_here") -> str | None:
    """The address at which Binder opens a notebook; None where no GitHub repository is named."""
    _, is_github, where = urls().get("repository", "").partition("https://github.com/")
    if not is_github:
        return None
    return (
        f"https://mybinder.org/v2/gh/{where.removesuffix('.git')}/HEAD?labpath={quote(f'notebooks/{notebook}.ipynb')}"
    )
