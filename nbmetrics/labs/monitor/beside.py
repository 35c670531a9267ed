"""Two runs over the same clients, side by side: what does not match, and whose best checkpoint is better.

Which of two best steps is better is asked of the steps of both runs together (best.py), so that having had many steps
to choose from helps neither: where no step of one run is in the set that holds the best of all but for chance, the
other run is better by more than chance. Their noise is drawn together, which needs the same rows of the clients.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InvalidInput, check_text, printable, shown
from ...ranking import same_scores
from .best import MOST_COMPARED, PARTS, best, noise, within_chance
from .history import History, Line
from .packed import packed
from .recording import Recording
from .run import Run
from .telling import judged, run_of

LONGEST_NAME = 60
# Of the clients' means and variances: what is left of a difference by rounding.
ROUNDING = 1e-6


class Beside:
    """Another run beside a Monitor's own.

    Parameters
    ----------
    run : the other; `name` : what it is called, "" for nothing
    """

    def __init__(self, run: Run, name: str = "") -> None:
        self.run, self.name = run, name
        self._told: tuple[Any, dict[str, Any]] = (None, {})

    @classmethod
    def of(cls, other: Any, own: Recording, name: Any) -> Beside:
        """InvalidInput where it is no run, or one that cannot stand beside `own`."""
        run = other if isinstance(other, Run) else getattr(other, "_record", None)
        if run is None:
            if not isinstance(other, str) and not hasattr(other, "__fspath__"):
                raise InvalidInput("other", f"got {shown(other)}", "Give a Monitor, or the folder of a run")
            run = Recording.open(other)
            name = name or printable(run.path.name, LONGEST_NAME)
        if run is own:
            raise InvalidInput("other", "is this run itself", "Give another one")
        if why := why_apart(own.history, run.history):
            raise InvalidInput("other", why, "Compare runs of the same clients, by the same metric")
        return cls(run, check_text(name, "name")[:LONGEST_NAME])

    def told(self, own: History) -> dict[str, Any]:
        """{"name", "run", "past", "why"} as the page gets it, see packed.py, of the lines that can be compared."""
        history = self.run.history
        key = (history, tuple(own.lines), why_apart(own, history))
        if self._told[0] != key:
            found: dict[str, Any] = {"name": self.name, "why": key[2]}
            if not key[2]:
                past = packed(history)
                lines = {n: line for n, line in past["lines"].items() if not why_not(own, history, n)}
                found |= {"run": run_of(history, False), "past": {"lines": lines, "id": 0}}
            self._told = key, found
        return self._told[1]

    def judged(self, own: Run, shares: Any) -> dict[str, Any]:
        """What follows for the other run under weights, see telling.py, and the words of both."""
        history = self.run.history
        if why_apart(own.history, history):
            return {}
        is_given = np.allclose(history.weights, shares, rtol=0, atol=1e-12)
        found = judged(self.run, shares, bool(is_given), is_whole=False)
        return {"lines": found["lines"], "words": self.words(own.history, shares)}

    def words(self, own: History, shares: Any = None) -> dict[str, str]:
        """A sentence for each line of `own`: whose best step is better, and whether by more than chance."""
        other = self.run.history
        if why := why_apart(own, other):
            return dict.fromkeys(own.lines, f"The other run {why}.")
        sides = [own, other.with_weights(own.weights if shares is None else shares)]
        return {name: why_not(own, other, name) or _words(sides, name) for name in own.lines}


def why_apart(first: History, second: History) -> str:
    """Why no score of a run can stand beside those of another, "" where they can or too little is known yet."""
    if first.names != second.names:
        return f"is of other clients: {shown(list(second.names))}"
    if not set(first.metrics) & set(second.metrics):
        return f"has other metrics: {shown(list(second.metrics))}"
    centres = [_centres(history) for history in (first, second)]
    if not all(centres):
        return ""
    rows = [sides[-1] for sides in centres]
    if rows[0].shape != rows[1].shape:
        return f"has {rows[1].shape[1] - 1} features, and this one {rows[0].shape[1] - 1}"
    size = np.abs(rows[0]).max(axis=0)
    apart = (np.abs(rows[0] - rows[1]) > ROUNDING * np.maximum(size, 1e-300)).any(axis=1)
    named = [name for name, is_apart in zip(first.names, apart, strict=True) if is_apart]
    return f"was scored against other rows of {shown(named)}" if named else ""


def why_not(first: History, second: History, name: str) -> str:
    """Why a line has none beside it, as a sentence."""
    label = first.lines[name].facts.label
    if name not in second.lines:
        return f"The other run has no {label} yet." if name in second.metrics else f"The other run has no {label}."
    lines = [history.lines[name] for history in (first, second)]
    counts = [line.points[0].count or 0 for line in lines]
    if counts[0] != counts[1] and not lines[0].facts.mixes:
        return (
            f"{label} is not compared: here it is of {counts[0]:,} generated rows, in the other run of {counts[1]:,}."
        )
    return ""


def _centres(history: History) -> list[np.ndarray]:
    """Variance and mean of the clients' features, of each segment where they are known."""
    found = [history.array(segment.frames.get("centres")) for segment in history.segments]
    return [c for c in found if c is not None and c.ndim == 2 and len(c) == len(history.names)]


def _words(sides: list[History], name: str) -> str:
    lines = [history.lines[name] for history in sides]
    label, said = lines[0].facts.label, {part: _verdict(sides, lines, part) for part in PARTS}
    if said["avg"] == said["all"]:
        return f"Of both runs, {label}-avg and {label}-all would keep {said['all']}."
    return f"Of both runs, {label}-avg would keep {said['avg']}. {label}-all would keep {said['all']}."


def _verdict(sides: list[History], lines: list[Line], part: str) -> str:
    """What is kept by avg or all, and of which run, and whether by more than chance."""
    steps, places = zip(*((one.step, one.place) for one in (best(line, part) for line in lines)), strict=True)
    if None in steps:
        return "nothing, as one of them has no score"
    losses = [line.facts.losses(getattr(line, part))[place] for line, place in zip(lines, places, strict=True)]
    if same_scores(*losses):
        return f"step {steps[0]:,} of this one as well as {steps[1]:,} of the other"
    ahead = int(losses[1] < losses[0])
    whose = ("this one", "the other")
    said = f"step {steps[ahead]:,} of {whose[ahead]}, not {steps[1 - ahead]:,} of {whose[1 - ahead]}"
    by_chance = _could_be_chance(sides, lines, part, 1 - ahead)
    if by_chance is None:
        return f"{said}: whether by more than chance is not known here"
    return f"{said}: {'could be chance' if by_chance else 'more than chance'}"


def _could_be_chance(sides: list[History], lines: list[Line], part: str, behind: int) -> bool | None:
    """Whether a step of the run that is behind may be the best of both runs; None where their noise is not known."""
    rows = [centres for history in sides for centres in _centres(history)]
    if not rows or any(not np.array_equal(rows[0], other) for other in rows):
        return None  # other rows, or in another order: their noise is not drawn together
    losses = [line.facts.losses(getattr(line, part)) for line in lines]
    if all(point.count == 0 for line in lines for point in line.points):
        return False  # distributions: exact
    steps = [(loss, side, place) for side in (0, 1) for place, loss in enumerate(losses[side]) if np.isfinite(loss)]
    steps.sort()
    steps = [*steps[:MOST_COMPARED], *[step for step in steps[MOST_COMPARED:] if step[1] == behind][:1]]
    found = [noise(sides[side], lines[side], place, part) for _, side, place in steps]
    draws = [drawn for drawn in found if drawn is not None]
    if len(draws) < len(found) or len({len(drawn) for drawn in draws}) != 1:
        return None
    kept = within_chance(np.array([loss for loss, _, _ in steps]), np.stack(draws))
    return any(is_in and side == behind for (_, side, _), is_in in zip(steps, kept, strict=True))
