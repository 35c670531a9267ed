"""A step whose generator has one distribution for each client, under other weights than those it was logged with.

Its mixture S_G = Σ λ_i S_G,i moves with the weights, so the scores of the clients with it do, too. Those of FID follow
from the moments of every S_G,i, "own moments"; those of KID from "own means metric", (2, k, k): the kernel means of
each client i with S_G,j, then those of S_G,i with S_G,j. Both are what `Cells.with_weights` computes from summaries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import refusal_of
from ...evaluation.heterogeneity import kernel_mean_table
from ...metrics.fid.metric import FID
from ...summaries.moments import Moments
from .packed_moments import pack_moments, unpack_moments

# Bytes of what is kept of one step to score it under other weights; of more nothing is, and those scores are not known.
MAX_OWN_BYTES = 2**19


def own_moments(answers: Sequence[Any]) -> np.ndarray | None:
    """Pack what was made for each client, a row each: which sample it is, and its moments.

    None where some are not known, or too large.
    """
    if refusal_of(*answers):
        return None
    packed = {id(answer): pack_moments(answer) for answer in answers}
    places = {key: float(place) for place, key in enumerate(packed)}
    rows = np.stack([np.append(places[id(answer)], packed[id(answer)]) for answer in answers])
    return rows if rows.nbytes <= MAX_OWN_BYTES else None


def own_means(estimator: Any, clients: Sequence[Any], answers: Sequence[Any]) -> np.ndarray | None:
    """Return the kernel means "own means" of KID, None where some are not known, or too many."""
    if 16 * len(clients) ** 2 > MAX_OWN_BYTES or refusal_of(*clients, *answers):
        return None
    singles = list({id(answer): answer for answer in answers}.values())  # one of several clients is one sample
    table = kernel_mean_table(estimator, singles)
    if table is None:
        return None
    where = [next(i for i, single in enumerate(singles) if single is answer) for answer in answers]
    between = np.array([[client.mean_with(single) for single in singles] for client in clients])
    return np.stack([between[:, where], table[np.ix_(where, where)]])


def mixture_fid(
    clients: np.ndarray | None, own: np.ndarray | None, weights: Sequence[float]
) -> tuple[np.ndarray, float] | None:
    """Return FID of each client, and of all pooled, with the mixture under these weights; None where it is not known.

    Parameters
    ----------
    clients : (k, P) packed moments of the clients; own : (k, 1 + P), see `own_moments`
    """
    if clients is None or own is None or clients.ndim != 2 or len(clients) != len(weights):
        return None
    if own.shape != (len(clients), clients.shape[1] + 1):
        return None
    try:
        parties, sources = ([unpack_moments(row) for row in side] for side in (clients, own[:, 1:]))
    except ValueError:
        return None
    mixture = _mixture(own[:, 0].tolist(), sources, weights)
    weighty = [(moments, w) for moments, w in zip(parties, weights, strict=True) if w]
    together = Moments.pool([moments for moments, _ in weighty], [w for _, w in weighty])
    metric = FID()
    return np.array([metric.distance(moments, mixture) for moments in parties]), metric.distance(together, mixture)


def _mixture(places: Sequence[float], sources: Sequence[Moments], weights: Sequence[float]) -> Moments:
    """Pool what was made for the clients; what several of them share is one sample."""
    shares: dict[float, float] = {}
    parts: dict[float, Moments] = {}
    for place, moments, weight in zip(places, sources, weights, strict=True):
        if weight:
            shares[place], parts[place] = shares.get(place, 0.0) + weight, moments
    return Moments.pool(list(parts.values()), list(shares.values()))


def mixture_kid(
    clients: np.ndarray | None, own: np.ndarray | None, weights: Sequence[float], gap: float
) -> tuple[np.ndarray, float] | None:
    """Return KID of each client, and of all pooled, with the mixture under these weights; None where it is not known.

    Parameters
    ----------
    clients : (k, k) kernel means of every two clients, see `client_kernel_means`; own : (2, k, k), see above
    gap : KID-avg − KID-all under the weights, which no generator moves
    """
    k = len(weights)
    if clients is None or own is None or own.shape != (2, k, k):
        return None
    used = np.flatnonzero(weights)
    shares = np.array(weights)[used]
    between, within = own[0][:, used] @ shares, shares @ own[1][np.ix_(used, used)] @ shares
    scores = np.diag(clients) + within - 2.0 * between
    return scores, float(shares @ scores[used]) - gap


def mixture_centre(centres: np.ndarray, weights: Sequence[float]) -> np.ndarray:
    """Return the variance of all features together, then the mean, (1 + d,), of a mixture of parts with (k, 1 + d)."""
    shares = np.array(weights)
    used = shares > 0
    shares, centres = shares[used], centres[used]
    mean = shares @ centres[:, 1:]
    variance = shares @ (centres[:, 0] + np.sum((centres[:, 1:] - mean) ** 2, axis=1))
    return np.append(variance, mean)
