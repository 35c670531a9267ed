"""F5 and F6: copies of train rows under transforms, and beside faults of other kinds."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from nbmetrics.experiments import digits, image_transforms
from nbmetrics.experiments.copying_data import Reference, Sets
from nbmetrics.experiments.generalization import Material

NOVELTY, INTERACTIONS = nm.experiments.novelty, nm.experiments.interactions


@cache
def moons(n=250):
    return tuple(nm.TwoMoons().sample(n, k) for k in range(3))


# --- F5


@cache
def novel():
    return NOVELTY((0.0, 0.5, 1.0))


def column(name, transform):
    table = novel()
    return table[table["transform"] == transform][name].to_numpy()


@pytest.mark.parametrize("transform", ["none", "posterize to 5 bits", "light blur, σ = 0.5 pixels"])
def test_all_four_metrics_fall_as_copies_replace_generated_rows(transform):
    for name in ("fld_gap", "fid_gap", "c_t", "auth_pct"):
        values = column(name, transform)
        assert (np.diff(values[np.isfinite(values)]) < 0).all(), name


def test_honest_digits_score_about_0_and_copies_of_everything_have_no_gap():
    fld, gap = column("fld", "none"), column("fld_gap", "none")
    assert abs(fld[0]) < 3 and fld[-1] > 1e10
    assert np.isfinite(gap[:-1]).all() and np.isnan(gap[-1])


@pytest.mark.parametrize("data", ["digits", "moons"])
def test_honest_rows_are_at_most_half_as_many_as_train(data):
    train, _, fresh = Sets.of(data, 0)
    assert len(fresh) == len(train) // 2


DIGIT_TRANSFORMS = Material.of("digits", None, None, 0).transforms()
CROP, HEAVY = "centre crop to 6 × 6", "heavy blur, σ = 1 pixel"


@cache
def cuts():
    """Honest rows and copies only under the two strongest transforms, for three cuts of the digits into sets."""
    strong = {name: DIGIT_TRANSFORMS[name] for name in (CROP, HEAVY)}
    tables = [NOVELTY((0.0, 1.0), transforms=strong, seed=seed) for seed in (0, 3, 5)]
    return pd.concat(tables).set_index(["transform", "share"])


def honest_and_copies(name, transform):
    return tuple(cuts().loc[(transform, share), name].to_numpy() for share in (0.0, 1.0))


@pytest.mark.slow
def test_under_the_crop_only_the_fld_gap_tells_copies_from_honest_rows_of_any_cut():
    honest, copies = honest_and_copies("fld_gap", CROP)
    assert copies.max() < honest.min() - 1 and (copies < honest - 3).all()
    honest, copies = honest_and_copies("fid_gap", CROP)
    assert (copies < honest - 0.03).all() and copies.max() > honest.min()  # it falls, and yet says nothing by itself
    assert honest_and_copies("c_t", CROP)[1].min() > 10 and honest_and_copies("auth_pct", CROP)[1].min() > 90


@pytest.mark.slow
def test_under_the_heavy_blur_no_metric_tells_copies_from_honest_rows_of_any_cut():
    for name in ("fld_gap", "fid_gap", "c_t", "auth_pct"):
        honest, copies = honest_and_copies(name, HEAVY)
        assert copies.max() > honest.min(), name
        usual = 1.5 if name == "auth_pct" else np.ptp(honest)  # three cuts of percents near 100 say little
        assert np.abs(copies - honest).max() < usual, name
    assert (np.diff(honest_and_copies("fld_gap", HEAVY), axis=0) > 0).any()  # copies may even raise it


def test_transforms_of_digits_are_those_of_images():
    rows, rng = digits()[0][:50], np.random.default_rng(0)
    for name, change in (
        ("light blur, σ = 0.5 pixels", "light_blur"),
        (CROP, "crop"),
        ("posterize to 5 bits", "posterize"),
    ):
        expected = image_transforms.TRANSFORMS[change](rows.reshape(-1, 8, 8), rng).reshape(rows.shape)
        np.testing.assert_array_equal(DIGIT_TRANSFORMS[name](rows, rng), expected)
    seen = []
    INTERACTIONS([0.5], [1.0], [0.0], degrade=lambda x, strength, rng: seen.append(x) or x)
    table = INTERACTIONS([0.5], [1.0], [0.0])
    blurred = image_transforms.TRANSFORMS["light_blur"](seen[0].reshape(-1, 8, 8), rng).reshape(-1, 64)
    own = INTERACTIONS([0.5], [1.0], [0.0], degrade=lambda x, strength, rng: blurred)
    assert own["fld"].item() == table["fld"].item()


def test_every_exact_copy_weighs_as_much_as_the_fits_bound_allows():
    # A copy at the bound e⁻⁴⁰ gives its train row ½·40 − ½·log 2π − log(m)/d nats per dimension, others about 0.
    gap, reference = column("fld_gap", "none"), Reference(*Sets.of("digits", 0)[:2], 0)
    m, d = 449, reference.train.shape[1]
    copied = 100 * round(m / 2) / len(reference.train)
    assert gap[1] - gap[0] == pytest.approx(-copied * (20 - 0.5 * np.log(2 * np.pi) - np.log(m) / d), rel=0.1)


def test_copies_of_a_smaller_share_are_among_those_of_a_larger_one():
    train, test, fresh = moons()
    sets = Sets.of((train, test, fresh), 0)
    few, rest = sets.with_copies(0.2, 7)
    many, _ = sets.with_copies(0.6, 7)
    assert len(few) == 50 and len(rest) == 200
    np.testing.assert_array_equal(few, many[:50])
    every, none = sets.with_copies(1.0, 7)
    np.testing.assert_array_equal(np.unique(every, axis=0), np.unique(train, axis=0))
    assert not len(none)


def test_novelty_takes_rows_and_transforms():
    found = NOVELTY((0.0, 1.0), data=moons(), transforms={"shift": lambda rows, rng: rows + 0.01})
    assert found["transform"].tolist() == ["shift", "shift"]
    assert found["fld_gap"].iloc[1] < found["fld_gap"].iloc[0] - 20


# --- F6


@cache
def box():
    return INTERACTIONS((0.0, 0.4, 1.0), (1.0, 0.25, 0.05), (0.0, 0.75, 1.0))


def fld_at(fidelity, diversity, novelty):
    table = box()
    here = (table["fidelity"] == fidelity) & (table["diversity"] == diversity) & (table["novelty"] == novelty)
    return table.loc[here, "fld"].item()


@pytest.mark.slow
def test_fidelity_matters_more_than_diversity_and_that_more_than_novelty():
    unspoilt = fld_at(0.0, 1.0, 0.0)
    blurred, repeated, copied_ = fld_at(1.0, 1.0, 0.0), fld_at(0.0, 0.05, 0.0), fld_at(0.0, 1.0, 0.75)
    assert unspoilt < copied_ - 10 < repeated - 20 < blurred - 40


@pytest.mark.slow
def test_all_copied_is_the_exception_and_a_light_blur_hides_it():
    assert fld_at(0.0, 1.0, 1.0) > 1e6
    assert fld_at(0.4, 1.0, 0.0) < fld_at(0.4, 1.0, 1.0) < 200


def test_the_three_faces_share_their_corner_and_leave_the_inside_out():
    table = box()
    assert len(table) == 3 * 9 - 3 * 3 + 1
    assert not table.duplicated(["fidelity", "diversity", "novelty"]).any()
    assert (table[["fidelity", "diversity", "novelty"]] == [0.0, 1.0, 0.0]).any(axis=1).all()


def test_repeated_rows_keep_the_share_of_copies():
    seen = []

    def look(rows, strength, rng):
        seen.append(rows)
        return rows

    train, test, fresh = moons()
    INTERACTIONS([0], [0.1], [0.4], data=(train, test, fresh), degrade=look)
    assert np.isin(seen[0][:, 0], train[:, 0]).mean() == pytest.approx(0.4)
    assert len(seen[0]) == len(fresh)


def test_tables_say_how_they_were_made():
    for table in (novel(), box()):
        assert any(line.startswith("FLD:") for line in table.attrs["conventions"])
    assert any(" constant in test left out" in line for line in novel().attrs["conventions"])


def drawn(table):
    figure = nm.figures.draw(table)
    figure.canvas.draw()
    return figure, [ax for ax in figure.axes if ax.get_visible()]


def test_f5_draws_four_metrics_and_says_which_point_lies_outside():
    _, axes = drawn(novel())
    assert len(axes) == 4 and all(len(ax.lines) >= 5 for ax in axes)
    styles = {(line.get_linestyle(), line.get_marker(), line.get_color()) for line in axes[0].lines[:5]}
    assert len(styles) == 5
    assert [text.get_text().split(":")[0] for text in axes[0].texts] == ["none, at share 1"]
    assert axes[0].texts[0].get_text().endswith("no value")


def test_f6_draws_three_maps_with_their_numbers():
    _, axes = drawn(box())
    maps = axes[:3]
    assert [len(ax.texts) for ax in maps] == [9, 9, 9]
    assert maps[0].texts[0].get_text() == f"{fld_at(0.0, 1.0, 0.0):.0f}".replace("-", "−")
    assert maps[0].get_ylabel() == "fidelity: blur, σ in pixels"
    assert maps[2].get_xlabel() == "novelty: share copied from train"
