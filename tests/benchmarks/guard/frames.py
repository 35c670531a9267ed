"""The numbers of a page in Node, frame by frame: what a lab's page computes while something is dragged."""

from __future__ import annotations

import atexit
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FRAMES = 24
# The entry of every lab's page: what computes its numbers is the second thing that `lab` is given.
ENTRY = re.compile(r"^export default lab\(", re.MULTILINE)
COMPUTE = "export default ((_name, compute) => compute)("
# MemorizationLab's page computes points, not numbers, and in its view.
POINTS = """
export const points = typeof memorization_view_maths === "undefined" ? null :
  (scene, model) => memorization_view_maths.generatedOf(scene, model.get("base"));
"""


def frames_of(lab: Any) -> list[dict[str, Any]]:
    """The lab's scene in each frame of a drag; KeyError where no field of it is one that a drag moves."""
    scene = lab.scene
    return [{**scene, **moved(scene, frame / FRAMES), "rev": scene["rev"] + 1 + frame} for frame in range(FRAMES)]


def moved(scene: dict[str, Any], share: float) -> dict[str, Any]:
    """What a drag changes, the share of its way that is done."""
    if "weights" in scene:
        return {"weights": [0.5 + share, *scene["weights"][1:]]}
    if "clients" in scene:
        return {"clients": [{**scene["clients"][0], "x": 2.0 * share - 3.0}, *scene["clients"][1:]]}
    for field in ("copied", "rho_hat", "epsilon"):
        if field in scene:
            return {field: 0.1 + 0.8 * share}
    raise KeyError("weights")


class Page:
    """A lab's page in a Node of its own, which answers until this process ends."""

    def __init__(self, lab: Any, scenes: list[dict[str, Any]]) -> None:
        if shutil.which("node") is None:
            raise FileNotFoundError("no node on PATH: install Node.js 20 or newer")
        text = lab._esm
        if not ENTRY.search(text):
            raise KeyError("export default lab(")
        self._folder = tempfile.TemporaryDirectory()
        atexit.register(self.close)
        module, state = Path(self._folder.name, "page.mjs"), Path(self._folder.name, "state.json")
        module.write_text(ENTRY.sub(COMPUTE, text) + POINTS, "utf-8")
        state.write_text(json.dumps({"traits": dict(traits_of(lab)), "scenes": scenes}), "utf-8")
        script = Path(__file__).with_name("frames.mjs")
        call = ["node", str(script), str(module), str(state)]
        self._process = subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self) -> tuple[float, int]:
        """Return the milliseconds of a frame and how many numbers it has."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write("run\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"Node ended with {self._process.wait()}")
        milliseconds, numbers = json.loads(line)
        return milliseconds, numbers

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()


def traits_of(lab: Any) -> Iterator[tuple[str, Any]]:
    """What the page's model holds, as far as it is JSON."""
    for name, value in lab.get_state().items():
        if name.startswith("_"):
            continue
        try:
            json.dumps(value)
        except TypeError:
            continue
        yield name, value
