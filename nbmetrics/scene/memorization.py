"""MemorizationScene: what MemorizationLab shows, a generator that repeats some of what it learnt from.

    {"rev": 3, "preset": "Half copied", "data": "moons", "copied": 0.5, "jitter": 0.0, "bandwidth": 0.0, "spread": 1.0,
     "points": 400, "seed": 0, "view": {"panel", "sweep", "sort"}, "selected": null, "lesson": null}

A generated point is honest (a fresh draw; with a `bandwidth`, a draw from a kernel density around the train points)
or, for the share `copied`, a train point moved by N(0, jitter²); then all are drawn `spread` times as far from their
mean. `selected` is the generated point in focus, None where there is no such point (any more).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Any

from ..errors import InvalidInput, check_choice, check_count, check_number, shown
from .reading import fields_of

DATA = ("moons", "digits", "own")
SLIDERS = {"copied": (0.0, 1.0), "jitter": (0.0, 1.0), "bandwidth": (0.0, 10.0), "spread": (0.1, 3.0)}
# An honest generator.
NEUTRAL = {"copied": 0.0, "jitter": 0.0, "bandwidth": 0.0, "spread": 1.0}
POINTS = (20, 1000)
MOST_SEEDS = 2**31
VIEW = {"panel": "cards", "sweep": "copied", "sort": "memorization"}
CHOICES: dict[str, tuple[str, ...]] = {
    "panel": ("cards", "curve", "items", "interactions"),
    "sweep": tuple(SLIDERS),
    "sort": ("memorization", "quality"),
}
# The scores on the cards, in their order.
LABELS = {
    "fld": "FLD",
    "fld_train": "FLD-train",
    "fld_gap": "FLD gap",
    "fid_train": "FID-train",
    "fid_test": "FID-test",
    "c_t": "C_T",
    "auth_pct": "AuthPct",
    "precision": "precision",
    "recall": "recall",
}
LESSON = {"name", "guess", "revealed"}
GUESSED = ("fid_test", "fld")
LONGEST_NAME = 200


@dataclass(frozen=True)
class MemorizationScene:
    """Train, test and generated points, and how the generated ones come about."""

    data: str = "moons"
    copied: float = 0.0
    jitter: float = 0.0
    bandwidth: float = 0.0
    spread: float = 1.0
    points: int = 400
    seed: int = 0
    view: Mapping[str, str] = field(default_factory=lambda: dict(VIEW))
    selected: int | None = None
    lesson: Mapping[str, Any] | None = None
    preset: str = ""
    rev: int = 0

    @classmethod
    def parse(cls, value: Any) -> MemorizationScene:
        """A scene from a dict (or JSON text); raises `InvalidInput` naming the field that is wrong."""
        value = fields_of(value, cls.__dataclass_fields__)
        data = check_choice(value.get("data", "moons"), DATA, "data")
        points = check_count(value.get("points", 400), "points")
        if data != "own":
            check_number(points, "points", minimum=POINTS[0], maximum=POINTS[1])
        return cls(
            data=data,
            **_sliders(value, data),
            points=points,
            seed=int(
                check_number(
                    check_count(value.get("seed", 0), "seed", minimum=0), "seed", minimum=0, maximum=MOST_SEEDS
                )
            ),
            view=_view(value.get("view", {})),
            selected=_selected(value.get("selected"), points),
            lesson=_lesson(value.get("lesson")),
            preset=_text(value.get("preset", ""), "preset"),
            rev=check_count(value.get("rev", 0), "rev", minimum=0),
        )

    def to_json(self) -> dict[str, Any]:
        """The dict that `parse` reads and the view shows."""
        return asdict(self)

    def at(self, rev: int) -> MemorizationScene:
        """The same scene as revision `rev`."""
        return replace(self, rev=rev)

    @property
    def key(self) -> str:
        """What the points depend on, beside the sliders."""
        return f"{self.data} {self.points} {self.seed}"

    @property
    def bare(self) -> MemorizationScene:
        """The same points, without what only the page minds."""
        return replace(self, view=VIEW, selected=None, lesson=None, preset="", rev=0)

    def to_code(self, has_items: bool = False) -> str:
        """Python that rebuilds exactly this scene, and its cards as a table; `has_items` of the user's own rows."""
        settings = {name: value for name in NEUTRAL if (value := getattr(self, name)) != NEUTRAL[name]}
        given = "".join(f", {name}={int(x) if x == int(x) else x!r}" for name, x in settings.items())
        start = f'nm.MemorizationLab(data="{self.data}"{given}, points={self.points}, seed={self.seed})'
        if self.data == "own":
            items, images = (", items=items", ", and their images") if has_items else ("", "")
            start = f"nm.MemorizationLab(train, test, generated{items}, seed={self.seed})"
            start += f"  # your own rows of features (n, d){images}"
        lines = ["import nbmetrics as nm", "", f"lab = {start}", "print(lab.scores())", "lab", ""]
        return "\n".join(lines)


@cache
def presets() -> dict[str, MemorizationScene]:
    """The scenes that come with the package, by name."""
    text = resources.files(__package__).joinpath("memorizing.json").read_text("utf-8")
    return {name: MemorizationScene.parse({**scene, "preset": name}) for name, scene in json.loads(text).items()}


def _sliders(value: Mapping[str, Any], data: str) -> dict[str, float]:
    found = {
        name: check_number(value.get(name, NEUTRAL[name]), name, minimum=low, maximum=high)
        for name, (low, high) in SLIDERS.items()
    }
    for name, at in found.items():
        if data == "own" and at != NEUTRAL[name]:
            fix = f"Leave it at {NEUTRAL[name]:g}, or choose data 'moons' or 'digits'"
            raise InvalidInput(name, f"is {at:g}, and your own generated rows are shown as they are", fix)
    return found


def _view(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or not set(value) <= set(VIEW):
        raise InvalidInput("view", f"got {shown(value)}", f"Give the fields {', '.join(VIEW)}")
    return {name: check_choice(value.get(name, VIEW[name]), CHOICES[name], f"view.{name}") for name in VIEW}


def _selected(value: Any, points: int) -> int | None:
    index = None if value is None else check_count(value, "selected", minimum=0)
    return None if index is None or index >= points else index


def _lesson(value: Any) -> dict[str, Any] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or set(value) != LESSON or not isinstance(value["revealed"], bool):
        raise InvalidInput("lesson", f"got {shown(value)}", "Give the fields name, guess and revealed (True or False)")
    guess = value["guess"]
    if guess is not None:
        if not isinstance(guess, Mapping) or not set(guess) <= set(GUESSED):
            raise InvalidInput("lesson.guess", f"got {shown(guess)}", f"Give shares for {' and '.join(GUESSED)}")
        guess = {
            name: None if share is None else check_number(share, f"lesson.guess.{name}", minimum=0, maximum=1)
            for name, share in guess.items()
        }
    return {"name": _text(value["name"], "lesson.name"), "guess": guess, "revealed": value["revealed"]}


def _text(value: Any, argument: str) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_NAME:
        raise InvalidInput(argument, f"got {shown(value)}", "Give a short text")
    return value
