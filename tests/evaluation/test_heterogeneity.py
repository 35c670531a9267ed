"""Scores.heterogeneity: dealt gaps against evaluate() on the dealt rows, p-values, levels, refusals, the caution."""

import math
import pickle

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.evaluation import heterogeneity
from nbmetrics.evaluation.heterogeneity import Parties, fid_gaps, kernel_gaps, p_value
from nbmetrics.metrics.fid.size_gap import size_gap
from nbmetrics.metrics.kid.metric import CUBIC
from nbmetrics.summaries.moments import Moments
from tests.calibration.heterogeneity import CASES, draw, p_values, rejected
from tests.slow import slow


@pytest.fixture
def without_debiased(monkeypatch):
    """The debiased gap has tests of its own; here it costs nothing."""
    monkeypatch.setattr(heterogeneity, "_debiased_gap", lambda real, generated, weights: ((math.nan,) * 3, []))


def clients_of(sizes, d, *, distribution="iso", shift=0.0, seed=0):
    rng = np.random.default_rng(seed)
    return [draw(distribution, n, d, rng) + shift * rng.standard_normal(d) for n in sizes]


def table(rows, generators, weights=None, **more):
    federation = nm.Federation(rows)
    federation = federation if weights is None else federation.with_weights(weights)
    return nm.evaluate(federation, generators, "fid", progress=False).heterogeneity(**more)


def alike(n, d, clients=10, made=5_000):
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=(n, d)) for _ in range(clients)]
    return nm.evaluate(rows, {"G": rng.normal(size=(made, d))}, "fid", progress=False)


SHAPES = [
    ((9, 14, 20), 5, None),
    ((9, 14, 20), 5, [1, 1, 1]),
    ((6, 6), 30, None),
    ((12, 7, 30), 12, [3, 0.5, 1]),
    ((80, 120), 70, [1, 1]),
]


@pytest.mark.parametrize(("sizes", "d", "weights"), SHAPES)
@pytest.mark.parametrize("made", ["rows", "few rows", "distribution"])
def test_a_dealt_gap_is_the_gap_of_the_dealt_rows(sizes, d, weights, made):
    rows = clients_of(sizes, d, shift=0.3)
    rng = np.random.default_rng(1)
    source = {
        "rows": 1.3 * rng.normal(size=(200, d)) + 2,
        "few rows": rng.normal(size=(max(2, d // 2), d)),
        "distribution": nm.Gaussian(np.arange(d) / d, 1 + np.arange(d)),
    }[made]
    shares = np.array(sizes if weights is None else weights, dtype=float)
    parties = Parties(np.concatenate(rows), sizes, tuple(shares / shares.sum()))
    deals = parties.deals(4, [0])
    summary = Moments.of_distribution(source) if made == "distribution" else Moments.of_rows(source)
    [(gaps, tie)] = fid_gaps(parties, deals, [summary])
    for deal, gap in zip(deals, gaps, strict=True):
        dealt = np.split(parties.rows[deal], parties.ends)
        scores = nm.evaluate(nm.Federation(dealt).with_weights(shares), [source], ["fid", "kid"], progress=False)
        assert gap == pytest.approx(scores.table["gap"][0], abs=tie / 10)


@pytest.mark.parametrize(("sizes", "d", "weights"), SHAPES)
@pytest.mark.parametrize("block", [None, 2_000])
def test_a_dealt_gap_of_kid_is_that_of_the_dealt_rows_in_blocks_of_any_size(sizes, d, weights, block, monkeypatch):
    if block:
        monkeypatch.setattr(
            heterogeneity, "row_blocks", lambda n, each: (slice(a, min(a + 7, n)) for a in range(0, n, 7))
        )
        monkeypatch.setattr(heterogeneity, "BY_PRODUCT", 3)  # small clients by look-ups, large ones by products
    shares = np.array(sizes if weights is None else weights, dtype=float)
    parties = Parties(np.concatenate(clients_of(sizes, d, shift=0.3)), sizes, tuple(shares / shares.sum()))
    deals = parties.deals(4, [0])
    gaps, _ = kernel_gaps(CUBIC, parties, deals)
    for deal, gap in zip(deals, gaps, strict=True):
        federation = nm.Federation(np.split(parties.rows[deal], parties.ends)).with_weights(shares)
        kid = nm.metrics.KID(estimator="stratified")
        wanted = nm.evaluate(federation, [nm.Gaussian(np.zeros(d))], kid, progress=False).table["gap"][0]
        assert gap == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@pytest.mark.usefixtures("without_debiased")
def test_the_table_is_the_gap_the_mean_of_deals_and_their_share_that_is_as_large():
    rows, made = (
        clients_of((20, 40, 60), 8, shift=0.1),
        {"g": clients_of((90,), 8)[0], "distribution": nm.Gaussian(np.zeros(8))},
    )
    scores = nm.evaluate(rows, made, ["fid", "kid"], progress=False)
    found = scores.heterogeneity("fid", shuffles=39, seed=3)
    assert list(found) == ["generator", "gap", "shuffled", "debiased", "debiased_low", "debiased_high", "p", "p_kid"]
    assert list(found["generator"]) == ["g", "distribution"]
    wanted = scores.table.query("metric == 'fid'")["gap"]
    np.testing.assert_allclose(found["gap"], wanted, rtol=1e-10)
    parties = Parties(np.concatenate(rows), (20, 40, 60), (1 / 6, 1 / 3, 1 / 2))
    dealt = [
        nm.evaluate(np.split(parties.rows[deal], parties.ends), made, "fid", progress=False).table["gap"]
        for deal in parties.deals(39, [3, 0])[1:]
    ]
    np.testing.assert_allclose(found["shuffled"], np.mean(dealt, axis=0), rtol=1e-10)
    np.testing.assert_allclose(found["p"], (1 + (np.array(dealt) >= wanted.to_numpy()).sum(axis=0)) / 40)
    assert found["p_kid"].nunique() == 1
    assert found.equals(scores.heterogeneity("fid", shuffles=39, seed=3))
    assert "39 deals for FID" in " ".join(found.attrs["conventions"])


@pytest.mark.usefixtures("without_debiased")
def test_alike_clients_are_told_from_unlike_ones_of_as_few_rows():
    made = {"g": clients_of((400,), 64, seed=9)[0]}
    same = table(clients_of((32,) * 10, 64), made).iloc[0]
    assert same["gap"] > 30 and same["gap"] == pytest.approx(same["shuffled"], rel=0.02)
    assert same["p"] > 0.05 and same["p_kid"] > 0.05
    other = table(clients_of((32,) * 10, 64, shift=0.3), made).iloc[0]
    assert other["p"] == 0.05 and other["p_kid"] == pytest.approx(1 / 500)


@pytest.mark.usefixtures("without_debiased")
@pytest.mark.parametrize("rows", [np.ones((12, 3)), np.ones((12, 80))], ids=["narrow", "wide"])
def test_equal_rows_and_a_collapsed_generator_are_no_evidence(rows):
    found = table([rows, rows[:5]], {"g": 2 * rows[:4]})
    assert found[["p", "p_kid"]].to_numpy().tolist() == [[1.0, 1.0]]


def test_deals_that_part_the_rows_alike_are_ties():
    parties = Parties(np.array([[0.0], [0.1], [5.0], [5.1]]), (2, 2), (0.5, 0.5))
    deals = parties.deals(999, [0])
    [(gaps, tie)] = fid_gaps(parties, deals, [Moments.of_rows(np.arange(9.0)[:, None])])
    kernel = kernel_gaps(CUBIC, parties, deals)
    # 3 ways to part 4 rows into pairs, of which the given one is the most extreme
    assert p_value(gaps, tie) == pytest.approx(1 / 3, abs=0.05)
    assert p_value(*kernel) == pytest.approx(1 / 3, abs=0.05)


@pytest.mark.usefixtures("without_debiased")
def test_clients_of_weight_0_have_no_part_in_it():
    a, b, c = clients_of((30, 20, 25), 4)
    made = {"g": nm.Gaussian(np.zeros(4))}
    assert table([a, b, c + 100], made, [3, 2, 0]).equals(table([a, b], made, [3, 2]))


@pytest.mark.usefixtures("without_debiased")
def test_many_rows_are_thinned_for_kid_in_proportion_and_the_test_still_sees(monkeypatch):
    monkeypatch.setattr(heterogeneity, "KID_ROWS", 1_000)
    rows = clients_of((3_000, 600, 30), 2, shift=0.5)
    thin = heterogeneity._draw_some(Parties(np.concatenate(rows), (3_000, 600, 30), (0.5, 0.3, 0.2)), 0)
    assert sum(thin.sizes) == len(thin.rows) == heterogeneity.KID_ROWS
    np.testing.assert_allclose(
        np.array(thin.sizes) / heterogeneity.KID_ROWS, np.array([3_000, 600, 30]) / 3_630, atol=2e-3
    )
    own = [set(map(tuple, x)) for x in rows]
    assert all(set(map(tuple, x)) <= y for x, y in zip(np.split(thin.rows, thin.ends), own, strict=True))
    assert table(rows, [nm.Gaussian(np.zeros(2))])["p_kid"][0] < 0.01


@pytest.mark.usefixtures("without_debiased")
def test_distributions_drawn_as_rows_and_tensors_can_be_dealt():
    torch = pytest.importorskip("torch")
    distributions = [nm.Gaussian([0.0, 0.0]), nm.Gaussian([2.0, 0.0])]
    scores = nm.evaluate(distributions, distributions[:1], "fid", samples=100, progress=False)
    assert scores.heterogeneity()["p_kid"][0] < 0.01
    rows, made = clients_of((30, 20), 4), clients_of((50,), 4)
    tensors = table([torch.tensor(x) for x in rows], [torch.tensor(made[0])])
    assert tensors.drop(columns="generator").to_numpy() == pytest.approx(
        table(rows, made).drop(columns="generator").to_numpy(), rel=1e-9, nan_ok=True
    )


def test_the_debiased_gap_is_that_of_influence_values_under_the_weights_given():
    rows, made = clients_of((90, 60), 4), {"g": clients_of((150,), 4)[0], "distribution": nm.Gaussian(np.zeros(4))}
    for metric in ("fid", "fid_infinity"):
        plan = nm.Influence(level=0.9)
        scores = nm.evaluate(rows, made, metric, uncertainty=plan, progress=False).with_weights([1, 3])
        found = scores.heterogeneity(metric)
        wanted = scores.table[["gap_corrected", "gap_low", "gap_high"]]
        np.testing.assert_allclose(found[["debiased", "debiased_low", "debiased_high"]], wanted, rtol=1e-9)
        assert found["debiased"][0] < found["gap"][0]
        np.testing.assert_allclose(
            found["gap"],
            nm.evaluate(nm.Federation(rows).with_weights([1, 3]), made, "fid", progress=False).table["gap"],
            rtol=1e-9,
        )


def test_the_debiased_gap_of_alike_clients_is_about_0_and_of_too_few_rows_not_there():
    found = alike(300, 72, clients=4, made=1_000).heterogeneity().iloc[0]
    assert abs(found["debiased"]) < 0.1 and found["debiased_low"] < 0 < found["debiased_high"]
    few = alike(12, 40, clients=3, made=120).heterogeneity().iloc[0]
    assert few[["debiased", "debiased_low", "debiased_high"]].isna().all() and 0 < few["p"] <= 1


def test_the_table_says_why_no_debiased_gap_is_there_and_how_small_p_can_be():
    rows = clients_of((60, 5), 2)
    with_few, ample = table(rows, [rows[0]]), table([rows[0], rows[0] + 1], [rows[0]], shuffles=39)
    [line] = [line for line in with_few.attrs["conventions"] if line.startswith("debiased FID")]
    assert with_few["debiased"].isna().all() and "1 of 3 scores" in line and "has 5 rows for 2 features" in line
    assert ample["debiased_low"].notna().all() and "debiased" not in " ".join(ample.attrs["conventions"])
    smallest = "39 deals: the smallest possible p is 0.025; give shuffles=399 for a smaller one"
    assert smallest in ample.attrs["conventions"]
    assert heterogeneity._smallest(50_000) == "50000 deals: the smallest possible p is 2e-05"


@pytest.mark.slow
def test_p_is_no_smaller_than_one_deal_among_all():
    rows = clients_of((60, 5), 2)
    assert table(rows, [rows[0]], shuffles=9_999)["p"][0] >= 1e-4


X = np.random.default_rng(0).normal(size=(40, 3))
PAIRS = [nm.Client(X[:20], condition=X[:20]), nm.Client(X[20:], condition=X[20:])]


@pytest.mark.parametrize(
    ("make", "call", "argument", "words"),
    [
        (lambda: nm.evaluate([X, X], [X], "kid"), {"metric": "kid"}, "metric", "Evaluate 'fid' too; .* p_kid$"),
        (lambda: nm.evaluate([X, X], [X], "kid"), {}, "metric", "Evaluate 'fid' too; .* p_kid$"),
        (lambda: nm.evaluate([X, X], [X], ["fid", "kid"]), {"metric": "kid"}, "metric", "Give 'fid': .* p_kid"),
        (lambda: nm.evaluate([X, X], [X], "fid_infinity"), {}, "metric", "Did you mean 'fid_infinity'"),
        (lambda: nm.evaluate([nm.Gaussian([0] * 3)] * 2, [X], "fid"), {}, "metric", "exact distribution.*samples="),
        (lambda: nm.evaluate([X], [X], "fid"), {}, "metric", "1 client.*two clients"),
        (lambda: nm.evaluate(nm.Federation([X, X]).with_weights([1, 0]), [X], "fid"), {}, "metric", "1 client"),
        (lambda: nm.evaluate(PAIRS, {"m": lambda x, rng: x}, "fid"), {}, "metric", "'m' answered"),
        (lambda: nm.evaluate([X, X], [X], "fid"), {"shuffles": 0}, "shuffles", "from 1 to 100000"),
        (lambda: nm.evaluate([X, X], [X], "fid"), {"shuffles": 10**9}, "shuffles", "to 100000"),
        (
            lambda: nm.evaluate([X[:1].repeat(2_000, 0)] * 2, [X], "fid"),
            {"shuffles": 25_001},
            "shuffles",
            "Give 25,000",
        ),
        (lambda: nm.evaluate([X, X], [X], "fid"), {"shuffles": 2.5}, "shuffles", "whole number"),
        (lambda: nm.evaluate([X, X], [X], "fid"), {"seed": -1}, "seed", "at least 0"),
    ],
    ids=[
        *(
            "other metric",
            "not evaluated",
            "kid",
            "the other fid",
            "distributions",
            "one client",
            "one weight",
            "answers",
        ),
        *("none", "very many", "many of many rows", "part", "seed"),
    ],
)
def test_what_cannot_be_dealt_is_refused_with_the_way_out(make, call, argument, words):
    with pytest.raises(nm.InvalidInput, match=words) as caught:
        make().heterogeneity(**call)
    assert caught.value.argument == argument


@pytest.mark.parametrize(
    ("distribution", "d", "sizes", "weights", "within"),
    [
        ("iso", 128, (300,) * 10, None, 0.02),
        ("iso", 64, (32,) * 10, None, 0.02),
        ("rectified", 64, (32,) * 10, None, 0.1),
        ("iso", 32, (48, 100, 200, 320), [1] * 4, 0.05),
        ("rectified", 100, (30, 60, 100), [1] * 3, 0.1),
        ("iso", 100, (15,) * 4, None, 0.02),
        ("iso", 60, (100, 2), [1, 1], 0.2),
    ],
)
def test_the_gap_of_alike_clients_is_known_without_dealing(distribution, d, sizes, weights, within):
    shares = np.array(sizes if weights is None else weights, dtype=float)
    rows = clients_of(sizes, d, distribution=distribution)
    parties = Parties(np.concatenate(rows), sizes, tuple(shares / shares.sum()))
    made = Moments.of_rows(1.2 * draw(distribution, 3_000, d, np.random.default_rng(5)))
    parts = [Moments.of_rows(x) for x in rows]
    pooled = Moments.pool(parts, parties.weights)
    expected = nm.metrics.FID().size_gap(parts, parties.weights, pooled, made)
    [(gaps, _)] = fid_gaps(parties, parties.deals(8, [0]), [made])
    assert expected == pytest.approx(gaps[1:].mean(), rel=within)


def test_without_noise_there_is_no_gap_of_size():
    singular = np.linspace(1, 2, 5)
    assert size_gap(singular, 7.0, [math.inf, math.inf], [0.4, 0.6]) == pytest.approx(0, abs=1e-12)
    # first order in 1/n: half of Σ_ij s_i s_j/(s_i + s_j) (1 + δ_ij), and the means' Tr C
    s = singular[:, None]
    curved = 0.5 * float(np.sum(s * s.T / (s + s.T) * (1 + np.eye(5))))
    n = 1e6
    assert size_gap(singular, 7.0, [n, n], [0.5, 0.5]) == pytest.approx(
        (7.0 + curved - singular.sum() / 4) / (2 * n), rel=0.05
    )


def said(scores):
    return [line for line in scores.table.attrs["conventions"] if " gap of " in line]


def test_a_gap_below_that_of_alike_clients_does_not_remain():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 4))
    scores = nm.evaluate([rows, rows], {"G": rng.normal(size=(100, 4))}, "fid")
    assert 0.0 < scores.table["gap"][0] < scores.size_gap()[0]
    (line,) = said(scores)
    assert "; clients that are all alike would have about " in line and "remain" not in line


def test_the_caution_names_the_share_of_sample_size():
    scores = alike(300, 128)
    words = (
        "FID gap of G: 13.6; about 13.5 would remain even if all clients were alike "
        "(300 rows per client, 128 features): see scores.heterogeneity('fid')"
    )
    assert said(scores) == [words] and words in repr(scores) and "about 13.5 would remain" in scores._repr_html_()
    assert scores.size_gap() == pytest.approx([13.5], abs=0.05)
    # under other weights the gap is another, and so is the sentence
    [line] = said(scores.with_weights([10, *[1] * 9]))
    assert not line.startswith("FID gap of G: 13.6,") and " 128 features)" in line


def test_beside_corrected_scores_the_caution_speaks_of_the_plain_gap():
    rng = np.random.default_rng(0)
    rows, made = [rng.normal(size=(60, 8)) for _ in range(3)], {"g": rng.normal(size=(200, 8))}
    [line] = said(nm.evaluate(rows, made, "fid", uncertainty=nm.Influence(), progress=False))
    assert line.startswith("plain FID gap of g: ")


def test_the_caution_counts_the_other_generators():
    rng = np.random.default_rng(0)
    made = {name: rng.normal(size=(500, 20)) for name in "abc"}
    [line] = said(nm.evaluate([rng.normal(size=(50, 20)) for _ in range(3)], made, "fid", progress=False))
    assert "also for 2 other generators: see" in line


@pytest.mark.parametrize(
    "scores",
    [
        lambda: nm.evaluate([nm.Gaussian([-1.0, 0]), nm.Gaussian([1.0, 0])], [nm.Gaussian([0.0, 0])], "fid"),
        lambda: nm.evaluate([nm.Gaussian([0.0, 0])] * 2, [nm.Gaussian([0.0, 0])], "fid"),
        lambda: alike(100_000, 2, clients=2, made=10_000),
        lambda: nm.evaluate(
            [x + s for x, s in zip(clients_of((5_000,) * 2, 2), (-3, 3), strict=True)], [X[:, :2]], "fid"
        ),
        lambda: nm.evaluate([X], [X + 1], "fid"),
        lambda: nm.evaluate([X, X + 1], [X], ["kid", "fld"][:1]),
    ],
    ids=["distributions", "alike distributions", "very many rows", "far apart", "one client", "kid"],
)
def test_no_caution_where_sample_size_explains_little(scores):
    assert said(scores()) == []


def binomial_range(runs, chance, sds):
    return runs * chance - sds * math.sqrt(runs * chance * (1 - chance)), runs * chance + sds * math.sqrt(
        runs * chance * (1 - chance)
    )


@pytest.mark.parametrize("number", [5, *slow(1, 2, 3)])
def test_levels_in_hard_cases(number):
    case, runs = CASES[number], 40
    found = np.array([p_values(case, run) for run in range(runs)])[:, [0, 2]]
    _, most = binomial_range(runs, 0.05, 3.5)
    assert (np.sum(found <= 0.05 + 1e-9, axis=0) <= most).all()
    # not by never rejecting: p-values of alike clients are spread evenly
    low, high = binomial_range(runs, 0.5, 3.5)
    assert ((low <= np.sum(found <= 0.5 + 1e-9, axis=0)) & (np.sum(found <= 0.5 + 1e-9, axis=0) <= high)).all()


def test_the_kernel_is_that_of_kid_so_an_offset_hides_spreads_and_no_means():
    """docs/heterogeneity.md says so; it said that an offset hides nothing."""
    found = np.zeros((2, 2))
    for seed in range(15):
        rng = np.random.default_rng([3, seed])
        first, second = rng.normal(size=(2, 60, 4))
        for i, other in enumerate((1.5 * second, second + np.array([0, 0.8, 0, 0]))):
            for j, offset in enumerate((0.0, 10.0)):
                parties = Parties(np.concatenate([first, other]) + offset, (60, 60), (0.5, 0.5))
                found[i, j] += heterogeneity.p_kid(parties, 0) <= 0.05
    assert found[0, 0] > 10 and found[0, 1] < 4 and (found[1] > 10).all(), found


def test_power_against_small_differences_of_the_means():
    found = np.array([p_values(CASES[7], run) for run in range(20)])
    assert (np.mean(found <= 0.05 + 1e-9, axis=0)[[0, 2]] >= [0.6, 0.8]).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [case for case in CASES if case.is_null], ids=lambda case: f"{case.name}, {case.distribution}"
)
def test_levels_at_length(case):
    by_rank, _, kid, _ = rejected(case)
    low, high = binomial_range(case.runs, 0.05, 3)
    assert low <= case.runs * by_rank <= high and low <= case.runs * kid <= high


def test_without_an_interval_there_is_no_debiased_gap():
    """Alike clients of long-tailed rows: the number was .37 on average where the truth is 0."""
    rng = np.random.default_rng(0)

    def tailed(n):
        return rng.normal(size=(n, 6)) / np.sqrt(rng.chisquare(3, size=(n, 1)) / 3)

    for _ in range(5):
        scores = nm.evaluate([tailed(n) for n in (12, 20, 45, 80)], {"g": tailed(120)}, "fid", progress=False)
        found = scores.heterogeneity("fid", shuffles=19).iloc[0]
        assert np.isnan(found["debiased_low"]) and np.isnan(found["debiased"]) and 0 < found["p"] <= 1


def test_the_smallest_p_that_the_deals_can_give_reads_as_a_bound():
    rng = np.random.default_rng(0)
    apart = {name: rng.normal(k, 1, size=(40, 3)) for k, name in enumerate("abc")}
    alike = {name: rng.normal(size=(40, 3)) for name in "abc"}
    made = {"g": rng.normal(1, 1, size=(200, 3))}
    frames = [
        nm.evaluate(clients, made, "fid", progress=False).heterogeneity("fid", shuffles=count)
        for clients, count in ((apart, 19), (apart, 99), (alike, 19))
    ]
    assert [frame["p"][0] for frame in frames[:2]] == [0.05, 0.01] and frames[2]["p"][0] > 0.05
    for frame in (frames[0], frames[0].round(2), pickle.loads(pickle.dumps(frames[0]))):
        for text in (frame._repr_html_(), repr(frame[["gap", "p"]])):
            assert "≤ 0.05" in text and "give shuffles=199 for a smaller one" in text
    assert "≤ 0.01" in repr(frames[1][["p"]]) and "≤ 0.002" in frames[1]._repr_html_()
    shown = repr(frames[2][["p"]])
    assert "≤" not in shown and "shuffles" not in shown and f"{frames[2]['p'][0]:.3g}" in shown
    assert repr(frames[0].drop(columns=["p", "p_kid"])).count("≤") == 0  # what is left has no p-value
    assert frames[0]["p"].dtype == float and frames[0]["p"].mean() == 0.05
