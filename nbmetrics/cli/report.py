"""The report of scores as a text of 80 columns, as JSON, as a page: disagreement first, then numbers."""

from __future__ import annotations

import json
import math
import platform
import re
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any
from unicodedata import combining, east_asian_width

import numpy as np
import pandas as pd

from .. import __version__
from ..errors import InvalidInput
from ..evaluation.display import STAR, cells_of, parts_of, reading_notes, table_html, with_notes, words_html
from ..evaluation.model_sentences import model_verdict
from ..evaluation.models import has_runs, models_of
from ..evaluation.scores import Scores
from ..evaluation.sentences import PAIRS, headline, leading_clients, shown_label
from ..federation import Federation, Generator
from ..federation.by_client import ByClient
from ..summaries.reference import Moments
from .parties import Party

WIDTH = 80
MAX_CLIENTS_NAMED = 8
# What a line says to call, which a shell cannot.
PYTHON_ONLY = re.compile(r": see scores\.\w+\(.*?\)")
PACKAGES = ("numpy", "scipy", "pandas", "sklearn", "PIL", "torch", "torchvision", "torch_fidelity")

PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem;
  overflow-wrap: anywhere }}
.wide {{ overflow-x: auto }}
table {{ border-collapse: separate; border-spacing: 0; width: max-content }}
th, td {{ text-align: right; padding: .2rem .7rem; border-bottom: 1px solid #8886; overflow-wrap: normal }}
th[scope=row], td.text {{ text-align: left; overflow-wrap: anywhere; max-width: min(20rem, 30vw) }}
tr > :first-child {{ position: sticky; left: 0; background: Canvas; border-right: 1px solid #8886 }}
.verdict {{ font-size: 1.25rem; font-weight: 600 }}
</style>
<h1>{title}</h1>
{verdict}
<h2>Scores</h2>
{scores}
{words}
<h2>Clients</h2>
{clients}
<h2>Client by client</h2>
{by_client}
{unread}
<h2>How it was made</h2>
{notes}
</html>
"""


@dataclass(frozen=True)
class Report:
    """Scores, and their sources: of each client name, path, rows and weight; of each generator name, path and rows."""

    scores: Scores
    client_rows: Sequence[Mapping[str, Any]]
    generator_rows: Sequence[Mapping[str, Any]]
    notes: Sequence[str]
    unread: Sequence[Mapping[str, str]]
    options: Mapping[str, Any]

    @property
    def verdict(self) -> list[str]:
        """Return who is best by each aggregate where they differ, else which pairs of generators they do not agree on.

        A metric has one line, on the scores that the table shows first. Of runs, which models differ comes after it.
        """
        by_metric = {metric: self._lines_of_pairs(metric) for metric in self.scores.metrics}
        firsts = {metric: headline(self.scores, metric) for metric in by_metric}
        best = [line for metric, lines in by_metric.items() for line in ([firsts[metric]] if firsts[metric] else lines)]
        return [*best, *self._model_verdicts()]

    def _model_verdicts(self) -> list[str]:
        """Return a line a metric on which models differ by more than their runs do; none where there are no runs."""
        return list(filter(None, (model_verdict(self.scores, metric) for metric in self.scores.metrics)))

    def _lines_of_pairs(self, metric: str) -> list[str]:
        """Return what the summary says of pairs by the scores that the table shows first."""
        start = f"{shown_label(self.scores, metric)}: "
        return [line for line in self.scores.summary() if PAIRS in line and line.startswith(start)]

    @property
    def lines_below(self) -> list[str]:
        """Return the lines under the table: what else the order shows, cautions, then how the numbers were made."""
        cautions = self.scores.cautions
        above = [line for metric in self.scores.metrics for line in self._lines_of_pairs(metric)]
        models = "\n".join(self._model_verdicts())
        summary = [line for line in self.scores.summary() if line not in above and line not in models]
        made = [line for line in self.scores.conventions if line not in cautions]
        lines = [*summary, *leading_clients(self.scores), *cautions, *self.notes, *made]
        return [PYTHON_ONLY.sub("", line) for line in lines]

    @property
    def has_intervals(self) -> bool:
        return bool(self.options["uncertainty"] != "none")


def client_rows(federation: Federation, parties: Sequence[Party]) -> list[dict[str, Any]]:
    """Return of each client: name, path, rows, weight."""
    paths = {party.name: str(party.path) for party in parties}
    return [
        {"name": client.name, "path": paths.get(client.name or "", ""), "rows": client.size, "weight": weight}
        for client, weight in zip(federation, federation.weights, strict=True)
    ]


def generator_rows(parties: Sequence[Party], generators: Sequence[Generator]) -> list[dict[str, Any]]:
    """Return of each generator: name, path, rows."""
    sides = zip(parties, generators, strict=True)
    return [{"name": party.name, "path": str(party.path), "rows": _size(g.source)} for party, g in sides]


def _size(source: Any) -> int:
    """Return how many rows or images a generator is, for all clients together."""
    if isinstance(source, ByClient):
        return sum(_size(own.source) for own in source.members)
    return (source.n or 0) if isinstance(source, Moments) else len(source)


def as_text(report: Report) -> str:
    """Return the report for a terminal of 80 columns."""
    blocks = ["\n".join(_wrap(line) for line in report.verdict)] if report.verdict else []
    blocks += _blocks(report.scores)
    stars = reading_notes(report.scores, STAR)
    return "\n\n".join([*blocks, "\n".join(map(_wrap, [*stars, *_client_lines(report), *report.lines_below]))])


def _client_lines(report: Report) -> list[str]:
    """Return a line that names several clients, so that folders taken a level too high or too low are seen."""
    rows = report.client_rows
    if len(rows) < 2:
        return []
    listing = ", ".join(f"{row['name']} ({row['rows']:,} rows)" for row in rows[:MAX_CLIENTS_NAMED])
    more = f", and {len(rows) - MAX_CLIENTS_NAMED} more" * (len(rows) > MAX_CLIENTS_NAMED)
    return [f"{len(rows)} clients: {listing}{more}"]


def _wrap(line: str) -> str:
    return textwrap.fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _blocks(scores: Scores) -> list[str]:
    """Return a table a metric: generators, values, intervals and plain values below, columns as wide as all need."""
    tables = {metric: _cells(scores, metric) for metric in scores.metrics}
    column = 2 + max(len(line) for rows in tables.values() for cells in rows for cell in cells for line in cell)
    room = WIDTH - len(parts_of(scores, scores.metrics[0])) * column
    blocks = []
    for metric, rows in tables.items():
        heads = "".join(f"{part + '  ':>{column}}" for part in parts_of(scores, metric))
        lines = _named_lines(scores.label(metric), heads.rstrip(), room)
        for generator, cells in zip(scores.generators, rows, strict=True):
            first, *more = ("".join(f"{line:>{column}}" for line in at) for at in zip(*cells, strict=True))
            lines += _named_lines(f"  {generator}", first.rstrip(), room)
            lines += [" " * room + line.rstrip() for line in more if line.strip()]
        blocks.append("\n".join(lines))
    return blocks


def _named_lines(name: str, line: str, room: int) -> list[str]:
    """Return a name before its line, or on one of its own where it is too long."""
    left = room - _width(name)
    return [name + " " * left + line] if left > 0 else [name, " " * room + line]


def _width(text: str) -> int:
    """Return the columns of a text in a terminal: two for a letter of East Asia, none for an accent that is added."""
    return sum(2 if east_asian_width(c) in "WF" else not combining(c) for c in text)


def _cells(scores: Scores, metric: str) -> list[list[list[str]]]:
    """Return for each generator and part: value, interval and plain value, a star behind the best of its column."""

    def starred(text: str, is_best: bool) -> str:
        return f"{text} {STAR if is_best else ' '}"

    return [
        [
            [starred(c.value, c.best == "value"), starred(c.interval, False), starred(c.plain, c.best == "plain")]
            for c in row
        ]
        for row in cells_of(scores, metric)
    ]


def _flips(scores: Scores, metric: str) -> list[dict[Any, Any]]:
    """Return the rows of `Scores.flips`; none where the metric has no intervals, which a caution says."""
    try:
        return list(scores.flips(metric).to_dict("records"))
    except InvalidInput:
        return []


def _models(scores: Scores) -> dict[str, Any]:
    """Return the means over runs, and the comparisons of models by each aggregate."""
    parts = {metric: scores.result(metric).aggregates for metric in scores.metrics}
    return {
        "models": {metric: scores.models(metric).to_dict("records") for metric in parts},
        "model_comparisons": {
            metric: {part: scores.compare_models(metric, part).to_dict("records") for part in own}
            for metric, own in parts.items()
        },
    }


def as_json(report: Report) -> bytes:
    """Return everything, for a program; what is no finite number is null."""
    scores = report.scores
    content = {
        "versions": _versions(),
        "provenance": scores.provenance,
        "options": {name: value for name, value in report.options.items() if name != "command"},
        "clients": report.client_rows,
        "generators": report.generator_rows,
        "verdict": report.verdict,
        "table": with_notes(scores).to_dict("records"),
        "by_client": scores.clients.to_dict("records"),
        "ranks": {metric: scores.ranks(metric).to_dict("records") for metric in scores.metrics},
        "inversions": {metric: scores.inversions(metric).to_dict("records") for metric in scores.metrics},
        "flips": {metric: _flips(scores, metric) for metric in scores.metrics if report.has_intervals},
        **(_models(scores) if has_runs(scores) else {}),
        "summary": scores.summary(),
        "leading_clients": leading_clients(scores),
        "notes": list(report.notes),
        "conventions": scores.conventions,
        "cautions": scores.cautions,
        "unread": list(report.unread),
    }
    return (json.dumps(_plain(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode(
        "utf-8", "replace"
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _versions() -> dict[str, str]:
    loaded = {name: getattr(sys.modules.get(name), "__version__", None) for name in PACKAGES}
    return {
        "nbmetrics": __version__,
        "python": platform.python_version(),
        **{name: str(version) for name, version in loaded.items() if version},
    }


def as_page(report: Report) -> bytes:
    """Return one page of its own, without a script; all names are text."""
    unread = pd.DataFrame(list(report.unread), columns=["of", "file", "reason"])
    lines = [*report.notes, ", ".join(f"{name} {version}" for name, version in _versions().items())]
    models = models_of(report.scores.generators, report.scores.groups)
    page = PAGE.format(
        title=escape(f"Scores of {', '.join(model.name for model in models)}"),
        verdict="".join(f'<p class="verdict">{escape(line)}</p>' for line in report.verdict),
        scores=_wide("Scores", table_html(report.scores)),
        words=PYTHON_ONLY.sub("", words_html(report.scores)),
        clients=_wide("Clients", _table(pd.DataFrame(report.client_rows)[["name", "rows", "weight"]])),
        by_client=_wide("Client by client", _table(report.scores.clients)),
        unread=f"<h2>Files not read</h2>\n{_wide('Files not read', _table(unread))}" if len(unread) else "",
        notes="".join(f"<p>{escape(line)}</p>" for line in lines),
    )
    return page.encode("utf-8", "replace")


def _wide(name: str, table: str) -> str:
    """Return a table that scrolls by itself where the page is narrower, its first column in sight."""
    return f'<div class="wide" tabindex="0" role="region" aria-label="{name}">{table}</div>'


def _table(frame: pd.DataFrame) -> str:
    head = "".join(f'<th scope="col">{escape(str(name))}</th>' for name in frame.columns)
    rows = "".join(f"<tr>{''.join(map(_td, row))}</tr>" for row in frame.itertuples(index=False))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _td(value: Any) -> str:
    if isinstance(value, str):
        return f'<td class="text">{escape(value)}</td>'
    number = "–" if math.isnan(value) else format(value, ".5g") if isinstance(value, float) else str(value)
    return f"<td>{number.replace('-', '−')}</td>"
