"""Dashboard.from_table: scores from elsewhere, wide or long, what is refused, and weights by name."""

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from tests.labs.dashboard.islands import CLIENTS, GENERATORS

TABLE = pd.DataFrame({"a": [0.3, 0.9], "b": [0.4, 0.5]}, index=["north", "south"])


def test_a_table_from_elsewhere():
    lab = nm.Dashboard.from_table(TABLE, weights={"south": 3, "north": 1})
    assert lab.table["avg"].tolist() == pytest.approx([0.75, 0.475])
    assert lab.table["all"].isna().all() and "may be chance" in lab.verdict[0]
    long = TABLE.rename_axis("client").reset_index().melt("client", var_name="generator", value_name="value")
    other = nm.Dashboard.from_table(long, label="Accuracy", higher_is_better=True)
    assert other.table["avg"].tolist() == pytest.approx([0.6, 0.45]) and "Accuracy, a" in other.verdict[0]
    lab.close(), other.close()


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(),
        TABLE.assign(a="x"),
        TABLE.set_axis(["b", "b"], axis=1),
        TABLE.set_axis(["n", "n"]),
        np.zeros((2, 2)),
        None,
        pd.DataFrame({"client": ["n", "n"], "generator": ["a", "a"], "value": [1, 2]}),
        pd.DataFrame({"client": ["n", "n"], "generator": ["a", "a"], "value": [1, 2]}, index=[0, 0]),
        pd.DataFrame({"Client": ["n"], "Generator": ["a"], "score": [1.0]}),
        TABLE.assign(a=["0,3", "0,4"]),
        TABLE.set_axis(pd.MultiIndex.from_tuples([("n", 1), ("s", 1)])),
    ],
    ids=[
        "empty",
        "words",
        "columns twice",
        "rows twice",
        "array",
        "none",
        "values twice",
        "and one index",
        "other names",
        "decimal commas",
        "levels",
    ],
)
def test_tables_that_are_refused(table):
    with pytest.raises(nm.InvalidInput, match="table"):
        nm.Dashboard.from_table(table)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (TABLE.assign(Rows=[120, 40]), r"weights=table\['Rows'\]"),
        (TABLE.assign(n=[120.0, 40.0]), r"drop\(columns='n'\)"),
        (TABLE.assign(mean=TABLE.mean(axis=1)), r"drop\(columns='mean'\)"),
        (pd.concat([TABLE, TABLE.mean().to_frame("Average").T]), r"drop\(index='Average'\)"),
    ],
)
def test_numbers_of_rows_and_averages_are_no_generators(table, said):
    with pytest.raises(nm.InvalidInput, match=said):
        nm.Dashboard.from_table(table)


def test_a_generator_of_such_a_name_with_scores_is_one():
    lab = nm.Dashboard.from_table(TABLE.rename(columns={"a": "n"}))
    assert lab.scores.generators == ("n", "b")
    lab.close()


def test_weights_by_name_are_taken_by_name():
    """A Series too: `frame.groupby("hospital").size()` is what people have."""
    by_name = pd.Series({"south": 3, "north": 1})
    federation = nm.Federation({"north": CLIENTS["north"], "south": CLIENTS["south"]})
    scores = nm.evaluate(federation, {"g": GENERATORS["off"]}, "fid")
    assert federation.with_weights(by_name).weights == scores.with_weights(by_name).weights == (0.25, 0.75)
    assert nm.Dashboard.from_table(TABLE, weights=by_name).table["avg"].tolist() == pytest.approx([0.75, 0.475])
    assert scores.with_weights(pd.Series([3, 1])).weights == (0.75, 0.25), "a numbered one goes by place"
    with pytest.raises(nm.InvalidInput, match="lacks"):
        scores.with_weights({"north": 1})


def test_missing_and_infinite_scores_are_kept():
    table = pd.DataFrame({"a": [0.3, np.nan], "b": [np.inf, 0.5], "c": [0.2, 0.4]}, index=["north", "south"])
    lab = nm.Dashboard.from_table(table)
    assert lab.board["values"]["score"] == {"a": [0.3, "nan"], "b": ["inf", 0.5], "c": [0.2, 0.4]}
    assert "No score for a" in " ".join(lab.verdict)
    lab.close()
