"""Which kinds of rows a generator makes too often or too rarely, and whose they are: see `Scores.modes`.

Flow: the second moments of both sides (`metrics.modes`) → their eigenvectors → the mode that each row belongs to →
shares with intervals, the p-value of all modes at once, and the nearest rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array, is_array, to_numpy
from ..errors import InvalidInput, check_choice, check_count, check_number, refusal_of, shown
from ..metrics.base import Sample
from ..metrics.modes import FLOOR, LANCZOS_TOLERANCE, Directions, ModeAssignment, Modes
from .cells import Cells
from .saved_scores import NoSummary
from .scores_protocol import ScoresProtocol

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.95
MAX_MODES, MAX_PERMUTATIONS, MAX_ROWS_NAMED = 20, 100_000, 5
# The permutation test looks at so many rows at most, of both sides in proportion.
MAX_ROWS_PERMUTED = 20_000
SURPLUS, SHORTAGE = "too often", "too rarely"
# Columns of the tables of modes that no client's column may have the name of.
PARTS, SIDES = ("avg", "all"), ("generated", "real", "first", "second")
RESERVED = {"mode", "p", "rows", *SIDES, *(f"{side}_{end}" for side in SIDES for end in ("low", "high"))} | {
    f"{part}_{what}" for part in PARTS for what in ("part", "error", "change")
}


@dataclass(frozen=True, eq=False)
class Side:
    """One client or generator.

    Attributes
    ----------
    name : of it
    matrix : E φφᵀ
    rows : (n, d), or None where they are not here
    count : n, infinity where nobody knows
    """

    name: str
    matrix: np.ndarray
    rows: Array | None
    count: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """What modes are computed from: the metric, the clients with their weights, and generators.

    `away` says why some client's rows are not here, "" if they are.
    """

    metric: Modes
    clients: tuple[Side, ...]
    weights: tuple[float, ...]
    away: str = ""

    @property
    def pooled(self) -> np.ndarray:
        """Σ λ_i M_i."""
        return np.asarray(sum(w * side.matrix for side, w in zip(self.clients, self.weights, strict=True)))

    @property
    def is_by_rows(self) -> bool:
        """Whether the weights are the clients' shares of all rows."""
        counts = np.array([side.count for side in self.clients])
        return bool(np.isfinite(counts).all() and np.allclose(self.weights, counts / counts.sum(), rtol=1e-9))

    def interval(self, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ends for Σ λ_i share_i, for the number of equal rows that would be as noisy."""
        lost = math.fsum(w * w / side.count for side, w in zip(self.clients, self.weights, strict=True))
        return wilson(shares, 1.0 / lost if lost else math.inf)


def wilson(shares: np.ndarray, n: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of Wilson's 95 % interval of shares of n rows (Wilson 1927)."""
    if math.isinf(n):
        return shares, shares
    z2 = 1.959963984540054**2 / n
    centre, reach = shares + z2 / 2.0, np.sqrt(z2 * shares * (1.0 - shares) + z2 * z2 / 4.0)
    return np.maximum(0.0, (centre - reach) / (1.0 + z2)), np.minimum(1.0, (centre + reach) / (1.0 + z2))


def modes(
    scores: ScoresProtocol,
    generator: str,
    settings: Modes | None = None,
    *,
    most: int = 6,
    floor: float = FLOOR,
    permutations: int = 199,
    seed: int = 0,
    client_shares: Mapping[str, Sequence[float]] | None = None,
) -> pd.DataFrame:
    """See `Scores.modes`."""
    from .p_value_frame import PValueFrame  # pandas comes when it is needed

    most, floor = check_count(most, "most", maximum=MAX_MODES), check_number(floor, "floor", minimum=0.0, maximum=1.0)
    permutations = check_count(permutations, "permutations", minimum=0, maximum=MAX_PERMUTATIONS)
    seed = check_count(seed, "seed", minimum=0)
    comparison, (side,) = compare(scores, [generator], settings)
    directions = comparison.metric.directions(side.matrix, comparison.pooled, most)
    assignment = ModeAssignment(comparison.metric, directions.vectors, floor)
    columns = share_columns(comparison, assignment, {"generated": side}, client_shares)
    p, reason = p_values(comparison, side, len(directions.values), permutations, seed)
    rows = nearest_rows(comparison, assignment, directions, (side,))
    frame = PValueFrame({"mode": labels(directions, SURPLUS, SHORTAGE), **columns, "p": p, "rows": rows})
    frame.floors = {"p": 1.0 / (permutations + 1)}
    frame.footnote = f"{permutations} permutations: the smallest possible p is {1.0 / (permutations + 1):.3g}"
    lines = [*conventions(comparison, assignment), reason or f"p: {permutations} permutations, maximum over modes"]
    frame.attrs["conventions"] = [*lines, *scores.conventions]
    frame.attrs["assignment"] = assignment
    frame.attrs["eigenvalues"] = directions.values.tolist()
    return frame


def compare(
    scores: ScoresProtocol, generators: Sequence[str], settings: Modes | None = None
) -> tuple[Comparison, list[Side]]:
    """Return the clients and some generators under `settings`, or under the `Modes` that was evaluated."""
    if settings is not None and not isinstance(settings, Modes):
        raise InvalidInput("settings", f"got {shown(settings)}", "Give nm.metrics.Modes(sigma=…), or nothing")
    places = [scores.generators.index(check_choice(name, scores.generators, "generator")) for name in generators]
    result = _evaluated(scores, settings)
    has_summaries = result is not None
    result = result or scores.result(scores.metrics[0])
    _check_has_rows(result, scores, places, has_summaries)
    samples = [result.generators[g] for g in places]
    if has_summaries:
        metric: Any = result.metric
        if refusal := refusal_of(*result.real, *(result.generated[g] for g in places)):
            raise refusal
        real, generated = result.real, [result.generated[g] for g in places]
    else:
        metric = (settings or Modes()).resolve(result.clients)
        real = tuple([metric.summarize(sample) for sample in result.clients])
        generated = [metric.summarize(sample) for sample in samples]
    counts = [s.count for s in result.sent] or [math.inf if c.size is None else c.size for c in result.clients]
    every_row = [None] * len(real) if result.sent else [_rows_here(sample) for sample in result.clients]
    clients = tuple(
        [Side(*part) for part in zip(scores.names, [s.matrix for s in real], every_row, counts, strict=True)]
    )
    away = "" if all(rows is not None for rows in every_row) else _away(result)
    sides = [_generator_side(*part) for part in zip(generators, generated, samples, strict=True)]
    return Comparison(metric, clients, tuple(scores.weights), away), sides


def _evaluated(scores: ScoresProtocol, settings: Modes | None) -> Cells | None:
    """The cells of `Modes` where it was evaluated, and under these settings."""
    for result in map(scores.result, scores.metrics):
        if isinstance(result.metric, Modes) and (settings is None or settings.settings == result.metric.settings):
            return result
    return None


def _check_has_rows(result: Cells, scores: ScoresProtocol, places: Sequence[int], has_summaries: bool) -> None:
    """Raise InvalidInput where there is nothing to compute modes from, with the way to it."""
    if isinstance(refusal := refusal_of(*result.real, *result.generated), NoSummary):
        raise refusal
    for g in places:
        name = scores.generators[g]
        if (result.own_samples and result.own_samples[g]) or result.generators[g] is None:
            what = "one distribution for each client" if result.own_samples else "answers to the clients' conditions"
            raise InvalidInput("generator", f"{name!r} has {what}", "Evaluate generators of rows for all clients")
    if has_summaries:
        return
    fix = "Evaluate nm.metrics.Modes(sigma=…) too: nm.evaluate(…, ['fid', nm.metrics.Modes(sigma=…)])"
    if result.sent:
        raise InvalidInput("scores", "are of clients that keep their rows, and of no second moments", fix)
    named = [
        *zip(scores.names, result.clients, strict=True),
        *((scores.generators[g], result.generators[g]) for g in places),
    ]
    for name, sample in named:
        if _rows_here(sample) is None:
            raise InvalidInput("scores", f"have no rows of {name!r}", fix)


def _rows_here(sample: Sample | None) -> Array | None:
    """Rows in memory; those of a stream that can be read again are put together."""
    if sample is None:
        return None
    if sample.stream is not None:
        return sample.stream.collect() if sample.stream.is_repeatable else None
    return sample.rows if is_array(sample.rows) else None


def _generator_side(name: str, summary: Any, sample: Any) -> Side:
    rows = _rows_here(sample)
    count = sample.size if rows is None else rows.shape[0]
    return Side(name, summary.matrix, rows, math.inf if count is None else count)


def _away(result: Cells) -> str:
    if result.sent:
        return "rows stayed with the clients"
    return "rows of some client are not in memory"


def labels(directions: Directions, surplus: str, shortage: str) -> list[str]:
    """Return the names of the modes, each kind numbered from 1."""
    seen = {True: 0, False: 0}
    names = []
    for is_surplus in directions.is_surplus.tolist():
        seen[is_surplus] += 1
        names.append(f"{surplus if is_surplus else shortage} {seen[is_surplus]}")
    return names


def share_columns(
    comparison: Comparison,
    assignment: ModeAssignment,
    generated: Mapping[str, Side],
    client_shares: Mapping[str, Sequence[float]] | None = None,
) -> dict[str, np.ndarray]:
    """Return the share of each side's rows in each mode, with intervals: generators, all clients, each client."""
    size = assignment.vectors.shape[1]
    columns: dict[str, np.ndarray] = {}
    for name, side in generated.items():
        shares = np.full(size, math.nan) if side.rows is None else assignment.shares(side.rows)
        columns[name] = shares
        columns[f"{name}_low"], columns[f"{name}_high"] = wilson(shares, side.count)
    by_client = _by_client(comparison, assignment, client_shares)
    used = [w * shares for w, shares in zip(comparison.weights, by_client, strict=True) if w]
    columns["real"] = np.minimum(1.0, np.sum(used, axis=0))
    columns["real_low"], columns["real_high"] = comparison.interval(columns["real"])
    names = client_columns([side.name for side in comparison.clients])
    return columns | dict(zip(names.values(), by_client, strict=True))


def client_columns(clients: Sequence[str]) -> dict[str, str]:
    """Return the column of each client by its name: that name, after "client " where another column has it."""
    columns: dict[str, str] = {}
    taken = RESERVED | set(clients)
    for name in clients:
        column = name
        while column in RESERVED or (column != name and column in taken):
            column = f"client {column}"
        taken.add(column)
        columns[name] = column
    return columns


def _by_client(
    comparison: Comparison, assignment: ModeAssignment, client_shares: Mapping[str, Sequence[float]] | None
) -> list[np.ndarray]:
    """The share at each client: of its rows, or as it sent them; NaN where neither is here."""
    size = assignment.vectors.shape[1]
    if client_shares is None:
        return [np.full(size, math.nan) if s.rows is None else assignment.shares(s.rows) for s in comparison.clients]
    if not isinstance(client_shares, Mapping) or set(client_shares) != {side.name for side in comparison.clients}:
        seen, names = shown(client_shares), ", ".join(shown(side.name) for side in comparison.clients)
        raise InvalidInput("client_shares", f"got {seen}", f"Give a dict with {names}")
    shares_by_client = []
    for side in comparison.clients:
        try:
            shares = np.asarray(client_shares[side.name], dtype=np.float64)
        except (TypeError, ValueError):
            shares = np.zeros(0)
        fits = shares.shape == (size,) and bool(np.isfinite(shares).all()) and bool((shares >= 0).all())
        if not fits or shares.sum() > 1.0 + 1e-9:
            fix = f"Give the {size} numbers of table.attrs['assignment'].shares(rows), under the same settings"
            raise InvalidInput("client_shares", f"of {side.name!r} are {shown(client_shares[side.name])}", fix)
        shares_by_client.append(shares)
    return shares_by_client


def nearest_rows(
    comparison: Comparison, assignment: ModeAssignment, directions: Directions, generated: Sequence[Side]
) -> list[list[tuple[str, int]]]:
    """Return the rows nearest to each mode, as (generator or client, position): of the side that has more of it.

    `generated` : the generator; or the two of which the first has the surplus, the second the shortage
    """
    shortage = generated[1:] or comparison.clients
    rows: list[list[tuple[str, int]]] = []
    near = {id(s): assignment.assign(s.rows) for s in (generated[0], *shortage) if s.rows is not None}
    for mode, is_surplus in enumerate(directions.is_surplus):
        candidates: list[tuple[float, str, int]] = []
        for side in generated[:1] if is_surplus else shortage:
            if id(side) in near:
                which, size = near[id(side)]
                own = np.flatnonzero(which == mode)
                own = own[np.argsort(-size[own], kind="stable")][:MAX_ROWS_NAMED]
                candidates += [(-float(size[k]), side.name, int(k)) for k in own]
        rows.append([(name, k) for _, name, k in sorted(candidates, key=lambda c: c[0])[:MAX_ROWS_NAMED]])
    return rows


def p_values(comparison: Comparison, side: Side, size: int, permutations: int, seed: int) -> tuple[np.ndarray, str]:
    """Return p of each mode, and why it is NaN.

    If generated and pooled rows are alike, every deal of them to the two sides is as likely. p is the share of deals,
    the given one among them, in which the largest eigenvalue is at least that of the mode: it holds for all modes at
    once.
    """
    reason = _no_p_because(comparison, side, permutations)
    if reason or not size:
        return np.full(size, math.nan), reason
    rng = np.random.default_rng([seed, 0])
    real = np.concatenate([comparison.metric.kernel.features(to_numpy(s.rows)) for s in comparison.clients])
    generated = comparison.metric.kernel.features(to_numpy(side.rows))  # type: ignore[arg-type]
    keep = min(1.0, MAX_ROWS_PERMUTED / (len(real) + len(generated)))
    if keep < 1.0:
        real, generated = (x[rng.permutation(len(x))[: max(1, int(keep * len(x)))]] for x in (real, generated))
    phi, n = np.concatenate([generated, real]), len(generated)
    total = phi.T @ phi
    own = comparison.metric.directions(*_dealt(phi, total, np.arange(n)), size).values
    values = np.zeros(size)
    values[: len(own)] = own
    largest = np.empty(permutations)
    for k in range(permutations):
        deal = _dealt(phi, total, rng.permutation(len(phi))[:n])
        largest[k] = comparison.metric.largest_eigenvalue(*deal)
    reached = largest[:, None] >= values * (1.0 - 10.0 * LANCZOS_TOLERANCE)
    return (1.0 + reached.sum(axis=0)) / (1.0 + permutations), ""


def _no_p_because(comparison: Comparison, side: Side, permutations: int) -> str:
    if comparison.away or side.rows is None:
        why = comparison.away or f"rows of {side.name!r} are not in memory"
        return f"p is NaN: {why}, and it permutes them"
    if not comparison.is_by_rows:
        return "p is NaN: the weights are not the clients' shares of the rows, so permuted rows would not be alike"
    return "" if permutations else "p is NaN: no permutations were wanted"


def _dealt(phi: np.ndarray, total: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Second moments of the chosen rows and of the others."""
    part = phi[chosen].T @ phi[chosen]
    return part / len(chosen), (total - part) / (len(phi) - len(chosen))


def conventions(comparison: Comparison, assignment: ModeAssignment) -> list[str]:
    """Return how modes and shares were made."""
    lines = [
        comparison.metric.convention,
        f"a row belongs to the mode of its largest squared projection, if that is {assignment.floor:g} or more; "
        f"intervals of shares: {LEVEL:.0%} (Wilson), for these modes",
    ]
    if comparison.away:
        fix = "let each compute table.attrs['assignment'].shares(rows), and give them as client_shares="
        lines.append(f"{comparison.away}: {fix}")
    return lines
