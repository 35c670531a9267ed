"""Figures: whose table they draw, and that nothing on them is cut, crossed out, in a wrong unit or another language."""

import functools
import io
import itertools
import math
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text

import nbmetrics as nm
from nbmetrics import experiments, figures, theory
from nbmetrics.figures import drawing
from nbmetrics.metrics.fld import POINTS
from tests.experiments.test_experiments import small
from tests.slow import slow, some_of

COLUMNS = {name: getattr(figures, name).columns for name in figures.MODULES}
# What a table cannot do without: the images themselves, or the size of the subsets.
LOST = {"ranked_samples": "lost its images", "kid_estimators": "lost the arguments size, subsets"}


@functools.cache
def made(name):
    return small(name)


@functools.cache
def whole(name):
    """Its figure, for tests that only look at it."""
    return figures.draw(made(name))


def panels(figure):
    return [ax for ax in figure.axes if ax.get_visible()]


def drawn(figure):
    """The panels, once they and their texts have their places: half a second of a processor."""
    figure.draw_without_rendering()
    return panels(figure)


def texts(figure):
    """All that is written on it but formulas, whose signs are typeset."""
    figure.set_layout_engine("none")  # what is written is asked for, not where: half the time
    figure.draw_without_rendering()
    found = [text.get_text() for text in figure.findobj(Text) if text.get_visible()]
    return [text for text in found if text and "$" not in text]


def read_back(table, **options):
    return pd.read_csv(io.StringIO(table.to_csv(**options)))


def refusal(draw, table):
    try:
        draw(table)
    except nm.InvalidInput as error:
        return error
    return None


# --- whose table


def test_every_experiment_says_what_its_figure_needs():
    assert set(COLUMNS) == set(experiments.titles()["name"])


@pytest.mark.parametrize("name", some_of(sorted(set(COLUMNS) - set(LOST))))
def test_a_table_read_back_from_a_file_is_drawn_as_it_was(name):
    read = getattr(figures, name)(read_back(made(name), index=False))
    assert "after" not in read.get_suptitle()
    for ours, theirs in zip(panels(read), panels(whole(name)), strict=True):
        assert ours.get_title() == theirs.get_title() or name == "variance_limited"
        for line, same in zip(ours.lines, theirs.lines, strict=True):
            pairs = zip(line.get_data(), same.get_data(), strict=True)
            assert all(np.allclose(np.float64(a), np.float64(b), equal_nan=True) for a, b in pairs)


@pytest.mark.parametrize("name", LOST)
def test_a_table_that_lost_what_its_figure_shows_says_so(name):
    with pytest.raises(nm.InvalidInput, match=rf"^table: has {LOST[name]}.*nm\.experiments\.{name}\(\)"):
        getattr(figures, name)(read_back(made(name), index=False))


def test_an_index_written_with_a_table_is_not_what_is_swept():
    table = experiments.gaussian_toy((0.5, 1, 2), samples=20)
    titles = [ax.get_title() for ax in figures.gaussian_toy(read_back(table)).axes]
    assert titles == [ax.get_title() for ax in figures.gaussian_toy(table).axes]


@pytest.mark.parametrize("name", some_of(COLUMNS))
def test_a_table_without_a_column_is_drawn_or_refused_by_that_columns_name(name):
    """Those that it can do without are left out together, where no star stands for some of them."""
    table, needed = made(name), COLUMNS[name].split()
    others = [column for column in table if column not in needed]
    each = [[column] for column in table if column in needed or "*" in COLUMNS[name]]
    for gone in each if "*" in COLUMNS[name] else [*each, others]:
        error = refusal(getattr(figures, name), table.drop(columns=gone))
        if error is None:
            assert not set(gone) & set(needed)
        else:
            assert error.argument == "table" and f"nm.experiments.{name}()" in error.fix
            assert gone[0] in error.seen or "*" in error.seen


@pytest.mark.parametrize("name", some_of(COLUMNS))
def test_anything_else_is_refused(name):
    draw, other = getattr(figures, name), experiments.condition_scale([1.0, 2.0])
    if name == "condition_scale":
        other = experiments.correlation_contours((0, 0.5), (0, 0.5))
    wrong = [None, 3, {"v": [1]}, other, read_back(other, index=False), made(name).head(0), pd.DataFrame()]
    for table in wrong:
        with pytest.raises(nm.InvalidInput, match=rf"^table: .*nm\.experiments\.{name}\(\)"):
            draw(table)


def test_a_refusal_names_the_columns_and_both_experiments():
    with pytest.raises(nm.InvalidInput) as raised:
        figures.truncation(experiments.gaussian_toy((0.5, 1), samples=20))
    told = str(raised.value)
    assert "is the table of gaussian_toy and has no psi, spread, fid_avg_rank" in told
    assert "experiments.truncation()" in told
    # The columns fit, the table does not.
    with pytest.raises(nm.InvalidInput, match="is the table of published_ranks"):
        figures.single_class(experiments.published_ranks())


# --- what the axes say and show


def test_fld_has_one_right_unit_everywhere():
    assert POINTS * 0.01 == 1  # FLD is POINTS × nats per dimension
    names = ["transforms", "diversity", "sample_size", "bandwidth_sweep", "novelty", "interactions", "copycat"]
    for name in names:
        labels = [text for ax in panels(whole(name)) for text in (ax.get_xlabel(), ax.get_ylabel()) if "FLD" in text]
        assert labels and all("(points, 0.01 nats/dim" in text.replace("\n", " ") for text in labels), name


def test_every_point_of_f5_is_inside_its_panel_and_the_axis_ends_near_them():
    table = made("novelty").copy()
    table["fld_gap"] = [-1.0, -6268.0, -2.0, -300.0, -0.2, -10.0]
    ax = drawn(figures.novelty(table))[0]
    low, high = ax.transAxes.inverted().transform(ax.transData.transform([(0, -6268.0), (0, -0.2)]))[:, 1]
    assert 0.02 < low < 0.1 and 0.9 < high < 0.98


@pytest.mark.parametrize("clients", [1, 6, 9, 20, 57])
def test_the_names_of_any_number_of_clients_stay_apart(clients):
    row = {f"fid_client_{k}": 1.0 for k in range(1, clients + 1)} | {"fid_avg": 1.0, "fid_all": 2.0}
    pair = [{"construction": "printed", "generator": name, **row} for name in ("first", "second")]
    (ax,) = drawn(figures.twin_generators(pd.DataFrame(pair)))
    names = [text.get_text() for text in ax.get_xticklabels()]
    assert names[0] == "1" and names[-2:] == ["avg", "all"] and len(ax.lines[0].get_xdata()) == clients + 2
    boxes = [text.get_window_extent() for text in ax.get_xticklabels()]
    assert all(left.x1 + 2 < right.x0 for left, right in itertools.pairwise(boxes))
    dots = ax.lines[0].get_xdata()
    assert all(math.isclose(dots[int(n) - 1], at) for n, at in zip(names[:-2], ax.get_xticks(), strict=False))


@pytest.mark.parametrize(
    ("rho", "rho_hat"),
    [*slow((None, None), ((0, 0.5), (0, 0.25, 0.5))), ((0, 0.5), (0.2, 0.6, 0.9)), ((-0.9, -0.2), (0.1, 0.8))],
)
def test_contours_fill_their_panels_and_no_text_is_cut_or_crossed(rho, rho_hat):
    table = experiments.correlation_contours(**({} if rho is None else {"rho": rho, "rho_hat": rho_hat}))
    for ax in drawn(figures.correlation_contours(table))[:3]:
        for limits, column in ((ax.get_xlim(), "rho"), (ax.get_ylim(), "rho_hat")):
            assert limits == (table[column].min(), table[column].max())
        *numbers, last = ax.texts
        assert len(ax.lines) == (max(table["rho"].min(), table["rho_hat"].min()) < table["rho"].max())
        if ax.lines:
            x, y = last.get_position()
            assert x == y and last.get_bbox_patch() and last.zorder > max(c.zorder for c in ax.collections)
        else:
            numbers.append(last)
        frame = ax.get_window_extent()
        for text in numbers:
            box = text.get_window_extent()
            assert frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1


def test_the_axes_of_e4_have_units():
    labels = [ax.get_ylabel() for ax in panels(whole("single_class"))]
    assert labels[0].startswith("FID (squared units") and len(labels) == 3
    assert all("(kernel units; lower is better)" in text for text in labels[1:])
    mine = small("single_class", kernels={"mine": nm.RBF(2.0)})
    assert panels(figures.single_class(mine))[1].get_ylabel() == "Mine (kernel units; lower is better)"


# --- one language of lines and words


AGGREGATES = {"avg": (drawing.CLIENT, "-"), "all": (drawing.TEXT, "--"), "gap": (drawing.GAP, ":")}
# Of an experiment, as the catalogue has it: no word for who reads a figure.
CODE = re.compile(r"\b[EFCK]\d{1,2}\b")


@pytest.mark.parametrize("name", some_of(COLUMNS, 2))
def test_figures_speak_one_language(name):
    figure = whole(name)
    for line in itertools.chain.from_iterable(ax.lines for ax in figure.axes):
        if line.get_label() in AGGREGATES:
            colour, style = AGGREGATES[line.get_label()]
            assert to_hex(line.get_color()) == to_hex(colour) and line.get_linestyle() == style, line.get_label()
    written = texts(figure)
    assert written and not [text for text in written if CODE.search(text)]
    assert not [text for text in written if re.search(r"(?<![\w.)])-\d|e-\d|−0(\.0+)?$", text)]


# --- both sides of a theorem


def test_sides_put_each_side_on_its_axis_and_say_what_came_out():
    figure = figures.sides(
        {
            "a = b; nats": {"one": [theory.Sides(1.0, 1.0), (2.0, 2.5)]},
            "a ≤ b": {"one": [theory.AvgBound(1.0, 4.0)], "two": [(3.0, 2.0), (2.0, 2.0 - 1e-12)]},
        }
    )
    equal, below = drawn(figure)
    assert (equal.get_ylabel(), equal.get_xlabel()) == ("a (nats)", "b (nats)")
    assert equal.get_title() == "apart by 0.5 at most" and below.get_title() == "holds for 2 of 3"
    np.testing.assert_array_equal(equal.collections[0].get_offsets(), [(1, 1), (2.5, 2)])
    np.testing.assert_array_equal(below.collections[0].get_offsets(), [(4, 1)])
    (shade,) = (c for c in below.collections if c.get_label() == "where the claim fails")
    assert shade.get_paths()[0].contains_point((2, 3)) and not shade.get_paths()[0].contains_point((4, 1))
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert sorted(names) == ["both sides equal", "one", "two", "where the claim fails"]
    looks = [c.get_facecolor()[0].tolist() for c in (equal.collections[0], *below.collections[:2])]
    assert looks[0] == looks[1] != looks[2]


@pytest.mark.parametrize(
    "claims",
    [None, {}, {"a < b": {"x": [(1, 2)]}}, {"a = b": {}}, {"a = b": [(1, 2)]}, {"a = b": {"x": []}},
     {"a = b": {"x": [(1, 2, 3)]}}, {"a = b": {"x": [(1, math.nan)]}}, {"a = b": {"x": None}}, {"a ≤ b": {"x": [1]}}],
)  # fmt: skip
def test_sides_refuse_what_is_no_claim(claims):
    with pytest.raises(nm.InvalidInput, match=r"^claims"):
        figures.sides(claims)
