"""What Binder would build, as repo2docker reads it; no Docker is needed for that."""

import importlib.util
import os
import re
import subprocess
import sys
import tomllib

import pytest

from tests import ROOT

HEAVY = {"torch", "torchvision", "torch-fidelity", "torchmetrics", "pytorch-fid", "clean-fid", "prdc"}


def pins(path):
    lines = [line.split("#")[0].strip() for line in path.read_text().splitlines()]
    found = dict(line.split("==") for line in lines if line)
    return {re.sub("[-_.]+", "-", name).lower(): version for name, version in found.items()}


BINDER = pins(ROOT / "binder" / "requirements.txt")


def test_binder_pins_are_the_tested_ones():
    tested = pins(ROOT / "constraints.txt")
    assert {name: tested.get(name) for name in BINDER} == BINDER


def test_binder_has_every_base_dependency_and_no_torch():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    base = {re.match("[A-Za-z0-9-]+", requirement)[0].lower() for requirement in project["dependencies"]}
    assert base <= set(BINDER)
    assert not HEAVY & set(BINDER)


def test_post_build_can_run():
    assert os.access(ROOT / "binder" / "postBuild", os.X_OK)


@pytest.mark.skipif(
    importlib.util.find_spec("repo2docker") is None,
    reason="no repo2docker; pip install jupyter-repo2docker, then make test-python",
)
def test_repo2docker_reads_binder():
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", "."]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    assert "python=3.12" in ran.stderr
    assert 'pip install --no-cache-dir -r "binder/requirements.txt"' in ran.stdout
    assert "RUN ./binder/postBuild" in ran.stdout
    assert not re.search(r"\btorch", ran.stdout)
