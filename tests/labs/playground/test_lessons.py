"""Lessons: what the package says is true, what a teacher writes is checked, and the page's answers are Python's."""

import copy
import json
import os
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.labs.playground.lessons import Lesson, builtin_lessons
from tests import ROOT, TESTS
from tests.node import needs_node, node, ran

# Where each parameter is swept for the best value: grids finer than the page's.
GRIDS = {"variance": np.linspace(0, 5, 1001), "x": np.linspace(-5, 5, 1001)}
OWN = {
    "name": "Mine",
    "question": "Where?",
    "scene": {
        "clients": [{"name": "C", "x": 0, "y": 0, "width": 1, "height": 1, "angle": 0, "weight": 1}],
        "generators": [{"name": "G", "x": 1, "y": 0, "width": 1, "height": 1, "angle": 0}],
    },
    "predict": {"metric": "fid", "aggregate": "avg", "sweep": "x", "generator": "G", "best": "min"},
    "check": {"kind": "below", "metric": "fid", "aggregate": "avg", "generator": "G", "value": 0.1},
    "reveal": "There.",
    "tries": ["Again"],
}


@cache
def swept(name):
    """(values, avg, all) of the metric in question over the parameter, by `evaluate`."""
    scene, predict = builtin_lessons()[name].start, builtin_lessons()[name].predict
    values = GRIDS[predict["sweep"]]
    item = next(g for g in scene.generators if g.name == predict["generator"])
    changes = [{"width": v**0.5} if predict["sweep"] == "variance" else {"x": v} for v in values]
    made = {str(k): nm.Gaussian.ellipse(*replace(item, **change).ellipse) for k, change in enumerate(changes)}
    table = nm.evaluate(scene.federation, made, [predict["metric"]], progress=False).table
    return values, table["avg"].to_numpy(), table["all"].to_numpy()


def scores(scene, metric="fid"):
    """The table of a scene, by generator."""
    table = nm.evaluate(scene.federation, scene.sources, [metric], progress=False).table
    return table.set_index("generator")


def python_answer(lesson):
    """The answer and the other aggregate's, and how close the page has to come."""
    predict = lesson.predict
    if predict["best"] == "min":
        values, avg, pooled = swept(lesson.name)
        best = {"avg": values[avg.argmin()], "all": values[pooled.argmin()]}
        other = {"avg": "all", "all": "avg"}[predict["aggregate"]]
        return best[predict["aggregate"]], best[other], values[1] - values[0]
    after = lesson.after
    seeds = range(after.seed + 1, after.seed + 1 + predict["redraws"]) if predict["redraws"] else [after.seed]
    found = [
        scores(replace(after, seed=seed), predict["metric"]).loc[predict["generator"], predict["aggregate"]]
        for seed in seeds
    ]
    return float(np.mean(found)), None, 1e-9


PREDICTED = [name for name, lesson in builtin_lessons().items() if lesson.predict]


@needs_node
def test_the_answers_that_the_page_reveals_are_pythons(tmp_path):
    cases = []
    for name in PREDICTED:
        lesson = builtin_lessons()[name]
        answer, other, tolerance = python_answer(lesson)
        shown = lesson.start if lesson.predict["best"] == "min" else lesson.after
        case = {"name": name, "predict": lesson.predict, "scene": shown.to_json()}
        cases.append({**case, "answer": answer, "other": other, "tolerance": tolerance})
    path = tmp_path / "answers.json"
    solutions = [{"lesson": one.to_json()} for one in builtin_lessons().values() if one.solution]
    path.write_text(json.dumps({"cases": cases, "solutions": solutions}))
    run = node("--test", TESTS / "js" / "lesson.test.js", NBMETRICS_LESSONS=path)
    assert f"of {len(PREDICTED)} lessons" in run and f"{len(solutions)} solutions" in run


def test_average_against_pooled_choose_different_variances():
    values, avg, pooled = swept("Average against pooled")
    assert values[avg.argmin()] < values[pooled.argmin()]
    assert values[avg.argmin()] == pytest.approx(1) and values[pooled.argmin()] == pytest.approx(2)


def test_kid_is_lowest_at_one_variance_and_its_gap_does_not_move():
    _, avg, pooled = swept("Where is KID?")
    assert avg.argmin() == pooled.argmin()
    assert np.ptp(avg - pooled) < 1e-10


def moved(scene, x):
    clients = [client.to_json() | {"x": sign * x} for client, sign in zip(scene.clients, (-1, 1), strict=True)]
    return nm.Scene.parse({**scene.to_json(), "clients": clients})


def test_the_gap_more_than_doubles_with_the_distance_and_alike_clients_leave_none():
    lesson = builtin_lessons()["Heterogeneity and gap"]
    near, far = (scores(scene)["gap"].iloc[0] for scene in (lesson.start, lesson.after))
    assert far > 2 * near > 0
    assert scores(moved(lesson.start, 0))["gap"].iloc[0] == pytest.approx(0, abs=1e-12)
    assert scores(moved(lesson.start, 0.2))["gap"].iloc[0] < lesson.check["value"] < near
    low, high = lesson.predict["axis"]
    assert low < far < high
    narrow = [lesson.start.generators[0].to_json() | {"width": 0.3}]
    assert scores(nm.Scene.parse({**lesson.start.to_json(), "generators": narrow}))["gap"].iloc[0] < near


def test_the_best_place_is_the_weighted_mean():
    lesson = builtin_lessons()["Weights matter"]
    values, avg, _ = swept(lesson.name)
    federation = lesson.start.federation
    means = [client.distribution.mean[0] for client in federation]
    assert values[avg.argmin()] == pytest.approx(np.dot(federation.weights, means), abs=1e-9)
    assert abs(np.dot(federation.weights, means)) > 0.5, "the weights must matter"


def test_fid_is_biased_on_few_points_and_kid_is_not():
    lesson = builtin_lessons()["Sample size and bias"]
    assert scores(lesson.start)["all"].iloc[0] == pytest.approx(0, abs=1e-12)
    draws = [lesson.after.drawn(20, seed) for seed in range(30)]
    fids, kids = (np.array([scores(scene, metric)["all"].iloc[0] for scene in draws]) for metric in ("fid", "kid"))
    low, high = lesson.predict["axis"]
    assert (fids > 0).all() and low + 0.1 < fids.mean() < high
    assert abs(kids.mean()) < 3 * kids.std() / len(kids) ** 0.5 and 0.3 < (kids < 0).mean() < 0.9
    assert scores(lesson.after)["all"].iloc[0] > lesson.check["value"] > scores(lesson.after.drawn(2000))["all"].iloc[0]


def test_the_challenge_starts_undone_and_can_be_done():
    lesson = builtin_lessons()["Make them disagree"]
    by = lesson.check["by"]

    def leads(widths):
        generators = [g.to_json() | {"width": w} for g, w in zip(lesson.start.generators, widths, strict=True)]
        table = scores(nm.Scene.parse({**lesson.start.to_json(), "generators": generators}))
        return table["avg"].iloc[1] - table["avg"].iloc[0], table["all"].iloc[0] - table["all"].iloc[1]

    assert min(leads([g.width for g in lesson.start.generators])) < 0
    assert min(leads([0.8, 1.6])) >= by


def test_every_lesson_asks_something_in_few_words():
    for lesson in builtin_lessons().values():
        assert lesson.predict or lesson.check
        assert len(lesson.question) <= 180 and len(lesson.reveal) <= 320
        assert 0 < len(lesson.aim) <= 110 and 0 < len(lesson.hint) <= 150 and 1 <= lesson.minutes <= 10
        assert (lesson.solution is None) == (lesson.check is None)
        assert 1 <= len(lesson.tries) <= 3 and all(len(line) <= 90 for line in lesson.tries)
        started = {"name": lesson.name, "guess": None, "revealed": False, "answer": None, "other": None}
        named = {part["generator"] for part in (lesson.predict, lesson.check) if part and "generator" in part}
        assert lesson.start.lesson == {**started, "about": {name: name for name in named}}


def changed(path, value):
    lesson = copy.deepcopy(OWN)
    *parents, last = path
    inner = lesson
    for key in parents:
        inner = inner[key]
    inner[last] = value
    return lesson


def test_the_catalogue_has_a_row_for_each_lesson_in_the_order_of_the_menu():
    table = nm.lessons()
    assert list(table) == ["name", "minutes", "aim", "question", "metric"]
    assert table["name"].tolist() == list(nm.Playground().lessons) == list(builtin_lessons())
    assert table["metric"].tolist() == ["fid", "kid", "fid", "fid", "fid", "fid", "fid"]


VALUE = {
    "metric": "fid", "aggregate": "gap", "generator": "G", "best": "value", "axis": [0, 1], "then": {"samples": 20},
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "value", "argument"),
    [
        (["name"], " ", "lesson.name"),
        (["question"], "", "lesson.question"),
        (["question"], 3, "lesson.question"),
        (["extra"], 1, "lesson"),
        (["scene", "half"], -1, "lesson.scene, half"),
        (["scene", "clients"], [], "lesson.scene, clients"),
        (["scene", "generators", 0, "kind"], "data", "lesson.scene"),
        (["predict"], "avg", "lesson.predict"),
        (["predict", "best"], "max", "lesson.predict.best"),
        (["predict", "metric"], "fld", "lesson.predict.metric"),
        (["predict", "aggregate"], "gap", "lesson.predict.aggregate"),
        (["predict", "generator"], "H", "lesson.predict.generator"),
        (["predict", "sweep"], "weight", "lesson.predict.sweep"),
        (["predict", "sweep"], "psi", "lesson.predict.sweep"),
        (["predict", "answer"], 1.0, "lesson.predict"),
        (["predict"], {**VALUE, "axis": [1, 0]}, "lesson.predict.axis"),
        (["predict"], {**VALUE, "axis": "01"}, "lesson.predict.axis"),
        (["predict"], {**VALUE, "then": 20}, "lesson.predict.then"),
        (["predict"], {**VALUE, "then": {"samples": 1}}, "lesson.predict.then, samples"),
        (["predict"], {**VALUE, "then": {"view": {"panel": "?"}}}, "lesson.predict.then, view.panel"),
        (["predict"], {**VALUE, "redraws": 1000}, "lesson.predict.redraws"),
        (["check"], {}, "lesson.check.kind"),
        (["check", "kind"], "beauty", "lesson.check.kind"),
        (["check", "value"], "small", "lesson.check.value"),
        (["check", "aggregate"], "mean", "lesson.check.aggregate"),
        (["check", "generator"], "H", "lesson.check.generator"),
        (["check", "metric"], "kid_rbf", "lesson.check.metric"),
        (["check"], {"kind": "inversion"}, "lesson.check.by"),
        (["check"], 3, "lesson.check"),
        (["scene"], "Two client", "lesson.scene"),
        (["scene"], "{", "lesson.scene, scene"),
        (["solution"], "done", "lesson.solution"),
        (["solution"], {"generators": []}, "lesson.solution, generators"),
        (["solution"], {"generators": [{**OWN["scene"]["generators"][0], "name": "H"}]}, "lesson.solution"),
        (["minutes"], "ten", "lesson.minutes"),
        (["minutes"], -1, "lesson.minutes"),
        (["aim"], 3, "lesson.aim"),
        (["hint"], "x" * 10_001, "lesson.hint"),
        (["check"], {"kind": "inversion", "by": -1}, "lesson.check.by"),
        (["check"], {"kind": "gap_constant", "within": float("nan")}, "lesson.check.within"),
        (["reveal"], None, "lesson.reveal"),
        (["tries"], "one", "lesson.tries"),
        (["tries"], ["one", ""], "lesson.tries[1]"),
        (["tries"], ["one"] * 25, "lesson.tries"),
        (["reveal"], "x" * 10_001, "lesson.reveal"),
        (["reveal"], "a\x1b[2J", "lesson.reveal"),
        (["question"], "\ud800", "lesson.question"),
        (["predict"], {**VALUE, "axis": [0, 1, 2]}, "lesson.predict.axis"),
    ],
)
def test_a_wrong_field_is_named(path, value, argument):
    with pytest.raises(nm.InvalidInput) as caught:
        Lesson.parse(changed(path, value))
    assert caught.value.argument == argument


@pytest.mark.parametrize(
    "check", [{"kind": "agreement"}, {"kind": "gap_constant", "within": 0.1, "metric": "kid"}, None]
)
@pytest.mark.parametrize("predict", [OWN["predict"], VALUE, None])
def test_what_is_right_survives_the_way_to_the_page(predict, check):
    lesson = Lesson.parse({**OWN, "predict": predict, "check": check})
    sent = json.loads(json.dumps(lesson.to_json()))
    assert sent["check"] == check and (sent["predict"] is None) == (predict is None)
    assert nm.Scene.parse(sent["scene"]) == lesson.start
    assert nm.Scene.parse(sent["after"]) == lesson.after
    assert sent["after"]["lesson"]["revealed"] and not sent["scene"]["lesson"]["revealed"]


def test_a_view_in_then_changes_only_what_it_names():
    then = {"samples": 20, "view": {"panel": "samples"}}
    lesson = Lesson.parse({**OWN, "predict": {**VALUE, "metric": "kid", "then": then}})
    assert lesson.after.view == {**lesson.start.view, "panel": "samples"} and lesson.after.samples == 20


def test_playground_opens_with_a_lesson_by_name_dict_and_path(tmp_path):
    lab = nm.Playground(lesson="Where is KID?")
    assert lab.lesson == "Where is KID?" and lab.scene["view"]["panel"] == "sweep"
    assert list(lab.lessons) == list(builtin_lessons()) and "Where is KID?" not in lab.presets
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(OWN))
    for given in (OWN, path, str(path)):
        own = nm.Playground(lesson=given)
        assert own.lesson == "Mine" and list(own.lessons) == ["Mine", *builtin_lessons()]
    assert nm.Playground().lesson is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"lesson": "Where is FID?"}, "Did you mean 'Where is KID\\?'"),
        ({"lesson": "/nowhere/mine.json"}, "cannot read"),
        ({"lesson": 3}, "lesson"),
        ({"lesson": "Where is KID?", "federation": "Two clients"}, "already has clients"),
    ],
)
def test_a_lesson_that_cannot_be_opened_is_refused(given, words):
    with pytest.raises(nm.InvalidInput, match=words):
        nm.Playground(**given)


def test_a_file_that_is_not_json_is_refused(tmp_path):
    path = tmp_path / "bad.json"
    path.write_text("{")
    with pytest.raises(nm.InvalidInput, match="is not JSON"):
        nm.Playground(lesson=path)


def test_a_file_that_is_no_lesson_is_refused_before_it_is_read_whole(tmp_path):
    deep, pipe, folder, huge = (tmp_path / f"{name}.json" for name in ("deep", "pipe", "folder", "huge"))
    deep.write_text("[" * 200_000)
    os.mkfifo(pipe)
    folder.mkdir()
    with huge.open("wb") as file:
        file.truncate(10**12)
    cases = {
        deep: "nested too deep",
        pipe: "is not a file",
        folder: "is not a file",
        huge: "has more than 1,048,576 bytes",
    }
    for path, words in {**cases, Path("a\0.json"): "cannot read", Path("n" * 9999 + ".json"): "cannot read"}.items():
        for given in (path, str(path)):
            with pytest.raises(nm.InvalidInput, match=words) as caught:
                nm.Playground(lesson=given)
            assert len(str(caught.value)) < 500


def test_text_may_have_lines():
    assert Lesson.parse({**OWN, "reveal": "One.\n\nTwo."}).reveal == "One.\n\nTwo."


def test_undo_reset_and_share_keep_the_lesson():
    lab = nm.Playground(lesson="Weights matter")
    start = lab.scene
    guessed = {**start, "rev": 1, "lesson": {**start["lesson"], "guess": 1.5}}
    lab.scene = guessed
    assert nm.Playground.from_share(lab.share()).scene["lesson"]["guess"] == 1.5
    lab.reset()
    assert lab.scene == {**start, "rev": lab.scene["rev"]}
    lab.undo()
    assert lab.scene["lesson"] == guessed["lesson"]
    assert list(nm.Playground.from_share(lab.share()).presets) == list(lab.presets)


def test_what_reveal_found_survives_sharing():
    lab = nm.Playground(lesson="Weights matter")
    told = {"guess": -1.0, "revealed": True, "about": {"Generator": "Mine"}, "answer": -1.0, "other": -1.0}
    lab.scene = {**lab.scene, "rev": 1, "lesson": {"name": "Weights matter", **told}}
    again = nm.Playground.from_share(lab.share())
    assert again.scene["lesson"] == lab.scene["lesson"] == {"name": "Weights matter", **told}


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"answer": "low"}, "lesson.answer"),
        ({"other": float("nan")}, "lesson.other"),
        ({"about": ["Generator"]}, "lesson.about"),
        ({"about": {"Generator": 3}}, "lesson.about"),
        ({"about": {"": "Generator"}}, "lesson.about"),
        ({"verdict": "right"}, "lesson"),
    ],
)
def test_a_wrong_field_of_the_progress_is_named(change, argument):
    start = builtin_lessons()["Weights matter"].start.to_json()
    with pytest.raises(nm.InvalidInput) as caught:
        nm.Scene.parse({**start, "lesson": {**start["lesson"], **change}})
    assert caught.value.argument == argument


@needs_node
def test_code_of_a_lesson_opens_it_where_the_learner_is():
    lab = nm.Playground(lesson="Average against pooled")
    lab.scene = {**lab.scene, "lesson": {**lab.scene["lesson"], "guess": 0.5}, "seed": 3}
    code = lab.to_code()
    made: dict = {}
    exec(code, made)
    assert {**made["lab"].scene, "rev": 0} == {**lab.scene, "rev": 0} and made["lab"].lesson == lab.lesson
    module = (ROOT / "nbmetrics/labs/playground/view/scene.js").as_uri()
    write = "process.stdout.write(playgroundCode(JSON.parse(process.argv[1])))"
    script = f'import {{ playgroundCode }} from "{module}"; {write}'
    assert ran(script, json.dumps(lab.scene)) == code
