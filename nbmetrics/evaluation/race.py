"""race(): draw from samplers until it is known which is best, and no longer; those that are worse drop out.

Successive elimination: samplers that are not out draw half as many rows as they have, and at least 300 from there on.
Who is out may come back: all are compared at each look, with the rows they have. At look k, counted from 300 rows, an
interval of a difference of m samplers has the level 1 − 6α/(π²k²)/(m−1), so that with confidence 1 − α all differences
from the best sampler lie in their intervals at all looks; a wrong winner or tie needs one that does not. Nothing is
decided before 600 rows, and a winner beats all others by the new rows of its last look alone, too. That is so for many
draws, by the normal approximation, and of kinds of rows that were seen; docs/race.md says how often it was so.

Flow: `GivenClients` summarizes the clients once → `Draws` gives rows → each is scored → pairs → who is out → `Race`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..distributions import check_draw
from ..errors import InvalidInput, check_choice, check_count, check_number
from ..federation import Federation
from ..metrics import metric_of
from ..metrics.kid.metric import KID
from ..progress import progress_bar
from ..ranking import lowest, order
from .race_draws import Draws, as_samplers
from .race_result import Race, RaceLog, clients_noise
from .race_scores import AGGREGATES, Bounds, GivenClients, SamplerScore, check_metric

# Rows of a sampler at the first look: so many a feature, and at least these; KID has no bias of few rows.
FIRST_ROWS_PER_FEATURE, MIN_FIRST_ROWS, MAX_FIRST_ROWS_OF_KID = 5, 50, 1_000
GROWTH = 1.5
# New rows of each sampler without which no winner is named, and rows of a winner before these.
FRESH_ROWS = 300
# The level of a difference by the new rows alone: a second test beside that of all rows, which keeps the error.
FRESH_LEVEL = 0.6
MIN_ERROR, MAX_ERROR = 1e-9, 0.5
BUDGET = 100_000


def race(
    federation: Any,
    samplers: Any,
    metric: Any = "fid",
    by: str = "all",
    *,
    budget: int = BUDGET,
    error: float = 0.05,
    tolerance: float = 0.0,
    seed: int = 0,
    store: Any = None,
    progress: str | bool = "auto",
) -> Race:
    """Draw from samplers until it is known which is best for these clients; those that are worse drop out on the way.

    Parameters
    ----------
    federation : `Federation`, or clients that make one. Their rows are taken as given: the race is about the score that
        a sampler would have with these rows after endless draws. `Race.clients_noise` says whether other rows of the
        clients could alter the winner
    samplers : dict name -> function `(n, rng) -> rows`, (n, d), drawn with the NumPy generator rng alone; also a
        distribution, or a function or module of images where the federation has an extractor. By "intra" functions
        `(client, n, rng) -> rows`, or a dict client -> function
    metric : "fid", corrected for the number of draws, or "kid"; or such a `Metric`
    by : "all" (pooled clients), "avg", "worst" (the client with the highest score) or "intra" (each client with what
        was made for it)
    budget : draws at most, of all samplers together, at least 600 for each: a winner has 300 rows, by "fid" 5 a feature
        if that is more, and wins again with as many new ones of each sampler
    error : how often the race may name a wrong winner, or a wrong tie, by what the rows show; 1e-9 to 0.5. A kind of
        rows of share p that was not drawn adds at most (1 − p)ⁿ, n the rows of the winner
    tolerance : 0 or more, in units of the score: a sampler is out when another is better by more than this, and those
        that are left tie when none is better than another by more
    seed : of all draws: look k of a sampler is drawn with the seed (seed, its name, k), whoever else races
    store : a folder that keeps all drawn rows: a call that was killed goes on, and so does one with a larger budget
    progress : "auto" shows a bar after a second; True or False

    Returns
    -------
    Race: `table`, `winner` (None unless won), `draws`, `reason`, `plot()`. Ctrl-C ends the race with what is there.

    Raises
    ------
    InvalidInput
        For samplers of which no more rows can be drawn or that repeat their rows, a metric without influence values, a
        budget that names no winner, a store of another race; otherwise as `evaluate` does.

    Source: successive elimination (Even-Dar et al. 2006, JMLR 7), with intervals by influence values.

    Examples
    --------
    >>> clients = {"north": nm.Gaussian([-1, 0]), "south": nm.Gaussian([1, 0])}
    >>> narrow = lambda n, rng: rng.normal(size=(n, 2))
    >>> wide = lambda n, rng: rng.normal(size=(n, 2)) * [1.4, 1]
    >>> race = nm.race(clients, {"narrow": narrow, "wide": wide}, budget=20_000)
    >>> race.winner
    'wide'
    """
    if not isinstance(progress, bool):
        check_choice(progress, ("auto",), "progress")
    running = RunningRace(
        federation, samplers, metric, by, budget=budget, error=error, tolerance=tolerance, seed=seed, store=store
    )
    with progress_bar(progress, budget) as bar:
        try:
            for draws in running.looks():
                bar.update(draws)
        except KeyboardInterrupt:
            if not running.log.looks:
                raise
            running.log.stop("interrupted", {})
    return running.result()


class RunningRace:
    """A race whose input is checked and whose clients are summarized: `looks` goes on until `log` says why it is over.

    Parameters
    ----------
    federation, samplers, metric, by, budget, error, tolerance, seed, store : as for `race`
    """

    def __init__(
        self,
        federation: Any,
        samplers: Any,
        metric: Any,
        by: str,
        *,
        budget: int,
        error: float = 0.05,
        tolerance: float = 0.0,
        seed: int = 0,
        store: Any = None,
    ) -> None:
        by, seed = check_choice(by, AGGREGATES, "by"), check_count(seed, "seed", minimum=0)
        error = check_number(error, "error", minimum=MIN_ERROR, maximum=MAX_ERROR)
        tolerance = check_number(tolerance, "tolerance", minimum=0.0)
        chosen = check_metric(metric_of(metric, "metric"))
        self.federation = federation if isinstance(federation, Federation) else Federation(federation)
        federation = self.federation
        if federation.is_conditional:
            raise InvalidInput("federation", "has clients with a condition", "Give clients without conditions")
        names = [name for name, weight in zip(federation.names, federation.weights, strict=True) if weight]
        sources = as_samplers(samplers, by, federation, names)
        self._parts = len(names) if by == "intra" else 1
        budget = check_draw(budget, federation.dim, "budget")
        self._first = first_rows(chosen, federation.dim)
        self._fresh = max(self._first, math.ceil(FRESH_ROWS / self._parts))
        least = 2 * self._fresh * self._parts
        if budget < least * len(sources):
            seen = f"is {budget:,}, and a race of {len(sources)} samplers takes at least {least:,} draws of each"
            raise InvalidInput("budget", seen, f"Give at least {least * len(sources):,}")
        self._clients = GivenClients(federation, chosen, by, seed)
        self._draws = Draws(sources, federation.dim, seed, store)
        self.log = RaceLog(self._clients.label, error, tolerance, budget)

    def looks(self) -> Iterator[int]:
        """Draw and look until the log says why it is over; yields how many draws came last, sampler by sampler."""
        draws, log, names = self._draws, self.log, list(self._draws.samplers)
        scores: dict[str, SamplerScore] = {}
        live, counted = names, 0
        for look in itertools.count(1):
            new, fresh = self._new_draws(live), {}
            if not new:
                return log.stop("budget spent", {})
            counted += max(self._rows(name) + n for name, n in new.items()) >= self._fresh
            level = level_of(max(counted, 1), log.error, len(names))
            while new:
                for name, n in new.items():
                    fresh[name] = draws.draw(name, look, n)
                    yield n * self._parts
                scores |= {name: self._clients.score(draws.rows(name)) for name in new}
                bounds = differences(scores, level)
                out = beaten(bounds, names, log.tolerance)
                live = [name for name in names if name not in out]
                is_ahead = len(live) == 1 and live[0] in fresh and self._rows(live[0]) >= 2 * self._fresh
                new = {name: self._fresh for name in names if is_ahead and name not in fresh}
            log.add(scores, {name: draws.count(name) for name in names}, out, level)
            if min(map(self._rows, live)) < 2 * self._fresh:
                continue
            winner = unbeaten(bounds, names, log.tolerance)
            if winner and len(fresh) == len(names) and self._wins_again(winner, fresh):
                return log.stop("winner", bounds)
            pairs = itertools.permutations(live, 2)
            if len(live) > 1 and log.tolerance and all(_is_within(bounds[pair], log.tolerance) for pair in pairs):
                return log.stop("tie within the tolerance", bounds)

    def _wins_again(self, winner: str, fresh: Mapping[str, Sequence[np.ndarray]]) -> bool:
        """Whether a sampler beats all others by these rows alone; where intervals are in doubt, as surely as by all."""
        level = max(FRESH_LEVEL, 1.0 - self.log.error) if self.log.cautions else FRESH_LEVEL
        bounds = differences({name: self._clients.score(rows) for name, rows in fresh.items()}, level)
        return winner == unbeaten(bounds, list(fresh), self.log.tolerance)

    def _rows(self, name: str) -> int:
        """How many rows of each part of a sampler there are."""
        return self._draws.count(name) // self._parts

    def _new_draws(self, live: Sequence[str]) -> dict[str, int]:
        """How many rows of each part the next look takes of whom: of those that are left, and at last of all.

        The last look is the one after which the budget could not give new rows of all. It takes the whole budget, and
        those that come near the first get what is over.
        """
        rows = {name: self._rows(name) for name in self._draws.samplers}
        most = max(rows[name] for name in live)
        left = self.log.budget // self._parts - sum(rows.values())
        new = {name: self._grown(most) - rows[name] for name in live}
        of_all = self._fresh * len(rows)
        if most < self._fresh or sum(new.values()) + of_all <= left:
            return new
        if left < of_all:
            return {}
        new = dict.fromkeys(rows, self._fresh) | new
        near = [name for name, n in rows.items() if 2 * n >= most]
        more = max(0, left - sum(new.values())) // len(near)
        new |= {name: new[name] + more for name in near}
        names = list(rows)
        for place, k in enumerate(order([new[name] for name in names])):
            name = names[k]
            new[name] = min(new[name], left // (len(rows) - place))
            left -= new[name]
        return new

    def _grown(self, rows: int) -> int:
        """How many rows a sampler has at the look after that with so many."""
        if rows < self._fresh:
            return min(max(self._first, math.ceil(rows * GROWTH)), self._fresh)
        return max(math.ceil(rows * GROWTH), rows + self._fresh)

    def result(self) -> Race:
        """Return the result of a race that is over."""
        names = list(self._draws.samplers)
        rows = {name: self._draws.rows(name) for name in names if self.log.winner}
        note = clients_noise(self.federation, rows, self._clients, self.log.winner)
        return Race.of(self.log, {name: self._draws.count(name) for name in names}, note)


def first_rows(metric: Any, dim: int) -> int:
    """How many rows of a sampler, or for each client, the first look takes."""
    rows = max(FIRST_ROWS_PER_FEATURE * dim, MIN_FIRST_ROWS)
    return min(rows, MAX_FIRST_ROWS_OF_KID) if isinstance(metric, KID) else rows


def level_of(look: int, error: float, samplers: int) -> float:
    """The level of an interval of a difference at look 1, 2, …, of so many samplers at the start."""
    return 1.0 - 6.0 * error / (math.pi * look) ** 2 / (samplers - 1)


def differences(scores: Mapping[str, SamplerScore], level: float) -> dict[tuple[str, str], Bounds]:
    """How much higher the first of two samplers scores than the second, for every two of them."""
    pairs = itertools.permutations(scores, 2)
    return {(first, second): scores[first].minus(scores[second], level) for first, second in pairs}


def beaten(bounds: Mapping[tuple[str, str], Bounds], live: Sequence[str], tolerance: float) -> dict[str, str]:
    """Return who is out, and by whom: the best of those that are better by more than the tolerance."""
    out = {}
    for name in live:
        better = [other for other in live if other != name and bounds[name, other].low > tolerance]
        if better:
            out[name] = better[lowest([-bounds[name, other].value for other in better])]
    return out


def unbeaten(bounds: Mapping[tuple[str, str], Bounds], names: Sequence[str], tolerance: float) -> str | None:
    """Return who is better than each other by more than the tolerance."""
    for name in names:
        if all(bounds[other, name].low > tolerance for other in names if other != name):
            return name
    return None


def _is_within(bounds: Bounds, tolerance: float) -> bool:
    return -tolerance <= bounds.low and bounds.high <= tolerance
