"""F1, F2, F5, F6 and F10: what copies of train rows do to FLD, and what other metrics see of them."""

from functools import cache

import matplotlib
import numpy as np
import pytest
from matplotlib.collections import EllipseCollection
from scipy.stats import norm

import nbmetrics as nm
from nbmetrics.metrics.base import Sample
from nbmetrics.metrics.fld import fitted_density
from nbmetrics.summaries.rows import Rows
from tests.slow import slow

NOVELTY, INTERACTIONS = nm.experiments.novelty, nm.experiments.interactions
SMALL = (400, 300, 300)
WIDTHS = (1e-4, 1e-2, 0.046, 0.1, 0.5)


@cache
def density():
    return nm.experiments.moons_density((0, 100))


@cache
def copied(data):
    return nm.experiments.copycat(data=data).set_index("generator")


@cache
def moons(n=250):
    return tuple(nm.TwoMoons().sample(n, k) for k in range(3))


# --- the fitted density


def test_one_fit_says_what_the_separate_functions_say():
    train, test, made = moons()
    fitted = fitted_density(Rows.of(Sample(rows=train, test=test)), made, seed=3)
    assert fitted.fld == pytest.approx(nm.fld(train, test, made, seed=3), abs=1e-9)
    assert fitted.gap == pytest.approx(nm.fld_gap(train, test, made), abs=1e-9)
    np.testing.assert_allclose(fitted.memorization, nm.memorization_scores(train, test, made))


def test_sigma_in_raw_units_gives_the_differences_of_fld():
    train, test, made = moons()
    reference = Rows.of(Sample(rows=train, test=test))

    def raw_log_likelihood(rows):
        bumps = norm.pdf(test[:, None, :], rows[None, :, :], fitted_density(reference, rows).sigma[None, :, :])
        return np.log(bumps.prod(axis=2).mean(axis=1)).mean() / 2

    moved = 0.7 * made + 0.1
    apart = 100 * (raw_log_likelihood(made) - raw_log_likelihood(moved))  # baseline and units cancel
    assert apart == pytest.approx(nm.fld(train, test, moved) - nm.fld(train, test, made), abs=1e-6)
    assert apart > 10


def test_constant_features_have_no_sigma():
    train, test, made = (np.insert(x, 1, 3.0, axis=1) for x in moons())
    with pytest.warns(nm.metrics.mixture.ConstantFeatureWarning):
        sigma = fitted_density(Rows.of(Sample(rows=train, test=test)), made).sigma
    assert np.isnan(sigma[:, 1]).all() and (sigma[:, [0, 2]] > 0).all()


# --- F1


def test_copies_get_variances_orders_of_magnitude_below_the_honest_ones():
    table = density()
    sigma = table[table["copies"] == 100].groupby("kind")[["sigma_x", "sigma_y"]].median()
    assert (sigma.loc["generated-honest"] > 200 * sigma.loc["generated-copy"]).all()
    assert sigma.loc["generated-copy"].max() < 3e-4  # about the jitter, 1e-4
    assert sigma.loc[["train", "test"]].isna().all(axis=None)


def test_copies_have_the_highest_memorization_scores():
    table = density()
    made = table[(table["copies"] == 100) & table["memorization"].notna()]
    first = made.sort_values("memorization", ascending=False)["kind"][:50]
    assert (first == "generated-copy").all()


def test_the_more_copies_the_higher_fld_and_the_lower_its_gap():
    found = nm.experiments.moons_density((0, 40, 80), points=80).groupby("copies")[["fld", "fld_gap"]].first()
    assert found["fld"].is_monotonic_increasing and found["fld_gap"].is_monotonic_decreasing
    assert found.loc[80, "fld"] > found.loc[0, "fld"] + 50


def test_the_points_of_f1_are_all_there():
    table = density()
    counts = table.groupby(["copies", "kind"]).size()
    assert counts[100].to_dict() == {"train": 400, "test": 200, "generated-copy": 100, "generated-honest": 100}
    assert "generated-copy" not in counts[0]


# --- F2


def check_overfit(table, rise):
    """Below the best bandwidth FLD rises, and FID-test neither leaves its interval nor that of the best bandwidth."""
    best = table.loc[table["fld"].idxmin()]
    below = table[table["bandwidth"] < best["bandwidth"]]
    assert below["fld"].iloc[0] > best["fld"] + rise
    for low, high in ((below["fid_test_low"], below["fid_test_high"]), (best["fid_test_low"], best["fid_test_high"])):
        assert ((low <= below["fid_test"]) & (below["fid_test"] <= high)).all()
    widest = table.iloc[-1]
    assert widest["fid_test"] > best["fid_test_high"] and widest["fid_test_low"] > best["fid_test"]
    assert below["c_t"].iloc[0] < -5 and below["auth_pct"].iloc[0] < 2
    assert below["fld_gap"].iloc[0] < best["fld_gap"] - 50


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *slow(1)])
def test_fld_rises_below_the_best_bandwidth_while_fid_stays_within_its_interval(seed):
    check_overfit(nm.experiments.bandwidth_sweep(WIDTHS, sizes=SMALL, seed=seed), rise=50)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_the_bandwidth_sweep_at_the_papers_size(seed):
    table = nm.experiments.bandwidth_sweep((*WIDTHS, 3.0), seed=seed)
    check_overfit(table, rise=50)
    assert table.loc[table["fld"].idxmin(), "bandwidth"] == 0.046
    assert table["fld"].min() < 5


def test_fid_of_a_wide_kernel_is_that_of_its_moments():
    table = nm.experiments.bandwidth_sweep([5.0], sizes=(300, 300, 5_000))
    rng = np.random.default_rng(0)
    train, test = nm.TwoMoons().sample(300, rng), nm.TwoMoons().sample(300, rng)
    exact = nm.fid(nm.Gaussian(test.mean(0), np.cov(test.T)), nm.KernelDensity(train, 5.0))
    assert table["fid_test"].iloc[0] == pytest.approx(exact, rel=0.05)


# --- F10


@pytest.mark.parametrize("data", [*slow("moons"), "digits"])
def test_the_copycat_is_perfect_by_fid_train_and_hopeless_by_fld(data):
    table = copied(data)
    cat, fresh = table.loc["copycat"], table.loc["fresh"]
    assert cat["fid_train"] < 1e-12 < fresh["fid_train"]
    assert cat["fid_test"] < 1.2 * fresh["fid_test"]
    assert cat["precision"] > fresh["precision"] - 0.02 and cat["recall"] > fresh["recall"] - 0.02
    assert cat["fld"] > 1e6 and cat["fld_gap"] < -1e6
    assert cat["auth_pct"] == 0 and cat["c_t"] < -15
    assert fresh["fld"] < table.loc["half copied", "fld"] < table.loc["noisy copies", "fld"] < cat["fld"]


def test_blind_spot_on_digits_shrunken_rows_score_better_than_honest_ones():
    table = copied("digits")
    assert table.loc["fresh, shrunk", "fld"] < table.loc["fresh", "fld"] - 2
    assert table.loc["fresh, shrunk", "recall"] < table.loc["fresh", "recall"] - 0.1  # diversity was lost


@pytest.mark.slow
def test_no_blind_spot_on_two_moons():
    table = copied("moons")
    assert table.loc["fresh, shrunk", "fld"] > table.loc["fresh", "fld"] + 10


def test_copycat_takes_rows_and_further_generators():
    train, test, fresh = moons()
    table = nm.experiments.copycat({"mine": fresh + 1.0}, data=(train, test, fresh)).set_index("generator")
    mine = table.loc["mine"]
    assert mine["fld"] == pytest.approx(nm.fld(train, test, fresh + 1.0))
    assert mine["fid_test"] == pytest.approx(nm.fid(test, fresh + 1.0))
    assert mine["c_t"] == pytest.approx(nm.c_t(train, test, fresh + 1.0))
    assert mine["auth_pct"] == nm.auth_pct(train, fresh + 1.0)
    assert mine["precision"] == nm.prdc(test, fresh + 1.0).precision


# --- arguments, tables and figures


@pytest.mark.parametrize(
    ("name", "arguments", "argument"),
    [
        ("moons_density", {"copies": [300]}, "copies"),
        ("moons_density", {"points": 2}, "points"),
        ("moons_density", {"jitter": -1}, "jitter"),
        ("bandwidth_sweep", {"bandwidth": [0.0]}, "bandwidth"),
        ("bandwidth_sweep", {"sizes": (100, 100)}, "sizes"),
        ("bandwidth_sweep", {"sizes": 100}, "sizes"),
        ("bandwidth_sweep", {"bandwidth": [0.1], "sizes": SMALL, "uncertainty": 3}, "uncertainty"),
        ("copycat", {"data": "moon"}, "data"),
        ("copycat", {"data": (np.eye(2), np.eye(3), np.eye(2))}, "test"),
        ("copycat", {"shrink": 2}, "shrink"),
        ("copycat", {"generators": [np.eye(2)]}, "generators"),
        ("copycat", {"generators": {"copycat": np.eye(2)}}, "generators"),
        ("copycat", {"generators": {3: np.eye(2)}}, "generators"),
        ("novelty", {"share": [1.5]}, "share"),
        ("novelty", {"transforms": {}}, "transforms"),
        ("novelty", {"data": 5}, "data"),
        ("interactions", {"diversity": [0.0]}, "diversity"),
        ("interactions", {"novelty": []}, "novelty"),
        ("interactions", {"degrade": "blur"}, "degrade"),
    ],
)
def test_bad_arguments_are_named(name, arguments, argument):
    run = {"novelty": NOVELTY, "interactions": INTERACTIONS}.get(name) or getattr(nm.experiments, name)
    with pytest.raises(nm.InvalidInput) as caught:
        run(**arguments)
    assert caught.value.argument == argument


def test_bad_generators_are_named():
    with pytest.raises(nm.InvalidInput, match=r"generators\['mine'\]"):
        nm.experiments.copycat({"mine": np.ones((5, 3))}, data=moons())


def test_seeds_repeat_and_matter():
    def run(seed):
        return nm.experiments.moons_density([20], points=60, seed=seed)

    assert run(1).equals(run(1)) and not run(1).equals(run(2))


def test_tables_say_how_they_were_made():
    for table in (density(), copied("digits")):
        assert any(line.startswith("FLD:") for line in table.attrs["conventions"])


def drawn(table):
    figure = nm.figures.draw(table)
    figure.canvas.draw()
    return figure, [ax for ax in figure.axes if ax.get_visible()]


def test_f1_draws_an_ellipse_for_every_generated_point():
    figure, axes = drawn(density())
    assert [ax.get_xlabel() for ax in axes] == ["x", "x"]
    bumps = {c.get_gid(): c for c in axes[1].collections if isinstance(c, EllipseCollection)}
    table = density()
    copies = table[(table["copies"] == 100) & (table["kind"] == "generated-copy")]
    np.testing.assert_allclose(bumps["generated-copy"].get_widths(), 2 * copies["sigma_x"])
    assert len(bumps["generated-honest"].get_offsets()) == 100
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["train", "test", "generated, honest", "generated, near-copy of train"]


def test_f1_shades_the_mass_of_the_mixture():
    _, axes = drawn(density())
    for ax in axes:
        mesh = next(c for c in ax.collections if isinstance(c, matplotlib.collections.QuadMesh))
        edges = mesh.get_coordinates()
        area = (edges[0, 1, 0] - edges[0, 0, 0]) * (edges[1, 0, 1] - edges[0, 0, 1])
        assert 0.9 < float(mesh.get_array().sum()) * area <= 1.0  # some of the widest bumps' mass is outside


def test_f2_draws_fld_fid_with_its_interval_and_the_others():
    _, axes = drawn(nm.experiments.bandwidth_sweep((0.01, 0.1, 1.0), sizes=(100, 100, 100)))
    assert [ax.get_ylabel().split(" (")[0] for ax in axes] == ["FLD and FLD gap", "FID", "C_T", "AuthPct"]
    assert all(ax.get_xscale() == "log" and ax.get_xlabel().startswith("bandwidth") for ax in axes)
    assert len(axes[1].collections) == 1


def test_f10_draws_every_metric_of_every_generator():
    table = copied("digits").reset_index()
    table.attrs = copied("digits").attrs
    _, axes = drawn(table)
    assert [tick.get_text() for tick in axes[0].get_yticklabels()] == table["generator"].tolist()
    assert [len(ax.lines) for ax in axes] == [2, 1, 1, 1, 1, 2]
