"""Whether given data still give the numbers of a report: its settings, read with care, and the numbers side by side."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..errors import InvalidInput, check_choice, check_count, check_flag, check_number, check_text, one_line, shown
from ..evaluation.scores import Scores
from ..files import parse_json, read_plain
from .options import DESIGNS, RESIZES, parser
from .report import Report

OTHER_NUMBERS = 3
MAX_REPORT_BYTES, MAX_SETTING_LETTERS, MAX_LINES = 1 << 28, 1_000, 20
# What processors and libraries may move a score by: of itself, and of what it is the difference of.
TOLERANCE, ROUNDING = 1e-7, 1e-11
FIX = "Give a file that `nbmetrics score --json` wrote"


def read_report(path: str) -> dict[str, Any]:
    """Return a report that `score --json` wrote."""
    try:
        content = parse_json(read_plain(Path(path).expanduser(), MAX_REPORT_BYTES))
        if not {"options", "table", "by_client"} <= set(content) or not isinstance(content["versions"], dict):
            raise ValueError
        return dict(content)
    except OSError as error:
        raise InvalidInput("REPORT", f"{shown(path)} cannot be read ({error.strerror})", FIX) from None
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InvalidInput("REPORT", f"{shown(path)} is not a report", FIX) from None


def settings_of(report: Mapping[str, Any], options: Namespace) -> Namespace:
    """Return the options of `score` with the report's settings; its paths are not among them, nor a download."""
    own = parser().parse_args(["score", options.clients, *options.generated])
    reported = report["options"]
    try:
        own.metrics = check_text(reported["metrics"], "metrics", MAX_SETTING_LETTERS)
        own.uncertainty = check_choice(reported["uncertainty"], DESIGNS, "uncertainty")
        own.seed = check_count(reported["seed"], "seed", minimum=0)
        own.samples = None if reported["samples"] is None else check_count(reported["samples"], "samples")
        own.test = None if reported["test"] is None else check_number(reported["test"], "test", minimum=0, maximum=1)
        own.extractor = check_text(reported["extractor"], "extractor", MAX_SETTING_LETTERS)
        own.by_class = check_flag(reported.get("by_class", False), "by_class")
        own.runs = check_flag(reported.get("runs", False), "runs")
        own.resize = check_choice(reported["resize"], RESIZES, "resize")
    except (KeyError, TypeError):
        raise InvalidInput("REPORT", "has no settings", FIX) from None
    except InvalidInput as error:
        raise InvalidInput("REPORT", f"its {error.argument} {error.seen}", FIX) from None
    for name in ("store", "weights", "download", "batch_size", "device", "cache", "progress"):
        setattr(own, name, getattr(options, name))
    return own


def order_of(report: Mapping[str, Any]) -> list[str]:
    """Return the names of the report's generators in its order: draws of intervals depend on it, the words do not."""
    try:
        return list(dict.fromkeys(str(row["generator"]) for row in report["table"]))
    except (TypeError, KeyError):
        raise InvalidInput("REPORT", "has no table", FIX) from None


def compare(report: Mapping[str, Any], again: Report) -> tuple[list[str], bool]:
    """Return lines on which numbers of a report came out again, and whether all of them did."""
    scores = again.scores
    report_numbers = _numbers(report.get("table"), ("generator", "metric"), "table")
    report_numbers |= _numbers(report.get("by_client"), ("generator", "metric", "client"), "by_client")
    computed = _numbers(scores.table.to_dict("records"), ("generator", "metric"), "table")
    computed |= _numbers(scores.clients.to_dict("records"), ("generator", "metric", "client"), "by_client")
    if report_numbers.keys() != computed.keys():
        here, there = ({(row, name) for row, name in numbers} for numbers in (report_numbers, computed))
        row, name = min(here ^ there, key=repr)
        which = "has no" if (row, name) in there else "has"
        seen = f"{which} {name} of {one_line(' and '.join(row), MAX_SETTING_LETTERS)}, unlike CLIENTS and GENERATED"
        raise InvalidInput("REPORT", seen, "Give the same files or folders, by their names, in any order")
    sizes = {(g, m): _size(scores, g, m) for m in scores.metrics for g in scores.generators}
    differing = [
        f"{row[1]} {name} of {' with '.join((row[0], *row[2:]))}: {before:.8g} in the report, {now:.8g} now"
        for (row, name), now in computed.items()
        if not _is_same(before := report_numbers[row, name], now, sizes[row[0], row[1]])
    ]
    lines = [f"{len(computed) - len(differing)} of {len(computed)} numbers come out again, to 7 digits."]
    lines += [one_line(line, MAX_SETTING_LETTERS) for line in differing[:MAX_LINES]]
    lines += [f"… and {len(differing) - MAX_LINES} more"] * (len(differing) > MAX_LINES)
    report_version = report["versions"].get("nbmetrics")
    if report_version != __version__:
        lines.append(
            f"The report was made by nbmetrics {one_line(str(report_version), 100)}, and this is {__version__}."
        )
    return lines, not differing


def _numbers(rows: Any, names: tuple[str, ...], what: str) -> dict[tuple[tuple[str, ...], str], float]:
    """Return the numbers of a table by its row and column; NaN for null."""
    numbers: dict[tuple[tuple[str, ...], str], float] = {}
    try:
        for row in rows:
            key = tuple(str(row[name]) for name in names)
            for name, value in row.items():
                if name in (*names, "note", "group"):
                    continue
                if (key, name) in numbers:
                    raise InvalidInput("REPORT", f"its {what} has {shown(' and '.join(key))} twice", FIX)
                numbers[key, str(name)] = math.nan if value is None else float(value)
    except (TypeError, KeyError, AttributeError, ValueError):
        raise InvalidInput("REPORT", f"has no {what}", FIX) from None
    return numbers


def _size(scores: Scores, generator: str, metric: str) -> float:
    """Return how large the numbers are that a score is the small difference of; its rounding is a part of that."""
    cells, g = scores.result(metric), scores.generators.index(generator)
    terms = [abs(term) for cell in (*cells.client_cells[g], cells.pooled_cells[g]) for term in cell.terms.values()]
    summary = cells.generated[g]
    scale = 0.0 if isinstance(summary, InvalidInput) else cells.metric.scale(summary)
    return float(np.nanmax([scale, *terms], initial=0.0))


def _is_same(before: float, now: float, size: float) -> bool:
    if not math.isfinite(before) or not math.isfinite(now):
        return not math.isfinite(before) and not math.isfinite(now)
    return abs(before - now) <= TOLERANCE * max(abs(before), abs(now)) + ROUNDING * size
