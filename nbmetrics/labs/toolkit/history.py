"""What came before and after the present scene, for undo and redo; whatever a lab's scenes are.

Twin: labs/toolkit/view/store.js · held by: tests/labs/toolkit/test_history_page.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self

from ...errors import InvalidInput
from .fields import fields_of, listed
from .schema import REMEMBERED

SIDES = ("past", "future")


class State(Protocol):
    """What a lab asks of its scenes: immutable, validated values that are plain JSON."""

    @property
    def rev(self) -> int: ...

    @property
    def preset(self) -> str: ...

    @classmethod
    def parse(cls, value: Any) -> Self:
        """From a dict; raises `InvalidInput` naming the field that is wrong."""
        ...

    def to_json(self) -> dict[str, Any]:
        """The dict that `parse` reads and the view shows."""
        ...

    def at(self, rev: int) -> Self:
        """The same scene as revision `rev`."""
        ...

    def to_code(self) -> str:
        """Python that rebuilds exactly this scene."""
        ...


@dataclass(frozen=True)
class History:
    """The scenes before and after the present one, oldest first."""

    past: tuple[Any, ...] = ()
    future: tuple[Any, ...] = ()

    @classmethod
    def parse(cls, value: Any, read: Callable[[Any], State]) -> History:
        """From a dict, whose scenes `read` takes; raises `InvalidInput` naming what is wrong."""
        sides = fields_of(value, SIDES, SIDES, "history")
        return cls(*(tuple(map(read, listed(sides[side], f"history.{side}", 0, REMEMBERED))) for side in SIDES))

    def to_json(self) -> dict[str, Any]:
        """The dict that `parse` reads."""
        return {side: [s.to_json() for s in getattr(self, side)] for side in SIDES}

    def record(self, before: State) -> History:
        """Return the history after an edit of `before`: it can be undone, and redo is forgotten."""
        return History((*self.past, before)[-REMEMBERED:], ())

    def undo(self, now: State) -> tuple[History, Any]:
        """Return the history after undo, and the scene it returns to."""
        if not self.past:
            raise InvalidInput("undo", "there is nothing to undo", "Edit the scene first")
        return History(self.past[:-1], (now, *self.future)), self.past[-1]

    def redo(self, now: State) -> tuple[History, Any]:
        """Return the history after redo, and the scene it goes on to."""
        if not self.future:
            raise InvalidInput("redo", "there is nothing to redo", "Undo something first")
        return History((*self.past, now), self.future[1:]), self.future[0]
