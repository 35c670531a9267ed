"""The client's side: its rows become the bytes that it sends, once for all generators."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..errors import InvalidInput, caller_level, check_count, check_flag, shown
from ..evaluation.samples import metric_list
from ..federation import Client
from ..metrics import Metric, Sample
from ..metrics.base import rows_refusal
from .account import Account
from .noisy_summaries import noisy_sections
from .privacy import Privacy
from .serialization import Section, write
from .summary_codec import REVEALS, Thrift, arrays_of, kind_of, settings_text

FIX_REVEALS_ROWS = (
    "Leave the metric out, take KID with nm.RandomFeatures, or set reveal_rows=True, which sends every row"
)
MIN_ROWS = 10


class FewRowsWarning(UserWarning):
    """A client has so few rows that they can be rebuilt from what it sends, or recognised in it."""


def client_summary(
    rows: Any,
    metrics: Any = ("fid", "kid"),
    *,
    min_rows: int = MIN_ROWS,
    precision: str = "float64",
    rank: int | None = None,
    privacy: Privacy | None = None,
    account: Account | None = None,
    reveal_rows: bool = False,
) -> bytes:
    """What a client has to reveal for some metrics, as bytes; `nm.federated.aggregate` makes scores of many.

    Parameters
    ----------
    rows : (n, d) rows, a `Client` (with test rows and condition), or a Gaussian
    metrics : names or `Metric` objects, the same here and there
    min_rows : fewer rows than this are refused, unless noise is added
    precision : "float64", or "float32" for half the bytes and numbers to 6e-8
    rank : for FID, how many directions of the covariance are sent, the largest; of the others one variance. The scores
        say how far that may move them
    privacy : `nm.federated.Privacy(epsilon, delta, clip)`: noise that hides every single row
    account : `nm.federated.Account`, in which what `privacy` spends is written before the bytes are returned
    reveal_rows : whether a metric that needs every row gets them; refused otherwise

    Returns
    -------
    bytes: a header in JSON, with the names of the columns of a table, and the numbers, read without pickle. FID takes
    mean and covariance; KID with the cubic kernel (up to 128 features) the moments up to order 3;
    KID(nm.RandomFeatures(…)) as many numbers as you say. The last 32 bytes are a checksum (SHA-256), which finds
    damage, not forgery.
    None of this hides a row by itself: see docs/federated.md.

    Raises
    ------
    InvalidInput
        For bad rows, for fewer than `min_rows`, for a metric that needs every row, unless `reveal_rows`, and for a
        release that would spend more than the account has left.

    Warns
    -----
    FewRowsWarning
        Where the rows can be rebuilt from what is sent without noise, or recognised in it: no more rows than features.

    Examples
    --------
    >>> clients = [np.random.default_rng(k).normal(k, 1, size=(50, 2)) for k in (0, 1)]
    >>> sent = [nm.federated.client_summary(rows, "fid") for rows in clients]
    >>> nm.federated.aggregate(sent, None, {"g": nm.Gaussian([0, 0])}, "fid").table.round(3)
      generator metric    avg    all    gap
    0         g    fid  0.912  0.559  0.353
    """
    client = rows if isinstance(rows, Client) else Client(rows)
    sample, wanted = client.to_sample(), metric_list(metrics)
    thrift = Thrift.of(precision, rank)
    if account is not None and not (isinstance(account, Account) and privacy is not None):
        raise InvalidInput("account", f"got {shown(account)}", "Give nm.federated.Account(…), and privacy=")
    if privacy is None:
        check_rows(sample, wanted, min_rows)
        sections = [section_of(metric, sample, thrift, reveal_rows) for metric in wanted]
        return write(sample.dim, [replace(section, columns=client.columns) for section in sections])
    if not isinstance(privacy, Privacy):
        raise InvalidInput("privacy", f"got {shown(privacy)}", "Give nm.federated.Privacy(epsilon, delta, clip)")
    if rank is not None:
        raise InvalidInput("rank", "is given with privacy, but noise fills all directions", "Leave one of them out")
    sections = noisy_sections(wanted, sample, privacy)
    if account is not None and any(section.arrays for section in sections):
        account.spend(privacy, ", ".join(metric.name for metric in wanted))
    return write(sample.dim, [replace(section, type=thrift.type, columns=client.columns) for section in sections])


def check_rows(sample: Sample, metrics: Sequence[Metric[Any]], min_rows: int) -> None:
    """Raise InvalidInput for fewer rows than `min_rows`; warn where rows can be rebuilt from what is sent."""
    least, sent = (
        check_count(min_rows, "min_rows", minimum=0),
        [m for m in metrics if kind_of(m, sample.dim) != "nothing"],
    )
    if (n := sample.size) is None or not sent:
        return
    d = sample.dim
    if n < least:
        seen = f"has {n} row{'s' * (n != 1)}, but a summary without noise needs min_rows={least} or more"
        fix = "Merge them with those of another client, add noise with privacy=, or allow it with a smaller min_rows"
        raise InvalidInput("rows", seen, fix)
    if any(can_be_rebuilt(metric, n, d) for metric in sent):
        text = (
            f"{n} rows with {d} features: rows can be rebuilt from a summary of so few, or recognized in it. Send more "
            "rows than features, or add noise with privacy= (docs/federated.md: What is not protected)"
        )
        warnings.warn(text, FewRowsWarning, stacklevel=caller_level())


def can_be_rebuilt(metric: Any, n: int, d: int) -> bool:
    """Return whether what the metric reveals of n rows with d features may tell them."""
    kind = kind_of(metric, d)
    numbers = {"features": lambda: metric.kernel.count, "second": lambda: math.comb(metric.count + 1, 2)}
    return can_be_rebuilt_from(kind, int(numbers[kind]()) if kind in numbers else 0, n, d)


def can_be_rebuilt_from(kind: str, numbers: int, n: int, d: int) -> bool:
    """Return whether so many numbers of a kind of summary may tell the n rows with d features.

    A covariance of n ≤ d rows tells who is a member, and the rows where columns hold few values; third moments give the
    rows back up to n = d + 1; means and second moments of random
    features may, where they are at least as many numbers as the rows hold.
    """
    if kind in ("features", "second"):
        return n * d <= numbers
    return n <= d + 1 if kind == "thirds" else kind == "moments" and n <= d


def section_of(metric: Metric[Any], sample: Sample, thrift: Thrift, reveal_rows: bool = False) -> Section:
    """Return what a client reveals for one metric."""
    kind = kind_of(metric, sample.dim)
    if kind in ("rows", "own"):
        if not check_flag(reveal_rows, "reveal_rows"):
            raise InvalidInput("metrics", f"{metric.label} needs {REVEALS['rows']} of a client", FIX_REVEALS_ROWS)
        if sample.rows is None:
            what = "a distribution" if sample.moments is None else "a mean and a covariance"
            raise InvalidInput("rows", f"is {what}, and {metric.label} needs rows", "Give rows")
        if metric.needs_test and sample.test is None:
            fix = "Give nm.Client(rows, test=…)"
            raise InvalidInput("rows", f"have no test rows, which {metric.label} compares with", fix)
    if sample.moments is not None and kind != "nothing":
        if refusal := rows_refusal(metric, sample, "rows"):
            raise refusal
        if sample.size is None:
            seen = "is a mean and a covariance of an unknown number of rows, by which the server weighs it"
            raise InvalidInput("rows", seen, "Give nm.Moments(mean, cov, n)")
    arrays, notes = arrays_of(kind, metric, sample, thrift)
    count = math.inf if sample.size is None else sample.size
    return Section(metric.name, settings_text(metric), kind, count, arrays, thrift.type_of(kind, arrays), notes)
