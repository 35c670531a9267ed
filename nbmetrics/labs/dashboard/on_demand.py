"""OnDemand: what a page asks for beside the numbers of a scene, computed on its own thread, part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...errors import printable
from ..toolkit.lab import MAX_MESSAGE_LETTERS
from ..toolkit.worker import Worker
from .scene import DashboardScene


class OnDemand:
    """A thread that answers the newest scene; a newer one, or `drop`, ends the one under way after its present part.

    Parameters
    ----------
    compute : the parts for a scene, None for a part that is nothing to show
    write : shows one, or an error
    about : what an error says of the scene
    """

    def __init__(
        self,
        compute: Callable[[DashboardScene], Iterator[dict[str, Any] | None]],
        write: Callable[[dict[str, Any]], None],
        name: str,
        about: Callable[[DashboardScene], dict[str, Any]] = lambda scene: {},
    ) -> None:
        self._compute, self._write, self._about = compute, write, about
        self._scene: DashboardScene | None = None
        self._worker = Worker(self._answer, name)

    def put(self, scene: DashboardScene) -> None:
        self._scene = scene
        self._worker.put(scene)

    def now(self, scene: DashboardScene) -> None:
        """Answer a scene on this thread."""
        self._scene = scene
        self._answer(scene)

    def drop(self) -> None:
        self._scene = None

    def close(self) -> None:
        """End the thread."""
        self.drop()
        self._worker.close()

    def _answer(self, scene: DashboardScene) -> None:
        try:
            for part in self._compute(scene):
                if self._scene is not scene:
                    return
                if part is not None:
                    self._write(part)
        except Exception as error:  # shown in the view instead of vanishing in a thread
            message = printable(str(error) or type(error).__name__, MAX_MESSAGE_LETTERS)
            self._write({**self._about(scene), "error": message, "doing": ""})
