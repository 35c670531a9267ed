"""Every example in a public docstring is run as it stands; `nm` and `np` are what everybody imports."""

import doctest
import re

import numpy as np
import pytest

import nbmetrics as nm
from tests.public import docstrings, public

SHOWN = {name: doc for name, doc in docstrings().items() if ">>>" in doc}
# What an example needs beside the core.
NEEDED = {"w1": "ot", "metrics.W1": "ot", "training.train": "torch", "training.load": "torch"}


@pytest.mark.parametrize("name", SHOWN)
def test_the_example_is_what_it_says(name, tmp_path, monkeypatch):
    if name in NEEDED:
        pytest.importorskip(NEEDED[name], reason=f"{NEEDED[name]} is not installed")
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(SHOWN[name], {"nm": nm, "np": np}, name, None, 0)
    told = []
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, _ = doctest.DocTestRunner(optionflags=flags, verbose=False).run(test, out=told.append)
    assert not failed, "".join(told)


def test_examples_of_functions_methods_and_properties_are_found():
    assert {"fid", "PartitionSchemes.by_id", "Scores.table", "federated.flower.Aggregation", "theory.twin"} <= set(
        SHOWN
    )


# Their sources are in `nm.experiments.titles()`, and figures are those of the experiment of their name.
SHELVES = ("experiments.", "figures.")
# What others return or take, warnings, and what wants torch or a font.
PLAIN = {
    *(
        "FewPairsWarning",
        "BiasWarning",
        "PluginWarning",
        "UnreadWarning",
        "Images",
        "Scene",
        "training.Trained",
        "training.load",
    ),
    *("metrics.W1", "metrics.Metric", "metrics.Sample", "metrics.register", "federated.plot_survival"),
    "federated.FewRowsWarning",
    *("scene.Bumps", "scene.Copycat", "scene.History", "scene.Item", "scene.Scene", "scene.State", "scene.Truncated"),
    *("theory.AvgBound", "theory.Collapse", "theory.ConditionalOrder", "theory.Minimizers", "theory.NoTwin"),
    *("theory.Sides", "theory.Twin", "datasets.covered", "datasets.emoji", "datasets.trained_samples"),
}
SOURCE = re.compile(
    r"\(.+? (?:et al\.|& \w+),? ?(?:\d{4}|eq|section)|Theorem \d|Proposition 1|Remark 3|Observation 1|Source:"
)


def test_every_function_of_one_call_and_theorem_shows_an_example_or_names_its_source():
    names = [n for n, thing in public().items() if callable(thing) and not n.startswith(SHELVES) and n not in PLAIN]
    said = docstrings()
    assert [n for n in names if ">>>" not in said[n] and not SOURCE.search(said[n])] == []
    assert [n for n in PLAIN if ">>>" in said[n]] == []


def test_the_first_line_of_every_public_docstring_is_a_sentence_of_its_own():
    said = docstrings()
    for name in public():
        first, *rest = said[name].splitlines()
        assert first.rstrip().endswith((".", ")", ":", "?")) and (not rest or not rest[0]), f"{name}: {first}"
