"""Where weights are looked for, and what is said of those that are missing: all of it without torch."""

from pathlib import Path

import pytest

import nbmetrics as nm
from nbmetrics.features import weights as module
from nbmetrics.features.cache import cache_home
from nbmetrics.features.networks import NETWORKS
from nbmetrics.features.weights import find_weights, folder

NAME = "inception-v3-compat"


@pytest.fixture(autouse=True)
def _homes(tmp_path, monkeypatch):
    """Folders of the test's own, and no way to the network."""
    monkeypatch.setenv("NBMETRICS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    monkeypatch.delattr(module, "_fetch")


def test_home_is_where_the_environment_says(monkeypatch):
    assert folder() == cache_home() / "weights" and cache_home() == Path(str(cache_home()))
    monkeypatch.delenv("NBMETRICS_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert cache_home() == Path("/caches/nbmetrics")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_home() == Path.home() / ".cache" / "nbmetrics"


@pytest.mark.parametrize(
    "weights", [3, b"\0", ["a.pt"], "a.npz", "", "nowhere.pt", "\0.pt", "a" * 5000 + ".pt", Path()]
)
def test_what_is_no_file_of_weights_is_refused(weights):
    with pytest.raises(nm.InvalidInput, match=r"^weights: "):
        find_weights(NAME, weights, False)


def test_missing_weights_are_named_with_checksum_and_place():
    with pytest.raises(nm.InvalidInput, match=r"^weights: ") as caught:
        find_weights(NAME, None, False)
    said = str(caught.value)
    network = NETWORKS[NAME]
    for part in (network.file, network.sha256, str(folder()), "download=True", network.url):
        assert part in said


@pytest.mark.parametrize("error", [OSError("no route to host"), RuntimeError("invalid hash value")])
def test_a_download_that_fails_says_what_to_do(monkeypatch, error):
    def fetch(*given):
        raise error

    monkeypatch.setattr(module, "_fetch", fetch, raising=False)
    with pytest.raises(nm.InvalidInput, match=f"^download: .*{error}.*{folder()}"):
        find_weights(NAME, None, True)


def test_a_file_without_a_known_checksum_is_not_fetched():
    with pytest.raises(nm.InvalidInput, match=r"no checksum is known") as caught:
        find_weights("dinov2-vit-g-14", None, True)
    assert "download=True" not in str(caught.value)
