"""What Binder would build, as repo2docker reads it; no Docker is needed for that."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests import ROOT
from tests.binder_proof import LIMIT, prove

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


def test_post_build_gives_the_server_all_of_our_settings(tmp_path):
    """With a Python that installs nothing and says that it lives in a folder of the test's own."""
    fake = tmp_path / "bin" / "python"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\n[ "$1" != -c ] || echo {tmp_path}\n')
    fake.chmod(0o755)
    path = f"{fake.parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(["./binder/postBuild"], cwd=ROOT, env={**os.environ, "PATH": path}, check=True)
    for name in ("jupyter_server_config.py", "labconfig/default_setting_overrides.json"):
        assert (tmp_path / "etc/jupyter" / name).read_bytes() == (ROOT / "binder" / name).read_bytes()


def test_settings_of_jupyterlab_are_known_to_it_and_not_its_defaults():
    pytest.importorskip("jupyterlab")
    ours = json.loads((ROOT / "binder/labconfig/default_setting_overrides.json").read_text())
    for plugin, settings in ours.items():
        schema = plugin.replace(":", "/") + ".json"
        found = next(path for path in Path(sys.prefix, "share/jupyter").rglob(schema))
        known = json.loads(found.read_text("utf-8"))["properties"]
        assert all(known[name]["default"] != value for name, value in settings.items())


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(os.name != "posix", reason="postBuild is a shell script; run it on Linux or macOS")
def test_an_environment_of_binder_alone_runs_every_notebook(tmp_path):
    runs = prove(tmp_path)
    assert len(runs) == len(list((ROOT / "notebooks").glob("*.ipynb")))
    assert {one.name: one.failure for one in runs if one.failure} == {}
    assert max(one.peak for one in runs) < LIMIT
