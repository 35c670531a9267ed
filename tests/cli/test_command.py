"""The command `nbmetrics` as a process: help, versions, exit codes, features, experiments and the cache."""

import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module

import numpy as np
import pytest

import nbmetrics as nm
from tests import ROOT

COMMAND = (sys.executable, "-m", "nbmetrics")


def process(*words, cwd=ROOT, **environment):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    run = subprocess.run([*COMMAND, *map(str, words)], cwd=cwd, capture_output=True, text=True, env=environment)
    return run.returncode, run.stdout, run.stderr


def test_the_entry_point_is_the_command():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    module, name = scripts["nbmetrics"].split(":")
    assert getattr(import_module(module), name) is nm.cli.main


def test_version():
    assert process("--version") == (0, f"nbmetrics {nm.__version__}\n", "")


@pytest.mark.parametrize("words", [(), ("score",), ("features",), ("verify",), ("cache",), ("experiments",)])
def test_help_fits_and_has_examples(words):
    code, out, err = process(*words, "--help", COLUMNS="80")
    assert code == 0 and err == "" and out.startswith("usage: nbmetrics")
    assert all(len(line) <= 80 for line in out.splitlines())
    assert (words and words[0] in {"cache", "experiments"}) or "examples:" in out


def test_help_imports_nothing_heavy():
    code = "import sys\nfrom nbmetrics.cli.options import parser\nparser().format_help()\nprint(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert not {"numpy", "pandas", "torch", "PIL"} & set(out.split())


@pytest.mark.parametrize("words", [(), ("scor",), ("score",), ("score", "a"), ("features", "a"), ("cache", "empty")])
def test_words_that_are_missing_or_wrong_end_with_2(words):
    code, out, err = process(*words)
    assert code == 2 and out == "" and err.startswith("error: ") and len(err.splitlines()) == 1
    assert re.search(r"`nbmetrics[a-z ]* --help` says more$", err)


def test_two_folders_as_pytorch_fid_takes_them(folder, tmp_path):
    folder("real", 90, 20)
    folder("fake", 130, 20)
    code, out, err = process("score", "real", "fake", "--extractor", "pixels", "--quiet", cwd=tmp_path)
    assert code == 0 and err == "" and out.startswith("FID ")


def test_without_torch_it_says_what_works(folder, tmp_path):
    folder("real", 90, 20)
    folder("fake", 130, 20)
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "sitecustomize.py").write_text(NO_TORCH, "utf-8")
    path = f"{tmp_path / 'bare'}{os.pathsep}{ROOT}"
    both = [["score", "real", "fake"], ["score", "real", "fake", "--extractor", "pixels"]]
    command = [sys.executable, "-c", f"from nbmetrics.cli import main\nprint(*[main(words) for words in {both}])"]
    environment = {**os.environ, "PYTHONPATH": path}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.stdout.startswith("FID") and run.stdout.endswith("\n2 0\n")
    assert run.stderr.startswith("error: --extractor: ")
    assert 'pip install "nbmetrics[images]", or use --extractor pixels or --extractor digits-cnn' in run.stderr


NO_TORCH = """
import importlib.util, sys

HIDDEN, find = {"torch", "torchvision", "torch_fidelity"}, importlib.util.find_spec


class Hidden:
    def find_spec(name, path=None, target=None):
        if name.split(".")[0] in HIDDEN:
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, Hidden)
importlib.util.find_spec = lambda name, *rest: None if name.split(".")[0] in HIDDEN else find(name, *rest)
"""


def test_a_reader_that_leaves_early_is_no_error(features, tmp_path):
    words = [*COMMAND, "score", "real", "narrow.npy", "wide.npy"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    run.stdout.close()
    assert run.stderr.read() == b"" and run.wait() == 0


def test_features_are_those_of_extract(folder, run, tmp_path):
    folder("pictures/a", 90, 5)
    folder("pictures/b", 130, 5)
    code, out, _ = run("features", "pictures", "--extractor", "pixels", "--out", "f.npy")
    assert code == 0 and "10 rows of 16 features" in out and "pixels in [0, 1]" in out
    found = np.load(tmp_path / "f.npy", allow_pickle=False)
    np.testing.assert_array_equal(found, nm.extract("pictures", "pixels", progress=False))
    assert found.dtype == np.float32
    assert run("score", "f.npy", "pictures", "--extractor", "pixels", "--metrics", "kid")[0] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere", "--out", "f.npy"), "FOLDER: there is no"),
        (("pictures", "--out", "f.npz"), "--out: got 'f.npz'"),
        (("pictures", "--out", "pictures"), "--out"),
        (("f.npy", "--out", "g.npy"), "features already"),
        (("pictures", "--out", "g.npy", "--extractor", "pixle"), "--extractor"),
    ],
)
def test_features_refuses_by_name(folder, run, tmp_path, words, said):
    folder("pictures", 90, 5)
    np.save(tmp_path / "f.npy", np.zeros((3, 2)))
    code, out, err = run("features", *words)
    assert (code, out) == (2, "") and err.startswith("error: ") and said in err and not (tmp_path / "g.npy").exists()


def test_the_cache_is_told_and_cleared(folder, run):
    folder("pictures", 90, 5)
    assert "empty" in run("cache", "info")[1]
    run("features", "pictures", "--extractor", "pixels", "--out", "f.npy")
    assert "5 rows of 1 extractor in 1 file," in run("cache", "info")[1]
    assert run("cache", "clear")[1].startswith("Removed 1 file")
    assert nm.cache.info().files == 0
    run("features", "pictures", "--extractor", "pixels", "--out", "f.npy", "--no-cache")
    assert nm.cache.info().files == 0


def test_experiments_are_those_of_the_room(run, tmp_path):
    code, out, _ = run("experiments", "--list")
    assert code == 0 and "gaussian_toy" in out
    code, _, err = run("experiments", "gausian_toy")
    assert code == 2 and "Did you mean 'gaussian_toy'" in err
    assert run("experiments", "E1", "--set", "v=[1]", "--set", "samples=200", "--csv", "e.csv")[0] == 0
    assert (tmp_path / "e.csv").read_text("utf-8").count("\n") > 1
