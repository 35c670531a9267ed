"""The table of places in the README is what the tests prove: no row, and no mark in it, without a test that says so."""

import re

from tests.places import COLUMNS, PACKAGES, PLACES, README, TABLE, UNTESTED, claims, table
from tests.test_binder import pins

ROOT = README.parent
WRITTEN = TABLE.search(README.read_text("utf-8"))[0]
ROWS = [line.strip("|").split("|") for line in WRITTEN.splitlines()[2:]]


def test_every_place_has_a_test():
    assert tuple(claims()) == PLACES
    assert all(set(columns) <= set(COLUMNS) and columns for columns in claims().values())


def test_the_table_says_what_the_tests_prove_and_no_more():
    versions = {place: re.sub(f"^{re.escape(place)} ?", "", row[0]) for place, row in zip(PLACES, ROWS, strict=False)}
    assert table(claims(), versions) == WRITTEN
    assert [row[0] for row in ROWS[len(PLACES) :]] == [UNTESTED]


def test_its_versions_are_those_of_the_constraints():
    tested = pins(ROOT / "constraints.txt")
    for place, package in PACKAGES.items():
        assert [f"{place} {tested[package]}"] == [row[0] for row in ROWS if row[0].startswith(place)]


def test_a_row_that_was_written_by_hand_is_noticed():
    said = claims()
    assert table({**said, "Colab": {"shows": "✓"}}, {}) != table(said, {})
    assert table({**said, "GitHub": {**said["GitHub"], "drags": "✓"}}, {}) != table(said, {})
