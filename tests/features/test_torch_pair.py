"""A torchvision of another build than torch is named with the command that mends it, at set-up and by extractors."""

import os
import re
import subprocess
import sys
from importlib import metadata

import pytest

from nbmetrics.features.torch_environment import torchvision_fix
from tests import ROOT, releases
from tests.slow import by_default

EXTRACT = """
import numpy as np, nbmetrics as nm
try:
    nm.extract(np.zeros((2, 8, 8), np.uint8), "inception-v3-compat", weights={"any": 0})
except nm.InvalidInput as error:
    print(error.argument, error.seen, error.fix, sep="\\n")
"""
# How torchvision fails beside a torch of another build, or of another release.
FAILURES = {
    "operators": "raise RuntimeError('operator torchvision::nms does not exist')",
    "symbols": "raise ImportError('libtorch.so: undefined symbol: _ZN2at')",
    "an older torch": "raise AttributeError(\"module 'torch.library' has no attribute 'register_fake'\")",
}
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
BOTH = "pip install --force-reinstall torch torchvision"
ONE = "pip install --force-reinstall --no-deps torchvision=="


@pytest.fixture
def beside(tmp_path):
    """beside(body, torch, *command): output of Python where torchvision 9.0 has this body, and wants this torch."""

    def run(body, torch, *command):
        package, about = tmp_path / "torchvision", tmp_path / "torchvision-9.0.dist-info"
        package.mkdir()
        about.mkdir()
        (package / "__init__.py").write_text(body, "utf-8")
        wanted = f"Metadata-Version: 2.1\nName: torchvision\nVersion: 9.0\nRequires-Dist: torch (=={torch})\n"
        (about / "METADATA").write_text(wanted, "utf-8")
        settings = {**os.environ, "PYTHONPATH": str(tmp_path)}
        done = subprocess.run([sys.executable, *command], cwd=ROOT, env=settings, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.mark.parametrize(
    ("torch", "torchvision", "wants", "command"),
    [
        ("2.13.0+cpu", "0.28.0", "torch (==2.13.0)", f"{ONE}0.28.0+cpu,"),
        ("2.13.0", "0.28.0+cpu", "torch==2.13.0", f"{ONE}0.28.0,"),
        ("2.13.0+cu130", "0.28.0+cpu", "torch==2.13.0", f"{ONE}0.28.0+cu130,"),
        ("2.12.0+cpu", "0.28.0+cpu", "torch==2.13.0", BOTH),
        ("2.13.0", "0.28.0", "torch>=2", BOTH),
    ],
)
def test_the_command_installs_the_build_of_torch(monkeypatch, torch, torchvision, wants, command):
    monkeypatch.setattr(metadata, "version", {"torch": torch, "torchvision": torchvision}.get)
    monkeypatch.setattr(metadata, "requires", lambda name: ["numpy", "torchaudio (==9)", wants])
    assert command in torchvision_fix()


@pytest.mark.parametrize("failure", by_default(FAILURES, "operators"))
def test_an_extractor_names_both_versions_and_the_command(beside, failure):
    pytest.importorskip("torch", reason="pip install nbmetrics[images]")
    installed = metadata.version("torch")  # of the public index: 2.14.1, and __version__ 2.14.1+cu130
    argument, seen, fix = beside(FAILURES[failure], installed.partition("+")[0], "-c", EXTRACT).splitlines()
    assert argument == "extractor" and f"torchvision 9.0 does not import beside torch {installed}" in seen
    assert ONE in fix


def test_set_up_says_it(beside):
    pytest.importorskip("torch", reason="pip install nbmetrics[images]")
    told = beside(FAILURES["operators"], "0.1", "-m", "tests.torch_pair")
    assert "NOTE: torchvision 9.0 does not import" in told and "nms does not exist" in told
    assert f"Run: {sys.executable} -m {BOTH}" in told
    assert "@$(bin)/python -m tests.torch_pair" in (ROOT / "Makefile").read_text("utf-8")


def test_set_up_says_nothing_of_a_pair_that_imports(beside):
    assert beside("", "0.1", "-m", "tests.torch_pair") == ""


def test_the_leg_of_make_test_releases_installs_one_pair_first():
    constraints = (ROOT / "constraints.txt").read_text("utf-8")
    rest = releases.without_pair(constraints)
    assert {"torch_fidelity==0.4.0", "torchmetrics==1.9.0"} <= set(rest)
    assert set(constraints.splitlines()) - set(rest) == {
        line for line in constraints.splitlines() if line.startswith(("torch==", "torchvision=="))
    }
    assert "torch" in releases.LEGS and "torch" in re.search(r"^RELEASES = (.*)$", MAKEFILE, re.M)[1].split()


@pytest.mark.parametrize("torch", ["2.14.1", "2.14.1+cpu"])
def test_the_release_is_that_of_the_metadata(monkeypatch, torch):
    """The public index names no build there, though `torch.__version__` does."""
    monkeypatch.setattr(metadata, "version", {"torch": torch, "torchvision": "0.29.0"}.get)
    monkeypatch.setattr(metadata, "requires", lambda name: ["torch==2.14.1"])
    assert f"{ONE}0.29.0{torch.removeprefix('2.14.1')}," in torchvision_fix()
