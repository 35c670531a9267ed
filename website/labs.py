"""The pages of labs and lessons: each shows the lab itself, with its numbers computed in the page."""

import inspect
import posixpath
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbmetrics as nm
from nbmetrics import labs as room
from nbmetrics.labs.playground import answers
from nbmetrics.labs.playground.lessons import builtin_lessons
from nbmetrics.labs.toolkit import saved, share

from .examples import EXAMPLE_TEXTS, EXAMPLES, WITH_CHARTS
from .pictures import save_png
from .templates import Page

LABS, LESSONS, TEACHERS, CLASS = "labs/index.html", "lessons/index.html", "teachers.html", "class.html"
IDEA = (
    "When several clients hold the data, the average of their scores (avg) and one score on their pooled data (all) "
    "can choose different generative models."
)


def slug(name: str) -> str:
    """Return a name as part of an address."""
    return "-".join("".join(letter if letter.isalnum() else " " for letter in name.lower()).split())


def path_of(lab: str) -> str:
    """Return the path of a lab's page by its class's name."""
    return f"labs/{slug(lab)}.html"


def picture_of(lab: str) -> str:
    """Return the path of a lab's picture."""
    return f"images/{slug(lab)}.png"


def summary(lab: str) -> str:
    """Return what a lab is, the first line of its docstring."""
    return (inspect.getdoc(getattr(nm, lab)) or lab).partition("\n")[0]


def lab_pages(names: list[str], out: Path) -> Iterator[Page]:
    """Yield a page for each lab, its picture written beside, and their list; the Playground is the landing page."""
    sizes = {}
    for name in names:
        lab = (EXAMPLES | WITH_CHARTS).get(name, getattr(nm, name))()
        try:
            page = _lab_page(name, lab)
            snapshot = lab.snapshot()
            sizes[name] = save_png(out / picture_of(name), snapshot.png)
            yield page
            if name == "Playground":
                yield _landing(lab, snapshot.alt)
        finally:
            lab.close()
    cards = [
        {"name": name, "path": path_of(name), "picture": picture_of(name), "size": sizes[name], "text": summary(name)}
        for name in names
    ]
    text = "Views that you can drag, with nothing to install. The last line of each lab says what needs Python."
    yield Page(LABS, "Labs", text, "labs.html", LABS, values={"cards": cards})


def _lab_page(name: str, lab: Any) -> Page:
    lab._settle_all()
    values = {
        **saved.parts(lab),
        "name": name,
        "example": EXAMPLE_TEXTS.get(name, ""),
        "scenes": _scenes(lab) if name not in EXAMPLES else [],
    }
    return Page(path_of(name), name, summary(name), "lab.html", LABS, picture_of(name), values)


def _scenes(lab: Any) -> list[dict[str, str]]:
    """Return links that open presets on the lab's page, each with its scene behind the # of the address."""
    kind = type(lab)
    return [
        {"name": name, "hash": f"#{share.pack(kind.__name__, kind._state.parse(scene))}"}
        for name, scene in lab._saved_starts.items()
    ]


def _landing(playground: Any, alt: str) -> Page:
    """Return the landing page: the Playground with nothing to choose from, so that what is left is to drag."""
    playground.lock("items", "presets", "code")
    title = "Average or pooled? It decides which generator wins"
    values = {**saved.parts(playground), "alt": alt, "idea": IDEA}
    return Page("index.html", title, IDEA, "landing.html", values=values)


def lesson_pages() -> Iterator[Page]:
    """Yield a page for each lesson, their list, and what a teacher needs."""
    table = nm.lessons().to_dict("records")
    lessons = [
        {**row, "path": f"lessons/{slug(row['name'])}.html", "number": k, "minutes": f"{row['minutes']:g}"}
        for k, row in enumerate(table, 1)
    ]
    for before, lesson, after in zip([None, *lessons], lessons, [*lessons[1:], None]):
        lab = nm.Playground(lesson=lesson["name"])
        lab.lock("presets")  # the page is about this one
        lab._settle_all()
        parts = saved.parts(lab, onward=posixpath.basename(after["path"]) if after else "")
        values = {**parts, "lesson": lesson, "before": before, "after": after, "count": len(lessons)}
        lab.close()
        yield Page(lesson["path"], lesson["name"], lesson["question"], "lesson.html", LESSONS, values=values)
    minutes = f"{sum(row['minutes'] for row in table):g}"
    text = f"{len(lessons)} questions, about {minutes} minutes: guess before you look, then drag until you see why."
    yield Page(LESSONS, "Lessons", text, "lessons.html", LESSONS, values={"lessons": lessons})
    text = "Share lessons by link, and see the predictions of a class on one axis. Nobody has to install anything."
    yield Page(
        TEACHERS, "For teachers", text, "teachers.html", LESSONS, values={"lessons": lessons, "minutes": minutes}
    )
    yield _class_page()


def _class_page() -> Page:
    asked = {name: lesson.to_json() for name, lesson in builtin_lessons().items() if lesson.predict}
    text = "Paste what your class predicted: every guess becomes a flag, and Reveal adds the answer."
    return Page(CLASS, "What does the class say?", text, "class.html", LESSONS, values=answers.page_fields("", asked))


def all_labs() -> list[str]:
    """Return the names of all labs, the Playground first, as it is where one begins."""
    return sorted(room.__all__, key=lambda name: (name != "Playground", name in EXAMPLES, name))
