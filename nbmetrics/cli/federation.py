"""The commands of a federation: summarize at a site, aggregate at the server, inspect anywhere.

run_summarize  rows or images → what `nm.federated.client_summary` makes → a file; noise, and an account of it
run_aggregate  such files and generators → the report of `nbmetrics score`
run_inspect    such a file, or an account → what is in it, in words
"""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, check_names, check_number, one_line, shown
from ..federated import Account, Privacy, aggregate, client_summary, inspect
from ..federated.privacy import MAX_EPSILON, MIN_EPSILON
from ..federated.serialization import NAME
from ..federation import Client
from ..files import read_plain
from ..metrics import Metric, metric_of
from ..metrics.kid.kernels import RBF
from ..metrics.kid.metric import KID
from ..metrics.kid.random_features import RandomFeatures
from .commands import check_weights_used, report_writer, settings, writer
from .options import DELTA, RANDOM_FEATURES
from .parties import FEATURES, Party, PartyReader, checked_kind, existing_path, generated_parties
from .report import Report, generator_rows

SUFFIX = ".nbs"
MAX_SUMMARY_BYTES = 1 << 33
HEAD_BYTES = 1 << 10
# What `report` reads of the options of `score`.
NO_UNCERTAINTY = "none"
# Of an account's file; that of a summary is another.
ACCOUNT_START = b'{"format"'
FIX_NO_SUMMARY = "Give a file that nbmetrics summarize wrote"


def run_summarize(options: Namespace) -> None:
    """Write the bytes that a site sends, and say in words what they hold."""
    write = writer("--out", options.out, SUFFIX)
    metrics, privacy = _metrics(options), _privacy(options)
    path, account = checked_kind("ROWS", existing_path("ROWS", options.rows)), _account(options, privacy)
    party = Party("ROWS", path.stem, path)
    check_weights_used(options, [party])
    rows = _rows(PartyReader(lambda: settings(options)), party)
    own: dict[str, Any] = {
        "min_rows": options.min_rows,
        "precision": options.precision,
        "rank": options.rank,
        "reveal_rows": options.reveal_rows,
    }
    data = client_summary(rows, metrics, privacy=privacy, account=account, **own)
    written = write(data)
    print("\n".join([*inspect(data), *([] if account is None else [str(account)]), f"Written to {written}"]))


def run_aggregate(options: Namespace) -> None:
    """Print the scores of generators on the sites whose summaries these are, and write the files asked for."""
    show = report_writer(options)
    metrics = _metrics(options)
    paths = [existing_path("SUMMARIES", path, FIX_NO_SUMMARY) for path in options.summaries]
    names = check_names([path.stem for path in paths], "SUMMARIES")
    generated = generated_parties(options.generators, "--generators")
    reader = PartyReader(lambda: settings(options))
    generators = reader.generators(generated)
    sent = {name: _summary_bytes("SUMMARIES", path) for name, path in zip(names, paths, strict=True)}
    scores = aggregate(sent, None, generators, metrics, samples=options.samples, seed=options.seed)
    counts = [section.count for section in scores.result(scores.metrics[0]).sent]
    clients = [
        {"name": name, "path": str(path), "rows": 0 if math.isinf(count) else int(count), "weight": weight}
        for name, path, count, weight in zip(names, paths, counts, scores.weights, strict=True)
    ]
    report_options = {**vars(options), "uncertainty": NO_UNCERTAINTY}
    show(Report(scores, clients, generator_rows(generated, generators), [], reader.unread, report_options))


def run_inspect(options: Namespace) -> None:
    """Print what is in a summary, or what an account has spent."""
    path = existing_path("SUMMARY", options.summary, FIX_NO_SUMMARY)
    try:
        data = _summary_bytes("SUMMARY", path)
        lines = _account_lines(Account.open(path)) if data.startswith(ACCOUNT_START) else inspect(data)
    except InvalidInput as error:
        raise InvalidInput(f"SUMMARY {shown(str(path))}", error.seen, error.fix) from None
    print("\n".join(lines))


def _account_lines(account: Account) -> list[str]:
    """Return what was spent, and each release."""
    releases = account.table.to_dict("records")
    return [
        str(account),
        *(f"{row['date']}  {one_line(row['about'], 100)}: ε = {row['epsilon']:.4g} by then" for row in releases),
    ]


def _rows(reader: PartyReader, party: Party) -> Any:
    """Return the rows of a file of features, or of a folder of images."""
    if not party.is_rows:
        return reader.extraction.rows(reader.data(party))
    try:
        return Client(reader.data(party))
    except InvalidInput as error:
        raise InvalidInput(f"ROWS {shown(str(party.path))}", error.seen, error.fix) from None


def _summary_bytes(option: str, path: Path) -> bytes:
    """Return the bytes of a summary; of what is none, its head alone."""
    try:
        head = read_plain(path, HEAD_BYTES)
        return read_plain(path, MAX_SUMMARY_BYTES) if head.startswith(NAME) else head
    except OSError as error:
        raise InvalidInput(option, f"{shown(str(path))} cannot be read ({error.strerror})", FIX_NO_SUMMARY) from None


def _metrics(options: Namespace) -> Sequence[Metric[Any]]:
    """Return the metrics that are named; with --sigma KID is that of random features, which noise can protect."""
    names = [name.strip() for name in options.metrics.split(",") if name.strip()]
    metrics = [metric_of(name, "--metrics") for name in check_names(names, "--metrics")]
    if not metrics:
        raise InvalidInput("--metrics", f"got {shown(options.metrics)}", "Name at least one, such as fid")
    if options.sigma is None:
        if options.count is not None:
            raise InvalidInput("--count", "is of random features, and --sigma is not given", "Add --sigma, such as 10")
        return metrics
    sigma = check_number(options.sigma, "--sigma", minimum=1e-12, maximum=1e12)
    if not any(type(metric) is KID for metric in metrics):
        raise InvalidInput("--sigma", "is for kid, which is not among the metrics", "Leave it out, or add kid")
    count = RANDOM_FEATURES if options.count is None else options.count
    wide = KID(RandomFeatures(RBF(sigma), count))
    return [wide if type(metric) is KID else metric for metric in metrics]


def _privacy(options: Namespace) -> Privacy | None:
    if options.epsilon is None:
        for name in ("delta", "clip", "account", "budget"):
            if getattr(options, name) is not None:
                raise InvalidInput(f"--{name}", "is for noise, and --epsilon is not given", "Add --epsilon, such as 1")
        return None
    return Privacy(options.epsilon, DELTA if options.delta is None else options.delta, options.clip)


def _account(options: Namespace, privacy: Privacy | None) -> Account | None:
    """Return the account: the one that is there, or one with a budget, whose file the release makes."""
    if options.account is None or privacy is None:
        if options.budget is not None:
            raise InvalidInput("--budget", "is of an account, which is not given", "Add --account north.account")
        return None
    if Path(options.account).suffix.lower() in (SUFFIX, FEATURES):
        raise InvalidInput("--account", f"got {shown(options.account)}", "Give a file of its own, such as ward.account")
    if options.budget is not None:
        budget = check_number(options.budget, "--budget", minimum=MIN_EPSILON, maximum=MAX_EPSILON)
        return Account(options.account, epsilon=budget, delta=privacy.delta)
    fix = "For a new account, say what all releases may spend together: --budget 3"
    return Account.open(existing_path("--account", options.account, fix))
