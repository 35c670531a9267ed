"""The frame of the experiments, the published tables, the Gaussian toys and the twins; the shell command."""

import inspect
import re
import subprocess
import sys
from functools import cache

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from nbmetrics import experiments
from nbmetrics.experiments.__main__ import main
from tests.experiments.small import SMALL
from tests.slow import by_default, slow


@pytest.fixture(scope="module")
def toy():
    return experiments.gaussian_toy()


class TestGaussianToy:
    def test_minima_are_where_the_paper_has_them(self, toy):
        assert toy["v"][toy["fid_avg"].argmin()] == 1.0
        for column in ("fid_all", "kid_avg", "kid_all"):
            assert toy["v"][toy[column].argmin()] == 2.0

    def test_fid_is_the_closed_form(self, toy):
        root = np.sqrt(toy["v"])
        np.testing.assert_allclose(toy["fid_avg"], 1 + (1 - root) ** 2, atol=1e-12)
        np.testing.assert_allclose(toy["fid_all"], (2**0.5 - root) ** 2, atol=1e-12)
        np.testing.assert_allclose(toy["fid_ref"], 1 + (1 - 2**0.5) ** 2, atol=1e-12)

    def test_kid_gap_is_constant_and_the_score_of_the_ideal_estimator(self, toy):
        assert np.ptp(toy["kid_gap"]) < 1e-12
        np.testing.assert_allclose(toy["kid_gap"], toy["kid_ref"], atol=1e-12)

    def test_rbf_kernel_has_its_minimum_at_2_19(self):
        fine = experiments.gaussian_toy(np.arange(2.0, 2.5, 0.01), kernel=nm.RBF(2**0.5))
        assert fine["v"][fine["kid_all"].argmin()] == pytest.approx(2.19, abs=0.011)

    def test_samples_agree_with_the_exact_curves(self, toy):
        drawn = experiments.gaussian_toy((0.5, 1, 2, 3), samples=50_000, seed=1)
        exact = toy.set_index("v").loc[[0.5, 1, 2, 3]]
        for column in ("fid_avg", "fid_all"):
            np.testing.assert_allclose(drawn[column], exact[column], atol=0.03)
        np.testing.assert_allclose(drawn["kid_gap"], exact["kid_gap"], atol=0.1)
        assert np.ptp(drawn["kid_gap"]) < 1e-9


class TestLikelihoodToy:
    def test_avg_is_all_everywhere(self):
        table = experiments.likelihood_toy()
        np.testing.assert_allclose(table["log_likelihood_avg"], table["log_likelihood_all"], atol=1e-12)

    def test_no_generator_is_above_the_union_whose_own_value_is_its_entropy(self):
        from scipy.integrate import quad
        from scipy.stats import norm

        def union(x):
            return (norm.pdf(x, -1) + norm.pdf(x, 1)) / 2

        along = quad(lambda x: union(x) * np.log(union(x)), -12, 12, epsabs=1e-13)[0]
        table = experiments.likelihood_toy()
        wanted = along - 0.5 * np.log(2 * np.pi * np.e)
        np.testing.assert_allclose(table["log_likelihood_ref"], wanted, atol=1e-10)
        assert (table["log_likelihood_all"] < table["log_likelihood_ref"]).all()
        assert table["v"].max() == 40

    def test_the_union_of_unequal_clients_has_its_entropy_too(self):
        clients = [nm.Gaussian(m) for m in [(0, 0), (4, 1), (-2, 5)]]
        union = nm.Mixture(clients)
        drawn = union.log_prob(union.sample(200_000, 0))
        table = experiments.likelihood_toy([1], [0], means=[c.mean for c in clients])
        error = drawn.std() / np.sqrt(len(drawn))
        assert table["log_likelihood_ref"][0] == pytest.approx(drawn.mean(), abs=4 * error) and error < 0.005

    def test_best_variance_is_that_of_the_union_and_best_shift_none(self):
        table = experiments.likelihood_toy()
        over_v, shifted = table[table["shift"] == 0], table[table["v"] == 2]
        assert over_v["v"][over_v["log_likelihood_avg"].idxmax()] == 2.0
        assert shifted["shift"][shifted["log_likelihood_avg"].idxmax()] == 0.0

    def test_values_are_the_closed_form(self):
        table = experiments.likelihood_toy(v=(0.5, 2), shift=(-1, 2))
        v, shift = table["v"], table["shift"]
        wanted = -np.log(2 * np.pi) - 0.5 * np.log(v) - 0.5 * (2 + shift**2) / v - 0.5
        np.testing.assert_allclose(table["log_likelihood_avg"], wanted, atol=1e-12)


def test_samples_of_the_toy_are_those_of_its_distributions():
    table = experiments.gaussian_samples(3.0, points=20_000)
    found = table.groupby("source", sort=False)[["x", "y"]].agg(["mean", "var"])
    assert list(found.index) == ["C1", "C2", "generator"]
    wanted = [(-1, 1, 0, 1), (1, 1, 0, 1), (0, 3, 0, 1)]
    np.testing.assert_allclose(found.to_numpy(), wanted, atol=0.1)


@pytest.fixture(scope="module")
def table():
    return experiments.twin_generators().set_index(["construction", "generator"])


class TestTwins:
    def test_corrected_twins_score_alike_with_every_client_and_differ_by_fid_all(self, table):
        pair = table.loc["corrected"]
        clients = pair.filter(like="fid_client_")
        np.testing.assert_allclose(clients.loc["first"], clients.loc["second"], atol=1e-8)
        assert pair.loc["second", "fid_all"] - pair.loc["first", "fid_all"] > 1

    def test_printed_twins_do_not(self, table):
        clients = table.loc["printed"].filter(like="fid_client_")
        assert (clients.loc["second"] - clients.loc["first"]).min() > 1

    def test_published_table_is_there_as_printed(self, table):
        assert table.loc[("published", "second"), "fid_all"] == 190.93
        assert table.loc[("published", "first"), "fid_client_6"] == 123.59

    def test_takes_clients_of_ones_own_and_says_where_there_is_no_twin(self):
        rng = np.random.default_rng(0)
        table = experiments.twin_generators([rng.normal(size=(50, 2)), rng.normal(1, 2, size=(60, 2))])
        assert set(table["construction"]) == {"corrected", "published"}
        with pytest.raises(nm.theory.NoTwin):
            experiments.twin_generators([nm.Gaussian([0, 0]), nm.Gaussian([0, 0])])


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("cifar100_on_federated_cifar10", 100),
        ("twin_generators_ffhq", 2),
        ("fld_models", 46),
        ("cfid_celeba_edges2shoes", 8),
    ],
)
def test_published_tables_ship_with_their_source(name, rows):
    table = experiments.published(name)
    assert len(table) == rows and "et al." in table.attrs["source"]
    assert not table.select_dtypes("number").isna().to_numpy().any()


def test_an_unknown_published_table_is_named():
    with pytest.raises(nm.InvalidInput, match="Did you mean 'fld_models'"):
        experiments.published("fld_model")


def test_every_experiment_has_a_title_a_source_and_a_figure():
    listed = experiments.titles()
    wanted = (
        "E1 E2 E3 E4 E5 E6 E7 E8 E9 E10 E11 E12 E13 E14 F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 F13 C1 C2 C3 C4 C5 K1"
    )
    assert " ".join(listed["id"]) == wanted
    assert listed["title"].str.len().between(10, 100).all() and listed["source"].str.len().gt(8).all()
    assert set(listed["name"]) <= set(dir(nm.figures)) and set(listed["name"]) <= set(experiments.__all__)


LONG = ("checkpoints", "mode_collapse")  # whose rows of digits are scored however few are drawn
EXACT = {"likelihood_toy", "published_models", "published_conditional", "correlation_contours", "condition_scale"}
TAILS = [
    "avg",
    "all",
    "gap",
    "rank",
    "ref",
    "se",
    "sd",
    "low",
    "high",
    "seconds",
    "sc",
    "nsc1",
    "nsc2",
    "first",
    "second",
    "inverted",
]


def small(name, **arguments):
    if name == "transport_federated":
        pytest.importorskip("ot")
    return getattr(experiments, name)(**SMALL[name], **arguments)


@cache
def made(name):
    return small(name)


def is_told(column, text):
    """Whether the text names a column, in full or by its metric: fid_avg_rank, fid_avg or fid."""
    stem, _, tail = column.rpartition("_")
    return bool(re.search(rf"\b{column}\b", text)) or (tail in TAILS and is_told(stem, text))


@pytest.mark.parametrize("name", by_default(SMALL, *(name for name in SMALL if name not in LONG)))
def test_every_column_is_documented(name):
    table, text = made(name), inspect.getdoc(getattr(experiments, name))
    returns = text[text.index("Returns\n") :]
    assert re.match(rf"Returns\n-------\nDataFrame {table.columns[0]}\b", returns)
    columns = [re.sub(r"_\d+$", "_1", column) for column in table]
    assert [column for column in columns if not is_told(column, returns)] == []


@pytest.mark.parametrize("name", by_default(SMALL, *[name for name in SMALL if name not in LONG][::2]))
def test_seeds_repeat_and_matter_and_nothing_is_drawn_without_one(name):
    if name in EXACT:
        assert "seed" not in inspect.signature(getattr(experiments, name)).parameters
        assert made(name).equals(small(name))
        return
    first, again, other = made(name), small(name, seed=0.0), small(name, seed=1)
    assert first.attrs["arguments"]["seed"] == again.attrs["arguments"]["seed"] == 0
    if name == "timing":  # measures time, and seeds only what it measures on
        assert first.shape == again.shape == other.shape
    else:
        assert first.equals(again) and not first.equals(other)
    with pytest.raises(nm.InvalidInput, match=r"^seed: "):
        small(name, seed=-1)


def test_every_experiment_has_a_small_run():
    assert set(SMALL) == set(experiments.titles()["name"])


def test_captions_name_the_set_up_and_the_panels_say_what_came_out(toy):
    titles = [ax.get_title() for ax in nm.figures.draw(toy).axes]
    assert titles == ["best v: 1 by avg, 2 by all", "best v: 2 by avg and by all"]
    one = nm.figures.draw(experiments.gaussian_toy((0.5, 1, 2), means=[(0, 0)]))
    assert [ax.get_title() for ax in one.axes] == ["best v: 1 by avg and by all"] * 2
    assert "best" not in one.get_suptitle()
    twins = [ax.get_title() for ax in nm.figures.draw(experiments.twin_generators()).axes]
    assert "by 90 for all" in twins[2] and "apart by 1 at most" in twins[2]
    assert "twins" not in twins[1] and "for all" in twins[1]


def test_tables_know_where_they_come_from(toy):
    assert toy.attrs["experiment"] == "gaussian_toy" and toy.attrs["id"] == "E1"
    assert "Figure 12" in toy.attrs["source"] and toy.attrs["arguments"]["seed"] == 0
    assert any("ddof" in line for line in toy.attrs["conventions"])


@pytest.mark.parametrize("name", ["gaussian_toy", *slow("likelihood_toy", "twin_generators", "published_conditional")])
def test_figures_have_labelled_axes_and_a_caption(name):
    table = getattr(experiments, name)()
    figure = nm.figures.draw(table)
    assert table.attrs["source"] in figure.get_suptitle().replace("\n", " ")
    for ax in figure.axes:
        assert ax.get_xlabel() and ax.get_ylabel() and (ax.lines or ax.collections)
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_draw_wants_the_table_of_an_experiment():
    with pytest.raises(nm.InvalidInput, match="table"):
        nm.figures.draw(pd.DataFrame({"a": [1]}))


class TestBadInput:
    @pytest.mark.parametrize(
        ("call", "argument"),
        [
            (lambda: experiments.gaussian_toy([]), "v"),
            (lambda: experiments.gaussian_toy([-1]), "v"),
            (lambda: experiments.gaussian_toy(["a"]), "v"),
            (lambda: experiments.gaussian_toy([1], seed=-1), "seed"),
            (lambda: experiments.gaussian_toy([1], seed="x"), "seed"),
            (lambda: experiments.gaussian_toy([1], means=3), "means"),
            (lambda: experiments.gaussian_toy([1], means=[]), "means"),
            (lambda: experiments.likelihood_toy([1], means=[(0, 0, 0)]), "means"),
            (lambda: experiments.likelihood_toy([1], shifted_v=0), "shifted_v"),
            (lambda: experiments.likelihood_toy([0.0]), "v"),
            (lambda: experiments.gaussian_samples(-1), "v"),
            (lambda: experiments.gaussian_samples(points=0), "points"),
            (lambda: experiments.twin_generators(clients=1), "clients"),
        ],
    )
    def test_is_named(self, call, argument):
        with pytest.raises(nm.InvalidInput, match=f"^{argument}"):
            call()


class TestShell:
    def test_writes_table_and_figure(self, tmp_path, capsys):
        out, csv = tmp_path / "toy.png", tmp_path / "toy.csv"
        assert main(["E1", "--out", str(out), "--csv", str(csv), "--set", "v=[1, 2]", "--set", "samples=200"]) == 0
        assert out.read_bytes().startswith(b"\x89PNG")
        table = pd.read_csv(csv)
        assert table["v"].tolist() == [1, 2] and table["fid_avg"][0] != pytest.approx(1, abs=1e-9)

    def test_prints_the_table_where_no_file_is_asked_for(self, capsys):
        assert main(["gaussian_toy", "--set", "v=[1]"]) == 0
        assert "fid_avg" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("argv", "said"),
        [
            (["gausian_toy"], "Did you mean 'gaussian_toy'"),
            (["E1", "--set", "w=1"], "got 'w'"),
            (["E1", "--set", "w"], "NAME=VALUE"),
            (["E1", "--out", "nowhere/at/all.png"], "no folder"),
            (["E1", "--out", "toy.docx", "--set", "v=[1]"], "Use .png"),
            (["E1", "--out", "toy", "--set", "v=[1]"], "Use .png"),
            (["E1", "--out", "{folder}", "--set", "v=[1]"], "--out: got '{folder}', which names no file"),
            (["E1", "--csv", "{folder}", "--set", "v=[1]"], "--csv: got '{folder}', which names no file"),
            (["E1", "--out", "/proc/x.png", "--set", "v=[1]"], "--out: cannot write /proc/x.png"),
            (["E1", "--csv", "/proc/x.csv", "--set", "v=[1]"], "--csv: cannot write /proc/x.csv"),
            (["C1", "--out", "{folder}/x.png", "--set", "rho=0.5"], "error: table: has one value of rho"),
            (["F9", "--set", "seed=0"], "takes no arguments"),
            (["E12", "--set", "federation=[[[0], [0]], [[0], [0]]]"], "error: "),
        ],
    )
    def test_says_what_is_wrong(self, argv, said, tmp_path, capsys):
        assert main([word.replace("{folder}", str(tmp_path)) for word in argv]) == 2
        assert said.replace("{folder}", str(tmp_path)) in capsys.readouterr().err
        assert not any(tmp_path.iterdir())

    def test_lists_the_experiments(self):
        command = [sys.executable, "-m", "nbmetrics.experiments", "--list"]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert "gaussian_toy" in out and "kid_estimators" in out
