"""The catalogue: every figure and table of the papers is in it, and what it names is there."""

import itertools
import re
from functools import reduce

import pytest

import nbmetrics as nm
from nbmetrics import experiments

ROMAN = {"I": 1, "II": 2}
# How many figures and tables each paper has, counted in its text.
LENGTHS = {
    "Wang et al.": {"Figure": 22, "Table": 2},
    "Wang et al., submission": {"Figure": 6, "Table": 0},
    "Jiralerspong et al.": {"Figure": 18, "Table": 2},
    "Soloveitchik et al.": {"Figure": 7, "Table": 2},
}


@pytest.fixture(scope="module")
def listed():
    return experiments.catalogue()


def numbers(text, kind):
    """The numbers of the figures or tables that a text names: "Figures 2, 3 and 4", "Figures 17 to 21"."""
    found = set()
    for part in re.findall(rf"{kind}s? ((?:(?:\d+|I+)(?: [abc]\b| left| right)?(?:, | and | to |))+)", text):
        read = [ROMAN.get(word) or int(word) for word in re.findall(r"\d+|I+", part)]
        found |= set(range(read[0], read[-1] + 1)) if " to " in part else set(read)
    return found


def test_numbers_are_read():
    assert numbers("Figures 2, 3 and 4", "Figure") == {2, 3, 4} and numbers("Tables I and II", "Table") == {1, 2}
    assert numbers("Figures 17 to 19", "Figure") == {17, 18, 19} and numbers(
        "Table 2 and Figure 15 right", "Figure"
    ) == {15}


@pytest.mark.parametrize(("paper", "kind"), list(itertools.product(LENGTHS, ["Figure", "Table"])))
def test_every_figure_and_table_of_the_papers_is_listed(listed, paper, kind):
    items = listed.loc[listed["paper"] == paper, "item"]
    found = set().union(*(numbers(item, kind) for item in items))
    assert found == set(range(1, LENGTHS[paper][kind] + 1))


def test_what_it_names_is_there_and_what_is_not_says_why(listed):
    for name in filter(None, listed["function"]):
        home = experiments if hasattr(experiments, name) else nm
        assert callable(reduce(getattr, name.split("."), home))
    assert set(listed["covered"]) == {"yes", "partly", "no"}
    assert ((listed["function"] == "") == (listed["covered"] == "no")).all()
    assert listed["differs"].str.len().gt(8).all() and not listed.duplicated(["paper", "item"]).any()


def test_a_theorem_has_the_number_of_the_paper_where_it_is_computed(listed):
    """Not that of the submission, where FID's comes first."""
    paper = listed[(listed["paper"] == "Wang et al.") & listed["item"].str.startswith(("Theorem", "Proposition"))]
    assert len(paper) == 5
    for row in paper.itertuples():
        number = re.match(r"\w+ [\d.]+", row.item)[0]
        assert number in reduce(getattr, row.function.split("."), nm).__doc__
    assert "Theorem 1 of" in nm.metrics.KID.__doc__ and "Theorem 2 of" in nm.metrics.FID.__doc__


def test_every_experiment_is_in_it_under_its_id_and_with_its_source(listed):
    for run in experiments.titles().itertuples():
        rows = listed[listed["function"] == run.name]
        assert set(rows["id"]) == {run.id}
        for kind in ("Figure", "Table"):
            of_it = set().union(*(numbers(item, kind) for item in rows["item"]))
            assert numbers(run.source, kind) <= of_it
            first = set(rows["paper"]) - {"Wang et al., submission"}
            own = rows.loc[rows["paper"].isin(first), "item"]
            assert set().union(*(numbers(item, kind) for item in own)) <= numbers(run.source, kind)


def test_statements_that_are_wrong_as_printed_are_said_to_be(listed):
    wrong = listed[listed["differs"].str.startswith("wrong as printed")]
    assert sorted(wrong["function"]) == [
        "theory.fid_avg_bound",
        "theory.printed_gap",
        "theory.printed_order",
        "theory.printed_twin_bound",
        "theory.twin",
    ]
