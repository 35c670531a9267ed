"""The same summaries noised again and again, ε by ε: what rank_survival and the PrivacyLab are made of.

Flow: the exact scores, as `evaluate` gives them → every client's bounded summary, once → for each ε noise is added to
these, `repeats` times, and each time scored for avg and pooled and scored for all.

The draws are the same standard normals at every ε, only scaled: within an ε they are independent of one another, two
neighbouring ε are not. The study needs the rows and is itself not private: it is made before a release, of public or
simulated data like those to come.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InvalidInput, check_count, check_list, check_number, refusal_of
from ..evaluation.evaluate import bar, evaluate
from ..evaluation.metric_selection import listed
from ..evaluation.result import Result, pooled_or_refused, value_of
from ..evaluation.scores import Scores
from ..federation import Federation, as_generators
from ..metrics import KID, Metric
from ..metrics.base import losses
from ..metrics.kid.features import RandomFeatures
from .noisy_summaries import arrived, bounded, with_noise
from .pairs import PairSurvival, pair_survival
from .privacy import Normals, Privacy
from .runtime_estimate import check_hours
from .serialization import Section

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
PARTS = ("avg", "all")
MOST_DRAWS = 10_000


@dataclass(frozen=True, eq=False)
class NoiseStudy:
    """Scores without noise, and under noise at each of some ε.

    Attributes
    ----------
    epsilons : (e,) from small to large
    multipliers : (e,) noise's standard deviation over the sensitivity of each release
    metrics : those of which there are scores, in order; lower is better, or `losses` makes it so
    generators : their names
    scores : without clipping and noise
    exact : (metrics, 2, generators) of avg and all, those of `scores`
    clipped : the same, clipped and without noise
    drawn : (e, repeats, metrics, 2, generators), clipped and with noise
    delta, clip : of the Gaussian mechanism
    rows : of each client
    """

    epsilons: tuple[float, ...]
    multipliers: tuple[float, ...]
    metrics: tuple[Metric[Any], ...]
    generators: tuple[str, ...]
    scores: Scores
    exact: np.ndarray
    clipped: np.ndarray
    drawn: np.ndarray
    delta: float
    clip: float
    rows: tuple[int, ...]

    def losses(self, scores: np.ndarray) -> np.ndarray:
        """(…, metrics, 2, generators) as what generators are ranked by, lower is better."""
        parts = [losses(metric, scores[..., m, :, :]) for m, metric in enumerate(self.metrics)]
        return np.stack(parts, axis=-3)

    @cached_property
    def pairs(self) -> tuple[tuple[tuple[PairSurvival, ...], ...], ...]:
        """By ε, metric and aggregate: whether the order of the best generator and its rivals survives."""
        return tuple(self.compared(drawn) for drawn in self.drawn)

    def compared(self, scores: np.ndarray) -> tuple[tuple[PairSurvival, ...], ...]:
        """The same of some draws (draws, metrics, 2, generators), by metric and aggregate."""
        exact, losses = self.losses(self.exact), self.losses(scores)
        places = range(len(self.metrics))
        return tuple(tuple(pair_survival(exact[m, p], losses[:, m, p]) for p in range(len(PARTS))) for m in places)


def noise_study(
    federation: Any,
    generators: Any,
    metrics: Any = None,
    *,
    clip: float,
    epsilons: Sequence[float] = EPSILONS,
    delta: float = 1e-5,
    centre: Any = None,
    repeats: int = 20,
    samples: int | None = None,
    seed: int = 0,
    hours: float = 1.0,
    progress: str | bool = "auto",
) -> NoiseStudy:
    """The study of `rank_survival`, draw by draw; arguments as there."""
    federation = federation if isinstance(federation, Federation) else Federation(federation)
    wanted = listed(("fid", KID(RandomFeatures(count=1024))) if metrics is None else metrics)
    made, count = as_generators(generators), check_count(repeats, "repeats", maximum=MOST_DRAWS)
    if len(made) < 2:
        raise InvalidInput("generators", "is one, which has no rank", "Give two or more")
    known = sorted({check_number(e, "epsilons") for e in check_list(epsilons, "epsilons", 1_000)})
    budgets = [Privacy(e, delta, clip, centre) for e in known]
    if not budgets:
        raise InvalidInput("epsilons", "is empty", "Give at least one")
    seed, most = check_count(seed, "seed", minimum=0), check_number(hours, "hours", minimum=0.0)
    check_hours(wanted, federation.dim, len(federation), len(made), len(known), count, most)
    sections = [[bounded(m, client.to_sample(), budgets[0]) for m in wanted] for client in federation]
    exact = evaluate(federation, made, wanted, samples=samples, seed=seed, progress=progress)
    results = [_whole(exact.result(metric.name)) for metric in wanted]
    releases = max(1, sum(bool(section.arrays) for section in sections[0]))
    multipliers = [budget.multiplier(releases) for budget in budgets]
    runs = _Runs(results, sections, federation.weights, seed)
    clipped, drawn = runs.all_drawn(multipliers, count, progress)
    return NoiseStudy(
        epsilons=tuple(known),
        multipliers=tuple(multipliers),
        metrics=tuple(result.metric for result in results),
        generators=exact.generators,
        scores=exact,
        exact=np.array([[exact.values(m.name).avg, exact.values(m.name).all] for m in wanted]),
        clipped=clipped,
        drawn=drawn,
        delta=budgets[0].delta,
        clip=float(clip),
        rows=tuple(client.size for client in federation),
    )


def _whole(result: Result) -> Result:
    """The result of a metric that scores every generator."""
    for terms in (terms for row in result.terms for terms in row):
        if isinstance(terms, InvalidInput):
            raise terms
    return result


@dataclass(frozen=True, eq=False)
class _Runs:
    """The clients' bounded summaries, and the generators that they are scored against."""

    results: Sequence[Result]
    sections: Sequence[Sequence[Section]]
    weights: tuple[float, ...]
    seed: int

    @property
    def scores(self) -> int:
        """Scores that one run computes."""
        with_noise = [result for result, section in zip(self.results, self.sections[0], strict=True) if section.arrays]
        return (len(self.sections) + 1) * sum(len(result.generated) for result in with_noise)

    def all_drawn(self, multipliers: Sequence[float], count: int, progress: str | bool) -> tuple[np.ndarray, ...]:
        """(metrics, 2, generators) without noise, and (e, count, metrics, 2, generators) with each multiplier's."""
        with bar(progress, self.scores * (1 + len(multipliers) * count)) as shown:
            clipped = self._drawn(0.0, 1, shown.update)[0]
            return clipped, np.stack([self._drawn(z, count, shown.update) for z in multipliers])

    def _drawn(self, multiplier: float, count: int, tell: Callable[[int], Any]) -> np.ndarray:
        """(count, metrics, 2, generators), of noise that depends on the client and the draw, and not on ε."""
        streams = [Normals([self.seed, c]) for c in range(len(self.sections))]
        return np.array([self._once(multiplier, streams, tell) for _ in range(count)])

    def _once(self, multiplier: float, streams: Sequence[Normals], tell: Callable[[int], Any]) -> list[np.ndarray]:
        sent = [
            [with_noise(section, multiplier, normals) for section in sections]
            for sections, normals in zip(self.sections, streams, strict=True)
        ]
        return [self._scored(m, [client[m] for client in sent], tell) for m in range(len(self.results))]

    def _scored(self, m: int, sent: Sequence[Section], tell: Callable[[int], Any]) -> np.ndarray:
        """(2, generators): avg and all."""
        result = self.results[m]
        if not sent[0].arrays:  # nothing of a client is in it
            return np.array([result.average(self.weights), result.pooled(self.weights)])
        metric, clients = arrived(result.metric, sent)
        return avg_and_all(metric, clients, result.generated, self.weights, tell)


def avg_and_all(
    metric: Metric[Any],
    clients: Sequence[Any],
    generated: Sequence[Any],
    weights: Sequence[float],
    tell: Callable[[int], Any] = lambda count: None,
) -> np.ndarray:
    """(2, generators): the scores by avg and all of clients' summaries; `tell` is called after each.

    Where the clients cannot be pooled, their scores by all are NaN.
    """
    together = pooled_or_refused(metric, clients, weights)
    parts = clients if refusal_of(together) else [*clients, together]
    scores = np.full((len(generated), len(clients) + 1), np.nan)
    for row, terms in zip(scores, metric.all_terms(parts, generated), strict=True):
        for place, pair in enumerate(terms):
            row[place] = value_of(pair)
            tell(1)
    return np.array([scores[:, :-1] @ weights, scores[:, -1]])
