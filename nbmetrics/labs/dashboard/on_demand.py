"""OnDemand: what a page asks for beside the numbers of a scene, computed on its own thread, part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from ...errors import printable
from ..toolkit.lab import MAX_MESSAGE_LETTERS
from ..toolkit.worker import Worker

Request = TypeVar("Request")


class OnDemand(Generic[Request]):
    """A thread that answers the newest request, such as a scene; a newer one, or `drop`, ends the one under way after
    its present part.

    Parameters
    ----------
    compute : the parts of an answer, None for a part that is nothing to show
    write : shows one, or an error
    about : what an error says of the request
    """

    def __init__(
        self,
        compute: Callable[[Request], Iterator[dict[str, Any] | None]],
        write: Callable[[dict[str, Any]], None],
        name: str,
        about: Callable[[Request], dict[str, Any]] = lambda request: {},
    ) -> None:
        self._compute, self._write, self._about = compute, write, about
        self._request: Request | None = None
        self._worker = Worker(self._answer, name)

    def put(self, request: Request) -> None:
        self._request = request
        self._worker.put(request)

    def now(self, request: Request) -> None:
        """Answer a request on this thread."""
        self._request = request
        self._answer(request)

    def drop(self) -> None:
        self._request = None

    def close(self) -> None:
        """End the thread."""
        self.drop()
        self._worker.close()

    def _answer(self, request: Request) -> None:
        try:
            for part in self._compute(request):
                if self._request is not request:
                    return
                if part is not None:
                    self._write(part)
        except Exception as error:  # shown in the view instead of vanishing in a thread
            message = printable(str(error) or type(error).__name__, MAX_MESSAGE_LETTERS)
            self._write({**self._about(request), "error": message, "doing": ""})
