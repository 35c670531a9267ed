"""Scores of clients who keep their rows: summaries as bytes, what these cost and reveal, and noise for privacy.

    sent = nm.federated.client_summary(rows, ("fid", "kid"))          # at each client: bytes
    scores = nm.federated.aggregate([sent, …], None, generators)      # at the server: as nm.evaluate on the rows

client.py         rows to bytes                          server.py          bytes to scores
serialization.py  the bytes: header, numbers, checksum   summary_codec.py   what is revealed for each metric
inspection.py     what is in the bytes, in words         site_checks.py     one site twice, a site of another scale
privacy.py        (ε, δ): sensitivities, noise           account.py         what releases have spent
recipes.py        clip and σ, of public rows or noisy
noisy_summaries.py  summaries with noise, and their FID  noise_error.py     how far noise moves a difference
noise_study.py    the same summaries, noised anew        survival.py        at which ε the order survives
ledger.py         bytes up and down, `scores.ledger`     figure.py          the picture of survival
flower.py         the same functions in Flower
"""

from typing import Any

from . import flower
from .account import Account
from .client import FewRowsWarning, client_summary
from .inspection import inspect
from .ledger import ledger
from .privacy import Privacy, noise_multiplier, spent
from .recipes import clip_from_public, private_norm_quantile, sigma_from_public
from .server import aggregate
from .survival import rank_survival

__all__ = ["Account", "FewRowsWarning", "Privacy", "aggregate", "client_summary", "flower", "inspect", "ledger"]
__all__ += ["clip_from_public", "noise_multiplier", "plot_survival", "private_norm_quantile", "rank_survival"]
__all__ += ["sigma_from_public", "spent"]


def plot_survival(table: Any) -> Any:
    """Return the curve of `rank_survival` as a matplotlib Figure, see `nbmetrics/federated/figure.py`."""
    from .figure import plot_survival as plot

    return plot(table)


def __dir__() -> list[str]:
    return sorted(__all__)
