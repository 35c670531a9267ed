"""The comparison of two runs over the same clients: what does not match, and whose best checkpoint is better.

Which of two best steps is better is asked of the steps of both runs together (best_checkpoints.py), so that having had
many steps to choose from helps neither: where no step of one run is in the set that holds the best of all but for
chance, the other run is better by more than chance. Their noise is drawn together, which needs the same rows of the
clients.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InvalidInput, check_text, printable, shown
from ...ranking import same_scores
from .best_checkpoints import MAX_COMPARED_STEPS, PARTS, best_step, is_best_within_chance, noise_draws
from .history import WEIGHT_ROUNDING, Line, RunHistory
from .live_run import LiveRun
from .page_encoding import describe_run, encode_history, judge_run
from .run import Run

MAX_NAME_LETTERS = 60
# Clients' means and variances that differ by less than this share are the same but for rounding.
CENTRE_ROUNDING = 1e-6


class RunComparison:
    """Another run beside a Monitor's own.

    Parameters
    ----------
    run : the other run
    name : what it is called, "" for nothing
    """

    def __init__(self, run: Run, name: str = "") -> None:
        self.run, self.name = run, name
        self._cache: tuple[Any, dict[str, Any]] = (None, {})

    @classmethod
    def of(cls, other: Any, own: LiveRun, name: Any) -> RunComparison:
        """The comparison with a run, a Monitor or a folder; InvalidInput where it cannot be compared with `own`."""
        run = other if isinstance(other, Run) else getattr(other, "_live_run", None)
        if run is None:
            if not isinstance(other, str) and not hasattr(other, "__fspath__"):
                raise InvalidInput("other", f"got {shown(other)}", "Give a Monitor, or the folder of a run")
            run = LiveRun.open(other)
            name = name or printable(run.path.name, MAX_NAME_LETTERS)
        if run is own:
            raise InvalidInput("other", "is this run itself", "Give another one")
        if why := why_incomparable(own.history, run.history):
            raise InvalidInput("other", why, "Compare runs of the same clients, by the same metric")
        return cls(run, check_text(name, "name")[:MAX_NAME_LETTERS])

    def encode(self, own: RunHistory) -> dict[str, Any]:
        """Encode the other run for the page, {"name", "run", "past", "why"}, of the lines that can be compared."""
        history = self.run.history
        key = (history, tuple(own.lines), why_incomparable(own, history))
        if self._cache[0] != key:
            message: dict[str, Any] = {"name": self.name, "why": key[2]}
            if not key[2]:
                past = encode_history(history)
                both = [name for name in past["lines"] if name in own.lines]
                lines = {n: past["lines"][n] for n in both if not why_line_incomparable(own, history, n)}
                message |= {"run": describe_run(history, False), "past": {"lines": lines, "id": 0}}
            self._cache = key, message
        return self._cache[1]

    def judge(self, own: Run, shares: Any) -> dict[str, Any]:
        """Return the other run's best checkpoints under weights, see page_encoding.py, and sentences on both runs."""
        history = self.run.history
        if why_incomparable(own.history, history):
            return {}
        is_own = np.allclose(history.weights, shares, rtol=0, atol=WEIGHT_ROUNDING)
        judgement = judge_run(self.run, shares, bool(is_own), is_whole=False)
        return {"lines": judgement["lines"], "words": self.sentences(own.history, shares)}

    def sentences(self, own: RunHistory, shares: Any = None) -> dict[str, str]:
        """Say of each line of `own` whose best step is better, and whether by more than chance.

        `shares` : weights, by default those of `own`
        """
        other = self.run.history
        if why := why_incomparable(own, other):
            return dict.fromkeys(own.lines, f"The other run {why}.")
        if shares is not None and not np.allclose(own.weights, shares, rtol=0, atol=WEIGHT_ROUNDING):
            own = own.with_weights(shares)
        sides = [own, other.with_weights(own.weights)]
        return {name: why_line_incomparable(own, other, name) or _sentence(sides, name) for name in own.lines}


def why_incomparable(first: RunHistory, second: RunHistory) -> str:
    """Say why no score of two runs can be compared; "" where they can, or too little is known yet."""
    if first.names != second.names:
        return f"has other clients: {shown(list(second.names))}"
    if not set(first.metrics) & set(second.metrics):
        return f"has other metrics: {shown(list(second.metrics))}"
    centres = [_centres(history) for history in (first, second)]
    if not all(centres):
        return ""
    rows = [sides[-1] for sides in centres]
    if rows[0].shape != rows[1].shape:
        return f"has {rows[1].shape[1] - 1} features, this one {rows[0].shape[1] - 1}"
    size = np.abs(rows[0]).max(axis=0)
    apart = (np.abs(rows[0] - rows[1]) > CENTRE_ROUNDING * np.maximum(size, 1e-300)).any(axis=1)
    named = [name for name, is_apart in zip(first.names, apart, strict=True) if is_apart]
    return f"was scored against other rows of {shown(named)}" if named else ""


def why_line_incomparable(first: RunHistory, second: RunHistory, name: str) -> str:
    """Say why a line of two runs is not compared; "" where it is."""
    label = first.lines[name].facts.label
    if name not in second.lines:
        return f"The other run has no {label} yet." if name in second.metrics else f"The other run has no {label}."
    lines = [history.lines[name] for history in (first, second)]
    counts = [line.points[0].count or 0 for line in lines]
    if counts[0] != counts[1] and not lines[0].facts.mixes:
        return f"{label} is not compared: this run has {counts[0]:,} generated rows a step, the other {counts[1]:,}."
    return ""


def _centres(history: RunHistory) -> list[np.ndarray]:
    """Return variance and mean of the clients' features, of each segment where they are known."""
    arrays = [history.array(segment.frames.get("centres")) for segment in history.segments]
    return [c for c in arrays if c is not None and c.ndim == 2 and len(c) == len(history.names)]


def _sentence(sides: list[RunHistory], name: str) -> str:
    lines = [history.lines[name] for history in sides]
    verdicts = {part: _verdict(sides, lines, part) for part in PARTS}
    avg, of_all = lines[0].label_of("avg"), lines[0].label_of("all")
    if lines[0].facts.of:
        return f"Best of both runs by {avg}: {verdicts['avg']}."
    if verdicts["avg"] == verdicts["all"]:
        return f"Best of both runs by {avg} and {of_all}: {verdicts['all']}."
    return f"Best of both runs by {avg}: {verdicts['avg']}. By {of_all}: {verdicts['all']}."


def _verdict(sides: list[RunHistory], lines: list[Line], part: str) -> str:
    """Say which step of which run avg or all would keep, and whether by more than chance."""
    steps, places = zip(*((one.step, one.place) for one in (best_step(line, part) for line in lines)), strict=True)
    if None in steps:
        return "none, because one of them has no score"
    losses = [line.facts.losses(getattr(line, part))[place] for line, place in zip(lines, places, strict=True)]
    if same_scores(*losses):
        return f"step {steps[0]:,} of this run and step {steps[1]:,} of the other, equally"
    ahead = int(losses[1] < losses[0])
    whose = ("this run", "the other")
    verdict = f"step {steps[ahead]:,} of {whose[ahead]}, not {steps[1 - ahead]:,} of {whose[1 - ahead]}"
    by_chance = _could_be_chance(sides, lines, part, 1 - ahead)
    if by_chance is None:
        return f"{verdict} (unknown whether by more than chance)"
    return f"{verdict} ({'could be chance' if by_chance else 'more than chance'})"


def _could_be_chance(sides: list[RunHistory], lines: list[Line], part: str, behind: int) -> bool | None:
    """Whether a step of the run that is behind may be the best of both runs; None where their noise is not known."""
    rows = [centres for history in sides for centres in _centres(history)]
    if not rows or any(not np.array_equal(rows[0], other) for other in rows):
        return None  # other rows, or in another order: their noise is not drawn together
    losses = [line.facts.losses(getattr(line, part)) for line in lines]
    if all(point.count == 0 for line in lines for point in line.points):
        return False  # distributions: exact
    steps = [(loss, side, place) for side in (0, 1) for place, loss in enumerate(losses[side]) if np.isfinite(loss)]
    steps.sort()
    steps = [*steps[:MAX_COMPARED_STEPS], *[step for step in steps[MAX_COMPARED_STEPS:] if step[1] == behind][:1]]
    noise = [noise_draws(sides[side], lines[side], place, part) for _, side, place in steps]
    draws = [own for own in noise if own is not None]
    if len(draws) < len(noise) or len({len(own) for own in draws}) != 1:
        return None
    may_be_best = is_best_within_chance(np.array([loss for loss, _, _ in steps]), np.stack(draws))
    return any(is_in and side == behind for (_, side, _), is_in in zip(steps, may_be_best, strict=True))
