"""What every lab is: a synced scene, a worker that answers it, history, and a clean end.

The page owns motion and sends its scene as numbered messages; Python validates, computes and answers with the
`rev` the answer belongs to. Observers may run beside a user's cell on another thread, so scenes are immutable
and one worker per lab takes the newest scene (`worker`).
"""

from __future__ import annotations

import base64
import logging
import threading
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import anywidget
import traitlets

from ...errors import InvalidInput, check_choice, check_text, printable, shown
from ...files import checked_path, write
from . import modules, reload, saved, share
from .history import History, State
from .snapshot import Snapshot, picture, png_of
from .worker import Worker

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHARED = "Shared"
LOCKS = ("drag", "items", "presets", "history", "code")
# How far the page's revisions may be ahead of Python's: in hours without Python it makes fewer.
MAX_REVISION_LEAP = 10**6
MAX_MESSAGE_LETTERS, MAX_TRACEBACK_LETTERS, MAX_TICKET_LETTERS = 2_000, 20_000, 60
# What a page may write: its own traits and those of every widget, not what is run.
WRITTEN = {"scene", "history", "is_new", "layout", "tabbable", "tooltip", "_view_count"}
# What a display may ask for beside numbers.
SENDABLE_KINDS = ("page", "picture")
# Bytes of a message: Jupyter drops what is more than 3 MB in as many seconds.
MAX_BYTES_SENT = 2_500_000
_LOG = logging.getLogger(__name__)


class Lab(anywidget.AnyWidget):
    """A live view.

    Attributes
    ----------
    scene : dict, synced; what the view shows, with "rev" (`Scene.parse(lab.scene)` is the object)
    result : dict, synced; Python's numbers for the revision in its "rev"
    locked : list, synced; what `lock` locked
    """

    _css = modules.style()
    # The class of the lab's scenes.
    _state: type[Any]
    # What a saved page says of itself.
    _saved_words = saved.COMPUTED

    scene = traitlets.Dict().tag(sync=True)
    result = traitlets.Dict().tag(sync=True)
    history = traitlets.Dict().tag(sync=True)
    presets = traitlets.Dict().tag(sync=True)
    locked = traitlets.List(traitlets.Enum(LOCKS)).tag(sync=True)
    # Whether a cell has shown the lab and no page has painted it since; see toolkit/view/keep_in_view.js.
    is_new = traitlets.Bool(True).tag(sync=True, live=True)

    from_share = share.FromShare()

    def __init__(self, start: State, presets: Mapping[str, State]) -> None:
        self._worker = Worker(self._answer, f"nbmetrics {type(self).__name__}")
        self._lock = threading.RLock()
        self._refused_rev = -1  # the page is there, and Python is not
        super().__init__(
            scene=start.to_json(),
            result=self._answer_of(start),
            history=History().to_json(),
            presets={name: scene.to_json() for name, scene in presets.items()},
        )
        self.on_msg(self._receive)
        if reload.is_wanted():
            reload.follow(self)

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """What the page writes. ipywidgets holds back what other threads write meanwhile, and can lose it.

        It would also keep a scene that `_valid_scene` raises for, so none gets there that cannot be.
        """
        with self._lock:
            try:
                super().set_state(self._accept_traits(sync_data))
            except Exception as error:  # shown in the view, which waits for an answer
                self._show_refusal(error, sync_data.get("scene") if isinstance(sync_data, Mapping) else None)

    def _accept_traits(self, sync_data: Any) -> dict[str, Any]:
        """Return the traits that the page writes, refused history left out; InvalidInput for any other trait."""
        if not isinstance(sync_data, Mapping):
            raise InvalidInput("message", f"got {shown(sync_data)}", "Send a dict of traits")
        if others := [name for name in sync_data if name not in WRITTEN]:
            raise InvalidInput("message", f"writes {shown(others[0])}", "The page writes only scene and history")
        if "scene" in sync_data:
            self._scene_from_page(sync_data["scene"])
        if "history" in sync_data:
            history = History.parse(sync_data["history"], self._readable)
            kept = History(*(tuple(filter(None, side)) for side in (history.past, history.future)))
            return {**sync_data, "history": kept.to_json()}
        return dict(sync_data)

    def _readable(self, value: Any) -> Any:
        try:
            return self._read(value)
        except InvalidInput:
            return None

    def _write(self, **traits: Any) -> None:
        """Set synced traits, from any thread."""
        with self._lock:
            for name, value in traits.items():
                setattr(self, name, value)

    @property
    def _scene(self) -> Any:
        return self._state.parse(self.scene)

    def _read(self, value: Any) -> Any:
        """The scene of a dict; raises InvalidInput where this lab cannot show it."""
        return self._state.parse(value)

    def _scene_from_page(self, value: Any) -> Any:
        """Return the scene that the page sends; its revisions must leave room for those that follow."""
        scene = self._read(value)
        if scene.rev > (most := self._following + MAX_REVISION_LEAP):
            raise InvalidInput("rev", f"got {scene.rev}", f"Give at most {most}")
        return scene

    @property
    def _following(self) -> int:
        """The next revision: above every one that the page asked about."""
        present: int = max(self.scene["rev"], self.result["rev"], self._refused_rev)
        return present + 1

    @traitlets.validate("scene")
    def _valid_scene(self, proposal: Any) -> dict[str, Any]:
        scene = self._read(proposal["value"])
        if self.scene and scene != self._scene:
            present = max(self.scene["rev"], self._refused_rev)
            scene = scene if present < scene.rev <= self._following + MAX_REVISION_LEAP else scene.at(self._following)
        return scene.to_json()

    @traitlets.validate("history")
    def _valid_history(self, proposal: Any) -> dict[str, Any]:
        return History.parse(proposal["value"], self._read).to_json()

    @traitlets.validate("result")
    def _valid_result(self, proposal: Any) -> dict[str, Any]:
        if not isinstance(proposal["value"].get("rev"), int):
            raise InvalidInput("result", f"got {shown(proposal['value'])}", "Read it: Python answers each scene there")
        return dict(proposal["value"])

    @traitlets.observe("scene")
    def _queue_scene(self, change: Any) -> None:
        if change["old"]:
            self._worker.put(self._state.parse(change["new"]))

    def _receive(self, _: Any, message: Any, buffers: Any) -> None:
        """Answer a message that the page sends beside its traits: {"kind": …, …}."""
        asked = message if isinstance(message, Mapping) else {}
        try:
            self._answer_to(asked.get("kind"), asked)
        except Exception as error:  # shown in the view, which waits for an answer
            self._show_refusal(error, asked.get("scene"))

    def _answer_to(self, kind: Any, message: Mapping[str, Any]) -> None:
        """Do what a message asks for; raises what is wrong with it."""
        if kind == "ping":  # the page tries whether anybody is there
            return
        if kind in SENDABLE_KINDS:
            self.send(
                {
                    "ticket": check_text(message.get("ticket"), "ticket", MAX_TICKET_LETTERS),
                    **self._content_of(kind, message),
                }
            )
            return
        if kind != "ask":
            raise InvalidInput("message", f"is of kind {shown(kind)}", "Send one that this lab knows, such as 'ask'")
        self._worker.put(self._scene_from_page(message.get("scene")))

    def _content_of(self, kind: str, message: Mapping[str, Any]) -> dict[str, str]:
        """Return the page or the picture that a display asks for, of the scene that it shows; or an error."""
        try:
            scene = self._scene_from_page(message.get("scene"))
            if scene.rev > self.scene["rev"]:  # its commit may come by another thread
                self._write(scene=scene.to_json())
            content = self._page(saved.Lead(type(self).__name__)).decode() if kind == "page" else self._still()
            if len(content) > MAX_BYTES_SENT:
                fix = "Write it from the notebook: lab.export_html('page.html'), lab.snapshot().save('picture.png')"
                raise InvalidInput(kind, f"takes {len(content):,} bytes", fix)
            return {kind: content}
        except Exception as error:  # told where it was asked for
            return {"error": printable(str(error) or type(error).__name__, MAX_MESSAGE_LETTERS)}

    def _still(self) -> str:
        self._settle()
        return base64.b64encode(png_of(self._picture())).decode()

    def _show_refusal(self, error: Exception, asked: Any = None) -> None:
        """Show an error in the view at the revision it is about; the numbers of that one stay."""
        rev, present = asked.get("rev") if isinstance(asked, Mapping) else None, self.scene["rev"]
        if not isinstance(rev, int) or not present <= rev <= self._following + MAX_REVISION_LEAP:
            rev = present
        self._refused_rev = rev = int(rev)
        kept = self.result if self.result["rev"] == rev else {}
        self._write(result={**kept, "rev": rev, "error": _error_json(error)})

    def _answer(self, scene: State) -> None:
        if scene.rev < self.result["rev"]:
            return
        result = self._answer_of(scene)
        with self._lock:
            if result["rev"] >= self.result["rev"]:
                self.result = result

    def _answer_of(self, scene: State) -> dict[str, Any]:
        try:
            return {"rev": scene.rev, **self._computed(scene)}
        except Exception as error:  # shown in the view, with its traceback, instead of vanishing in a thread
            return {"rev": scene.rev, "error": _error_json(error)}

    def _computed(self, scene: Any) -> dict[str, Any]:
        """Python's numbers for a scene, as plain JSON."""
        raise NotImplementedError

    def undo(self) -> None:
        """Back to the scene before the last edit; raises InvalidInput where there is none."""
        self._travel(self._history.undo(self._scene))

    def redo(self) -> None:
        """Forward again after undo; raises InvalidInput where there is nothing to redo."""
        self._travel(self._history.redo(self._scene))

    def reset(self) -> None:
        """Back to the preset (or the user's own scene) the lab started from; can be undone."""
        now = self._scene
        start = self._state.parse(self._starts.get(now.preset) or next(iter(self.presets.values())))
        self._travel((self._history.record(now), start))

    @property
    def _history(self) -> History:
        return History.parse(self.history, self._state.parse)

    @property
    def _starts(self) -> dict[str, Any]:
        """The scenes that Reset goes back to, by the name in their field preset."""
        return self.presets

    @classmethod
    def _open(cls, scene: State) -> Self:
        """Return a new lab that starts from a scene."""
        lab = cls()  # type: ignore[call-arg]  # every lab starts without arguments
        lab._accept(scene)
        if scene.preset not in lab._starts:
            lab.presets = {scene.preset or SHARED: scene.to_json(), **lab.presets}
        lab.scene = scene.at(lab._following).to_json()
        return lab

    def _accept(self, scene: Any) -> None:
        """Raise InvalidInput where this lab lacks what a scene from elsewhere needs."""

    def _load(self, scene: State) -> Self:
        """Show another scene in this lab, which can be undone; returns the lab."""
        self._accept(scene)
        self._travel((self._history.record(self._scene), scene))
        return self

    def _travel(self, step: tuple[History, State]) -> None:
        history, scene = step
        with self._lock, self.hold_sync():
            self.history = history.to_json()
            self.scene = scene.at(self._following).to_json()

    def to_code(self) -> str:
        """Python that rebuilds exactly this state."""
        return str(self._scene.to_code())

    def share(self) -> str:
        """A short string that holds exactly this state: `from_share` of the class, or of a lab, reads it."""
        return share.pack(type(self).__name__, self._scene)

    def share_url(self, base: str) -> str:
        """A link to exactly this state: what it leads to is a page of this lab, which `export_html` writes.

        Parameters
        ----------
        base : the address of that page, such as "https://example.org/playground.html", without a #
        """
        return share.link(base, self.share())

    def lock(self, *what: str) -> None:
        """For teachers: close parts of the page, or all of them; Python can still do everything.

        Parameters
        ----------
        what : "drag" (nothing is moved, resized, turned or typed), "items" (nothing is added or removed),
            "presets", "history" (undo, redo, reset), "code"; every one of them by default. Their controls are hidden.
            A question can be answered all the same: its flags move, and Reveal opens.
        """
        wanted = {check_choice(name, LOCKS, "what") for name in what or LOCKS} | set(self.locked)
        self.locked = [name for name in LOCKS if name in wanted]

    def unlock(self, *what: str) -> None:
        """Open again what `lock` closed, by name, or all of it."""
        freed = {check_choice(name, LOCKS, "what") for name in what or LOCKS}
        self.locked = [name for name in self.locked if name not in freed]

    def snapshot(self) -> Snapshot:
        """The present scene as a picture, PNG and SVG with alt text: a notebook shows it, `save` writes it."""
        self._settle()
        return Snapshot.of(self._picture(), type(self).__name__, self._described())

    def export_html(
        self, path: Any, title: str | None = None, text: str | None = None, author: str | None = None
    ) -> Path:
        """Write one self-contained page that works offline, opened from disk; returns its path.

        It can be dragged like the lab itself. What needs Python stays in the notebook, and the page says so. Behind a
        # in its address it takes a share string: see `share_url`. An older file of that name is replaced.

        Parameters
        ----------
        path : of the file, .html
        title : its first line, the lab's name by default; at most 300 letters
        text : what stands above the lab, such as a question; a paragraph a line, at most 5,000 letters
        author : who wrote it; at most 300 letters

        Raises
        ------
        InvalidInput
            For a path that cannot be written, or a title, text or author that is no text or too long.
        """
        lead = saved.Lead.of(type(self).__name__ if title is None else title, text, author)
        target = checked_path(path, ".html", ".htm")
        return write(target, self._page(lead))

    def _page(self, lead: saved.Lead) -> bytes:
        self._settle_all()
        return saved.saved_page(self, self._described(), lead)

    def _settle(self) -> None:
        """Wait for the numbers that a picture shows."""

    def _settle_all(self) -> None:
        """Wait for the numbers that a page shows."""

    @property
    def _saved_starts(self) -> dict[str, Any]:
        """The presets that a page without Python shows with their numbers."""
        return {name: one for name, one in self.presets.items() if self._saved_shows(self._state.parse(one))}

    def _saved_shows(self, scene: Any) -> bool:
        """Whether such a page of this lab has the numbers of a scene."""
        return True

    @property
    def _saved_answers(self) -> dict[str, Any]:
        """Python's numbers of `_saved_starts`, by name, where the page does not compute them."""
        return {}

    @property
    def _saved_traits(self) -> dict[str, Any]:
        """What such a page holds in place of traits of this lab."""
        return {}

    def _picture(self) -> Figure:
        """The present scene drawn by matplotlib."""
        raise NotImplementedError

    def _described(self) -> str:
        """The present scene in words: the alt text of its picture."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The live view, and a picture for where nothing is live: GitHub, nbconvert."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        self._write(is_new=True)
        data, metadata = bundle
        try:
            still, words = picture(png_of(self._picture()), self._described())
        except Exception:  # the live view matters more
            _LOG.warning("No picture of this lab could be made", exc_info=True)
            return bundle
        return data | still, metadata | words

    def close(self) -> None:
        """Remove every display and free the worker."""
        if hasattr(self, "_worker"):  # not where __init__ refused its input
            self._worker.close()
            self.layout.close()  # a widget of its own, which ipywidgets leaves alive
        super().close()


def _error_json(error: Exception) -> dict[str, str]:
    if isinstance(error, RecursionError):
        error = InvalidInput("message", "is nested too deeply", "Send a scene")
    return {
        "message": printable(str(error) or type(error).__name__, MAX_MESSAGE_LETTERS),
        "traceback": printable(
            "".join(traceback.format_exception(error))[-MAX_TRACEBACK_LETTERS:], MAX_TRACEBACK_LETTERS
        ),
    }
