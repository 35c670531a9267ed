"""What Python tells of a decision by avg beside the verdict: in what share of all weightings each generator wins, and
which rows would settle it between the two leaders.

    won: {generator: [share, standard error]}
    settle: {"pair": [leader, rival], "variances": [k + 2], "sizes": [k + 2]} or {"why": reason}

The page makes the sentences of it: see `settle`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...evaluation.noise import Noise
from ...ranking import lowest, order
from .board import number
from .decisions import Known, decided_weights
from .ranges import apart
from .regions import Shares, share_of_weightings
from .settle import parts

ONE = "there is one generator"
NO_SPLIT = "only uncertainty=nm.Influence() says which rows the noise comes from"


def won(names: Sequence[str], known: Known) -> dict[str, list[float | str]]:
    """Of generators, by name, the share of all weightings of the clients that count, and its standard error.

    Empty where a score is not known yet, or no client counts.
    """
    facts = known.facts
    if not (facts.known.all() and facts.counts.any()):
        return {}
    centres = facts.centres[:, facts.counts]
    shares = _shares(centres.tobytes(), *centres.shape)
    pairs = zip(shares.share, shares.error, strict=True)
    return {name: [number(share), number(error)] for name, (share, error) in zip(names, pairs, strict=True)}


@lru_cache(maxsize=16)
def _shares(centres: bytes, generators: int, clients: int) -> Shares:
    """They do not depend on the weights, so a drag asks for the same ones."""
    return share_of_weightings(np.frombuffer(centres).reshape(generators, clients))


def leaders(known: Known) -> tuple[int, int] | None:
    """The winner by avg and its closest rival in standard errors, by position; None where nobody can tell."""
    losses, draws = known.avg_centres, known.avg_draws
    placed = [int(g) for g in order(losses) if not np.isnan(losses[g])]
    sure = [] if draws is None else [g for g in placed if not np.isnan(draws[:, g]).any()]
    if len(sure) < 2 or sure[0] != placed[0]:
        return None
    away = [apart(losses, draws, sure[0], g) for g in sure[1:]]
    return sure[0], sure[1:][lowest(np.nan_to_num(away, nan=np.inf))]


class Split(NamedTuple):
    """The noise of all generators' scores, and the rows of each client and of each generator, 0 for a distribution."""

    noise: Noise
    clients: Sequence[int]
    generators: Sequence[int]


def settling(
    names: Sequence[str], known: Known, split: Split | None, chosen: Sequence[int], weights: np.ndarray
) -> dict[str, Any]:
    """The variance of the difference of the two leaders by source, for `settle`.

    Parameters
    ----------
    names, chosen : of the generators that `known` is of, and their positions in `split`
    weights : λ of all clients
    """
    if len(names) < 2:
        return {"why": ONE}
    pair, decided = leaders(known), decided_weights(weights, known.facts.counts)
    if pair is None or decided is None or split is None:
        return {"why": known.facts.why or "it is not computed yet"}
    generated = split.noise.generated
    if generated is None:
        return {"why": NO_SPLIT}
    which = [chosen[g] for g in pair]
    made, everything = generated[:, which], split.noise.by_client[:, which]
    variances = parts(everything - made, made, decided, 0, 1)
    sizes = [*split.clients, *(split.generators[g] for g in which)]
    return {
        "pair": [names[g] for g in pair],
        "variances": [number(v) for v in variances],
        "sizes": [int(size) for size in sizes],
    }
