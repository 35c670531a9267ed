"""MemorizationScene: what MemorizationLab shows, a generator that repeats some of what it learnt from.

Its fields and its code are declared in scene.json, which the page reads too.

A generated point is honest (a fresh draw; with a `bandwidth`, a draw from a kernel density around the train points)
or, for the share `copied`, a train point moved by N(0, jitter²); then all are drawn `spread` times as far from their
mean. `selected` is the generated point in focus, None where there is no such point (any more).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ...errors import InvalidInput, check_choice
from ..toolkit.fields import facts
from ..toolkit.schema import DeclaredScene, choices

SLIDERS: dict[str, dict[str, Any]] = facts(__package__, "sliders.json")
POINTS: tuple[int, int] = tuple(SLIDERS["points"]["range"])
# The scores, in their order.
CARDS: dict[str, dict[str, str]] = facts(__package__, "cards.json")
LABELS = {name: card["label"] for name, card in CARDS.items()}
OWN_SCENE = "Your own"


@dataclass(frozen=True)
class MemorizationScene(DeclaredScene):
    """Train, test and generated points, and how the generated ones come about."""

    data: str
    copied: float
    jitter: float
    bandwidth: float
    spread: float
    points: int
    seed: int
    view: Mapping[str, str]
    selected: int | None
    lesson: Mapping[str, Any] | None

    @classmethod
    def complete(cls, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the fields, without a `selected` point that is not there."""
        is_there = fields["selected"] is not None and fields["selected"] < fields["points"]
        return {**fields, "selected": fields["selected"] if is_there else None}

    def check(self) -> None:
        """Raise `InvalidInput` where there are too many points, or sliders beside rows that are shown as they are."""
        if self.data != "own":
            if not POINTS[0] <= self.points <= POINTS[1]:
                raise InvalidInput("points", f"got {self.points}", f"Give a number from {POINTS[0]} to {POINTS[1]}")
            return
        for name, neutral in NEUTRAL.items():
            if (value := getattr(self, name)) != neutral:
                fix = f"Leave it at {neutral:g}, or choose data 'moons' or 'digits'"
                raise InvalidInput(name, f"is {value:g}, and your own generated rows are shown as they are", fix)

    @property
    def key(self) -> str:
        """What the points depend on, beside the sliders."""
        return f"{self.data} {self.points} {self.seed}"

    @property
    def bare(self) -> MemorizationScene:
        """The same points, without what only the page minds."""
        return replace(self, view=_VIEW, selected=None, lesson=None, preset="", rev=0)

    @property
    def words(self) -> str:
        """How the generated rows come about, in a sentence."""
        if self.data == "own":
            return "The generated rows are as given."
        others = f"from a kernel density of bandwidth {self.bandwidth:g}" if self.bandwidth else "fresh draws"
        moved = f", moved by {self.jitter:g}" if self.jitter else ""
        copies = f"{self.copied:.0%} of the generated are train points{moved}"
        return f"{copies}, the others {others}; spread {self.spread:g}."

    def to_code(self, making: str = "") -> str:
        """Return Python that rebuilds exactly this scene, and its cards as a table."""
        return self.fill_template("own" if self.data == "own" else "code")


# The sliders of an honest generator.
NEUTRAL: dict[str, float] = {
    name: MemorizationScene.declared["fields"][name]["default"] for name in SLIDERS if name != "points"
}
CHOICES = {name: choices(MemorizationScene, "view", name) for name in ("panel", "sweep", "sort")}
_VIEW = MemorizationScene.parse({}).view


@cache
def presets() -> dict[str, MemorizationScene]:
    """Return the scenes that come with the package, by name."""
    return MemorizationScene.presets()


def starting_scene(preset: str | None, settings: Mapping[str, Any]) -> MemorizationScene:
    """A preset with some settings changed, under the name of the preset that it then equals, or the user's own."""
    known = presets()
    begun = known[check_choice("Honest" if preset is None else preset, known, "preset")]
    scene = MemorizationScene.parse({**begun.to_json(), **settings})
    same = (name for name, other in known.items() if replace(scene, preset=name, view=other.view) == other)
    return replace(scene, preset=begun.preset if scene == begun else next(same, OWN_SCENE))
