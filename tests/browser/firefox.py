"""Firefox without a driver: its own WebDriver BiDi, a WebSocket that speaks JSON.

    with firefox(folder) as page:
        page.open(path.as_uri())
        page.drag(page.find("Client 2 mean"), 40, 0)

https://www.w3.org/TR/webdriver-bidi/ names the commands. Playwright would want a Firefox built for it.
"""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

ADDRESS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
WATCHED = ["log.entryAdded", "network.beforeRequestSent"]
POINTER = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}}
FIND = """async (name, kind) => {
  const text = node => [...node.childNodes].filter(part => part.ariaHidden !== 'true').map(part => part.textContent);
  const nameOf = node => node.ariaLabel ?? node.labels?.[0]?.textContent ?? text(node).join('');
  const isIt = node => node.getClientRects().length && nameOf(node).trim() === name;
  for (let k = 0; k < 1000; k++) {
    const found = [...document.querySelectorAll(kind)].find(isIt);
    if (found) return found;
    await new Promise(done => setTimeout(done, 20));
  } }"""
FRAMES = "async () => { for (let k = 0; k < 3; k++) await new Promise(requestAnimationFrame); }"
# Keys that are no letters, as WebDriver writes them.
KEYS = {"ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015"}


def find_firefox() -> str | None:
    """The path of a Firefox: FIREFOX where it is set, or the first of the usual names."""
    candidates = [os.environ.get("FIREFOX"), *map(shutil.which, ("firefox-esr", "firefox"))]
    return next((path for path in candidates if path and os.access(path, os.X_OK)), None)


@contextmanager
def firefox(folder: Path) -> Iterator["Page"]:
    """A Firefox with a new profile in this folder, and its page; it ends with the block."""
    folder.mkdir()
    log = folder / "log"
    command = [find_firefox(), "--headless", "--no-remote", "--profile", str(folder), "--remote-debugging-port", "0"]
    with log.open("wb") as out:
        process = subprocess.Popen(command, stderr=out, stdout=out, env={**os.environ, "HOME": str(folder)})
    try:
        with connect(f"{address(process, log)}/session", proxy=None, max_size=None) as socket:
            yield Page(socket)
    finally:
        process.terminate()
        process.wait(20)


def address(process: subprocess.Popen, log: Path, seconds: float = 60) -> str:
    """Where a Firefox listens, once it says so."""
    end = time.monotonic() + seconds
    while not (found := ADDRESS.search(log.read_text("utf-8", "replace"))):
        assert process.poll() is None and time.monotonic() < end, log.read_text("utf-8", "replace")[-2000:]
        time.sleep(0.05)
    return found[1]


class Page:
    """The one page of a Firefox; what it said in its console and what it asked for since it was opened."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket, self._count = socket, 0
        self.errors: list[str] = []
        self.asked: list[str] = []
        started = self._send("session.new", capabilities={})
        self.version: str = started["capabilities"]["browserVersion"]
        self._send("session.subscribe", events=WATCHED)
        self._context = self._send("browsingContext.getTree")["contexts"][0]["context"]

    def _send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of a command; events that come before it are kept."""
        self._count += 1
        self._socket.send(json.dumps({"id": self._count, "method": method, "params": parameters}))
        while (said := json.loads(self._socket.recv(60))).get("id") != self._count:
            if "method" in said:
                self._happened(said["method"], said["params"])
        assert said["type"] == "success", said
        return dict(said["result"])

    def _happened(self, kind: str, told: dict[str, Any]) -> None:
        if kind == "network.beforeRequestSent":
            self.asked.append(told["request"]["url"])
        elif told["level"] in ("error", "warn"):
            self.errors.append(f"{told['level']}: {told['text']}")

    def resize(self, width: int, height: int) -> None:
        """The window that large."""
        self._send("browsingContext.setViewport", context=self._context, viewport={"width": width, "height": height})

    def open(self, url: str) -> None:
        """Load a page."""
        self.errors.clear()
        self.asked.clear()
        self._send("browsingContext.navigate", context=self._context, url=url, wait="complete")

    def find(self, name: str, kind: str = "*") -> dict[str, Any]:
        """The visible element that bears this name, by its aria-label, its <label> or its text, once it is there."""
        said = self._run(FIND, {"type": "string", "value": name}, {"type": "string", "value": kind})
        assert "sharedId" in said, f"{name!r} is not there"
        return {"sharedId": said["sharedId"]}

    def call(self, function: str, *elements: dict[str, Any]) -> Any:
        """What a function of these elements gives, once what is under way is painted."""
        then = f"JSON.stringify(await ({function})(...given) ?? null)"
        return json.loads(
            self._run(f"async (...given) => {{ await ({FRAMES})(); return {then}; }}", *elements)["value"]
        )

    def _run(self, function: str, *given: dict[str, Any]) -> dict[str, Any]:
        """The value of a function of the page, as BiDi tells it."""
        target = {"context": self._context}
        told = {"functionDeclaration": function, "arguments": list(given), "target": target, "awaitPromise": True}
        said = self._send("script.callFunction", **told)
        assert said["type"] == "success", said["exceptionDetails"]["text"]
        return dict(said["result"])

    def click(self, name: str, kind: str) -> None:
        """Press and release on what bears this name, as text or otherwise."""
        element = self.find(name, kind)
        self.call("node => node.scrollIntoView({ block: 'nearest' })", element)
        start = {"type": "pointerMove", "x": 0, "y": 0, "origin": {"type": "element", "element": element}}
        down, up = ({"type": action, "button": 0} for action in ("pointerDown", "pointerUp"))
        self._act({**POINTER, "actions": [start, down, up]})

    def drag(self, element: dict[str, Any], dx: int, dy: int, steps: int = 8) -> None:
        """Press on an element, move, release."""
        self.call("node => node.scrollIntoView({ block: 'center' })", element)
        start = {"type": "pointerMove", "x": 0, "y": 0, "origin": {"type": "element", "element": element}}
        move = {"type": "pointerMove", "x": dx // steps, "y": dy // steps, "origin": "pointer", "duration": 16}
        down, up = ({"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp"))
        self._act({**POINTER, "actions": [start, down, *[move] * steps, up]})

    def press(self, element: dict[str, Any], key: str) -> None:
        """Press a key on an element."""
        self.call("node => node.focus()", element)
        strokes = [{"type": kind, "value": KEYS[key]} for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keyboard", "actions": strokes})

    def _act(self, device: dict[str, Any]) -> None:
        self._send("input.performActions", context=self._context, actions=[device])

    def screenshot(self) -> str:
        """PNG of the window, in base64."""
        return str(self._send("browsingContext.captureScreenshot", context=self._context)["data"])
