"""Alarms: what rules tell of a run, each with its step and a sentence, and the rule that a user makes.

A rule reads a history, which is done again whenever a log is read. It sounds at the step at which it is met, and again
only after a step at which it was not, or where what it watches has become far worse since. What several of the default
rules tell of one event is one alarm.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...errors import InvalidInput, check_choice, check_count, check_number
from .history import RunHistory

# As far from its best or lowest as so many times what was told: worth telling again.
FAR_WORSE = 4.0
# Alarms of one event come within so many scored steps of its first, while one of its rules is met.
EVENT_STEPS = 5


class Alarm(NamedTuple):
    """An alarm at its step: which rule, and a sentence."""

    step: int
    alarm: str
    words: str


class EventAlarm(Alarm):
    """An alarm with the steps from and to which its rule was met without a pause."""

    since: int
    until: int

    @classmethod
    def at(cls, place: int, steps: Any, met: Any, name: str, words: str) -> EventAlarm:
        """The alarm at a place of the steps, at which a rule was met or not."""
        alarm = cls(int(steps[place]), name, words)
        others = [other for other, is_met in enumerate(met) if not is_met]
        after = bisect(others, place)
        alarm.since = int(steps[others[after - 1] + 1 if after else 0])
        alarm.until = int(steps[others[after] - 1 if after < len(others) else -1])
        return alarm


class Rule(Protocol):
    """A rule that finds steps at which something may be wrong with a run."""

    @property
    def name(self) -> str: ...

    def find_alarms(self, history: RunHistory) -> Iterator[Alarm]:
        """Yield an alarm at each step at which the rule is met, and was not before."""
        ...


def onsets(met: Any, patience: int = 1, beyond: Any = None) -> Iterator[int]:
    """Yield the places at which a condition has been met so many times in a row, once each time.

    Where it stays met, it is yielded again at which `beyond` is `FAR_WORSE` times what it was when it was last yielded.
    """
    run, last = 0, math.inf
    for place, is_met in enumerate(met):
        run = run + 1 if is_met else 0
        is_far_worse = beyond is not None and run > patience and beyond[place] > FAR_WORSE * last
        if run == patience or is_far_worse:
            last = math.inf if beyond is None else beyond[place]
            yield place


def number_text(value: float) -> str:
    return f"{value:.4g}"


def percent_text(share: float) -> str:
    return f"{100.0 * share:.2g} %" if share >= 0.01 else "less than 1 %"


@dataclass(frozen=True)
class Threshold:
    """A column rises above its lowest value so far, or falls below its highest, by a share; see `Monitor.alarm`."""

    column: str
    rises: float | None
    falls: float | None
    for_: int

    @property
    def name(self) -> str:
        return f"{self.column} rises" if self.rises is not None else f"{self.column} falls"

    @classmethod
    def of(cls, column: Any, rises: Any, falls: Any, for_: Any) -> Threshold:
        """A threshold with checked arguments; InvalidInput names the one that is wrong."""
        if not isinstance(column, str) or not column:
            raise InvalidInput("column", f"got {column!r}", "Give a column, such as 'fid_all', or the name of a loss")
        if (rises is None) == (falls is None):
            raise InvalidInput("rises", "rises or falls is needed, not both", "Give one of them, such as rises=0.5")
        limits = {"minimum": 0.0, "maximum": 1e6}
        up = None if rises is None else check_number(rises, "rises", **limits)
        down = None if falls is None else check_number(falls, "falls", **limits)
        return cls(column, up, down, check_count(for_, "for_", maximum=1_000_000))

    def find_alarms(self, history: RunHistory) -> Iterator[Alarm]:
        steps, values = column(history, self.column)
        sign, share = (1, self.rises) if self.rises is not None else (-1, self.falls)
        assert share is not None
        extreme, extreme_before, met, beyond = math.nan, [], [], []
        for value in values:
            extreme_before.append(extreme)
            beyond.append(sign * (value - extreme))
            met.append(bool(beyond[-1] > share * abs(extreme)))
            extreme = float(np.fmin(extreme, value) if sign > 0 else np.fmax(extreme, value))
        for place in onsets(met, self.for_, beyond):
            verb = "rose" if sign > 0 else "fell"
            end = "lowest" if sign > 0 else "highest"
            start, value = number_text(extreme_before[place]), number_text(values[place])
            words = f"{self.column} {verb} to {value}, from {start} at its {end}."
            yield Alarm(int(steps[place]), self.name, words)


def columns(history: RunHistory) -> list[str]:
    """Return the columns for alarms: `fid_avg`, `fid_all`, `fid_gap`, `fid_intra_avg` …, losses, and `variance`."""
    lines = {name: history.line(name).parts for name in dict.fromkeys([*history.metrics, *history.lines])}
    scores = [f"{name}_{part}" for name, parts in lines.items() for part in parts]
    return [*scores, *history.losses.columns[1:], "variance"]


def column(history: RunHistory, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return steps and values of a column; empty while there is none of that name yet."""
    line_name, _, part = name.rpartition("_")
    if line_name in history.lines and part in history.lines[line_name].parts:
        line = history.lines[line_name]
        return line.steps, getattr(line, part)
    if name in history.losses.columns[1:]:
        return history.losses["step"].to_numpy(), history.losses[name].to_numpy()
    if name == "variance":
        points = [point for point in history.points if point.is_scored]
        return np.array([p.step for p in points]), np.array([history.variance(p) for p in points])
    return np.array([], dtype=np.int64), np.array([])


def check_column(history: RunHistory, name: str) -> None:
    """Refuse the name of a column of scores that cannot come; a loss may come later, and so may intra."""
    names = [*columns(history), *(own for facts in history.intras if (own := f"{facts}_avg") == name)]
    line, _, part = name.rpartition("_")
    if line in history.metrics or part in ("avg", "all", "gap"):
        check_choice(name, names, "column")


def find_alarms(history: RunHistory, rules: Sequence[Rule]) -> list[Alarm]:
    """Find all alarms of a history, in the order of their steps; those of one event are joined."""
    alarms = [(place, alarm) for place, rule in enumerate(rules) for alarm in rule.find_alarms(history)]
    scored = np.array(sorted({int(step) for line in history.lines.values() for step in line.steps}), dtype=np.int64)
    alone = [alarm for _, alarm in alarms if not isinstance(alarm, EventAlarm)]
    joined = _join_events([(p, alarm) for p, alarm in alarms if isinstance(alarm, EventAlarm)], scored)
    return sorted([*alone, *joined], key=lambda alarm: alarm.step)


def _join_events(alarms: list[tuple[int, EventAlarm]], scored: np.ndarray) -> Iterator[Alarm]:
    """Join alarms within `EVENT_STEPS` scored steps of an event's first, by the name of its first rule.

    After a step at which none of its rules is met another event begins.
    """
    event: list[tuple[int, EventAlarm]] = []
    first = last = -1
    for place, alarm in sorted(alarms, key=lambda item: (item[1].step, item[0])):
        at, since, until = np.searchsorted(scored, (alarm.step, alarm.since, alarm.until))
        if event and (at > first + EVENT_STEPS or since > last + 1):
            yield _joined(event)
            event = []
        first, last = (first, max(last, until)) if event else (at, until)
        event.append((place, alarm))
    if event:
        yield _joined(event)


def _joined(event: Sequence[tuple[int, Alarm]]) -> Alarm:
    """Return one alarm for an event: the name of its first rule, and a sentence of each rule that adds one."""
    words: dict[str, str] = {}
    for _, alarm in sorted(event, key=lambda item: item[0]):
        words.setdefault(alarm.alarm, alarm.words)
    return Alarm(event[0][1].step, next(iter(words)), " ".join(words.values()))


Call = Callable[[Alarm], Any]
