"""Run: what is asked of a run, live or opened: scores, best checkpoints and alarms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ...errors import check_choice
from . import alarms as rules
from .alarm_rules import DEFAULT_RULES
from .best_checkpoints import PARTS, best_set, best_steps, checkpoint_sentence
from .history import RunHistory

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Run:
    """A run under some weights, read from its history; `table`, `losses`, `alarms` and so on as of `nm.Monitor`."""

    def __init__(self, history: RunHistory, alarm_rules: list[rules.Rule] | None = None) -> None:
        self._history: RunHistory | None = history
        self._rules: list[rules.Rule] = [*DEFAULT_RULES] if alarm_rules is None else alarm_rules
        self._alarm_cache: tuple[RunHistory, list[rules.Rule], list[rules.Alarm]] | None = None

    @property
    def history(self) -> RunHistory:
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
        """See `nm.Monitor.best_set`, and best_checkpoints.py."""
        history = self.history
        return {part: best_set(history, history.line(metric), part) for part in PARTS}

    def alarm(self, column: str, *, rises: float | None = None, falls: float | None = None, for_: int = 1) -> None:
        """See `nm.Monitor.alarm`."""
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
        history, alarm_rules = self.history, list(self._rules)
        cache = self._alarm_cache
        if cache is None or cache[0] is not history or cache[1] != alarm_rules:
            self._alarm_cache = cache = history, alarm_rules, rules.find_alarms(history, alarm_rules)
        return pd.DataFrame(cache[2], columns=["step", "alarm", "words"])

    def with_weights(self, weights: Any) -> Run:
        """See `nm.Monitor.with_weights`; `history.lines["fid"].kinds` says how all is known."""
        return Run(self.history.with_weights(weights), list(self._rules))

    @property
    def words(self) -> list[str]:
        """What each aggregate would keep, a sentence a metric."""
        history = self.history
        return [checkpoint_sentence(history, line) for line in history.lines.values()]

    @property
    def troubles(self) -> list[str]:
        return []

    def plot(self) -> Figure:
        """Each metric's avg and all, the gap below, losses, and the alarms at their steps."""
        from .figure import run_figure

        return run_figure(self.history, self.alarms)

    def to_tensorboard(self, folder: Any) -> Path:
        """See `nm.Monitor.to_tensorboard`."""
        from .tensorboard_export import to_tensorboard

        return to_tensorboard(self.history, [rules.Alarm(*row) for row in self.alarms.to_numpy().tolist()], folder)

    def __repr__(self) -> str:
        return "\n".join([f"{type(self).__name__} of {len(self.history.points):,} steps", *self.words])
