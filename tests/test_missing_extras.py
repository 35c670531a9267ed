"""What is asked for without its package says which command installs it; everything else works without."""

import re
import subprocess
import sys
from importlib.machinery import PathFinder
from importlib.metadata import requires

import numpy as np
import pytest

import nbmetrics as nm
from tests import ROOT
from tests.drawn_images import drawn

ROWS = np.random.default_rng(0).normal(size=(12, 2))
IMAGES, EXTRA = 'pip install "nbmetrics[images]"', re.compile(r"extra == ['\"](\w+)['\"]")


def federation(rows=ROWS):
    return nm.Federation([rows, rows + 1])


def training():
    nm.training.train("wgan-gp", federation(), rounds=1, local_steps=1)


def saved_model(tmp_path):
    nm.training.train("wgan-gp", federation(), rounds=1, local_steps=1).save(tmp_path / "model.safetensors")


def parquet(tmp_path):
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"PAR1")
    next(iter(nm.Stream(path)))


# What is missing, what is asked for, and the command.
ASKED = {
    "an extractor": ("torch", lambda _: nm.extract(drawn(4, 0, (8, 8)), "inception-v3-compat"), IMAGES),
    "its package": ("torch_fidelity", lambda _: nm.extract(drawn(4, 0, (8, 8)), "inception-v3-compat"), IMAGES),
    "its transforms": ("torchvision", lambda _: nm.extract(drawn(4, 0, (8, 8)), "clip-vit-b-32"), IMAGES),
    "training": ("torch", lambda _: training(), IMAGES),
    "a trained model": ("torch", lambda path: nm.training.load(path / "model.safetensors"), IMAGES),
    "the file of a model": ("safetensors", saved_model, IMAGES),
    "a critic": ("torch", lambda _: nm.w1(ROWS, ROWS + 1, method="critic"), IMAGES),
    "exact W1": ("ot", lambda _: nm.w1(ROWS, ROWS + 1), "pip install POT"),
    "a cluster": (
        "distributed",
        lambda _: nm.evaluate(federation(), {"g": ROWS}, cluster="local"),
        'pip install "nbmetrics[cluster]"',
    ),
    "parquet": ("pyarrow", parquet, 'pip install "nbmetrics[cluster]"'),
    "TensorBoard": (
        "tensorboard",
        lambda path: nm.Monitor(federation()).to_tensorboard(path / "run"),
        "pip install tensorboard",
    ),
}


# As if these were not installed, from here on.
HIDE = """
from importlib.machinery import PathFinder
found = PathFinder.find_spec
PathFinder.find_spec = lambda name, *rest: None if name.split(".")[0] in {hidden} else found(name, *rest)
"""
WORKS = """
import numpy as np, nbmetrics as nm
rows = np.random.default_rng(0).normal(size=(12, 2))
assert nm.evaluate([rows, rows + 1], {"g": rows}).table["avg"].notna().all()
lab = nm.Playground(nm.Federation([rows, rows + 1]), {"g": rows})
assert "error" not in lab.result and "image/png" in lab._repr_mimebundle_()[0]
"""


@pytest.fixture
def without(monkeypatch):
    """without(package): as if it were not installed."""

    def hide(package):
        for name in [name for name in sys.modules if name.split(".")[0] == package]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setattr(PathFinder, "find_spec", PathFinder.find_spec)
        exec(HIDE.format(hidden={package}), {})

    return hide


@pytest.mark.parametrize("asked", ASKED)
def test_the_command_that_installs_it_is_named(without, tmp_path, asked):
    package, ask, command = ASKED[asked]
    without(package)
    with pytest.raises(nm.InvalidInput, match=f"not installed.*{re.escape(command)}"):
        ask(tmp_path)


def test_a_command_names_an_extra_that_there_is():
    extras = set(EXTRA.findall(" ".join(requires("nbmetrics"))))
    named = {extra for _, _, command in ASKED.values() for extra in re.findall(r"nbmetrics\[(\w+)\]", command)}
    assert named and named <= extras


def test_scores_and_a_lab_need_none_of_them():
    code = HIDE.format(hidden={package for package, _, _ in ASKED.values()}) + WORKS
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
