"""Sending less: float32, fewer directions with a bound that holds and is reached, and kernels of random features."""

import re

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.federated import serialization
from tests import ROOT

pytestmark = pytest.mark.filterwarnings("ignore::nbmetrics.federated.FewRowsWarning")

RNG = np.random.default_rng(8)
SPECTRUM = 0.6 ** np.arange(24)
TURNED = np.linalg.qr(RNG.normal(size=(24, 24)))[0]
CLIENTS = [k / 9 + RNG.normal(size=(n, 24)) * np.sqrt(SPECTRUM) @ TURNED for k, n in enumerate((200, 60, 15))]
GENERATORS = {"rows": RNG.normal(size=(300, 24)) * 0.4, "distribution": nm.Gaussian(np.full(24, 0.1), 0.1)}


def scores(metrics, weights=None, clients=CLIENTS, generators=GENERATORS, **options):
    sent = [nm.federated.client_summary(rows, metrics, **options) for rows in clients]
    return nm.federated.aggregate(sent, weights, generators, metrics)


def values(made, metric="fid"):
    """Client by client and all, (generators, clients + 1)."""
    return np.c_[made.values(metric).by_client, made.values(metric).all]


def test_float32_halves_the_bytes_and_keeps_six_digits():
    metrics = ["fid", "kid"]
    whole, single = scores(metrics), scores(metrics, precision="float32")
    for metric in metrics:
        np.testing.assert_allclose(values(single, metric), values(whole, metric), rtol=2e-5, atol=1e-6)
        assert (values(single, metric) != values(whole, metric)).any()
    lengths = [len(nm.federated.client_summary(CLIENTS[0], metrics, precision=p)) for p in ("float64", "float32")]
    assert lengths[1] < 0.55 * lengths[0]


@pytest.mark.parametrize("rank", [1, 4, 12])
@pytest.mark.parametrize("weights", [None, [1, 1, 4]])
def test_fewer_directions_move_no_score_beyond_the_bound(rank, weights):
    made = scores("fid", weights, rank=rank)
    exact = scores("fid", weights)
    off = np.abs(np.sqrt(values(made)) - np.sqrt(values(exact)))
    lost = [
        serialization.read(nm.federated.client_summary(x, "fid", rank=rank), "c")[1]["fid"].notes["lost"]
        for x in CLIENTS
    ]
    (line,) = [line for line in made.cautions if "directions were left out" in line]
    worst = float(re.search(r"at most ([\d.e-]+)\.", line)[1])
    assert (off[:, :-1] <= np.array(lost) + 1e-9).all() and max(lost) <= worst <= 1.02 * max(lost)
    assert (off[:, -1] <= worst).all()
    assert off.max() > 1e-6  # something was left out


def test_the_bound_is_reached():
    """Against the distribution of the client itself √FID is 0, and with fewer directions exactly what was lost."""
    own = {"own": nm.Gaussian(CLIENTS[0].mean(axis=0), np.cov(CLIENTS[0].T))}
    for rank in (1, 3, 10):
        made = scores("fid", clients=CLIENTS[:1], generators=own, rank=rank)
        values = np.sort(np.linalg.eigvalsh(np.cov(CLIENTS[0].T)))[::-1][rank:]
        lost = np.linalg.norm(np.sqrt(values) - np.sqrt(values.mean()))
        assert np.sqrt(made.table["all"][0]) == pytest.approx(lost, rel=1e-6)


def test_all_directions_are_exact_whatever_the_rank():
    for rank in (24, 1000):
        np.testing.assert_allclose(values(scores("fid", rank=rank)), values(scores("fid")), rtol=1e-12)
    few = [CLIENTS[0][:4], CLIENTS[1][:3]]
    low, full = (values(scores("fid", clients=few, min_rows=3, **options)) for options in ({"rank": 5}, {}))
    np.testing.assert_allclose(low, full, rtol=1e-9, atol=1e-9)


def test_the_ledger_of_thrift_is_what_is_sent():
    metrics = ["fid", "kid", nm.metrics.KID(nm.RandomFeatures(nm.RBF(), 50), name="few")]
    made = nm.evaluate(CLIENTS, GENERATORS, metrics, progress=False)
    for options in ({}, {"precision": "float32"}, {"rank": 3}, {"rank": 3, "precision": "float32"}):
        ledger = nm.federated.ledger(made, **options).query("aggregate == 'all'")
        sent = [len(nm.federated.client_summary(x, m, **options)) for m in metrics for x in CLIENTS]
        assert ledger["bytes"].tolist() == sent
        parts = [nm.federated.client_summary(x, metrics, **options) for x in CLIENTS]
        there = nm.federated.aggregate(parts, None, GENERATORS, metrics).ledger.query("aggregate == 'all'")
        assert there["bytes"].tolist() == sent and there["reveals"].tolist() == ledger["reveals"].tolist()
    assert nm.federated.ledger(made).equals(made.ledger)
    private = nm.federated.client_summary(CLIENTS[0], "fid", privacy=nm.federated.Privacy(1.0, clip=3.0))
    noised = nm.federated.aggregate([private], None, GENERATORS, "fid").ledger.iloc[1]
    assert noised["bytes"] == len(private) and noised["reveals"] == "mean and covariance, with noise"


@pytest.mark.slow
def test_the_guide_has_the_bytes_that_are_sent():
    """The rank's notes have as many digits as they need, so a few bytes may differ elsewhere."""
    rng, features = np.random.default_rng(0), nm.metrics.KID(nm.RandomFeatures(nm.RBF(), 1024))
    table = re.findall(r"^\| (64|128|512) \| (.+) \|$", (ROOT / "docs/federated.md").read_text("utf-8"), re.M)
    assert [d for d, _ in table] == ["64", "128", "512"]
    for d, cells in table:
        stated = [int(cell.replace(",", "")) for cell in cells.split(" | ") if cell != "rows only"]
        rows, single = rng.normal(size=(2000, int(d))), {"precision": "float32"}
        wanted = [("fid", {}), ("fid", single), ("fid", {**single, "rank": 32}), ("kid", {}), (features, {})]
        wanted.append(("precision", {**single, "reveal_rows": True}))
        sent = [len(nm.federated.client_summary(rows, m, **o)) for m, o in wanted if m != "kid" or d != "512"]
        assert sent == pytest.approx(stated, abs=3) and (np.abs(np.subtract(sent, stated)) > 0).sum() <= 1


REFUSED = {
    "precision": lambda: scores("fid", precision="float16"),
    "rank": lambda: scores("fid", rank=0),
    "count": lambda: nm.RandomFeatures(nm.RBF(), 7),
    "kernel": lambda: nm.RandomFeatures(np.dot),
    "seed": lambda: nm.RandomFeatures(seed=-1),
    "sigma": lambda: scores(nm.metrics.KID(nm.RandomFeatures(nm.RBF("median")))),
}


@pytest.mark.parametrize("argument", REFUSED)
def test_bad_settings_are_refused(argument):
    with pytest.raises(nm.InvalidInput, match=argument):
        REFUSED[argument]()
