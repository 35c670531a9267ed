"""MetricView: all that a page needs of one metric, from the data alone; WeightedScores: avg and all under some weights.

Twin: labs/dashboard/view/metric_view.js · held by: tests/browser/test_dashboard.py

What the page has of it:

    {"clients": [{"name", "rows", "share", "classes"}], "generators": {name: {"by_client", "unpooled"}},
     "metrics": [{"name", "label", "higher", "best", "same", "pooled", "corrected", "distance", "sure", "why", "note"}],
     "values": {metric: {generator: [k]}}, "centres": …, "few": {metric: [k]}, "leaves": [k],
     "tree": [[left, right, apart]], "gaps": {metric: {"means"}},
     "ledger": what each score costs and reveals, once it is known,
     "regroup": what was done to the clients, see changes.py}

and apart, as it comes with every step of the work and all of the former with scores alone:

    {"done": scores known, "total", "doing": words, "stopped", "why"}

`values` are plain scores. `centres` are what decisions use, as losses (lower is better): the score without the bias of
few rows where that can be taken off, the plain one elsewhere. `few` says of each client why its scores have no
interval, or "": such a client is left out of decisions. A generator with one distribution for each client
(`by_client`) has the score of each client with what was made for it, and none with the pooled data by the metrics
`unpooled`. What is not known yet is null, and what is no finite number is
the text "nan", "inf" or "-inf", as JSON has neither.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import refusal_of
from ...evaluation.cells import Cells
from ...evaluation.noise import Noise, pack_draws, unpack_draws
from ...metrics.base import Metric, losses
from ...metrics.kid.metric import KID
from .incremental import NOT_YET
from .incremental_metric import MIN_WEIGHT_WITH_NOISE
from .json_numbers import json_number
from .place_ranges import average
from .recommendation import recommendation
from .verdict import Verdict, VerdictContext, aggregate, verdict

# Classes of a client, and of all, that a page carries.
MAX_CLASSES_A_CLIENT, MAX_CLASSES = 100, 5_000
# Clients whose kernel means with one another a page carries.
MAX_CLIENTS_FOR_KID_GAPS = 150


@dataclass(frozen=True, eq=False)
class MetricView:
    """The scores of one metric, of G generators with k clients, as far as they are computed, and their noise.

    Attributes
    ----------
    values, centres : (G, k), plain scores, and losses that decisions use
    is_scored : bool (G, k), whether a score was computed yet
    few : k reasons why a client's scores have no interval, or ""
    draws : (B, G, k) noise of the centres as the page has it; None where it is not known
    why : there are no draws
    note : how the numbers were made
    has_pool : whether there are pooled data to score with each generator, G times; () where with all
    is_by_client : whether each generator has one distribution for each client, G times; () where none has
    """

    metric: Metric[Any]
    values: np.ndarray
    centres: np.ndarray
    is_scored: np.ndarray
    few: tuple[str, ...]
    draws: np.ndarray | None
    why: str
    note: str
    has_pool: tuple[bool, ...] = ()
    is_by_client: tuple[bool, ...] = ()

    @property
    def is_pooled(self) -> bool:
        """Whether all generators have a score with the pooled data."""
        return all(self.has_pool)

    @property
    def is_corrected(self) -> bool:
        """Whether a centre is other than its plain score."""
        plain = losses(self.metric, self.values)
        return not np.allclose(self.centres[self.is_scored], plain[self.is_scored], rtol=1e-9, atol=0.0, equal_nan=True)

    @property
    def average_label(self) -> str:
        """What the weighted mean over clients is called: intra where some generator has one distribution for each."""
        return "intra" if any(self.is_by_client) else "avg"

    @property
    def is_same(self) -> bool:
        """Whether avg and all order the generators alike, always: by KID, with one distribution for all clients."""
        return isinstance(self.metric, KID) and not any(self.is_by_client)

    @property
    def is_distance(self) -> bool:
        """Whether a true score is never below 0, and an estimate without the bias of few rows may be."""
        return self.metric.is_distance

    def of(self, chosen: Sequence[int]) -> MetricView:
        """Return the same of some of the generators, by position."""
        which = list(chosen)
        draws = None if self.draws is None else self.draws[:, which]
        values, centres, is_scored = self.values[which], self.centres[which], self.is_scored[which]
        has_pool = tuple(self.has_pool[g] for g in which if self.has_pool)
        by_client = tuple(self.is_by_client[g] for g in which if self.is_by_client)
        return replace(
            self,
            values=values,
            centres=centres,
            is_scored=is_scored,
            draws=draws,
            has_pool=has_pool,
            is_by_client=by_client,
        )

    @property
    def counts(self) -> np.ndarray:
        """Return which clients decisions look at, bool (k,)."""
        return np.array([not reason for reason in self.few])


def metric_view_of(result: Cells, is_scored: np.ndarray, noise: Noise | None, why: str) -> MetricView:
    """Return the view of a result and its noise, where `is_scored`."""
    metric, values = result.metric, result.own
    centres = losses(metric, values)
    few: tuple[str, ...] = ("",) * values.shape[1]
    draws = None
    if noise is not None:
        has_noise = all(set(reasons) != {NOT_YET} for reasons in noise.reasons)
        # A generator whose own rows are too few has no interval with any client, which is no client's fault.
        sure = [reasons for reasons in noise.reasons if not all(reasons)]
        columns = list(zip(*sure, strict=True)) if sure else [(r,) for r in noise.reasons[0]] if noise.reasons else []
        few = tuple(next((reason for reason in column if reason), "") for column in columns) or few
        corrected = losses(metric, noise.centres)
        centres = np.where(np.isnan(corrected), centres, corrected)
        if not has_noise:
            why = why or NOT_YET
        elif all(few):
            why = why or few[0]
        else:
            draws = np.stack([round_as_page(noise.by_client[:, g]) for g in range(len(values))], axis=1)
    note = "; ".join(filter(None, [metric.convention or metric.label, result.span]))
    return MetricView(metric, values, centres, is_scored, few, draws, why, note, _has_pool(result), result.is_by_client)


def _has_pool(result: Cells) -> tuple[bool, ...]:
    """Return whether each generator has a score with the pooled data: not where its parts cannot be weighted."""
    pairs = zip(result.generated, result.answers, result.is_by_client, strict=False)
    return tuple(not (own and a and refusal_of(whole) and not refusal_of(*a)) for whole, a, own in pairs)


def round_as_page(draws: np.ndarray) -> np.ndarray:
    """Return draws (B, k) as the page has them, in whole units; NaN where there are none."""
    return unpack_draws(*pack_draws(draws))


def clients_json(
    names: Sequence[str], rows: Sequence[int], shares: Sequence[float], classes: Sequence[Sequence[str]] = ()
) -> list[dict[str, Any]]:
    """Return one dict a client, with its classes where they are known."""
    clients = [{"name": n, "rows": r, "share": s} for n, r, s in zip(names, rows, shares, strict=True)]
    return (
        [{**own, "classes": list(names_of_classes)} for own, names_of_classes in zip(clients, classes, strict=True)]
        if classes
        else clients
    )


def metric_json(view: MetricView) -> dict[str, Any]:
    """Return what the page has to know of a metric."""
    metric = view.metric
    return {
        "name": metric.name,
        "label": metric.label,
        "higher": metric.higher_is_better,
        "best": metric.best,
        "same": isinstance(metric, KID),
        "pooled": view.is_pooled or any(view.is_by_client),
        "corrected": view.is_corrected,
        "distance": view.is_distance,
        "sure": view.draws is not None,
        "why": view.why if view.draws is None else "",
        "note": view.note,
    }


def encode_kid_gap(means: np.ndarray | None) -> dict[str, str] | None:
    """Return `client_kernel_means` for the page, which give KID-avg − KID-all under any weights; None if too many."""
    if means is None or not 1 < len(means) <= MAX_CLIENTS_FOR_KID_GAPS or not np.isfinite(means).all():
        return None
    upper = np.ascontiguousarray(means[np.triu_indices(len(means))], dtype="<f8")
    return {"means": base64.b64encode(upper.tobytes()).decode()}


def encode_noise(draws: np.ndarray) -> dict[str, Any]:
    """Return draws (B, k) of one generator as whole numbers and their unit; clients without noise have unit null."""
    scale, numbers = pack_draws(draws)
    return {"scale": [json_number(s) for s in scale], "int8": base64.b64encode(numbers).decode()}


def encode_pooled_noise(names: Sequence[str], draws: np.ndarray) -> dict[str, Any]:
    """Return draws (B, G) of the pooled clients, by generator."""
    return {name: encode_noise(draws[:, g : g + 1]) for g, name in enumerate(names)}


@dataclass(frozen=True, eq=False)
class WeightedScores:
    """avg and all of each generator, and their noise.

    Attributes
    ----------
    avg, all : (G,) plain scores
    plain_avg : (G,) the same avg, of the clients that have rows enough where another has no score
    avg_centres, all_centres : (G,) losses that decisions use; avg of the clients that have rows enough
    avg_draws, all_draws : (B, G) their noise, None where it is not known
    p : of the test that the clients differ by chance alone; None where there is none
    why : the pooled scores of some generator have no noise, "" where all have or it is not known yet
    """

    metric_view: MetricView
    avg: np.ndarray
    plain_avg: np.ndarray
    all: np.ndarray
    avg_centres: np.ndarray
    all_centres: np.ndarray
    avg_draws: np.ndarray | None
    all_draws: np.ndarray | None
    p: float | None
    why: str = ""

    def select(self, chosen: Sequence[int]) -> WeightedScores:
        """Return the same of some of the generators, by position."""
        which = list(chosen)
        avg_draws, all_draws = (None if d is None else d[:, which] for d in (self.avg_draws, self.all_draws))
        return WeightedScores(
            self.metric_view.of(which),
            self.avg[which],
            self.plain_avg[which],
            self.all[which],
            self.avg_centres[which],
            self.all_centres[which],
            avg_draws,
            all_draws,
            self.p,
            self.why,
        )

    @classmethod
    def of(
        cls, view: MetricView, shares: Sequence[float], pooled: np.ndarray, noise: Noise | None, p: float | None
    ) -> WeightedScores:
        """Return the scores under the weights `shares`, from the plain scores and noise of the pooled clients."""
        weights = np.array(shares)
        deciding = counted_weights(weights, view.counts)
        avg_draws = all_draws = None
        all_centres = losses(view.metric, pooled)
        if view.draws is not None and deciding is not None:
            counted = deciding > 0
            avg_draws = np.einsum("bgi,i->bg", view.draws[:, :, counted], deciding[counted])
        if noise is not None:
            corrected = losses(view.metric, noise.all_centres)
            all_centres = np.where(np.isnan(corrected), all_centres, corrected)
            all_draws = None if all(noise.all_reasons) else round_as_page(noise.all)
        effective = weights if deciding is None else deciding
        avg_centres = average(view.centres, effective)
        why = "" if noise is None else next((r for r in noise.all_reasons if r and r != NOT_YET), "")
        avg = average(view.values, weights)
        plain_avg = np.where(np.isnan(avg), average(view.values, effective), avg)
        return cls(view, avg, plain_avg, pooled, avg_centres, all_centres, avg_draws, all_draws, p, why)


def counted_weights(weights: np.ndarray, counts: np.ndarray) -> np.ndarray | None:
    """Return λ of the clients with enough rows, sum 1; None where they hold too little of the weight."""
    kept = np.where(counts, weights, 0.0)
    total = kept.sum()
    return kept / total if total >= MIN_WEIGHT_WITH_NOISE else None


def verdict_of(names: Sequence[str], scores: WeightedScores, clients: Sequence[str], of_models: str = "") -> Verdict:
    """Return the verdict on one metric, of the generators `names`; its second sentence says what to do.

    `of_models` : where some are runs of one model, which models differ, in the place of advice to ship one run
    """
    view, found = scores.metric_view, _verdict_of(names, scores, clients)
    counted = [i for i in range(len(clients)) if view.counts[i]] or list(range(len(clients)))
    draws = None if view.draws is None else view.draws[:, :, counted]
    who = [clients[i] for i in counted]
    todo = of_models or recommendation(found, names, who, view.centres[:, counted], draws)
    headline, *rest = found.sentences
    return replace(found, sentences=(headline, *([todo] if todo else []), *rest))


def _verdict_of(names: Sequence[str], scores: WeightedScores, clients: Sequence[str]) -> Verdict:
    view = scores.metric_view
    is_done: np.ndarray = np.asarray(view.is_scored.all(axis=0))
    about = VerdictContext(
        label=view.metric.label,
        same=view.is_same,
        corrected=view.is_corrected,
        clients=len(is_done),
        scored=int(is_done.sum()),
        enough=int(view.counts.sum()) if view.draws is not None else None,
        p=scores.p,
        why=_no_noise_reason(scores),
        few=tuple(name for name, counts in zip(clients, view.counts, strict=True) if not counts),
        distance=view.is_distance,
        average=view.average_label,
    )
    avg = aggregate(losses(view.metric, scores.plain_avg), scores.avg_centres, scores.avg_draws)
    if view.is_same or not view.is_pooled or len(is_done) == 1:
        return verdict(names, avg, None, about)
    of_all = aggregate(losses(view.metric, scores.all), scores.all_centres, scores.all_draws)
    if np.isnan(avg.centres).all():
        return verdict(names, of_all, None, replace(about, label=f"{about.label} all"))
    return verdict(names, avg, of_all, about)


def _no_noise_reason(scores: WeightedScores) -> str:
    view = scores.metric_view
    if view.draws is None:
        return view.why
    few = [reason for reason in view.few if reason]
    return scores.why or (few[0] if few else NOT_YET)
