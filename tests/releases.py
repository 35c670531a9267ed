"""The Python tests, and a drag in each lab, with the oldest or the newest releases that pyproject.toml allows.

    python -m tests.releases oldest newest       makes .venv-oldest and .venv-newest; wants a network

The core alone is installed beside what the tests need, as torch and its kin ask for releases of their own.
"""

import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
PYTEST = ["-n", "auto", "--maxprocesses=4", "--dist", "loadfile", "--no-loadscope-reorder", "--ignore=tests/browser"]
# One handle of each lab is dragged in JupyterLab; without a Chromium these skip, by name.
BROWSER = ["-n0", "-m", "", "tests/browser/test_frontends.py", "-k", "every_front_end and jupyterlab"]


def oldest():
    """The lowest release of each dependency: "numpy>=2.1" as "numpy==2.1.*"."""
    found = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = [*found["dependencies"], *found["optional-dependencies"]["lab"]]
    pairs = [re.fullmatch(r"([\w-]+)>=([\d.]+)", line).groups() for line in lines]
    return [f"{name}=={release}.*" for name, release in pairs]


def run(which):
    """Whether all tests passed."""
    home = ROOT / f".venv-{which}"
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
    wanted = oldest() if which == "oldest" else []
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    subprocess.run([*pip, "--upgrade", "-e", ".[lab,test]", *wanted], cwd=ROOT, check=True)
    print(f"\n== the {which} releases", flush=True)
    subprocess.run([*pip[:-2], "list"], cwd=ROOT, check=True)
    return not any([subprocess.run([python, "-m", "pytest", *args], cwd=ROOT).returncode for args in (PYTEST, BROWSER)])


if __name__ == "__main__":
    unknown = set(sys.argv[1:]) - {"oldest", "newest"}
    if unknown or not sys.argv[1:]:
        sys.exit("Give oldest, newest or both")
    sys.exit(not all([run(which) for which in sys.argv[1:]]))
