"""What happened, as values: segments of a run and points of it; from events of a log, which are not trusted, and back.

A segment is one Monitor at work: its clients, weights and metrics. A point is one logged step of a segment: losses, and
scores where a generator was handed over and scored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import LONGEST_NAME, InvalidInput, check_names, check_weights
from .frames import Place
from .log import number_of

LAST_STEP = 2**53
MOST_CLIENTS, MOST_METRICS, MOST_LOSSES, MOST_REASONS = 10_000, 100, 1_000, 5
# A frame is named by what it holds.
Frame = Place | np.ndarray


@dataclass(frozen=True)
class MetricFacts:
    """What a line of scores is.

    Attributes
    ----------
    kind : "kid" where Theorem 1 holds, "fid", or ""
    mixes : whether scores of different numbers of rows belong on one line, being unbiased
    """

    name: str
    label: str
    higher_is_better: bool = False
    best: float | None = None
    kind: str = ""
    mixes: bool = False

    @classmethod
    def parse(cls, given: Any) -> MetricFacts:
        name, label, kind = (_text(given[key]) for key in ("name", "label", "kind"))
        best = None if given["best"] is None else number_of(given["best"])
        return cls(name, label, given["higher_is_better"] is True, best, kind, given["mixes"] is True)

    def losses(self, scores: np.ndarray) -> np.ndarray:
        """Scores as what steps are ranked by, lower is better."""
        if self.best is not None:
            return np.abs(scores - self.best)
        return -scores if self.higher_is_better else scores


@dataclass(frozen=True, eq=False)
class Segment:
    """One Monitor at work; `frames` : arrays of the clients, see `Scoring.facts`, and of `variance`, (1,)."""

    number: int
    names: tuple[str, ...]
    weights: tuple[float, ...]
    metrics: tuple[MetricFacts, ...]
    frames: Mapping[str, Frame] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        weights: Sequence[float],
        described: Sequence[Mapping[str, Any]],
        number: int,
        frames: Mapping[str, Frame] | None = None,
    ) -> Segment:
        """Of a scoring at work; `described` as `Scoring.described` says it."""
        metrics = tuple(MetricFacts.parse(metric) for metric in described)
        return cls(number, tuple(names), tuple(weights), metrics, frames or {})

    def position(self, metric: str) -> int:
        """Of a metric by its name, −1 where there is none."""
        return next((place for place, facts in enumerate(self.metrics) if facts.name == metric), -1)

    @classmethod
    def parse(cls, event: Mapping[str, Any], number: int) -> Segment:
        """ValueError, KeyError or TypeError where the event is none."""
        names, metrics = _list(event["names"], MOST_CLIENTS), _list(event["metrics"], MOST_METRICS)
        try:
            weights = check_weights([number_of(w) for w in _list(event["weights"], MOST_CLIENTS)], len(names))
            made = tuple(MetricFacts.parse(metric) for metric in metrics)
            check_names([m.name for m in made], "metrics")
            return cls(number, check_names(names, "names"), weights, made, _places(event.get("frames", {})))
        except InvalidInput as error:
            raise ValueError(str(error)) from None

    def to_json(self, described: Sequence[Any], frames: Mapping[str, Place]) -> dict[str, Any]:
        """The event; `described` as of `Scoring`, which is what `metrics` were made of."""
        return {
            "event": "segment",
            "names": list(self.names),
            "weights": list(self.weights),
            "metrics": list(described),
            "frames": {name: list(place) for name, place in frames.items()},
        }


@dataclass(frozen=True, eq=False)
class Point:
    """One logged step.

    Attributes
    ----------
    count : generated rows, 0 for an exact distribution, None where nothing was scored
    losses : by name
    clients : (m, k) scores of each metric of the segment; None where nothing was scored
    all : (m,) of the pooled clients under the segment's weights
    terms : of `all`, by metric
    variance : of the generated rows, all features together
    why : reasons for what is NaN
    errors : (m, 3) standard errors of avg, all and gap under the segment's weights; None where none were told
    frames : further arrays by name: "noise metric", "all noise metric", "slopes metric", "moments"
    late : seconds that its loop ran before it without a step, where that was far longer than ever before; else 0
    """

    segment: Segment
    step: int
    time: float
    losses: Mapping[str, float] = field(default_factory=dict)
    count: int | None = None
    clients: np.ndarray | None = None
    all: np.ndarray | None = None
    terms: tuple[Mapping[str, float], ...] = ()
    variance: float = math.nan
    why: tuple[str, ...] = ()
    frames: Mapping[str, Frame] = field(default_factory=dict)
    late: float = 0.0
    errors: np.ndarray | None = None

    @property
    def is_scored(self) -> bool:
        return self.clients is not None

    def has(self, metric: str) -> bool:
        """Whether it was scored by that metric."""
        return self.is_scored and self.segment.position(metric) >= 0

    @classmethod
    def parse(cls, event: Mapping[str, Any], segment: Segment, load: Any) -> Point:
        """ValueError, KeyError or TypeError where the event is none; `load` gives the array of a place."""
        losses = event.get("losses", {})
        if not isinstance(losses, dict) or len(losses) > MOST_LOSSES:
            raise ValueError("has no losses")
        told = {_text(name): number_of(value) for name, value in losses.items()}
        step, time = _whole(event["step"], LAST_STEP), number_of(event["time"])
        late = number_of(event.get("late", 0.0))
        if "count" not in event:
            return cls(segment, step, time, told, late=late)
        m, k = len(segment.metrics), len(segment.names)
        frames = _places(event["frames"])
        clients = np.asarray(load(frames.pop("clients")), dtype=np.float64)
        if clients.shape != (m, k):
            raise ValueError(f"has scores of shape {clients.shape} where {(m, k)} were expected")
        of_all = np.array([number_of(value) for value in _list(event["all"], m)])
        terms = tuple({_text(n): number_of(v) for n, v in part.items()} for part in _list(event["terms"], m))
        told_errors = _list(event.get("errors", []), m)
        errors = np.array([[number_of(v) for v in _list(part, 3)] for part in told_errors]) if told_errors else None
        if len(of_all) != m or len(terms) != m or (errors is not None and errors.shape != (m, 3)):
            raise ValueError("has no score of every metric")
        why = tuple(_text(reason, 2_000) for reason in _list(event.get("why", []), MOST_REASONS))
        count, variance = _whole(event["count"], LAST_STEP), number_of(event["variance"])
        return cls(segment, step, time, told, count=count, clients=clients, all=of_all, terms=terms,
                   variance=variance, why=why, frames=frames, errors=errors, late=late)  # fmt: skip

    def to_json(self, frames: Mapping[str, Place]) -> dict[str, Any]:
        """The event; `frames` are where the arrays lie, that of the clients' scores too."""
        event: dict[str, Any] = {"event": "step", "step": self.step, "time": self.time, "losses": dict(self.losses)}
        event |= {"late": self.late} if self.late else {}
        if self.all is None:
            return event
        scores = {"count": self.count, "all": self.all.tolist(), "terms": [dict(t) for t in self.terms]}
        told = {"variance": self.variance, "why": list(self.why)}
        if self.errors is not None:
            told["errors"] = self.errors.tolist()
        return {**event, **scores, **told, "frames": {name: list(place) for name, place in frames.items()}}


def _text(value: Any, longest: int = LONGEST_NAME) -> str:
    if not isinstance(value, str) or len(value) > longest:
        raise ValueError("has no text where one was expected")
    return value


def _list(value: Any, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise ValueError("has no list where one was expected, or too long a one")
    return value


def _whole(value: Any, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise ValueError("has no whole number where one was expected")
    return value


def _places(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict) or len(given) > 10 * MOST_METRICS:
        raise ValueError("has no frames")
    return {_text(name): Place(*(_whole(n, LAST_STEP) for n in _list(place, 2))) for name, place in given.items()}
