"""The ledger: bytes up and down for each client, metric and aggregate, as they would be sent, and what they reveal.

The names of a table's columns, which `client_summary` sends too, are not counted.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd

from ..errors import refusal_of
from ..evaluation.cells import Cells, RemoteSummary, part_of
from ..evaluation.scores import Scores
from ..metrics import Metric, Sample
from ..summaries.moments import SMALL
from .serialization import Section, size
from .summary_codec import REVEALS, Thrift, blank_arrays, kind_of, settings_text

COLUMNS = ["client", "metric", "aggregate", "bytes", "bytes_down", "reveals"]
# Of a score.
BYTES_PER_SCORE = 8
ONE_NUMBER = "one number per generator"


def ledger(scores: Scores, *, precision: str = "float64", rank: int | None = None) -> pd.DataFrame:
    """What each client sends and receives, see `Scores.ledger`, where numbers or directions are saved on.

    Parameters
    ----------
    scores : of `evaluate`
    precision, rank : as for `client_summary`

    Examples
    --------
    >>> scores = nm.evaluate([np.eye(64)], {"g": nm.Gaussian([0.0] * 64)}, "fid")
    >>> nm.federated.ledger(scores, precision="float32", rank=8)["bytes"].tolist()
    [8, 2489]
    """
    thrift = Thrift.of(precision, rank)
    rows: list[tuple[Any, ...]] = []
    for result in map(scores.result, scores.metrics):
        answers = _answers(result)
        samples = [own[0] if own else s for s, own in zip_longest(result.generators, result.own_samples)]
        whole = [(s, x) for s, x, a in zip(result.generated, samples, answers, strict=True) if a is None and x]
        down = sum(_metric_bytes(result.metric, summary, sample, thrift)[0] for summary, sample in whole)
        for c, client in enumerate(scores.names):
            sent, reveals = _bytes_for_all(result, c, thrift)
            answered = sum(_metric_bytes(result.metric, a[c], None, thrift)[0] for a in answers if a is not None)
            for_avg = 0 if result.metric.is_conditional else answered
            values = BYTES_PER_SCORE * len(scores.generators)
            if result.own_cells:
                rows.append((client, result.name, "intra", values, _own_bytes(result, c, thrift, samples), ONE_NUMBER))
            rows.append((client, result.name, "avg", values + for_avg, down, ONE_NUMBER))
            rows.append((client, result.name, "all", sent + answered, 0, reveals))
    return pd.DataFrame(rows, columns=COLUMNS)


def _bytes_for_all(result: Cells, c: int, thrift: Thrift) -> tuple[int, str]:
    """Return the bytes of what client c sends for *all*, or sent where only that is here, and what they reveal."""
    if not result.sent:
        return _metric_bytes(result.metric, result.real[c], result.clients[c], thrift)
    section: Section = result.sent[c]
    section = replace(section, columns=None)
    return (size(result.clients[c].dim, [section]) if section.arrays else 0), REVEALS[section.kind]


def _own_bytes(result: Cells, c: int, thrift: Thrift, samples: Sequence[Sample | None]) -> int:
    """Return the bytes of what comes down to client c for intra: of each generator what it made for this client."""
    summaries = [
        a[c] if own and a else s
        for s, a, own in zip(result.generated, result.answers, result.is_by_client, strict=True)
    ]
    pairs = zip(summaries, samples, strict=True)
    return sum(_metric_bytes(result.metric, summary, sample, thrift)[0] for summary, sample in pairs)


def _answers(result: Cells) -> tuple[Any, ...]:
    """Return what generators answered to the conditions of the clients, who hold it; None of the others."""
    answers = result.answers or (None,) * len(result.generated)
    return tuple([None if own else a for a, own in zip_longest(answers, result.is_by_client)])


def _metric_bytes(metric: Metric[Any], summary: Any, sample: Sample | None, thrift: Thrift) -> tuple[int, str]:
    """Return the length of what `client_summary` writes for one metric, and what that reveals."""
    summary = part_of(summary)
    if refusal_of(summary) and not isinstance(summary, RemoteSummary):  # nothing is sent
        return 0, REVEALS["nothing"]
    kind = "own" if sample is None else kind_of(metric, sample.dim)
    if kind == "nothing":
        return 0, REVEALS[kind]
    if kind == "own" or (kind == "rows" and (sample is None or sample.rows is None)):
        return _unknown_format_bytes(summary), REVEALS["own"]
    assert sample is not None
    is_away = isinstance(summary, RemoteSummary) and kind != "thirds"
    arrays, notes = _blank_remote(summary, sample.dim) if is_away else blank_arrays(kind, summary, sample, thrift)
    count = _row_count(summary, sample)
    section = Section(metric.name, settings_text(metric), kind, count, arrays, thrift.type_of(kind, arrays), notes)
    return size(sample.dim, [section]), REVEALS[kind]


def _blank_remote(summary: RemoteSummary, dim: int) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Return empty arrays as `blank_arrays` does, for a summary that stayed on a cluster; of few rows, too many."""
    rest = max(summary.nbytes // BYTES_PER_SCORE - 1 - dim, 0)
    other = "covariance" if (summary.count or 0) > dim > SMALL else "factor"
    return {"mean": np.broadcast_to(0.0, (dim,)), other: np.broadcast_to(0.0, (rest,))}, {}


def _row_count(summary: Any, sample: Sample) -> float:
    """Return the number of rows of a summary; infinity of a distribution."""
    if sample.rows is not None:
        return int(sample.rows.shape[0])
    count = getattr(summary, "count", None) if sample.stream is None else sample.stream.size
    return math.inf if count is None else count


def _unknown_format_bytes(summary: Any) -> int:
    """Return the bytes of a summary of no known format: as it says, 8 a number, or what it takes to write it down."""
    if (said := getattr(summary, "nbytes", None)) is not None:
        return int(said)
    if isinstance(summary, tuple | list):
        return sum(map(_unknown_format_bytes, summary))
    return BYTES_PER_SCORE if isinstance(summary, int | float) else len(pickle.dumps(summary))
