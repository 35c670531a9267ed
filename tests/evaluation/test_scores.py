"""What evaluate() returns: tables, places, inversions, ledger, other weights, and what a notebook shows."""

import html.parser
import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import nbmetrics as nm
from nbmetrics.evaluation.cells import caution_lines
from tests import EVIL


class Given:
    """A metric that says what a table dictates: client c has score values[g][c], the pool has pooled[g]."""

    name, label = "given", "Given"

    def __init__(self, values, pooled, *, higher_is_better=False, best=None):
        self.values, self.pooled, self.higher_is_better, self.best = values, pooled, higher_is_better, best
        self.calls = {"summarize": 0, "terms": 0, "pool": 0}

    def summarize(self, sample):
        self.calls["summarize"] += 1
        return int(sample.rows[0, 0])

    def pool(self, summaries, weights):
        self.calls["pool"] += 1
        return "pool"

    def terms(self, real, generated):
        self.calls["terms"] += 1
        return {"score": self.pooled[generated] if real == "pool" else self.values[generated][real]}


def given_scores(values, pooled, **options):
    metric = Given(values, pooled, **options)
    clients = [np.full((1, 1), c) for c in range(len(values[0]))]
    generators = {f"g{g}": np.full((1, 1), g) for g in range(len(values))}
    return nm.evaluate(clients, generators, metric, progress=False), metric


VALUES, POOLED = [[1.0, 3.0], [2.0, 2.5], [9.0, 0.0], [2.0, 2.0]], [5.0, 4.0, 6.0, 5.0]


def test_table_is_tidy_and_says_avg_all_and_gap():
    table = given_scores(VALUES, POOLED)[0].table
    assert table.columns.tolist() == ["generator", "metric", "avg", "all", "gap"]
    assert table["generator"].tolist() == ["g0", "g1", "g2", "g3"]
    assert table["avg"].tolist() == [2.0, 2.25, 4.5, 2.0]
    assert table["all"].tolist() == POOLED
    assert table["gap"].tolist() == [-3.0, -1.75, -1.5, -3.0]


@pytest.mark.parametrize("higher", [False, True])
def test_the_summary_says_where_one_of_the_two_cannot_tell(higher):
    best, worst = ("g1", "g0") if higher else ("g0", "g1")
    scores, _ = given_scores([[2.0], [2.0 + 1e-15]], [1.0, 3.0], higher_is_better=higher)
    assert scores.summary() == [f"Given: avg cannot tell {best} from {worst}, all ranks {best} above {worst}."]
    assert scores.ranks("given")["avg"].tolist() == [1, 1]
    scores, _ = given_scores([[2.0], [2.5], [2.5]], [1.0, 1.0, 1.0], higher_is_better=higher)
    winner = "g1 and g2" if higher else "g0"
    assert scores.summary()[0].startswith(
        f"Given: avg prefers {winner}, all prefers g0 and g1 and g2; all cannot tell "
    )
    assert "(2 such pairs)" in scores.summary()[0]
    scores, _ = given_scores([[2.0], [3.0]], [1.0, 5.0], higher_is_better=higher)
    assert scores.summary() == ["Given: avg and all order the generators alike."]


def test_the_summary_names_the_winners_and_calls_pairs_pairs():
    clients = [nm.Gaussian([-2, 0]), nm.Gaussian([2, 0])]
    spreads = {"one": [1, 1], "five": [5, 1], "nine": [9, 1]}
    scores = nm.evaluate(clients, {name: nm.Gaussian([0, 0], cov) for name, cov in spreads.items()}, progress=False)
    assert scores.summary()[0].startswith("FID: avg prefers one, all prefers five; they order ")
    scores, _ = given_scores([[1.0], [2.0], [4.0]], [1.0, 9.0, 5.0])
    wanted = "they order 1 of 3 pairs differently: avg ranks g1 above g2, all ranks g2 above g1."
    assert scores.summary() == [f"Given: avg and all prefer g0; {wanted}"]
    scores, _ = given_scores([[1.0], [1.0], [4.0]], [3.0, 9.0, 2.0])
    assert scores.summary()[0].startswith("Given: avg prefers g0 and g1, all prefers g2; they order 2 of 3 pairs")


def test_twins_are_told_apart_by_all_alone():
    clients = nm.Federation([nm.Gaussian([-2, 0]), nm.Gaussian([2, 0])])
    pair = nm.theory.twin(clients)
    scores = nm.evaluate(clients, {"first": pair.first, "twin": pair.second}, progress=False)
    assert scores.summary()[0] == "FID: avg cannot tell first from twin, all ranks first above twin."
    scores, _ = given_scores([[-math.inf], [-math.inf]], [1.0, 3.0])
    assert scores.summary() == ["Given: avg cannot tell g0 from g1, all ranks g0 above g1."]


def test_values_are_the_tables_as_arrays_of_ones_own():
    federation = nm.Federation([nm.Gaussian([0, 0]), nm.Gaussian([3, 1])]).with_weights([1, 3])
    scores = nm.evaluate(federation, {"A": nm.Gaussian([1, 0]), "B": nm.Gaussian([2, 2])})
    avg, pooled, by_client = scores.values("kid")
    rows = scores.table[scores.table["metric"] == "kid"]
    np.testing.assert_array_equal([avg, pooled], [rows["avg"], rows["all"]])
    wanted = scores.clients[scores.clients["metric"] == "kid"]["value"].to_numpy()
    np.testing.assert_array_equal(by_client.ravel(), wanted)
    by_client[:] = 0
    np.testing.assert_array_equal(scores.values("kid").by_client.ravel(), wanted)


def test_clients_are_tidy():
    clients = given_scores(VALUES, POOLED)[0].clients
    assert clients.columns.tolist() == ["generator", "client", "metric", "value"]
    wide = clients.pivot_table(index="generator", columns="client", values="value")
    np.testing.assert_array_equal(wide, VALUES)
    assert wide.columns.tolist() == ["Client 1", "Client 2"]


@pytest.mark.parametrize("higher", [False, True])
def test_ranks_put_the_best_first_and_let_ties_share(higher):
    ranks = given_scores(VALUES, POOLED, higher_is_better=higher)[0].ranks("given")
    assert ranks.columns.tolist() == ["generator", "avg", "all"]
    assert ranks["avg"].tolist() == ([3, 2, 1, 3] if higher else [1, 3, 4, 1])
    assert ranks["all"].tolist() == ([2, 4, 1, 2] if higher else [2, 1, 4, 2])


# best at 5: by avg the distances are 1, 4, 2, by all 3, 1, 2
AROUND, AROUND_POOLED = [[6.0], [1.0], [3.0]], [8.0, 4.0, 3.0]


def test_a_score_that_is_best_at_a_number_ranks_by_the_distance_from_it():
    scores, _ = given_scores(AROUND, AROUND_POOLED, best=5.0)
    ranks = scores.ranks("given")
    assert ranks["avg"].tolist() == [1, 3, 2] and ranks["all"].tolist() == [3, 1, 2]
    found = scores.inversions("given").values.tolist()
    assert found == [["g0", "g1", 3.0, 2.0], ["g0", "g2", 1.0, 1.0], ["g2", "g1", 2.0, 1.0]]
    assert scores.agreement("given") == pytest.approx(-1)
    assert "avg prefers g0, all prefers g1; they order 3 of 3 pairs differently" in scores.summary()[0]
    tied, _ = given_scores([[4.0], [6.0]], [4.0, 8.0], best=5.0)
    assert "avg cannot tell g0 from g1, all ranks g0 above g1" in tied.summary()[0]
    alike, _ = given_scores([[4.0], [9.0]], [4.0, 8.0], best=5.0)
    assert alike.inversions("given").empty and alike.agreement("given") == 1
    assert scores.plot("ranks").axes[0].lines[0].get_ydata().tolist() == [1, 3]


def test_flips_of_such_a_score_are_those_of_the_distances():
    class Centre(nm.metrics.base.RowsMetric):
        name, label, best = "centre", "Centre", 0.0

        def terms(self, real, generated):
            return {"centre": float(generated.rows.mean() - real.rows.mean())}

    rng = np.random.default_rng(0)
    made = {"below": rng.normal(size=(200, 1)) - 3, "near": rng.normal(size=(200, 1)) + 1}
    scores = nm.evaluate([rng.normal(size=(200, 1))], made, [Centre()], uncertainty=nm.Bootstrap(50), progress=False)
    row = scores.flips("centre").iloc[0]
    assert row["avg_prefers"] == row["all_prefers"] == "near" and row["over"] == "below"
    assert row["avg_p"] == row["all_p"] == 0


@pytest.mark.parametrize("higher", [False, True])
def test_inversions_are_the_strictly_reversed_pairs(higher):
    found = given_scores(VALUES, POOLED, higher_is_better=higher)[0].inversions("given")
    first, second = ("all_prefers", "avg_prefers") if higher else ("avg_prefers", "all_prefers")
    assert set(zip(found[first], found[second], strict=True)) == {("g0", "g1"), ("g3", "g1")}
    assert found["avg_margin"].tolist() == [0.25, 0.25]
    assert found["all_margin"].tolist() == [1.0, 1.0]


def test_rounding_is_no_inversion():
    assert given_scores([[1.0], [1.0 + 1e-15]], [2.0, 1.0])[0].inversions("given").empty


def test_agreement_is_kendalls_tau():
    rng = np.random.default_rng(3)
    values, pooled = rng.normal(size=(9, 2)), rng.normal(size=9)
    scores, _ = given_scores(values.tolist(), pooled.tolist())
    concordant = np.sign(np.subtract.outer(values.mean(1), values.mean(1)) * np.subtract.outer(pooled, pooled))
    assert scores.agreement("given") == pytest.approx(concordant.sum() / 72)
    assert scores.agreement("given") == pytest.approx(scipy.stats.kendalltau(values.mean(1), pooled).statistic)
    inverted = len(scores.inversions("given"))
    assert scores.agreement("given") == pytest.approx(1 - 2 * inverted / math.comb(9, 2))
    assert given_scores([[1.0], [2.0]], [2.0, 1.0])[0].agreement("given") == -1.0
    assert math.isnan(given_scores([[1.0]], [2.0])[0].agreement("given"))


def test_other_weights_aggregate_again_and_sample_nothing():
    scores, metric = given_scores(VALUES, POOLED)
    scores.table  # noqa: B018
    before = dict(metric.calls)
    for weights in ([1, 3], {"Client 2": 3, "Client 1": 1}):
        other = scores.with_weights(weights)
        assert other.weights == (0.25, 0.75)
        assert other.table["avg"].tolist() == [2.5, 2.375, 2.25, 2.0]
    assert scores.table["avg"].tolist() == [2.0, 2.25, 4.5, 2.0]
    assert metric.calls["summarize"] == before["summarize"] == 2 + 4
    pd.testing.assert_frame_equal(other.clients, scores.clients)


def test_other_weights_equal_an_evaluation_under_those_weights():
    rng = np.random.default_rng(4)
    federation = nm.Federation([rng.normal(size=(n, 3)) + n / 10 for n in (20, 30, 9)])
    generators = [lambda n, rng: rng.normal(size=(n, 3)), nm.Gaussian([0.0, 1.0, 0.0])]
    once = nm.evaluate(federation, generators, samples=400, progress=False).with_weights([1, 5, 2])
    direct = nm.evaluate(federation.with_weights([1, 5, 2]), generators, samples=400, progress=False)
    np.testing.assert_allclose(once.table[["avg", "all"]], direct.table[["avg", "all"]], rtol=1e-12)


@pytest.mark.filterwarnings("ignore::nbmetrics.federated.FewRowsWarning")
def test_ledger_counts_what_each_client_sends():
    rng = np.random.default_rng(5)
    clients = {"a": rng.normal(size=(9, 20)), "b": rng.normal(size=(200, 20))}
    metrics = ["fid", "kid", nm.metrics.Precision(3)]
    ledger = nm.evaluate(clients, [rng.normal(size=(30, 20))] * 3, metrics, progress=False).ledger
    assert ledger.columns.tolist() == ["client", "metric", "aggregate", "bytes", "bytes_down", "reveals"]
    known = ledger.set_index(["client", "metric", "aggregate"])
    assert (known["bytes"].xs("avg", level="aggregate") == 3 * 8).all()
    numbers = {"fid": {"a": 20 + 8 * 20 - 28, "b": 20 + 210}, "kid": dict.fromkeys("ab", math.comb(23, 3))}
    numbers["precision"] = {name: rows.size for name, rows in clients.items()}
    for (client, metric), row in known.xs("all", level="aggregate").iterrows():
        assert 8 * numbers[metric][client] < row["bytes"] < 8 * numbers[metric][client] + 400
        sent = nm.federated.client_summary(
            clients[client], metrics[known.index.levels[1].get_loc(metric)], reveal_rows=True, min_rows=1
        )
        assert row["bytes"] == len(sent) and row["bytes_down"] == 0
        assert (row["reveals"] == "every row") == (metric == "precision")
    down = 3 * len(nm.federated.client_summary(rng.normal(size=(30, 20)), "fid"))
    assert known.loc[("a", "fid", "avg"), "bytes_down"] == down


def test_every_table_carries_its_conventions():
    metrics = ["fid", nm.metrics.KID(nm.RBF(1.5), "biased")]
    distribution = nm.Gaussian([0.0, 0.0])
    scores = nm.evaluate([distribution], [distribution], metrics, samples=123, seed=77, progress=False)
    for frame in (scores.table, scores.clients):
        text = " ".join(frame.attrs["conventions"])
        for said in ("ddof 1", "RBF", "σ = 1.5", "biased", "123 rows", "seed 77"):
            assert said in text
    exact = nm.evaluate([distribution], [distribution], "kid", progress=False).table.attrs["conventions"]
    assert "exact" in " ".join(exact)
    assert "γ = 1/d" in " ".join(exact)


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text.append(data)


def test_names_are_text_in_html_always():
    rng = np.random.default_rng(6)
    clients = {EVIL: rng.normal(size=(9, 2)), "b": rng.normal(size=(9, 2)) + 3}
    metric = nm.metrics.KID(name=f"kid_{EVIL}")
    scores = nm.evaluate(clients, {EVIL: rng.normal(size=(9, 2)), "g": rng.normal(size=(9, 2))}, ["fid", metric])
    parser = Tags()
    parser.feed(scores._repr_html_())
    assert {tag for tag, _ in parser.found} <= {
        "div",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "p",
        "small",
        "br",
        "strong",
        "details",
        "summary",
    }
    assert EVIL in parser.text
    heads = [attrs.get("scope") for tag, attrs in parser.found if tag == "th"]
    assert heads == ["col"] * 7 + ["row"] * 2


def test_html_shows_the_numbers_and_the_conventions():
    page = given_scores([[1.23456789], [2.0]], [0.5, 0.1])[0]._repr_html_()
    for said in ("1.2346", "Given avg", "Given all", "Given gap", "1 of 1 pairs differently", "seed 0"):
        assert said in page


def test_repr_reads_as_a_table():
    text = repr(given_scores(VALUES, POOLED)[0])
    assert "g2" in text
    assert "4.5" in text
    assert "2 of 6 pairs differently" in text


@pytest.mark.parametrize("kind", ["scatter", "ranks", "clients"])
@pytest.mark.filterwarnings("error")
def test_plots_are_figures_that_a_notebook_shows(kind):
    from matplotlib.figure import Figure

    rng = np.random.default_rng(7)
    clients = {EVIL: rng.normal(size=(9, 2)), "costs $5$ and $": rng.normal(size=(9, 2))}
    scores = nm.evaluate(clients, {EVIL: clients[EVIL] + 1, "$x_{": clients[EVIL]}, progress=False)
    figure = scores.plot(kind)
    assert isinstance(figure, Figure)
    assert len(figure.axes) == 2
    assert figure._repr_png_()[:8] == b"\x89PNG\r\n\x1a\n"


def test_plots_leave_pyplot_alone():
    import matplotlib.pyplot as plt

    given_scores(VALUES, POOLED)[0].plot()
    assert plt.get_fignums() == []


def test_unknown_names_get_the_closest_one():
    scores = given_scores(VALUES, POOLED)[0]
    with pytest.raises(nm.InvalidInput, match=r"kind.*'scatter'"):
        scores.plot("scater")
    for ask in (scores.ranks, scores.inversions, scores.agreement):
        with pytest.raises(nm.InvalidInput, match=r"metric.*'given'"):
            ask("givn")


class InTuples(nm.metrics.Metric):
    """Its summary is a tuple of an array of 3 and a number."""

    def summarize(self, sample):
        return sample.rows.mean(axis=0), float(len(sample.rows))

    def pool(self, summaries, weights):
        return summaries[0]

    def terms(self, real, generated):
        return {"far": float(((real[0] - generated[0]) ** 2).sum())}


def test_the_ledger_counts_numbers_where_a_summary_does_not_say():
    scores = nm.evaluate([np.ones((5, 3))], [np.zeros((5, 3))], InTuples())
    bytes_of = scores.ledger.set_index("aggregate")["bytes"]
    assert bytes_of["all"] == 8 * (3 + 1) and bytes_of["avg"] == 8


def test_a_term_that_is_no_number_is_refused_before_the_table():
    class Crooked(InTuples):
        def terms(self, real, generated):
            return {"far": (real[0] - generated[0]) ** 2}

    with pytest.raises(nm.InvalidInput, match="terms of 'Crooked' gave"):
        nm.evaluate([np.ones((5, 3))], [np.zeros((5, 3))], Crooked())


def test_a_remark_with_numbers_says_of_which_score_they_are():
    assert caution_lines("X", ["few: 3", "few: 3", ""]) == [
        "X, 2 of 3 scores (each client and all, by generator): few: 3."
    ]
    assert caution_lines("X", ["", "few: 3", "few: 4"])[0].endswith("by generator), the first: few: 3.")
