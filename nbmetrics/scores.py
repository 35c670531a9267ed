"""Scores: what evaluate() returns. Aggregates, ranks, the pairs they order differently, and what it costs to know.

avg = Σ λ_i D(S_i, S_G)      all = D(pool(S_i), S_G)      gap = avg − all
"""

from __future__ import annotations

import html
import itertools
import math
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .errors import InvalidInput, check_choice, check_weights, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Differences below this share of the scores are rounding, not an order.
TIE = 1e-12


@dataclass(frozen=True, eq=False)
class Result:
    """One metric on all clients and generators: its summaries and the terms of every pair.

    A generator that answered the clients' conditions has one summary for each client in `answers` (None for the
    others); pooled with the weights they are its summary in `generated`.
    """

    metric: Any
    real: tuple[Any, ...]
    generated: tuple[Any, ...]
    terms: tuple[tuple[Mapping[str, float], ...], ...]
    answers: tuple[tuple[Any, ...] | None, ...] = ()

    @property
    def name(self) -> str:
        return str(self.metric.name)

    @property
    def label(self) -> str:
        return str(getattr(self.metric, "label", self.metric.name))

    @property
    def higher_is_better(self) -> bool:
        return bool(getattr(self.metric, "higher_is_better", False))

    @cached_property
    def by_client(self) -> np.ndarray:
        """Scores of shape (generators, clients)."""
        return np.array([[math.fsum(pair.values()) for pair in row] for row in self.terms])

    def under(self, weights: Sequence[float]) -> Result:
        """The same summaries, with the answers to the clients' conditions pooled under other weights."""
        made, terms = list(self.generated), list(self.terms)
        for g, answers in enumerate(self.answers):
            if answers is not None:
                made[g] = self.metric.pool(answers, weights)
                if not is_conditional(self.metric):
                    terms[g] = tuple(pair_terms(self.metric, self.real, made[g], answers))
        return replace(self, generated=tuple(made), terms=tuple(terms)) if any(self.answers) else self

    def average(self, weights: Sequence[float]) -> np.ndarray:
        """Σ λ_i D(S_i, S_G) for each generator; a client of weight 0 does not count, whatever its score."""
        counted = [(w, column) for w, column in zip(weights, self.by_client.T, strict=True) if w]
        return np.array([math.fsum(w * column[g] for w, column in counted) for g in range(len(self.generated))])

    def pooled(self, weights: Sequence[float]) -> np.ndarray:
        """D(pool(S_i), S_G) for each generator."""
        together = self.metric.pool(self.real, weights)
        return np.array([math.fsum(self.metric.terms(together, s).values()) for s in self.generated])


def is_conditional(metric: Any) -> bool:
    """Whether a metric compares outputs given their inputs, each client with the answers to its own condition."""
    return bool(getattr(metric, "is_conditional", False))


def pair_terms(
    metric: Any, real: Sequence[Any], made: Any, answers: Sequence[Any] | None
) -> Iterator[dict[str, float]]:
    """The terms of each client with one generator: with its answers to that client, or with all of it."""
    own = answers if answers is not None and is_conditional(metric) else [made] * len(real)
    return (metric.terms(client, summary) for client, summary in zip(real, own, strict=True))


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
        """Tidy scores: generator, metric, avg, all, gap; `attrs["conventions"]` says how they were made."""
        frames = []
        for result in self._results:
            avg, pooled = result.average(self.weights), result.pooled(self.weights)
            columns = {"generator": self.generators, "metric": result.name, "avg": avg, "all": pooled}
            frames.append(pd.DataFrame({**columns, "gap": avg - pooled}))
        table = pd.concat(frames, ignore_index=True)
        table.attrs["conventions"] = self.conventions
        return table

    @property
    def conventions(self) -> list[str]:
        """How the numbers were made, one line a metric."""
        lines = [str(getattr(r.metric, "convention", "")) for r in self._results]
        return [line for line in lines if line] + [self._convention]

    @cached_property
    def clients(self) -> pd.DataFrame:
        """Tidy scores client by client: generator, client, metric, value."""
        rows = [
            (generator, client, result.name, float(result.by_client[g, c]))
            for result in self._results
            for g, generator in enumerate(self.generators)
            for c, client in enumerate(self.names)
        ]
        frame = pd.DataFrame(rows, columns=["generator", "client", "metric", "value"])
        frame.attrs["conventions"] = self.conventions
        return frame

    def ranks(self, metric: str) -> pd.DataFrame:
        """Places of the generators by avg and by all: generator, avg, all (1 = best; ties share the best place)."""
        chosen = self._aggregates(metric)
        ascending = not self._result(metric).higher_is_better
        places = {a: chosen[a].rank(method="min", ascending=ascending).astype(int) for a in ("avg", "all")}
        return pd.DataFrame({"generator": chosen["generator"], **places})

    def inversions(self, metric: str) -> pd.DataFrame:
        """The pairs of generators that avg and all order differently.

        Columns: `avg_prefers`, `all_prefers` (generator names), and by how much: `avg_margin`, `all_margin` > 0.
        """
        chosen = self._aggregates(metric)
        sign = -1.0 if self._result(metric).higher_is_better else 1.0
        rows = []
        for (_, a), (_, b) in itertools.combinations(chosen.iterrows(), 2):
            avg, pooled = sign * (b["avg"] - a["avg"]), sign * (b["all"] - a["all"])
            floor = TIE * max(abs(a["avg"]), abs(b["avg"]), abs(a["all"]), abs(b["all"]))
            if min(abs(avg), abs(pooled)) > floor and avg * pooled < 0:
                first, second = (a, b) if avg > 0 else (b, a)
                rows.append((first["generator"], second["generator"], abs(avg), abs(pooled)))
        return pd.DataFrame(rows, columns=["avg_prefers", "all_prefers", "avg_margin", "all_margin"])

    def agreement(self, metric: str) -> float:
        """Kendall's τ between the orders by avg and by all: 1 the same, −1 reversed; NaN for one generator."""
        from scipy.stats import kendalltau

        chosen = self._aggregates(metric)
        return float(kendalltau(chosen["avg"], chosen["all"]).statistic) if len(chosen) > 1 else math.nan

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
        return pd.DataFrame(rows, columns=["client", "metric", "aggregate", "bytes"])

    def plot(self, kind: str = "scatter") -> Figure:
        """A Figure: "scatter" (avg against all), "ranks" (places by avg and all) or "clients" (client by client)."""
        from . import figures

        drawings = {"scatter": figures.scatter, "ranks": figures.ranks, "clients": figures.clients}
        return drawings[check_choice(kind, drawings, "kind")](self)

    def label(self, metric: str) -> str:
        """The name of a metric as people read it."""
        return self._result(metric).label

    def _result(self, metric: str) -> Result:
        check_choice(metric, self.metrics, "metric")
        return self._results[self.metrics.index(metric)]

    def _aggregates(self, metric: str) -> pd.DataFrame:
        self._result(metric)
        return self.table[self.table["metric"] == metric].reset_index(drop=True)

    def summary(self) -> list[str]:
        """In words, where avg and all order the generators differently."""
        lines = []
        for name in self.metrics:
            found, label = self.inversions(name), self.label(name)
            pairs = math.comb(len(self.generators), 2)
            if not pairs:
                continue
            if found.empty:
                lines.append(f"{label}: avg and all order the generators alike.")
                continue
            worst = found.sort_values("avg_margin").iloc[-1]
            lines.append(
                f"{label}: avg and all order {len(found)} of {pairs} pairs differently; "
                f"avg prefers {worst['avg_prefers']}, all prefers {worst['all_prefers']}."
            )
        return lines

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


def _figure(value: float) -> str:
    """Five significant digits; what is only rounding reads as 0."""
    return "0" if abs(value) < TIE else f"{value:.5g}"


def _size(summary: Any) -> int:
    return int(getattr(summary, "nbytes", None) or len(pickle.dumps(summary)))
