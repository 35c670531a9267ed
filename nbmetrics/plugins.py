"""Metrics and extractors of installed packages, by their entry points; none is imported before it is asked for.

    [project.entry-points."nbmetrics.metrics"]        name = "package.module:make"
    [project.entry-points."nbmetrics.extractors"]     make() returns the metric, or what `nm.extract` takes

Names of nbmetrics stay its own, and a package that does not load is named with its error and left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from .errors import LONGEST_NAME, InvalidInput, one_line, printable, shown

METRICS, EXTRACTORS = "nbmetrics.metrics", "nbmetrics.extractors"
MAX_ERROR_LETTERS = 300


class PluginWarning(UserWarning):
    """A metric or extractor of another installed package is left out."""


@dataclass(frozen=True)
class Plugin:
    """A metric or extractor of an installed package.

    Attributes
    ----------
    name, package : what it is called, and which package and version it is of
    """

    name: str
    package: str
    entry: EntryPoint

    def make(self, argument: str) -> Any:
        """Return the metric or extractor; InvalidInput that names the package where it does not load."""
        try:
            return self.entry.load()()
        except (Exception, SystemExit) as error:  # of another's code
            why = printable(f"{type(error).__name__}: {error}", MAX_ERROR_LETTERS)
            raise self.refusal(argument, f"does not load ({why})") from error

    def refusal(self, argument: str, seen: str) -> InvalidInput:
        """Return a complaint about it."""
        fix = "Update or uninstall that package, or choose another"
        return InvalidInput(argument, f"{self.name!r} of the package {self.package} {seen}", fix)


def letters(name: str) -> str:
    """Return what of a name tells it from others: its letters and digits, in lower case."""
    return "".join(filter(str.isalnum, name.casefold().replace("∞", "infinity")))


def plugins(group: str, own: Iterable[str]) -> tuple[dict[str, Plugin], list[str]]:
    """Return the plug-ins of a group by name, and why others are left out.

    `own` : names that are nbmetrics' own and that no other package may take
    """
    taken = set(map(letters, own))
    by_name: dict[str, Plugin] = {}
    offers: dict[str, list[str]] = {}
    lines = []
    for plugin in _installed(group, tuple(sys.path)):
        if letters(plugin.name) in taken:
            lines.append(f"{plugin.name!r} of the package {plugin.package}: nbmetrics has one of this name")
        elif not letters(plugin.name) or len(plugin.name) > LONGEST_NAME or not plugin.name.isprintable():
            lines.append(f"{shown(plugin.name)} of the package {plugin.package}: that is no name")
        else:
            by_name[plugin.name] = plugin
            offers.setdefault(letters(plugin.name), []).append(plugin.package)
    for name in [name for name in by_name if len(offers[letters(name)]) > 1]:
        lines.append(f"{name!r}: several packages have one of this name: {', '.join(offers[letters(name)])}")
        del by_name[name]
    return by_name, lines


def find(group: str, name: str, own: Iterable[str]) -> Plugin | None:
    """Return the plug-in of this name, however it is written, or None."""
    by_name, _ = plugins(group, own)
    return by_name.get(name) or {letters(other): plugin for other, plugin in by_name.items()}.get(letters(name))


@lru_cache(maxsize=4)
def _installed(group: str, path: tuple[str, ...]) -> tuple[Plugin, ...]:
    """Return all entry points of a group on this path, without importing them."""
    return tuple(Plugin(entry.name, _package_of(entry), entry) for entry in entry_points(group=group))


def _package_of(entry: EntryPoint) -> str:
    dist = entry.dist
    return "unknown" if dist is None else one_line(f"{dist.metadata['Name']} {dist.version}", LONGEST_NAME)
