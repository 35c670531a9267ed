"""Tools around the metrics take rows on a device too: NumPy's numbers to 1e-5, and the rows stay there.

The device is that of test_device.py: a mock, or a GPU with NBMETRICS_TEST_DEVICE=cuda.
"""

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.arrays import to_numpy
from nbmetrics.metrics import KID
from nbmetrics.metrics.prdc import forget
from tests.slow import by_default

from .test_device import IS_GPU, assert_stays, device, drawn

torch = pytest.importorskip("torch")

WIDTH = 24
NAMES = "ab"
FOURIER = KID(nm.RandomFeatures(nm.RBF(6.0), 128), name="kid_fourier")


def by_name(rows):
    return dict(zip(NAMES, rows, strict=True))


def numbers(frame):
    return frame.select_dtypes("number").to_numpy(float).ravel()


def own_for_each_client(real, generated):
    sources = nm.Generator.by_client(by_name(generated))
    scores = nm.evaluate(by_name(real), {"own": sources, "one": generated[0]}, ["fid", "kid"], progress=False)
    return numbers(scores.table)


def torch_score(metric):
    def act(real, generated):
        score = nm.torch.Score(metric, [*NAMES])
        if not isinstance(real[0], np.ndarray):
            score.to(device.DEVICE)
        for name, rows in by_name(real).items():
            score.update(rows[:99], True, name)
            score.update(rows[99:], True, name)
        for rows in generated:
            score.update(rows, False)
        return [float(value) for value in score.compute().values()]

    return act


def raced(real, generated):
    """Rows of a table at the places that NumPy draws, so that both races look at the same."""

    def function(table):
        return lambda n, rng: table[rng.integers(len(table), size=n).tolist()]

    samplers = {str(i): function(x) for i, x in enumerate(generated)}
    race = nm.race(by_name(real), samplers, "fid", budget=4_000, progress=False)
    return numbers(race.table)


def streamed(real, generated):
    """Batches of rows, for which each metric makes one pass."""

    def batches(rows):
        return nm.Stream(lambda: iter([rows[:99], rows[99:]]))

    clients = {name: batches(rows) for name, rows in by_name(real).items()}
    scores = nm.evaluate(clients, {"0": batches(generated[0])}, "fid", progress=False)
    return numbers(scores.table)


def of_statistics(real, generated):
    moments = [nm.Moments(x.mean(0), (x - x.mean(0)).T @ (x - x.mean(0)) / (len(x) - 1), len(x)) for x in real]
    scores = nm.evaluate(by_name(moments), {"0": generated[0]}, "fid", progress=False)
    return numbers(scores.table)


def federated(real, generated):
    sent = {name: nm.federated.client_summary(rows, ["fid"]) for name, rows in by_name(real).items()}
    scores = nm.federated.aggregate(sent, None, {"0": generated[0]}, ["fid"])
    return numbers(scores.table)


def modes(real, generated):
    scores = nm.evaluate(by_name(real), {"0": generated[0]}, "fid", progress=False)
    return numbers(scores.modes("0", permutations=19))


def two_sample(real, generated):
    test = nm.two_sample(real[0], generated[0], permutations=99)
    return [test.statistic, test.p]


def best_mixture(real, generated):
    best = nm.best_mixture(by_name(real), by_name(generated), progress=False)
    return [*best.weights.values(), best.score] if isinstance(best.weights, dict) else [*np.ravel(best.weights)]


TOOLS = {
    "by_client": own_for_each_client,
    "Score, fid": torch_score("fid"),
    "Score, kid": torch_score(FOURIER),
    "race": raced,
    "streams": streamed,
    "statistics": of_statistics,
    "federated": federated,
    "modes": modes,
    "two_sample": two_sample,
    "best_mixture": best_mixture,
}
# Draws that are kept and batches that are read are in main memory, and so are modes: scikit-learn's k-means.
IN_MAIN_MEMORY = {"race", "streams", "modes"}


@pytest.mark.parametrize("name", TOOLS)
def test_tools_give_numpys_numbers(name):
    """Of a client its sums come back, d² + d + 1 numbers."""
    real, generated = drawn(np.float32, WIDTH)
    expected = TOOLS[name](real, generated)
    with device.copies() as copies:
        found = TOOLS[name](*[[device.on_device(x) for x in side] for side in (real, generated)])
    assert np.isfinite(np.asarray(expected, float)).any()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
    if name not in IN_MAIN_MEMORY:
        assert_stays(copies, len(NAMES) * (WIDTH * WIDTH + WIDTH + 1))


@pytest.mark.parametrize("on_device", [0, 1], ids=["clients", "generators"])
@pytest.mark.parametrize(
    "metric",
    by_default(["fid", "kid", "precision", "density", "coverage", "authpct", "mifid"], "fid", "kid", "density"),
)
def test_one_side_may_be_elsewhere(metric, on_device):
    """Copies of rows lie at exactly the radius of a ball: both sides must be compared in one arithmetic."""
    uncertainty = nm.Influence() if metric in ("fid", "kid") else None
    rows = drawn(np.float32, WIDTH)
    rows[1][0][:60], rows[1][1][:60] = rows[0][0][:60], rows[0][1][:60]

    def score(sides):
        forget()
        scores = nm.evaluate(*map(by_name, sides), metric, uncertainty=uncertainty, progress=False)
        return np.concatenate([numbers(scores.table), numbers(scores.clients)])

    expected = score(rows)
    moved = [device.on_device(x) for x in rows[on_device]]
    found = score([moved, rows[1]] if on_device == 0 else [rows[0], moved])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-8 * np.nanmax(np.abs(expected)))


@pytest.mark.parametrize("metric", ["density", "coverage", "authpct"])
def test_what_is_remembered_of_rows_in_one_place_is_not_used_in_another(metric):
    real, generated = drawn(np.float32, WIDTH)
    generated[0][:60], generated[1][:60] = real[0][:60], real[1][:60]
    forget()
    scores = [
        numbers(nm.evaluate(by_name(real), {"g": rows}, metric, progress=False).table)
        for rows in (generated[0], device.on_device(generated[0]), generated[0])
    ]
    np.testing.assert_array_equal(scores[1], scores[0])
    np.testing.assert_array_equal(scores[2], scores[0])


on_a_gpu = pytest.mark.skipif(not IS_GPU, reason="wants a GPU and NBMETRICS_TEST_DEVICE=cuda")


class Made(torch.nn.Module):
    """A generator of points with a random layer, so that it has a stream of random numbers to lose."""

    latent_dim = 3

    def __init__(self):
        super().__init__()
        layers = torch.nn.Linear(3, 16), torch.nn.Dropout(0.2), torch.nn.ReLU(), torch.nn.Linear(16, 2)
        self.layers = torch.nn.Sequential(*layers)

    def forward(self, z):
        return self.layers(z)


@on_a_gpu
def test_a_monitor_leaves_training_on_a_gpu_as_it_is(opened):
    """Bit for bit, with noise drawn on the GPU; and its numbers are those of the rows that the module makes."""
    real = np.random.default_rng(0).normal(size=(2, 200, 2))

    def trained(monitor):
        torch.manual_seed(0)
        model = Made().to(device.DEVICE)
        optimizer = torch.optim.SGD(model.parameters(), 1e-2)
        for step in range(6):
            optimizer.zero_grad()
            made = model(torch.randn(64, 3, device=device.DEVICE))
            (made.mean() ** 2 + (made.std() - 1) ** 2).backward()
            optimizer.step()
            if monitor is not None:
                monitor.log(step, model)
                monitor.wait()
        return model

    monitor = opened(nm.Monitor, list(real), "fid", samples=300, keep_all=True)
    plain, watched = trained(None), trained(monitor)
    for a, b in zip(plain.state_dict().values(), watched.state_dict().values(), strict=True):
        assert torch.equal(a, b)
    table = monitor.table
    assert len(table) == 6 and np.isfinite(table["all"]).all()
    on_cpu = opened(nm.Monitor, list(real), "fid", samples=300, keep_all=True)
    on_cpu.log(5, watched.cpu())
    on_cpu.wait()
    assert table["all"].iloc[-1] == pytest.approx(on_cpu.table["all"].iloc[-1], rel=1e-4)


@on_a_gpu
@pytest.mark.parametrize("kind", ["wgan-gp", "ddpm"])
def test_a_seed_means_the_same_on_a_gpu(kind):
    points = [np.random.default_rng(i).normal(i, 0.3, size=(200, 2)) for i in range(2)]
    settings = {"rounds": 5, "local_steps": 2, "seed": 0}
    rows = [
        nm.training.train(kind, points, device=place, **settings).sample(50, np.random.default_rng(0))
        for place in ("cpu", "cuda")
    ]
    np.testing.assert_allclose(*map(to_numpy, rows), atol=1e-3)
