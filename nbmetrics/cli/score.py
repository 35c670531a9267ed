"""`nbmetrics score`: check the files → clients and generators as rows → evaluate → table and files."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, check_count, check_names, check_number, shown
from ..evaluation.evaluate import evaluate
from ..evaluation.export import as_csv
from ..evaluation.influence import Influence
from ..evaluation.resampling import Bootstrap, Jackknife
from ..features import Extraction, extraction
from ..features.networks import PROBABILITIES
from ..metrics import Metric, metric_of
from ..metrics.inception_score import AMScore, InceptionScore
from .files import writer
from .parties import Reader, clients_in, generated_at, shared
from .report import Report, as_json, as_page, as_text


def run(options: Namespace) -> None:
    """Print the scores, and write what was asked for."""
    write_json = writer("--json", options.json, ".json")
    write_page = writer("--html", options.html, ".html", ".htm")
    write_csv = writer("--csv", options.csv, ".csv")
    write_markdown = writer("--markdown", options.markdown, ".md")
    write_latex = writer("--latex", options.latex, ".tex")
    metrics, design = _metrics(options), _design(options)
    clients, notes = clients_in(options.clients)
    generated = generated_at(options.generated)
    notes += shared(clients, generated)
    reader = Reader(lambda: settings(options))
    has_images = not all(party.is_rows for party in (*clients, *generated))
    if has_images:
        _check_probabilities(metrics, options.extractor)
        reader.extraction  # noqa: B018 - a wrong extractor is told before anything is read
    federation = reader.federation(Path(options.clients).expanduser(), clients, has_images)
    generators = reader.generators(generated)
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
    )
    report = Report(scores, federation, clients, generated, generators, notes, reader.unread, vars(options))
    write_json(as_json(report))
    write_page(as_page(report))
    write_csv(as_csv(scores.table))
    write_markdown(scores.to_markdown().encode("utf-8"))
    write_latex(scores.to_latex().encode("utf-8"))
    print(as_text(report))  # last: `| head` may close the pipe


def settings(options: Namespace) -> Extraction:
    """The extractor that the options name."""
    names = ("weights", "download", "batch_size", "device", "resize", "cache", "progress")
    try:
        return extraction(options.extractor, **{name: getattr(options, name) for name in names})
    except InvalidInput as error:
        argument = error.argument.replace("_", "-")
        raise InvalidInput(f"--{argument}", error.seen, error.fix) from None


def _metrics(options: Namespace) -> list[Metric[Any]]:
    """Those that are named, and what else a number decides, checked before anything is read."""
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
            seen = f"{metric.name} compares answers to inputs x, which folders do not hold"
            raise InvalidInput("--metrics", seen, "Use nm.Client(y, condition=x) in Python")
        if metric.needs_test and options.test is None:
            seen = f"{metric.name} compares with rows the generator has not seen"
            raise InvalidInput("--metrics", seen, "Hold some of each client out: --test 0.2")
    return metrics


def _check_probabilities(metrics: Sequence[Metric[Any]], extractor: str) -> None:
    """Refuse metrics of class probabilities where images become something else."""
    of_classes = [metric.name for metric in metrics if isinstance(metric, (InceptionScore, AMScore))]
    if of_classes and extractor != PROBABILITIES:
        seen = f"{' and '.join(of_classes)}: of class probabilities, which --extractor {extractor} does not give"
        raise InvalidInput("--metrics", seen, f"Use --extractor {PROBABILITIES}, in a run of its own")


def _design(options: Namespace) -> Any:
    designs = {"influence": Influence, "jackknife": Jackknife}
    if options.uncertainty == "bootstrap":
        return Bootstrap(seed=options.seed)
    return designs[options.uncertainty]() if options.uncertainty in designs else None
