"""The still picture of a Dashboard: avg and all of each generator with what is chance, and what each client loses."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...figures.drawing import AGGREGATES, Drawing, brief, legend, panels, plain
from .decisions import Known

LONGEST = 24  # letters of a name
MOST_NAMED = 40  # clients
# Of a normal variable: what 95 % lie within.
REACH = 1.96


def dashboard(known: Known, generators: Sequence[str], clients: Sequence[str], words: str) -> Drawing:
    """Left avg and all, a row a generator; right the regret of each client; the verdict above."""
    rows = min(len(clients), MOST_NAMED)
    figure, (left, right) = panels(2, width=5.4, height=max(3.6, 0.2 * rows + 1.6))
    names = [plain(brief(name, LONGEST)) for name in generators]
    _scores(left, known, names)
    _regret(figure, right, known, names, clients)
    legend(figure, left)
    figure.suptitle(textwrap.fill(plain(words), 110), x=0.01, ha="left", fontsize=11)
    return figure


def _scores(ax: Any, known: Known, names: Sequence[str]) -> None:
    """The numbers that decisions use, as scores, with 95 % of their noise."""
    places = np.arange(len(names))
    sign = -1.0 if known.facts.metric.higher_is_better and known.facts.metric.best is None else 1.0
    sides = {"avg": (known.avg_centres, known.avg_draws), "all": (known.all_centres, known.all_draws)}
    for part, (losses, draws) in sides.items():
        if np.isnan(losses).all():
            continue
        reach = None if draws is None else REACH * draws.std(axis=0)
        style = {key: AGGREGATES[part][key] for key in ("color", "marker")}
        ax.errorbar(sign * losses, places, xerr=reach, linestyle="none", label=part, **style)
    ax.set_yticks(places, names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel(label_of(known))


def label_of(known: Known) -> str:
    """What the numbers of decisions are."""
    facts = known.facts
    if facts.metric.best is not None:
        return f"{facts.metric.label}, distance from {facts.metric.best:g}"
    return f"{facts.metric.label}, without the bias of few rows" if facts.is_corrected else facts.metric.label


def _regret(figure: Drawing, ax: Any, known: Known, names: Sequence[str], clients: Sequence[str]) -> None:
    centres = known.facts.centres
    finite = np.where(np.isfinite(centres), centres, np.nan)
    with np.errstate(invalid="ignore"):
        regret = (finite - np.fmin.reduce(finite, axis=0)).T
    ax.grid(False)
    ax.set_facecolor("0.8")
    image = ax.imshow(np.ma.masked_invalid(regret), aspect="auto", cmap="Oranges", vmin=0.0, interpolation="nearest")
    ax.set_xticks(range(len(names)), names, rotation=45, ha="right")
    if len(clients) <= MOST_NAMED:
        ax.set_yticks(range(len(clients)), [plain(brief(name, LONGEST)) for name in clients])
    else:
        ax.set_ylabel(f"{len(clients)} clients")
    figure.colorbar(image, ax=ax, label=f"{known.facts.metric.label} above the client’s best")
