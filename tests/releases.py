"""The Python tests, and a drag in each lab, with other releases than constraints.txt names, each in its environment.

    python -m tests.releases oldest newest torch       makes .venv-oldest and so on; wants a network

oldest, newest : the lowest and the highest releases that pyproject.toml allows. The core alone is installed beside what
    the tests need, as torch and its kin ask for releases of their own
torch : torch and torchvision as the index serves them (a build for GPUs: 5.5 GB), with torchmetrics and clean-fid,
    which import only beside a torchvision that does
"""

import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
PYTEST = ["-n", "auto", "--maxprocesses=4", "--dist", "loadfile", "--no-loadscope-reorder", "--ignore=tests/browser"]
LEGS = ("oldest", "newest", "torch")
# One build of both: torch names its release in its metadata without what `torch.__version__` adds, such as +cu130.
PAIR = ("torch==2.14.1", "torchvision==0.29.1")
IMPORTS = "import torch, torchvision, torchmetrics, cleanfid, pytorch_fid, torch_fidelity; print(torch.__version__)"
# One handle of each lab is dragged in JupyterLab; without a Chromium these skip, by name.
BROWSER = ["-n0", "-m", "", "tests/browser/test_frontends.py", "-k", "every_front_end and jupyterlab"]


def oldest():
    """The lowest release of each dependency: "numpy>=2.1" as "numpy==2.1.*"."""
    found = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = [*found["dependencies"], *found["optional-dependencies"]["lab"]]
    pairs = [re.fullmatch(r"([\w-]+)>=([\d.]+)", line).groups() for line in lines]
    return [f"{name}=={release}.*" for name, release in pairs]


def without_pair(constraints):
    """The lines of constraints.txt that do not name a package of PAIR."""
    names = {wanted.partition("==")[0] for wanted in PAIR}
    return [line for line in constraints.splitlines() if line.partition("==")[0] not in names]


def installs(which, home):
    """What pip installs, one list of arguments after the other."""
    if which != "torch":
        return [["--upgrade", "-e", ".[lab,test]", *(oldest() if which == "oldest" else [])]]
    constraints = home / "constraints.txt"
    constraints.write_text("\n".join(without_pair((ROOT / "constraints.txt").read_text("utf-8"))), "utf-8")
    return [[*PAIR], ["-c", str(constraints), *PAIR, "-e", ".[images,transport,cluster,lab,test,bench]"]]


def run(which):
    """Whether all tests passed."""
    home = ROOT / f".venv-{which}"
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    for arguments in installs(which, home):
        subprocess.run([*pip, "install", *arguments], cwd=ROOT, check=True)
    print(f"\n== {'the pair of ' * (which == 'torch')}{which}{' releases' * (which != 'torch')}", flush=True)
    subprocess.run([*pip, "list"], cwd=ROOT, check=True)
    if which == "torch":
        subprocess.run([python, "-c", IMPORTS], cwd=ROOT, check=True)
    return not any([subprocess.run([python, "-m", "pytest", *args], cwd=ROOT).returncode for args in (PYTEST, BROWSER)])


if __name__ == "__main__":
    if set(sys.argv[1:]) - set(LEGS) or not sys.argv[1:]:
        sys.exit(f"Give some of {', '.join(LEGS)}")
    sys.exit(not all([run(which) for which in sys.argv[1:]]))
