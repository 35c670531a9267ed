"""A run as TensorBoard's files, to be looked at beside other runs; TensorBoard itself is no part of nbmetrics."""

from __future__ import annotations

import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...errors import InvalidInput, shown
from .alarms import Alarm
from .history import RunHistory
from .run_folder import resolve_folder

# Clients whose own scores are written; of more there is avg and all.
MAX_CLIENTS_WRITTEN = 100


def to_tensorboard(history: RunHistory, alarms: list[Alarm], folder: Any) -> Path:
    """Write a run for TensorBoard, and return the folder; see `nm.Monitor.to_tensorboard`."""
    if find_spec("tensorboard") is None:
        seen = "needs tensorboard, which is not installed"
        raise InvalidInput("to_tensorboard", seen, "Run: pip install tensorboard")
    path = resolve_folder(folder)
    if path.exists() and any(path.iterdir()):
        raise InvalidInput("folder", f"{shown(str(path))} is not empty", "Give a new folder, one for each run")
    from tensorboard.summary import Writer

    times = {point.step: point.time for point in history.points}
    try:
        path.mkdir(parents=True, exist_ok=True)
        writer = Writer(str(path))
        try:
            for tag, step, value in _scalars(history):
                writer.add_scalar(tag, value, step, wall_time=times[step])
            for step, name, words in alarms:
                writer.add_scalar(f"alarms/{name}", 1.0, step, wall_time=times[step], description=words)
        finally:
            writer.close()
    except OSError as error:
        seen = f"{shown(str(path))} cannot be written ({error.strerror})"
        raise InvalidInput("folder", seen, "Choose another folder") from None
    return path


def _scalars(history: RunHistory) -> Any:
    """Yield (tag, step, value) of scores, of each client's scores, and of losses."""
    for name, line in history.lines.items():
        steps = line.steps.tolist()
        for part in line.parts:
            yield from ((f"{name}/{part}", *at) for at in zip(steps, getattr(line, part).tolist(), strict=True))
        for client, scores in zip(history.names[:MAX_CLIENTS_WRITTEN], line.clients.T.tolist(), strict=False):
            yield from ((f"{name} of clients/{client}", *at) for at in zip(steps, scores, strict=True))
    losses = history.losses
    for name in losses.columns[1:]:
        series = zip(losses["step"].tolist(), losses[name].tolist(), strict=True)
        yield from ((f"losses/{name}", step, value) for step, value in series if not math.isnan(value))
