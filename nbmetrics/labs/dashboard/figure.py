"""The still picture of a Dashboard: avg and all of each generator, and what each client loses with it."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from ...evaluation.scores import Scores
from ...figures.drawing import AGGREGATES, Drawing, brief, legend, panels, plain

LONGEST = 24  # letters of a name
MOST_NAMED = 40  # clients


def dashboard(scores: Scores, metric: str, words: str) -> Drawing:
    """Left avg and all, a row a generator; right the regret of each client; the verdict above."""
    rows = min(len(scores.names), MOST_NAMED)
    figure, (left, right) = panels(2, width=5.4, height=max(3.6, 0.2 * rows + 1.6))
    found = scores.values(metric)
    names = [plain(brief(name, LONGEST)) for name in scores.generators]
    places = np.arange(len(names))
    for part, values in (("avg", found.avg), ("all", found.all)):
        style = {key: AGGREGATES[part][key] for key in ("color", "marker")}
        left.plot(values, places, linestyle="none", label=part, **style)
    left.set_yticks(places, names)
    left.set_ylim(len(names) - 0.5, -0.5)
    left.set_xlabel(scores.label(metric))
    _regret(figure, right, scores, metric, names)
    legend(figure, left)
    figure.suptitle(textwrap.fill(plain(words), 110), x=0.01, ha="left", fontsize=11)
    return figure


def _regret(figure: Drawing, ax: Any, scores: Scores, metric: str, names: list[str]) -> None:
    losses = scores.losses(metric).by_client
    finite = np.where(np.isfinite(losses), losses, np.nan)
    with np.errstate(invalid="ignore"):
        regret = (finite - np.fmin.reduce(finite, axis=0)).T
    ax.grid(False)
    ax.set_facecolor("0.8")
    image = ax.imshow(np.ma.masked_invalid(regret), aspect="auto", cmap="Blues", vmin=0.0, interpolation="nearest")
    ax.set_xticks(range(len(names)), names, rotation=45, ha="right")
    if len(scores.names) <= MOST_NAMED:
        ax.set_yticks(range(len(scores.names)), [plain(brief(name, LONGEST)) for name in scores.names])
    else:
        ax.set_ylabel(f"{len(scores.names)} clients")
    figure.colorbar(image, ax=ax, label=f"{scores.label(metric)} above the client’s best")
