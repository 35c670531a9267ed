"""A teacher's own lesson, from the scene of a lab or by hand: what it asks, what is refused, and that it opens."""

import json
import re

import pytest

import nbmetrics as nm
from nbmetrics.labs.playground.lessons import NEEDED, Lesson
from tests.labs.playground.test_lessons import OWN

CLIENTS = [nm.Client(nm.Gaussian([x, 0]), name=name) for x, name in ((-2, "left"), (2, "right"))]
GENERATORS = {"copy": nm.scene.Copycat(nm.Federation(CLIENTS), "left", 20), "wide": nm.Gaussian([0, 0], [4, 1])}


@pytest.fixture
def lab():
    return nm.Playground(CLIENTS, GENERATORS, metric="fld")


@pytest.fixture(scope="module")
def refusing():
    """One that no test changes."""
    return nm.Playground(CLIENTS, GENERATORS, metric="fld")


def test_a_flag_on_a_parameter_asks_where_the_score_is_lowest(lab):
    lesson = lab.make_lesson(question="At which x?", flag="x", answer="In the middle.")
    assert lesson["predict"] == {
        "metric": "fid", "aggregate": "avg", "generator": "wide", "best": "min", "sweep": "x",
    }  # fmt: skip
    opened = nm.Playground(lesson=json.loads(json.dumps(lesson)))
    assert opened.lesson == "My lesson" and opened.scene["view"]["sweep"] == "x"
    assert opened.scene["clients"] == lab.scene["clients"]
    assert opened.lessons["My lesson"]["reveal"] == "In the middle."


def test_a_flag_between_two_numbers_asks_how_large_a_score_becomes(lab):
    near = lab.scene
    lab.scene = {**near, "rev": 1, "clients": [{**client, "x": 2 * client["x"]} for client in near["clients"]]}
    far = lab.scene
    lab.undo() if lab.history["past"] else setattr(lab, "scene", near)
    question = {"question": "How large?", "name": "Apart", "aggregate": "gap", "metric": "kid", "generator": "copy"}
    lesson = lab.make_lesson(**question, flag=(0, 6), then=far)
    opened = nm.Playground(lesson=lesson)
    assert opened.lessons["Apart"]["after"]["clients"] == far["clients"]
    assert opened.scene["clients"] == near["clients"]
    assert (lesson["predict"]["metric"], lesson["predict"]["axis"]) == ("kid", [0, 6])
    assert "rev" not in lesson["predict"]["then"]


def test_without_a_flag_it_says_what_avg_and_all_prefer():
    lab = nm.Playground("Two clients")
    lesson = lab.make_lesson(question="Which one would you pick?")
    assert lesson["reveal"] == " ".join(lab.scores().summary()) and "avg prefers" in lesson["reveal"]
    assert nm.Playground(lesson=lesson).lesson == "My lesson"


def test_a_task_with_all_that_a_lesson_may_have():
    lab = nm.Playground("Two clients")
    task = {
        "check": {"kind": "agreement"},
        "solution": {"clients": nm.Playground("Identical clients").scene["clients"]},
    }
    words = {"hint": "Together.", "tries": ("Apart",), "minutes": 3, "aim": "Agreement.", "answer": "So."}
    lesson = lab.make_lesson(question="Make them agree.", **task, **words)
    assert nm.Playground(lesson=lesson).lessons["My lesson"]["solution"]["clients"] == task["solution"]["clients"]
    assert lesson["tries"] == ["Apart"] and lesson["minutes"] == 3


@pytest.mark.parametrize(
    ("given", "argument", "words"),
    [
        ({"flag": 3}, "flag", "or two numbers"),
        ({"flag": "z"}, "flag", "Choose one of: variance"),
        ({"flag": "psi"}, "flag", "Choose one of: variance"),
        ({"flag": (6, 0), "then": {"samples": 20}}, "flag", "the lower end first"),
        ({"flag": (0, 6)}, "then", "such as then="),
        ({"flag": (0, 6), "then": {"samples": 3}}, "then, samples", "5 to 2000"),
        ({"flag": "x", "generator": "wid"}, "generator", "Did you mean 'wide'"),
        ({"flag": "x", "metric": "fld"}, "metric", "Did you mean 'fid'"),
        ({"flag": "x", "generator": "copy"}, "flag", "has its own shape"),
        ({"answer": 1.0}, "answer", "Give a string"),
        ({"question": " "}, "question", "Give a string"),
        ({"check": {"kind": "below"}}, "check.aggregate", 'such as "aggregate": "avg"'),
        ({"name": ""}, "name", "non-empty"),
    ],
)
def test_a_wrong_argument_is_named_with_what_would_do(refusing, given, argument, words):
    with pytest.raises(nm.InvalidInput) as caught:
        refusing.make_lesson(**{"question": "Where?", **given})
    assert caught.value.argument == argument and words in caught.value.fix


def test_rows_are_refused():
    lab = nm.Playground([[[0, 0], [1, 1], [2, 0]]], {"g": nm.Gaussian([0, 0])})
    with pytest.raises(nm.InvalidInput, match="is data, which a lesson cannot contain"):
        lab.make_lesson(question="Where?", flag="x")


def test_a_lesson_under_way_leaves_no_trace_in_a_new_one():
    lab = nm.Playground(lesson="Weights matter")
    lab.scene = {**lab.scene, "rev": 1, "lesson": {**lab.scene["lesson"], "guess": 1.0}}
    opened = nm.Playground(lesson=lab.make_lesson(question="Where?", flag="x"))
    assert opened.scene["lesson"]["guess"] is None and opened.scene["lesson"]["name"] == "My lesson"


def test_only_a_name_a_question_and_a_scene_are_needed_and_each_is_named_with_an_example():
    least = {field: OWN[field] for field in NEEDED}
    assert Lesson.parse(least).predict is None
    for field in NEEDED:
        said = re.escape(f'lesson.{field}: is missing. Add it, such as "{field}": "')
        with pytest.raises(nm.InvalidInput, match=said) as caught:
            Lesson.parse({name: part for name, part in least.items() if name != field})
        example = json.loads("{" + caught.value.fix.removeprefix("Add it, such as ") + "}")
        Lesson.parse({**least, **example})


PARTS = [
    ("predict", {"metric": "fid", "aggregate": "avg", "generator": "G", "best": "min", "sweep": "x"}),
    ("predict", {**OWN["predict"], "best": "value", "axis": [0, 1], "then": {"half": 4}}),
    ("check", {"kind": "inversion", "by": 0.1}),
    ("check", {"kind": "gap_constant", "within": 0.1}),
    ("check", OWN["check"]),
]


@pytest.mark.parametrize(("part", "given"), PARTS)
def test_what_is_missing_in_a_part_is_named_with_an_example_that_would_do(part, given):
    given = {name: value for name, value in given.items() if given.get("best") != "value" or name != "sweep"}
    optional = {"metric"} if part == "check" else set()
    for field in set(given) - optional - {"kind", "best"}:
        with pytest.raises(nm.InvalidInput) as caught:
            Lesson.parse({**OWN, part: {name: value for name, value in given.items() if name != field}})
        assert caught.value.argument == f"lesson.{part}.{field}" and caught.value.seen == "is missing"
        example = json.loads("{" + caught.value.fix.removeprefix("Add it, such as ") + "}")
        Lesson.parse({**OWN, part: {**given, **example}})


def test_a_scene_is_a_presets_name_or_what_a_lab_shows():
    presets = nm.Playground().presets
    lab = nm.Playground("Heterogeneous six")
    for scene in ("Heterogeneous six", lab.scene, json.dumps(lab.scene)):
        lesson = Lesson.parse({"name": "Mine", "question": "Where?", "scene": scene})
        assert lesson.start.to_json()["clients"] == presets["Heterogeneous six"]["clients"]
    for scene in ({"mean": [0, 0]}, {"clients": [{"mean": [0, 0]}], "generators": []}):
        with pytest.raises(nm.InvalidInput, match=r"the name of a preset, or lab\.scene of"):
            Lesson.parse({"name": "Mine", "question": "Where?", "scene": scene})
