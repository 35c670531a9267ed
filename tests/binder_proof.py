"""Whether Binder would work: an environment made from binder/ alone runs every notebook, and in how much memory.

    python -m tests.binder_proof        makes it in a temporary folder, by the Python of binder/runtime.txt where there
                                        is one, and prints a line a notebook; minutes, and pip's way to its index

What Docker would add, an image of the system, is repo2docker's own: tests/test_binder.py has it read the folder.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil

from tests import ROOT

LIMIT = 2 * 2**30  # bytes, of which Binder stops a session
EVERY = 0.05  # seconds between two looks at the memory


class Run(NamedTuple):
    """A notebook that was run in the environment."""

    name: str
    cpu: float  # seconds
    peak: int  # bytes: resident, the kernel and what runs it, pages that they share counted twice
    failure: str  # "" where it ran


def python_of_binder() -> str:
    """The Python that binder/runtime.txt names, or this one where there is no such."""
    version = (ROOT / "binder/runtime.txt").read_text().strip().removeprefix("python-")
    command = shutil.which(f"python{version}")
    works = command and subprocess.run([command, "--version"], capture_output=True).returncode == 0
    return str(command) if works else sys.executable


def made(folder: Path, python: str) -> tuple[Path, Path]:
    """(the copy of what git knows, the folder of the commands of its environment), as repo2docker makes them."""
    copy, environment = folder / "repository", folder / "environment"
    for name in subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")[:-1]:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name)
    subprocess.run([python, "-m", "venv", environment], check=True)
    commands = environment / "bin"
    path = {**os.environ, "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}"}
    for word in ("PYTHONPATH", "VIRTUAL_ENV"):
        path.pop(word, None)
    install = [commands / "python", "-m", "pip", "install", "--quiet", "-r", "binder/requirements.txt"]
    for command in (install, ["./binder/postBuild"]):
        subprocess.run(command, cwd=copy, env=path, check=True)
    return copy, commands


def resident(process: psutil.Process) -> int:
    """Bytes in memory of a process and those that it started."""
    total = 0
    for one in [process, *process.children(recursive=True)]:
        with contextlib.suppress(psutil.NoSuchProcess):
            total += one.memory_info().rss
    return total


def run(notebook: Path, commands: Path) -> Run:
    """Run it as Jupyter does, and look at its memory meanwhile."""
    command = [commands / "jupyter", "nbconvert", "--to", "notebook", "--execute", "--stdout", notebook.name]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    clean["PATH"] = f"{commands}{os.pathsep}{clean['PATH']}"
    before, peak = os.times(), 0
    with tempfile.TemporaryFile("w+") as said:
        started = subprocess.Popen(command, cwd=notebook.parent, env=clean, stdout=subprocess.DEVNULL, stderr=said)
        process = psutil.Process(started.pid)
        while started.poll() is None:
            with contextlib.suppress(psutil.NoSuchProcess):
                peak = max(peak, resident(process))
            time.sleep(EVERY)
        said.seek(0)
        failure = said.read()[-3000:] if started.returncode else ""
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Run(notebook.stem, cpu, peak, failure)


def prove(folder: Path) -> list[Run]:
    """Each notebook of the repository, run in an environment made from binder/ alone."""
    copy, commands = made(folder, python_of_binder())
    found = []
    for notebook in sorted((copy / "notebooks").glob("*.ipynb")):
        found.append(run(notebook, commands))
        verdict = "FAILED\n" + found[-1].failure if found[-1].failure else "ran"
        print(f"{found[-1].name:28} {found[-1].peak / 2**20:6.0f} MB {found[-1].cpu:6.1f} s  {verdict}", flush=True)
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        runs = prove(Path(place))
    sys.exit(any(one.failure or one.peak >= LIMIT for one in runs))
