"""The result of a race: its looks as a table, the winner or why there is none, and what the clients' noise could do."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidInput, encodable
from ..federation import Federation, Generator
from ..ranking import numeral, order
from .evaluate import evaluate
from .influence import Influence
from .race_scores import Bounds, GivenClients, SamplerScore

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# From which p-value on the clients' noise could alter a winner.
DOUBT = 0.05
NO_WINNER = "The clients' rows are taken as given."


@dataclass
class RaceLog:
    """The looks of a race while it runs.

    Attributes
    ----------
    label : of the score, such as "FID-all"
    looks : rows of the table
    stopped : "winner", "tie within the tolerance", "budget spent" or "interrupted"; "" while it runs
    left : who is not out
    draws : name -> rows drawn
    cautions : name -> why its interval is missing or doubtful
    """

    label: str
    error: float
    tolerance: float
    budget: int
    looks: list[dict[str, Any]] = field(default_factory=list)
    stopped: str = ""
    left: list[str] = field(default_factory=list)
    draws: dict[str, int] = field(default_factory=dict)
    cautions: dict[str, str] = field(default_factory=dict)
    margin: tuple[str, Bounds] | None = None

    def add(
        self, scores: Mapping[str, SamplerScore], draws: Mapping[str, int], out: Mapping[str, str], level: float
    ) -> None:
        """Add a look: the scores of all by their rows so far, and who is out by whom. Who drew rows gets a row."""
        look = self.looks[-1]["look"] + 1 if self.looks else 1
        self.left = [name for name in scores if name not in out]
        self.cautions = {name: score.caution for name, score in scores.items() if score.caution}
        for name in (name for name in scores if draws[name] > self.draws.get(name, 0)):
            bounds = scores[name].interval(level)
            ends = {"score": bounds.value, "low": bounds.low, "high": bounds.high}
            state = f"out: {out[name]} is better" if name in out else "racing"
            self.looks.append({"look": look, "sampler": name, "draws": draws[name], **ends, "state": state})
        self.draws = dict(draws)

    def stop(self, why: str, bounds: Mapping[tuple[str, str], Bounds]) -> None:
        """End the race; `bounds` : of the differences at the last look."""
        self.stopped = why
        state = {"winner": "winner", "tie within the tolerance": "tied"}.get(why)
        last = {row["sampler"]: row for row in self.looks}
        for name in self.left if state else ():
            last[name]["state"] = state
        if self.winner is not None:
            others = [name for name in last if name != self.winner]
            nearest = others[order([bounds[name, self.winner].value for name in others])[0]]
            self.margin = nearest, bounds[nearest, self.winner]

    @property
    def winner(self) -> str | None:
        return self.left[0] if self.stopped == "winner" else None

    @property
    def reason(self) -> str:
        """Why it is over, in a sentence."""
        left, sure = joined(self.left), f"{1.0 - self.error:.12g}"
        within = f" to within {self.tolerance:g}" if self.tolerance else ""
        apart = f"{self.label} does not tell {left} apart{within}"
        if len(self.left) == 1:
            apart = f"{left} leads by {self.label}{within}, but new rows alone have not confirmed it"
        if self.margin is not None:
            other, bounds = self.margin
            values = [_number(value, bounds) for value in bounds]
            worse = f"{other}, the next best, is worse by {values[0]} ({values[1]} to {values[2]})"
            first = f"{self.winner} is best by {self.label} with confidence {sure}: {worse}"
            return f"{first}{self._caution(other, *self.draws)}. {self._unseen()}"
        if self.stopped == "tie within the tolerance":
            first = f"{left} tie: by {self.label} they lie within {self.tolerance:g} of each other, confidence {sure}"
            return f"{first}{self._caution(*self.draws)}. {self._unseen()}"
        if not self.looks:
            return "The race was interrupted before its first look."
        if self.stopped == "interrupted":
            return f"The race was interrupted, and {apart} by then."
        return f"The budget of {self.budget:,} draws is spent, and {apart}{self._caution()}."

    def _caution(self, *others: str) -> str:
        """The first caution of those that are left and then of others, in brackets."""
        doubtful = next((name for name in (*self.left, *others) if name in self.cautions), None)
        return f" ({doubtful}: {self.cautions[doubtful]})" if doubtful else ""

    def _unseen(self) -> str:
        """Which rows no sampler that is left may have shown: n draws miss a share of 3/n in 5 % of the cases."""
        n = min(self.draws[name] for name in self.left)
        return f"A kind of rows rarer than 3/{n} may not have been seen: here {numeral(300.0 / n, '.2g')} %."


def _number(value: float, beside: Bounds) -> str:
    """A number with the digits that the width of an interval calls for; a lower end above 0 does not read as 0."""
    width = beside.high - beside.low
    digits = max(0, 1 - math.floor(math.log10(width))) if math.isfinite(width) and width > 0 else 3
    digits = max(digits, -math.floor(math.log10(beside.low))) if 0 < beside.low < math.inf else digits
    return numeral(value, f",.{min(digits, 12)}f")


def joined(names: Sequence[str]) -> str:
    """Names in a sentence."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


@dataclass(frozen=True, eq=False)
class Race:
    """The result of `nm.race`; printing it gives the reason, and what the clients' noise could alter.

    Attributes
    ----------
    table : DataFrame look, sampler, draws, score, low, high, state: a row a look and sampler that drew rows. draws are
        those of the sampler up to the look; low and high the interval of its score that is due to its draws, at the
        level of a difference at this look
    winner : its name; None unless the race was won
    draws : name -> rows drawn
    stopped : "winner", "tie within the tolerance", "budget spent" or "interrupted"
    reason : why it stopped, in a sentence
    clients_noise : whether other rows of the clients could alter the winner, in a sentence
    cautions : of the last look: name -> why its interval is missing or doubtful
    label : of the score, such as "FID-all"

    Examples
    --------
    >>> samplers = {"near": nm.Gaussian([0.1, 0]), "far": nm.Gaussian([2, 0])}
    >>> race = nm.race({"north": nm.Gaussian([0, 0]), "south": nm.Gaussian([0.2, 0])}, samplers)
    >>> race.winner, race.stopped, race.draws
    ('near', 'winner', {'near': 600, 'far': 350})
    """

    table: pd.DataFrame
    winner: str | None
    draws: dict[str, int]
    stopped: str
    reason: str
    clients_noise: str
    cautions: dict[str, str]
    label: str

    @classmethod
    def of(cls, log: RaceLog, draws: dict[str, int], clients_noise: str) -> Race:
        """The result of a race that is over."""
        import pandas as pd

        table = pd.DataFrame(log.looks)
        return cls(table, log.winner, draws, log.stopped, log.reason, clients_noise, dict(log.cautions), log.label)

    def plot(self) -> Figure:
        """The intervals of the scores against the draws of a sampler, as a matplotlib Figure."""
        from .race_figure import draw_race

        return draw_race(self.table, self.label, self.stopped if self.winner is None else f"{self.winner} wins")

    def __repr__(self) -> str:
        return encodable(f"{self.reason}\n{self.clients_noise}")


def clients_noise(
    federation: Federation, rows: Mapping[str, Sequence[np.ndarray]], clients: GivenClients, winner: str | None
) -> str:
    """Whether the winner could be another with other rows of the clients, by p-values of `evaluate`, in a sentence."""
    if winner is None:
        return NO_WINNER
    if all(client.distribution is not None for client in federation.clients):
        return "The clients are distributions, which have no noise."
    if clients.by == "worst":
        return f"{NO_WINNER} By worst it is not computed whether other rows could change the winner."
    try:
        p = _p_values(federation, rows, clients, winner)
    except InvalidInput as error:
        return f"{NO_WINNER} It is not known whether other rows could change the winner: {error}"
    except KeyboardInterrupt:  # the race itself is over
        return f"{NO_WINNER} It is not known whether other rows could change the winner: it was interrupted."
    if any(map(math.isnan, p.values())):
        return f"{NO_WINNER} It is not known whether other rows could change the winner: a score has no interval."
    doubts = [f"{name} (p = {value:.2g})" for name, value in p.items() if value > DOUBT]
    if not doubts:
        return f"With the clients' own noise, too, {winner} is better than every other sampler (p ≤ {DOUBT:g} each)."
    return f"With other rows of the clients the winner could be {' or '.join(doubts)}."


def _p_values(
    federation: Federation, rows: Mapping[str, Sequence[np.ndarray]], clients: GivenClients, winner: str
) -> dict[str, float]:
    """The one-sided p-values of the winner being better than each other."""
    generators = [_generator(name, parts, clients, federation) for name, parts in rows.items()]
    scores = evaluate(federation, generators, clients.metric, uncertainty=Influence(), progress=False)
    cells, names = scores.result(clients.metric.name), list(rows)
    if cells.noise is None:
        return dict.fromkeys(names, math.nan)
    values, first = np.asarray(getattr(cells, clients.by)), names.index(winner)
    others = [(name, (first, place)) for place, name in enumerate(names) if name != winner]
    return {name: cells.noise.worse(scores.weights, clients.by, pair, values) for name, pair in others}


def _generator(name: str, parts: Sequence[np.ndarray], clients: GivenClients, federation: Federation) -> Generator:
    """The rows of a sampler; a client of weight 0, which has none, is given those of another."""
    if clients.by != "intra":
        return Generator(parts[0], name=name)
    by_client = dict(zip(clients.names, parts, strict=True))
    return Generator.by_client({client: by_client.get(client, parts[0]) for client in federation.names}, name=name)
