"""Predictions of a class: what a lab remembers, strings on both sides, the table, the figure and the page."""

import base64
import json
import re

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from nbmetrics.labs.playground.answers import MAX_ANSWERS, MAX_PASTED_LETTERS, pack
from tests import EVIL, TESTS
from tests.node import needs_node, node

PROGRESS = [
    {"name": "Weights matter", "guess": -0.5, "answer": -1.0},
    {"name": "Weights matter", "guess": 1 / 3, "answer": None},
    {"name": "Ein Maß für „Σλᵢ“ 🚩", "guess": 0, "answer": 1e-17},
    {"name": f'{EVIL}\\"', "guess": 1e99, "answer": -1e99},
    {"name": "Make them disagree", "guess": None, "answer": None},
]


def encoded(value):
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return f"nbma1.{base64.urlsafe_b64encode(text).decode().rstrip('=')}"


BROKEN = [
    "nbma1.A",
    "nbma1.____",
    encoded(b"\xff\xfe"),
    encoded(b"[" * 600),
    encoded({"lesson": "L"}),
    encoded(["L", 1]),
    encoded(["", 1, 1]),
    encoded(["a\nb", 1, 1]),
    encoded(["n" * 301, 1, 1]),
    encoded(["L", "1", 1]),
    encoded(["L", True, 1]),
    encoded(["L", None, 1]),
    encoded(["L", 1e101, 1]),
    encoded(b'["L",NaN,1]'),
    encoded(b'["L",1,Infinity]'),
    encoded(["L", 1, 1, 1]),
    encoded(["L" * 900, 1, 1]),
]


def guessed(lab, guess, **found):
    progress = {**lab.scene["lesson"], "guess": guess, **found}
    lab.scene = {**lab.scene, "rev": lab.scene["rev"] + 1, "lesson": progress}


def test_a_lab_remembers_what_was_guessed_at_the_first_reveal():
    lab = nm.Playground(lesson="Weights matter")
    assert lab.answers()["string"].tolist() == [""] and lab.answers()["guess"].isna().all()
    guessed(lab, 2.0)
    guessed(lab, -0.5)
    assert lab.answers().loc[0, ["guess", "revealed"]].tolist() == [-0.5, False]
    guessed(lab, -0.5, revealed=True, answer=-1.0, other=-1.0)
    guessed(lab, -1.0, revealed=False, answer=None, other=None)  # undone, and placed where the answer is
    guessed(lab, -1.0, revealed=True, answer=-1.0, other=-1.0)
    lab.scene = {**lab.lessons["Make them disagree"]["scene"], "rev": lab.scene["rev"] + 1}
    table = lab.answers()
    assert table["lesson"].tolist() == ["Weights matter", "Make them disagree"]
    assert table.loc[0, ["guess", "answer", "off", "revealed"]].tolist() == [-0.5, -1.0, 0.5, True]
    assert table["string"].tolist()[1] == "" and len(table["string"][0]) < 100
    collected = nm.collect_answers(table["string"]).table
    pd.testing.assert_frame_equal(
        collected[["lesson", "guess", "answer", "off"]], table.iloc[:1][["lesson", "guess", "answer", "off"]]
    )
    assert len(nm.Playground().answers()) == 0


def test_a_chat_is_read_with_who_said_what():
    strings = [pack(progress) for progress in PROGRESS[:3]]
    chat = f"Ada: {strings[0]}\n2026-11-22 14:00, Bob O’Neil, {strings[1]}\r\nno answer here\n> {strings[2]}"
    table = nm.collect_answers(chat).table
    assert table["who"].tolist() == ["Ada", "2026-11-22 14:00, Bob O’Neil", ""]
    assert table["lesson"].tolist() == [progress["name"] for progress in PROGRESS[:3]]
    np.testing.assert_allclose(table["guess"], [-0.5, 1 / 3, 0], rtol=1e-5)
    assert table["answer"].isna().tolist() == [False, True, False]
    assert nm.collect_answers(iter(chat.splitlines())).table.equals(table)


def test_what_is_broken_is_counted_and_the_rest_is_read():
    good = pack(PROGRESS[0])
    with pytest.warns(nm.UnreadWarning, match=r"17 of 19 answers are not in the table.*: no name is given"):
        found = nm.collect_answers(f"{good} {' '.join(BROKEN)} \x1b\u2028 {good}\0")
    assert (len(found.table), found.unreadable) == (2, len(BROKEN))
    assert nm.collect_answers().table.empty and nm.collect_answers("nbma1. nbma2.AAAA").unreadable == 0


@pytest.mark.parametrize(
    ("strings", "words"),
    [
        (3, "Give a list"),
        ([3], "Give a string"),
        (b"nbma1.", "Give a string"),
        (" " * (MAX_PASTED_LETTERS + 1), "Give at most"),
        ([" " * MAX_PASTED_LETTERS, " "], "Give at most"),
        (f"{pack(PROGRESS[1])} " * (MAX_ANSWERS + 1), "Give at most 2,000"),
    ],
)
def test_what_is_no_text_or_too_much_is_refused(strings, words):
    with pytest.raises(nm.InvalidInput, match=words) as caught:
        nm.collect_answers(strings)
    assert caught.value.argument == "strings"


@needs_node
def test_the_pages_strings_are_pythons(tmp_path):
    strings = [pack(progress) for progress in PROGRESS]
    path = tmp_path / "answers.json"
    path.write_text(json.dumps({"progress": PROGRESS, "strings": [s for s in strings if s], "broken": BROKEN}))
    run = node("--test", "--test-reporter=tap", TESTS / "js" / "answers.test.js", NBMETRICS_ANSWERS=path)
    written = json.loads(re.search(r"strings (\[.*\])", run)[1])
    tables = [nm.collect_answers(texts).table for texts in (strings, written)]
    pd.testing.assert_frame_equal(*tables)
    assert written[-1] == "" and len(tables[0]) == 4


def test_the_figure_has_an_axis_for_each_lesson_and_can_keep_the_answer_back():
    found = nm.collect_answers("\n".join(pack(progress) for progress in PROGRESS))
    shown, hidden = found.plot(), found.plot(reveal=False)
    assert len(shown.axes) == len(hidden.axes) == 3
    assert [len(ax.lines) for ax in shown.axes] == [2, 2, 2] and [len(ax.lines) for ax in hidden.axes] == [1, 1, 1]
    np.testing.assert_allclose(shown.axes[0].lines[0].get_xdata(), [-0.5, 1 / 3], rtol=1e-5)
    assert shown.axes[0].lines[1].get_xdata()[0] == -1
    assert shown.axes[0].get_title("left").startswith("Client 1 has three times")
    for answers in (found, nm.collect_answers()):
        data, metadata = answers._repr_mimebundle_()
        assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
        assert "predicted" in metadata["image/png"]["alt"]


def test_flags_at_one_place_stand_on_each_other():
    (ax,) = nm.collect_answers([pack(PROGRESS[0])] * 5 + [pack(PROGRESS[1])]).plot().axes
    assert ax.lines[0].get_ydata().tolist() == [0, 1, 2, 3, 4, 0]


def test_the_page_holds_the_answers_without_names_and_cannot_be_broken_out_of(tmp_path):
    lesson = nm.Playground().make_lesson(question=f"{EVIL}</script>?", flag="x", name=f"{EVIL}{{{{script}}}}")
    found = nm.collect_answers(f"Ada: {pack({**PROGRESS[0], 'name': lesson['name']})}", lesson=lesson)
    path = found.export_html(tmp_path / "class.html")
    text = path.read_text("utf-8")
    assert "Ada" not in text and text.count("</script>") == 2 and EVIL not in text
    state = json.loads(re.search(r'json">(.*?)</script>', text, re.DOTALL)[1])
    assert nm.collect_answers(state["text"]).table["lesson"].tolist() == [lesson["name"]]
    assert set(state["lessons"]) == {lesson["name"], *nm.lessons()["name"]} - {"Make them disagree"}
    assert "default-src 'none'" in text and set(re.findall(r"https?://[\w.]+", text)) <= {"http://www.w3.org"}
    with pytest.raises(nm.InvalidInput, match=r"ends in \.html"):
        found.export_html(tmp_path / "class.txt")


def test_whose_answer_is_cut_is_said():
    ada, bob = (pack({"name": "Weights matter", "guess": guess, "answer": None}) for guess in (0.5, 1.5))
    chat = f"Ada: {ada}\nBob: {bob[:-6]}\n{bob[:-7]}"
    with pytest.warns(nm.UnreadWarning, match="2 of 3 answers are not in the table.*: Bob, 1 more$"):
        found = nm.collect_answers(chat)
    assert found.table["who"].tolist() == ["Ada"] and found.unreadable == 2
