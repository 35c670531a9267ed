"""What a class predicted: one axis of flags a lesson, and the answer as a line."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from .drawing import GENERATOR, GREY, Drawing

WIDTH, AXIS_HEIGHT = 8.0, 1.9  # inches
BINS = 40  # of an axis: flags closer than that stand on each other
CROWDED = 200  # points: what a flag on each level may be high, times the levels
FLAG_COLOUR = "#1a5fd0"  # as in the page
# Pole and cloth, from the foot.
FLAG = np.array([(0, 0), (0, 2), (0.9, 1.6), (0, 1.2), (0, 0)])


def class_flags(table: pd.DataFrame, questions: Mapping[str, str], *, reveal: bool = True) -> Drawing:
    """Flags at the guesses of each lesson of `table` (lesson, guess, answer); and the median answer if `reveal`."""
    groups = list(table.groupby("lesson", sort=False))
    figure = Drawing(figsize=(WIDTH, AXIS_HEIGHT * max(1, len(groups)) + 0.2), layout="constrained")
    axes = figure.subplots(max(1, len(groups)), 1, squeeze=False).ravel()
    for ax in axes:
        ax.spines[["top", "left", "right"]].set_visible(False)
        ax.set_yticks([])
        ax.xaxis.set_major_locator(MaxNLocator(6))
        ax.tick_params(labelsize=9, colors=GREY)
    if not groups:
        axes[0].set_title("No answers yet", fontsize=10, loc="left")
    for ax, (name, group) in zip(axes, groups, strict=False):
        guesses, answers = group["guess"].to_numpy(), group["answer"].dropna().to_numpy()
        shown = np.append(guesses, answers) if reveal else guesses
        pad = (np.ptp(shown) or abs(shown[0]) or 1.0) / 12
        ax.set_xlim(shown.min() - pad, shown.max() + pad)
        levels = _levels(guesses, *ax.get_xlim())
        ax.set_ylim(0, max(5.0, levels.max() + 1.2))
        size = np.clip(CROWDED / ax.get_ylim()[1], 8, 26)
        ax.plot(guesses, levels, linestyle="none", marker=FLAG, markersize=size, color=FLAG_COLOUR, alpha=0.8)
        said = "1 guess" if len(guesses) == 1 else f"{len(guesses)} guesses, median {np.median(guesses):.3g}"
        if reveal and len(answers):
            ax.axvline(np.median(answers), color=GENERATOR, linewidth=2.5, zorder=0)
            said += f"; the answer is {np.median(answers):.3g}"
        title = "\n".join(textwrap.wrap(questions.get(str(name), str(name)), 96))
        ax.set_title(title.replace("$", r"\$"), fontsize=10, loc="left")
        ax.set_xlabel(said.replace("-", "−"), fontsize=9, color=GREY, loc="left")
    return figure


def _levels(guesses: np.ndarray, low: float, high: float) -> np.ndarray:
    """How high each flag stands: on those before it that it would hide."""
    bins = np.round((guesses - low) / (high - low) * BINS)
    return np.array([np.count_nonzero(bins[:k] == place) for k, place in enumerate(bins)], dtype=float)
