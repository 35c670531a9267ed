"""The map-reduce contract of docs/cluster.md, run as it stands there: in plain Python, and with Spark and Ray."""

import re
from functools import reduce
from pathlib import Path

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.metrics import FID, Sample

PAGE = Path(__file__).parents[2] / "docs/cluster.md"
CLIENTS = [np.random.default_rng(k).normal(k, 1.0, (20 + k, 3)) for k in range(5)]
GENERATED = np.random.default_rng(9).normal(1.0, 2.0, (50, 3))


@pytest.fixture(scope="module")
def documented():
    (block,) = [
        b for b in re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S) if "with_ray" in b
    ]
    names: dict = {}
    exec(block, names)
    return names


@pytest.fixture(scope="module")
def expected():
    return nm.fid(np.concatenate(CLIENTS), GENERATED)


def test_pools_of_pools_are_the_pool(documented, expected):
    _, everyone = reduce(documented["pooled"], map(documented["summarized"], CLIENTS))
    assert documented["metric"].distance(everyone, FID().summarize(Sample(rows=GENERATED))) == pytest.approx(expected)


def test_spark(documented, expected):
    pyspark = pytest.importorskip("pyspark", reason="needs pyspark (4.3.0 was tried) and Java (17)")
    with pyspark.SparkContext("local[1]", "nbmetrics") as context:
        found = documented["with_spark"](context, CLIENTS, FID().summarize(Sample(rows=GENERATED)))
    assert found == pytest.approx(expected)


def test_ray(documented, expected, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # or it would write a token into the home
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    ray = pytest.importorskip("ray", reason="needs ray")
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        found = documented["with_ray"](ray, CLIENTS, FID().summarize(Sample(rows=GENERATED)))
    finally:
        ray.shutdown()
    assert found == pytest.approx(expected)
