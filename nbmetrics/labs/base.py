"""What every lab is: a synced scene, a worker that answers it, history, and a clean end.

The page owns motion and sends its scene as numbered messages; Python validates, computes and answers with the
`rev` the answer belongs to. Observers may run beside a user's cell on another thread, so scenes are immutable
and one worker per lab takes the newest scene, leaving out the ones it had no time for.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from typing import Any

import anywidget
import traitlets

from ..errors import InvalidInput
from ..scene import History, Scene
from . import page


class Worker:
    """Calls `answer` with the newest item put to it, one at a time, on a thread of its own."""

    def __init__(self, answer: Callable[[Any], None], name: str) -> None:
        self._answer = answer
        self._name = name
        self._ready = threading.Condition()
        self._newest: Any = None
        self._closed = False
        self._thread: threading.Thread | None = None

    def put(self, item: Any) -> None:
        """Make `item` the next to be answered, in place of any that still waits."""
        with self._ready:
            if self._closed:
                return
            self._newest = item
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._ready.notify()

    def close(self) -> None:
        """End the thread; what waits is dropped."""
        with self._ready:
            self._closed = True
            self._ready.notify()

    def _run(self) -> None:
        while True:
            with self._ready:
                self._ready.wait_for(lambda: self._closed or self._newest is not None)
                if self._closed:
                    return
                item, self._newest = self._newest, None
            self._answer(item)


class Lab(anywidget.AnyWidget):
    """A live view.

    Attributes
    ----------
    scene : dict, synced; what the view shows, with "rev" (`Scene.parse(lab.scene)` is the object)
    result : dict, synced; Python's numbers for the revision in its "rev"
    """

    _css = page.style()

    scene = traitlets.Dict().tag(sync=True)
    result = traitlets.Dict().tag(sync=True)
    history = traitlets.Dict().tag(sync=True)
    presets = traitlets.Dict().tag(sync=True)

    def __init__(self, start: Scene, presets: dict[str, Scene]) -> None:
        self._worker = Worker(self._answer, f"nbmetrics {type(self).__name__}")
        self._lock = threading.Lock()
        super().__init__(
            scene=start.to_json(),
            result=self._answered(start),
            history=History().to_json(),
            presets={name: scene.to_json() for name, scene in presets.items()},
        )
        self.on_msg(self._asked)

    @property
    def _scene(self) -> Scene:
        return Scene.parse(self.scene)

    @traitlets.validate("scene")
    def _valid_scene(self, proposal: Any) -> dict[str, Any]:
        scene = Scene.parse(proposal["value"])
        present = self.scene.get("rev") if self.scene else None
        if present is not None and scene.rev <= present and scene != self._scene:
            scene = scene.at(present + 1)
        return scene.to_json()

    @traitlets.observe("scene")
    def _scene_changed(self, change: Any) -> None:
        if change["old"]:
            self._worker.put(Scene.parse(change["new"]))

    def _asked(self, _: Any, message: dict[str, Any], buffers: Any) -> None:
        if message.get("kind") == "ask":
            try:
                self._worker.put(Scene.parse(message["scene"]))
            except InvalidInput as error:
                self.result = {"rev": self.scene["rev"], "error": _told(error)}

    def _answer(self, scene: Scene) -> None:
        result = self._answered(scene)
        with self._lock:
            if result["rev"] >= self.result["rev"]:
                self.result = result

    def _answered(self, scene: Scene) -> dict[str, Any]:
        try:
            return {"rev": scene.rev, **self._computed(scene)}
        except Exception as error:  # shown in the view, with its traceback, instead of vanishing in a thread
            return {"rev": scene.rev, "error": _told(error)}

    def _computed(self, scene: Scene) -> dict[str, Any]:
        """Python's numbers for a scene, as plain JSON."""
        raise NotImplementedError

    def undo(self) -> None:
        """Back to the scene before the last edit; raises InvalidInput where there is none."""
        self._travel(History.parse(self.history).undo(self._scene))

    def redo(self) -> None:
        """Forward again after undo; raises InvalidInput where there is nothing to redo."""
        self._travel(History.parse(self.history).redo(self._scene))

    def reset(self) -> None:
        """Back to the preset (or the user's own scene) the lab started from; can be undone."""
        now = self._scene
        start = Scene.parse(self.presets.get(now.preset) or next(iter(self.presets.values())))
        self._travel((History.parse(self.history).record(now), start))

    def _travel(self, step: tuple[History, Scene]) -> None:
        history, scene = step
        with self.hold_sync():
            self.history = history.to_json()
            self.scene = scene.at(self.scene["rev"] + 1).to_json()

    def to_code(self) -> str:
        """Python that rebuilds exactly this state."""
        return self._scene.to_code()

    def close(self) -> None:
        """Remove every display and free the worker."""
        if hasattr(self, "_worker"):  # not where __init__ refused its input
            self._worker.close()
        super().close()


def _told(error: Exception) -> dict[str, str]:
    return {
        "message": str(error) or type(error).__name__,
        "traceback": "".join(traceback.format_exception(error)),
    }
