"""MiFID: FID over the mean cosine distance of generated rows to their nearest train rows, where that is small."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import nbmetrics as nm
from nbmetrics.metrics import MiFID, Sample
from tests.benchmarks import peers

RNG = np.random.default_rng(20261122)
TRAIN, FRESH = RNG.normal(size=(60, 8)), RNG.normal(size=(40, 8))


def near_copies(noise, n=40):
    return TRAIN[:n] + noise * np.random.default_rng(1).normal(size=(n, 8))


def distance(train, generated):
    """The mean over generated rows of min 1 − |cos|, all pairs at once; near 1 a cosine has few digits."""
    return np.minimum(cdist(generated, train, "cosine"), cdist(generated, -train, "cosine")).min(axis=1).mean()


@pytest.mark.parametrize("noise", [0.01, 0.1, 0.3])
@pytest.mark.parametrize("offset", [0.0, 5.0])  # without and with negative features
def test_near_copies_divide_fid(noise, offset):
    train, generated = TRAIN + offset, near_copies(noise) + offset
    s = distance(train, generated)
    assert 0 < s < 0.1
    assert nm.mifid(train, generated) == pytest.approx(nm.fid(train, generated) / s, rel=1e-7)


def test_the_threshold():
    generated = near_copies(0.3)
    s, fid = distance(TRAIN, generated), nm.fid(TRAIN, generated)
    assert nm.mifid(TRAIN, generated, eps=0.999 * s) == fid
    assert nm.mifid(TRAIN, generated, eps=1.001 * s) == pytest.approx(fid / s, rel=1e-7)


def test_without_a_copy_it_is_fid_bit_for_bit():
    assert distance(TRAIN, FRESH) > 0.1
    assert nm.mifid(TRAIN, FRESH) == nm.fid(TRAIN, FRESH)


@pytest.mark.parametrize("noise", [0.05, 0.3, 10.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_torchmetrics_with_its_sides_exchanged(noise, dtype):
    if (peer := peers.torchmetrics_mifid()) is None:
        pytest.skip("torchmetrics does not import here: pip install nbmetrics[bench]")
    x, y = TRAIN.astype(dtype), near_copies(noise).astype(dtype)
    assert nm.mifid(x, y) == pytest.approx(peer[1](x, y), rel=1e-4 if dtype is np.float32 else 1e-6)


def test_exact_copies_and_train_itself():
    assert nm.mifid(TRAIN, TRAIN[:30]) > 1e12 * nm.fid(TRAIN, TRAIN[:30])
    assert nm.mifid(TRAIN, TRAIN) == 0.0 == nm.mifid(TRAIN, TRAIN[::-1])


def test_a_copy_may_be_longer_and_turned_round():
    generated = TRAIN[:30] * np.linspace(-2, -1, 30)[:, None]
    assert nm.mifid(TRAIN, generated) > 1e10 * nm.fid(TRAIN, generated)


def test_rows_of_zeros_are_left_out():
    zeros = np.zeros((5, 8))
    train, generated = np.concatenate([zeros, TRAIN]), np.concatenate([near_copies(0.1), zeros])
    s = distance(TRAIN, near_copies(0.1))
    assert nm.mifid(train, generated) == pytest.approx(nm.fid(train, generated) / s, rel=1e-7)
    with pytest.raises(nm.InvalidInput, match="have no direction"):
        nm.mifid(TRAIN, zeros)


def test_clients_and_pool():
    clients, generated = {"a": TRAIN[:35], "b": TRAIN[35:]}, near_copies(0.1)
    scores = nm.evaluate(clients, {"g": generated}, ["mifid", "fid"], progress=False)
    mine, fid = (scores.clients.query("metric == @m").set_index("client")["value"] for m in ("mifid", "fid"))
    for name, rows in clients.items():
        s = distance(rows, generated)
        assert mine[name] == pytest.approx(fid[name] / (s if s < 0.1 else 1.0), rel=1e-9)
    row = scores.table.set_index("metric").loc["mifid"]
    assert row["all"] == pytest.approx(nm.mifid(TRAIN, generated), rel=1e-9)
    assert row["avg"] == pytest.approx(35 / 60 * mine["a"] + 25 / 60 * mine["b"], rel=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=2, max_size=3), st.lists(st.integers(1, 4), min_size=2, max_size=2))
def test_the_penalty_of_a_mixture_is_that_of_repeated_rows(real_weights, made_weights):
    metric = MiFID(eps=1.0)
    cuts = np.array_split(TRAIN, len(real_weights))
    made = near_copies(0.2)[:10], FRESH[:15]

    def penalty(real, generated):
        fid = nm.metrics.FID().distance(real.moments, generated.moments)
        return fid / metric.distance(real, generated)

    real = metric.pool([metric.summarize(Sample(rows=x)) for x in cuts], np.array(real_weights) / sum(real_weights))
    # each part's share: equal weights a row, so a part of n rows and weight w is repeated w/n times
    shares = np.array(made_weights) / sum(made_weights)
    generated = metric.pool([metric.summarize(Sample(rows=y)) for y in made], shares)
    repeated = np.concatenate(
        [np.repeat(y, w * 150 // len(y), axis=0) for y, w in zip(made, made_weights, strict=True)]
    )
    assert penalty(real, generated) == pytest.approx(distance(TRAIN, repeated), rel=1e-7)


def test_weights_leave_the_penalty_alone_but_for_0():
    near, far = TRAIN[:40], FRESH
    federation, generated = nm.Federation([near, far]), near_copies(0.1)

    def ratio(weights):
        table = nm.evaluate(federation.with_weights(weights), [generated], ["fid", "mifid"], progress=False).table
        fid, mifid = table["all"]
        return fid / mifid

    known = distance(TRAIN[:40], generated)
    assert ratio([1, 1]) == pytest.approx(known, rel=1e-7) and ratio([1e-6, 1]) == pytest.approx(known, rel=1e-7)
    assert ratio([0, 1]) == 1.0


@settings(max_examples=25, deadline=None)
@given(st.floats(1e-6, 1e6), st.integers(0, 99))
def test_units_and_order(unit, seed):
    generated, order = near_copies(0.2), np.random.default_rng(seed).permutation(60)
    wanted = nm.mifid(TRAIN, generated)
    assert nm.mifid(unit * TRAIN[order], unit * generated[order[order < 40]]) == pytest.approx(
        unit**2 * wanted, rel=1e-8
    )


@pytest.mark.parametrize("unit", [1e-100, 1e40])
def test_extreme_units(unit):
    generated = near_copies(0.2)
    assert nm.mifid(unit * TRAIN, unit * generated) / unit**2 == pytest.approx(nm.mifid(TRAIN, generated), rel=1e-8)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tensors(dtype):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x, y = TRAIN.astype(dtype), near_copies(0.2).astype(dtype)
    wanted = nm.mifid(x, y)
    for a, b in ((torch.from_numpy(x), torch.from_numpy(y)), (x, torch.from_numpy(y))):
        assert nm.mifid(a, b) == pytest.approx(wanted, rel=1e-6)


def test_intervals_leave_rows_whole():
    generated = {"g": near_copies(0.2)}
    with pytest.warns(nm.BiasWarning, match="MiFID: .* fewer than 80 rows"):
        scores = nm.evaluate([TRAIN], generated, "mifid", uncertainty=nm.Bootstrap(20), progress=False)
    assert any("jackknife of thirds" in line for line in scores.conventions)
    assert (scores.table["avg_low"] >= 0).all() and np.isfinite(scores.table["avg_high"]).all()


@pytest.mark.parametrize("eps", [0.0, 1.5, np.nan, "a"])
def test_eps_is_refused_outside_its_range(eps):
    with pytest.raises(nm.InvalidInput, match="eps"):
        nm.mifid(TRAIN, FRESH, eps)
