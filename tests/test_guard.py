"""Verdicts of `make bench-guard`, without a time: a slower figure is red, noise is not, a missing one is named."""

import json

import pytest

from tests import ROOT
from tests.benchmarks.guard.__main__ import COUNTS, ROUNDS, Impossible, Side, line, ratio, verdict_of
from tests.benchmarks.guard.verdicts import MAX_RATIO, REPEATS, grown, judge, summary


def of(ratios):
    """The verdict on a figure with these ratios, and how often it was measured."""
    left = iter(ratios)
    verdict = judge("KID", lambda: next(left))
    return verdict, len(verdict.ratios)


@pytest.mark.parametrize(
    ("ratios", "is_red", "measured"),
    [
        ([1.0], False, 1),
        ([MAX_RATIO], False, 1),
        ([0.2], False, 1),
        ([1.5, 1.1], False, 2),
        ([1.5, 3.0, 1.5, 1.2], False, 4),
        ([1.21, 1.3, 1.5, 1.25], True, 1 + REPEATS),
    ],
)
def test_slower_is_red_only_after_all_repeats(ratios, is_red, measured):
    verdict, count = of(ratios)
    assert (verdict.is_red, count) == (is_red, measured)
    assert ("KID" in summary([verdict])) == is_red


class Fake:
    """A side whose figures take these seconds in turn, or cannot be made."""

    def __init__(self, seconds, counts=None, impossible=""):
        self.seconds, self.counts, self.impossible, self.asked = seconds, counts or {"calls": 100}, impossible, []

    def ask(self, do, figure):
        self.asked.append(do)
        if self.impossible:
            raise Impossible(self.impossible)
        taken = self.seconds[self.asked.count("time") % len(self.seconds)]
        return {"prepare": None, "time": taken, "count": self.counts}[do]


def verdict(parent, present, stored=None):
    return verdict_of(parent, present, "KID", {"KID": {"calls": 100}} if stored is None else stored)


def test_a_ratio_is_of_medians_and_both_sides_are_timed_as_often():
    parent, present = Fake([1.0, 1.0, 90.0]), Fake([2.0, 0.1, 2.0])
    assert ratio(parent, present, "KID") == 2.0
    assert parent.asked == present.asked == ["time"] * ROUNDS


def test_a_slowed_figure_is_red_and_named_and_a_disturbed_one_is_not():
    slowed = verdict(Fake([1.0]), Fake([1.5]))
    assert slowed.is_red and "RED" in line(slowed) and "KID" in line(slowed) and summary([slowed]) == "RED: KID"
    disturbed = verdict(Fake([1.0]), Fake([1.0, 1.0, 1.0, 9.0, 9.0]))
    assert not disturbed.is_red and summary([disturbed]) == "green"


def test_a_figure_that_the_parent_lacks_is_skipped_by_name_and_one_that_the_present_tree_lacks_is_red():
    lacking = Fake([1.0], impossible="AttributeError: Influence")
    skipped = verdict(lacking, Fake([1.0]))
    assert not skipped.is_red
    assert all(word in line(skipped) for word in ("KID", "SKIPPED", "the parent", "Influence"))
    missing = verdict(Fake([1.0]), lacking)
    assert missing.is_red and summary([missing]) == "RED: KID" and "Influence" in line(missing)


def test_more_calls_memory_or_eigenproblems_than_are_stored_are_red():
    stored = {"peak_mib": 10.0, "calls": 100, "eigenproblems": 2}
    assert grown(stored, stored) == grown({"peak_mib": 10.5, "calls": 60, "eigenproblems": 1}, stored) == ()
    for more in ({"peak_mib": 13.0}, {"calls": 130}, {"eigenproblems": 3}):
        assert all(what in text for what, text in zip(more, grown({**stored, **more}, stored), strict=True))
    assert verdict(Fake([1.0]), Fake([1.0], {"calls": 200})).is_red
    assert "not stored" in line(verdict(Fake([1.0]), Fake([1.0]), {}))


def test_every_figure_has_its_counts_and_one_that_is_not_there_is_named():
    side = Side(ROOT)
    assert side.ask("names") == list(json.loads(COUNTS.read_text("utf-8")))
    with pytest.raises(Impossible, match="no such figure"):
        side.ask("prepare", "no such figure")
    side.close()


def test_nothing_that_is_timed_is_stored():
    stored = json.loads(COUNTS.read_text("utf-8"))
    assert {what for counts in stored.values() for what in counts} <= {
        "peak_mib",
        "calls",
        "eigenproblems",
        "modules",
        "numbers",
    }
