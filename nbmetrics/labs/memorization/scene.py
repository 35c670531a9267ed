"""MemorizationScene: what MemorizationLab shows, a generator that repeats some of what it learnt from.

Twin: labs/memorization/view/code.js · held by: tests/labs/memorization/test_page_maths.py
Twin: labs/memorization/view/shape.js · held by: tests/labs/toolkit/test_share_page.py

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

from ...errors import LONGEST_NAME, InvalidInput, check_choice, check_number, check_text
from ..toolkit.fields import facts, fields_of, flag, number, scene_fields, whole

DATA = ("moons", "digits", "own")
SLIDERS: dict[str, dict[str, Any]] = facts(__package__, "sliders.json")
# Those of an honest generator.
NEUTRAL: dict[str, float] = {name: slider["neutral"] for name, slider in SLIDERS.items() if "neutral" in slider}
POINTS: tuple[int, int] = tuple(SLIDERS["points"]["range"])
VIEW = {"panel": "cards", "sweep": "copied", "sort": "memorization"}
CHOICES: dict[str, tuple[str, ...]] = {
    "panel": ("cards", "curve", "items", "interactions"),
    "sweep": tuple(NEUTRAL),
    "sort": ("memorization", "quality"),
}
# The scores, in their order.
CARDS: dict[str, dict[str, str]] = facts(__package__, "cards.json")
LABELS = {name: card["label"] for name, card in CARDS.items()}
OWN_SCENE = "Your own"
LESSON = {"name", "guess", "revealed"}
GUESSED = ("fid_test", "fld")


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
        value = scene_fields(value, cls.__dataclass_fields__)
        data = check_choice(value.get("data", "moons"), DATA, "data")
        points = whole(value.get("points", 400), "points")
        if data != "own":
            check_number(points, "points", minimum=POINTS[0], maximum=POINTS[1])
        return cls(
            data=data,
            **_sliders(value, data),
            points=points,
            seed=whole(value.get("seed", 0), "seed"),
            view=_view(value.get("view", {})),
            selected=_selected(value.get("selected"), points),
            lesson=_lesson(value.get("lesson")),
            preset=check_text(value.get("preset", ""), "preset", LONGEST_NAME),
            rev=whole(value.get("rev", 0), "rev"),
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

    @property
    def words(self) -> str:
        """How the generated rows come about, in a sentence."""
        if self.data == "own":
            return "The generated rows are as given."
        others = f"from a kernel density of bandwidth {self.bandwidth:g}" if self.bandwidth else "fresh draws"
        moved = f", moved by {self.jitter:g}" if self.jitter else ""
        copies = f"{self.copied:.0%} of the generated are train points{moved}"
        return f"{copies}, the others {others}; spread {self.spread:g}."

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
    text = resources.files(__package__).joinpath("presets.json").read_text("utf-8")
    return {name: MemorizationScene.parse({**scene, "preset": name}) for name, scene in json.loads(text).items()}


def starting_scene(preset: str | None, settings: Mapping[str, Any]) -> MemorizationScene:
    """A preset with some settings changed, under the name of the preset that it then equals, or the user's own."""
    known = presets()
    begun = known[check_choice("Honest" if preset is None else preset, known, "preset")]
    scene = MemorizationScene.parse({**begun.to_json(), **settings})
    same = (name for name, other in known.items() if replace(scene, preset=name, view=other.view) == other)
    return replace(scene, preset=begun.preset if scene == begun else next(same, OWN_SCENE))


def _sliders(value: Mapping[str, Any], data: str) -> dict[str, float]:
    found = {name: number(value.get(name, neutral), name) for name, neutral in NEUTRAL.items()}
    for name, at in found.items():
        if data == "own" and at != NEUTRAL[name]:
            fix = f"Leave it at {NEUTRAL[name]:g}, or choose data 'moons' or 'digits'"
            raise InvalidInput(name, f"is {at:g}, and your own generated rows are shown as they are", fix)
    return found


def _view(value: Any) -> dict[str, str]:
    fields_of(value, VIEW, (), "view")
    return {name: check_choice(value.get(name, VIEW[name]), CHOICES[name], f"view.{name}") for name in VIEW}


def _selected(value: Any, points: int) -> int | None:
    index = None if value is None else whole(value, "selected")
    return None if index is None or index >= points else index


def _lesson(value: Any) -> dict[str, Any] | None:
    if value is None:
        return None
    fields_of(value, LESSON, LESSON, "lesson")
    guess = value["guess"]
    if guess is not None:
        guess = {
            name: None if share is None else number(share, name, f"lesson.guess.{name}")
            for name, share in fields_of(guess, GUESSED, (), "lesson.guess").items()
        }
    name = check_text(value["name"], "lesson.name", LONGEST_NAME)
    return {"name": name, "guess": guess, "revealed": flag(value["revealed"], "lesson.revealed")}
