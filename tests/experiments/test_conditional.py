"""C1 to C3, C5: what MFID, RFID and CFID see of a wrong correlation, a scale of x, an estimate; real models."""

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.metrics.base import score_pair
from nbmetrics.metrics.conditional import CFID, JFID, MFID, RFID
from tests import golden

EDGES = np.linspace(-1, 1, 21)
METRICS = {"mfid": MFID, "rfid": RFID, "cfid": CFID}


def distribution(c, v=1.0):
    return nm.Gaussian([0, 0], [[1, c], [c, v]])


@pytest.fixture(scope="module")
def contours():
    return nm.experiments.correlation_contours(EDGES, EDGES)


@pytest.fixture(scope="module")
def estimated():
    return nm.experiments.covariance_estimators((4, 10, 40, 160), draws=2_000)


# ---- C1


def test_contours_follow_the_closed_forms(contours):
    r, s = contours["rho"], contours["rho_hat"]
    assert contours.columns[0] == "rho" and len(contours) == len(EDGES) ** 2
    np.testing.assert_allclose(contours["squared_difference"], (r - s) ** 2, atol=1e-14)
    np.testing.assert_allclose(contours["mfid"], 0, atol=1e-14)
    rfid = (np.sqrt(1 + r) - np.sqrt(1 + s)) ** 2 + (np.sqrt(1 - r) - np.sqrt(1 - s)) ** 2
    np.testing.assert_allclose(contours["rfid"], rfid, atol=1e-12)
    cfid = (r - s) ** 2 + (np.sqrt(1 - r**2) - np.sqrt(1 - s**2)) ** 2
    np.testing.assert_allclose(contours["cfid"], cfid, atol=1e-12)


def test_cfid_is_the_squared_chord_between_two_angles(contours):
    ends = [np.stack([np.cos(a), np.sin(a)]) for a in (np.arccos(contours["rho"]), np.arccos(contours["rho_hat"]))]
    np.testing.assert_allclose(contours["cfid"], np.sum((ends[0] - ends[1]) ** 2, axis=0), atol=1e-12)


def test_cfid_is_above_rfid_and_rfid_above_mfid_off_the_diagonal(contours):
    off = contours[contours["rho"] != contours["rho_hat"]]
    inner = off[(off[["rho", "rho_hat"]].abs().max(axis=1) < 1) & (abs(off["rho"] + off["rho_hat"]) > 1e-9)]
    assert (inner["cfid"] > inner["rfid"] + 1e-6).all() and (off["rfid"] > off["mfid"] + 1e-6).all()
    assert (contours["cfid"] >= contours["rfid"] - 1e-12).all()
    assert (contours["cfid"] >= contours["squared_difference"] - 1e-12).all()
    on = contours[contours["rho"] == contours["rho_hat"]]
    np.testing.assert_allclose(on[["rfid", "cfid"]], 0, atol=1e-14)


def test_the_opposite_correlation_scores_0_1_6_and_2_56():
    row = nm.experiments.correlation_contours(0.8, -0.8).iloc[0]
    np.testing.assert_allclose(row[["mfid", "rfid", "cfid"]].astype(float), [0, 1.6, 2.56], atol=1e-12)


# ---- C2


def test_cfid_ignores_the_scale_of_x_and_rfid_runs_from_mfid_to_cfid():
    table = nm.experiments.condition_scale(10.0 ** np.arange(-3, 4))
    assert list(table.columns) == ["alpha", "mfid", "rfid", "cfid"]
    np.testing.assert_allclose(table["cfid"], 1.5**2 + 1 - 2 * 1.5 * (-0.64 + 0.36), rtol=1e-12)
    np.testing.assert_allclose(table["mfid"], 0.25, rtol=1e-12)
    assert (np.diff(table["rfid"]) > 0).all() and (table["rfid"] <= table["cfid"] + 1e-9).all()
    # the covariance of x and y goes with α, so RFID leaves MFID with α² and nears CFID with 1/α²
    near_mfid, near_cfid = table["rfid"] - table["mfid"], table["cfid"] - table["rfid"]
    np.testing.assert_allclose(near_mfid[1] / near_mfid[0], 100, rtol=0.01)
    np.testing.assert_allclose(near_cfid[5] / near_cfid[6], 100, rtol=0.01)


def test_rfid_of_a_scaled_x_is_jfid():
    table = nm.experiments.condition_scale([0.1, 0.5, 2.0], deviation=1.2)
    real, made = distribution(0.8), distribution(-0.8 * 1.2, 1.44)
    expected = [score_pair(JFID(a, condition_dim=1), real, made) for a in table["alpha"]]
    np.testing.assert_allclose(table["rfid"], expected, rtol=1e-12)


def test_rows_of_ones_own_behave_alike():
    with np.load(golden.FOLDER / "cond8.npz") as data:
        x, y, y_hat = (data[name] for name in ("x", "y", "shuffled"))
    table = nm.experiments.condition_scale([1e-3, 1.0, 1e3], x=x, y=y, y_hat=y_hat)
    np.testing.assert_allclose(table["cfid"], nm.cfid(x, y, y_hat), rtol=1e-10)
    np.testing.assert_allclose(table["mfid"], nm.mfid(x, y, y_hat), atol=1e-12)
    assert table["rfid"][0] == pytest.approx(nm.mfid(x, y, y_hat), abs=1e-4)
    assert table["rfid"][1] == pytest.approx(nm.rfid(x, y, y_hat), rel=1e-12)
    assert table["rfid"][2] == pytest.approx(nm.cfid(x, y, y_hat), abs=1e-4)
    assert (np.diff(table["rfid"]) > 0.1).all()


# ---- C3


def test_means_are_ordered_nsc2_nsc1_sc_by_rfid_and_cfid(estimated):
    for metric in ("rfid", "cfid"):
        best, middle, worst = (estimated[f"{metric}_{name}"] for name in ("nsc2", "nsc1", "sc"))
        assert (best < middle).all() and (middle < worst).all()


def test_mfid_cannot_tell_the_normalised_estimators_apart(estimated):
    assert (estimated[["mfid_nsc1", "mfid_nsc2"]] == 0).all(axis=None) and (estimated["mfid_sc"] > 0).all()


def test_cfid_is_above_rfid_and_rfid_above_mfid_on_average(estimated):
    for name in ("sc", "nsc1", "nsc2"):
        assert (estimated[f"cfid_{name}"] > estimated[f"rfid_{name}"]).all()
        assert (estimated[f"rfid_{name}"] > estimated[f"mfid_{name}"]).all()


def test_errors_fall_with_the_number_of_pairs(estimated):
    scores = estimated[["mfid_sc", *(f"{m}_{e}" for m in ("rfid", "cfid") for e in ("sc", "nsc1", "nsc2"))]]
    # by 4 from 40 pairs to 160, once the clamp is rare
    np.testing.assert_allclose(scores.iloc[2] / scores.iloc[3], 4, rtol=0.35)


def by_hand(z):
    """Scores of the three estimators from rows of (x, y), each by the package's metrics on exact distributions."""
    s = z.T @ z / len(z)
    estimates = {"sc": (s[0, 1], s[1, 1]), "nsc1": (s[0, 1] / s[1, 1] ** 0.5, 1.0)}
    estimates["nsc2"] = (s[0, 1] / (s[0, 0] * s[1, 1]) ** 0.5, 1.0)
    found = {}
    for name, (c, v) in estimates.items():
        made = distribution(c, max(v, c * c))
        found |= {
            f"{m}_{name}": score_pair(METRICS[m](condition_dim=1), distribution(0.8), made) for m in ("rfid", "cfid")
        }
        found[f"mfid_{name}"] = nm.fid(nm.Gaussian(0, 1), nm.Gaussian(0, v))
    return found


@pytest.mark.parametrize("n", [2, 12])
def test_single_estimates_score_as_the_metrics_do(n):
    from nbmetrics.experiments.conditional import _estimates

    rng = np.random.default_rng(n)
    rows = [rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], size=n) for _ in range(40)]
    found = _estimates(np.stack([z.T @ z / n for z in rows]), 0.8)
    for k, z in enumerate(rows):
        expected = by_hand(z)
        # a root of a clamped residual keeps half of the digits
        assert {name: values[k] for name, values in found.items()} == pytest.approx(expected, rel=1e-7, abs=1e-7)


@pytest.mark.slow
def test_means_agree_with_estimates_from_rows_drawn_one_by_one():
    rng = np.random.default_rng(3)
    rows = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], size=(200, 8))
    scores = [by_hand(z) for z in rows]
    table = nm.experiments.covariance_estimators(8).iloc[0]
    for name in ("mfid_sc", "rfid_sc", "rfid_nsc1", "cfid_sc", "cfid_nsc1", "cfid_nsc2"):
        values = np.array([score[name] for score in scores])
        error = np.hypot(values.std() / np.sqrt(len(values)), table[f"{name}_se"])
        assert abs(values.mean() - table[name]) < 4 * error


def test_a_seed_repeats_and_other_sizes_do_not_matter():
    table = nm.experiments.covariance_estimators
    both, one, other = table((5, 9), draws=50, seed=2), table(9, draws=50, seed=2), table(9, draws=50, seed=3)
    assert both.iloc[1].equals(one.iloc[0].rename(1))
    assert one["cfid_sc"][0] != other["cfid_sc"][0]


# ---- all three


@pytest.mark.parametrize(
    ("name", "arguments", "blamed"),
    [
        ("correlation_contours", {"rho": 1.2}, "rho"),
        ("correlation_contours", {"rho_hat": []}, "rho_hat"),
        ("condition_scale", {"alpha": [1.0, 0.0]}, "alpha"),
        ("condition_scale", {"rho_hat": -2}, "rho_hat"),
        ("condition_scale", {"deviation": -1}, "deviation"),
        ("condition_scale", {"x": np.ones((30, 1)), "y": np.ones((30, 1))}, "y_hat"),
        ("condition_scale", {"y": np.ones((30, 1))}, "x"),
        ("covariance_estimators", {"n": [10, 1]}, "n"),
        ("covariance_estimators", {"n": 10.5}, "n"),
        ("covariance_estimators", {"rho": 1}, "rho"),
        ("covariance_estimators", {"draws": 1}, "draws"),
        ("covariance_estimators", {"seed": -1}, "seed"),
    ],
)
def test_bad_arguments_are_named(name, arguments, blamed):
    with pytest.raises(nm.InvalidInput) as raised:
        getattr(nm.experiments, name)(**arguments)
    assert raised.value.argument == blamed


def test_contours_are_drawn_in_three_square_panels(contours):
    figure = nm.figures.draw(contours)
    panels, bar = figure.axes[:3], figure.axes[3]
    assert [ax.get_title() for ax in panels] == [r"$(\rho - \hat{\rho})^2$", "RFID", "CFID"]
    assert all(ax.get_aspect() == 1 and "x and y" in ax.get_xlabel() for ax in panels)
    for ax in panels:
        (diagonal,) = ax.get_lines()
        np.testing.assert_array_equal(diagonal.get_xdata(), diagonal.get_ydata())
    assert bar.get_ylabel() == "squared units of y"
    figure.canvas.draw()


def test_contours_of_one_correlation_are_refused():
    with pytest.raises(nm.InvalidInput, match="two or more"):
        nm.figures.draw(nm.experiments.correlation_contours(0.8, -0.8))


def test_the_scale_of_x_is_drawn_in_one_panel():
    table = nm.experiments.condition_scale([0.1, 1, 10])
    (ax,) = nm.figures.draw(table).axes
    drawn = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    assert set(drawn) == {"MFID", "RFID", "CFID"} and ax.get_xscale() == "log" and "α" in ax.get_xlabel()
    np.testing.assert_array_equal(drawn["RFID"], table["rfid"])


def test_estimators_are_drawn_in_three_panels_on_one_scale(estimated):
    figure = nm.figures.draw(estimated)
    assert [ax.get_title() for ax in figure.axes] == ["MFID", "RFID", "CFID"]
    for ax, metric in zip(figure.axes, ("mfid", "rfid", "cfid"), strict=True):
        assert ax.get_xlabel() == "number of pairs, n" and len(ax.get_lines()) == 3
        np.testing.assert_array_equal(ax.get_lines()[2].get_ydata(), estimated[f"{metric}_nsc2"])
        low, high = ax.get_ylim()
        assert low <= 0 and high >= estimated["cfid_sc"].max()
    assert figure.axes[0].get_ylabel() == "mean distance to the truth ± 2 se\n(squared units of y)"


class TestPublished:
    def test_the_numbers_are_those_of_the_papers_tables(self):
        table = nm.experiments.published_conditional().set_index(["dataset", "model"])
        assert table.loc[("CelebA rotation", "MUNIT"), ["mfid", "rfid", "cfid"]].tolist() == [53.65, 146.54, 265.37]
        assert table.loc[("Edges2Shoes", "Pix2Pix"), ["mfid", "rfid", "cfid"]].tolist() == [239.64, 257.26, 308.03]
        assert (table["cfid"] > table["rfid"]).all() and (table["rfid"] > table["mfid"]).all()

    def test_only_cfid_puts_both_paired_models_first(self):
        table = nm.experiments.published_conditional()
        for _, rows in table.groupby("dataset"):
            worst = rows[rows["paired"] == "yes"][["mfid_rank", "rfid_rank", "cfid_rank"]].max()
            assert worst["cfid_rank"] == 2 and worst["mfid_rank"] == 4 and worst["rfid_rank"] >= 3
            assert sorted(rows["cfid_rank"]) == [1, 2, 3, 4]

    def test_its_figure_says_so_of_the_table_it_draws(self):
        table = nm.experiments.published_conditional()
        titles = [ax.get_title() for ax in nm.figures.published_conditional(table).axes]
        assert titles == [f"{name}: CFID parts the two kinds" for name in ("CelebA rotation", "Edges2Shoes")]
        swapped = table.assign(cfid=table["mfid"])
        assert nm.figures.published_conditional(swapped).axes[0].get_title().endswith("no score parts the two kinds")
