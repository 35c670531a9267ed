"""A run as static HTML: what each aggregate would keep, the last scores, alarms, the cost, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .run import Run

MOST_ALARMS = 10


def page_of(run: Run) -> str:
    """All names and messages are text."""
    history = run.history
    steps = f"{len(history.points):,} steps of {len(history.names):,} clients"
    parts = [f"<p><b>{type(run).__name__}</b>: {steps}</p>", _list(run.words)]
    rows = [(line.name, line.steps[-1], line.avg[-1], line.all[-1], line.gap[-1]) for line in history.lines.values()]
    if rows:
        parts.append(_table(("metric", "last step", "avg", "all", "gap"), rows))
    alarms = run.alarms
    if len(alarms):
        last = alarms.tail(MOST_ALARMS)
        more = f", the last {len(last)} of {len(alarms)}" * (len(last) < len(alarms))
        parts.append(f"<p>Alarms{more}:</p>{_table(tuple(alarms.columns), last.itertuples(index=False))}")
    cost = getattr(run, "cost", None)
    if cost is not None and cost.elapsed:
        spared = f"; {cost.skipped:,} steps came too soon, {cost.dropped:,} gave way to newer ones"
        parts.append(f"<p>Cost: {cost.loop:.3g} s of the loop, {cost.scoring:.3g} s of scoring{spared}.</p>")
    if troubles := run.troubles:
        parts.append(f"<p>Told:</p>{_list(troubles)}")
    return "".join(parts)


def _list(lines: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _table(names: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    body = "".join("<tr>" + "".join(f"<td>{escape(_shown(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _shown(cell: object) -> str:
    if isinstance(cell, (int, np.integer)):
        return f"{int(cell):,}"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
