"""The worst client of each generator, what each client loses under the winners, and the heat map of it."""

import math

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import nbmetrics as nm
from tests import EVIL
from tests.evaluation.test_scores import given_scores

# by avg g0 (2.0, as g3, later), by all g1, with the client it serves worst g3
VALUES, POOLED = [[1.0, 3.0], [2.5, 2.5], [9.0, 0.0], [2.0, 2.0]], [5.0, 4.0, 6.0, 5.0]
NAN = math.nan


@pytest.mark.parametrize("higher", [False, True])
def test_the_worst_client_by_direction(higher):
    worst = given_scores(VALUES, POOLED, higher_is_better=higher)[0].worst("given")
    assert worst.columns.tolist() == ["generator", "worst", "client"]
    assert worst["generator"].tolist() == ["g0", "g1", "g2", "g3"]
    assert worst["worst"].tolist() == ([1.0, 2.5, 0.0, 2.0] if higher else [3.0, 2.5, 9.0, 2.0])
    wanted = [1, 1, 2, 1] if higher else [2, 1, 1, 1]  # equals: the first
    assert worst["client"].tolist() == [f"Client {c}" for c in wanted]
    assert worst.attrs["conventions"]


def test_regret_under_the_three_winners():
    regret = given_scores(VALUES, POOLED)[0].regret("given")
    assert regret.columns.tolist() == ["client", "own_best", "by_avg", "by_all", "by_worst"]
    assert regret.values.tolist() == [["Client 1", 1.0, 0.0, 1.5, 1.0], ["Client 2", 0.0, 3.0, 2.5, 2.0]]
    assert regret.attrs["winners"] == {"avg": "g0", "all": "g1", "worst": "g3"}
    assert regret.attrs["own"] == {"Client 1": "g0", "Client 2": "g2"}


def test_regret_where_high_is_better_and_where_a_number_is_best():
    high = given_scores(VALUES, POOLED, higher_is_better=True)[0].regret("given")
    assert high.attrs["winners"] == {"avg": "g2", "all": "g2", "worst": "g1"}
    assert high.values.tolist() == [["Client 1", 9.0, 0.0, 0.0, 6.5], ["Client 2", 3.0, 3.0, 3.0, 0.5]]
    around = given_scores([[6.0, 9.0], [1.0, 4.5]], [8.0, 5.0], best=5.0)[0]
    assert around.worst("given")["worst"].tolist() == [9.0, 1.0]
    # the mean of g1 is 2.25 from 5, that of g0 2.5
    assert around.regret("given").values.tolist() == [
        ["Client 1", 6.0, 3.0, 3.0, 0.0],
        ["Client 2", 4.5, 0.0, 0.0, 3.5],
    ]


def test_regret_is_that_of_the_tables():
    rng = np.random.default_rng(0)
    clients = {name: rng.normal(k, 1, size=(40, 3)) for k, name in enumerate("abc")}
    made = {f"g{g}": rng.normal(g / 2, 1 + g / 5, size=(50, 3)) for g in range(4)}
    scores = nm.evaluate(clients, made, ("fid", "recall")).with_weights([1, 2, 5])
    for metric, sign in (("fid", 1), ("recall", -1)):
        table = scores.clients[scores.clients["metric"] == metric]
        losses = sign * table.pivot_table(index="client", columns="generator", values="value")
        regret = scores.regret(metric).set_index("client")
        np.testing.assert_allclose(regret["own_best"], sign * losses.min(axis=1))
        best = {
            "avg": (losses.T @ np.array([1, 2, 5])).idxmin(),
            "all": (sign * scores.table[scores.table["metric"] == metric].set_index("generator")["all"]).idxmin(),
            "worst": losses.max().idxmin(),
        }
        assert regret.attrs["winners"] == best
        for by, name in best.items():
            np.testing.assert_allclose(regret[f"by_{by}"], losses[name] - losses.min(axis=1), atol=1e-12)


def test_the_corrected_worst_and_regret_are_those_of_a_dashboard():
    """Few rows of one client: it is the worst served by plain FID alone."""
    rng = np.random.default_rng(0)
    clients = {"few": rng.normal(0, 1, (60, 16)), "many": rng.normal(0.2, 1, (900, 16))}
    made = {"g": rng.normal(size=(900, 16)), "h": rng.normal(0.1, 1, (900, 16))}
    scores = nm.evaluate(clients, made, "fid", uncertainty=nm.Influence())
    assert (scores.worst("fid")["client"] == "few").all()
    lab = nm.Dashboard(clients, made, "fid")
    lab.wait()
    centres = np.array([lab.board["centres"]["fid"][name] for name in made])
    lab.close()
    worst = scores.worst("fid", corrected=True)
    assert worst["client"].tolist() == [list(clients)[i] for i in centres.argmax(axis=1)] != ["few", "few"]
    np.testing.assert_allclose(worst["worst"], centres.max(axis=1), rtol=1e-9)
    regret = scores.regret("fid", corrected=True)
    best = list(made).index(regret.attrs["winners"]["avg"])
    np.testing.assert_allclose(regret["by_avg"], centres[best] - centres.min(axis=0), atol=1e-12)
    with pytest.raises(nm.InvalidInput, match=r"corrected: .*uncertainty"):
        nm.evaluate(clients, made, "fid").worst("fid", corrected=True)


def test_what_is_not_known_is_nan_and_no_winner():
    scores, _ = given_scores([[1.0, NAN], [2.0, 3.0], [NAN, NAN]], [NAN, 4.0, NAN])
    worst = scores.worst("given")
    assert worst["client"].tolist() == ["–", "Client 2", "–"] and worst["worst"].isna().tolist() == [True, False, True]
    regret = scores.regret("given")
    assert regret.attrs["winners"] == {"avg": "g1", "all": "g1", "worst": "g1"}
    assert regret.values.tolist() == [["Client 1", 1.0, 1.0, 1.0, 1.0], ["Client 2", 3.0, 0.0, 0.0, 0.0]]
    nothing, _ = given_scores([[NAN, 1.0], [2.0, NAN]], [NAN, 1.0])
    regret = nothing.regret("given")
    assert regret.attrs["winners"] == {"avg": "–", "all": "g1", "worst": "–"}
    assert regret[["by_avg", "by_worst"]].isna().all(axis=None) and regret["by_all"].tolist()[0] == 0.0


@pytest.mark.filterwarnings("error")
def test_infinite_scores_are_equal_or_infinitely_worse():
    scores, _ = given_scores([[math.inf, 1.0], [math.inf, math.inf]], [1.0, 2.0])
    assert scores.regret("given")["by_avg"].tolist() == [0.0, 0.0]
    assert scores.worst("given")["worst"].tolist() == [math.inf, math.inf]
    high, _ = given_scores([[-math.inf, 1.0], [2.0, -math.inf]], [2.0, 1.0], higher_is_better=True)
    assert high.regret("given")["by_all"].tolist() == [math.inf, 0.0]


def test_a_client_of_weight_0_is_nobodys_worst_but_has_its_regret():
    scores = given_scores(VALUES, POOLED)[0].with_weights([0, 1])
    assert scores.worst("given")["worst"].tolist() == [3.0, 2.5, 0.0, 2.0]
    assert scores.regret("given").attrs["winners"]["worst"] == "g2"
    assert scores.regret("given")["by_worst"].tolist() == [8.0, 0.0]


def test_unknown_metrics_are_refused():
    scores = given_scores(VALUES, POOLED)[0]
    for ask in (scores.worst, scores.regret, lambda name: scores.plot(metric=name)):
        with pytest.raises(nm.InvalidInput, match=r"metric.*'given'"):
            ask("givn")


@pytest.fixture(scope="module")
def two_metrics():
    rng = np.random.default_rng(7)
    clients = {EVIL: rng.normal(size=(9, 2)), "costs $5$ and $": rng.normal(size=(9, 2))}
    return nm.evaluate(clients, {EVIL: clients[EVIL] + 1, "$x_{": clients[EVIL] * 2}, progress=False)


@pytest.mark.parametrize("kind", ["scatter", "ranks", "clients", "regret"])
@pytest.mark.filterwarnings("error")
def test_one_metric_is_drawn_alone_or_into_axes_of_ones_own(two_metrics, kind):
    assert two_metrics.plot(kind, metric="kid")._repr_png_()[:8] == b"\x89PNG\r\n\x1a\n"
    figure = Figure()
    left, right = figure.subfigures(1, 2)
    ax, empty = right.subplots(), left.subplots()
    assert two_metrics.plot(kind, metric="fid", ax=ax) is figure
    assert ax.has_data() and not empty.has_data()
    figure.canvas.draw()
    texts = ax.get_title() + ax.get_ylabel()
    assert "FID" in texts and "KID" not in texts


def test_axes_that_cannot_hold_it_are_refused_before_they_are_drawn_into(two_metrics):
    ax = Figure().subplots()
    with pytest.raises(nm.InvalidInput, match=r"metric: is not given, but ax shows one of fid, kid"):
        two_metrics.plot("ranks", ax=ax)
    round_ax = Figure().add_subplot(projection="polar")
    for wrong in (round_ax, Figure(), "ax", 3):
        with pytest.raises(nm.InvalidInput, match=r"ax: got .*plain matplotlib Axes"):
            two_metrics.plot("ranks", metric="fid", ax=wrong)
    assert not ax.has_data() and not round_ax.has_data()


@pytest.mark.filterwarnings("error")
def test_the_heat_map_shows_every_regret_and_hatches_what_is_not_known():
    from matplotlib.patches import Rectangle

    scores, _ = given_scores([[1.0, NAN, 1.0], [3.0, 2.0, math.inf]], [1.0, 2.0])
    ax = scores.plot("regret").axes[0]
    assert [t.get_text() for t in ax.get_yticklabels()] == list(scores.names)
    np.testing.assert_array_equal(ax.images[0].get_array().filled(NAN), [[0, 2], [NAN, 0], [0, 2]])
    assert [t.get_text() for t in ax.texts] == ["0", "2", "0", "0", "∞"]
    hatched = [p for p in ax.patches if isinstance(p, Rectangle) and p.get_hatch()]
    assert [(p.get_x(), p.get_y()) for p in hatched] == [(-0.5, 0.5)]
    nothing, _ = given_scores([[NAN], [NAN]], [1.0, 2.0])
    assert nothing.plot("regret")._repr_png_()
    many = pd.DataFrame(np.arange(400.0).reshape(4, 100) % 7)
    figure = given_scores(many.values.tolist(), [1.0] * 4)[0].plot("regret")
    assert figure.get_size_inches()[1] < 15 and figure._repr_png_()
