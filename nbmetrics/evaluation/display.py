"""Scores as text and as a table in a notebook: one cell a score, its interval beside it, the plain value apart.

With uncertainty a cell reads `1.23 [1.1, 1.4]`: the score without the bias of few rows and the interval about it. Where
that moved the score, the plain value stands apart, since it need not lie in the interval. The best by each aggregate is
marked, as `winners` says.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..metrics.base import Metric
from ..ranking import TIE, figure
from .models import has_runs
from .scores_protocol import ScoresProtocol
from .sentences import leading_clients, shown_label
from .winners import AGGREGATES, Winners, is_about_zero, lies_below_zero, winners_of

if TYPE_CHECKING:
    import pandas as pd

PARTS = (*AGGREGATES, "gap")
BY_CLIENT = "intra: each client with what was made for it; avg and all: with the mixture of all that was made"
STAR = "*"
ABOUT_ZERO = "about 0"
# Why a score is shown as that, and why another one below 0 is not.
BY_CHANCE = (
    "a distance is never below 0, but its estimate (in brackets) can be, by chance, "
    "because the correction for few rows subtracts the average bias"
)
NOT_INDEPENDENT = "below 0 by more than chance: its rows are probably not independent draws (copies?)"


class CellText(NamedTuple):
    """One score as people read it: the value, its interval in brackets, and the plain value where that is another.

    `best` says which of its numbers is the best of its column: "value", "plain", or "".
    """

    value: str
    interval: str = ""
    plain: str = ""
    best: str = ""

    @classmethod
    def of(cls, row: Mapping[Any, Any], part: str, *, is_distance: bool = False, best: str = "") -> CellText:
        """From a row of `Scores.table`; of a best plain value that stands for itself, the value is the best."""
        plain = float(row[part])
        corrected = float(row.get(f"{part}_corrected", plain))
        low, high = (float(row.get(f"{part}_{end}", math.nan)) for end in ("low", "high"))
        is_known = high - low > TIE * abs(high)  # what does not vary needs none, and NaN has none
        interval = f"[{figure(low, 3)}, {figure(high, 3)}]" if is_known else ""
        value = figure(corrected, 4 if interval else 5)
        if is_distance and part != "gap" and figure(corrected) != "0" and is_about_zero(corrected, high):
            value, interval = ABOUT_ZERO, _in_brackets(corrected, low, high, interval)
        is_same = figure(corrected, 4) == figure(plain, 4) or math.isnan(plain)
        return cls(
            value,
            interval,
            "" if is_same else f"plain {figure(plain, 4)}",
            "value" if best == "plain" and is_same else best,
        )

    def __str__(self) -> str:
        return self.marked(STAR)

    def marked(self, star: str) -> str:
        """Return the cell in one line, with a mark behind the best of its numbers."""
        plain = f"({self.plain}{star if self.best == 'plain' else ''})" if self.plain else ""
        return " ".join(filter(None, [self.value + star * (self.best == "value"), self.interval, plain]))


def _in_brackets(value: float, low: float, high: float, interval: str) -> str:
    """An estimate below 0 with its interval, as ± where it lies in the middle."""
    if not interval:
        return f"({figure(value, 3)})"
    reach = (high - low) / 2.0
    is_middle = abs((high + low) / 2.0 - value) <= 1e-6 * reach
    return f"({figure(value, 3)} ± {figure(reach, 2)})" if is_middle else f"({figure(value, 3)} {interval})"


def parts_of(scores: ScoresProtocol, metric: str) -> tuple[str, ...]:
    """Return what a table shows of one metric: its aggregates, and the gap."""
    return (*scores.result(metric).aggregates, "gap")


def cells_of(scores: ScoresProtocol, metric: str) -> list[list[CellText]]:
    """Return of each generator the cells of one metric: avg, all, gap, the best of them marked."""
    rows = scores.table[scores.table["metric"] == metric].to_dict("records")
    cells = scores.result(metric)
    winners, is_distance = winners_of(cells), cells.metric.is_distance
    return [
        [
            CellText.of(row, part, is_distance=is_distance, best=_mark(winners, part, g))
            for part in parts_of(scores, metric)
        ]
        for g, row in enumerate(rows)
    ]


def _mark(winners: Winners, part: str, g: int) -> str:
    """Which number of a cell is the best of its column; a gap has no best, and neither has a single generator."""
    if len(winners.is_left_out) < 2 or g not in winners.best.get(part, ()):
        return ""
    return "value" if winners.is_corrected else "plain"


def reading_notes(scores: ScoresProtocol, mark: str) -> list[str]:
    """Return how the table is to be read: what the mark of the best means, and what "about 0" does."""
    by_end: dict[str, list[str]] = {}
    for name in scores.metrics:
        by_end.setdefault(_best_end(scores.result(name).metric), []).append(shown_label(scores, name))
    ends = "; ".join(f"{end} {', '.join(labels)}" for end, labels in by_end.items())
    aggregates = scores.result(scores.metrics[0]).aggregates
    kind = "best single run by" if has_runs(scores) else "best by"
    best = [f"{mark}: {', '.join(f'{kind} {part}' for part in aggregates)} ({ends})"] * (len(scores.generators) > 1)
    best += [BY_CLIENT] * ("intra" in aggregates)
    has_zero = any(c.value == ABOUT_ZERO for name in scores.metrics for row in cells_of(scores, name) for c in row)
    return [*best, *[f"{ABOUT_ZERO}: {BY_CHANCE}"] * has_zero]


def _best_end(metric: Metric[Any]) -> str:
    if metric.best is not None:
        return f"nearest to {metric.best:g}"
    return "highest" if metric.higher_is_better else "lowest"


def with_notes(scores: ScoresProtocol) -> pd.DataFrame:
    """Return the table for programs; with uncertainty it has a column `note` on scores below 0."""
    if "avg_corrected" not in scores.table:
        return scores.table
    notes: list[str] = []
    for name in scores.metrics:
        cells, is_left_out = cells_of(scores, name), lies_below_zero(scores.result(name))
        for row, is_below in zip(cells, is_left_out, strict=True):
            has_zero = any(cell.value == ABOUT_ZERO for cell in row)
            notes.append(NOT_INDEPENDENT if is_below else f"{ABOUT_ZERO}: {BY_CHANCE}" if has_zero else "")
    return scores.table.assign(note=notes)


def as_text(scores: ScoresProtocol) -> str:
    """The table, what it says in words, and how it was made."""
    import pandas as pd

    rows = []
    for name in scores.metrics:
        for generator, cells in zip(scores.generators, cells_of(scores, name), strict=True):
            parts = dict(zip(parts_of(scores, name), map(str, cells), strict=True))
            rows.append({"generator": generator, "metric": name, **parts})
    said = [*scores.summary(), *leading_clients(scores), *scores.cautions, *reading_notes(scores, STAR), *_made(scores)]
    return "\n".join([_padded(pd.DataFrame(rows)).to_string(index=False), *said])


def _padded(frame: pd.DataFrame) -> pd.DataFrame:
    """Right-aligned numbers stay below each other where a star follows some of them."""
    for part in frame.columns[2:]:
        if frame[part].str.endswith(STAR).any():
            frame[part] = [text if text.endswith(STAR) else f"{text} " for text in frame[part]]
    return frame


def _made(scores: ScoresProtocol) -> list[str]:
    """The conventions without the cautions, which come before them."""
    cautions = scores.cautions
    return [line for line in scores.conventions if line not in cautions]


def as_html(scores: ScoresProtocol) -> str:
    """The same with one row a generator; names are text."""
    return f"<div>{table_html(scores)}{words_html(scores)}</div>"


def table_html(scores: ScoresProtocol) -> str:
    """The table alone."""
    heads = ["", *(f"{scores.label(name)} {part}" for name in scores.metrics for part in parts_of(scores, name))]
    by_generator: dict[str, list[str]] = {name: [] for name in scores.generators}
    for metric in scores.metrics:
        for generator, cells in zip(scores.generators, cells_of(scores, metric), strict=True):
            by_generator[generator] += map(_cell, cells)
    body = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th>{"".join(cells)}</tr>' for name, cells in by_generator.items()
    )
    head = "".join(f'<th scope="col">{html.escape(h)}</th>' for h in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def words_html(scores: ScoresProtocol) -> str:
    """What it says in words, how to read it, and, in a fold, how it was made."""
    words = "".join(f"<p>{html.escape(line)}</p>" for line in [*scores.summary(), *leading_clients(scores)])
    words += "".join(f"<p><strong>Caution:</strong> {html.escape(line)}</p>" for line in scores.cautions)
    words += "".join(f"<p><small>{html.escape(line)}</small></p>" for line in reading_notes(scores, "Bold"))
    small = "<br>".join(map(html.escape, _made(scores)))
    return f"{words}<details><summary>How these numbers were made</summary><p><small>{small}</small></p></details>"


def _cell(cell: CellText) -> str:
    """A cell of up to three short lines, so that six columns with intervals fit a notebook."""
    value, plain = _strong(cell.value, cell.best == "value"), _strong(cell.plain, cell.best == "plain")
    small = "".join(f"<br><small>{line}</small>" for line in (html.escape(cell.interval), plain) if line)
    return f'<td style="white-space: nowrap">{value}{small}</td>'


def _strong(text: str, is_best: bool) -> str:
    return f"<strong>{html.escape(text)}</strong>" if is_best else html.escape(text)
