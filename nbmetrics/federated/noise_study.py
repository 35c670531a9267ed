"""A study of noise: noise drawn again and again for the same summaries at each ε, for rank_survival and the PrivacyLab.

Flow: the exact scores, as `evaluate` gives them → every client's bounded summary, once → for each ε noise is added to
these, `repeats` times, and each time scored for avg and pooled and scored for all.

The draws are the same standard normals at every ε, only scaled: within an ε they are independent of one another, two
neighbouring ε are not. The study needs the rows and is itself not private: it is made before a release, of public or
simulated data like those to come.

Whether an order survives is asked pair by pair: would the opposite order have been shown as well, had it been true?
Noise may prefer one generator whatever the clients are: that of a covariance always favours the wider one. So that a
best generator stays first is no proof that its lead survived. Of a best generator and a rival let Δ be the difference
of their scores without clipping and noise, and e, in one draw, the difference that is released less Δ:

    kept               the share of draws with sign(Δ + e) = sign Δ: the order is shown as it is
    kept if reversed   the share with sign(−Δ + e) = −sign Δ: with the opposite order, as far apart, that is shown

The order survives where both are at least `MIN_KEPT_SHARE`, and elsewhere the noise decides. What noise adds to both
scores cancels in e.

A small piece of a study is timed on this machine before the rest begins. A run scores every client's release, and their
pool, against every generator. Of FID that is an eigendecomposition of each and singular values of each pair, which grow
like the cube of the features: they are timed for `MAX_TIMED_FEATURES` at most.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidInput, check_count, check_list, check_number, refusal_of
from ..evaluation.cells import Cell, Cells, pool_or_refusal
from ..evaluation.evaluate import evaluate
from ..evaluation.samples import metric_list
from ..evaluation.scores import Scores
from ..federation import Federation, as_generators
from ..metrics import KID, Metric, Sample
from ..metrics.base import losses
from ..metrics.kid.random_features import RandomFeatures
from ..progress import progress_bar
from ..ranking import lowest, numeral, same_scores
from .noisy_summaries import bounded_section, server_summaries, with_noise
from .privacy import Normals, Privacy
from .serialization import Section
from .summary_codec import kind_of

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
PARTS = ("avg", "all")
MAX_DRAWS = 10_000
# The share of the draws from which on an order is said to survive.
MIN_KEPT_SHARE = 0.95
SUPERSCRIPTS = str.maketrans("+-0123456789", "⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MAX_TIMED_FEATURES = 512
# The least time of so many counts, as the first one loads libraries.
TIMING_REPEATS = 3


class PairSurvival(NamedTuple):
    """The generator that is best without noise against its rivals, at one ε, by one metric and aggregate.

    Attributes
    ----------
    best, rival : positions; the rival is the one whose order with the best survives least, the closest of several
    first : draws in which the best stays first of all generators
    kept, kept_if_reversed : draws in which its order with the rival is kept, and would be if it were the opposite
    difference : how much better the best is than the rival, without clipping and noise
    error : root mean square of what noise and clipping add to that difference
    survives : whether the best stays first, and every pair of it is kept and would be if reversed, in 95 % of the draws
    """

    best: int
    rival: int
    first: int
    kept: int
    kept_if_reversed: int
    difference: float
    error: float
    survives: bool


def pair_survival(exact: np.ndarray, drawn: np.ndarray) -> PairSurvival:
    """Return the survival of losses (generators,) under noise (draws, generators); two generators or more."""
    best = lowest(exact)
    rivals = np.delete(np.arange(len(exact)), best)
    true = np.where(same_scores(exact[rivals], exact[best]), 0.0, exact[rivals] - exact[best])
    shown = drawn[:, rivals] - drawn[:, [best]]
    kept = (np.sign(shown) == np.sign(true)).sum(axis=0)
    opposite = (np.sign(shown - 2.0 * true) == -np.sign(true)).sum(axis=0)
    error = np.sqrt(((shown - true) ** 2).mean(axis=0))
    survived = np.minimum(kept, opposite)
    weakest = np.flatnonzero(survived == survived.min())
    weakest = weakest[lowest(true[weakest])]
    first = int((drawn.argmin(axis=1) == best).sum())
    least = min(first, int(kept.min()), int(opposite.min()))
    return PairSurvival(
        best=best,
        rival=int(rivals[weakest]),
        first=first,
        kept=int(kept[weakest]),
        kept_if_reversed=int(opposite[weakest]),
        difference=float(true[weakest]),
        error=float(error[weakest]),
        survives=least >= MIN_KEPT_SHARE * len(drawn) - 1e-9,
    )


def two_digits(value: float) -> str:
    """Return a number as text with two significant digits.

    >>> [two_digits(value) for value in (1389.9, 54.9, 0.1595, 0.0000213, 0.0)]
    ['1,400', '55', '0.16', '2.1·10⁻⁵', '0']
    """
    if 0.0 < abs(value) < 1e-4:
        digits, power = f"{value:.1e}".split("e")
        return f"{digits.removesuffix('.0').replace('-', '−')}·10{str(int(power)).translate(SUPERSCRIPTS)}"
    return numeral(float(f"{value:.2g}"), ",.0f" if abs(value) >= 100 else ".2g", beside=0)


@dataclass(frozen=True, eq=False)
class NoiseStudy:
    """Scores without noise, and under noise at each of some ε.

    Attributes
    ----------
    epsilons : (e,) from small to large
    multipliers : (e,) noise's standard deviation over the sensitivity of each release
    metrics : those of which there are scores, in order; lower is better, or `losses` makes it so
    generators : their names
    evaluate : computes the scores without clipping and noise, which `scores` keeps
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
    evaluate: Callable[[], Scores]
    exact: np.ndarray
    clipped: np.ndarray
    drawn: np.ndarray
    delta: float
    clip: float
    rows: tuple[int, ...]

    @cached_property
    def scores(self) -> Scores:
        """Return the scores without clipping and noise."""
        return self.evaluate()

    def losses(self, scores: np.ndarray) -> np.ndarray:
        """Return (…, metrics, 2, generators) scores as what generators are ranked by, lower is better."""
        parts = [losses(metric, scores[..., m, :, :]) for m, metric in enumerate(self.metrics)]
        return np.stack(parts, axis=-3)

    @cached_property
    def pairs(self) -> tuple[tuple[tuple[PairSurvival, ...], ...], ...]:
        """Return by ε, metric and aggregate whether the order of the best generator and its rivals survives."""
        return tuple(self.survival_of_draws(drawn) for drawn in self.drawn)

    def survival_of_draws(self, scores: np.ndarray) -> tuple[tuple[PairSurvival, ...], ...]:
        """Return the same of some draws (draws, metrics, 2, generators), by metric and aggregate."""
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
    """Return the study of `rank_survival`, draw by draw; arguments as there."""
    federation = federation if isinstance(federation, Federation) else Federation(federation)
    wanted = metric_list(("fid", KID(RandomFeatures(count=1024))) if metrics is None else metrics)
    named_generators, count = as_generators(generators), check_count(repeats, "repeats", maximum=MAX_DRAWS)
    if len(named_generators) < 2:
        raise InvalidInput("generators", "is one, which has no rank", "Give two or more")
    epsilon_values = sorted({check_number(e, "epsilons") for e in check_list(epsilons, "epsilons", 1_000)})
    budgets = [Privacy(e, delta, clip, centre) for e in epsilon_values]
    if not budgets:
        raise InvalidInput("epsilons", "is empty", "Give at least one")
    seed, most = check_count(seed, "seed", minimum=0), check_number(hours, "hours", minimum=0.0)
    check_hours(wanted, federation.dim, len(federation), len(named_generators), len(epsilon_values), count, most)
    sections = [[bounded_section(m, client.to_sample(), budgets[0]) for m in wanted] for client in federation]
    exact = evaluate(federation, named_generators, wanted, samples=samples, seed=seed, progress=progress)
    results = [_check_whole(exact.result(metric.name)) for metric in wanted]
    releases = max(1, sum(bool(section.arrays) for section in sections[0]))
    multipliers = [budget.multiplier(releases) for budget in budgets]
    runs = _Runs(results, sections, federation.weights, seed)
    clipped, drawn = runs.draw_all(multipliers, count, progress)
    return NoiseStudy(
        epsilons=tuple(epsilon_values),
        multipliers=tuple(multipliers),
        metrics=tuple(result.metric for result in results),
        generators=exact.generators,
        evaluate=lambda: exact,
        exact=np.array([[exact.values(m.name).avg, exact.values(m.name).all] for m in wanted]),
        clipped=clipped,
        drawn=drawn,
        delta=budgets[0].delta,
        clip=float(clip),
        rows=tuple(client.size for client in federation),
    )


def _check_whole(result: Cells) -> Cells:
    """Return the result of a metric, if it scores every generator."""
    for cell in (cell for row in result.client_cells for cell in row):
        if cell.refusal is not None:
            raise cell.refusal
    return result


@dataclass(frozen=True, eq=False)
class _Runs:
    """The clients' bounded summaries, and the generators that they are scored against."""

    results: Sequence[Cells]
    sections: Sequence[Sequence[Section]]
    weights: tuple[float, ...]
    seed: int

    @property
    def scores(self) -> int:
        """Return the number of scores that one run computes."""
        with_noise = [result for result, section in zip(self.results, self.sections[0], strict=True) if section.arrays]
        return (len(self.sections) + 1) * sum(len(result.generated) for result in with_noise)

    def draw_all(self, multipliers: Sequence[float], count: int, progress: str | bool) -> tuple[np.ndarray, ...]:
        """Return (metrics, 2, generators) without noise, and (e, count, metrics, 2, generators) with noise."""
        with progress_bar(progress, self.scores * (1 + len(multipliers) * count)) as shown:
            clipped = self._draw(0.0, 1, shown.update)[0]
            return clipped, np.stack([self._draw(z, count, shown.update) for z in multipliers])

    def _draw(self, multiplier: float, count: int, tell: Callable[[int], Any]) -> np.ndarray:
        """Return (count, metrics, 2, generators) scores; their noise depends on the client and the draw, not on ε."""
        streams = [Normals([self.seed, c]) for c in range(len(self.sections))]
        return np.array([self._draw_once(multiplier, streams, tell) for _ in range(count)])

    def _draw_once(self, multiplier: float, streams: Sequence[Normals], tell: Callable[[int], Any]) -> list[np.ndarray]:
        sent = [
            [with_noise(section, multiplier, normals) for section in sections]
            for sections, normals in zip(self.sections, streams, strict=True)
        ]
        return [self._score(m, [client[m] for client in sent], tell) for m in range(len(self.results))]

    def _score(self, m: int, sent: Sequence[Section], tell: Callable[[int], Any]) -> np.ndarray:
        """Return (2, generators): the scores by avg and all."""
        result = self.results[m]
        if not sent[0].arrays:  # nothing of a client is in it
            return np.array([result.avg, result.all])
        metric, clients = server_summaries(result.metric, sent)
        return avg_and_all(metric, clients, result.generated, self.weights, tell)


def avg_and_all(
    metric: Metric[Any],
    clients: Sequence[Any],
    generated: Sequence[Any],
    weights: Sequence[float],
    tell: Callable[[int], Any] = lambda count: None,
) -> np.ndarray:
    """Return (2, generators): the scores by avg and all of clients' summaries; `tell` is called after each.

    Where the clients cannot be pooled, their scores by all are NaN.
    """
    together = pool_or_refusal(metric, clients, weights)
    parts = clients if refusal_of(together) else [*clients, together]
    scores = np.full((len(generated), len(clients) + 1), np.nan)
    for row, terms in zip(scores, metric.all_terms(parts, generated), strict=True):
        for place, pair in enumerate(terms):
            row[place] = Cell.of(pair).value
            tell(1)
    return np.array([scores[:, :-1] @ weights, scores[:, -1]])


def check_hours(
    metrics: Sequence[Metric[Any]], dim: int, clients: int, generators: int, epsilons: int, repeats: int, most: float
) -> None:
    """Raise InvalidInput for a study that would take more than `most` hours."""
    releases = epsilons * repeats * (clients + 1)  # the pool is one more
    hours = releases * sum(seconds_of(metric, dim, generators) for metric in metrics) / 3600.0
    if hours > most:
        sizes = f"{clients:,} clients, {generators:,} generators and {dim:,} features"
        duration = f"{hours:,.0f}" if hours > 10 else f"{hours:.2g}"
        seen = f"would take about {duration} hours here: {epsilons:,} ε of {repeats:,} runs, {sizes}"
        narrower = (
            "; fewer features, by a PCA of public rows, help most"
            if any(_grows_with_features(m, dim) for m in metrics)
            else ""
        )
        fix = f"Give fewer repeats, epsilons, clients or generators{narrower}; or allow it by hours="
        raise InvalidInput("repeats", seen, fix)


def _grows_with_features(metric: Metric[Any], dim: int) -> bool:
    """Return whether the time of a metric grows with the features."""
    return kind_of(metric, dim) == "moments"


def seconds_of(metric: Metric[Any], dim: int, generators: int) -> float:
    """Return the seconds of one release, scored against all generators."""
    grows = _grows_with_features(metric, dim)
    width = min(dim, MAX_TIMED_FEATURES) if grows else 1
    first, another = time_release(metric, width)
    return (dim / width if grows else 1.0) ** 3 * (first + (generators - 1) * another)


def time_release(metric: Metric[Any], width: int) -> tuple[float, float]:
    """Return the seconds of a release with its score against a first generator, and of a score against another one."""
    sample = Sample(rows=np.random.default_rng(0).normal(size=(2 * width + 2, width)))
    metric = metric.resolve([sample])
    section, normals = bounded_section(metric, sample, Privacy(1.0, clip=1.0)), Normals(0)
    if not section.arrays:  # nothing of a client is in it
        return 0.0, 0.0
    (one, two), tries = (metric.summarize(sample) for _ in range(2)), []
    for _ in range(TIMING_REPEATS):
        start = time.perf_counter()
        scorer, (client,) = server_summaries(metric, [with_noise(section, 1.0, normals)])
        scorer.terms(client, one)
        middle = time.perf_counter()
        scorer.terms(client, two)
        tries.append((middle - start, time.perf_counter() - middle))
    first, another = map(min, zip(*tries, strict=True))
    return first, another
