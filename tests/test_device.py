"""Scores of rows on a device: NumPy's to 1e-5, and no rows and no blocks of pairs leave the device.

The device is a mock (device.py), as strict as a GPU; with NBMETRICS_TEST_DEVICE=cuda it is a GPU (cuda_device.py).
A copy to main memory may have d × d numbers, or a result of each row (an influence value; of a search its neighbours
and their distances), or those of KID's embedding. C_T (scikit-learn's k-means) and W1 (POT's exact transport) are
computed in main memory, and so are not here.
"""

import itertools
import math
import os

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics import arrays
from nbmetrics.metrics import KID
from nbmetrics.metrics.kid.embedding import ThirdMoments
from nbmetrics.metrics.prdc import forget
from nbmetrics.summaries.moments import Moments

from .slow import by_default

torch = pytest.importorskip("torch")
IS_GPU = os.environ.get("NBMETRICS_TEST_DEVICE") == "cuda"
device = pytest.importorskip(
    "tests.cuda_device" if IS_GPU else "tests.device",
    reason="this torch has no backends in Python",
    exc_type=ImportError,
)

WIDTH = 64
# FLD's fit of many features ends elsewhere after another rounding, in NumPy alone too.
FLD_WIDTH = 16
PLACES = {"cpu": torch.from_numpy, "device": device.on_device}
DTYPES = [np.float32, np.float64]
KERNELS = {
    "kid_rbf": KID(nm.RBF(), name="kid_rbf"),
    "kid_median": KID(nm.RBF("median"), name="kid_median"),
    "kid_2": KID(nm.Polynomial(degree=2), name="kid_2"),
    "kid_fourier": KID(nm.RandomFeatures(nm.RBF(), 256), name="kid_fourier"),
    "kid_sketch": KID(nm.RandomFeatures(nm.Polynomial(), 255), name="kid_sketch"),
    "kid_product": KID(lambda x, y: (x @ y.T) ** 2, name="kid_product"),
    "kid_biased": KID(estimator="biased", name="kid_biased"),
    "kid_stratified": KID(estimator="stratified", name="kid_stratified"),
    "kid_linear": KID(estimator="linear", name="kid_linear"),
    "kid_subsets": KID(estimator=nm.Subsets(3, 90), name="kid_subsets"),
}
NEIGHBOURS = ["precision", "recall", "density", "coverage", "authpct", "mifid"]
# Numbers that a neighbour search may copy for each row: 5 neighbours, and pairs too close to call.
PER_ROW = 8
METRICS = ["fid", "fid_infinity", "kid", "cmmd", *KERNELS, *NEIGHBOURS, "fld", "vendi", "rke", "rrke"]
QUICK = [
    *((metric, "float32", "device") for metric in METRICS),
    *((metric, "float64", "device") for metric in ("fid", "kid")),
    *((metric, "float32", "cpu") for metric in ("fid", "kid")),
]


def drawn(dtype, width=WIDTH, clients=(301, 260), generators=(280, 330), offset=0.0):
    """Rows of clients and generators, with features of unlike size and a few exact copies."""
    rng, sizes = np.random.default_rng(0), np.linspace(0.3, 2, width)
    sides = [
        [(rng.normal(shift * i, 1 + i, size=(n, width)) * sizes + offset).astype(dtype) for i, n in enumerate(counts)]
        for shift, counts in ((1.0, clients), (0.5, generators))
    ]
    sides[1][0][:5] = sides[0][0][:5]
    return sides


def numbers_of(rows, metric, place=np.asarray, **settings):
    """All numbers of an evaluation in which the clients weigh 1 : 2, or as their rows where a metric wants that."""
    is_free = (metric in KERNELS and metric not in ("kid_linear", "kid_subsets")) or metric in ("fid", "kid", "cmmd")
    weights = {"weight": 1.0}, {"weight": 2.0}
    clients, generators = ([place(x) for x in side] for side in rows)
    forget()  # neighbours are remembered by content
    scores = nm.evaluate(
        {
            str(i): nm.Client(x, test=place(rows[0][i][::2] + 0.1), **(weights[i % 2] if is_free else {}))
            for i, x in enumerate(clients)
        },
        {str(i): x for i, x in enumerate(generators)},
        KERNELS.get(metric, metric),
        progress=False,
        **settings,
    )
    return np.concatenate(
        [part.select_dtypes("number").to_numpy(float).ravel() for part in (scores.table, scores.clients)]
    )


def assert_stays(copies, most):
    """No copy has more numbers than that."""
    large = [shape for shape in copies if math.prod(shape) > most]
    assert not large, f"copied to main memory: {large}, with more than {most} numbers"


def assert_same(rows, metric, place, embedding=0, **settings):
    """The numbers are NumPy's, and rows stay where they are."""
    with device.copies() as copies:
        found = numbers_of(rows, metric, PLACES[place], **settings)
    expected = numbers_of(rows, metric, **settings)
    largest = np.nanmax(np.abs(expected))
    assert np.isfinite(expected).any()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-10 * largest)
    width, total = rows[0][0].shape[1], sum(len(x) for side in rows for x in side)
    assert_stays(copies, max(width * width, total * (PER_ROW if metric in NEIGHBOURS else 1), embedding))


@pytest.mark.parametrize(
    ("metric", "dtype", "place"), by_default(itertools.product(METRICS, ("float32", "float64"), PLACES), *QUICK)
)
def test_scores_are_numpys(metric, dtype, place):
    assert_same(drawn(dtype, FLD_WIDTH if metric == "fld" else WIDTH), metric, place)


@pytest.mark.parametrize("dtype", by_default(DTYPES, np.float32))
@pytest.mark.parametrize("metric", by_default(["fid", "kid", "kid_rbf", "precision"], "fid", "precision"))
def test_so_they_are_of_fewer_rows_than_features_and_far_from_0(metric, dtype):
    assert_same(drawn(dtype, 150, (90, 40), (80, 60)), metric, "device")
    assert_same(drawn(dtype, offset=50.0), metric, "device")


@pytest.mark.parametrize("kernel", ["kid", "kid_biased"])
def test_the_embedding_of_kid_is_the_one_result_that_is_larger(kernel):
    width = 12
    rows = drawn(np.float32, width, (901, 860), (980, 930))
    assert_same(rows, kernel, "device", embedding=math.comb(width + 3, 3))
    assert_same(rows, kernel, "device", 20 * math.comb(width + 3, 3), uncertainty=nm.Bootstrap(20))


@pytest.mark.parametrize("metric", by_default(["fid", "kid", "kid_rbf", "kid_2", "kid_fourier"], "fid", "kid"))
@pytest.mark.parametrize("uncertainty", [nm.Influence(), nm.Bootstrap(20)], ids=["influence", "bootstrap"])
def test_so_are_intervals(metric, uncertainty):
    width = 16 if metric == "fid" else WIDTH  # resampling wants many rows a feature
    assert_same(drawn(np.float32, width), metric, "device", math.comb(19, 3), uncertainty=uncertainty)


@pytest.mark.parametrize("metric", by_default(["fid", "kid", "kid_rbf", "density"], "fid", "kid"))
def test_so_are_scores_in_blocks(metric, monkeypatch):
    """Several blocks of everything: the memory limit is a hundredth of what it is."""
    monkeypatch.setattr(arrays.memory, "block_bytes", arrays.memory.block_bytes / 100)
    embedding = math.comb(WIDTH + 3, 3) if metric == "kid" else 0
    assert_same(drawn(np.float32, clients=(1301, 260), generators=(1280, 330)), metric, "device", embedding)


@pytest.mark.parametrize("metric", ["kid", "kid_rbf", "kid_2"])
def test_so_are_rows_beside_a_distribution(metric):
    rows = drawn(np.float32)[0]
    known = nm.Gaussian(np.full(WIDTH, 0.3), np.diag(np.linspace(0.5, 2, WIDTH)))
    if metric == "kid_2":
        known = nm.Empirical(np.asarray(rows[1], float))

    def score(place):
        return nm.evaluate([place(x) for x in rows], {"known": known}, KERNELS.get(metric, metric)).table["all"][0]

    with device.copies() as copies:
        assert score(device.on_device) == pytest.approx(score(np.asarray), rel=1e-5)
    assert_stays(copies, WIDTH * WIDTH)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("summarize", [Moments.of_rows, lambda rows: Moments.of_batches([rows[:99], rows[99:]])])
@pytest.mark.parametrize("width", [8, WIDTH, 400])
def test_covariances_and_roots_are_numpys(width, summarize, dtype):
    rows = drawn(dtype, width)[0][0]
    with device.copies() as copies:
        moments = summarize(device.on_device(rows))
        found = [arrays.to_numpy(x) for x in (moments.mean, moments.cov, moments.root.T @ moments.root)]
    cov = np.cov(rows.astype(float), rowvar=False)
    for value, expected in zip(found, (rows.astype(float).mean(axis=0), cov, cov), strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-12 * np.abs(expected).max())
    assert_stays(copies, width * width)


FUNCTIONS = {
    "fid": lambda x, y: nm.fid(x, y),
    "kid": lambda x, y: nm.kid(x, y),
    "prdc": lambda x, y: nm.prdc(x, y),
    "prdc, ties inside": lambda x, y: nm.prdc(x, y, inclusive=True),
    "realism": lambda x, y: nm.realism(x, y),
    "memorization": lambda x, y: nm.memorization_scores(x, x[::2] + 0.1, y),
    "quality": lambda x, y: nm.quality_scores(x, x[::2] + 0.1, y),
    "mfid": lambda x, y: nm.mfid(x[:280, :5], x[:280], y),
    "rfid": lambda x, y: nm.rfid(x[:280, :5], x[:280], y),
    "cfid": lambda x, y: nm.cfid(x[:280, :5], x[:280], y),
    "vendi": lambda x, y: nm.vendi(y),
    "vendi, rbf": lambda x, y: nm.vendi(y, nm.RBF(5.0)),
    "inception score": lambda x, y: nm.inception_score(abs(y) / abs(y).sum(1)[:, None]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", by_default(DTYPES, np.float32))
@pytest.mark.filterwarnings("ignore::nbmetrics.metrics.conditional.FewPairsWarning")
def test_functions_give_numpys_numbers(name, dtype):
    (real, _), (generated, _) = drawn(dtype)
    forget()
    with device.copies() as copies:
        found = FUNCTIONS[name](device.on_device(real), device.on_device(generated))
    forget()
    expected = FUNCTIONS[name](real, generated)
    found = arrays.to_numpy(found) if arrays.is_array(found) else found
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert_stays(copies, WIDTH * WIDTH)


def test_moments_of_order_three_are_numpys():
    """What a client sends for KID; d³ numbers, whatever the rows."""
    rows, width = drawn(np.float64, 6)[0][0], 6
    with device.copies() as copies:
        found = ThirdMoments.of_rows(device.on_device(rows), nm.Polynomial())
    expected = ThirdMoments.of_rows(rows, nm.Polynomial())
    for field in ("mean", "second", "third", "diagonal"):
        np.testing.assert_allclose(getattr(found, field), getattr(expected, field), rtol=1e-5)
    assert_stays(copies, width**3)


def test_an_extractor_keeps_images_and_layers_on_its_modules_device():
    """Of each batch the features come back, which `extract` gives in NumPy; beside them the weights, to be hashed."""
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 5))
    images = np.random.default_rng(0).integers(256, size=(11, 8, 8), dtype=np.uint8)
    expected = nm.extract(images, module, batch_size=4, cache=False)
    module.to(device.DEVICE)
    with device.copies() as copies:
        found = nm.extract(images, module, batch_size=4, cache=False)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    weights = {tuple(x.shape) for x in module.parameters()}
    assert [shape for shape in copies if shape not in weights] == [(4, 5), (4, 5), (3, 5)]


@pytest.mark.skipif(IS_GPU, reason="is about the mock: run without NBMETRICS_TEST_DEVICE")
def test_the_mock_refuses_what_a_gpu_refuses_and_counts_what_leaves_it():
    rows = device.on_device(np.arange(6.0).reshape(3, 2))
    for use in (np.asarray, lambda x: x.numpy(), lambda x: x + torch.ones(3, 2), lambda x: torch.concat([x, x.cpu()])):
        with pytest.raises(RuntimeError):
            use(rows)
    with device.copies() as copies:
        assert float(rows.sum()) == 15.0 and bool((rows >= 0.0).all()) and not copies
        assert arrays.to_numpy(rows).tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
        torch.empty(2).copy_(rows[0])
    assert copies == [(3, 2), (2,)]
    with pytest.raises(AssertionError, match="copied to main memory"):
        assert_stays(copies, 5)
