"""Lessons of the Playground: a question about a scene, what to predict or to bring about, and what to say afterwards.

Twin: labs/playground/view/lesson.js · held by: tests/labs/playground/test_lessons.py

    {"name": "Average against pooled", "question": "…", "scene": {"clients": […], "generators": […]},
     "predict": {"metric": "fid", "aggregate": "avg", "generator": "Generator", "best": "min", "sweep": "variance"},
     "check": null, "reveal": "…", "tries": ["…"], "hint": "…", "solution": null, "minutes": 3, "aim": "…"}

`scene` may be a preset's name, and only name, question and scene are needed. `predict` asks where the sweep over a
parameter is lowest (`best` "min"), or how large a score becomes (`best` "value", guessed on an `axis`) once the scene
has changed as `then` says, on average over `redraws` other draws of its points. `check` is a task for the learner to
bring about; `solution` has the fields of a scene in which it is done. The answers are never written down: the page
computes them, of the scene at Reveal, and the field `lesson` of that scene keeps them: {"name", "guess", "revealed",
"about", "answer", "other"}, where `about` has the present name of each generator that the lesson names, and `other` is
the best value of the other aggregate.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InvalidInput, check_choice, check_names, check_text, shown
from ..toolkit.fields import facts, listed, loaded
from ..toolkit.schema import read
from .scene import METRICS, Scene, presets

if TYPE_CHECKING:
    import pandas as pd

# What the page computes itself of any distribution or points, so that an answer needs no Python.
CLOSED = tuple(name for name, facts in METRICS.items() if facts["closed"] == "always")
# What has a best value, by the kind of generator: nobody chooses the clients' weights to score well.
SWEPT = {"gaussian": ("variance", "height", "scale", "x", "y", "angle"), "truncated": ("psi",)}
AGGREGATES = ("avg", "all", "gap", "intra")
NEEDED = ("name", "question", "scene")
FIELDS = (*NEEDED, "predict", "check", "reveal", "tries", "hint", "solution", "minutes", "aim")
BEST = {"min": ("sweep",), "value": ("axis", "then", "redraws")}
CHECKS = {
    "inversion": ("by",),
    "agreement": (),
    "gap_constant": ("within",),
    "below": ("aggregate", "generator", "value"),
}
# What a field may be, for who left it out; a generator is one of the scene's own.
EXAMPLES: dict[str, Any] = {
    "name": "My lesson",
    "question": "At which variance is FID avg lowest?",
    "scene": "Two clients",
    "metric": "fid",
    "aggregate": "avg",
    "best": "min",
    "sweep": "variance",
    "axis": [0, 6],
    "then": {"samples": 20},
    "kind": "inversion",
    "by": 0.3,
    "within": 0.01,
    "value": 0.1,
}
# What scenes that change keep of the one that was there.
KEPT = ("rev", "preset", "lesson")
MAX_TRIES = 24
# Bounds of the numbers of a lesson, which its page reads too.
NUMBERS = facts(__package__, "lesson.json")
# Bytes of a file: far above any lesson.
MAX_FILE_BYTES = 2**20


@dataclass(frozen=True)
class Lesson:
    """A lesson; `predict` and `check` are as in the JSON, every field checked, or None."""

    name: str
    question: str
    scene: Scene
    predict: Mapping[str, Any] | None = None
    check: Mapping[str, Any] | None = None
    reveal: str = ""
    tries: tuple[str, ...] = ()
    hint: str = ""
    solution: Scene | None = None
    minutes: float | None = None
    aim: str = ""

    @classmethod
    def parse(cls, value: Any) -> Lesson:
        """A lesson from a dict; raises `InvalidInput` naming the field that is wrong, and what would do."""
        fields = _dict(value, FIELDS, NEEDED, "lesson")
        name = check_names([fields["name"]], "lesson.name")[0]
        scene = _scene(fields["scene"], "lesson.scene")
        predict = None if fields.get("predict") is None else _predict(fields["predict"], scene)
        check = None if fields.get("check") is None else _check(fields["check"], scene)
        named = [part["generator"] for part in (predict, check) if part and "generator" in part]
        progress = {"guess": None, "revealed": False, "about": {g: g for g in named}, "answer": None, "other": None}
        minutes = fields.get("minutes")
        return cls(
            name=name,
            question=_text(fields["question"], "lesson.question"),
            scene=replace(scene, rev=0, preset=name, lesson={"name": name, **progress}),
            predict=predict,
            check=check,
            reveal=check_text(fields.get("reveal", ""), "lesson.reveal"),
            tries=_texts(fields.get("tries", ()), "lesson.tries"),
            hint=check_text(fields.get("hint", ""), "lesson.hint"),
            solution=_solution(fields.get("solution"), scene, named),
            minutes=None if minutes is None else read(minutes, NUMBERS["minutes"], "lesson.minutes"),
            aim=check_text(fields.get("aim", ""), "lesson.aim"),
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
        return builtin_lessons()[check_choice(source, builtin_lessons(), "lesson")]

    @property
    def metric(self) -> str:
        """The metric that it asks about, or else charts."""
        asked = {**(self.check or {}), **(self.predict or {})}
        return str(asked.get("metric", self.scene.view["metric"]))

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
        changed = Scene.parse(_with_changes(self.start, (self.predict or {}).get("then") or {}, "then"))
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
            "hint": self.hint,
            "solution": None if self.solution is None else self.solution.to_json(),
        }


@cache
def builtin_lessons() -> dict[str, Lesson]:
    """The lessons that come with the package, by name."""
    content = resources.files(__package__).joinpath("lessons.json").read_text("utf-8")
    lessons = [Lesson.parse(lesson) for lesson in loaded(content, "lessons")]
    return dict(zip(check_names([lesson.name for lesson in lessons], "lessons"), lessons, strict=True))


def lessons() -> pd.DataFrame:
    """The lessons of the Playground, in the order of its menu.

    Returns
    -------
    DataFrame with the columns name, minutes (about, with what there is to try), aim (what is learned), question, metric

    Examples
    --------
    >>> import nbmetrics as nm
    >>> nm.lessons()["name"].tolist()[:2]
    ['Average against pooled', 'Where is KID?']
    >>> lab = nm.Playground(lesson="Where is KID?")
    """
    import pandas as pd

    rows = [(one.name, one.minutes, one.aim, one.question, one.metric) for one in builtin_lessons().values()]
    return pd.DataFrame(rows, columns=["name", "minutes", "aim", "question", "metric"])


def _file(path: Path) -> Any:
    name, fix = shown(str(path)), "Give the path of a JSON file"
    try:
        target = path.expanduser()
        if target.exists() and not target.is_file():  # a pipe may have no end
            raise InvalidInput("lesson", f"{name} is not a file", fix)
        with target.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise InvalidInput("lesson", f"cannot read {name}: {error.strerror}", fix) from None
    except (ValueError, RuntimeError) as error:  # a name with a null byte, or of a user that is unknown
        raise InvalidInput("lesson", f"cannot read {name}: {error}", fix) from None
    if len(content) > MAX_FILE_BYTES:
        raise InvalidInput("lesson", f"{name} has more than {MAX_FILE_BYTES:,} bytes", fix)
    return loaded(content, f"lesson {name}")


def _dict(value: Any, allowed: Collection[str], needed: Collection[str], where: str, **more: Any) -> Mapping[str, Any]:
    """Return `value` as a dict of `allowed` fields; names what is missing with an example that would do."""
    examples = {**EXAMPLES, **more}
    if not isinstance(value, Mapping):
        wanted = _field_text({field: examples[field] for field in needed})
        raise InvalidInput(where, f"got {shown(value)}", f"Give a dict, such as {wanted}")
    for field in value:
        check_choice(field, allowed, where)
    for field in needed:
        if field not in value:
            example = _field_text({field: examples[field]})[1:-1]
            raise InvalidInput(f"{where}.{field}", "is missing", f"Add it, such as {example}")
    return value


def _field_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _predict(value: Any, scene: Scene) -> dict[str, Any]:
    where, generator = "lesson.predict", scene.generators[0].name
    if isinstance(value, Mapping) and "best" in value:
        best = check_choice(value["best"], BEST, f"{where}.best")
    else:
        best = "min"
    fields = ("metric", "aggregate", "generator", "best", *BEST[best])
    _dict(value, fields, [field for field in fields if field != "redraws"], where, generator=generator)
    prediction = {
        "metric": check_choice(value["metric"], CLOSED, f"{where}.metric"),
        "aggregate": check_choice(value["aggregate"], AGGREGATES, f"{where}.aggregate"),
        "generator": _generator(value["generator"], scene, f"{where}.generator"),
        "best": best,
    }
    if best == "min":
        check_choice(value["aggregate"], AGGREGATES[:2], f"{where}.aggregate")
        return {**prediction, "sweep": _sweep(value["sweep"], prediction["generator"], scene, f"{where}.sweep")}
    then = _scene(_with_changes(scene, value["then"], f"{where}.then"), f"{where}.then")
    _generator(prediction["generator"], then, f"{where}.generator")
    return {
        **prediction,
        "axis": _axis(value["axis"], f"{where}.axis"),
        "then": dict(value["then"]),
        "redraws": read(value.get("redraws", 0), NUMBERS["redraws"], f"{where}.redraws"),
    }


def _check(value: Any, scene: Scene) -> dict[str, Any]:
    where, generator = "lesson.check", scene.generators[0].name
    _dict(value, value if isinstance(value, Mapping) else (), ("kind",), where)
    kind = check_choice(value["kind"], CHECKS, f"{where}.kind")
    _dict(value, ("kind", "metric", *CHECKS[kind]), CHECKS[kind], where, generator=generator)
    fields = dict(value)
    if "metric" in value:
        check_choice(value["metric"], CLOSED, f"{where}.metric")
    tests: dict[str, Callable[[Any, str], Any]] = {
        "aggregate": lambda part, place: check_choice(part, AGGREGATES, place),
        "generator": lambda part, place: _generator(part, scene, place),
    }
    for field in CHECKS[kind]:
        place = f"{where}.{field}"
        is_number = field in NUMBERS
        fields[field] = read(value[field], NUMBERS[field], place) if is_number else tests[field](value[field], place)
    return fields


def _solution(value: Any, scene: Scene, named: Collection[str]) -> Scene | None:
    if value is None:
        return None
    where = "lesson.solution"
    solved = _scene(_with_changes(scene, value, where), where)
    for name in named:
        _generator(name, solved, where)
    return solved


def _with_changes(scene: Scene, changes: Any, where: str) -> dict[str, Any]:
    """Return the JSON of a scene with other fields; its view keeps what they do not name."""
    if not isinstance(changes, Mapping):
        fix = f"Give a dict of the fields that change, such as {_field_text(EXAMPLES['then'])}, or lab.scene"
        raise InvalidInput(where, f"got {shown(changes)}", fix)
    fields = scene.to_json()
    view = changes.get("view", {})
    view = {**fields["view"], **view} if isinstance(view, Mapping) else view
    return {**fields, **changes, **{field: fields[field] for field in KEPT}, "view": view}


def _scene(value: Any, where: str) -> Scene:
    try:
        scene = _read(value, where)
    except InvalidInput as error:
        if error.argument == where:
            raise
        # Nobody writes the fields of items by hand.
        easier = ". A scene is the name of a preset, or lab.scene of a Playground that shows it"
        fix = error.fix + easier * error.argument.startswith(("scene", "clients", "generators"))
        raise InvalidInput(f"{where}, {error.argument}", error.seen, fix) from None
    held = [item.name for item in (*scene.clients, *scene.generators) if item.kind == "data"]
    if held:
        raise InvalidInput(where, f"{held[0]!r} is data, which a lesson cannot contain", "Give it another kind")
    return scene


def _read(value: Any, where: str) -> Scene:
    """Return the scene of a dict, of its JSON, or of a preset's name."""
    if isinstance(value, str) and not value.lstrip().startswith("{"):
        return presets()[check_choice(value, presets(), where)]
    return value if isinstance(value, Scene) else Scene.parse(value)


def _generator(value: Any, scene: Scene, where: str) -> str:
    return check_choice(value, [item.name for item in scene.generators], where)


def _sweep(value: Any, generator: str, scene: Scene, where: str) -> str:
    kind = next(item.kind for item in scene.generators if item.name == generator)
    whole = {"copycat": "copies a client", "by_client": "has an ellipse for each client"}
    if kind in whole:
        raise InvalidInput(where, f"{generator!r} {whole[kind]}", "Ask about a generator that has its own shape")
    return check_choice(value, SWEPT["truncated" if kind == "truncated" else "gaussian"], where)


def _axis(value: Any, where: str) -> list[float]:
    low, high = read(value, NUMBERS["axis"], where)
    if not low < high:
        raise InvalidInput(where, f"got {shown(value)}", "Give two numbers, the lower end first")
    return [low, high]


def _texts(value: Any, where: str) -> tuple[str, ...]:
    return tuple(_text(line, f"{where}[{k}]") for k, line in enumerate(listed(value, where, 0, MAX_TRIES)))


def _text(value: Any, where: str) -> str:
    if not check_text(value, where).strip():
        raise InvalidInput(where, "is empty", "Give a string")
    return str(value)


# What fields of a lesson are called as arguments.
_GIVEN_AS = {"reveal": "answer", "sweep": "flag", "axis": "flag"}


def lesson_of(scene: Scene, question: Any, flag: Any, answer: Any, **others: Any) -> dict[str, Any]:
    """Return the checked dict of a lesson about `scene`; `others` are as `Playground.make_lesson` describes them."""
    shown_now = {field: part for field, part in scene.to_json().items() if field not in KEPT}
    value = {"name": others.pop("name"), "question": question, "scene": shown_now}
    predict = {field: others.pop(field) for field in ("metric", "aggregate", "generator", "then")}
    if flag is not None:
        value["predict"] = _prediction_of(scene, flag, predict)
    if answer is not None:
        value["reveal"] = answer
    value.update({field: part for field, part in others.items() if part is not None})
    if "tries" in value:
        value["tries"] = list(value["tries"]) if isinstance(value["tries"], tuple) else value["tries"]
    try:
        Lesson.parse(value)
    except InvalidInput as error:
        field = error.argument.removeprefix("lesson.").removeprefix("predict.")
        raise InvalidInput(_GIVEN_AS.get(field, field), error.seen, error.fix) from None
    return value


def _prediction_of(scene: Scene, flag: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the flag is about: a parameter that is swept, or a score between two numbers."""
    metric = scene.view["metric"]
    prediction = {
        "metric": metric if metric in CLOSED else CLOSED[0],
        "aggregate": "avg",
        "generator": _first_swept(scene),
        **{field: part for field, part in settings.items() if part is not None and field != "then"},
    }
    if isinstance(flag, str):
        return {**prediction, "best": "min", "sweep": flag}
    if not isinstance(flag, (tuple, list)):
        fix = f"Give a parameter, one of {', '.join(SWEPT['gaussian'])}, or two numbers to guess a score between"
        raise InvalidInput("flag", f"got {shown(flag)}", fix)
    if settings["then"] is None:
        fix = "State what Reveal changes, such as then={'samples': 20}, or then=lab.scene of the scene to show"
        raise InvalidInput("then", "is missing, and the scores of the current scene can be read in its table", fix)
    return {**prediction, "best": "value", "axis": list(flag), "then": _changes_json(settings["then"])}


def _first_swept(scene: Scene) -> str:
    """Return the name of the first generator with a shape of its own, or else of the first."""
    swept = (item.name for item in scene.generators if item.kind in (*SWEPT, "bumps"))
    return next(swept, scene.generators[0].name)


def _changes_json(changes: Any) -> Any:
    return {f: v for f, v in changes.items() if f not in KEPT} if isinstance(changes, Mapping) else changes
