"""Scores as one JSON file, and scores made of one: tables, intervals and p-values, without rows or summaries.

What is read is a stranger's: every size, name and number is checked before it is used, and a checksum finds damage. An
opened `Scores` prints, ranks and exports as the one that was saved; what needs rows or summaries says so.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..errors import (
    InvalidInput,
    check_choice,
    check_count,
    check_flag,
    check_names,
    check_number,
    check_text,
    check_weights,
    shown,
)
from ..federation import check_models
from ..files import checked_path, parse_json, read_plain, write
from ..metrics import Metric, Sample
from .cells import BY_CLIENT_PARTS, PARTS, Cell, Cells
from .models import level_of, models_of, real_parts
from .noise import LEVEL, CellNoise
from .resampling import Ends
from .run_statistics import ErrorPart
from .winners import AGGREGATES

if TYPE_CHECKING:
    import pandas as pd

KIND, VERSION = "nbmetrics scores", 1
MAX_FILE_BYTES, MAX_LINES, MAX_LINE_LETTERS = 1 << 28, 10_000, 20_000
MAX_CLIENTS, MAX_GENERATORS, MAX_METRICS, MAX_TERMS, MAX_LEDGER_ROWS = 100_000, 2_000, 1_000, 100, 1_000_000
AGAIN = "Evaluate again; with nm.evaluate(…, store=folder) that costs only what is new"
FIX = "Give a file that scores.save(path) wrote"
FLAGS = ("higher_is_better", "is_distance", "is_squared", "is_conditional")
ENDS, BY_PAIR = ("corrected", "low", "high"), ("client", "own")
LEDGER_COLUMNS = ("client", "metric", "aggregate", "bytes", "bytes_down", "reveals")


class NoSummary(InvalidInput):
    """In the place of a summary that was not saved with the scores."""

    def __init__(self) -> None:
        super().__init__("scores", "were opened from a file, which has no rows or summaries", AGAIN)


class SavedMetric(Metric[Any]):
    """How a metric of saved scores is read: its names, direction and limits; it computes nothing."""

    def __init__(self, name: str, label: str, convention: str, settings: Mapping[str, Any]) -> None:
        self.name, self.label, self._convention = name, label, convention
        for flag in FLAGS:
            setattr(self, flag, check_flag(settings[flag], flag))
        self.is_unbiased = check_flag(settings.get("is_unbiased", False), "is_unbiased")
        self.best = None if settings["best"] is None else _number(settings["best"])
        self.lowest, self.highest = (_number(settings[end]) for end in ("lowest", "highest"))

    @property
    def convention(self) -> str:
        return self._convention

    def summarize(self, sample: Sample) -> NoReturn:
        raise NoSummary

    def pool(self, summaries: Sequence[Any], weights: Sequence[float]) -> NoReturn:
        raise NoSummary

    def terms(self, real: Any, generated: Any) -> NoReturn:
        raise NoSummary


class SavedNoise(CellNoise):
    """Intervals and p-values that were saved, under the weights that they were saved with."""

    def __init__(
        self,
        design: str,
        ends: Mapping[str, Ends],
        worse: Mapping[str, np.ndarray],
        refusal: InvalidInput | None = None,
    ) -> None:
        super().__init__(None, [refusal])
        self._design, self._ends, self._worse = design, ends, worse

    @property
    def none_because(self) -> InvalidInput | None:
        return self.refusals[0]

    @property
    def design(self) -> str:
        return self._design

    def ends(self, weights: Sequence[float], part: str, estimate: np.ndarray) -> Ends:
        self._check()
        return self._ends[part]

    def worse(self, weights: Sequence[float], part: str, pair: tuple[int, int], estimate: np.ndarray) -> float:
        self._check()
        return float(self._worse[part][pair])

    def _check(self) -> None:
        if (refusal := self.none_because) is not None:
            raise refusal

    def cautions(self, weights: Sequence[float]) -> list[str]:
        return []


@dataclass(frozen=True, eq=False)
class SavedCells(Cells):
    """The cells of one metric as they were saved; all lines about them are in `cautions`.

    `real_parts` and `level` : see `models.ReadsModels`; of scores without models of several runs they are empty
    """

    real_parts: Mapping[str, Sequence[ErrorPart]] = field(default_factory=dict)
    level: float = LEVEL

    @property
    def convention(self) -> str:
        return self.metric.convention

    def refusals(self, names: Sequence[str], generators: Sequence[str]) -> list[str]:
        return []

    def remarks(self) -> list[str]:
        return []

    def size_gap_caution(self, generators: Sequence[str]) -> list[str]:
        return []

    def with_weights(self, weights: Sequence[float]) -> Cells:
        if tuple(weights) != self.weights:
            raise NoSummary
        return self


def as_json(scores: Any, convention: str) -> str:
    """Return everything that is saved of scores; `convention` : the line about what was drawn."""
    content = {
        "format": KIND,
        "version": VERSION,
        "provenance": scores.provenance,
        "clients": [{"name": n, "weight": w} for n, w in zip(scores.names, scores.weights, strict=True)],
        "generators": list(scores.generators),
        **({"groups": list(scores.groups)} if any(scores.groups) else {}),
        "metrics": [_metric_json(scores, scores.result(name)) for name in scores.metrics],
        "convention": convention,
        "ledger": scores.ledger.to_dict("records"),
        "summary": scores.summary(),
        "conventions": scores.conventions,
    }
    text = _text(_plain(content))
    return f'{text[:-1]},"sha256":"{hashlib.sha256(text.encode()).hexdigest()}"}}\n'


def save(scores: Any, convention: str, path: Any) -> Path:
    """Write the file, whole or not at all; InvalidInput where `read` would refuse it, for its size or its texts."""
    target, data = checked_path(path, ".json"), as_json(scores, convention).encode()
    try:
        _parts(_checked_content(data))
    except InvalidInput as error:
        seen = f"cannot be saved: {error.argument} {error.seen}"
        raise InvalidInput("scores", seen, "Save fewer generators, or give metrics texts of one line") from None
    return write(target, data)


def _text(content: Any) -> str:
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    """Return plain JSON: NaN is null, and an infinite number a text."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def _metric_json(scores: Any, cells: Cells) -> dict[str, Any]:
    noise = {} if cells.noise is None else {"noise": _noise_json(scores, cells)}  # first: what it lacks is a line below
    metric = cells.metric
    settings = {
        "higher_is_better": metric.higher_is_better,
        "is_distance": metric.is_distance,
        "is_squared": metric.is_squared,
        "is_conditional": metric.is_conditional,
        "is_unbiased": metric.is_unbiased,
        "best": metric.best,
        "lowest": metric.lowest,
        "highest": metric.highest,
    }
    lines = [*cells.cautions, *cells.refusals(scores.names, scores.generators), *cells.remarks()]
    return {
        "name": cells.name,
        "label": cells.label,
        "convention": cells.convention,
        **settings,
        "cautions": [*lines, *cells.size_gap_caution(scores.generators)],
        "by_client": [[_cell_json(cell) for cell in row] for row in cells.client_cells],
        "all": [_cell_json(cell) for cell in cells.pooled_cells],
        **({"own": [[_cell_json(cell) for cell in row] for row in cells.own_cells]} if cells.own_cells else {}),
        **noise,
        **({"models": _models_json(scores, cells)} if any(scores.groups) else {}),
    }


def _models_json(scores: Any, cells: Cells) -> dict[str, Any]:
    """What the clients' rows add to the error of the models' means, which needs them."""
    parts = {part: real_parts(scores, cells, part) for part in cells.aggregates}
    by_part = {part: {"variance": [p.variance for p in own], "freedom": own[0].freedom} for part, own in parts.items()}
    return {"level": level_of(cells), **by_part}


def _cell_json(cell: Cell) -> dict[str, Any]:
    return {"value": cell.value, "terms": dict(cell.terms), "size_gap": cell.size_gap}


def _noise_json(scores: Any, cells: Cells) -> dict[str, Any]:
    noise = cells.noise
    assert noise is not None
    whole, one = cells.intervals(), cells.client_intervals()
    if (refusal := noise.none_because) is not None:
        return {"design": str(noise.design), "refusal": [refusal.argument, refusal.seen, refusal.fix]}
    shape = len(scores.generators), len(scores.names)
    ends = {part: {end: whole[f"{part}_{end}"] for end in ENDS} for part in (*cells.aggregates, "gap")}
    ends["client"] = {end: one[end].reshape(shape) for end in ENDS}
    if cells.own_cells:
        ends["own"] = {end: one[f"own_{end}"].reshape(shape) for end in ENDS}
    losses = {part: cells.losses(getattr(cells, part)) for part in cells.aggregates}
    worse = {part: _worse(noise, scores.weights, part, estimate) for part, estimate in losses.items()}
    return {"design": str(noise.design), "ends": ends, "worse": worse}


def _worse(noise: CellNoise, weights: Sequence[float], part: str, estimate: np.ndarray) -> np.ndarray:
    """Return the p-values of every pair of generators, (generators, generators); NaN where there are none."""
    table = np.full((len(estimate),) * 2, np.nan)
    for pair in itertools.combinations(range(len(estimate)), 2):
        table[pair] = noise.worse(weights, part, pair, estimate)
    return table


def read(path: Any) -> dict[str, Any]:
    """Return what `Scores` is made of: names, weights, generators, results, convention, provenance and ledger."""
    try:
        data = read_plain(Path(path).expanduser(), MAX_FILE_BYTES + 1)
    except (TypeError, ValueError, OSError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        raise InvalidInput("path", f"{shown(path)} cannot be read ({why})", FIX) from None
    try:
        return _parts(_checked_content(data))
    except InvalidInput as error:
        seen = f"{shown(path)} cannot be used: {error.argument} {error.seen}"
        raise InvalidInput("path", seen, error.fix if error.argument == "version" else FIX) from None
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, OverflowError):
        raise InvalidInput("path", f"{shown(path)} is not a file of scores", FIX) from None


def _checked_content(data: bytes) -> dict[str, Any]:
    """Return the content of a file, whose kind, version and checksum are right."""
    if len(data) > MAX_FILE_BYTES:
        raise InvalidInput("file", f"has more than {MAX_FILE_BYTES:,} bytes", FIX)
    content = parse_json(data)
    checksum = content.pop("sha256", None)
    if content.get("format") != KIND:
        raise InvalidInput("format", f"is {shown(content.get('format'))}", FIX)
    if type(content["version"]) is not int or content["version"] != VERSION:
        fix = "Open it with the version of nbmetrics that wrote it, or a newer one"
        raise InvalidInput("version", f"is {shown(content['version'])}, and this one reads {VERSION}", fix)
    if checksum != hashlib.sha256(_text(content).encode()).hexdigest():
        raise InvalidInput("checksum", "is not that of the content: it was changed or damaged", FIX)
    return dict(content)


def _parts(content: Mapping[str, Any]) -> dict[str, Any]:
    clients = _items(content["clients"], MAX_CLIENTS)
    names = check_names([client["name"] for client in clients], "clients")
    weights = tuple([_number(client["weight"]) for client in clients])
    if not math.isclose(math.fsum(check_weights(weights, len(names))), math.fsum(weights), rel_tol=1e-9):
        raise InvalidInput("weights", "do not add up to 1", FIX)
    generators = check_names(_items(content["generators"], MAX_GENERATORS), "generators")
    shape = len(generators), len(names)
    groups = _groups(content.get("groups", []), generators)
    means = len(models := models_of(generators, groups)) + math.comb(len(models), 2) if any(groups) else 0
    metrics = [_cells(item, weights, shape, means) for item in _items(content["metrics"], MAX_METRICS)]
    check_names([cells.name for cells in metrics], "metrics")
    if not (names and generators and metrics):
        raise InvalidInput("file", "has no scores", FIX)
    return {
        "names": names,
        "weights": weights,
        "generators": generators,
        "groups": groups,
        "results": metrics,
        "convention": _line(content["convention"], "convention"),
        "provenance": _provenance(content["provenance"]),
        "ledger": [_ledger_row(row) for row in _items(content["ledger"], MAX_LEDGER_ROWS)],
    }


def _groups(items: Any, generators: Sequence[str]) -> list[str | None]:
    """Return the model of each generator, or None."""
    groups = _items(items, MAX_GENERATORS) or [None] * len(generators)
    if len(groups) != len(generators):
        raise InvalidInput("groups", "are not one for each generator", FIX)
    for group in groups:
        if group is not None:
            check_names([group], "groups")
    check_models(generators, groups)
    return groups


def _ledger_row(row: Mapping[str, Any]) -> list[Any]:
    texts = {name: _line(row[name], name) for name in LEDGER_COLUMNS if not name.startswith("bytes")}
    return [texts[name] if name in texts else check_count(row[name], name, minimum=0) for name in LEDGER_COLUMNS]


def _line(text: Any, what: str) -> str:
    """Return a text of one line, which may be long."""
    if "\n" in (line := check_text(text, what, MAX_LINE_LETTERS)):
        raise InvalidInput(what, "has several lines", FIX)
    return line


def ledger_of(rows: Sequence[Sequence[Any]]) -> pd.DataFrame:
    """Return the ledger of its rows."""
    import pandas as pd

    return pd.DataFrame(rows, columns=list(LEDGER_COLUMNS))


def _provenance(content: Any) -> dict[str, Any]:
    if content:
        for name in ("nbmetrics", "date"):
            check_names([content[name]], name)
    return dict(content)


def _cells(item: Mapping[str, Any], weights: tuple[float, ...], shape: tuple[int, int], means: int) -> SavedCells:
    name, label = (check_names([item[key]], key)[0] for key in ("name", "label"))
    convention = _line(item["convention"], "convention")
    metric = SavedMetric(name, label, convention, item)
    rows = [[_cell(cell) for cell in _items(row, shape[1])] for row in _items(item["by_client"], shape[0])]
    pooled = [_cell(cell) for cell in _items(item["all"], shape[0])]
    if [len(row) for row in rows] != [shape[1]] * shape[0] or len(pooled) != shape[0]:
        raise InvalidInput("scores", "are not one for each generator and client", FIX)
    own = [[_cell(cell) for cell in _items(row, shape[1])] for row in _items(item.get("own", []), shape[0])]
    if own and ([len(row) for row in own if row] != [shape[1]] * sum(map(bool, own)) or len(own) != shape[0]):
        raise InvalidInput("scores", "are not one for each generator and client", FIX)
    lines = [_line(line, "cautions") for line in _items(item["cautions"], MAX_LINES)]
    noise = _noise(item["noise"], shape, bool(own)) if "noise" in item else None
    return SavedCells(
        metric,
        weights,
        (NoSummary(),) * shape[1],
        (NoSummary(),) * shape[0],
        tuple(map(tuple, rows)),
        (None,) * shape[0],
        noise,
        tuple(lines),
        own_cells=tuple(map(tuple, own)),
        pools={weights: NoSummary()},
        pooled={weights: tuple(pooled)},
        **(_models(item["models"], means, bool(own)) if means else {}),
    )


def _models(item: Mapping[str, Any], means: int, has_intra: bool) -> dict[str, Any]:
    """Return what `_models_json` wrote."""
    parts = {}
    for part in (*AGGREGATES, *["intra"] * has_intra):
        freedom = _number(item[part]["freedom"])
        variances = _array(item[part]["variance"], (means,))
        if not freedom >= 1.0 or (variances < 0.0).any():
            raise InvalidInput("models", "have a variance or degrees of freedom that no scores have", FIX)
        parts[part] = [ErrorPart(float(variance), freedom) for variance in variances]
    return {"real_parts": parts, "level": check_number(item["level"], "level", minimum=0.5, maximum=0.999)}


def _cell(item: Mapping[str, Any]) -> Cell:
    terms = {check_text(name, "terms", 200): _number(value) for name, value in dict(item["terms"]).items()}
    if len(terms) > MAX_TERMS:
        raise InvalidInput("terms", f"are {len(terms):,}", FIX)
    return Cell(_number(item["value"]), terms, None, _number(item["size_gap"]))


def _noise(item: Mapping[str, Any], shape: tuple[int, int], has_intra: bool) -> SavedNoise:
    design = _line(item["design"], "design")
    if "refusal" in item:
        argument, seen, fix = (_line(text, "refusal") for text in item["refusal"])
        return SavedNoise(design, {}, {}, InvalidInput(argument, seen, fix))
    ends = {
        part: Ends(*(_array(item["ends"][part][end], shape if part in BY_PAIR else shape[:1]) for end in ENDS))
        for part in (*PARTS, *BY_CLIENT_PARTS * has_intra)
    }
    aggregates = ("intra", *AGGREGATES) if has_intra else AGGREGATES
    worse = {part: _array(item["worse"][part], (shape[0], shape[0])) for part in aggregates}
    return SavedNoise(design, ends, worse)


def _array(values: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return an array of numbers of this shape."""
    items = _items(values, shape[0])
    rows = [_array(row, shape[1:]) for row in items] if len(shape) > 1 else [_number(value) for value in items]
    array = np.array(rows, dtype=np.float64).reshape(-1, *shape[1:])
    if array.shape != shape:
        raise InvalidInput("numbers", f"have the shape {array.shape}, not {shape}", FIX)
    return array


def _items(value: Any, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise InvalidInput("file", f"has {shown(value)} where a list of at most {most:,} belongs", FIX)
    return value


def _number(value: Any) -> float:
    """Return a number as `_plain` writes it."""
    if value is None:
        return math.nan
    if isinstance(value, str):
        return float(check_choice(value, ("inf", "-inf"), "number"))
    return check_number(value, "number", minimum=-1e300, maximum=1e300)
