"""What a generator makes for each client: a source by the client's name, or a function of that name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, check_names, shown
from ..lazy_imports import import_room
from ..partition import natural

ARRAYS = (".npy", ".npz")
FIX = "Give a dict client -> source, a folder with a sub-folder for each client, or a function (client, n, rng) -> rows"
FIX_FUNCTION = "Give one of (client, n, rng): n rows for the client of that name"
MAX_NAMES_SHOWN = 3


@dataclass(frozen=True, eq=False)
class ByClient:
    """The source of a generator with one distribution for each client.

    Attributes
    ----------
    sources : what it makes for each client, by name; or a function (client, n, rng) -> rows
    """

    sources: Mapping[str, Any] | Callable[[str, int, Any], Any]

    @classmethod
    def of(cls, sources: Any) -> ByClient:
        """From a dict, a folder or a function; InvalidInput for anything else."""
        if isinstance(sources, (str, os.PathLike)):
            sources = dict(sources_in(Path(sources)))
        if isinstance(sources, Mapping):
            if not sources:
                raise InvalidInput("source", "is an empty dict", FIX)
            check_names(list(sources), "source")
            return cls(dict(sources))
        if hasattr(sources, "state_dict"):
            raise InvalidInput("source", f"got the module {shown(sources)}, which is given no client", FIX)
        if callable(sources):
            check_call(sources, 3, FIX_FUNCTION)
            return cls(sources)
        raise InvalidInput("source", f"got {shown(sources)}", FIX)

    @property
    def members(self) -> list[Any]:
        """The generators that it is made of; none of a function."""
        return [] if callable(self.sources) else list(self.sources.values())

    def only(self, names: Sequence[str]) -> ByClient:
        """Return this without the sources of other clients."""
        if callable(self.sources):
            return self
        return ByClient({name: source for name, source in self.sources.items() if name in set(names)})

    def for_clients(self, names: Sequence[str], who: str) -> list[Any]:
        """Return the source for each of these clients; InvalidInput, by name, where one is missing or unknown."""
        if callable(self.sources):
            return [partial(self.sources, name) for name in names]
        clients = set(names)
        missing, unknown = [n for n in names if n not in self.sources], [n for n in self.sources if n not in clients]
        if missing or unknown:
            parts = [("no source for", "client", missing), ("a source for", "unknown client", unknown)]
            seen = " and ".join(f"has {what} {_listed(kind, some)}" for what, kind, some in parts if some)
            raise InvalidInput(who, seen, f"The dict needs one for each client: {_listed('client', names)}")
        return [self.sources[name] for name in names]

    def __repr__(self) -> str:
        return f"by client: {shown(self.sources) if callable(self.sources) else ', '.join(self.sources)}"


def _listed(kind: str, names: Sequence[str]) -> str:
    more = f", and {len(names) - MAX_NAMES_SHOWN} more" * (len(names) > MAX_NAMES_SHOWN)
    return f"{kind}{'s' * (len(names) > 1)} {', '.join(map(shown, names[:MAX_NAMES_SHOWN]))}{more}"


def sources_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the sub-folders of a folder, or its files of arrays, by the name of the client."""
    try:
        entries = sorted((e for e in folder.iterdir() if e.name[0] != "."), key=lambda e: natural(e.name))
    except OSError as error:
        raise InvalidInput("source", f"{shown(str(folder))} cannot be read ({error.strerror})", FIX) from None
    check_entries(entries, "source")
    folders = [entry for entry in entries if entry.is_dir()]
    rows = [entry for entry in entries if entry.is_file() and entry.suffix.lower() in ARRAYS]
    refusal = import_room("features").files.refusal_by_name
    images = [entry for entry in entries if entry.is_file() and entry not in rows and not refusal((entry.name,))]
    if images or bool(folders) == bool(rows):
        kinds = f"{len(folders)} sub-folders, {len(rows)} files of arrays and {len(images)} images of its own"
        seen = f"{shown(str(folder))} has {kinds}"
        raise InvalidInput(
            "source", seen, "Give a folder with one sub-folder of images, or one .npy file, for each client"
        )
    yield from ((entry.name, entry) for entry in folders)
    yield from ((entry.stem, entry) for entry in rows)


def check_entries(entries: Iterable[Path], argument: str) -> None:
    """Raise InvalidInput for a link to nothing, or an array that is no file: a client would be left out unseen."""
    for entry in entries:
        is_there = entry.is_dir() or entry.is_file()
        if not is_there and (entry.is_symlink() or entry.suffix.lower() in ARRAYS):
            seen = f"{shown(str(entry))} is a link to nothing, or no regular file"
            raise InvalidInput(argument, seen, "Mend it, or remove it")


def check_call(function: Callable[..., Any], arguments: int, fix: str) -> None:
    """Raise InvalidInput for a function that cannot be called with so many arguments, where its signature tells."""
    try:
        call = signature(function)
    except (TypeError, ValueError):  # built in, without a signature
        return
    try:
        call.bind(*[None] * arguments)
    except TypeError:
        raise InvalidInput("source", f"is a function of {shown(str(call))}", fix) from None
