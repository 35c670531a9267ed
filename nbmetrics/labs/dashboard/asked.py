"""What a page asks for beside the scene's numbers: found on a thread of its own, and written part after part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...errors import printable
from ..toolkit.lab import MAX_MESSAGE_LETTERS
from ..toolkit.worker import Worker
from .scene import DashboardScene


class Asked:
    """Answers the newest scene; what is asked for next, or `drop`, ends the one under way after its present part.

    Parameters
    ----------
    find : the parts for a scene, None for a part that is nothing to show
    write : shows one, or an error
    about : what an error says of the scene
    """

    def __init__(
        self,
        find: Callable[[DashboardScene], Iterator[dict[str, Any] | None]],
        write: Callable[[dict[str, Any]], None],
        name: str,
        about: Callable[[DashboardScene], dict[str, Any]] = lambda scene: {},
    ) -> None:
        self._find, self._write, self._about = find, write, about
        self._wanted: DashboardScene | None = None
        self._worker = Worker(self._answer, name)

    def put(self, scene: DashboardScene) -> None:
        self._wanted = scene
        self._worker.put(scene)

    def now(self, scene: DashboardScene) -> None:
        """Find it on this thread."""
        self._wanted = scene
        self._answer(scene)

    def drop(self) -> None:
        self._wanted = None

    def close(self) -> None:
        """End the thread."""
        self.drop()
        self._worker.close()

    def _answer(self, scene: DashboardScene) -> None:
        try:
            for found in self._find(scene):
                if self._wanted is not scene:
                    return
                if found is not None:
                    self._write(found)
        except Exception as error:  # shown in the view instead of vanishing in a thread
            told = printable(str(error) or type(error).__name__, MAX_MESSAGE_LETTERS)
            self._write({**self._about(scene), "error": told, "doing": ""})
