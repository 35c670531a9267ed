"""The commands score, verify, features and cache, each a function of its options.

run_score     check the files → clients and generators as rows → evaluate → table and files
run_verify    a report of run_score → the same again → which numbers differ
run_features  a folder of images → a .npy file of rows, or a .npz file of their mean and covariance
run_cache     what is kept of features computed before, or away with it
"""

from __future__ import annotations

import io
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidInput, check_count, check_names, check_number, shown
from ..evaluation.display import with_notes
from ..evaluation.evaluate import evaluate
from ..evaluation.export import as_csv
from ..evaluation.influence import Influence
from ..evaluation.resampling import Bootstrap, Jackknife
from ..features import Extraction, extraction
from ..features.cache import bytes_text, cache
from ..features.networks import PROBABILITIES
from ..files import checked_path, write
from ..metrics import Metric, metric_of
from ..metrics.inception_score import AMScore, InceptionScore
from ..summaries.reference import Moments
from .parties import (
    FEATURES,
    STATISTICS,
    Party,
    PartyReader,
    client_parties,
    containment_notes,
    existing_path,
    generated_parties,
    parties_within,
    runs_within,
)
from .report import Report, as_json, as_page, as_text, client_rows, generator_rows
from .verify import OTHER_NUMBERS, compare, order_of, read_report, settings_of


def run_score(options: Namespace) -> None:
    """Print the scores, and write the files that were asked for."""
    show = report_writer(options)
    show(report_of(options))


def report_writer(options: Namespace) -> Callable[[Report], None]:
    """Return what writes the files that were asked for and prints the table; the paths are checked at once."""
    write_json = writer("--json", options.json, ".json")
    write_page = writer("--html", options.html, ".html", ".htm")
    write_csv = writer("--csv", options.csv, ".csv")
    write_markdown = writer("--markdown", options.markdown, ".md")
    write_latex = writer("--latex", options.latex, ".tex")

    def show(report: Report) -> None:
        scores = report.scores
        write_json(as_json(report))
        write_page(as_page(report))
        write_csv(as_csv(with_notes(scores)))
        write_markdown(scores.to_markdown().encode("utf-8"))
        write_latex(scores.to_latex().encode("utf-8"))
        print(as_text(report))  # last: `| head` may close the pipe

    return show


def report_of(options: Namespace, order: Sequence[str] = ()) -> Report:
    """Return the scores of the files that the options name, with where they come from.

    order : names of generators that come first, in this order, which what is drawn depends on
    """
    metrics, design = _metrics(options), _design(options)
    clients, notes = client_parties(options.clients)
    if options.by_class and options.runs:
        raise InvalidInput("--runs", "is given beside --by-class", "Give one of the two")
    generated = generated_parties(options.generated, has_parts=options.by_class or options.runs)
    if options.runs:
        generated = [run for model in generated for run in runs_within(model)]
    generated.sort(key=lambda party: order.index(party.name) if party.name in order else len(order))
    notes += containment_notes(clients, generated)
    parts = [part for party in generated for part in (parties_within(party) if options.by_class else [party])]
    check_weights_used(options, [*clients, *parts])
    has_images = not all(party.is_rows for party in (*clients, *parts))
    reader = PartyReader(lambda: settings(options))
    if has_images:
        _check_probabilities(metrics, options.extractor)
        reader.extraction  # noqa: B018 - a wrong extractor is told before anything is read
    federation = reader.federation(Path(options.clients).expanduser(), clients, has_images)
    generators = reader.generators(generated, options.by_class)
    if options.test is not None:
        federation = federation.split(options.test, options.seed)
    scores = evaluate(
        federation,
        generators,
        metrics,
        samples=options.samples,
        seed=options.seed,
        uncertainty=design,
        progress=options.progress,
        store=options.store,
    )
    rows = client_rows(federation, clients), generator_rows(generated, generators)
    return Report(scores, *rows, notes, reader.unread, vars(options))


def run_verify(options: Namespace) -> int:
    """Print which numbers of a report come out again of the data, and return the exit code."""
    report = read_report(options.report)
    lines, is_same = compare(report, report_of(settings_of(report, options), order_of(report)))
    print("\n".join(lines))
    return 0 if is_same else OTHER_NUMBERS


def run_features(options: Namespace) -> None:
    """Write the rows of a folder of images, or their mean and covariance, and print how many of how wide."""
    write = writer("--out", options.out, STATISTICS if options.stats else FEATURES)
    folder = existing_path("FOLDER", options.folder)
    party = Party("FOLDER", folder.name, folder)
    if party.moments is not None:
        raise InvalidInput("FOLDER", f"{folder} is a mean and a covariance", "Give a folder or a zip of images")
    if party.is_rows and not options.stats:
        raise InvalidInput("FOLDER", f"{folder} are features already", "Give a folder or a zip of images, or --stats")
    reader = PartyReader(lambda: settings(options))
    check_weights_used(options, [party])
    extraction = None if party.is_rows else reader.extraction
    rows = reader.data(party) if extraction is None else extraction.rows(reader.data(party))
    content, kind = io.BytesIO(), ""
    if options.stats:
        content.write(Moments.of(rows).to_bytes())
        kind = "mean and covariance of "
    else:
        np.save(content, rows, allow_pickle=False)
    path = write(content.getvalue())
    print(f"{kind}{len(rows):,} rows of {rows.shape[1]:,} features in {path}".capitalize())
    print(f"Features: {'as given' if extraction is None else extraction.convention}")


def run_cache(options: Namespace) -> None:
    """Print what is kept, or remove it and print how much that was."""
    info = cache.info()
    if options.what == "info":
        print(info)
        return
    cache.clear()
    print(f"Removed {info.files:,} files, {bytes_text(info.bytes)}, from {info.folder}")


def writer(option: str, path: str | None, *suffixes: str) -> Callable[[bytes], Path | None]:
    """Return a function that writes bytes to `path`, checked at once; it does nothing where there is no path."""
    if path is None:
        return lambda content: None
    target = _naming_option(option, checked_path, path, *suffixes)
    return lambda content: _naming_option(option, write, target, content)


def _naming_option(option: str, act: Callable[..., Any], *arguments: Any) -> Any:
    """Return act(*arguments), whose refusal is then about the option."""
    try:
        return act(*arguments)
    except InvalidInput as error:
        raise InvalidInput(option, error.seen, error.fix) from None


def settings(options: Namespace) -> Extraction:
    """Return the extraction that the options name."""
    names = ("weights", "download", "batch_size", "device", "resize", "cache", "progress")
    try:
        return extraction(options.extractor, **{name: getattr(options, name) for name in names})
    except InvalidInput as error:
        argument = error.argument.replace("_", "-")
        raise InvalidInput(f"--{argument}", error.seen, error.fix) from None


def check_weights_used(options: Namespace, parties: Sequence[Party]) -> None:
    """Raise InvalidInput for weights of an extractor where every party is rows already."""
    if options.weights is not None and all(party.is_rows for party in parties):
        seen = "is given, and all files contain rows, which no extractor makes features of"
        raise InvalidInput("--weights", seen, "Leave it out, or give folders of images")


def _metrics(options: Namespace) -> list[Metric[Any]]:
    """Return the metrics that are named; what else a number decides is checked before anything is read."""
    check_count(options.seed, "--seed", minimum=0)
    if options.samples is not None:
        check_count(options.samples, "--samples")
    if options.test is not None:
        check_number(options.test, "--test", minimum=0, maximum=1)
    names = [name.strip() for name in options.metrics.split(",") if name.strip()]
    metrics = [metric_of(name, "--metrics") for name in check_names(names, "--metrics")]
    if not metrics:
        raise InvalidInput("--metrics", f"got {shown(options.metrics)}", "Name at least one, such as fid")
    for metric in metrics:
        if metric.is_conditional:
            seen = f"{metric.name} compares answers to inputs x, which folders do not contain"
            raise InvalidInput("--metrics", seen, "Use nm.Client(y, condition=x) in Python")
        if metric.needs_test and options.test is None:
            seen = f"{metric.name} compares with rows not seen by the generator"
            raise InvalidInput("--metrics", seen, "Hold out some rows of each client: --test 0.2")
    return metrics


def _check_probabilities(metrics: Sequence[Metric[Any]], extractor: str) -> None:
    """Raise InvalidInput for metrics of class probabilities where images become something else."""
    of_classes = [metric.name for metric in metrics if isinstance(metric, (InceptionScore, AMScore))]
    if of_classes and extractor != PROBABILITIES:
        seen = f"{' and '.join(of_classes)} need class probabilities, which --extractor {extractor} does not give"
        raise InvalidInput("--metrics", seen, f"Use --extractor {PROBABILITIES}, in a separate run")


def _design(options: Namespace) -> Any:
    designs = {"influence": Influence, "jackknife": Jackknife}
    if options.uncertainty == "bootstrap":
        return Bootstrap(seed=options.seed)
    return designs[options.uncertainty]() if options.uncertainty in designs else None
