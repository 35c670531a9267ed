"""Scores as people read them: intervals in the cells, the plain value apart, and no line that contradicts another."""

import re

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.evaluation.display import PARTS, CellText, figure


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(0)
    clients = [rng.normal(size=(60, 16)) for _ in range(3)]
    made = {"<b>perfect</b>": rng.normal(size=(500, 16)), "wide": 1.3 * rng.normal(size=(500, 16))}
    return nm.evaluate(clients, made, ["fid", "kid"], uncertainty=nm.Influence(), progress=False)


def test_a_cell_shows_the_corrected_score_with_its_interval_and_the_plain_one_apart():
    row = {"avg": 2.257, "avg_corrected": 0.1, "avg_low": 0.0, "avg_high": 0.206}
    assert CellText.of(row, "avg") == ("0.1", "[0, 0.206]", "plain 2.257", "")
    assert str(CellText.of(row, "avg")) == "0.1 [0, 0.206] (plain 2.257)"
    same = {"avg": 1.23, "avg_corrected": 1.23, "avg_low": 1.1, "avg_high": 1.4}
    assert str(CellText.of(same, "avg")) == "1.23 [1.1, 1.4]"
    assert str(CellText.of({"avg": -1.25}, "avg")) == "−1.25"
    assert str(CellText.of(row, "avg", best="value")) == "0.1* [0, 0.206] (plain 2.257)"
    assert str(CellText.of(row, "avg", best="plain")) == "0.1 [0, 0.206] (plain 2.257*)"
    assert str(CellText.of(same, "avg", best="plain")) == "1.23* [1.1, 1.4]"  # one number stands for both


def test_what_is_not_known_is_a_dash_beside_the_plain_score():
    nan = float("nan")
    assert (
        str(CellText.of({"avg": 10.3, "avg_corrected": nan, "avg_low": nan, "avg_high": nan}, "avg"))
        == "– (plain 10.3)"
    )
    assert (
        str(CellText.of({"avg": 10.3, "avg_corrected": 2.0, "avg_low": nan, "avg_high": nan}, "avg"))
        == "2 (plain 10.3)"
    )
    assert str(CellText.of({"avg": nan}, "avg")) == "–"


@pytest.mark.parametrize(
    ("value", "text"), [(1e-15, "0"), (-0.5, "−0.5"), (123456.0, "1.2346e+05"), (float("nan"), "–")]
)
def test_figures(value, text):
    assert figure(value) == text


def test_the_notebook_table_has_every_interval_of_the_table(scores):
    page = scores._repr_html_()
    cells = re.findall(r'<td style="white-space: nowrap">(.*?)</td>', page)
    assert len(cells) == 2 * 2 * 3 and all("[" in cell or "±" in cell for cell in cells)
    rows = scores.table.to_dict("records")
    for row in rows:
        for part in PARTS:
            interval = f"[{figure(row[f'{part}_low'], 3)}, {figure(row[f'{part}_high'], 3)}]"
            if row[f"{part}_corrected"] >= 0 or row["metric"] == "kid" or part == "gap":
                assert any(f"<small>{interval}</small>" in cell for cell in cells) and interval in repr(scores)
    shown = [[figure(row[end], 4) for end in (part, f"{part}_corrected")] for row in rows for part in PARTS]
    assert sum("plain" in cell for cell in cells) == sum(plain != corrected for plain, corrected in shown)
    kid_avg = [figure(row["avg_corrected"], 4) for row in rows if row["metric"] == "kid"]
    assert all(re.search(rf">{re.escape(text)}(</strong>)?<br>", page) for text in kid_avg)  # no bias to take off
    assert "<b>perfect" not in page and "&lt;b&gt;perfect" in page


def test_a_corrected_score_lies_in_its_interval(scores):
    table = scores.table
    for part in ("avg", "all", "gap"):
        assert (table[f"{part}_low"] <= table[f"{part}_corrected"]).all()
        assert (table[f"{part}_corrected"] <= table[f"{part}_high"]).all()


def test_no_line_says_that_a_corrected_score_is_bias(scores):
    biased = [line for line in scores.conventions if "is bias" in line]
    assert biased and all("plain FID" in line for line in biased)


def test_what_is_said_of_orders_holds_for_the_scores_shown_first():
    rng = np.random.default_rng(0)
    clients = {"here": rng.normal(size=(800, 64)), "there": rng.normal(0.4, 1, size=(300, 64))}
    made = {"first": rng.normal(size=(2000, 64)), "second": rng.normal(0.2, 1.05, size=(2000, 64))}
    scores = nm.evaluate(clients, made, "fid", uncertainty=nm.Influence(), progress=False)
    first, second = (scores.table.iloc[g] for g in range(2))
    assert first["avg"] < second["avg"] and first["all"] < second["all"]
    assert first["avg_corrected"] < second["avg_corrected"] and first["all_corrected"] > second["all_corrected"]
    corrected, plain = scores.summary()
    assert plain == "plain FID (not corrected for few rows): avg and all order the generators alike."
    assert corrected == "FID: avg prefers first, all prefers second; they order 1 of 1 pairs differently."


def test_bootstraps_show_theirs_too():
    rng = np.random.default_rng(1)
    clients, made = [rng.normal(size=(40, 2)) for _ in range(2)], {"g": rng.normal(size=(60, 2)) + 0.5}
    scores = nm.evaluate(clients, made, "fid", uncertainty=nm.Bootstrap(30), progress=False)
    row, page = scores.table.iloc[0], scores._repr_html_()
    assert f"{figure(row['avg_corrected'], 4)}<br><small>[{figure(row['avg_low'], 3)}" in page
    assert f"plain {figure(row['avg'], 4)}" in page
