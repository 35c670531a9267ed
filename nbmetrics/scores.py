"""Scores: what evaluate() returns. Aggregates, ranks, the pairs they order differently, and what it costs to know.

avg = Σ λ_i D(S_i, S_G)      all = D(pool(S_i), S_G)      gap = avg − all
"""

from __future__ import annotations

import html
import itertools
import math
import pickle
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from .errors import InvalidInput, check_choice, check_weights, shown
from .results import Result, is_conditional

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Differences below this share of the scores are rounding, not an order.
TIE = 1e-12


class Values(NamedTuple):
    """What the tables hold of one metric, as arrays: avg and all (generators,), by_client (generators, clients)."""

    avg: np.ndarray
    all: np.ndarray
    by_client: np.ndarray


class Scores:
    """The scores of generators on a federation.

    Attributes
    ----------
    table : DataFrame generator, metric, avg, all, gap
    clients : DataFrame generator, client, metric, value
    ledger : DataFrame client, metric, aggregate, bytes: what each client sends for each aggregate
    """

    def __init__(
        self,
        names: Sequence[str],
        weights: Sequence[float],
        generators: Sequence[str],
        results: Sequence[Result],
        convention: str,
    ) -> None:
        self.names = tuple(names)
        self.weights = tuple(weights)
        self.generators = tuple(generators)
        self.metrics = tuple(r.name for r in results)
        self._results = tuple(results)
        self._convention = convention

    @cached_property
    def table(self) -> pd.DataFrame:
        """Tidy scores: generator, metric, avg, all, gap; with uncertainty also their `*_low` and `*_high`.

        `attrs["conventions"]` says how they were made.
        """
        frames = []
        for result in self._results:
            avg, pooled, _ = self.values(result.name)
            columns = {"generator": self.generators, "metric": result.name, "avg": avg, "all": pooled}
            ends = result.intervals(self.weights, avg, pooled)
            gap = np.subtract(avg, pooled, out=np.zeros_like(avg), where=avg != pooled)
            frames.append(pd.DataFrame({**columns, "gap": gap, **ends}))
        table = pd.concat(frames, ignore_index=True)
        return self._noted(table)

    def values(self, metric: str) -> Values:
        """The scores of one metric as arrays, in the order of `generators` and `names`."""
        result = self._result(metric)
        return Values(result.average(self.weights), result.pooled(self.weights), result.by_client.copy())

    @property
    def conventions(self) -> list[str]:
        """How the numbers were made, one line a metric."""
        lines = [f"{getattr(r.metric, 'convention', '') or r.label}; {r.span}" for r in self._results]
        lines += [f"{r.label} intervals: {r.replicas.design}" for r in self._results if r.replicas is not None]
        own = [(*r.cautions, *r.refusals(self.weights), *r.remarks(self.weights)) for r in self._results]
        cautions = [line for lines_of in own for line in lines_of]
        return [line for line in lines if line] + [self._convention, *cautions]

    @cached_property
    def clients(self) -> pd.DataFrame:
        """Tidy scores client by client: generator, client, metric, value; with uncertainty also low and high."""
        frames = []
        for result in self._results:
            pairs = [(g, c, result.name) for g in self.generators for c in self.names]
            rows = pd.DataFrame(pairs, columns=["generator", "client", "metric"]).assign(value=result.by_client.ravel())
            frames.append(rows.assign(**result.client_intervals(self.weights)))
        frame = pd.concat(frames, ignore_index=True)
        return self._noted(frame)

    def ranks(self, metric: str) -> pd.DataFrame:
        """Places of the generators by avg and by all: generator, avg, all (1 = best; ties share the best place).

        C_T is best near 0, and ranked by its distance from there.
        """
        avg, pooled = self._losses(metric)
        places = {"avg": _places(avg), "all": _places(pooled)}
        return self._noted(pd.DataFrame({"generator": self.generators, **places}))

    def _noted(self, frame: pd.DataFrame) -> pd.DataFrame:
        frame.attrs["conventions"] = self.conventions
        return frame

    def inversions(self, metric: str) -> pd.DataFrame:
        """The pairs of generators that avg and all order differently.

        Columns: `avg_prefers`, `all_prefers` (generator names), and by how much: `avg_margin`, `all_margin` > 0.
        """
        avg, pooled = self._losses(metric)
        rows = []
        for pair in inverted_pairs(avg, pooled).tolist():
            first, second = sorted(pair, key=lambda g: avg[g])
            names = self.generators[first], self.generators[second]
            rows.append((*names, abs(avg[second] - avg[first]), abs(pooled[second] - pooled[first])))
        return self._noted(pd.DataFrame(rows, columns=["avg_prefers", "all_prefers", "avg_margin", "all_margin"]))

    def flips(self, metric: str) -> pd.DataFrame:
        """How likely each pair of generators is in truth ordered the other way; needs `uncertainty`.

        Columns: `avg_prefers`, `over` (generator names) and `avg_flip`, the probability that avg orders them the
        other way; `all_prefers` and `all_flip` likewise for all. Small ones are a little too small: in simulations with
        60 to 140 rows a client pairs at .05 to .15 were ordered the other way in up to .15 of the runs. One above .5
        says that the bias of few rows decides the order: with it taken off, the other generator is ahead.
        """
        result = self._result(metric)
        if result.replicas is None:
            raise InvalidInput("metric", "was evaluated without uncertainty", "evaluate(…, uncertainty=nm.Bootstrap())")
        avg, pooled = self._losses(metric)
        rows = []
        for pair in itertools.combinations(range(len(self.generators)), 2):
            row = []
            for part, estimate in (("avg", avg), ("all", pooled)):
                difference = estimate[pair[0]] - estimate[pair[1]]
                flip = result.replicas.flip(self.weights, part, pair, difference)
                row += [self.generators[pair[0 if difference < 0 else 1]], flip]
            first, over = (self.generators[g] for g in pair)
            rows.append((row[0], over if row[0] == first else first, *row[1:]))
        return self._noted(pd.DataFrame(rows, columns=["avg_prefers", "over", "avg_flip", "all_prefers", "all_flip"]))

    def agreement(self, metric: str) -> float:
        """Kendall's τ between the orders by avg and by all: 1 the same, −1 reversed; NaN for one generator."""
        from scipy.stats import kendalltau

        avg, pooled = self._losses(metric)
        return float(kendalltau(avg, pooled).statistic) if len(avg) > 1 else math.nan

    def with_weights(self, weights: Any) -> Scores:
        """The same summaries under other client weights (sequence, or dict by name); nothing is sampled again."""
        if isinstance(weights, Mapping):
            if set(weights) != set(self.names):
                raise InvalidInput("weights", f"has the names {shown(list(weights))}", "Give one for each client")
            weights = [weights[name] for name in self.names]
        shares = check_weights(weights, len(self.names))
        results = [result.under(shares) for result in self._results]
        return Scores(self.names, shares, self.generators, results, self._convention)

    @cached_property
    def ledger(self) -> pd.DataFrame:
        """Bytes each client sends: for avg its score of each generator, for all its summary.

        Summaries of what generators answered to its condition come on top wherever they are pooled.
        """
        rows = []
        for result in self._results:
            for c, (client, summary) in enumerate(zip(self.names, result.real, strict=True)):
                answered = sum(_size(answers[c]) for answers in result.answers if answers is not None)
                pooled_for_avg = 0 if is_conditional(result.metric) else answered
                rows.append((client, result.name, "avg", 8 * len(self.generators) + pooled_for_avg))
                rows.append((client, result.name, "all", _size(summary) + answered))
        return self._noted(pd.DataFrame(rows, columns=["client", "metric", "aggregate", "bytes"]))

    def plot(self, kind: str = "scatter") -> Figure:
        """A Figure: "scatter" (avg against all), "ranks" (places by avg and all) or "clients" (client by client)."""
        from .figures import scores as figures

        drawings = {"scatter": figures.scatter, "ranks": figures.ranks, "clients": figures.clients}
        return drawings[check_choice(kind, drawings, "kind")](self)

    def label(self, metric: str) -> str:
        """The name of a metric as people read it."""
        return self._result(metric).label

    def _result(self, metric: str) -> Result:
        check_choice(metric, self.metrics, "metric")
        return self._results[self.metrics.index(metric)]

    def _losses(self, metric: str) -> tuple[np.ndarray, np.ndarray]:
        """avg and all as what generators are ranked by, lower is better."""
        avg, pooled, _ = self.values(metric)
        result = self._result(metric)
        return result.losses(avg), result.losses(pooled)

    def summary(self) -> list[str]:
        """In words, where avg and all order the generators differently."""
        lines = []
        for name in self.metrics:
            found, label = self.inversions(name), self.label(name)
            pairs = math.comb(len(self.generators), 2)
            if not pairs or np.isnan(self._losses(name)).any():
                continue
            if found.empty:
                lines.append(f"{label}: {self._agreement(name)}.")
                continue
            worst = found.sort_values("avg_margin").iloc[-1]
            lines.append(
                f"{label}: avg and all order {len(found)} of {pairs} pairs differently; "
                f"avg prefers {worst['avg_prefers']}, all prefers {worst['all_prefers']}."
            )
        return lines

    def _agreement(self, metric: str) -> str:
        """In words, how avg and all order the generators where they invert no pair."""
        avg, pooled = self._losses(metric)
        half = half_tied_pairs(avg, pooled)
        if not len(half):
            return "avg and all order the generators alike"
        with np.errstate(invalid="ignore"):  # two scores of −∞
            margins = np.nan_to_num(np.abs(np.diff([avg[half], pooled[half]], axis=2))[..., 0], posinf=math.inf)
        which = int(np.argmax(margins.max(axis=0)))
        blind, ranked, scores = ("avg", "all", pooled) if np.argmax(margins[:, which]) else ("all", "avg", avg)
        better, worse = sorted(half[which], key=lambda g: scores[g])
        more = f" ({len(half)} such pairs)" if len(half) > 1 else ""
        names = self.generators[better], self.generators[worse]
        return f"{blind} cannot tell {names[0]} from {names[1]}, {ranked} prefers {names[0]}{more}"

    def __repr__(self) -> str:
        table = self.table.to_string(index=False, float_format=_figure)
        return "\n".join([table, *self.summary(), *self.conventions])

    def _repr_html_(self) -> str:
        labels = [self.label(name) for name in self.metrics]
        heads = [f"{label} {part}" for label in labels for part in ("avg", "all", "gap")]
        body = []
        for generator in self.generators:
            rows = self.table[self.table["generator"] == generator]
            cells = [f"<td>{_figure(row[part])}</td>" for _, row in rows.iterrows() for part in ("avg", "all", "gap")]
            body.append(f'<tr><th scope="row">{html.escape(generator)}</th>{"".join(cells)}</tr>')
        head = "".join(f'<th scope="col">{html.escape(h)}</th>' for h in ["", *heads])
        words = "".join(f"<p>{html.escape(line)}</p>" for line in self.summary())
        small = html.escape(" · ".join(self.conventions))
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
        return f"<div>{table}{words}<p><small>{small}</small></p></div>"


def inverted_pairs(avg: Any, pooled: Any) -> np.ndarray:
    """The pairs, (m, 2) positions, that avg and all order differently; a tie in either is no order."""
    pairs, first, second = _orders(avg, pooled)
    return pairs[first * second < 0]


def half_tied_pairs(avg: Any, pooled: Any) -> np.ndarray:
    """The pairs, (m, 2) positions, that one of avg and all orders and the other does not."""
    pairs, first, second = _orders(avg, pooled)
    return pairs[(first == 0) != (second == 0)]


def _orders(avg: Any, pooled: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every pair (m, 2), and the sign of its difference by avg and by all, 0 where that is only rounding."""
    avg, pooled = (np.asarray(scores, dtype=np.float64) for scores in (avg, pooled))
    i, j = np.triu_indices(len(avg), 1)
    return np.column_stack([i, j]), _signs(avg[i], avg[j]), _signs(pooled[i], pooled[j])


def _signs(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # two scores of −∞ are no order
        return np.where(np.isclose(first, second, rtol=TIE, atol=0), 0, np.nan_to_num(np.sign(first - second)))


def _places(scores: np.ndarray) -> np.ndarray:
    """From 1 for the lowest; what is the same but for rounding shares a place, and NaN comes last."""
    beaten = (scores < scores[:, None]) & ~np.isclose(scores, scores[:, None], rtol=TIE, atol=0)
    return np.where(np.isnan(scores), len(scores), 1 + beaten.sum(axis=1))


def _figure(value: float) -> str:
    """Five significant digits; what is only rounding reads as 0."""
    return "0" if abs(value) < TIE else f"{value:.5g}"


def _size(summary: Any) -> int:
    return int(getattr(summary, "nbytes", None) or len(pickle.dumps(summary)))
