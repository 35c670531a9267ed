"""A run as it is read: by the Monitor that writes it, from a folder, or under other weights."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ...errors import check_choice
from . import alarms as rules
from .best import PARTS, best_set, best_steps, kept_words
from .history import History

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Run:
    """What a history says.

    Attributes
    ----------
    history : the value that everything is read from
    table : DataFrame (step, metric, avg, all, gap)
    losses : DataFrame, a row a step and a column a loss
    alarms : DataFrame (step, alarm, words)
    words : what each aggregate would keep, a sentence a metric
    troubles : what could not be drawn, written or read
    """

    def __init__(self, history: History, given: list[rules.Rule] | None = None) -> None:
        self._history: History | None = history
        self._rules: list[rules.Rule] = [*rules.DEFAULTS] if given is None else given
        self._sounded: tuple[History, list[rules.Rule], list[rules.Alarm]] | None = None

    @property
    def history(self) -> History:
        """What is known by now, as a value."""
        assert self._history is not None
        return self._history

    @property
    def table(self) -> pd.DataFrame:
        return self.history.table

    @property
    def losses(self) -> pd.DataFrame:
        return self.history.losses

    def best(self, metric: str) -> dict[str, int | None]:
        """The step with the best score by avg and by all, None where there is none yet."""
        return best_steps(self.history, self.history.line(metric))

    def best_set(self, metric: str) -> dict[str, list[int]]:
        """The steps that are not worse than any other by more than chance, by avg and by all; see best.py.

        Raises InvalidInput where the noise of the scores is not known.
        """
        history = self.history
        return {part: best_set(history, history.line(metric), part) for part in PARTS}

    def alarm(self, column: str, *, rises: float | None = None, falls: float | None = None, for_: int = 1) -> None:
        """Sound an alarm where a column rises, or falls, by a share of its lowest, or highest, value so far.

        Parameters
        ----------
        column : `fid_avg`, `fid_all`, `fid_gap` and so on, `variance` of the generated rows, or the name of a loss
        rises, falls : the share, 0.5 for half of it; one of the two
        for_ : steps in a row
        """
        rule = rules.Threshold.of(column, rises, falls, for_)
        rules.check_column(self.history, column)
        self._rules.append(rule)

    @property
    def rules(self) -> list[str]:
        """The names of the rules that sound alarms: the default ones, and those that `alarm` added."""
        return list(dict.fromkeys(rule.name for rule in self._rules))

    def remove_alarm(self, name: str) -> None:
        """Let a rule, by its name in `rules`, sound no more; of those that `alarm` added all with that name."""
        check_choice(name, self.rules, "name")
        self._rules[:] = [rule for rule in self._rules if rule.name != name]

    @property
    def alarms(self) -> pd.DataFrame:
        """(step, alarm, words) of the default rules and of those that `alarm` added, read again from the whole run."""
        history, given = self.history, list(self._rules)
        if self._sounded is None or self._sounded[0] is not history or self._sounded[1] != given:
            self._sounded = history, given, rules.sounded(history, given)
        return pd.DataFrame(self._sounded[2], columns=["step", "alarm", "words"])

    def with_weights(self, weights: Any) -> Run:
        """The run as it is now under other weights, by name or in order: its table, best checkpoints and alarms.

        avg and KID-all are exact; FID-all too up to 64 features, from moments in the log, and beyond to first order
        (`history.lines["fid"].kinds`). Other metrics have no *all* there.
        """
        return Run(self.history.with_weights(weights), list(self._rules))

    @property
    def words(self) -> list[str]:
        """What each aggregate would keep, a sentence a metric."""
        history = self.history
        return [kept_words(history, line) for line in history.lines.values()]

    @property
    def troubles(self) -> list[str]:
        return []

    def plot(self) -> Figure:
        """Each metric's avg and all, the gap below, losses, and the alarms at their steps."""
        from .figure import monitored

        return monitored(self.history, self.alarms)

    def to_tensorboard(self, folder: Any) -> Path:
        """See `nm.Monitor.to_tensorboard`."""
        from .export import to_tensorboard

        return to_tensorboard(self.history, [rules.Alarm(*row) for row in self.alarms.to_numpy().tolist()], folder)

    def __repr__(self) -> str:
        return "\n".join([f"{type(self).__name__} of {len(self.history.points):,} steps", *self.words])
