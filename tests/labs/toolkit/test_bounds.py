"""What numbers and names a lab takes, and in what words it refuses others (scenes: test_schema_page.py)."""

import math

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics import errors
from nbmetrics.labs.memorization.scene import MemorizationScene
from nbmetrics.labs.plane import distributions, items
from nbmetrics.labs.playground.lessons import BEST, CHECKS, NUMBERS, Lesson
from nbmetrics.labs.playground.scene import METRICS
from nbmetrics.labs.toolkit.fields import facts
from nbmetrics.labs.twins.scene import TwinsScene
from tests.labs.toolkit.declared import CLIENT, PLACE, PLAYED, replaced

TAUGHT = {
    "name": "Mine",
    "question": "Where?",
    "scene": {"clients": [CLIENT], "generators": [{"name": "G", **PLACE}]},
    "reveal": "There.",
    "tries": [],
    "minutes": 3.0,
}
ASKED = {"metric": "fid", "generator": "G"}
PREDICTIONS = [
    {**ASKED, "aggregate": "avg", "best": "min", "sweep": "x"},
    {**ASKED, "aggregate": "gap", "best": "value", "axis": [0, 6], "then": {"samples": 20}, "redraws": 3},
]
TASKS = [
    {"kind": "inversion", "metric": "fid", "by": 0.1},
    {"kind": "agreement", "metric": "fid"},
    {"kind": "gap_constant", "metric": "kid", "within": 0.1},
    {"kind": "below", **ASKED, "aggregate": "avg", "value": 0.1},
]
LESSONS = [
    *({**TAUGHT, "predict": one, "check": None} for one in PREDICTIONS),
    *({**TAUGHT, "predict": None, "check": one} for one in TASKS),
]


def paths_of(value, path=()):
    """The path of each number of a lesson that is no part of its scene."""
    for key, part in value.items():
        if key in NUMBERS:
            yield from ([(*path, key, k) for k in range(2)] if key == "axis" else [(*path, key)])
        elif key in ("predict", "check") and part:
            yield from paths_of(part, (*path, key))


@pytest.mark.parametrize("lesson", LESSONS)
def test_no_number_of_a_lesson_is_without_bounds(lesson):
    Lesson.parse(lesson)
    for path in paths_of(lesson):
        name = next(key for key in reversed(path) if isinstance(key, str))
        one = NUMBERS[name].get("list", NUMBERS[name])
        low, high = one.get("number") or one["whole"]
        for wild in [
            1e300,
            10**400,
            math.nan,
            "7",
            True,
            math.nextafter(low, -math.inf),
            math.nextafter(high, math.inf),
        ]:
            with pytest.raises(nm.InvalidInput, match=rf"{name}\b.*: "):
                Lesson.parse(replaced(lesson, path, wild))


def test_the_examples_have_every_number_that_a_lesson_can_hold():
    assert {path[-1 - (path[-1] in (0, 1))] for one in LESSONS for path in paths_of(one)} == set(NUMBERS)
    assert {one["best"] for one in PREDICTIONS} == set(BEST) and {one["kind"] for one in TASKS} == set(CHECKS)


def test_what_is_declared_in_two_places_is_the_same():
    assert facts("nbmetrics.labs.toolkit", "scene.json")["longest_name"] == errors.LONGEST_NAME
    fields = nm.Scene.declared["fields"]
    assert fields["view"]["record"]["metric"]["choice"] == list(METRICS)
    assert fields["lesson"]["record"]["about"]["names"] == items.MOST["generators"]


def test_what_is_drawn_point_by_point_is_bounded_by_what_a_page_can_draw():
    assert items.TYPES["count"]["whole"][1] <= 2000 and nm.Scene.declared["fields"]["samples"]["whole"][1] <= 2000
    assert NUMBERS["redraws"]["whole"][1] <= 100
    for data in ("moons", "digits"):
        with pytest.raises(nm.InvalidInput, match="points"):
            MemorizationScene.parse({"data": data, "points": 1001})


@pytest.mark.parametrize("count", [2001, 10**7, 10**9])
def test_a_copycat_of_more_points_is_refused_before_they_are_drawn(monkeypatch, count):
    federation = nm.Federation([nm.Client(nm.Gaussian([0, 0]), name="C")])
    monkeypatch.setattr(distributions, "draw", lambda *_: pytest.fail("drawn"))
    with pytest.raises(nm.InvalidInput, match=r"count.*from 2 to 2000"):
        nm.scene.Copycat(federation, "C", count)
    with pytest.raises(nm.InvalidInput, match=r"psi.*from 0 to"):
        nm.scene.Truncated(federation, 1e7)


@pytest.mark.parametrize("name", ["a\nb", "\x1b[2J", "\0", "\x9b", "a\u2028b", "\ud800", "\uffff", "n" * 301])
def test_names_that_no_picture_or_file_can_hold_are_refused(name):
    distribution = nm.Gaussian([0, 0])
    for make in (
        lambda: nm.Client(distribution, name=name),
        lambda: nm.evaluate([distribution], {name: distribution}),
        lambda: nm.Playground().attach(name, distribution),
        lambda: TwinsScene.parse({"clients": [{**CLIENT, "name": name}]}),
        lambda: nm.Scene.parse({**PLAYED, "generators": [{"name": name, **PLACE}]}),
        lambda: Lesson.parse({**TAUGHT, "name": name, "predict": None, "check": None}),
    ):
        with pytest.raises(nm.InvalidInput, match=r"name.*(which cannot be shown|has 301 letters)") as caught:
            make()
        assert str(caught.value).encode() and str(caught.value).isprintable()


def test_messages_have_an_end_whatever_they_echo():
    keys = {f"k{i}": 0 for i in range(200_000)}
    within = {"clients": [{**CLIENT, **keys}]}, {"view": keys}, {"lesson": keys}, {"preset": "p" * 10**6}
    for value in (keys, {**PLAYED, **keys}, *({**PLAYED, **part} for part in within)):
        with pytest.raises(nm.InvalidInput) as caught:
            nm.Scene.parse(value)
        assert len(str(caught.value)) < 3000
    error = nm.InvalidInput("\ud800" * 10**4, "b\x1b" * 10**6, "c\n" * 10**6)
    assert len(str(error)) < 20_000 and str(error).encode() and "\x1b" not in str(error)


def test_long_names_are_shown_shortened_with_their_ends():
    from nbmetrics.labs.playground.figure import brief

    assert brief("Client 12", 24) == "Client 12"
    assert brief("n" * 290 + " 17", 24) == "n" * 19 + "…" + "n 17" and len(brief("W" * 300, 24)) == 24


def test_what_lies_outside_the_plane_is_named_as_the_user_named_it():
    rows = np.random.default_rng(0).normal(size=(100, 2))
    lab = nm.Playground()
    far = nm.Gaussian([1e30, 0]), nm.Gaussian([0, 0], 1e30), nm.scene.Bumps([0, 0], 1e8, 1)
    for source in (rows * 1e30, rows.astype(np.float32) * 1e20, rows * 1e8, *far):
        with pytest.raises(nm.InvalidInput, match=r"^big: .*Rescale it below 1e\+06"):
            lab.attach("big", source)
    with pytest.raises(nm.InvalidInput, match=r"^hospital: .*Rescale"):
        nm.TwinsLab([nm.Client(nm.Gaussian([1e30, 0]), name="hospital")])
    lab.attach("wide", rows * 2e5)
    assert nm.Playground([nm.Gaussian([1e6, 0], 1e12)]).scene["half"] == 1e6


def test_another_attached_source_takes_no_others_place():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    lab = nm.Playground(None, {"mine 2": rows})
    before = lab.scores().table.query("generator == 'mine 2'")["avg"].to_numpy()
    lab.attach("mine", rows + 3)
    np.testing.assert_array_equal(lab.scores().table.query("generator == 'mine 2'")["avg"].to_numpy(), before)
