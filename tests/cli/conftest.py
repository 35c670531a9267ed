"""Folders of images and files of features for the command."""

import numpy as np
import pytest
from PIL import Image

from nbmetrics.cli import main


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NBMETRICS_HOME", str(tmp_path / "home"))


@pytest.fixture
def folder(tmp_path):
    """folder(name, mean, count): grey 4 × 4 PNGs under tmp_path, which are returned as an array."""

    def make(name, mean, count, seed=0):
        rng = np.random.default_rng([seed, mean, count])
        images = rng.normal(mean, 40, size=(count, 4, 4)).clip(0, 255).astype(np.uint8)
        (tmp_path / name).mkdir(parents=True)
        for k, image in enumerate(images):
            Image.fromarray(image).save(tmp_path / name / f"img{k:03}.png")
        return images

    return make


@pytest.fixture
def features(tmp_path):
    """Clients at −1 and 1, a generator as narrow as each and one as wide as both: FID's avg and all disagree."""
    rng = np.random.default_rng(0)
    sides = {"real/north": (-1, 1), "real/south": (1, 1), "narrow": (0, 1), "wide": (0, np.sqrt(2))}
    made = {}
    (tmp_path / "real").mkdir()
    for name, (mean, deviation) in sides.items():
        rows = rng.normal(size=(400, 2)) * [deviation, 1] + [mean, 0]
        np.save(tmp_path / f"{name}.npy", rows)
        made[name] = rows
    return made


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """run(*words) -> (exit code, stdout, stderr) of the command, in tmp_path."""
    monkeypatch.chdir(tmp_path)

    def command(*words):
        code = main([str(word) for word in words])
        return code, *capsys.readouterr()

    return command
