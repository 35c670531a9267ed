"""Whether what is here could be released: `make release-check`, or `python -m tests.release`.

Builds sdist and wheel of the files that git tracks, installs the wheel alone into a fresh environment and tries it
there. Nothing but pip's index is asked, for the build tool and the dependencies.
"""

import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

from . import ROOT

# What a user of the bare package does first; run in the fresh environment, so nothing of this tree is near.
TRIED = """
import sys
from pathlib import Path

import nbmetrics as nm

assert Path(nm.__file__).is_relative_to(sys.prefix), nm.__file__
clients = {"north": nm.Gaussian([-1, 0]), "south": nm.Gaussian([1, 0])}
generators = {"narrow": nm.Gaussian([0, 0], [1, 1]), "wide": nm.Gaussian([0, 0], [2, 1])}
found = nm.evaluate(clients, generators, "fid").inversions("fid")
assert found["avg_prefers"].tolist() == ["narrow"], found
for name in nm.__all__:
    getattr(nm, name)
given = {"Dashboard": (clients, generators), "Monitor": (clients,)}
for name in nm.labs.__all__:
    page = getattr(nm, name)(*given.get(name, ())).export_html(f"{name}.html").read_text("utf-8")
    assert name in page and "</html>" in page, name
    print(f"{name} {len(page) / 1e6:.2f} MB")
heavy = {"torch", "dask", "jupyterlab"} & sys.modules.keys()
assert not heavy, heavy
"""


class Failed(Exception):
    """A check that did not hold, and why."""


def run(*command, folder):
    """A command's output; Failed with its last lines where it ends badly."""
    done = subprocess.run([*map(str, command)], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise Failed("\n".join(done.stdout.splitlines()[-15:]))
    return done.stdout


def tracked(root=ROOT):
    """The files that git tracks, as paths from the root."""
    return subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True).stdout.split(
        "\0"
    )[:-1]


def packed(wheel):
    """{path: bytes} of a wheel, without what pip made of it."""
    with zipfile.ZipFile(wheel) as file:
        return {name: file.read(name) for name in file.namelist() if not name.endswith("/RECORD")}


def same(first, second):
    """Raise Failed where two {path: bytes} differ, naming up to five paths."""
    odd = sorted(path for path in first.keys() | second.keys() if first.get(path) != second.get(path))
    if odd:
        raise Failed(f"{len(odd)} files differ or are on one side only: {', '.join(odd[:5])}")


def versions():
    """Every place that says the version, and what it says."""
    places = {"pyproject.toml": r'^version = "(.+)"', "nbmetrics/__init__.py": r'^__version__ = "(.+)"'}
    places |= {"CITATION.cff": r"^version: (.+)", "CHANGELOG.md": r"^## \[(.+?)\]"}
    return {path: re.search(rule, (ROOT / path).read_text("utf-8"), re.MULTILINE)[1] for path, rule in places.items()}


class Release:
    """One run of all checks in a temporary folder; each method is a check that returns what it saw."""

    def __init__(self, folder):
        self.folder, self.tree, self.dist = folder, folder / "tree", folder / "dist"
        self.python = folder / "bare" / ("Scripts" if sys.platform == "win32" else "bin") / "python"

    def one_version(self):
        """The version is the same everywhere"""
        if len(set(found := versions().values())) > 1:
            raise Failed(str(versions()))
        return next(iter(found))

    def build(self):
        """The sdist is built of what git tracks, and a wheel of the sdist"""
        self.files = tracked()
        for path in self.files:
            (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, self.tree / path)
        run(sys.executable, "-m", "build", "--outdir", self.dist, folder=self.tree)
        (self.sdist,), (self.wheel,) = self.dist.glob("*.tar.gz"), self.dist.glob("*.whl")
        return ", ".join(f"{path.name} {path.stat().st_size / 1e6:.1f} MB" for path in (self.sdist, self.wheel))

    def same_wheel(self):
        """A wheel of the tree itself is the same, file by file"""
        run(sys.executable, "-m", "build", "--wheel", "--outdir", self.folder / "again", folder=self.tree)
        (again,) = (self.folder / "again").glob("*.whl")
        same(packed(self.wheel), packed(again))
        return f"{len(packed(again))} files"

    def whole_wheel(self):
        """The wheel holds what git has under nbmetrics, and nothing else"""
        ours = {path: data for path, data in packed(self.wheel).items() if ".dist-info/" not in path}
        here = [path for path in self.files if path.startswith("nbmetrics/")]
        same(ours, {path: (self.tree / path).read_bytes() for path in here})
        return f"{len(here)} files"

    def whole_sdist(self):
        """The sdist holds what git tracks"""
        with tarfile.open(self.sdist) as file:
            names = {name.partition("/")[2] for name in file.getnames()}
        if missing := sorted(set(self.files) - names):
            raise Failed(f"{len(missing)} files are missing: {', '.join(missing[:5])}")
        return f"{len(names)} files"

    def described(self):
        """twine accepts the description and the fields"""
        run(sys.executable, "-m", "twine", "check", "--strict", self.sdist, self.wheel, folder=self.folder)

    def installed(self):
        """The wheel and its dependencies alone are installed"""
        run(sys.executable, "-m", "venv", self.folder / "bare", folder=self.folder)
        run(
            self.python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            self.wheel,
            folder=self.folder,
        )
        return (
            f"{len(run(self.python, '-m', 'pip', 'list', '--format=freeze', folder=self.folder).splitlines())} packages"
        )

    def tried(self):
        """There, scores are computed, every lab opens and saves its page, and nothing heavy is imported"""
        (self.folder / "tried.py").write_text(TRIED, "utf-8")
        return ", ".join(run(self.python, "-I", "tried.py", folder=self.folder).splitlines())

    def commanded(self):
        """There, the command lists the experiments"""
        listed = run(self.python.with_name("nbmetrics"), "experiments", "--list", folder=self.folder)
        if "gaussian_toy" not in listed:
            raise Failed(listed)


CHECKS = (
    "one_version",
    "build",
    "same_wheel",
    "whole_wheel",
    "whole_sdist",
    "described",
    "installed",
    "tried",
    "commanded",
)


def main():
    """Print each check with what it saw and its time; 1 at the first that does not hold, as the next ones need it."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        release = Release(Path(folder))
        for name in CHECKS:
            check, start = getattr(release, name), time.monotonic()
            try:
                seen = check()
            except Failed as why:
                print(f"FAILED  {check.__doc__}\n{why}")
                return 1
            print(f"ok  {check.__doc__}{f': {seen}' if seen else ''}   ({time.monotonic() - start:.0f} s)", flush=True)
    print(f"release-check passed in {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
