"""A teacher's own lesson, made from the scene that a Playground shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import InvalidInput, shown
from .lessons import CLOSED, KEPT, SWEPT, Lesson
from .scene import Scene

# What fields of a lesson are called as arguments.
_GIVEN_AS = {"reveal": "answer", "sweep": "flag", "axis": "flag"}


def lesson_of(scene: Scene, question: Any, flag: Any, answer: Any, **others: Any) -> dict[str, Any]:
    """The dict of a lesson about `scene`, checked; `others` are as `Playground.make_lesson` describes them."""
    shown_now = {field: part for field, part in scene.to_json().items() if field not in KEPT}
    value = {"name": others.pop("name"), "question": question, "scene": shown_now}
    predict = {field: others.pop(field) for field in ("metric", "aggregate", "generator", "then")}
    if flag is not None:
        value["predict"] = _predict(scene, flag, predict)
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


def _predict(scene: Scene, flag: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What the flag is about: a parameter that is swept, or a score between two numbers."""
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
        fix = "Say what Reveal changes, such as then={'samples': 20}, or then=lab.scene of what it is to show"
        raise InvalidInput("then", "is missing, and the scores of the present scene can be read in its table", fix)
    return {**prediction, "best": "value", "axis": list(flag), "then": _json(settings["then"])}


def _first_swept(scene: Scene) -> str:
    """The first generator with a shape of its own, or else the first."""
    swept = (item.name for item in scene.generators if item.kind in (*SWEPT, "bumps"))
    return next(swept, scene.generators[0].name)


def _json(changes: Any) -> Any:
    return {f: v for f, v in changes.items() if f not in KEPT} if isinstance(changes, Mapping) else changes
