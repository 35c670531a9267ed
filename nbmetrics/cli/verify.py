"""Whether given data still give the numbers of a report: its settings, read with care, and the numbers side by side."""

from __future__ import annotations

import json
import math
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import InvalidInput, check_choice, check_count, check_number, check_text, shown
from ..files import open_plain
from .options import DESIGNS, RESIZES, parser
from .report import Report

OTHER_NUMBERS = 3
MAX_REPORT_BYTES, MAX_SETTING_LETTERS, MAX_LINES = 1 << 28, 1_000, 20
# Of a score: what processors and libraries may move it by.
TOLERANCE = 1e-7
FIX = "Give a file that `nbmetrics score --json` wrote"


def read_report(path: str) -> dict[str, Any]:
    """Return a report that `score --json` wrote."""
    try:
        with open(open_plain(Path(path).expanduser(), 0), "rb") as file:
            data = file.read(MAX_REPORT_BYTES + 1)
        content = json.loads(data.decode())
        if not {"options", "table", "versions"} <= set(content):
            raise ValueError
        return dict(content)
    except OSError as error:
        raise InvalidInput("REPORT", f"{shown(path)} cannot be read ({error.strerror})", FIX) from None
    except (ValueError, TypeError, RecursionError):
        raise InvalidInput("REPORT", f"{shown(path)} is not a report", FIX) from None


def settings_of(report: Mapping[str, Any], options: Namespace) -> Namespace:
    """Return the options of `score` with the report's settings; its paths are not among them, nor a download."""
    own = parser().parse_args(["score", options.clients, *options.generated])
    told = report["options"]
    try:
        own.metrics = check_text(told["metrics"], "metrics", MAX_SETTING_LETTERS)
        own.uncertainty = check_choice(told["uncertainty"], DESIGNS, "uncertainty")
        own.seed = check_count(told["seed"], "seed", minimum=0)
        own.samples = None if told["samples"] is None else check_count(told["samples"], "samples")
        own.test = None if told["test"] is None else check_number(told["test"], "test", minimum=0, maximum=1)
        own.extractor = check_text(told["extractor"], "extractor", MAX_SETTING_LETTERS)
        own.resize = check_choice(told["resize"], RESIZES, "resize")
    except (KeyError, TypeError):
        raise InvalidInput("REPORT", "has no settings", FIX) from None
    except InvalidInput as error:
        raise InvalidInput("REPORT", f"its {error.argument} {error.seen}", FIX) from None
    for name in ("store", "weights", "download", "batch_size", "device", "cache", "progress"):
        setattr(own, name, getattr(options, name))
    return own


def compare(report: Mapping[str, Any], again: Report) -> tuple[list[str], bool]:
    """Return lines on which numbers of a report came out again, and whether all of them did."""
    computed = {(row["generator"], row["metric"]): row for row in again.scores.table.to_dict("records")}
    try:
        told = {(row["generator"], row["metric"]): row for row in report["table"]}
        made = str(report["versions"].get("nbmetrics"))[:MAX_SETTING_LETTERS]
    except (TypeError, KeyError, AttributeError):
        raise InvalidInput("REPORT", "has no table", FIX) from None
    if told.keys() != computed.keys():
        names = (sorted({str(generator) for generator, _ in rows}) for rows in (told, computed))
        seen = "is of generators {}, and GENERATED gives {}".format(*(", ".join(own) for own in names))
        raise InvalidInput("REPORT", seen, "Give the same files or folders, by their names, in any order")
    numbers = [(key, name) for key, row in told.items() for name in row if name in computed[key]]
    numbers = [(key, name) for key, name in numbers if name not in ("generator", "metric", "note")]
    differing = list(_differences(numbers, told, computed))
    lines = [f"{len(numbers) - len(differing)} of {len(numbers)} numbers of the table come out again, to 7 digits."]
    lines += differing[:MAX_LINES]
    lines += [f"… and {len(differing) - MAX_LINES} more"] * (len(differing) > MAX_LINES)
    if made != __version__:
        lines.append(f"The report was made by nbmetrics {made}, and this is {__version__}.")
    return lines, not differing


def _differences(
    numbers: list[tuple[tuple[str, str], str]], told: Mapping[Any, Any], computed: Mapping[Any, Any]
) -> Iterator[str]:
    for key, name in numbers:
        before, now = told[key][name], float(computed[key][name])
        value = math.nan if before is None else check_number(before, "REPORT")
        scale = max(abs(float(computed[key][part])) for part in ("avg", "all"))
        is_same = (math.isnan(value) and not math.isfinite(now)) or abs(value - now) <= TOLERANCE * max(scale, 1e-9)
        if not is_same:
            generator, metric = key
            yield f"{metric} {name} of {generator}: {value:.8g} in the report, {now:.8g} now"
