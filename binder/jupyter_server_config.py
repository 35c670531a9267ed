"""What `make lab` and Binder change about a Jupyter server: small messages at once, and saved labs that stay saved."""

import json
import re

from jupyter_server.services.contents.manager import ContentsManager
from jupyter_server.services.kernels.websocket import KernelWebsocketHandler

# Without TCP_NODELAY every kernel message waits about 40 ms for the one before it to be acknowledged.
_open = KernelWebsocketHandler.open


async def open_without_delay(self, kernel_id):
    self.set_nodelay(True)
    await _open(self, kernel_id)


KernelWebsocketHandler.open = open_without_delay

# JupyterLab saves the widgets whose Python is there. In a notebook that was reopened and not run that is none of those
# it shows, so its first save would lose them all.
STATE = "application/vnd.jupyter.widget-state+json"
NAME = re.compile("[0-9a-f]{32}")  # of a widget, wherever outputs and other widgets refer to it


def saved_widgets(notebook):
    return notebook.get("metadata", {}).get("widgets", {}).get(STATE, {}).get("state", {})


def referred(value, known):
    """The widgets that a JSON value refers to, and those that they refer to."""
    found, left = {}, [value]
    while left:
        for name in set(NAME.findall(json.dumps(left.pop()))) & known.keys() - found.keys():
            found[name] = known[name]
            left.append(known[name])
    return found


def keep_widgets(model, path, contents_manager, **_):
    """Save what the notebook shows: the widgets alive now, and those that only the file knows."""
    notebook = model.get("content")
    if model.get("type") != "notebook" or "widgets" not in notebook.get("metadata", {}):
        return
    try:
        with open(contents_manager._get_os_path(path), encoding="utf-8") as file:
            before = saved_widgets(json.load(file))
    except (OSError, ValueError, AttributeError):  # a new file, no notebook, or not kept in files
        before = {}
    outputs = [cell.get("outputs") for cell in notebook["cells"]]
    state = referred(outputs, before | saved_widgets(notebook))
    notebook["metadata"]["widgets"] = {STATE: {"version_major": 2, "version_minor": 0, "state": state}}


_made = ContentsManager.__init__


def made_with_hook(self, *args, **kwargs):
    _made(self, *args, **kwargs)
    self.register_pre_save_hook(keep_widgets)  # after a hook of the user's own, not in its place


ContentsManager.__init__ = made_with_hook
