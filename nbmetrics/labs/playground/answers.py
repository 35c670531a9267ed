"""Predictions of a class: each a short string that a learner copies, collected into one picture of flags.

Twin: labs/playground/view/answers.js · held by: tests/labs/playground/test_answers.py

A string is `nbma1.` and the URL-safe base64 of the JSON [lesson, guess, answer], where `answer` is what Reveal found
and null before. Around strings any text may stand, so that a whole chat can be pasted; what a line says before its
string is taken for who said it.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import string
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InvalidInput, check_list, check_names, check_text, printable
from ...federation.image_sources import UnreadWarning
from ...files import checked_path, write
from ..toolkit import modules, saved
from ..toolkit.fields import facts, listed, loaded
from ..toolkit.schema import read
from ..toolkit.snapshot import picture, png_of
from .lessons import Lesson, builtin_lessons
from .scene import Scene

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_FACTS = facts(__package__, "answers.json")
MARK, DIGITS = str(_FACTS["mark"]), int(_FACTS["digits"])
# Letters of one string, strings that are read, and letters of all that is pasted.
MAX_ANSWER_LETTERS, MAX_ANSWERS, MAX_PASTED_LETTERS = (int(_FACTS[name]) for name in ("longest", "most", "largest"))
MAX_NAME_LETTERS, MAX_UNREAD_NAMED = 80, 8
_STRING = re.compile(rf"\b{MARK}\.([A-Za-z0-9_-]+)", re.ASCII)
# What stands between a name and a string in chats, tables and lists.
_AROUND = string.whitespace + string.punctuation + "–—"
COLUMNS = ["who", "lesson", "guess", "answer", "off"]


def pack(progress: Mapping[str, Any]) -> str:
    """Return the string of a scene's field `lesson`, or "" where no flag was placed."""
    if progress["guess"] is None:
        return ""
    value = [progress["name"], *(_brief(progress[part]) for part in ("guess", "answer"))]
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return f"{MARK}.{base64.urlsafe_b64encode(text.encode()).decode().rstrip('=')}"


def _brief(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")


def unpack(body: str) -> tuple[str, float, float | None]:
    """Return the lesson, guess and answer that a string holds; raises `InvalidInput` where it holds none."""
    try:
        text = (
            base64.b64decode(body + "=" * (-len(body) % 4), b"-_", validate=True)
            if len(body) <= MAX_ANSWER_LETTERS
            else b""
        )
    except binascii.Error:
        text = b""
    name, guess, answer = listed(loaded(text, "answer"), "answer", 3, 3)
    return (
        check_names([name], "answer")[0],
        _number(guess, "guess"),
        None if answer is None else _number(answer, "answer"),
    )


def _number(value: Any, name: str) -> float:
    """Return a number within the bounds that a scene's `lesson` has for it."""
    field = Scene.declared["fields"]["lesson"]["record"][name]
    return float(read(value, {"number": field["number"]}, name))


def answer_table(progress: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """A row for each lesson that a learner opened, with the string that is handed to a teacher."""
    import pandas as pd

    rows = [(p["name"], p["guess"], p["answer"], _off(p), p["revealed"], pack(p)) for p in progress]
    table = pd.DataFrame(rows, columns=["lesson", "guess", "answer", "off", "revealed", "string"])
    return table.astype({"guess": float, "answer": float, "off": float, "revealed": bool})


def _off(progress: Mapping[str, Any]) -> float | None:
    guess, answer = progress["guess"], progress["answer"]
    return None if guess is None or answer is None else abs(guess - answer)


@dataclass(frozen=True)
class ClassAnswers:
    """What a class predicted. In a notebook it shows itself as flags over the axis of each lesson.

    Attributes
    ----------
    table : DataFrame with the columns who (what a line says before its string), lesson, guess, answer (what Reveal
        found, NaN before) and off (how far the guess is from it)
    unreadable : strings that hold no answer; a warning says whose they are
    """

    table: pd.DataFrame
    unreadable: int = 0
    lessons: Mapping[str, Lesson] = field(default_factory=dict, repr=False)

    def plot(self, *, reveal: bool = True) -> Figure:
        """One axis of flags a lesson, each guess a flag, and the answer as a line if `reveal`."""
        from ...figures.flags import class_flags

        questions = {name: lesson.question for name, lesson in self.lessons.items()}
        return class_flags(self.table, questions, reveal=reveal)

    def export_html(self, path: Any) -> Path:
        """Write the page for the projector, into which more answers are pasted; returns its path.

        Every guess stands there as a flag at once, and Reveal shows the truth. It works offline, opened from disk, and
        sends nothing anywhere. These answers are in it already, without names. An older file of that name is replaced.
        """
        target = checked_path(path, ".html", ".htm")
        columns = (self.table[name] for name in ("lesson", "guess", "answer"))
        strings = [
            pack({"name": name, "guess": guess, "answer": None if math.isnan(answer) else answer})
            for name, guess, answer in zip(*columns, strict=True)
        ]
        asked = {name: one.to_json() for name, one in self.lessons.items() if one.predict}
        return write(target, page_of("\n".join(strings), asked))

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return picture(png_of(self.plot()), f"What a class predicted.\n{self.table}")


def collect_answers(strings: str | Iterable[str] = "", *, lesson: Any = None) -> ClassAnswers:
    """The predictions of a class, from the strings that its learners copied.

    Parameters
    ----------
    strings : the answer strings, one text or several, with anything around them: a whole chat, a column of a form
    lesson : a lesson of your own that they are about (as `nm.Playground(lesson=…)` takes it), so that its question
        and its true answer are shown

    Raises
    ------
    InvalidInput
        For what is no text, for more than 1,000,000 letters, and for more than 2,000 answers.

    Warns
    -----
    UnreadWarning
        For strings that were cut or changed, with whose they are; they are not in the table.

    Examples
    --------
    >>> import nbmetrics as nm
    >>> chat = "Ada: nbma1.WyJXZWlnaHRzIG1hdHRlciIsLTAuNSwtMV0\\nBob: nbma1.WyJXZWlnaHRzIG1hdHRlciIsMCxudWxsXQ"
    >>> print(nm.collect_answers(chat).table)
       who          lesson  guess  answer  off
    0  Ada  Weights matter   -0.5    -1.0  0.5
    1  Bob  Weights matter    0.0     NaN  NaN

    An empty page for the projector is `nm.collect_answers().export_html("class.html")`.
    """
    import pandas as pd

    texts = [strings] if isinstance(strings, str) else check_list(strings, "strings", MAX_PASTED_LETTERS)
    text = "\n".join(check_text(_joined(part), "strings", MAX_PASTED_LETTERS) for part in texts)
    if len(text) > MAX_PASTED_LETTERS:
        raise InvalidInput("strings", f"has {len(text):,} letters", f"Give at most {MAX_PASTED_LETTERS:,}")
    lessons_by_name = dict(builtin_lessons())
    if lesson is not None:
        own = Lesson.read(lesson)
        lessons_by_name[own.name] = own
    rows: list[tuple[Any, ...]] = []
    unread: list[str] = []
    for line in text.splitlines():
        end = 0
        for match in _STRING.finditer(line):
            try:
                name, guess, answer = unpack(match[1])
            except InvalidInput:
                unread.append(_who(line[end : match.start()]))
            else:
                off = None if answer is None else abs(guess - answer)
                rows.append((_who(line[end : match.start()]), name, guess, answer, off))
            end = match.end()
    if len(rows) > MAX_ANSWERS:
        raise InvalidInput("strings", f"contains {len(rows):,} answers", f"Give at most {MAX_ANSWERS:,}")
    table = pd.DataFrame(rows, columns=COLUMNS).astype({"guess": float, "answer": float, "off": float})
    if unread:
        warnings.warn(_unread_words(unread, len(unread) + len(rows)), UnreadWarning, stacklevel=2)
    return ClassAnswers(table, len(unread), lessons_by_name)


def _unread_words(unread: Sequence[str], count: int) -> str:
    """Who is missing from the table, and why."""
    names = [name for name in unread if name][:MAX_UNREAD_NAMED]
    others = [f"{len(unread) - len(names)} more" if names else "no name is given"] * (len(names) < len(unread))
    who = ", ".join([*names, *others])
    return f"{len(unread)} of {count} answers are not in the table, because their strings are cut off or changed: {who}"


def _joined(part: Any) -> Any:
    """Return a pasted text with the letters replaced that no table can show."""
    return printable(part, MAX_PASTED_LETTERS + 1) if isinstance(part, str) else part


def _who(text: str) -> str:
    return printable(text.strip(_AROUND), MAX_NAME_LETTERS)


def page_of(text: str, lessons: Mapping[str, Any]) -> bytes:
    """Return the page of a class as UTF-8, with `text` pasted already and the lessons that it knows."""
    return saved.fill_template("playground/view/collect.html", **page_fields(text, lessons))


def page_fields(text: str, lessons: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields of the page's template: script, state and style."""
    script = modules.module("playground/view/collect.js")
    style = modules.style("toolkit/view/chart.css", "playground/view/collect.css")
    return {**saved.embed(script, {"text": text, "lessons": lessons}), "style": style}
