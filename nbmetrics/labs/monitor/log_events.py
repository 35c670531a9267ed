"""The events of a run's log as values: a segment, what a reader has to know of its metrics, and a logged step.

Both come from JSON that is not trusted: `parse` raises ValueError, KeyError or TypeError where it is none of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...errors import LONGEST_NAME, InvalidInput, check_names, check_weights
from .run_folder import Place, decode_number

LAST_STEP = 2**53
MAX_CLIENTS, MAX_METRICS, MAX_LOSSES, MAX_REASONS = 10_000, 100, 1_000, 5
MAX_REASON_LETTERS = 2_000
# Numbers of a `Cost`, at most.
COST_NUMBERS = 20
# An array, or where a file holds it.
Frame = Place | np.ndarray


@dataclass(frozen=True)
class MetricFacts:
    """What a reader has to know of a metric.

    Attributes
    ----------
    kind : "kid" where Theorem 1 holds, "fid", or ""
    mixes : whether scores of different numbers of rows belong on one line, being unbiased
    convention : its settings in words; "" in logs that do not say them
    of : the metric's name where these are the facts of its intra, each client with what was made for it; else ""
    """

    name: str
    label: str
    higher_is_better: bool = False
    best: float | None = None
    kind: str = ""
    mixes: bool = False
    of: str = ""
    convention: str = ""

    @property
    def intra(self) -> MetricFacts:
        """The facts of the line of intra."""
        return replace(self, name=f"{self.name}_intra", label=f"{self.label} intra", of=self.name)

    def label_of(self, part: str) -> str:
        """What people read of avg, all or gap: such as "FID-avg", and "FID intra" of the only one that intra has."""
        return self.label if self.of else f"{self.label}-{part}"

    @classmethod
    def parse(cls, facts: Any) -> MetricFacts:
        """The facts of a part of a segment's event; ValueError, KeyError or TypeError where it is none."""
        name, label, kind = (_parse_text(facts[key]) for key in ("name", "label", "kind"))
        best = None if facts["best"] is None else decode_number(facts["best"])
        convention, is_higher = _parse_text(facts.get("convention", "")), facts["higher_is_better"] is True
        return cls(name, label, is_higher, best, kind, facts["mixes"] is True, convention=convention)

    def losses(self, scores: np.ndarray) -> np.ndarray:
        """Turn scores into what steps are ranked by: lower is better."""
        if self.best is not None:
            return np.abs(scores - self.best)
        return -scores if self.higher_is_better else scores


@dataclass(frozen=True, eq=False)
class Segment:
    """One Monitor at work; `frames` : arrays of the clients, see `Scoring.client_arrays`."""

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
        """The segment of a scoring at work; `described` as of `Scoring.describe`."""
        metrics = tuple(MetricFacts.parse(metric) for metric in described)
        return cls(number, tuple(names), tuple(weights), metrics, frames or {})

    def position(self, metric: str) -> int:
        """Position of a metric by its name, −1 where there is none."""
        return next((place for place, facts in enumerate(self.metrics) if facts.name == metric), -1)

    @classmethod
    def parse(cls, event: Mapping[str, Any], number: int) -> Segment:
        """The segment of an event; ValueError, KeyError or TypeError where it is none."""
        names, metrics = _parse_list(event["names"], MAX_CLIENTS), _parse_list(event["metrics"], MAX_METRICS)
        try:
            weights = check_weights([decode_number(w) for w in _parse_list(event["weights"], MAX_CLIENTS)], len(names))
            facts = tuple(MetricFacts.parse(metric) for metric in metrics)
            check_names([f.name for f in facts], "metrics")
            return cls(number, check_names(names, "names"), weights, facts, _parse_places(event.get("frames", {})))
        except InvalidInput as error:
            raise ValueError(str(error)) from None

    def to_json(self, described: Sequence[Any], frames: Mapping[str, Place]) -> dict[str, Any]:
        """The event of the segment; `described` as of `Scoring.describe`."""
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
    errors : (m, 3) standard errors of avg, all and gap under the segment's weights; None where none were logged
    row_errors : (m, k + 2) standard errors of clients, avg and all from the generated rows alone, NaN where one is not
        known; None where none were logged
    is_paired : whether its rows were made of the same latents as those of other steps
    cost : what the Monitor had cost by then, the numbers of a `Cost`; () where it was not logged
    own : (m, k) scores of each client with what was made for it; None where all clients have one distribution
    own_errors : (m,) standard errors of intra under the segment's weights; None where none were logged
    own_row_errors : (m, k + 1) standard errors of `own` and intra from the generated rows alone, as `row_errors`
    own_only : names of metrics that have no other scores, as they cannot weight the rows of a mixture
    frames : further arrays by name: "noise metric", "all noise metric", "slopes metric", "moments"; of a generator with
        one distribution for each client "own noise metric", and "own moments", "own means metric" and "own centres",
        see by_client_points.py
    late : seconds that its loop ran before it without a step, where that was far longer than ever before; else 0
    is_anew : whether the run went back to this step, and on from there
    only_losses : whether it was logged without a generator, so that a run cannot have gone back to it
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
    row_errors: np.ndarray | None = None
    is_paired: bool = False
    cost: tuple[float, ...] = ()
    own: np.ndarray | None = None
    own_only: tuple[str, ...] = ()
    own_errors: np.ndarray | None = None
    own_row_errors: np.ndarray | None = None
    is_anew: bool = False
    only_losses: bool = False

    @property
    def is_scored(self) -> bool:
        return self.clients is not None

    @property
    def is_by_client(self) -> bool:
        """Whether its generator had one distribution for each client."""
        return self.own is not None

    def client_scores(self, facts: MetricFacts) -> np.ndarray | None:
        """(k,) scores of the clients on the line of those facts; None where it has none there."""
        scores, place = self.own if facts.of else self.clients, self.segment.position(facts.of or facts.name)
        return None if scores is None or place < 0 or facts.name in self.own_only else scores[place]

    @classmethod
    def parse(cls, event: Mapping[str, Any], segment: Segment, load: Any) -> Point:
        """The point of an event; ValueError, KeyError or TypeError where it is none.

        `load` gives the array of a place.
        """
        losses = event.get("losses", {})
        if not isinstance(losses, dict) or len(losses) > MAX_LOSSES:
            raise ValueError("has no losses")
        losses = {_parse_text(name): decode_number(value) for name, value in losses.items()}
        step, time = _parse_whole(event["step"], LAST_STEP), decode_number(event["time"])
        late, is_anew = decode_number(event.get("late", 0.0)), event.get("anew") is True
        cost = tuple(decode_number(number) for number in _parse_list(event.get("cost", []), COST_NUMBERS))
        if "count" not in event:
            only = event.get("only losses") is True
            return cls(segment, step, time, losses, late=late, cost=cost, is_anew=is_anew, only_losses=only)
        m, k = len(segment.metrics), len(segment.names)
        frames = _parse_places(event["frames"])
        clients = _load_scores(load, frames.pop("clients"), (m, k))
        own = _load_scores(load, frames.pop("own"), (m, k)) if "own" in frames else None
        own_only = tuple(_parse_text(name) for name in _parse_list(event.get("own only", []), m))
        row_errors = _load_errors(load, frames.pop("row errors", None), (m, k + 2))
        own_row_errors = _load_errors(load, frames.pop("own row errors", None), (m, k + 1))
        of_all = np.array([decode_number(value) for value in _parse_list(event["all"], m)])
        terms = tuple(
            {_parse_text(n): decode_number(v) for n, v in part.items()} for part in _parse_list(event["terms"], m)
        )
        if len(of_all) != m or len(terms) != m:
            raise ValueError("has no score of every metric")
        errors = _parse_errors(event, m)
        why = tuple(
            _parse_text(reason, MAX_REASON_LETTERS) for reason in _parse_list(event.get("why", []), MAX_REASONS)
        )
        count, variance = _parse_whole(event["count"], LAST_STEP), decode_number(event["variance"])
        return cls(segment, step, time, losses, count=count, clients=clients, all=of_all, terms=terms,
                   variance=variance, why=why, frames=frames, errors=errors, late=late,
                   row_errors=row_errors, cost=cost, is_paired=event.get("paired") is True, own=own,
                   own_only=own_only, own_errors=_parse_own_errors(event, m),
                   own_row_errors=own_row_errors, is_anew=is_anew)  # fmt: skip

    def to_json(self, frames: Mapping[str, Place]) -> dict[str, Any]:
        """The event of the point; `frames` are where the arrays lie, that of the clients' scores too."""
        event: dict[str, Any] = {"event": "step", "step": self.step, "time": self.time, "losses": dict(self.losses)}
        event |= {"late": self.late} if self.late else {}
        event |= {"anew": True} if self.is_anew else {}
        event |= {"only losses": True} if self.only_losses else {}
        event |= {"cost": list(self.cost)} if self.cost else {}
        if self.all is None:
            return event
        scores: dict[str, Any] = {"count": self.count, "all": self.all.tolist(), "terms": [dict(t) for t in self.terms]}
        scores |= {"variance": self.variance, "why": list(self.why)}
        if self.is_paired:
            scores["paired"] = True
        if self.own_only:
            scores["own only"] = list(self.own_only)
        if self.errors is not None:
            scores["errors"] = self.errors.tolist()
        if self.own_errors is not None:
            scores["own errors"] = self.own_errors.tolist()
        return {**event, **scores, "frames": {name: list(place) for name, place in frames.items()}}


def _load_scores(load: Any, place: Place, shape: tuple[int, int]) -> np.ndarray:
    scores = np.asarray(load(place), dtype=np.float64)
    if scores.shape != shape:
        raise ValueError(f"has scores of shape {scores.shape} where {shape} were expected")
    return scores


def _parse_errors(event: Mapping[str, Any], count: int) -> np.ndarray | None:
    parts = _parse_list(event.get("errors", []), count)
    numbers = [[decode_number(number) for number in _parse_list(part, 3)] for part in parts]
    if parts and [len(part) for part in numbers] != [3] * count:
        raise ValueError("has no score of every metric")
    return _not_negative(np.array(numbers)) if parts else None


def _parse_own_errors(event: Mapping[str, Any], count: int) -> np.ndarray | None:
    numbers = [decode_number(number) for number in _parse_list(event.get("own errors", []), count)]
    if len(numbers) not in (0, count):
        raise ValueError("has no standard error of every intra")
    return _not_negative(np.array(numbers)) if numbers else None


def _load_errors(load: Any, place: Place | None, shape: tuple[int, int]) -> np.ndarray | None:
    if place is None:
        return None
    errors = np.asarray(load(place), dtype=np.float64)
    if errors.shape != shape:
        raise ValueError(f"has standard errors of shape {errors.shape} where {shape} were expected")
    return _not_negative(errors)


def _not_negative(errors: np.ndarray) -> np.ndarray:
    if (errors < 0).any():
        raise ValueError("has a standard error below 0")
    return errors


def _parse_text(value: Any, longest: int = LONGEST_NAME) -> str:
    if not isinstance(value, str) or len(value) > longest:
        raise ValueError("has no text where one was expected")
    return value


def _parse_list(value: Any, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise ValueError("has no list where one was expected, or too long a one")
    return value


def _parse_whole(value: Any, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise ValueError("has no whole number where one was expected")
    return value


def _parse_places(frames: Any) -> dict[str, Any]:
    if not isinstance(frames, dict) or len(frames) > 10 * MAX_METRICS:
        raise ValueError("has no frames")
    return {
        _parse_text(name): Place(*(_parse_whole(n, LAST_STEP) for n in _parse_list(place, 2)))
        for name, place in frames.items()
    }
