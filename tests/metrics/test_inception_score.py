"""Inception Score and AM Score of class probabilities: the formula, torch-fidelity, splits and weights."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from scipy.stats import entropy

import nbmetrics as nm
from nbmetrics.metrics import InceptionScore, Sample
from tests.benchmarks import peers

RNG = np.random.default_rng(20261125)
LOGITS = RNG.normal(size=(83, 7)) * 2
P = softmax(LOGITS, axis=1)


def formula(p):
    """exp of the mean Kullback–Leibler divergence from the marginal."""
    return np.exp(np.mean([entropy(row, p.mean(axis=0)) for row in p]))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_it_is_the_formula(dtype):
    tolerance = {np.float16: 2e-3, np.float32: 1e-5, np.float64: 1e-12}[dtype]
    assert nm.inception_score(P.astype(dtype)) == pytest.approx(formula(P), rel=tolerance)


@pytest.mark.parametrize("splits", [1, 2, 10, 83])
def test_splits_are_cut_in_order(splits):
    cuts = [i * 83 // splits for i in range(splits + 1)]
    parts = [P[a:b] for a, b in itertools.pairwise(cuts)]
    assert nm.inception_score(P, splits) == pytest.approx(np.mean([formula(p) for p in parts]), rel=1e-12)


@pytest.mark.parametrize("splits", [1, 10])
def test_torch_fidelity(splits):
    if (peer := peers.torch_fidelity_isc()) is None:
        pytest.skip("torch-fidelity does not import here: pip install nbmetrics[bench]")
    assert nm.inception_score(P, splits) == pytest.approx(peer[1](LOGITS, splits), rel=1e-9)
    # its own default shuffles the rows, by this very generator
    order = np.random.RandomState(2020).permutation(83)
    assert nm.inception_score(P[order], splits) == pytest.approx(peer[1](LOGITS, splits, shuffle=True), rel=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tensors(dtype):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    given_rows = torch.from_numpy(LOGITS.astype(dtype)).softmax(dim=1)
    assert nm.inception_score(given_rows) == pytest.approx(formula(P), rel=1e-5 if dtype == "float32" else 1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 6), st.integers(1, 5))
def test_clear_and_even_classes_are_counted(classes, each):
    clear = np.repeat(np.eye(6)[:classes], each, axis=0)
    assert nm.inception_score(clear) == pytest.approx(classes, rel=1e-12)
    assert nm.inception_score(np.full((each, 6), 1 / 6)) == pytest.approx(1.0, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 99), st.integers(2, 40))
def test_order_does_not_matter_and_bounds_hold(seed, n):
    p = np.random.default_rng(seed).dirichlet(np.full(5, 0.3), size=n)
    assert 1.0 <= nm.inception_score(p) <= min(n, 5) + 1e-9
    assert nm.inception_score(p[::-1, ::-1]) == pytest.approx(nm.inception_score(p), rel=1e-9)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=2, max_size=2).filter(any), st.sampled_from([1, 2]))
def test_a_weighted_mixture_is_that_of_repeated_rows(weights, splits):
    parts, metric = (P[:12], P[40:48]), InceptionScore(splits)
    pooled = metric.pool([metric.summarize(Sample(rows=p)) for p in parts], np.array(weights) / sum(weights))
    # split by split: the first half of the mixture is that of the first halves
    halves = [[p[i * len(p) // splits : (i + 1) * len(p) // splits] for p in parts] for i in range(splits)]
    repeated = [
        np.concatenate([np.repeat(p, w * 24 // len(p), axis=0) for p, w in zip(half, weights, strict=True)])
        for half in halves
    ]
    assert metric.score(pooled) == pytest.approx(np.mean([formula(p) for p in repeated]), rel=1e-9)


def test_tables_say_that_clients_do_not_matter():
    scores = nm.evaluate({"a": P[:20], "b": P[20:]}, {"g": P[:30]}, "inception_score", progress=False)
    row = scores.table.iloc[0]
    assert [row["avg"], row["all"]] == pytest.approx([formula(P[:30])] * 2, rel=1e-12)
    said = "Inception Score: rows are class probabilities, all; looks at the generator alone: avg = all"
    assert scores.conventions[0].startswith(said)
    assert (scores.ledger.query("aggregate == 'all'")["bytes"] == 0).all()


def test_am_score_is_the_formula():
    real, made = P[:40], P[40:]
    wanted = entropy(real.mean(axis=0), made.mean(axis=0)) + np.mean([entropy(row) for row in made])
    assert nm.am_score(real, made) == pytest.approx(wanted, rel=1e-12)
    assert nm.am_score(real.astype(np.float32), made.astype(np.float32)) == pytest.approx(wanted, rel=1e-5)
    clear = np.eye(3)[[0, 0, 1, 2]]
    assert nm.am_score(clear, clear[::-1]) == 0.0


def test_am_score_of_half_the_classes_or_of_unclear_ones():
    real = np.eye(4)
    made = 0.999999 * np.eye(4)[:2].repeat(2, axis=0) + 1e-6 / 4
    assert nm.am_score(real, made) > 5.0  # classes that are never made cost most
    assert nm.am_score(real, np.full((3, 4), 0.25)) == pytest.approx(np.log(4), rel=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(any), st.integers(0, 99))
def test_the_gap_of_am_score_is_that_of_the_clients_classes(weights, seed):
    rng = np.random.default_rng(seed)
    clients = [rng.dirichlet(rng.random(4) + 0.2, size=n) for n in (6, 12, 4)]
    made = {str(k): rng.dirichlet(np.full(4, 0.5), size=10) for k in range(3)}
    federation = nm.Federation(clients).with_weights(weights)
    table = nm.evaluate(federation, made, "am_score", progress=False).table
    shares = np.array(weights) / sum(weights)
    means = np.array([c.mean(axis=0) for c in clients])
    gap = sum(w * entropy(m, shares @ means) for w, m in zip(shares, means, strict=True) if w)
    np.testing.assert_allclose(table["gap"], gap, atol=1e-12)
    repeated = [np.repeat(c, w * 12 // len(c), axis=0) for c, w in zip(clients, weights, strict=True)]
    pooled = [nm.am_score(np.concatenate(repeated), rows) for rows in made.values()]
    np.testing.assert_allclose(table["all"], pooled, rtol=1e-9)


def test_bootstraps_cover_what_varies():
    metrics = ["inception_score", "am_score"]
    scores = nm.evaluate([P[:30], P[30:60]], {"g": P[43:]}, metrics, uncertainty=nm.Bootstrap(40), progress=False)
    assert any(line.startswith("Intervals of Inception Score, AM Score: 90%, 40 boot") for line in scores.conventions)
    table = scores.table
    assert (table["all_low"] < table["all_high"]).all() and (table["all_low"] >= [1.0, 0.0]).all()
    assert abs(table["gap_low"][0]) < 1e-12 and abs(table["gap_high"][0]) < 1e-12  # avg = all in each replicate
    sent = [nm.federated.client_summary(P[a : a + 30], "am_score") for a in (0, 30)]
    ledger = scores.ledger.query("metric == 'am_score' and aggregate == 'all'")
    assert ledger["bytes"].tolist() == [len(data) for data in sent]
    again = nm.federated.aggregate(sent, None, {"g": P[43:]}, "am_score").table
    np.testing.assert_allclose(again[["avg", "all"]], table.loc[[1], ["avg", "all"]], rtol=1e-12)


def test_a_class_that_is_never_made_has_no_am_score():
    scores = nm.evaluate([np.eye(3)], {"g": np.eye(3), "two": np.eye(3)[:2]}, "am_score", progress=False)
    assert scores.table["all"].tolist() == pytest.approx([0.0, np.nan], nan_ok=True)
    assert any("class 2 occurs in the real rows" in line for line in scores.cautions)


REFUSED = {
    "logits": (lambda: nm.inception_score(LOGITS), "row 0 sums to", "softmax"),
    "one bad row": (lambda: nm.inception_score(np.concatenate([P, 2 * P[:1]])), "row 83 sums to 2", "softmax"),
    "a negative share": (
        lambda: nm.inception_score([[0.5, 0.5], [1.5, -0.5]]),
        "row 1 .* least entry of -0.5",
        "softmax",
    ),
    "fewer rows than splits": (lambda: nm.inception_score(P[:5], 6), "has 5 rows", "."),
    "no rows": (lambda: nm.inception_score(P[:0]), "has 0 rows", "."),
    "NaN": (lambda: nm.inception_score(P * np.nan), "NaN", "Drop or fix"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case):
    act, seen, fix = REFUSED[case]
    with pytest.raises(nm.InvalidInput, match=rf"^probabilities: .*{seen}.*{fix}"):
        act()


def test_features_are_refused_by_the_name_of_who_gave_them():
    with pytest.raises(nm.InvalidInput, match=r"generator 'g', inception_score, probabilities: row 0 sums to"):
        nm.evaluate([P], {"g": LOGITS}, "inception_score", progress=False)
