"""The field's own packages, run beside ours on fresh data, where they import."""

import numpy as np
import pytest

import nbmetrics as nm
from tests.benchmarks import peers


def samples(seed, n=300, d=24):
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(d, d)) / np.sqrt(d)
    return rng.normal(size=(n, d)) @ mix, rng.normal(size=(n - 40, d)) @ mix * 1.2 + 0.3


def moments(rows):
    return rows.mean(axis=0), np.cov(rows, rowvar=False)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("peer", [peers.pytorch_fid, peers.torch_fidelity_fid], ids=["pytorch-fid", "torch-fidelity"])
def test_fid(peer, seed):
    x, y = samples(seed)
    _, distance = peer()
    assert nm.fid(x, y) == pytest.approx(distance(*moments(x), *moments(y)), rel=1e-6)


def test_clean_fid():
    module = peers.imported("cleanfid.fid")
    if module is None:
        pytest.skip("clean-fid does not import here: pip install nbmetrics[bench]")
    x, y = samples(3)
    assert nm.fid(x, y) == pytest.approx(float(module.frechet_distance(*moments(x), *moments(y))), rel=1e-6)


def test_torchmetrics_fid():
    module = peers.imported("torchmetrics.image.fid")
    if module is None:
        pytest.skip("torchmetrics does not import here: pip install nbmetrics[bench]")
    import torch

    x, y = samples(4)
    given = [torch.from_numpy(np.ascontiguousarray(z)) for z in (*moments(x), *moments(y))]
    assert nm.fid(x, y) == pytest.approx(float(module._compute_fid(*given)), rel=1e-6)
