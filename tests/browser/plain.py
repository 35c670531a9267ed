"""Labs in a plain page, with Python in this process: a front end of the widget protocol, with no Jupyter around it.

A notebook's kernel and JupyterLab's page cost seconds and most of two processors. What a lab and its page do with one
another needs neither: here the messages of the widgets go over one socket, taken on a thread of their own, as
JupyterLab 4.4 and later have them taken. What is of Jupyter itself is tried in Jupyter (the mark `jupyterlab`), and at
length everything is.
"""

from __future__ import annotations

import ast
import asyncio
import io
import json
import threading
from contextlib import redirect_stdout, suppress
from pathlib import Path
from types import SimpleNamespace

import comm
import tornado.httpserver
import tornado.netutil
import tornado.web
import tornado.websocket
from comm.base_comm import BaseComm
from ipywidgets.widgets.widget import Widget, _instances
from jupyter_client.session import json_default

SCRIPT = Path(__file__).with_name("plain.js")
# As wide as the output of a cell is in JupyterLab's window of 1280 pixels.
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lab</title>
<style>
:root { color-scheme: light dark; }
body { margin: 0; padding: 8px; background: #fff; }
main { max-width: 848px; }
@media (prefers-color-scheme: dark) { body { background: #111; } }
</style>
</head>
<body><main></main><script type="module" src="/script"></script></body>
</html>"""
SETTLE = "() => window.__settle()"


class Python:
    """What a kernel is to a page: names, cells, and the ends of the comms of its widgets."""

    def __init__(self, loop):
        self.loop = loop
        self.socket = None
        self.names = {"__name__": "__main__"}
        self.comms = {}
        self.held = None

    def comm(self, **given):
        """In place of comm.create_comm."""
        return Wire(self, **given)

    def say(self, **message):
        """To the page, from any thread, in order."""
        text = json.dumps(message, default=json_default, allow_nan=False)
        with suppress(RuntimeError):  # the server has ended
            self.loop.call_soon_threadsafe(self._send, text)

    def _send(self, text):
        if self.socket and self.socket.ws_connection:
            self.socket.write_message(text)

    def hear(self, kind, id="", data=None):
        """What the page says, on the thread of the socket."""
        if self.held is not None:
            return self.held.append((kind, id, data))
        if kind == "settle":
            return self.say(kind="settled")
        if id in self.comms:
            self.comms[id].handle_msg({"content": {"data": data}, "metadata": {}, "buffers": []})
        if data["method"] == "update":
            self.say(kind="taken", id=id)

    def hold(self):
        """Take nothing of what the page says, until `go_on`; all that it said before is taken."""
        done = threading.Event()
        self.loop.call_soon_threadsafe(lambda: (setattr(self, "held", []), done.set()))
        done.wait()

    def go_on(self):
        self.loop.call_soon_threadsafe(self._go_on)

    def _go_on(self):
        held, self.held = self.held or [], None
        for message in held:
            self.hear(*message)

    def run_cell(self, source):
        """Run it, and show the widget that its last line is."""
        body = ast.parse(source).body
        last = body.pop() if isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), "<cell>", "exec"), self.names)
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), self.names) if last else None
        if isinstance(value, Widget):
            self.say(kind="display", id=value.model_id)

    def run_code(self, page, code):
        """What the code prints; all that the page said is heard before, and all that Python said after."""
        page.evaluate(SETTLE)
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(code, self.names)
        page.evaluate(SETTLE)
        return printed.getvalue()

    def end(self):
        """Close what the cells opened."""
        self.socket = None
        for widget in filter(None, map(_instances.get, list(self.comms))):
            widget.close()


class Wire(BaseComm):
    """Python's end of a comm."""

    def __init__(self, python, **given):
        self.python = python
        super().__init__(**given)
        python.comms[self.comm_id] = self

    def publish_msg(self, msg_type, data=None, metadata=None, buffers=None, **keys):
        self.python.say(kind=msg_type, id=self.comm_id, data=data)


class Socket(tornado.websocket.WebSocketHandler):
    def open(self):
        self.python = self.application.python
        self.python.socket = self

    def on_message(self, text):
        self.python.hear(**json.loads(text))


class Text(tornado.web.RequestHandler):
    def initialize(self, kind, read):
        self.kind, self.read = kind, read

    def get(self):
        self.set_header("Content-Type", f"{self.kind}; charset=utf-8")
        self.write(self.read())


class Server:
    """On a thread of its own until `close`; `python` is what the next page meets."""

    def __init__(self):
        started = threading.Event()
        self.thread = threading.Thread(target=asyncio.run, args=(self._serve(started),), daemon=True)
        self.thread.start()
        started.wait()

    async def _serve(self, started):
        self.loop, self.over = asyncio.get_running_loop(), asyncio.Event()
        self.app = tornado.web.Application(
            [
                ("/", Text, {"kind": "text/html", "read": lambda: PAGE}),
                ("/script", Text, {"kind": "text/javascript", "read": SCRIPT.read_text}),
                ("/socket", Socket),
            ],
            websocket_max_message_size=2**30,
        )
        sockets = tornado.netutil.bind_sockets(0, "127.0.0.1")
        server = tornado.httpserver.HTTPServer(self.app)
        server.add_sockets(sockets)
        self.url = f"http://127.0.0.1:{sockets[0].getsockname()[1]}/"
        started.set()
        await self.over.wait()
        server.stop()

    def close(self):
        self.loop.call_soon_threadsafe(self.over.set)
        self.thread.join()

    def open(self, page):
        """A new Python, and the page of it."""
        self.app.python = python = Python(self.loop)
        page.goto(self.url)
        page.evaluate("async () => { await window.__open; }")
        page.python = python
        return python


def in_notebook(monkeypatch, variables):
    """As if a notebook had these variables."""
    shell = SimpleNamespace(user_ns=variables, user_ns_hidden={}, events=SimpleNamespace(trigger=lambda *_: None))
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: shell)


def own_comms(monkeypatch, python):
    """Widgets that are made from here on talk to that page."""
    monkeypatch.setattr(comm, "create_comm", python.comm)
