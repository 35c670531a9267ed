"""A real JupyterLab, driven in headless Chromium.

One server and one page serve the session; every test gets a fresh notebook and kernel:

    def test_drag(run_cells, kernel, theme, shot):
        page = run_cells("import nbmetrics as nm", "lab = nm.Playground(); lab")
        page.get_by_role("slider", name="A mean").press("ArrowRight")
        theme("JupyterLab Dark"); shot("playground-dark"); kernel.kill()

`run_cells(..., wait=False)` comes back while the cells still run; `check=False` lets cells fail.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import NamedTuple

import nbformat
import psutil
import pytest

HERE = Path(__file__).parent
SERVER_CONFIG = HERE.parent.parent / "binder"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC_APPS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_chromium():
    candidates = [os.environ.get("CHROMIUM"), *map(shutil.which, NAMES), *MAC_APPS]
    return next((path for path in candidates if path and os.access(path, os.X_OK)), None)


def pytest_collection_modifyitems(items):
    absent = find_chromium() is None
    reason = "no Chromium found: install chromium or set CHROMIUM to its path, then make test-browser"
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")
            if absent:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    return {**browser_type_launch_args, "executable_path": find_chromium(), "args": QUIET}


class Server(NamedTuple):
    url: str
    work: Path  # the folder JupyterLab shows
    process: subprocess.Popen

    def request(self, method, path):
        with urllib.request.urlopen(urllib.request.Request(self.url + path, method=method)) as reply:
            return json.loads(reply.read() or "null")


def server_environment(root):
    settings = root / "config" / "labconfig" / "default_setting_overrides.json"
    settings.parent.mkdir(parents=True)
    overrides = {
        "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
        "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
        "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
    }
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
    return {**os.environ, **private, "JUPYTER_CONFIG_PATH": str(SERVER_CONFIG)}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.fixture(scope="session")
def lab_server(tmp_path_factory):
    root = tmp_path_factory.mktemp("lab")
    work, log, port = root / "work", root / "server.log", free_port()
    work.mkdir()
    options = [
        "--no-browser",
        "--allow-root",
        "--expose-app-in-browser",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=",
        "--ServerApp.password=",
        "--ServerApp.disable_check_xsrf=True",
        f"--ServerApp.root_dir={work}",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options],
            stdout=out,
            stderr=subprocess.STDOUT,
            env=server_environment(root),
            start_new_session=True,
        )
    server = Server(f"http://127.0.0.1:{port}", work, process)
    try:
        wait_for(server, log)
        yield server
    finally:
        os.killpg(process.pid, signal.SIGTERM)  # the group made here, nothing else
        process.wait(10)


def wait_for(server, log, seconds=60):
    deadline = time.monotonic() + seconds
    while True:
        if server.process.poll() is not None or time.monotonic() > deadline:
            pytest.fail("JupyterLab did not start:\n" + log.read_text()[-3000:])
        try:
            return server.request("GET", "/api/status")
        except OSError:
            time.sleep(0.1)


# The "idle" indicator alone can match before a kernel exists, and run-all then does nothing:
# wait for the session and its kernel, and let run_cells check that every cell really ran.
OPEN = """async path => {
  const app = window.jupyterapp;
  const p = await app.commands.execute('docmanager:open', { path, factory: 'Notebook' });
  window.__panel = p;
  await p.context.ready; await p.sessionContext.ready;
  const kernel = () => p.sessionContext.session && p.sessionContext.session.kernel;
  while (!(kernel() && kernel().connectionStatus === 'connected' && kernel().status === 'idle'))
    await new Promise(r => setTimeout(r, 20));
}"""
START = "() => { window.__ran = window.jupyterapp.commands.execute('notebook:run-all-cells'); }"
RESULTS = """async () => { await window.__ran;
  return window.__panel.content.widgets.filter(c => c.model.type === 'code')
    .map(c => ({ count: c.model.executionCount, outputs: c.model.outputs.toJSON() })); }"""
CLOSE = "() => { if (window.__panel) { window.__panel.dispose(); window.__panel = null; } }"
KERNEL_ID = "() => window.__panel.sessionContext.session.kernel.id"
# JupyterLab hides the page behind its splash while it loads a theme's styles.
SET_THEME = """async theme => {
  await window.jupyterapp.commands.execute('apputils:change-theme', { theme });
  while (document.body.dataset.jpThemeName !== theme || document.getElementById('jupyterlab-splash'))
    await new Promise(r => setTimeout(r, 20)); }"""


@pytest.fixture(scope="session")
def lab_page(browser, lab_server):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.nbmetrics_errors = []  # run_cells looks at it after every test
    page.on("pageerror", lambda error: page.nbmetrics_errors.append(str(error)))
    page.goto(f"{lab_server.url}/lab?reset")
    page.wait_for_function("() => window.jupyterapp && window.jupyterapp.restored.then(() => true)")
    page.wait_for_selector("#jupyterlab-splash", state="detached")
    yield page
    context.close()


@pytest.fixture
def run_cells(lab_page, lab_server, request):
    """run_cells(*sources, wait=True, check=True) -> page, in a new notebook with a new kernel."""
    stem = "".join(c if c.isalnum() or c in "-_" else "_" for c in request.node.name)
    opened = []
    lab_page.nbmetrics_errors.clear()

    def run(*sources, wait=True, check=True):
        lab_page.evaluate(CLOSE)
        name = f"{stem}-{len(opened)}.ipynb"
        opened.append(name)
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(source) for source in sources],
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        )
        nbformat.write(notebook, lab_server.work / name)
        lab_page.evaluate(OPEN, name)
        lab_page.evaluate(START)
        if wait:
            ran = lab_page.evaluate(RESULTS)
            failed = [o for cell in ran for o in cell["outputs"] if o["output_type"] == "error"]
            assert not check or (all(cell["count"] for cell in ran) and not failed), ran
        return lab_page

    yield run
    errors = list(lab_page.nbmetrics_errors)
    lab_page.evaluate(CLOSE)
    for session in lab_server.request("GET", "/api/sessions"):
        lab_server.request("DELETE", f"/api/sessions/{session['id']}")
    assert not errors, f"the page threw: {errors}"


class Kernel:
    """The kernel of the notebook that run_cells opened last."""

    def __init__(self, server, page):
        self.server, self.page = server, page
        self.frozen = []

    @property
    def id(self):
        return self.page.evaluate(KERNEL_ID)

    @property
    def pid(self):
        mark = f"kernel-{self.id}.json"
        family = psutil.Process(self.server.process.pid).children(recursive=True)
        return next(p.pid for p in family if any(mark in word for word in p.cmdline()))

    def interrupt(self):
        self.server.request("POST", f"/api/kernels/{self.id}/interrupt")

    def restart(self):
        self.server.request("POST", f"/api/kernels/{self.id}/restart")

    def shut_down(self):
        """Gone for good, in order."""
        self.server.request("DELETE", f"/api/kernels/{self.id}")

    def kill(self):
        """As the memory killer would; Jupyter starts another under the same id after a few seconds."""
        os.kill(self.pid, signal.SIGKILL)

    def freeze(self):
        """Alive, and answering nothing."""
        self.frozen.append(self.pid)
        os.kill(self.frozen[-1], signal.SIGSTOP)

    def thaw(self):
        for pid in filter(psutil.pid_exists, self.frozen):
            os.kill(pid, signal.SIGCONT)
        self.frozen.clear()


@pytest.fixture
def kernel(lab_server, lab_page, run_cells):
    kernel = Kernel(lab_server, lab_page)
    yield kernel
    kernel.thaw()  # a stopped kernel would hold up its own shutdown


@pytest.fixture
def theme(lab_page):
    """theme("JupyterLab Dark"); light again after the test."""
    yield lambda name: lab_page.evaluate(SET_THEME, name)
    lab_page.evaluate(SET_THEME, "JupyterLab Light")


@pytest.fixture
def shot(lab_page):
    """shot(name, locator=None): a picture in tests/browser/shots to look at."""

    def take(name, locator=None):
        path = HERE / "shots" / f"{name}.png"
        (locator or lab_page).screenshot(path=path)
        return path

    return take
