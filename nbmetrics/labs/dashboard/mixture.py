"""The best mixture of the generators on show, found when the page asks for it: see `nm.best_mixture`.

    {"generators": [G names], "weights": [k] of the clients, "alpha": [G], "score", "cross_fitted", "best_single",
     "best_single_score", "note", "doing": words,
     "alone": [G] KID-all, "by_client": [k][G] KID, "apart": [G][G] KID between generators}

KID of any other mixture α, with all or with one client, is Σ α_j alone_j − Σ_{j<l} α_j α_l apart_jl: the page has it as
its shares are moved (view/mixture_scores.js). Kernels are computed once for the same generators; other weights of the
clients then take no time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...errors import InvalidInput
from ...evaluation.cells import Cells
from ...metrics.base import Metric, Sample, sample_if_needed
from ...metrics.kid.metric import KID
from ...summaries.kernel_mean import KernelMean
from ...theory.best_mixture import BestMixture, Halved, Means, blocks, mixture_from, on_all_pairs, singles_by_client
from .json_numbers import json_number

SEED = 0
# Of a distribution that KID has no closed form of.
ROWS_DRAWN = 2_000


class MixtureFinder:
    """Finds mixtures, and keeps the means of the kernel for the generators that it saw last."""

    def __init__(self) -> None:
        self._samples: tuple[Sample, ...] = ()
        self._means: tuple[Halved, list[KernelMean], list[KernelMean]] | None = None

    def find(
        self, result: Cells, names: Sequence[str], clients: Sequence[str], weights: Sequence[float]
    ) -> Iterator[dict[str, Any]]:
        """Yield what to show of the best mixture, step by step.

        Parameters
        ----------
        result : what is known of the generators `names`, of any metric: their samples are what counts
        clients, weights : their names, and λ

        Raises
        ------
        InvalidInput
            Where a generator has no rows and no distribution of its own, or KID refuses one.
        """
        begin: dict[str, Any] = {"generators": list(names), "weights": list(weights)}
        samples = (*result.clients, *(_sample(s, name) for s, name in zip(result.generators, names, strict=True)))
        if self._means is None or not _are_same(samples, self._samples):
            yield {**begin, "doing": "summaries"}
            kid = Halved(_kid(result.metric), SEED).resolve(result.clients)
            drawn = [sample_if_needed(kid, sample, ROWS_DRAWN, [SEED, i]) for i, sample in enumerate(samples)]
            means = [kid.summarize(sample) for sample in drawn]
            real, generated = means[: len(clients)], means[len(clients) :]
            for done, total in blocks(kid, generated):
                yield {**begin, "doing": f"pair {done + 1:,} of {total:,} of generators"}
            self._samples, self._means = samples, (kid, real, generated)
        yield {**begin, "doing": "shares"}
        kid, real, generated = self._means
        best = mixture_from(kid, dict(zip(names, generated, strict=True)), clients, real, weights)
        singles = singles_by_client(kid, real, generated, best.means)
        yield {**begin, **_best_json(best), **_terms_json(best.means, singles), "doing": ""}


def _sample(sample: Sample | None, name: str) -> Sample:
    if sample is None:
        seen = "answers conditions, or has one distribution for each client"
        raise InvalidInput(f"generator {name!r}", seen, "Mix generators of rows or distributions for all clients")
    return sample


def _are_same(samples: Sequence[Sample], others: Sequence[Sample]) -> bool:
    """Return whether samples are of the same rows and distributions."""
    return len(samples) == len(others) and all(
        a.rows is b.rows and a.exact_distribution is b.exact_distribution for a, b in zip(samples, others, strict=True)
    )


def _kid(metric: Metric[Any]) -> KID:
    """Return the KID in view where mixtures are quadratic under it, else the default one."""
    try:
        return on_all_pairs(metric)
    except InvalidInput:
        return KID()


def _best_json(best: BestMixture) -> dict[str, Any]:
    return {
        "alpha": list(best.weights.values()),
        "score": json_number(best.score),
        "cross_fitted": json_number(best.cross_fitted),
        "best_single": best.best_single,
        "best_single_score": json_number(best.best_single_score),
        "note": best.note,
    }


def _terms_json(means: Means, singles: np.ndarray) -> dict[str, Any]:
    """Return the terms from which the score of every mixture follows."""
    alone = [means.score(one) for one in np.eye(len(means.cross))]
    by_client, apart = ([_all(row) for row in rows] for rows in (singles, means.apart))
    return {"alone": _all(alone), "by_client": by_client, "apart": apart}


def _all(values: Iterable[float]) -> list[float | str]:
    return [json_number(value) for value in values]
