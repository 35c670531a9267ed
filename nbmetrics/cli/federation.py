"""The commands of a federation: summarize at a site, aggregate at the server, inspect anywhere.

run_summarize  rows or images → what `nm.federated.client_summary` makes → a file; noise, and an account of it
run_aggregate  such files and generators → the report of `nbmetrics score`
run_inspect    such a file → what is in it, in words
"""

from __future__ import annotations

import math
import os
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, check_names, check_number, shown
from ..federated import Account, Privacy, aggregate, client_summary, inspect
from ..files import open_plain
from ..metrics import Metric, metric_of
from ..metrics.kid.kernels import RBF
from ..metrics.kid.metric import KID
from ..metrics.kid.random_features import RandomFeatures
from .commands import report_writer, settings, writer
from .parties import Party, PartyReader, existing_path, generated_parties
from .report import Report, generator_rows

SUFFIX = ".nbs"
MAX_SUMMARY_BYTES = 1 << 33
# What `report` reads of the options of `score`.
NO_UNCERTAINTY = "none"


def run_summarize(options: Namespace) -> None:
    """Write the bytes that a site sends, and say in words what they hold."""
    write = writer("--out", options.out, SUFFIX)
    metrics, privacy = _metrics(options), _privacy(options)
    reader = PartyReader(lambda: settings(options))
    rows = _rows(reader, existing_path("ROWS", options.rows))
    own: dict[str, Any] = {
        "min_rows": options.min_rows,
        "precision": options.precision,
        "rank": options.rank,
        "reveal_rows": options.reveal_rows,
    }
    data = client_summary(rows, metrics, privacy=privacy, account=_account(options, privacy), **own)
    path = write(data)
    print("\n".join([*inspect(data), f"Written to {path}"]))


def run_aggregate(options: Namespace) -> None:
    """Print the scores of generators on the sites whose summaries these are, and write the files asked for."""
    show = report_writer(options)
    metrics = _metrics(options)
    paths = [existing_path("SUMMARIES", path) for path in options.summaries]
    names = check_names([path.stem for path in paths], "SUMMARIES")
    generated = generated_parties(options.generators)
    reader = PartyReader(lambda: settings(options))
    generators = reader.generators(generated)
    sent = {name: _summary_bytes(path) for name, path in zip(names, paths, strict=True)}
    scores = aggregate(sent, None, generators, metrics, samples=options.samples, seed=options.seed)
    counts = [section.count for section in scores.result(scores.metrics[0]).sent]
    clients = [
        {"name": name, "path": str(path), "rows": 0 if math.isinf(count) else int(count), "weight": weight}
        for name, path, count, weight in zip(names, paths, counts, scores.weights, strict=True)
    ]
    report_options = {**vars(options), "uncertainty": NO_UNCERTAINTY}
    show(Report(scores, clients, generator_rows(generated, generators), [], reader.unread, report_options))


def run_inspect(options: Namespace) -> None:
    """Print what is in a summary."""
    print("\n".join(inspect(_summary_bytes(existing_path("SUMMARY", options.summary)))))


def _rows(reader: PartyReader, path: Path) -> Any:
    """Return the rows of a file of features, or of a folder of images."""
    party = Party("ROWS", path.stem, path)
    return reader.data(party) if party.is_rows else reader.extraction.rows(reader.data(party))


def _summary_bytes(path: Path) -> bytes:
    try:
        with open(open_plain(path, os.O_RDONLY), "rb") as file:
            return file.read(MAX_SUMMARY_BYTES)
    except OSError as error:
        raise InvalidInput("SUMMARY", f"{shown(str(path))} cannot be read ({error.strerror})", "Give a file") from None


def _metrics(options: Namespace) -> Sequence[Metric[Any]]:
    """Return the metrics that are named; with --sigma KID is that of random features, which noise can protect."""
    names = [name.strip() for name in options.metrics.split(",") if name.strip()]
    metrics = [metric_of(name, "--metrics") for name in check_names(names, "--metrics")]
    if not metrics:
        raise InvalidInput("--metrics", f"got {shown(options.metrics)}", "Name at least one, such as fid")
    if options.sigma is None:
        return metrics
    sigma = check_number(options.sigma, "--sigma", minimum=1e-12, maximum=1e12)
    if not any(type(metric) is KID for metric in metrics):
        raise InvalidInput("--sigma", "is for kid, which is not among the metrics", "Leave it out, or add kid")
    wide = KID(RandomFeatures(RBF(sigma), options.count))
    return [wide if type(metric) is KID else metric for metric in metrics]


def _privacy(options: Namespace) -> Privacy | None:
    if options.epsilon is None:
        for name in ("clip", "account", "budget"):
            if getattr(options, name) is not None:
                raise InvalidInput(f"--{name}", "is for noise, and --epsilon is not given", "Add --epsilon, such as 1")
        return None
    return Privacy(options.epsilon, options.delta, options.clip)


def _account(options: Namespace, privacy: Privacy | None) -> Account | None:
    """Return the account, which is made where there is a budget for it."""
    if options.account is None or privacy is None:
        return None
    path = Path(options.account).expanduser()
    if options.budget is not None:
        return Account(path, epsilon=options.budget, delta=privacy.delta)
    if not path.exists():
        seen = f"there is no {shown(options.account)}"
        raise InvalidInput("--account", seen, "Say what all releases may spend together: --budget 3")
    return Account.open(path)
