"""Every number of every scene and lesson has bounds on both sides, in Python and in the page."""

import copy
import json
import math
from dataclasses import fields
from typing import get_type_hints

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics import errors
from nbmetrics.labs.correlation.scene import CorrelationScene, Question
from nbmetrics.labs.dashboard.scene import DashboardScene
from nbmetrics.labs.memorization.scene import LESSON, MemorizationScene
from nbmetrics.labs.monitor.scene import MonitorScene
from nbmetrics.labs.plane import distributions, items
from nbmetrics.labs.playground import scene as plane
from nbmetrics.labs.playground.lessons import BEST, CHECKS, Lesson
from nbmetrics.labs.privacy.scene import PrivacyScene
from nbmetrics.labs.toolkit import modules
from nbmetrics.labs.toolkit.fields import BOUNDS, WHOLE
from nbmetrics.labs.twins.scene import TwinsScene
from nbmetrics.scene import Item
from tests import TESTS
from tests.labs.toolkit.common import LABS, made
from tests.node import needs_node, node

PLACE = {"x": 0.0, "y": 0.0, "width": 1.0, "height": 1.0, "angle": 0.0}
CLIENT = {"name": "C", "weight": 1.0, **PLACE}
GENERATORS = [
    {"name": "G", **PLACE},
    {"name": "B", "kind": "bumps", **PLACE},
    {"name": "T", "kind": "truncated", "psi": 1.0},
    {"name": "K", "kind": "copycat", "of": "C", "count": 20},
    {"name": "D", "kind": "data", "data": "mine", **PLACE},
]
PROGRESS = {"name": "L", "guess": 1.0, "revealed": True, "about": {"G": "x"}, "answer": 1.0, "other": 2.0}
PLAYED = {"clients": [CLIENT], "generators": GENERATORS, "half": 5.0, "samples": 20, "seed": 0, "rev": 1}
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
GUESSES = {"name": "L", "guess": {"fid_test": 0.5, "fld": 0.5}, "revealed": False}
PAIR = {"rho": 0.8, "rho_hat": 0.1, "scale": 1.0, "rev": 1, "question": {"step": 1, "answer": "open"}}
MEMO = {"copied": 0.5, "jitter": 0.1, "bandwidth": 0.1, "spread": 1.0, "points": 40, "seed": 0, "selected": 3, "rev": 1}
ROWS = {"kind": "data", **PLACE}
WIDE = {
    "clients": [{"name": "C", "weight": 1.0, **ROWS}],
    "generators": [{"name": "G", **ROWS}],
    "plane": {"dim": 128, "kind": "numbered", "columns": ["0", "5"], "words": "Across: feature 0, up: feature 5."},
}
COMPARISON = {
    "metric": "fid",
    "weights": [1.0, 2.0],
    "generators": ["Narrow", "Wide", "Off"],
    "held": ["Client 2"],
    "by": "all",
    "groups": [0, 1],
    "regroup": [{"do": "merge", "clients": ["Client 1", "Client 3"], "name": "Both"}],
    "rev": 1,
}
WATCHED = {"metric": "fid", "weights": [1.0, 2.0], "shown": 400, "client": "b", "rev": 1}
NOISED = {"epsilon": 0.5, "metric": "kid", "aggregate": "avg", "run": 3, "of": "digits", "rev": 1}
EXAMPLES = [
    (nm.Scene.parse, {**PLAYED, "lesson": PROGRESS}),
    (TwinsScene.parse, {"clients": [CLIENT], "half": 5.0, "rev": 1}),
    (CorrelationScene.parse, PAIR),
    (MemorizationScene.parse, {**MEMO, "lesson": GUESSES}),
    (nm.Scene.parse, WIDE),
    (DashboardScene.parse, COMPARISON),
    (MonitorScene.parse, WATCHED),
    (PrivacyScene.parse, NOISED),
    *((Lesson.parse, {**TAUGHT, "predict": one, "check": None}) for one in PREDICTIONS),
    *((Lesson.parse, {**TAUGHT, "predict": None, "check": one}) for one in TASKS),
]
WILD = [1e300, -1e300, 10**400, -(10**400), math.inf, -math.inf, math.nan, "7", True]


def numbers(value, path=()):
    """The path of every number in JSON."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from numbers(part, (*path, key))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path


def field_of(path):
    return next(key for key in reversed(path) if isinstance(key, str))


def replaced(value, path, by):
    value = copy.deepcopy(value)
    part = value
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = by
    return value


LEAVES = [(parse, example, path) for parse, example in EXAMPLES for path in numbers(example)]


@pytest.mark.parametrize(("parse", "example", "path"), LEAVES, ids=[str(path[-1]) for *_, path in LEAVES])
def test_no_number_of_a_scene_is_without_bounds(parse, example, path):
    parse(example)
    field = field_of(path)
    low, high = BOUNDS[field]
    for wild in [*WILD, math.nextafter(low, -math.inf), math.nextafter(high, math.inf)]:
        with pytest.raises(nm.InvalidInput, match=rf"{field}\b.*: "):
            parse(replaced(example, path, wild))


@pytest.mark.parametrize(("parse", "example", "path"), LEAVES, ids=[str(path[-1]) for *_, path in LEAVES])
def test_what_counts_is_whole_and_the_rest_may_be_broken(parse, example, path):
    field = field_of(path)
    try:
        parse(replaced(example, path, BOUNDS[field][0] + 0.5))
        said = ""
    except nm.InvalidInput as error:
        said = str(error)
    assert (field in WHOLE) == ("Give a whole number" in said)


def test_the_examples_have_every_number_that_a_scene_can_hold():
    held = {field_of(path) for *_, path in LEAVES}
    assert held == set(BOUNDS)
    kinds = (nm.Scene, Item, TwinsScene, CorrelationScene, Question, MemorizationScene)
    typed = {field.name for kind in kinds for field in fields(kind) if _is_number(get_type_hints(kind)[field.name])}
    assert typed and typed <= held
    assert {one["best"] for one in PREDICTIONS} == set(BEST) and {one["kind"] for one in TASKS} == set(CHECKS)
    assert set(PROGRESS) == plane.PROGRESS and set(GUESSES) == LESSON
    assert {item.get("kind", "gaussian") for item in GENERATORS} == set(items.FIELDS)


def _is_number(hint):
    return {int, float} & {hint, *getattr(hint, "__args__", ())}


def test_what_is_drawn_point_by_point_is_bounded_by_what_a_page_can_draw():
    assert max(BOUNDS[name][1] for name in ("count", "samples")) <= 2000 and BOUNDS["redraws"][1] <= 100
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


def test_the_page_reads_the_same_bounds():
    facts = json.loads(modules.source("toolkit/bounds.json"))
    assert set(facts) == {"bounds", "whole", "longest_name", "remembered"} and set(BOUNDS) >= WHOLE
    assert all(low < high for low, high in BOUNDS.values())
    assert facts["longest_name"] == errors.LONGEST_NAME
    assert json.dumps(facts, separators=(",", ":")) in modules.module("toolkit/view/bounds.js")


@needs_node
def test_the_page_shows_no_state_with_a_number_beyond_its_bounds(tmp_path):
    """Every lab with all its presets and lessons is shown; with any one of its numbers out of bounds it is not."""
    labs = [made(name) for name in LABS]
    states = [
        {"scene": lab.scene, "history": {"past": [lab.scene], "future": []}, "presets": lab.presets} for lab in labs
    ]
    states.append({"lessons": labs[0].lessons})
    for parse, example in EXAMPLES[:4]:
        states.append({"scene": parse(example).to_json()})
    states += [{"lessons": {"Mine": parse(example).to_json()}} for parse, example in EXAMPLES[4:]]
    path = tmp_path / "states.json"
    path.write_text(json.dumps(states))
    run = node("--test", TESTS / "js" / "bounds.test.js", NBMETRICS_STATES=path)
    assert f"of {len(states)} states" in run


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
