"""The Python in the README runs as printed."""

import re

import numpy as np

import nbmetrics as nm
from tests import ROOT

README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_every_python_block_runs():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 3))
    names = {"real_rows": rows, "more_rows": rows + 2, "generated_rows": rows + 1}
    assert len(BLOCKS) >= 2
    for block in BLOCKS:
        exec(block, names)
        names |= {"clients": [rows, rows + 1], "generators": {"g": rows + 2}}


def test_avg_and_all_prefer_what_the_readme_says():
    names = {}
    block = next(b for b in BLOCKS if "avg prefers narrow, all prefers wide" in b)
    exec(block.split("nm.fid(")[0], names)
    found = names["scores"].inversions("fid").iloc[0]
    assert (found["avg_prefers"], found["all_prefers"]) == ("narrow", "wide")


def test_the_metric_of_the_readme_gives_what_it_says():
    rng = np.random.default_rng(1)
    clients, generated = [rng.normal(size=(n, 2)) for n in (20, 60)], rng.normal(size=(30, 2))
    names = {"nm": nm, "clients": clients, "generators": {"g": generated}}
    exec(next(b for b in BLOCKS if "class MeanShift" in b).replace("nm.evaluate", "found = nm.evaluate"), names)
    row = names["found"].table.query("metric == 'mean_shift'").iloc[0]
    shifts = [np.sum((c.mean(axis=0) - generated.mean(axis=0)) ** 2) for c in clients]
    pooled = np.sum((np.concatenate(clients).mean(axis=0) - generated.mean(axis=0)) ** 2)
    np.testing.assert_allclose([row["avg"], row["all"]], [0.25 * shifts[0] + 0.75 * shifts[1], pooled], rtol=1e-12)
