"""Callbacks that log for PyTorch Lightning and Hugging Face's `Trainer`.

Neither library is imported: each asks a callback for a method by its name, so whatever else they ask does nothing.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...errors import InvalidInput, check_count, check_names
from .log_events import MAX_LOSSES

if TYPE_CHECKING:
    from .live_run import LiveRun

MAX_STEPS = 10**9


def _nothing(*_: Any, **__: Any) -> None:
    """Do nothing: for methods of a callback that are no matter of a Monitor."""


class Callback:
    """Logs a source every so many steps of a trainer, and its last step whatever that costs."""

    def __init__(self, run: LiveRun, source: Any, every: Any) -> None:
        run.check(source)
        self._run, self._source = run, source
        self._every = check_count(every, "every", maximum=MAX_STEPS)
        self._last_step: int | None = None
        self._is_scored = False

    def __getattr__(self, name: str) -> Any:
        if name.startswith("on_") or name in ("setup", "teardown"):
            return _nothing
        raise AttributeError(name)

    def _log(self, step: int, losses: Callable[[], Mapping[Any, Any]]) -> None:
        """Log the source and the losses, where it is time."""
        if self._last_step is None or step < self._last_step or step - self._last_step >= self._every:
            self._last_step = step
            self._is_scored = self._run.hand_over(step, self._source, numbers_of(losses()))

    def _end(self, step: int, losses: Callable[[], Mapping[Any, Any]]) -> None:
        if step != self._last_step or not self._is_scored:
            self._run.hand_over(step, self._source, numbers_of(losses()), is_kept=True)


class LightningCallback(Callback):
    """A callback for `lightning.Trainer(callbacks=[…])`."""

    @property
    def state_key(self) -> str:
        return f"nbmetrics Monitor {id(self)}"

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, _: Any) -> None:
        """Do nothing: a Monitor keeps its own state."""

    def on_train_batch_end(self, trainer: Any, *_: Any, **__: Any) -> None:
        if trainer.is_global_zero:
            # what the module logged, as tensors that are not waited for
            self._log(int(trainer.global_step), lambda: trainer.callback_metrics)

    def on_train_end(self, trainer: Any, *_: Any, **__: Any) -> None:
        if trainer.is_global_zero:
            self._end(int(trainer.global_step), lambda: trainer.callback_metrics)


class HuggingFaceCallback(Callback):
    """A callback for `transformers.Trainer(callbacks=[…])`."""

    def on_step_end(self, _: Any, state: Any, *__: Any, **___: Any) -> None:
        if state.is_world_process_zero:
            self._log(int(state.global_step), dict)

    def on_log(self, _: Any, state: Any, __: Any, logs: Any = None, **___: Any) -> None:
        # the last one is of the whole run: its seconds and samples
        if state.is_world_process_zero and logs and "train_runtime" not in logs:
            self._run.hand_over(int(state.global_step), None, numbers_of(logs))

    def on_train_end(self, _: Any, state: Any, *__: Any, **___: Any) -> None:
        if state.is_world_process_zero:
            self._end(int(state.global_step), dict)


def numbers_of(losses: Mapping[Any, Any]) -> dict[str, Any]:
    """Return those losses that are a number or a tensor of one, under names that a log can have."""
    numbers_by_name: dict[str, Any] = {}
    for name, value in losses.items():
        is_tensor = hasattr(value, "detach") and getattr(value, "ndim", 1) == 0
        is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        if (is_tensor or is_number) and len(numbers_by_name) < MAX_LOSSES and _is_name(name):
            numbers_by_name[name] = value
    return numbers_by_name


def _is_name(name: Any) -> bool:
    """Whether a column of losses can have it, where the first one is `step`."""
    try:
        return bool(check_names([name], "losses")) and name != "step"
    except InvalidInput:
        return False
