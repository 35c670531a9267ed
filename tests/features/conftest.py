"""A cache of its own for each test that asks for its folder."""

import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where the cache is, empty at first."""
    monkeypatch.setenv("NBMETRICS_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "features"
