"""OnDemand: what a page asks for beside the numbers of a scene, computed on its own thread, part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import RLock
from typing import Any, Generic, Protocol, TypeVar

from ...errors import printable
from ..toolkit.lab import MAX_MESSAGE_LETTERS
from ..toolkit.worker import Worker


class Numbered(Protocol):
    @property
    def rev(self) -> int: ...


Request = TypeVar("Request", bound=Numbered)


END: dict[str, Any] = {}


@dataclass(eq=False)
class _Answer(Generic[Request]):
    """The answer to a request as far as it is computed; `parts` : those to come, None before the first."""

    request: Request
    parts: Iterator[dict[str, Any]] | None = None

    @property
    def rev(self) -> int:
        return self.request.rev


class OnDemand(Generic[Request]):
    """A thread that answers the newest request, such as a scene; a newer one, or `drop`, ends the one under way after
    its present part.

    Parameters
    ----------
    compute : the parts of an answer
    write : shows one, or an error
    about : what an error says of the request
    """

    def __init__(
        self,
        compute: Callable[[Request], Iterator[dict[str, Any]]],
        write: Callable[[dict[str, Any]], None],
        name: str,
        about: Callable[[Request], dict[str, Any]] = lambda request: {},
    ) -> None:
        self._compute, self._write, self._about = compute, write, about
        self._request: Request | None = None
        self._turn = RLock()
        self._worker = Worker(self._take_part, name)

    def put(self, request: Request) -> None:
        with self._turn:
            self._request = request
            self._worker.put(_Answer(request))

    def now(self, request: Request) -> None:
        """Answer a request on this thread."""
        self._request, answer = request, _Answer(request)
        while self._write_next(answer):
            pass

    def drop(self) -> None:
        self._request = None

    def close(self) -> None:
        """End the thread."""
        self.drop()
        self._worker.close()

    def _take_part(self, answer: _Answer[Request]) -> None:
        """Show the next part, and ask for the one after it: where no thread can start, messages come in between."""
        if not self._write_next(answer):
            return
        with self._turn:
            if self._request is answer.request:
                self._worker.put(answer)

    def _write_next(self, answer: _Answer[Request]) -> bool:
        """Show the next part or an error; return whether more may come."""
        request = answer.request
        try:
            answer.parts = self._compute(request) if answer.parts is None else answer.parts
            part = next(answer.parts, END)
            if part is END or self._request is not request:
                return False
            self._write(part)
        except Exception as error:  # shown in the view instead of vanishing in a thread
            message = printable(str(error) or type(error).__name__, MAX_MESSAGE_LETTERS)
            self._write({**self._about(request), "error": message, "doing": ""})
            return False
        return True
