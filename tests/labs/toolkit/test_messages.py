"""Whatever a page sends, a lab outlives it: what is wrong is shown in the view, and the next scene is answered."""

import base64
import copy
import json
import logging
from functools import partial, reduce
from types import SimpleNamespace

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.labs.toolkit.lab import MAX_REVISION_LEAP, Worker
from tests.labs.inside import send
from tests.labs.toolkit.common import compared, watched
from tests.labs.toolkit.declared import bounds_by_name
from tests.slow import by_default
from tests.waiting import until

KINDS = {
    "Playground": (lambda: nm.Playground(), {"half": 4.0}),
    "TwinsLab": (lambda: nm.TwinsLab(), {"half": 4.0}),
    "CorrelationLab": (lambda: nm.CorrelationLab(), {"scale": 2.0}),
    "MemorizationLab": (lambda: nm.MemorizationLab(points=20), {"copied": 0.5}),
    "Dashboard": (compared, {"weights": [1.0, 0.5, 0.0]}),
    "Monitor": (watched, {"weights": [1.0, 0.5]}),
    "PrivacyLab": (lambda: nm.PrivacyLab(), {"epsilon": 0.5}),
}
SCENES = [3, None, [], "x", {"strange": 1}, {"rev": 7, "strange": 1}, {"rev": True, "clients": 3}]
MAX_REV = bounds_by_name()[0]["rev"][1]
REVS = [10**400, 2**53, MAX_REV, MAX_REVISION_LEAP + 10, -1, 1.5, "1", None]
HISTORIES = [3, None, [], {}, {"past": 3}, {"past": 3, "future": []}, {"past": [{}] * 51}]
TRAITS = [
    *({"scene": scene} for scene in SCENES),
    *({"history": history} for history in HISTORIES),
    {"result": {}},
    {"result": {"rev": 10**9}},
    {"presets": {}},
    {"data": 3},
    {"lessons": {}},
    {"locked": ["everything"]},
    {"layout": 3},
    {"strange": 1},
    {"_model_module": "evil"},
    {"_view_module": "evil"},
    {"_view_name": "evil"},
    {"_esm": "evil"},
    3,
    None,
    [],
]
MESSAGES = [
    *({"kind": "ask", "scene": scene} for scene in SCENES),
    *({"kind": kind} for kind in ("ask", "attach", "details", "curve", "interactions", "strange", None, 3, [], {})),
    {"kind": "attach", "name": []},
    {"kind": "attach", "name": "a\ud800" * 9},
    {},
    [],
    3,
    None,
]


@pytest.fixture(params=KINDS)
def lab(request, opened):
    make, _ = KINDS[request.param]
    return opened(make)


def halved(value):
    """Another value that will do where this one does."""
    return [value[0], *(part / 2 for part in value[1:])] if isinstance(value, list) else value / 2


def answered(lab):
    """The numbers of a scene that the page commits next, as it would number it."""
    rev = max(lab.scene["rev"], lab.result["rev"]) + 1
    _, change = KINDS[type(lab).__name__]
    name, value = next(iter(change.items()))
    value = value if lab.scene[name] != value else halved(value)
    lab.set_state({"scene": {**lab.scene, name: value, "rev": rev}})
    assert (lab.scene["rev"], lab.scene[name]) == (rev, value)
    found = until(lambda: lab.result["rev"] == rev and "doing" not in lab.result and lab.result)
    assert "error" not in found
    return found


def test_a_lab_outlives_every_broken_message(lab):
    numbered = [{**lab.scene, "rev": rev} for rev in REVS]
    traits = [*TRAITS, *({"scene": scene} for scene in numbered)]
    messages = [*MESSAGES, *({"kind": "ask", "scene": scene} for scene in numbered)]
    for give, sent in ((lab.set_state, traits), (partial(send, lab), messages)):
        for message in sent:
            before = copy.deepcopy((message, lab.scene, lab.history))
            give(message)
            assert (message, lab.scene, lab.history) == before
            assert lab.result["error"]["message"].encode() and len(lab.result["error"]["message"]) < 3000, message
        answered(lab)
    lab.reset()
    lab.undo()
    lab.redo()
    answered(lab)


def test_python_cannot_break_a_lab_by_its_traits_either(lab):
    for name in ("history", "result"):
        for value in ({}, {"past": 3}, {"past": [{"rho": 3}], "future": []}):
            with pytest.raises(nm.InvalidInput, match=f"{name}|scene"):
                setattr(lab, name, value)
    with pytest.raises(nm.InvalidInput, match="nothing to undo"):
        lab.undo()
    _, change = KINDS[type(lab).__name__]
    lab.scene = {**lab.scene, **{name: halved(value) for name, value in change.items()}, "rev": MAX_REV}
    assert lab.scene["rev"] <= MAX_REVISION_LEAP
    answered(lab)


def test_an_edit_by_python_is_answered_where_the_page_was_ahead(opened):
    lab = opened(nm.Playground)
    lab.scene = {**lab.scene, "half": 4.0}
    lab.history = {"past": [lab.scene], "future": []}
    send(lab, {"kind": "ask", "scene": {**lab.scene, "half": 3.0, "rev": 50}})
    until(lambda: lab.result["rev"] == 50)
    lab.undo()
    assert until(lambda: lab.result["rev"] == lab.scene["rev"]) and lab.scene["rev"] > 50


def test_a_refused_scene_in_the_pages_history_does_not_hold_up_the_next(lab):
    refused, rev = {**lab.scene, "strange": 1}, lab.scene["rev"] + 1
    good = dict(lab.scene)
    lab.set_state({"scene": {**good, "rev": rev}, "history": {"past": [good, refused], "future": [3]}})
    assert lab.scene["rev"] == rev and lab.history == {"past": [good], "future": []}
    answered(lab)


def test_a_page_that_tries_the_line_changes_nothing(opened):
    lab = opened(nm.Playground)
    before = dict(lab.result)
    send(lab, {"kind": "ping"})
    assert lab.result == before and "error" not in lab.result


def test_a_worker_outlives_its_errors(caplog):
    told = []

    def answer(item):
        if item.bad:
            raise KeyError("rev")
        told.append(item.rev)

    worker = Worker(answer, "the worker")
    with caplog.at_level(logging.ERROR):
        for rev in range(6):
            worker.put(SimpleNamespace(rev=rev, bad=rev % 2 == 0))
            until(lambda: worker._newest is None and (rev % 2 == 0 or rev in told))  # noqa: B023
    assert told == [1, 3, 5] and "the worker could not answer" in caplog.text and "KeyError" in caplog.text
    worker.close()


def test_an_error_of_the_users_own_is_shown_short_and_encodable(monkeypatch, opened):
    def boom(n, rng):
        raise RuntimeError("\ud800\x1b" * 10**6)

    lab = opened(nm.Playground)
    monkeypatch.setattr("nbmetrics.labs.playground.lab.suitable", lambda: {"boom": boom})
    send(lab, {"kind": "attach", "name": "boom"})
    told = lab.result["error"]
    assert len(told["message"]) < 25_000 and len(told["traceback"]) < 250_000
    assert (told["message"] + told["traceback"]).encode() and "\x1b" not in told["traceback"]


def test_a_name_that_the_notebook_lost_is_told(monkeypatch, opened):
    lab = opened(nm.Playground)
    monkeypatch.setattr("nbmetrics.labs.playground.lab.suitable", lambda: {"rows": np.zeros((3, 2))})
    send(lab, {"kind": "attach", "name": "rowz"})
    assert "Did you mean 'rows'" in lab.result["error"]["message"]


def replies(lab, monkeypatch, message):
    """What the lab sends back to a message."""
    sent = []
    monkeypatch.setattr(lab, "send", sent.append)
    send(lab, message)
    return sent


@pytest.mark.parametrize("lab", by_default(KINDS, "Playground", "Dashboard"), indirect=True)
def test_a_display_is_given_the_page_and_the_picture_of_the_scene_that_it_shows(lab, monkeypatch):
    shown = {**lab.scene, **KINDS[type(lab).__name__][1], "rev": lab.scene["rev"] + 1}
    (page,) = replies(lab, monkeypatch, {"kind": "page", "ticket": "a 1", "scene": shown})
    assert page["ticket"] == "a 1" and json.dumps(shown["preset"]) in page["page"] and "error" not in page
    (picture,) = replies(lab, monkeypatch, {"kind": "picture", "ticket": "a 2", "scene": shown})
    assert base64.b64decode(picture["picture"]) == lab.snapshot().png
    assert lab.scene == shown


def test_what_cannot_be_made_is_told_to_who_asked(lab, monkeypatch):
    for kind in ("page", "picture"):
        for scene in (*SCENES, {**lab.scene, "rev": 10**400}):
            before = lab.scene, lab.result
            (told,) = replies(lab, monkeypatch, {"kind": kind, "ticket": "t", "scene": scene})
            assert set(told) == {"ticket", "error"} and len(told["error"]) <= 2000
            assert (lab.scene, lab.result) == before
        for ticket in (None, 3, "t" * 61, "\x00"):
            assert replies(lab, monkeypatch, {"kind": kind, "ticket": ticket, "scene": lab.scene}) == []
    monkeypatch.setattr("nbmetrics.labs.toolkit.lab.MAX_BYTES_SENT", 1000)
    (told,) = replies(lab, monkeypatch, {"kind": "page", "ticket": "t", "scene": lab.scene})
    assert "lab.export_html" in told["error"]


@pytest.mark.parametrize("name", ["scene", "history", "layout", "tooltip"])
def test_what_is_nested_too_deeply_is_refused_in_words(name):
    lab = nm.TwinsLab()
    lab.set_state({name: reduce(lambda inner, _: [inner], range(5_000), [])})
    assert lab.result["error"]["message"]
    lab.set_state({"scene": {**lab.scene, "half": 4.0, "rev": lab.scene["rev"] + 1}})
    until(lambda: lab.result["rev"] == lab.scene["rev"] and "error" not in lab.result)
    lab.close()
