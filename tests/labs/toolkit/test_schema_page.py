"""Declared scenes: each number has its bounds, and Python and the page read, refuse, fill in and write alike."""

import json
import math
from dataclasses import fields

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.labs.plane.items import TYPES
from nbmetrics.labs.playground.lessons import builtin_lessons
from nbmetrics.labs.toolkit import schema
from nbmetrics.labs.toolkit.fields import UnknownField, facts
from tests import TESTS
from tests.labs.toolkit.declared import SCENES, fields_in, numbers_in, replaced, without
from tests.node import needs_node, node

WILD = [1e300, 10**400, -(10**400), math.inf, math.nan, "7", True, None, [], {}]
EACH = pytest.mark.parametrize(("kind", "example"), SCENES.values(), ids=SCENES)
NUMBERS = [0.0, -0.0, 1.0, -3.0, 1e-05, 1e-4, 0.1 + 0.2, 5e-324, 1e15, 1e16, -1e22, 123456789.125, 1e100, 2.0**53]
# One tree of names for all labs: what a link, a file or a notebook may hold.
FROZEN = json.loads((TESTS / "labs/toolkit/frozen_names.json").read_text("utf-8"))


def wrong(kind, example):
    """Scenes with a number that is none, or beyond its bounds, and with fields that are no such thing."""
    scene = json.loads(json.dumps(kind.parse(example).to_json()))
    for path, one in numbers_in(kind, scene):
        low, high = one.get("number") or one["whole"]
        broken = [low + 0.5] if "whole" in one else []
        for wild in [*WILD, math.nextafter(low, -math.inf), math.nextafter(high, math.inf), *broken]:
            if not (wild is None and "null" in one):
                yield replaced(scene, path, wild)
    for name in kind.declared["fields"]:
        yield replaced(scene, (name,), {"strange": 1})
    yield {**scene, "strange": 1}


def shorter(kind, example):
    """Scenes without each of the fields that may be left out, and without all of them."""
    scene = json.loads(json.dumps(kind.parse(example).to_json()))
    paths = [path for path, one, _ in fields_in(kind, scene) if "default" in one or "optional" in one]
    yield from (without(scene, path) for path in paths)
    least = scene
    for path in paths:
        if len(path) == 1 and path[0] != "plane":
            least = without(least, path)
    yield least


@EACH
def test_attributes_are_the_fields_that_are_declared(kind, example):
    names = {one.name for one in fields(kind) if one.compare}
    assert names == set(kind.declared["fields"])
    assert kind.parse(kind.parse(example).to_json()) == kind.parse(example)


@EACH
def test_python_refuses_what_is_not_declared(kind, example):
    for scene in wrong(kind, example):
        with pytest.raises(nm.InvalidInput):
            kind.parse(scene)
    with pytest.raises(UnknownField):
        kind.parse({**example, "strange": 1})


@EACH
def test_what_is_left_out_is_filled_in(kind, example):
    for scene in shorter(kind, example):
        assert kind.parse(kind.parse(scene).to_json()) == kind.parse(scene)


def is_sent(value):
    """Whether JSON can hold it."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def declared_by(kind, example):
    """What tests/js/schema.test.js asks of a lab."""
    package, scene = kind.__module__.rpartition(".")[0], kind.parse(example)
    content = facts(package, "scene.json")
    templates = [name for name, part in content.items() if isinstance(part, list)] or ["code"]
    texts = {"making": 'lab = "made {of} «this»"', "own": "", "projection": "", "tie": ""}
    codes = [scene, *(kind.parse(one) for one in shorter(kind, example))]
    return {
        "content": content,
        "types": TYPES if example.get("clients") else {},
        "declared": kind.declared,
        "good": scene.to_json(),
        "bad": [one for one in wrong(kind, example) if is_sent(one)],
        "shorter": [
            {"scene": one, "whole": {**schema._read_record(one, kind.declared["fields"], "")}}
            for one in shorter(kind, example)
        ],
        "codes": [
            {"scene": s.to_json(), "template": name, "texts": texts, "code": s.fill_template(name, **texts)}
            for s in codes
            for name in templates
        ],
    }


@needs_node
def test_the_page_reads_fills_in_and_writes_the_same(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    drawn = (rng.normal(size=200) * 10.0 ** rng.integers(-30, 30, 200)).tolist()
    lessons = {name: lesson.to_json() for name, lesson in builtin_lessons().items()}
    asked = next(one for one in lessons.values() if one["predict"] and "axis" in one["predict"])
    bad = [{**asked, "predict": {**asked["predict"], **part}} for part in ({"redraws": 1e9}, {"axis": [0, 1e300]})]
    bad += [{**asked, part: {**asked["after"], "samples": 10**9}} for part in ("scene", "after", "solution")]
    kind, _ = SCENES["CorrelationLab"]
    aliases = {
        "": {"r": "rho", "gone": None},
        "question": {"at": "step"},
        "metric": {"joint": "cfid"},
        "preset": {"Old": "New"},
    }
    old = {
        "r": 0.5,
        "rho_hat": 0.1,
        "gone": [1],
        "metric": "joint",
        "question": {"at": 2, "answer": "open"},
        "preset": "Old",
    }
    monkeypatch.setattr(kind, "declared", {**kind.declared, "aliases": aliases})
    renamed = {"declared": kind.declared, "old": old, "now": kind.parse(old).to_json()}
    assert renamed["now"]["rho"] == 0.5 and renamed["now"]["preset"] == "New" and renamed["now"]["metric"] == "cfid"
    monkeypatch.undo()
    asked = {
        "labs": [declared_by(kind, example) for kind, example in SCENES.values()],
        "lessons": {"lessons": lessons, "bad": bad},
        "numbers": [[value, schema.literal(value)] for value in [*NUMBERS, *drawn]],
        "openings": [{"making": "m", "text": "nbm1.x", "code": opening_of(nm.PrivacyLab._state, "m", "nbm1.x")}],
        "renamed": [renamed],
    }
    path = tmp_path / "scenes.json"
    path.write_text(json.dumps(asked), "utf-8")
    said = node("--test", TESTS / "js" / "schema.test.js", NBMETRICS_SCENES=path)
    assert f"{sum(len(lab['bad']) for lab in asked['labs'])} refused" in said


def opening_of(kind, making, text):
    return schema.code_of(kind.declared, {}, "opening", making=making, string=schema.literal(text))


def names_of(one):
    """The names that a field holds: of its parts, kinds and choices, by the names of the fields."""
    if "list" in one:
        return names_of(one["list"])
    parts = one.get("record") or one.get("kinds", {})
    if "kinds" in one:
        return {kind: sorted(fields) for kind, fields in parts.items()}
    return {name: names_of(part) for name, part in parts.items()} if parts else sorted(one.get("choice", []))


def lost(frozen, present, aliases, path=""):
    """Names that are there no more, have no alias either, and are not declared gone."""
    known = {None, *present}
    renames = aliases.get(path, {})
    found = [f"{path} {name}" for name in frozen if name not in present and renames.get(name, "") not in known]
    if isinstance(frozen, dict):
        for name, parts in frozen.items():
            if name in present:
                found += lost(parts, present[name], aliases, f"{path}.{name}".strip("."))
    return found


@pytest.mark.parametrize("name", FROZEN["scenes"])
def test_names_that_links_hold_stay_or_have_an_alias(name):
    declared = SCENES[name][0].declared
    present = {field: names_of(one) for field, one in declared["fields"].items()}
    assert not lost(FROZEN["scenes"][name], present, declared.get("aliases", {}))


def test_presets_and_lessons_keep_their_names_or_have_an_alias():
    present = {
        "Playground": [*nm.scene.presets()],
        "CorrelationLab": [*nm.CorrelationLab._state.presets()],
        "TwinsLab": [*nm.TwinsLab._state.presets()],
        "MemorizationLab": [*nm.MemorizationLab._state.presets()],
    }
    for lab, names in FROZEN["presets"].items():
        assert not lost(names, present[lab], SCENES[lab][0].declared.get("aliases", {}), "preset")
    aliases = nm.Scene.declared.get("aliases", {})
    assert not lost(FROZEN["lessons"], [*builtin_lessons()], aliases, "lesson.name")


def test_a_name_that_is_gone_is_found():
    frozen = {"view": {"metric": ["fid", "kid"]}, "half": []}
    assert lost(frozen, {"view": {"metric": ["fid"]}}, {}) == [" half", "view.metric kid"]
    assert not lost(frozen, {"view": {"metric": ["fid"]}, "h": []}, {"": {"half": "h"}, "view.metric": {"kid": "fid"}})
    assert lost(frozen, {"view": {"metric": ["fid"]}}, {"": {"half": None}}) == ["view.metric kid"]
