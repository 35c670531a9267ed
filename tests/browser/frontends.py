"""The servers that a lab is opened on, and a notebook run in a page of its own on any of them.

As after run_cells, `window.__panel` is the notebook, where the front end has one.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest

SERVER_CONFIG = Path(__file__).parent.parent.parent / "binder"
# As `make lab` starts JupyterLab: without a grammar of web addresses, which takes seconds.
RUN = """import runpy, sys
sys.modules["rfc3987_syntax"] = None
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)"""
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
START = "() => { window.__ran = window.jupyterapp.commands.execute('notebook:run-all-cells'); }"
RESULTS = """async () => { await window.__ran;
  return window.__panel.content.widgets.filter(c => c.model.type === 'code')
    .map(c => ({ count: c.model.executionCount, outputs: c.model.outputs.toJSON() })); }"""
# What the address opened, once its kernel can run something.
FIND = """async () => {
  const until = async test => { while (!test()) await new Promise(r => setTimeout(r, 20)); };
  await until(() => window.jupyterapp);
  await window.jupyterapp.restored;
  const { shell } = window.jupyterapp;
  await until(() => shell.currentWidget && shell.currentWidget.sessionContext);
  const panel = window.__panel = shell.currentWidget;
  await panel.context.ready; await panel.sessionContext.ready;
  const kernel = () => panel.sessionContext.session && panel.sessionContext.session.kernel;
  await until(() => kernel() && kernel().connectionStatus === 'connected' && kernel().status === 'idle');
}"""


class Server(NamedTuple):
    url: str
    work: Path  # the folder with the notebooks
    process: subprocess.Popen

    def request(self, method, path):
        with urllib.request.urlopen(urllib.request.Request(self.url + path, method=method)) as reply:
            return json.loads(reply.read() or "null")


def server_environment(root, config, windowing):
    settings = root / "config" / "labconfig" / "default_setting_overrides.json"
    settings.parent.mkdir(parents=True)
    overrides = {"@jupyterlab/docmanager-extension:plugin": {"autosave": False}}
    if windowing:
        overrides["@jupyterlab/notebook-extension:tracker"] = {"windowingMode": windowing}
    if not config:  # a question that would cover the first picture; our settings answer it
        overrides["@jupyterlab/apputils-extension:notification"] = {"fetchNews": "false", "checkForUpdates": False}
    settings.write_text(json.dumps(overrides))
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "run",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    private = {name: str(root / folder) for name, folder in folders.items()}
    return {**os.environ, **private, "JUPYTER_CONFIG_PATH": str(config)}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextmanager
def serving(
    root: Path, command: tuple[str, ...], config: Path | str = SERVER_CONFIG, windowing: str = "none"
) -> Iterator[Server]:
    """One of the commands below, in a process group of its own.

    With config="" it is without our settings; with windowing="" JupyterLab attaches cells as it usually does.
    """
    work, log, port = root / "work", root / "server.log", free_port()
    work.mkdir()
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-c", RUN, *(word.format(port=port, work=work) for word in command)],
            stdout=out,
            stderr=subprocess.STDOUT,
            env=server_environment(root, config, windowing),
            start_new_session=True,
        )
    server = Server(f"http://127.0.0.1:{port}", work, process)
    try:
        wait_for(server, log)
        yield server
    finally:
        end(process)


def end(process):
    """Its whole group, which was made here: asked to go, and after a while made to."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:  # a kernel that is busy holds the server up
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


def wait_for(server, log, seconds=60):
    deadline = time.monotonic() + seconds
    while True:
        if server.process.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"{server.process.args} did not start:\n" + log.read_text()[-3000:])
        try:
            with urllib.request.urlopen(server.url):
                return
        except OSError:
            time.sleep(0.1)


JUPYTER = (
    "--no-browser",
    "--allow-root",
    "--expose-app-in-browser",
    "--ip=127.0.0.1",
    "--port={port}",
    "--ServerApp.port_retries=0",
    "--IdentityProvider.token=",
    "--ServerApp.password=",
    "--ServerApp.disable_check_xsrf=True",
    "--ServerApp.root_dir={work}",
)
JUPYTERLAB = ("jupyterlab", *JUPYTER, "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate")
NOTEBOOK_7 = ("notebook", *JUPYTER)
VOILA = ("voila", "{work}", "--no-browser", "--port={port}", "--Voila.ip=127.0.0.1", "--Voila.token=")


def write_notebook(server, name, sources):
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=KERNEL), server.work / name)


def watched(page):
    """The page, which now keeps what it throws."""
    page.nbmetrics_errors = []
    page.on("pageerror", lambda error: page.nbmetrics_errors.append(f"{error}\n{error.stack}"))
    return page


def assert_ran(page):
    """Wait until the run that START began is over; no cell failed."""
    ran = page.evaluate(RESULTS)
    failed = [o for cell in ran for o in cell["outputs"] if o["output_type"] == "error"]
    assert all(cell["count"] for cell in ran) and not failed, ran


def open_notebook(context, server, name, *sources, path="/notebooks/{}"):
    write_notebook(server, name, sources)
    page = watched(context.new_page())
    page.goto(server.url + path.format(name))
    page.evaluate(FIND)
    page.nbmetrics_errors.clear()  # Notebook 7.6 throws one of its own while it loads its shortcuts
    page.evaluate(START)
    assert_ran(page)
    return page


def open_voila(context, server, name, *sources):
    write_notebook(server, name, sources)
    page = watched(context.new_page())
    page.set_default_timeout(120_000)  # it starts a kernel and runs the notebook first
    page.goto(f"{server.url}/voila/render/{name}")
    return page


def end_sessions(server):
    for session in server.request("GET", "/api/sessions"):
        with suppress(urllib.error.HTTPError):  # it has ended meanwhile
            server.request("DELETE", f"/api/sessions/{session['id']}")
