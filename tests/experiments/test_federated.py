"""Orders of generators by avg and by all: what the federated experiments must show, and their figures."""

import math

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from nbmetrics import experiments, figures
from nbmetrics.datasets import digits, published
from nbmetrics.experiments.base import wide_table
from nbmetrics.experiments.generator_order import order_summary, with_ranks
from nbmetrics.ranking import inverted_pairs
from tests.slow import slow

X, Y = digits()
FEW = np.arange(600)  # 60 or so digits of every class
RNG = np.random.default_rng(0)
ROWS, LABELS = RNG.standard_normal((48, 3)) + np.repeat(np.eye(3) * 3, 16, axis=0), np.repeat(list("abc"), 16)


def best(table, column):
    """The swept value with the lowest score."""
    return table.iloc[:, 0][table[column].idxmin()]


@pytest.fixture(scope="module")
def one_class():
    return experiments.single_class()


@pytest.fixture(scope="module")
def computed():
    return experiments.published_ranks(X=X, y=Y, parts=3)


@pytest.fixture(scope="module")
def limited():
    settings = {"X": X[FEW], "y": Y[FEW], "neighbors": (5, 20), "starts": 4}
    return experiments.variance_limited((0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0), **settings)


@pytest.fixture(scope="module")
def truncated():
    return experiments.truncation()


@pytest.fixture(scope="module")
def neighbors():
    return experiments.neighbors_federated()


@pytest.fixture(scope="module")
def transported():
    pytest.importorskip("ot")
    return experiments.transport_federated(X[FEW], Y[FEW])


# E4


def test_fid_avg_prefers_the_perfect_class_and_fid_all_the_noisy_copies(one_class):
    scores = one_class.set_index("generator")
    kept, noisy = scores.loc["class 8"], scores.loc["noise 0.2"]
    np.testing.assert_allclose([kept["fid_avg"], kept["fid_all"]], [4.31, 2.38], rtol=0.03)
    np.testing.assert_allclose([noisy["fid_avg"], noisy["fid_all"]], [5.45, 1.11], rtol=0.03)
    assert kept["fid_avg"] < noisy["fid_avg"] and kept["fid_all"] > noisy["fid_all"]


@pytest.mark.parametrize("seed", [1, 2])
def test_the_preference_does_not_hang_on_the_seed(seed):
    table = experiments.single_class(seed=seed, kernels={})
    assert np.sign(np.diff(table["fid_avg"])) == -np.sign(np.diff(table["fid_all"])) == 1


def test_kid_of_both_kernels_orders_the_two_alike(one_class):
    for name in ("kid", "kid_rbf"):
        assert np.ptp(one_class[f"{name}_gap"]) < 1e-10
        assert (np.diff(one_class[f"{name}_avg"]) * np.diff(one_class[f"{name}_all"])).item() > 0


def test_clients_and_generators_share_no_row():
    table = experiments.single_class(X, Y, noise=0.0, kernels={}).set_index("generator")
    assert table.loc["noise 0", "fid_all"] > 0.01  # 0 if a row were on both sides


# E5


def test_the_published_table_has_the_inversions_that_its_theorem_forbids():
    summary = order_summary(experiments.published_ranks()).set_index("metric")
    assert tuple(summary.loc["kid", ["inversions", "pairs"]]) == (81, 4950)
    assert summary.loc["kid", "gap_sd"] == pytest.approx(0.0022, abs=5e-5)
    assert summary.loc["fid", "inversions"] > 81


def test_exact_kid_has_none_on_computed_scores_and_subsets_bring_them_back(computed):
    exact = order_summary(computed).set_index("metric")
    assert exact.loc["kid", "inversions"] == 0 and exact.loc["kid", "kendall_tau"] == pytest.approx(1)
    assert exact.loc["kid", "gap_range"] < 1e-14 and exact.loc["fid", "inversions"] > 0
    assert order_summary(computed.round(3)).set_index("metric").loc["kid", "inversions"] == 0
    subsets = experiments.published_ranks(X=X, y=Y, parts=3, estimator=nm.Subsets(20, 20))
    drawn = order_summary(subsets).set_index("metric").loc["kid"]
    assert drawn["inversions"] > 0 and drawn["gap_sd"] > 1e-4


def test_inversions_and_their_lines_are_those_that_scores_counts():
    rng = np.random.default_rng(3)
    generators = {f"G{k}": m + rng.standard_normal((9, 3)) for k, m in enumerate(rng.normal(0, 2, (12, 3)))}
    generators["twin"] = generators["G0"]
    scores = nm.evaluate(nm.Federation.from_labels(ROWS, LABELS), generators, ["fid", "precision"])
    table = wide_table(scores)
    counted = order_summary(table).set_index("metric")
    ranked = with_ranks(table, {"fid": nm.metrics.FID, "precision": nm.metrics.Precision})
    for metric in ("fid", "precision"):
        expected = scores.inversions(metric)
        assert counted.loc[metric, "inversions"] == len(expected) > 0
        assert counted.loc[metric, "kendall_tau"] == pytest.approx(scores.agreement(metric))
        drawn = inverted_pairs(ranked[f"{metric}_avg"], ranked[f"{metric}_all"])
        names = {frozenset(pair) for pair in expected[["avg_prefers", "all_prefers"]].to_numpy()}
        assert {frozenset(ranked["generator"].iloc[pair]) for pair in drawn} == names
        places = scores.ranks(metric)
        for aggregate in ("avg", "all"):
            np.testing.assert_array_equal(ranked[f"{metric}_{aggregate}_rank"], places[aggregate])


def test_ties_are_no_inversions_and_share_a_place():
    table = pd.DataFrame({"generator": list("abc"), "m_avg": [1.0, 1.0 + 1e-16, 2.0], "m_all": [3.0, 2.0, 1.0]})
    assert order_summary(table)["inversions"].item() == 2
    assert with_ranks(table, {"m": nm.metrics.FID})["m_avg_rank"].tolist() == [1, 1, 3]


def test_c_t_is_ordered_by_its_distance_from_0():
    table = pd.DataFrame({"generator": list("abc"), "c_t_avg": [-5.0, 1.0, 2.0], "c_t_all": [6.0, -1.0, 2.0]})
    assert order_summary(table)[["inversions", "kendall_tau"]].to_numpy().tolist() == [[0, 1.0]]


def test_a_table_of_ones_own_is_ranked_as_the_published_one():
    own = published("cifar100_on_federated_cifar10").tail(10)
    table = experiments.published_ranks(own)
    assert table["generator"].tolist() == [str(c) for c in own["class"]]
    np.testing.assert_array_equal(table["fid_avg_rank"], own["fid_avg"].rank(method="min"))
    assert "Table 2" in table.attrs["conventions"][0]


# E6


@pytest.mark.parametrize("family", ["shrunk", "neighbors"])
def test_fid_avg_is_best_for_less_variety_than_fid_all(family, limited):
    if family == "neighbors":
        settings = {"X": X[FEW], "y": Y[FEW], "neighbors": 5, "starts": 20}
        limited = experiments.variance_limited((0.1, 0.4, 0.7, 1.0), family=family, **settings)
    assert limited.columns[0] == "scale"
    for _, part in limited.groupby("neighbors"):
        assert best(part, "fid_avg") < best(part, "fid_all")
        assert np.ptp(part["kid_gap"]) < 1e-10 and np.ptp(part["fid_gap"]) > 0.1
        assert (part["kid_avg_rank"] == part["kid_all_rank"]).all()
        assert (part["fid_avg_rank"] != part["fid_all_rank"]).any()


def test_shrunk_data_is_best_between_02_and_03_by_avg_and_at_09_by_all(limited):
    for _, part in limited.groupby("neighbors"):
        assert best(part, "fid_avg") in (0.2, 0.3) and best(part, "fid_all") in (0.9, 1.0)


def test_the_clients_of_all_starts_in_one_evaluation_score_as_each_start_alone():
    rows, scales = X[FEW], [0.3, 1.0]
    table = experiments.variance_limited(scales, X=rows, y=Y[FEW], neighbors=6, starts=2, seed=5)
    center, alone = rows.mean(axis=0), []
    for seed in np.random.SeedSequence(5).generate_state(2):
        federation = nm.Federation.variance_limited(rows, Y[FEW], 6, int(seed))
        scores = nm.evaluate(federation, {str(s): center + s * (rows - center) for s in scales})
        alone.append(scores.table.pivot(index="generator", columns="metric", values=["avg", "all"]))
    for metric in ("fid", "kid"):
        for aggregate in ("avg", "all"):
            expected = np.mean([a[aggregate, metric].to_numpy(float) for a in alone], axis=0)
            np.testing.assert_allclose(table[f"{metric}_{aggregate}"], expected, rtol=1e-9)


# E7


def test_fid_avg_is_best_at_the_truncation_of_a_client_and_fid_all_at_that_of_all_data(truncated):
    apart, shared = (truncated[truncated["spread"] == s] for s in (0.75, 0.0))
    assert (best(apart, "fid_avg"), best(apart, "fid_all")) == (0.25, 0.8)
    assert best(shared, "fid_avg") == best(shared, "fid_all") == 0.25
    for part in (apart, shared):
        assert np.ptp(part["kid_gap"]) < 1e-10
        assert (part["kid_avg_rank"] == part["kid_all_rank"]).all()
    assert (shared["fid_avg_rank"] == shared["fid_all_rank"]).all()
    assert (apart["fid_avg_rank"] != apart["fid_all_rank"]).any()


def test_the_exact_truncation_curve_is_its_closed_form():
    psi, dim, count = np.array([0.1, 0.5, 0.9]), 5, 7
    table = experiments.truncation(psi, spread=0.6, clients=count, client_psi=0.3, dim=dim, seed=4)
    means = 0.6 * np.random.default_rng(4).standard_normal((count, dim))
    spectrum = np.linalg.eigvalsh(np.cov(means.T, ddof=0) + 0.3**2 * np.eye(dim))
    avg = np.mean(np.sum(means**2, axis=1)) + dim * (0.3 - psi) ** 2
    pooled = np.sum(means.mean(axis=0) ** 2) + np.sum((np.sqrt(spectrum)[:, None] - psi) ** 2, axis=0)
    np.testing.assert_allclose(table["fid_avg"], avg, rtol=1e-9)
    np.testing.assert_allclose(table["fid_all"], pooled, rtol=1e-9)


def test_samples_show_the_same_best_truncations():
    psi = (0.1, 0.2, 0.25, 0.3, 0.5, 0.7, 0.8, 0.9)
    table = experiments.truncation(psi, spread=(0.75, 0.0), clients=30, dim=6, samples=100)
    apart, shared = (table[table["spread"] == s] for s in (0.75, 0.0))
    exact = experiments.truncation(psi, spread=0.75, clients=30, dim=6)
    assert best(apart, "fid_avg") == best(exact, "fid_avg") == 0.25
    assert best(apart, "fid_all") == best(exact, "fid_all") >= 0.7
    assert best(shared, "fid_avg") == best(shared, "fid_all") == 0.25
    assert np.ptp(apart["kid_gap"]) < 1e-10 and not np.allclose(apart["fid_avg"], exact["fid_avg"], rtol=1e-6)


# E9, E10


def test_precision_and_density_are_inverted_and_recall_is_one_number(neighbors):
    for kind, part in neighbors.groupby("clients"):
        found = order_summary(part).set_index("metric")["inversions"]
        assert found["precision"] > found["density"] > found["coverage"], kind
        assert found["recall"] == 0 and part["recall_gap"].abs().max() < 1e-12
        assert (part["recall_avg_rank"] == part["recall_all_rank"]).all()
        assert part["recall_avg"].nunique() > 10  # not identical because trivial


def test_a_single_class_has_precision_and_lacks_recall(neighbors):
    part = neighbors[neighbors["clients"] == "one class each"].set_index("generator")
    classes = part[part.index.str.startswith("class")]
    assert classes["precision_all"].min() > 0.8 and classes["recall_all"].max() < 0.5
    assert part.loc["noise 0.3", "precision_all"] < 0.1 and part.loc["noise 0", "recall_all"] > 0.9


def test_the_generators_of_nearest_rows_are_as_large_as_their_names_say():
    rows = np.random.default_rng(2).standard_normal((120, 3))
    table = experiments.neighbors_federated(rows, np.repeat([0, 1], 60), neighbors=15)
    assert [g for g in table["generator"].unique() if g.startswith("nearest")] == ["nearest 20", "nearest 40"]
    with pytest.raises(nm.InvalidInput, match=r"^sizes: got 80"):
        experiments.neighbors_federated(rows, np.repeat([0, 1], 60), neighbors=15, sizes=(40, 80))


def test_w1_avg_and_all_order_single_classes_and_noisy_copies_differently(transported):
    summary = order_summary(transported).set_index("metric").loc["w1"]
    assert summary["inversions"] > 10 and summary["kendall_tau"] < 0.8
    scores = transported.set_index("generator")
    kept, noisy = scores.loc["class 8"], scores.loc["noise 0.15"]
    assert kept["w1_avg"] < noisy["w1_avg"] and kept["w1_all"] > noisy["w1_all"]
    assert (transported["w1_gap"] > 0).all()  # W1 is convex and its pooling exact


def test_w1_works_sliced_on_data_of_ones_own():
    pytest.importorskip("ot")
    table = experiments.transport_federated(ROWS, LABELS, noise=(0.5,), method="sliced")
    assert table["generator"].tolist() == ["class a", "class b", "class c", "noise 0.5"]
    assert "sliced" in table.attrs["conventions"][0]
    assert table["w1_all"].idxmin() == 3


# Arguments


@pytest.mark.parametrize(
    ("run", "argument"),
    [
        (lambda: experiments.single_class(label=11), "label"),
        (lambda: experiments.single_class(X), "y"),
        (lambda: experiments.single_class(noise=-1), "noise"),
        (lambda: experiments.single_class(ROWS, np.arange(48)), "y"),
        (lambda: experiments.single_class(ROWS, LABELS[:-1]), "y"),
        (lambda: experiments.published_ranks(pd.DataFrame({"class": [1], "fid_avg": [1.0]})), "table"),
        (lambda: experiments.published_ranks(published("cifar100_on_federated_cifar10"), X=X, y=Y), "table"),
        (lambda: experiments.published_ranks(X=ROWS, y=LABELS, parts=5), "parts"),
        (lambda: experiments.published_ranks(parts=3), "parts"),
        (lambda: experiments.published_ranks(estimator=nm.Subsets(10, 10)), "estimator"),
        (lambda: experiments.single_class(kernels=["a"]), "kernels"),
        (lambda: experiments.single_class(kernels={"fid": None}), "kernels"),
        (lambda: experiments.single_class(kernels={"a": 3}), r"kernels\['a'\]"),
        (lambda: experiments.single_class(seed=0.5), "seed"),
        (lambda: experiments.variance_limited(neighbors=()), "neighbors"),
        (lambda: order_summary(pd.DataFrame({"fid_avg": [1.0, 2.0]})), "table"),
        (lambda: experiments.variance_limited(family="fresh"), "family"),
        (lambda: experiments.variance_limited(scale=1.5), "scale"),
        (lambda: experiments.variance_limited(starts=0), "starts"),
        (lambda: experiments.variance_limited(neighbors=500, starts=1), "neighbors"),
        (lambda: experiments.truncation(psi=0), "psi"),
        (lambda: experiments.truncation(spread=-1), "spread"),
        (lambda: experiments.truncation(samples=1), "samples"),
        (lambda: experiments.neighbors_federated(sizes=(5,)), "sizes"),
        (lambda: experiments.neighbors_federated(neighbors=4), "neighbors"),
        (lambda: experiments.transport_federated(method="best"), "method"),
        (lambda: experiments.transport_federated(noise=()), "noise"),
    ],
)
def test_bad_arguments_are_named(run, argument):
    with pytest.raises(nm.InvalidInput, match=rf"^{argument}: "):
        run()


@pytest.mark.parametrize("bad", [np.nan, np.inf, "none"])
@pytest.mark.parametrize("column", ["fid_avg", "fid_all"])
def test_a_summary_of_scores_that_are_no_numbers_is_refused(bad, column):
    table = pd.DataFrame({"g": list("abc"), "fid_avg": [1.0, 2.0, 2.0], "fid_all": [3.0, 2.0, 1.0]}, dtype=object)
    table.loc[1, column] = bad
    with pytest.raises(nm.InvalidInput, match=f"^table: has a score that is not a finite number in {column}[.]"):
        order_summary(table)


@pytest.mark.parametrize("name", ["neighbors_federated", "transport_federated"])
def test_each_noise_makes_one_generator(name):
    if name == "transport_federated":
        pytest.importorskip("ot")
    arguments = {"k": 2, "neighbors": 3} if name == "neighbors_federated" else {"method": "sliced"}
    table = getattr(experiments, name)(ROWS, LABELS, noise=(0.1, 0.1000000001, 0.2, 0.2), **arguments)
    names = table["generator"].unique()
    assert [g for g in names if g.startswith("noise")] == ["noise 0.1", "noise 0.1000000001", "noise 0.2"]


def test_a_scale_may_be_given_twice():
    table = experiments.variance_limited((0.5, 1.0, 0.5), X=X[FEW], y=Y[FEW], neighbors=5, starts=1)
    assert table["scale"].tolist() == [0.5, 1.0]


# Figures


@pytest.mark.parametrize(
    ("name", "panels", "x_label", "y_label"),
    [
        ("one_class", 3, "", "FID (squared units; lower is better)"),
        *slow(
            ("computed", 4, "FID-all (squared units)", "FID-avg (squared units)"),
            ("limited", 6, "data shrunk by ψ", "FID (squared units)"),
            ("truncated", 6, "truncation of the generator, ψ", "FID (squared units)"),
            ("neighbors", 8, "Precision-all", "Precision-avg"),
        ),
        ("transported", 2, "W1-all (units of the rows)", "W1-avg (units of the rows)"),
    ],
)
def test_each_table_has_its_figure(name, panels, x_label, y_label, request):
    table = request.getfixturevalue(name)
    figure = figures.draw(table)
    assert len(figure.axes) == panels
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == (x_label, y_label)
    assert all(ax.lines or ax.collections for ax in figure.axes)
    assert figure.legends and table.attrs["title"][:20] in figure.get_suptitle()
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_the_published_figure_joins_every_inverted_pair():
    figure = figures.published_ranks(experiments.published_ranks())
    joined = [len(ax.collections[0].get_segments()) for ax in figure.axes]
    assert joined == [136, 81, 136, 81]
    assert "81 of 4,950 pairs inverted" in figure.axes[1].get_title()


def test_every_count_of_inversions_is_the_same(computed):
    figure = figures.published_ranks(computed)
    counted = order_summary(computed)["inversions"].tolist()
    assert [len(ax.collections[0].get_segments()) for ax in figure.axes] == counted * 2
    assert [int(ax.get_title().split()[0].replace(",", "")) for ax in figure.axes[:2]] == counted


@pytest.mark.parametrize("name", ["published_ranks", "single_class", "truncation"])
def test_captions_claim_nothing_that_a_panel_could_contradict(name):
    caption = getattr(experiments, name).title
    assert not any(word in caption for word in ("inverts", "prefers", "none", "agree"))


def test_the_panels_of_a_sweep_name_the_best_of_avg_and_of_all(truncated):
    titles = [ax.get_title() for ax in figures.truncation(truncated).axes]
    assert titles[0] == "client means spread by 0.75\nbest ψ: 0.25 by avg, 0.8 by all"
    assert titles[3] == "client means spread by 0\nbest ψ: 0.25 by avg and by all"


def test_places_have_whole_numbers_on_their_axes(transported, truncated):
    few = truncated[truncated["psi"] < 0.2]  # matplotlib would put 1.5 between the places 1 and 4
    places = [figures.transport_federated(transported).axes[1], figures.truncation(few).axes[2]]
    for ax in places:
        for ticks in (ax.get_xticks(), ax.get_yticks()):
            np.testing.assert_array_equal(ticks, np.round(ticks))


def test_the_figure_says_where_lines_cross_and_parallel_only_where_the_gaps_are_equal(one_class):
    titles = [ax.get_title() for ax in figures.single_class(one_class).axes]
    assert [title.startswith("lines cross") for title in titles] == [True, False, False]
    assert titles[1:] == ["parallel: one gap for both"] * 2
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((120, 4)) + np.repeat(3 * np.eye(4)[:3], 40, axis=0)
    blobs = experiments.single_class(rows, np.repeat([0, 1, 2], 40), label=1, noise=0.0)
    assert np.ptp(blobs["fid_gap"]) > 1 and order_summary(blobs)["inversions"].tolist() == [0, 0, 0]
    titles = [ax.get_title() for ax in figures.single_class(blobs).axes]
    assert titles == ["no crossing, but the gaps differ", *["parallel: one gap for both"] * 2]
    assert math.isclose(figures.single_class(one_class).axes[0].lines[0].get_ydata()[0], one_class["fid_avg"][0])
