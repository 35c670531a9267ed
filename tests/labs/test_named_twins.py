"""What Python and the page both compute names its twin in its first lines, and the test that holds the two together."""

import re

import pytest

from tests import ROOT
from tests.rooms import PACKAGE

_TWIN = re.compile(r"^(?: \* )?Twin: (.+) · held by: (\S+)$", re.MULTILINE)
FIRST_LINES = 6


def named():
    """{file: {twin: test}}, by paths under the package."""
    found = {}
    for path in sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.js")]):
        head = "\n".join(path.read_text("utf-8").splitlines()[:FIRST_LINES])
        for twins, test in _TWIN.findall(head):
            found.setdefault(path.relative_to(PACKAGE).as_posix(), {}).update(dict.fromkeys(twins.split(", "), test))
    return found


TWINS = named()


def test_every_twin_names_its_own():
    assert len([path for path in TWINS if path.endswith(".js")]) >= 11
    for path, twins in TWINS.items():
        for twin, test in twins.items():
            assert TWINS.get(twin, {}).get(path) == test, f"{path} names {twin}, which does not name it"
            assert {path.endswith(".js"), twin.endswith(".js")} == {True, False}


@pytest.mark.parametrize("test", sorted({test for twins in TWINS.values() for test in twins.values()}))
def test_what_holds_twins_together_is_there(test):
    assert "def test_" in (ROOT / test).read_text("utf-8")
