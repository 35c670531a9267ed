"""Lessons of the Playground: a question about a scene, what to predict or to bring about, and what to say afterwards.

Twin: labs/playground/view/lesson.js · held by: tests/labs/playground/test_lessons.py

    {"name": "Average against pooled", "question": "…", "scene": {"clients": […], "generators": […]},
     "predict": {"metric": "fid", "aggregate": "avg", "generator": "Generator", "best": "min", "sweep": "variance"},
     "check": null, "reveal": "…", "tries": ["…"]}

`predict` asks where the sweep over a parameter is lowest (`best` "min"), or how large a score becomes (`best` "value",
guessed on an `axis`) once the scene has changed as `then` says, on average over `redraws` other draws of its points.
`check` is a task for the learner to bring about. The answers are never written down: the page computes them, of the
scene at Reveal, and the field `lesson` of that scene keeps them: {"name", "guess", "revealed", "about", "answer",
"other"}, where `about` has the present name of each generator that the lesson names, and `other` is the best value of
the other aggregate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from ...errors import InvalidInput, check_choice, check_names, check_text, shown
from ..toolkit.fields import fields_of, listed, loaded, number, whole
from .scene import METRICS, Scene

# What the page computes itself of any law or points, so that an answer needs no Python.
CLOSED = tuple(name for name, facts in METRICS.items() if facts["closed"] == "always")
# What has a best value, by the kind of generator: nobody chooses the clients' weights to score well.
SWEPT = {"gaussian": ("variance", "height", "scale", "x", "y", "angle"), "truncated": ("psi",)}
AGGREGATES = ("avg", "all", "gap")
FIELDS = ("name", "question", "scene", "predict", "check", "reveal", "tries")
BEST = {"min": ("sweep",), "value": ("axis", "then", "redraws")}
CHECKS = {
    "inversion": ("by",),
    "agreement": (),
    "gap_constant": ("within",),
    "below": ("aggregate", "generator", "value"),
}
MOST_TRIES = 24
# Bytes of a file: far above any lesson.
LARGEST = 2**20


@dataclass(frozen=True)
class Lesson:
    """A lesson; `predict` and `check` are as in the JSON, every field checked, or None."""

    name: str
    question: str
    scene: Scene
    predict: Mapping[str, Any] | None
    check: Mapping[str, Any] | None
    reveal: str
    tries: tuple[str, ...]

    @classmethod
    def parse(cls, value: Any) -> Lesson:
        """A lesson from a dict; raises `InvalidInput` naming the field that is wrong."""
        fields_of(value, FIELDS, FIELDS, "lesson")
        name = check_names([value["name"]], "lesson.name")[0]
        scene = _scene(value["scene"], "lesson.scene")
        predict = None if value["predict"] is None else _predict(value["predict"], scene)
        check = None if value["check"] is None else _check(value["check"], scene)
        named = [part["generator"] for part in (predict, check) if part and "generator" in part]
        progress = {"guess": None, "revealed": False, "about": {g: g for g in named}, "answer": None, "other": None}
        return cls(
            name=name,
            question=_text(value["question"], "lesson.question"),
            scene=replace(scene, rev=0, preset=name, lesson={"name": name, **progress}),
            predict=predict,
            check=check,
            reveal=_text(value["reveal"], "lesson.reveal"),
            tries=_texts(value["tries"], "lesson.tries"),
        )

    @classmethod
    def read(cls, source: Any) -> Lesson:
        """A lesson that comes with the package, by name, or one's own, a dict or the path of a JSON file."""
        if isinstance(source, Lesson):
            return source
        if isinstance(source, Mapping):
            return cls.parse(source)
        if isinstance(source, Path) or (isinstance(source, str) and source.endswith(".json")):
            return cls.parse(_file(Path(source)))
        return lessons()[check_choice(source, lessons(), "lesson")]

    @property
    def start(self) -> Scene:
        """The scene that the lesson opens with: what is to be predicted is charted, and still hidden."""
        if self.predict is None or self.predict["best"] != "min":
            return self.scene
        view = {"metric": self.predict["metric"], "panel": "sweep", "sweep": self.predict["sweep"]}
        return replace(self.scene, view={**self.scene.view, **view})

    @property
    def after(self) -> Scene:
        """The scene that Reveal shows."""
        changed = Scene.parse(_changed(self.start, (self.predict or {}).get("then") or {}))
        return replace(changed, lesson={**(changed.lesson or {}), "revealed": True})

    def to_json(self) -> dict[str, Any]:
        """What the page reads."""
        return {
            "name": self.name,
            "question": self.question,
            "scene": self.start.to_json(),
            "after": self.after.to_json(),
            "predict": None if self.predict is None else dict(self.predict),
            "check": None if self.check is None else dict(self.check),
            "reveal": self.reveal,
            "tries": list(self.tries),
        }


@cache
def lessons() -> dict[str, Lesson]:
    """The lessons that come with the package, by name."""
    content = resources.files(__package__).joinpath("lessons.json").read_text("utf-8")
    found = [Lesson.parse(lesson) for lesson in loaded(content, "lessons")]
    return dict(zip(check_names([lesson.name for lesson in found], "lessons"), found, strict=True))


def _file(path: Path) -> Any:
    name, fix = shown(str(path)), "Give the path of a JSON file"
    try:
        target = path.expanduser()
        if target.exists() and not target.is_file():  # a pipe may have no end
            raise InvalidInput("lesson", f"{name} is no file", fix)
        with target.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise InvalidInput("lesson", f"cannot read {name}: {error.strerror}", fix) from None
    except (ValueError, RuntimeError) as error:  # a name with a null byte, or of a user that is unknown
        raise InvalidInput("lesson", f"cannot read {name}: {error}", fix) from None
    if len(content) > LARGEST:
        raise InvalidInput("lesson", f"{name} has more than {LARGEST:,} bytes", fix)
    return loaded(content, f"lesson {name}")


def _predict(value: Any, scene: Scene) -> dict[str, Any]:
    where = "lesson.predict"
    best = check_choice(value.get("best") if isinstance(value, Mapping) else None, BEST, f"{where}.best")
    fields = ("metric", "aggregate", "generator", "best", *BEST[best])
    fields_of(value, fields, set(fields) - {"redraws"}, where)
    found = {
        "metric": check_choice(value["metric"], CLOSED, f"{where}.metric"),
        "aggregate": check_choice(value["aggregate"], AGGREGATES, f"{where}.aggregate"),
        "generator": _generator(value["generator"], scene, f"{where}.generator"),
        "best": best,
    }
    if best == "min":
        check_choice(value["aggregate"], AGGREGATES[:2], f"{where}.aggregate")
        return {**found, "sweep": _sweep(value["sweep"], found["generator"], scene, f"{where}.sweep")}
    then = _scene(_changed(scene, value["then"]), f"{where}.then")
    _generator(found["generator"], then, f"{where}.generator")
    return {
        **found,
        "axis": _axis(value["axis"], f"{where}.axis"),
        "then": dict(value["then"]),
        "redraws": whole(value.get("redraws", 0), "redraws", f"{where}.redraws"),
    }


def _check(value: Any, scene: Scene) -> dict[str, Any]:
    where = "lesson.check"
    kind = check_choice(value.get("kind") if isinstance(value, Mapping) else None, CHECKS, f"{where}.kind")
    fields = ("kind", "metric", *CHECKS[kind])
    fields_of(value, fields, set(fields) - {"metric"}, where)
    found = dict(value)
    if "metric" in value:
        check_choice(value["metric"], CLOSED, f"{where}.metric")
    tests: dict[str, Callable[[Any, str], Any]] = {
        "aggregate": lambda given, place: check_choice(given, AGGREGATES, place),
        "generator": lambda given, place: _generator(given, scene, place),
    }
    for field in CHECKS[kind]:
        place = f"{where}.{field}"
        found[field] = tests[field](value[field], place) if field in tests else number(value[field], field, place)
    return found


def _changed(scene: Scene, changes: Any) -> dict[str, Any]:
    """The JSON of a scene with other fields; its view keeps what it does not name."""
    if not isinstance(changes, Mapping):
        raise InvalidInput("lesson.predict.then", f"got {shown(changes)}", "Give a dict of the fields that change")
    given = scene.to_json()
    view = changes.get("view", {})
    return {**given, **changes, "view": {**given["view"], **view} if isinstance(view, Mapping) else view}


def _scene(value: Any, where: str) -> Scene:
    try:
        scene = Scene.parse(value)
    except InvalidInput as error:
        raise InvalidInput(f"{where}, {error.argument}", error.seen, error.fix) from None
    held = [item.name for item in (*scene.clients, *scene.generators) if item.kind == "data"]
    if held:
        raise InvalidInput(where, f"{held[0]!r} stands for data, which a lesson cannot hold", "Give it another kind")
    return scene


def _generator(value: Any, scene: Scene, where: str) -> str:
    return check_choice(value, [item.name for item in scene.generators], where)


def _sweep(value: Any, generator: str, scene: Scene, where: str) -> str:
    kind = next(item.kind for item in scene.generators if item.name == generator)
    if kind == "copycat":
        raise InvalidInput(where, f"{generator!r} copies a client", "Ask about a generator with a shape of its own")
    return check_choice(value, SWEPT["truncated" if kind == "truncated" else "gaussian"], where)


def _axis(value: Any, where: str) -> list[float]:
    low, high = (number(end, "axis", where) for end in listed(value, where, 2, 2))
    if not low < high:
        raise InvalidInput(where, f"got {shown(value)}", "Give two numbers, the lower end first")
    return [low, high]


def _texts(value: Any, where: str) -> tuple[str, ...]:
    return tuple(_text(line, f"{where}[{k}]") for k, line in enumerate(listed(value, where, 0, MOST_TRIES)))


def _text(value: Any, where: str) -> str:
    if not check_text(value, where).strip():
        raise InvalidInput(where, "is empty", "Give a text")
    return str(value)
