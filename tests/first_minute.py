"""From `make lab`, where .venv is ready, to a Playground that was dragged: seconds, on the clock and of the processors.

    python -m tests.first_minute        prints a line a step

The page is a new Chromium's, which reads nothing it kept. On a machine that does other work the clock says little; the
seconds of the processors are those of the server and its kernels, and of the browser.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import time
import urllib.request

import psutil
from playwright.sync_api import sync_playwright

from tests import ROOT
from tests.browser.conftest import QUIET, find_chromium
from tests.browser.frontends import free_port
from tests.browser.page import drag, handle, numbers

START = "notebooks/00_start_here.ipynb"
TOKEN = "first-minute"


class Watch:
    """A line a step: since the start, and what the step took of the processors."""

    def __init__(self, server: subprocess.Popen) -> None:
        self.started, self.spent = time.monotonic(), (0.0, 0.0)
        self.server = psutil.Process(server.pid)
        print(f"{'':44}  clock  server + kernel  browser   (load average {os.getloadavg()[0]:.1f})")

    def step(self, name: str) -> None:
        """Say how far it is."""
        spent = cpu(self.server), cpu(psutil.Process(), skip=self.server)
        server, browser = (now - before for now, before in zip(spent, self.spent, strict=True))
        self.spent = spent
        print(f"{name:44} {time.monotonic() - self.started:6.1f} {server:16.1f} {browser:8.1f}", flush=True)


def cpu(process: psutil.Process, skip: psutil.Process | None = None) -> float:
    """Seconds of the processors of what it started, and of itself where nothing is to be skipped."""
    left = {one.pid for one in [skip, *skip.children(recursive=True)]} | {process.pid} if skip else set()
    total = 0.0
    for one in [process, *process.children(recursive=True)]:
        with contextlib.suppress(psutil.NoSuchProcess):
            total += sum(one.cpu_times()[:2]) if one.pid not in left else 0
    return total


def wait_for(url: str) -> None:
    """Until a server answers."""
    while True:
        with contextlib.suppress(OSError), urllib.request.urlopen(url):
            return
        time.sleep(0.05)


def measure(server: subprocess.Popen, url: str) -> None:
    """Open the notebook, run its first cell of code, drag."""
    watch = Watch(server)
    wait_for(f"{url}/api")
    watch.step("the server answers")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=QUIET)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(300_000)
        page.goto(f"{url}/lab/tree/{START}?token={TOKEN}")
        page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()
        watch.step("the notebook is there")
        page.locator(".jp-CodeCell .cm-content").first.click()
        while page.locator(".jp-CodeCell .jp-InputPrompt").first.inner_text() == "[ ]:":
            page.keyboard.press("Control+Enter")  # which JupyterLab forgets before the kernel is there
            page.wait_for_timeout(200)
        watch.step("its first cell runs")
        grip = handle(page, "Client 1 mean")
        grip.wait_for()
        watch.step("the Playground shows")
        root = page.get_by_role("group", name="Playground", exact=True)
        before = numbers(root)
        drag(page, grip, 60, -20)
        assert numbers(root) != before
        watch.step("it was dragged, and its numbers moved")
        browser.close()


if __name__ == "__main__":
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        places = {
            name: folder for name in ("JUPYTER_RUNTIME_DIR", "JUPYTERLAB_WORKSPACES_DIR", "JUPYTERLAB_SETTINGS_DIR")
        }
        settings = {**os.environ, **places, "JUPYTER_TOKEN": TOKEN, "PYTHONPATH": str(ROOT)}
        jupyter = subprocess.Popen(["make", "lab", f"PORT={port}", "BROWSER=none"], cwd=ROOT, env=settings)
        try:
            measure(jupyter, f"http://127.0.0.1:{port}")
        finally:
            jupyter.terminate()
            jupyter.wait(30)
