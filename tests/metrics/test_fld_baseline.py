"""FLD over a federation, and the mixture fitted to train rows that its baseline is."""

import numpy as np
import pytest
from scipy.special import logsumexp

import nbmetrics as nm
from nbmetrics.arrays import concat
from nbmetrics.metrics import mixture as mixture_fit
from nbmetrics.metrics.base import Sample
from nbmetrics.metrics.fld import FLD, fld, fld_gap


@pytest.fixture(scope="module")
def federation():
    rng = np.random.default_rng(4)
    return nm.Federation({k: rng.normal(size=(n, 4)) + i for i, (k, n) in enumerate([("a", 200), ("b", 300)])})


def test_avg_and_all_over_a_federation(federation):
    split, rng = federation.split(test=0.2, seed=0), np.random.default_rng(5)
    made = {"near": rng.normal(size=(250, 4)) + 0.5, "far": rng.normal(size=(250, 4)) + 2.0}
    table = nm.evaluate(split, made, metrics=[FLD()], progress=False).table.set_index("generator")
    for name, generated in made.items():
        by_client = [fld(c.rows, c.test, generated) for c in split]
        pooled = fld(concat([c.rows for c in split]), concat([c.test for c in split]), generated)
        assert table.loc[name, "avg"] == pytest.approx(np.dot(split.weights, by_client), abs=1e-8)
        assert table.loc[name, "all"] == pytest.approx(pooled, abs=1e-8)
    assert table.loc["near", "all"] < table.loc["far", "all"]


def test_a_client_without_a_test_set_and_uneven_weights_are_told(federation):
    made = {"g": np.random.default_rng(5).normal(size=(50, 4))}
    with pytest.raises(nm.InvalidInput, match=r"federation\.split\(test=0\.2, seed=0\)"):
        nm.evaluate(federation, made, metrics=[FLD()], progress=False)
    uneven = federation.split().with_weights([0.5, 0.5])
    scores = nm.evaluate(uneven, made, metrics=[FLD()], progress=False)
    assert np.isfinite(scores.clients["value"]).all()
    assert scores.table["all"].isna().all()
    assert any("proportional to the clients' numbers of rows" in line for line in scores.conventions)


def test_a_client_fits_its_baseline_once_for_each_size(monkeypatch):
    fits = []
    plain = mixture_fit.fit
    monkeypatch.setattr("nbmetrics.metrics.fld.fit", lambda *args: fits.append(args) or plain(*args))
    rng, metric = np.random.default_rng(2), FLD()
    client = metric.summarize(Sample(rows=rng.normal(size=(60, 2)), test=rng.normal(size=(40, 2))))
    sizes = [20, 20, 25, 50, 80]
    for m in sizes:
        metric.distance(client, metric.summarize(Sample(rows=rng.normal(size=(m, 2)))))
    assert len(fits) == len(sizes) + len({20, 25, 30})
    metric = FLD(seed=1)
    metric.distance(client, metric.summarize(Sample(rows=rng.normal(size=(20, 2)))))
    assert len(fits) == len(sizes) + 3 + 2


# --- the baseline


def drawn(seed, *sizes, dim=8):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n, dim)) for n in sizes]


@pytest.mark.parametrize(("m", "centres"), [(30, 30), (75, 75), (90, 75)])
def test_the_baseline_is_fitted_to_all_the_train_rows_that_are_no_centres(monkeypatch, m, centres):
    fits = []
    plain = mixture_fit.fit
    monkeypatch.setattr("nbmetrics.metrics.fld.fit", lambda *args: fits.append(args) or plain(*args))
    train, test, made = drawn(0, 150, 80, m)
    score = fld(train, test, made, seed=4)
    fitted, at, scale = fits[-1]
    assert len(at) == centres and len(fitted) == 150 - centres
    assert {row.tobytes() for row in np.concatenate([at, fitted])} == {row.tobytes() for row in train}
    # by hand: the mixture on these centres, fitted by plain EM, beside the one on the generated rows
    densities = [likelihood_by_hand(scale, rows, c, test) for rows, c in ((fitted, at), (train, made))]
    assert score == pytest.approx(100 * (densities[0] - densities[1]), abs=0.2)


def likelihood_by_hand(scale, rows, centres, test):
    x, c, z = (scale(a) for a in (rows, centres, test))
    dim, apart = x.shape[1], ((x[:, None, :] - c) ** 2).sum(2)
    apart = np.column_stack([apart, 0.81 * ((x - x.mean(0)) ** 2).sum(1)])
    weight = np.append(np.full(len(c), -np.log(len(c))), 0.0)
    log_var = np.log((apart.min(0) + 1e-3) / dim)
    for _ in range(300):
        joint = weight - 0.5 * apart * np.exp(-log_var) - 0.5 * dim * log_var
        share = np.exp(joint - logsumexp(joint, axis=1)[:, None])
        log_var = np.clip(np.log((share * apart).sum(0) / (dim * share.sum(0))), -40, 40)
    joint = -0.5 * ((z[:, None, :] - c) ** 2).sum(2) * np.exp(-log_var[:-1]) - 0.5 * dim * log_var[:-1]
    return logsumexp(joint - np.log(len(c)), axis=1).mean() / dim - 0.5 * np.log(2 * np.pi)


def test_a_perfect_generator_of_few_rows_scores_about_0():
    found = [fld(*drawn(seed, 2000, 1000, 100), seed=seed) for seed in range(6)]
    assert abs(np.mean(found)) < 1.2  # −2.4 where the baseline is fitted to 100 rows, and the generator to 2,000


def test_a_perfect_generator_of_as_many_rows_as_train_scores_below_0():
    half, whole = ([fld(*drawn(seed, 400, 400, m), seed=seed) for seed in range(6)] for m in (200, 400))
    assert np.mean(whole) < np.mean(half) - 0.5
    assert "below 0 with more" in FLD().convention


def test_exact_copies_of_a_part_of_train_have_no_gap():
    train, test, _ = drawn(1, 200, 100, 1)
    assert np.isnan(fld_gap(train, test, train[:100])) and fld(train, test, train[:100]) > 1e10
    assert fld_gap(train, test, train) < -1e6
    assert np.isfinite(fld_gap(train, test, np.concatenate([train[:100], test[:2] + 1])))


@pytest.mark.parametrize(
    ("sizes", "who"), [((15, 900), "1 of 2 clients has"), ((15, 18), "2 of 2 clients have"), ((15,), "the client has")]
)
def test_a_caution_has_the_verb_of_its_number(sizes, who):
    rng = np.random.default_rng(0)
    clients = [nm.Client(rng.normal(size=(n, 2)), test=rng.normal(size=(50, 2))) for n in sizes]
    cautions = nm.evaluate(nm.Federation(clients), {"g": rng.normal(size=(500, 2))}, ["fld", "fid"]).cautions
    for metric in ("FLD", "FID"):
        assert any(line.startswith(f"{metric}: {who} fewer than") for line in cautions), cautions
