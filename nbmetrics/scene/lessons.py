"""Lessons of the Playground: a question about a scene, what to predict or to bring about, and what to say afterwards.

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

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, check_choice, check_count, check_names, check_number, shown
from .plane import Scene

# What the page computes itself of any law or points, so that an answer needs no Python.
CLOSED = ("fid", "kid", "mfid", "rfid", "cfid")
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
MOST_REDRAWS = 100


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
        _check_fields(value, "lesson", FIELDS)
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
    found = [Lesson.parse(lesson) for lesson in json.loads(content)]
    return dict(zip(check_names([lesson.name for lesson in found], "lessons"), found, strict=True))


def _file(path: Path) -> Any:
    try:
        return json.loads(path.expanduser().read_text("utf-8"))
    except OSError as error:
        raise InvalidInput("lesson", f"cannot read {path}: {error.strerror}", "Give the path of a JSON file") from None
    except ValueError as error:
        raise InvalidInput("lesson", f"{path} is not JSON: {error}", "Mend the file") from None


def _predict(value: Any, scene: Scene) -> dict[str, Any]:
    where = "lesson.predict"
    best = check_choice(value.get("best") if isinstance(value, Mapping) else None, BEST, f"{where}.best")
    optional = {"redraws": 0} if best == "value" else {}
    _check_fields({**optional, **value}, where, ("metric", "aggregate", "generator", "best", *BEST[best]))
    found = {
        "metric": check_choice(value["metric"], CLOSED, f"{where}.metric"),
        "aggregate": check_choice(value["aggregate"], AGGREGATES, f"{where}.aggregate"),
        "generator": _generator(value["generator"], scene, f"{where}.generator"),
        "best": best,
    }
    if best == "min":
        check_choice(value["aggregate"], AGGREGATES[:2], f"{where}.aggregate")
        return {**found, "sweep": _sweep(value["sweep"], found["generator"], scene, f"{where}.sweep")}
    redraws = check_count(value.get("redraws", 0), f"{where}.redraws", minimum=0)
    then = _scene(_changed(scene, value["then"]), f"{where}.then")
    _generator(found["generator"], then, f"{where}.generator")
    return {
        **found,
        "axis": _axis(value["axis"], f"{where}.axis"),
        "then": dict(value["then"]),
        "redraws": int(check_number(redraws, f"{where}.redraws", maximum=MOST_REDRAWS)),
    }


def _check(value: Any, scene: Scene) -> dict[str, Any]:
    where = "lesson.check"
    kind = check_choice(value.get("kind") if isinstance(value, Mapping) else None, CHECKS, f"{where}.kind")
    _check_fields({"metric": None, **value}, where, ("kind", "metric", *CHECKS[kind]))
    found = dict(value)
    if "metric" in value:
        check_choice(value["metric"], CLOSED, f"{where}.metric")
    tests: dict[str, Callable[[Any, str], Any]] = {
        "by": lambda given, field: check_number(given, field, minimum=0),
        "within": lambda given, field: check_number(given, field, minimum=0),
        "value": check_number,
        "aggregate": lambda given, field: check_choice(given, AGGREGATES, field),
        "generator": lambda given, field: _generator(given, scene, field),
    }
    return found | {field: tests[field](value[field], f"{where}.{field}") for field in CHECKS[kind]}


def _check_fields(value: Any, where: str, fields: Iterable[str]) -> None:
    if not isinstance(value, Mapping) or set(value) != set(fields):
        seen = sorted(map(str, value)) if isinstance(value, Mapping) else shown(value)
        raise InvalidInput(where, f"got {seen}", f"Give a dict with the fields {', '.join(fields)}")


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
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable) or len(ends := list(value)) != 2:
        raise InvalidInput(where, f"got {shown(value)}", "Give two numbers, the lower end first")
    low, high = (check_number(end, where) for end in ends)
    if not low < high:
        raise InvalidInput(where, f"got {shown(value)}", "Give two numbers, the lower end first")
    return [low, high]


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        raise InvalidInput(where, f"got {shown(value)}", "Give a list of texts")
    return tuple(_text(line, f"{where}[{position}]") for position, line in enumerate(value))


def _text(value: Any, where: str) -> str:
    return check_names([value], where)[0]
