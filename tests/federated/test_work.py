"""A study of noise: how long it would take is said before, how far it is meanwhile; its short ways are exact."""

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.federated import noise_study as study_module
from nbmetrics.federated import noisy_summaries
from nbmetrics.federated.noise_study import noise_study

RNG = np.random.default_rng(9)
CLIENTS = {"a": RNG.normal(0, 1, size=(40, 3)), "b": RNG.normal(1, 1, size=(30, 3))}
GENERATORS = {"near": nm.Gaussian([0.5] * 3, 1.2), "far": nm.Gaussian([2.0] * 3)}
KID_OF_FEATURES = nm.metrics.KID(nm.RandomFeatures(nm.RBF(), 64))


def nearest_covariance(matrix):
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.clip(values, 0.0, None)) @ vectors.T


@pytest.mark.parametrize("d", [1, 2, 5, 70])
@pytest.mark.parametrize("noise", [1e-9, 0.1, 10.0], ids=["positive", "some negative", "half negative"])
def test_the_repair_cuts_negative_eigenvalues_off_and_nothing_else(d, noise):
    """Against the plain formula: eigenvalues clipped, the trace term by the root of one side."""
    rng = np.random.default_rng([d, 3])
    n, shift = 50, rng.normal(size=d)
    own = rng.normal(size=(3 * d, d)) * np.geomspace(1.0, 0.1, d)
    second, made = own.T @ own / (3 * d), rng.normal(size=(d, d))
    second += noise * (made + made.T)
    second[0, 0] -= noise
    mean = rng.normal(size=d) / 10
    moments = noisy_summaries.NoisyMoments(n, mean, second, shift, noise**2)
    generated = rng.normal(size=(4 * d + 9, d))
    found = noisy_summaries.NoisyFID().terms(moments, nm.metrics.FID().summarize(nm.metrics.Sample(rows=generated)))
    cov = nearest_covariance((second - np.outer(mean, mean) + noise**2 * np.eye(d)) * n / (n - 1))
    other = np.cov(generated.T).reshape(d, d)
    values, vectors = np.linalg.eigh(other)
    root = (vectors * np.sqrt(values)) @ vectors.T
    cross = np.sqrt(np.clip(np.linalg.eigvalsh(root @ cov @ root), 0.0, None)).sum()
    traces = np.trace(cov) + np.trace(other)
    assert found["mean"] == pytest.approx(np.sum((mean + shift - generated.mean(axis=0)) ** 2))
    assert found["covariance"] == pytest.approx(traces - 2 * cross, abs=1e-6 * traces)
    np.testing.assert_allclose(moments.repaired_moments.cov, cov, atol=1e-12 * max(np.trace(cov), 1.0))


def test_a_study_of_wide_features_is_refused_before_anything_is_computed(monkeypatch):
    monkeypatch.setattr(study_module, "evaluate", lambda *_, **__: pytest.fail("was begun"))
    monkeypatch.setattr(study_module, "bounded_section", lambda *_: pytest.fail("was begun"))
    monkeypatch.setattr(
        study_module, "time_release", lambda metric, width: (0.5, 0.25) if metric.name == "fid" else (1e-3, 1e-3)
    )
    wide = {"a": np.zeros((2, 2048)), "b": np.zeros((2, 2048)), "c": np.zeros((2, 2048))}
    generators = {"g": np.zeros((2, 2048)), "h": np.zeros((2, 2048))}
    # 4³ times 512 features; 5 ε × 3 runs × (3 clients + their pool) × (0.75 · 64 + 0.002) s = 0.8 hours
    settings = {"clip": 4.0, "epsilons": [1, 2, 3, 4, 5], "repeats": 3}
    said = r"^repeats: would take about 0\.8 hours here: 5 ε of 3 runs, 3 clients, 2 generators and 2,048 features\."
    for make in (nm.federated.rank_survival, nm.PrivacyLab):
        with pytest.raises(nm.InvalidInput, match=said + r" Give .*PCA.* hours="):
            make(wide, generators, ["fid", KID_OF_FEATURES], **settings, hours=0.79)
    with pytest.raises(nm.InvalidInput, match=r"Give fewer repeats, epsilons, clients or generators; or allow"):
        nm.federated.rank_survival(wide, generators, KID_OF_FEATURES, **settings, hours=0.0)  # wide rows cost no more
    with pytest.raises(pytest.fail.Exception, match="was begun"):
        nm.federated.rank_survival(wide, generators, ["fid", KID_OF_FEATURES], **settings, hours=0.81)
    with pytest.raises(nm.InvalidInput, match=r"^hours"):
        nm.federated.rank_survival(CLIENTS, GENERATORS, "fid", clip=4.0, hours=-1)


def test_the_time_is_that_of_one_release_here():
    assert study_module.time_release(nm.metrics.metric_of("vendi"), 3) == (0.0, 0.0)  # nothing of a client is in it
    for metric in (nm.metrics.FID(), KID_OF_FEATURES):
        assert min(study_module.time_release(metric, 2)) > 0.0
    wide = nm.metrics.KID(nm.RandomFeatures(nm.RBF(), 64))
    assert study_module.seconds_of(wide, 10**6, 2) < 1.0  # however wide the rows


def test_the_bar_counts_every_score(monkeypatch):
    bars = []

    class Bar:
        def __init__(self, progress, steps):
            self.progress, self.steps, self.done = progress, steps, 0
            bars.append(self)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def update(self, count):
            self.done += count

    monkeypatch.setattr(study_module, "progress_bar", Bar)
    metrics = ["fid", KID_OF_FEATURES, "vendi"]
    noise_study(CLIENTS, GENERATORS, metrics, clip=4.0, epsilons=[1.0, 2.0], repeats=3, samples=9, progress=False)
    (bar,) = bars
    # without noise, and 2 ε × 3 runs; of 2 metrics, 2 clients and their pool with 2 generators
    assert (bar.progress, bar.done, bar.steps) == (False, 84, 84)


def test_the_bar_is_shown_on_demand(capsys):
    options = {"clip": 4.0, "epsilons": [1.0], "repeats": 2, "samples": 9}
    nm.federated.rank_survival(CLIENTS, GENERATORS, "fid", **options, progress=False)
    assert "%" not in capsys.readouterr().err
    nm.federated.rank_survival(CLIENTS, GENERATORS, "fid", **options, progress=True)
    assert "%" in capsys.readouterr().err
    with pytest.raises(nm.InvalidInput, match="progress"):
        nm.federated.rank_survival(CLIENTS, GENERATORS, "fid", **options, progress="often")
