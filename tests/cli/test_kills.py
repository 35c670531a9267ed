"""50 kills around a release of `nbmetrics summarize`: what a site has got is always in its account."""

import subprocess
import sys

import numpy as np
import pytest

import nbmetrics as nm
from tests import ROOT

# Each round is a fork, so that the imports are paid once: a child releases until it is killed, at a random time.
KILLS = """
import os, random, signal, sys, time
sys.path.insert(0, {root!r})
from nbmetrics.cli import main
words = ["summarize", "rows.npy", "--metrics", "fid", "--epsilon", "0.01", "--clip", "5"]
words += ["--account", "site.account", "--budget", "900"]
sys.stdout = open(os.devnull, "w")
main([*words, "--out", "first.nbs"])
for k in range(50):
    child = os.fork()
    if not child:
        for n in range(1000):
            main([*words, "--out", f"{{k}}-{{n}}.nbs"])
    time.sleep(random.Random(k).uniform(0, 0.1))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    releases = sum(path.endswith(".nbs") for path in os.listdir())
    print(releases, open("site.account", "rb").read().count(b"mu2"), file=sys.stderr)
"""


@pytest.mark.slow
def test_fifty_kills_never_make_the_account_too_low(tmp_path):
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(100, 2)))
    code = KILLS.format(root=str(ROOT))
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    counts = np.array([line.split() for line in ran.stderr.splitlines()], dtype=int)
    assert counts.shape == (50, 2) and len(np.unique(counts[:, 0])) > 5
    too_many = counts[:, 1] - counts[:, 0]
    assert too_many.min() >= 0 and np.diff(too_many, prepend=0).max() <= 1, "a kill loses one release at most"
    account = nm.federated.Account.open(tmp_path / "site.account")
    assert len(account.table) == counts[-1, 1]
    # a summary is there whole or not at all
    assert all(nm.federated.inspect(path.read_bytes()) for path in tmp_path.glob("*.nbs"))
