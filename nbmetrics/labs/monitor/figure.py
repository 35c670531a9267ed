"""The still picture of a run: each metric's avg and all over the steps, its gap below, losses, and alarms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ...figures.drawing import AGGREGATES, COLOURS, Drawing, brief, legend, panels, plain
from .best_checkpoints import line_errors
from .history import Line, RunHistory

MAX_NAME_LETTERS = 24
# Standard errors on either side of a score that 95 % of its noise lies within.
BAND_STANDARD_ERRORS = 1.96


def run_figure(history: RunHistory, alarms: pd.DataFrame) -> Drawing:
    """Draw a column for each line: above avg and all, below the gap; losses in a last column."""
    lines = list(history.lines.values())
    has_losses = bool(len(history.losses))
    columns = max(1, len(lines) + has_losses)
    figure, axes = panels(2 * columns, width=4.6, height=2.9, rows=2)
    for ax in axes:
        ax.set_visible(False)
    for line, top, bottom in zip(lines, axes, axes[columns:], strict=False):
        noise = line_errors(history, line)
        _scores(top, line, noise)
        if "gap" in line.parts:
            _gap(bottom, line, noise)
    if has_losses:
        _losses(axes[columns - 1], history.losses)
    shown = [ax for ax in axes if ax.get_visible()]
    for ax in shown:
        for step in alarms["step"].unique():
            ax.axvline(step, color="0.4", linestyle=":", linewidth=1)
        ax.set_xlabel("step")
    if shown:
        legend(figure, *shown)
    return figure


def _plot_values(ax: Any, steps: np.ndarray, values: np.ndarray, **look: Any) -> None:
    """Plot the finite values as a line, and a mark at the edge for each that is not."""
    ax.set_visible(True)
    finite = np.isfinite(values)
    ax.plot(steps[finite], values[finite], markersize=3, **look)
    high = values == np.inf
    for places, height in ((high, 0.98), (~finite & ~high, 0.02)):
        ax.plot(steps[places], np.full(places.sum(), height), "x", color="0.2", transform=ax.get_xaxis_transform())


def _band(ax: Any, steps: np.ndarray, values: np.ndarray, noise: np.ndarray, colour: str, floor: float) -> None:
    """Fill the band that 95 % of the noise of a line lies within."""
    if np.isfinite(values + noise).any():
        low, high = np.maximum(values - BAND_STANDARD_ERRORS * noise, floor), values + BAND_STANDARD_ERRORS * noise
        ax.fill_between(steps, low, high, color=colour, alpha=0.15, linewidth=0)


def _scores(ax: Any, line: Line, noise: np.ndarray) -> None:
    for column, part in enumerate(part for part in line.parts if part != "gap"):
        values = getattr(line, part)
        _plot_values(ax, line.steps, values, label="intra" if line.facts.of else part, **AGGREGATES[part])
        _band(
            ax,
            line.steps,
            values,
            noise[:, column],
            AGGREGATES[part]["color"],
            0.0 if line.facts.kind == "fid" else -np.inf,
        )
    ax.set_ylabel(plain(brief(line.label, MAX_NAME_LETTERS)))


def _gap(ax: Any, line: Line, noise: np.ndarray) -> None:
    _plot_values(ax, line.steps, line.gap, label="gap", **AGGREGATES["gap"])
    _band(ax, line.steps, line.gap, noise[:, 2], AGGREGATES["gap"]["color"], -np.inf)
    ax.set_ylabel(f"{plain(brief(line.facts.label, MAX_NAME_LETTERS))}, avg − all")
    if line.facts.kind == "kid" and np.isfinite(line.gap).any():  # constant: its rounding is no picture
        middle = float(np.nanmedian(line.gap))
        reach = max(float(np.nanmax(np.abs(line.gap - middle))), 0.1 * abs(middle), 1e-12)
        ax.set_ylim(middle - 1.5 * reach, middle + 1.5 * reach)


def _losses(ax: Any, losses: pd.DataFrame) -> None:
    steps = losses["step"].to_numpy()
    for name, colour in zip(losses.columns[1:], COLOURS, strict=False):
        values = losses[name].to_numpy(dtype=float)
        is_logged = ~np.isnan(values) | (len(losses.columns) == 2)
        _plot_values(
            ax, steps[is_logged], values[is_logged], label=plain(brief(str(name), MAX_NAME_LETTERS)), color=colour
        )
    ax.set_ylabel("losses")
