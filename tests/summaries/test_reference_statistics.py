"""nm.Moments: files as their peers write them, against the peers' formula; and files that are none of these."""

import os
import time
import tracemalloc

import numpy as np
import pytest
import scipy.linalg

import nbmetrics as nm
from tests.benchmarks import peers
from tests.slow import some_of

from .damaged_npz import GOOD, STATE, all_damaged, npz

DAMAGED = all_damaged()


def frechet(mu, sigma, other_mu, other_sigma):
    """pytorch-fid's calculate_frechet_distance, written anew: SciPy's sqrtm of the product of the covariances."""
    root = scipy.linalg.sqrtm(np.dot(sigma, other_sigma))
    shift = np.subtract(mu, other_mu)
    return float(shift @ shift + np.trace(sigma) + np.trace(other_sigma) - 2.0 * np.trace(np.real(root)))


def statistics(rows):
    return {"mu": np.mean(rows, axis=0), "sigma": np.cov(rows, rowvar=False)}


def state_of(rows, side="real"):
    """What torchmetrics' FrechetInceptionDistance keeps after `update`."""
    sums = {"features_sum": rows.sum(axis=0), "features_cov_sum": rows.T @ rows, "features_num_samples": len(rows)}
    return {f"{side}_{name}": np.array(value) for name, value in sums.items()}


def draw(n, d=6, seed=0, shift=0.0):
    rng = np.random.default_rng([seed, n, d])
    return np.maximum(rng.normal(shift, 1, size=(n, d)) @ np.diag(np.linspace(0.5, 2, d)), -0.5)


REAL, FAKE = draw(400), draw(300, seed=1, shift=0.3)
IMAGES = np.random.default_rng(0).integers(0, 256, size=(10, 4, 4, 3), dtype=np.uint8)
FILES = {
    "pytorch-fid": (np.savez_compressed, statistics(REAL)),
    "clean-fid": (np.savez_compressed, statistics(REAL)),
    "edm": (np.savez, statistics(REAL)),
    "adm": (np.savez, statistics(REAL) | {"mu_s": np.zeros(9), "sigma_s": np.eye(9), "arr_0": IMAGES}),
    "torchmetrics": (np.savez, state_of(REAL)),
    "nbmetrics": (lambda path, **_: nm.Moments.of(REAL).save(path), {}),
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_each_peer_scores_as_its_formula_and_as_the_rows(name, here):
    save, arrays = FILES[name]
    save("ref.npz", **arrays)
    np.savez("fake.npz", **statistics(FAKE))
    expected = frechet(*statistics(REAL).values(), *statistics(FAKE).values())
    for generated in (FAKE, "fake.npz", nm.Moments.of(FAKE)):
        found = nm.evaluate({"ref": "ref.npz"}, {"g": generated}, "fid").table["avg"][0]
        assert found == pytest.approx(expected, rel=1e-6)
        assert found == pytest.approx(nm.fid(REAL, FAKE), rel=1e-9)
    assert nm.Moments.load("ref.npz").n == (400 if name in ("torchmetrics", "nbmetrics") else None)


def test_pytorch_fid_itself_gives_the_same(here):
    score = peers.imported("pytorch_fid.fid_score")
    if score is None:
        pytest.skip("pytorch-fid does not import here: pip install nbmetrics[bench]")
    path = nm.Moments.of(REAL).save("ref.npz")
    mu, sigma = score.compute_statistics_of_path(str(path), None, 1, 6, "cpu")
    np.testing.assert_allclose(mu, REAL.mean(axis=0), rtol=1e-12)
    _, distance = peers.pytorch_fid()  # its formula where SciPy is too new for it
    expected = distance(mu, sigma, *statistics(FAKE).values())
    assert nm.fid(nm.Moments.load(path), FAKE) == pytest.approx(expected, rel=1e-6)


def test_torchmetrics_state_gives_the_same():
    image = peers.imported("torchmetrics.image.fid")
    if image is None:
        pytest.skip("torchmetrics does not import here: pip install nbmetrics[bench]")
    import torch

    class Flat(torch.nn.Module):
        num_features = 6

        def forward(self, x):
            return x.reshape(len(x), -1)[:, :6]

    metric = image.FrechetInceptionDistance(Flat(), normalize=True, input_img_size=(3, 2, 2))
    metric.set_dtype(torch.float64)
    generator = torch.Generator().manual_seed(0)
    images = [torch.rand(n, 3, 2, 2, generator=generator, dtype=torch.float64) for n in (50, 40)]
    for some, is_real in zip(images, (True, False), strict=True):
        metric.update(some, real=is_real)
    metric.persistent(True)
    real, fake = (nm.Moments.from_state(metric.state_dict(), side) for side in ("real", "fake"))
    rows = [some.reshape(len(some), -1)[:, :6].numpy() for some in images]
    assert (real.n, fake.n) == (50, 40)
    assert nm.fid(real, fake) == pytest.approx(nm.fid(*rows), rel=1e-9)
    assert nm.fid(real, fake) == pytest.approx(float(metric.compute()), rel=1e-6)


def test_both_sides_of_a_state_need_to_be_told_apart(here):
    both = state_of(REAL) | state_of(FAKE, "fake")
    assert nm.Moments.from_state(both, "fake").n == 300
    assert nm.Moments.from_state(state_of(REAL) | state_of(FAKE[:0], "fake")).n == 400  # torchmetrics before `update`
    np.savez("state.npz", **both)
    assert nm.Moments.load("state.npz", side="real").n == 400
    for refused in (lambda: nm.Moments.from_state(both), lambda: nm.Client("state.npz")):
        with pytest.raises(nm.InvalidInput, match='side="real" or side="fake"'):
            refused()
    with pytest.raises(nm.InvalidInput, match="side"):
        nm.Moments.from_state(both, "other")


def test_saved_files_come_back_and_name_their_n(here):
    rows = draw(9, 4)
    for moments in (nm.Moments.of(rows), nm.Moments(rows.mean(axis=0), np.cov(rows.T)), nm.Moments([1.0], [[2.0]], 5)):
        again = nm.Moments.load(moments.save("m.npz"))
        np.testing.assert_array_equal(again.mean, moments.mean)
        np.testing.assert_array_equal(again.cov, moments.cov)
        assert again.n == moments.n and again.notes == ()
    with pytest.raises(nm.InvalidInput, match=r"\.npz"):
        moments.save("m.npy")


def test_what_adm_files_have_beside_mu_and_sigma_is_told(here):
    FILES["adm"][0]("ref.npz", **FILES["adm"][1])
    notes = nm.Moments.load("ref.npz").notes
    assert any("mu_s and sigma_s" in note for note in notes)
    assert any("10 images" in note and "of others" in note for note in notes)
    cautions = " ".join(nm.evaluate({"ref": "ref.npz"}, {"g": FAKE}, "fid").cautions)
    assert "arr_0" in cautions and "mu_s" in cautions


@pytest.mark.parametrize("n", [40, 300])
@pytest.mark.parametrize("known", [True, False])
def test_singular_and_float32_covariances(n, known):
    d = 64
    real, fake = draw(n, d), draw(500, d, seed=1, shift=0.1)
    given = {name: array.astype(np.float32) for name, array in statistics(real).items()}
    moments = nm.Moments(given["mu"], given["sigma"], n if known else None)
    assert nm.fid(moments, fake) == pytest.approx(nm.fid(real, fake), rel=1e-4)
    assert bool(moments.notes) == (n <= d) and all("float32" in note for note in moments.notes)
    exact = nm.Moments(*statistics(real).values(), n if known else None)
    assert nm.fid(exact, fake) == pytest.approx(nm.fid(real, fake), rel=1e-9) and exact.notes == ()


def test_one_feature_and_equal_rows(here):
    np.savez("one.npz", mu=np.mean(REAL[:, :1], axis=0), sigma=np.cov(REAL[:, :1], rowvar=False))  # sigma has no axis
    assert nm.fid(nm.Moments.load("one.npz"), FAKE[:, :1]) == pytest.approx(nm.fid(REAL[:, :1], FAKE[:, :1]), rel=1e-9)
    still = nm.Moments(np.ones(3), np.zeros((3, 3)), 10)
    assert nm.fid(still, np.ones((5, 3))) == 0.0


def test_rows_may_be_streamed():
    whole = nm.Moments.of(REAL)
    for rows in (iter([REAL[:150], REAL[150:]]), lambda: iter([REAL[:9], REAL[9:]]), nm.Stream(lambda: iter([REAL]))):
        streamed = nm.Moments.of(rows)
        np.testing.assert_allclose(streamed.cov, whole.cov, rtol=1e-12, atol=1e-14)
        assert streamed.n == 400
    for bad in ("rows.npy", REAL[:1], lambda: iter([REAL[:1]]), None, nm.Gaussian([0.0]), iter([]), REAL * np.nan):
        with pytest.raises(nm.InvalidInput):
            nm.Moments.of(bad)


def test_damaged_files_are_as_many_as_said_and_the_good_one_is_none(here):
    assert len(DAMAGED) >= 200
    for arrays in (GOOD, STATE):
        (here / "good.npz").write_bytes(npz(arrays))
        assert nm.Moments.load("good.npz").n == 20


@pytest.mark.parametrize("name", some_of(DAMAGED, 3))
def test_a_damaged_file_is_refused_by_its_name_at_once(name, here, capsys):
    (here / "ref.npz").write_bytes(DAMAGED[name]())
    tracemalloc.start()
    start = time.process_time()
    for load in (nm.Moments.load, nm.Client, lambda path: nm.Generator(path, name="g")):
        with pytest.raises(nm.InvalidInput) as why:
            load("ref.npz")
        assert "ref.npz" in str(why.value) and why.value.fix
    assert time.process_time() - start < 2.0
    assert tracemalloc.get_traced_memory()[1] < 2e7
    tracemalloc.stop()
    assert "opened" not in capsys.readouterr().out


def test_places_that_are_no_file_are_refused(here):
    (here / "folder.npz").mkdir()
    places = ["folder.npz", "missing.npz", "", "a\0b.npz", 3, None]
    if hasattr(os, "mkfifo"):
        os.mkfifo("pipe.npz")
        places.append("pipe.npz")
    for place in places:
        with pytest.raises(nm.InvalidInput):
            nm.Moments.load(place)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((["a"], [[1.0]]), "mean"),
        (([1.0], [[np.nan]]), "cov"),
        (([1.0, 2.0], [[1.0]]), "cov"),
        (([1.0], [[1.0]], 1), "n: "),
        (([1.0], [[1.0]], True), "n: "),
        ((np.zeros(9000), np.eye(2)), "9,000 features"),
        ((np.zeros(3), np.eye(3), 3), "more than 2 directions"),
        ((np.zeros(2), [[1.0, 2.0], [2.0, 1.0]]), "not positive semi-definite"),
        ((np.zeros(2), [[1.0, 0.5], [0.4, 1.0]]), "not symmetric"),
    ],
)
def test_bad_arguments_are_named(arguments, match):
    with pytest.raises(nm.InvalidInput, match=match):
        nm.Moments(*arguments)
