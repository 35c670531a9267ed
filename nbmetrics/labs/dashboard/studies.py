"""A study for each way in which the clients were regrouped: the last few are kept, with all that they know."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from ...errors import InvalidInput
from .changes import Change
from .study import Study

Changes = tuple[Change, ...]
# Studies beside that of the clients as given, and bytes that they may take together, but for the last used one.
KEPT, ROOM = 4, 1e9
# Ways to regroup whose names are remembered: more than a history has.
NAMED = 200


class Studies:
    """The study of the clients as given, `origin`, and those of other clients, made when asked for and kept a while.

    All have the same generators: they come and go here.
    """

    def __init__(self, origin: Study) -> None:
        self.origin = origin
        self._others: dict[Changes, Study] = {}  # the last used last
        self._names: dict[Changes, tuple[str, ...]] = {}
        self._lock = threading.RLock()

    def of(self, changes: Changes) -> Study:
        """The study after these changes, from what is kept where it is; InvalidInput where they cannot be made."""
        if not changes:
            return self.origin
        with self._lock:
            study = self._others.pop(changes, None) or self.origin.after(changes)
            self._keep(changes, study)
            return study

    def names(self, changes: Changes) -> tuple[str, ...]:
        """Of the clients after these changes; InvalidInput where they cannot be made."""
        if not changes:
            return self.origin.names
        with self._lock:
            return self._names[changes] if changes in self._names else self.of(changes).names

    def weights(self, changes: Changes, more: Changes, weights: Sequence[float]) -> tuple[float, ...]:
        """Of the clients after `more`, where those before it have `weights`."""
        return self.of(changes).weights_after(more, weights)

    def add(self, name: str, source: Any) -> None:
        """Take one more generator into all studies; a kept one that refuses it is not kept."""
        with self._lock:
            self.origin.add(name, source)
            made = self.origin.source(name)
            for changes, study in list(self._others.items()):
                try:
                    study.add(name, made)
                except InvalidInput:
                    del self._others[changes]

    def remove(self, name: str) -> None:
        """Forget a generator."""
        with self._lock:
            for study in (self.origin, *self._others.values()):
                study.remove(name)

    def _keep(self, changes: Changes, study: Study) -> None:
        last = [*self._others.items(), (changes, study)][-KEPT:]
        while len(last) > 1 and sum(study.bytes for _, study in last) > ROOM:
            del last[0]
        self._others = dict(last)
        self._names = dict([*self._names.items(), (changes, study.names)][-NAMED:])
