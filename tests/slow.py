"""Cases of a parametrized test that only `make test-all` tries: longer or wider variants of what the others show."""

import pytest


def slow(*cases):
    """The cases, each marked slow; a tuple is one case of several arguments."""
    return [pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow) for case in cases]


def by_default(cases, *quick):
    """All the cases, those that are not among `quick` marked slow."""
    cases = list(cases)
    assert all(case in cases for case in quick), quick
    return [case if case in quick else slow(case)[0] for case in cases]


def some_of(cases, step=4):
    """All the cases, those between every so many of them marked slow."""
    cases = list(cases)
    return by_default(cases, *cases[::step])
