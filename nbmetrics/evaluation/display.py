"""Scores as text and as a table in a notebook: one cell a score, its interval beside it, the plain value apart.

With uncertainty a cell reads `1.23 [1.1, 1.4]`: the score without the bias of few rows and the interval about it. Where
that moved the score, the plain value stands apart, since it need not lie in the interval.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..ranking import TIE, numeral
from .cells import ScoresProtocol

PARTS = ("avg", "all", "gap")


class CellText(NamedTuple):
    """One score as people read it: the value with its interval, and the plain value where that is another."""

    value: str
    plain: str = ""

    @classmethod
    def of(cls, row: Mapping[Any, Any], part: str) -> CellText:
        """From a row of `Scores.table`."""
        plain = float(row[part])
        corrected = float(row.get(f"{part}_corrected", plain))
        low, high = (float(row.get(f"{part}_{end}", math.nan)) for end in ("low", "high"))
        is_known = high - low > TIE * abs(high)  # what does not vary needs none, and NaN has none
        interval = f" [{figure(low, 3)}, {figure(high, 3)}]" if is_known else ""
        value = figure(corrected) if not interval else figure(corrected, 4)
        is_same = figure(corrected, 4) == figure(plain, 4) or math.isnan(plain)
        return cls(value + interval, "" if is_same else f"plain {figure(plain, 4)}")

    def __str__(self) -> str:
        return f"{self.value} ({self.plain})" if self.plain else self.value


def figure(value: float, digits: int = 5) -> str:
    """So many significant digits; what is only rounding reads as 0, and what is not known as a dash."""
    if math.isnan(value):
        return "–"
    return "0" if abs(value) < TIE else numeral(value, f".{digits}g", beside=0)


def as_text(scores: ScoresProtocol) -> str:
    """The table, what it says in words, and how it was made."""
    import pandas as pd

    rows = [
        {
            "generator": row["generator"],
            "metric": row["metric"],
            **{part: str(CellText.of(row, part)) for part in PARTS},
        }
        for row in scores.table.to_dict("records")
    ]
    said = [*scores.summary(), *scores.cautions, *_how(scores)]
    return "\n".join([pd.DataFrame(rows).to_string(index=False), *said])


def _how(scores: ScoresProtocol) -> list[str]:
    """The conventions without the cautions, which come before them."""
    cautions = scores.cautions
    return [line for line in scores.conventions if line not in cautions]


def as_html(scores: ScoresProtocol) -> str:
    """The same with one row a generator; names are text."""
    return f"<div>{table_html(scores)}{words_html(scores)}</div>"


def table_html(scores: ScoresProtocol) -> str:
    """The table alone."""
    heads = ["", *(f"{scores.label(name)} {part}" for name in scores.metrics for part in PARTS)]
    by_generator: dict[str, list[str]] = {name: [] for name in scores.generators}
    for row in scores.table.to_dict("records"):
        by_generator[row["generator"]] += [_cell(CellText.of(row, part)) for part in PARTS]
    body = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th>{"".join(cells)}</tr>' for name, cells in by_generator.items()
    )
    head = "".join(f'<th scope="col">{html.escape(h)}</th>' for h in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def words_html(scores: ScoresProtocol) -> str:
    """What it says in words, and how it was made."""
    words = "".join(f"<p>{html.escape(line)}</p>" for line in scores.summary())
    words += "".join(f"<p><strong>{html.escape(line)}</strong></p>" for line in scores.cautions)
    small = "<br>".join(html.escape(line) for line in _how(scores))
    return f"{words}<p><small>{small}</small></p>"


def _cell(cell: CellText) -> str:
    plain = f"<br><small>{html.escape(cell.plain)}</small>" if cell.plain else ""
    return f'<td style="white-space: nowrap">{html.escape(cell.value)}{plain}</td>'
