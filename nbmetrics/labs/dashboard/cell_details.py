"""The details of one cell (a client and a generator): terms of the score, the rows that matter most, parts of FID-all.

    {"client", "generator", "metric", "shares": [k],
     "terms": [[name, value]] | null, "why": "",
     "rows": {"client": [{"row", "pull", "picture"?}], "generator": […], "of": [n, m], "looked": [n, m]} | null,
     "parts": {"parts": [k], "rest", "total"} | null,
     "copies": {"rows": [{"row", "score"}], "looked": m} | null, "doing": ""}

Numbers are plain JSON, see `metric_view.json_number`. Rows are named by their place in what was given.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...arrays import Array, to_float64, to_numpy
from ...errors import InvalidInput, refusal_of
from ...evaluation.cells import Cells, mixture_or_refusal
from ...metrics.base import Sample
from ...metrics.fid.metric import FID
from ...metrics.fld import memorization_scores
from ...metrics.kid.metric import KID
from ...ranking import order
from ...summaries.moments import Moments
from .json_numbers import json_number
from .thumbnails import with_pictures

MAX_ROWS_SHOWN = 10
# Multiplications of a witness, and rows a side: a second's work.
MAX_MULTIPLICATIONS, MAX_ROWS_A_SIDE = 3e9, 2_500
# Rows a side for the scores of copies, whose fit takes longer.
MAX_ROWS_FITTED = 250
# Features up to which the map from the pool to a generator takes no longer than a second.
MAX_FEATURES_FOR_PARTS = 600


def cell_details(
    result: Cells,
    g: int,
    i: int,
    shares: Sequence[float],
    images: Any = None,
    generator_images: Any = None,
) -> Iterator[dict[str, Any]]:
    """Yield the details of the score of generator g with client i, part by part: what is quick first.

    Of a generator with one distribution for each client they are of what it made for that client.

    `images` and `generator_images` are what the rows of the two sides are made of, None where they are no images.
    """
    cell, generator, client = result.client_cells[g][i], result.generators[g], result.clients[i]
    if result.own_cells and result.own_cells[g]:
        cell, generator = result.own_cells[g][i], result.own_samples[g][i]
    has_rows = generator is not None and generator.rows is not None and client.rows is not None
    parts: dict[str, Any] = {
        "terms": [[name, json_number(value)] for name, value in cell.terms.items()] if cell.refusal is None else None,
        "why": "" if cell.refusal is None else str(cell.refusal),
        "shares": list(shares),
        "rows": None,
        "parts": None,
        "copies": None,
    }
    steps = {
        "rows": (
            "the most influential rows",
            lambda: influential_rows(result, client, generator) if has_rows else None,
        ),
        "parts": ("each client’s part of FID-all", lambda: fid_parts(result, g, shares)),
        "copies": (
            "copies",
            lambda: likely_copies(client, generator) if has_rows and client.test is not None else None,
        ),
    }
    for name, (step, compute) in steps.items():
        yield {**parts, "doing": step}
        parts[name] = compute()
    if parts["rows"]:
        _picture(parts["rows"], {"client": images, "generator": generator_images}, parts["copies"])
    yield {**parts, "doing": ""}


def _picture(rows: dict[str, Any], images: Mapping[str, Any], copied: dict[str, Any] | None) -> None:
    """Add pictures to the rows that are shown, where there are some."""
    counts = dict(zip(("client", "generator"), rows["of"], strict=True))
    for side, seen in images.items():
        rows[side] = with_pictures(rows[side], seen, counts[side])
    if copied:
        copied["rows"] = with_pictures(copied["rows"], images["generator"], counts["generator"])


def influential_rows(result: Cells, client: Sample, generator: Any) -> dict[str, Any] | None:
    """Return the rows of both sides that move KID most, by its witness: how much likelier a row is on its own side.

    The value is E k(x, X′) − E k(x, Y) for a row x of the client, X′ another of its rows and Y generated, and the same
    with the sides exchanged; its mean over the client's rows plus that over the generated ones is KID.
    """
    metric = result.metric if isinstance(result.metric, KID) and result.metric.has_influence_values else KID()
    x, y = to_numpy(client.rows), to_numpy(generator.rows)
    most = int(min(MAX_ROWS_A_SIDE, max(100.0, (MAX_MULTIPLICATIONS / (4.0 * x.shape[1])) ** 0.5)))
    rows = [_evenly_spaced(side, most) for side in (x, y)]
    try:
        metric = metric.resolve([Sample(rows=side) for side, _ in rows])
        strata = [metric.strata(metric.summarize(Sample(rows=side)), side) for side, _ in rows]
        influence_values = metric.influence_values(*strata)
    except InvalidInput:
        return None
    rows_by_side = {
        side: _largest(np.asarray(values[0]) / 2.0, places, "pull", 0.0)
        for side, values, (_, places) in zip(
            ("client", "generator"), (influence_values.real, influence_values.generated), rows, strict=True
        )
    }
    return {**rows_by_side, "of": [len(x), len(y)], "looked": [len(side) for side, _ in rows]}


def fid_parts(result: Cells, g: int, shares: Sequence[float]) -> dict[str, Any] | None:
    """Return each client's part of FID-all, which add up to it, and the rest that is due to few rows.

    With T the map that carries the pooled Gaussian onto the generator's, FID-all is the mean of ‖x − T(x)‖² over the
    pooled data, and so the weighted sum of its means over the clients.
    """
    if not isinstance(result.metric, FID):
        return None
    real, generated = result.real, result.generated[g]
    if any(result.is_by_client) and result.is_by_client[g]:
        generated = mixture_or_refusal(result.metric, result.answers[g] or (generated,), shares)
    weighted = [(i, w) for i, w in enumerate(shares) if w]
    if refusal_of(generated, *(real[i] for i, _ in weighted)) or len(generated.mean) > MAX_FEATURES_FOR_PARTS:
        return None
    pooled = Moments.pool([real[i] for i, _ in weighted], [w for _, w in weighted])
    try:
        total = float(result.metric.distance(pooled, generated))
    except InvalidInput:
        return None
    onto = np.eye(len(generated.mean)) - _transport_map(_cov(pooled), _cov(generated))
    centre, shift = _vector(pooled.mean), _vector(pooled.mean) - _vector(generated.mean)
    parts = np.zeros(len(real))
    for i, share in weighted:
        there = onto @ (_vector(real[i].mean) - centre) + shift
        count = real[i].count
        spread = (1.0 - 1.0 / count) * float(np.einsum("ij,jk,ik->", onto, _cov(real[i]), onto, optimize=True))
        parts[i] = share * (float(there @ there) + spread)
    return {
        "parts": [json_number(p) for p in parts],
        "rest": json_number(total - float(parts.sum())),
        "total": json_number(total),
    }


def _vector(mean: Array) -> np.ndarray:
    return to_numpy(to_float64(mean))


def _cov(moments: Moments) -> np.ndarray:
    if moments.dense is not None:
        return to_numpy(to_float64(moments.dense))
    root = to_numpy(to_float64(moments.root))
    return np.asarray(root.T @ root)


def _transport_map(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the symmetric matrix that carries N(0, source) onto N(0, target), where source has any spread."""
    half = _power(target, 0.5)
    return np.asarray(half @ _power(half @ source @ half, -0.5) @ half)


def _power(matrix: np.ndarray, power: float) -> np.ndarray:
    """A power of a positive semidefinite matrix; directions without spread stay without."""
    values, axes = np.linalg.eigh((matrix + matrix.T) / 2.0)
    kept = values > 1e-10 * max(values[-1], 1e-300)
    return np.asarray((axes[:, kept] * values[kept] ** power) @ axes[:, kept].T)


def likely_copies(client: Sample, generator: Any) -> dict[str, Any] | None:
    """Return the generated rows likeliest to be copies of a client's, by FLD's memorization score against test rows."""
    (train, _), (test, _), (rows, places) = (
        _evenly_spaced(to_numpy(side), MAX_ROWS_FITTED) for side in (client.rows, client.test, generator.rows)
    )
    try:
        scores = to_numpy(memorization_scores(train, test, rows))
    except InvalidInput:
        return None
    return {"rows": _largest(scores, places, "score"), "looked": len(rows)}


def _evenly_spaced(rows: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return at most so many rows, evenly spaced, and their positions."""
    places = np.arange(0, len(rows), -(-len(rows) // most))
    return rows[places], places


def _largest(values: np.ndarray, places: np.ndarray, name: str, above: float = -math.inf) -> list[dict[str, Any]]:
    first = order(-values)[:MAX_ROWS_SHOWN]
    return [{"row": int(places[k]), name: json_number(float(values[k]))} for k in first if values[k] > above]
