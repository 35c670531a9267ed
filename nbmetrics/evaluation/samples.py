"""What a metric sees of each client and generator: exact distributions where it has a closed form, streams, or rows.

Rows are drawn once and shared by all metrics; each party has a random stream of its own. What metrics need of streams
is said before anything is read, and one pass of a stream serves all metrics that one pass serves.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import is_on_host
from ..distributions import Distribution, draw_rows
from ..errors import InvalidInput, check_list, check_names, shown
from ..federation import Client, Federation, Generator
from ..federation.client import stream_for
from ..metrics import Metric, Sample, metric_of
from ..metrics.base import rows_refusal
from ..metrics.generator_only import GeneratorOnly
from ..metrics.streaming import summarized_once
from ..summaries.stream import AGAIN, HEAD_ROWS, BadRows, HashedRows, Stream
from .cells import is_of_call, summarize
from .noise import Design

ROWS_DRAWN = 10_000
# Who gave features of their own beside an extractor's, in the line under a table.
MAX_PARTIES_NAMED = 3
# What a column is called that says which row or group it is.
NOT_A_FEATURE = re.compile(r"(^|[_\W])(u?id|idx|index|labels?|targets?|class|fold)$|^unnamed: 0$", re.IGNORECASE)
# Rows by which it is no chance that whole numbers only grow.
MIN_ROWS_COUNTED = 12
# Bits of bfloat16 from 2⁻⁶³ to 2³², and of float16 from 2⁻⁷ to 2⁵, without the sign; nearly all rows are in between.
HALF_BITS, MIN_HALF_SHARE = (0x2000, 0x5000), 0.95


def resolve_metrics(
    metrics: Any, federation: Federation, design: Design | None = None
) -> list[tuple[Metric[Any], InvalidInput | None]]:
    """Return metrics by name or object, with what depends on the data fixed once for all clients.

    Where the clients' rows do not let it be fixed, the metric as it is, and why. Streams of which some metric needs
    more than they can give are refused before anything is read.
    """
    chosen = metric_list(metrics)
    streams = [(f"client {c.name!r}", c.stream) for c in federation.clients if c.stream is not None]
    if streams:
        check_streams(streams, chosen, design)
    resolved: list[tuple[Metric[Any], InvalidInput | None]] = []
    samples_by_metric = [
        [
            c.to_sample() if c.stream is None else c.to_sample(streaming_mode(metric, c.dim, design))
            for c in federation.clients
        ]
        for metric in chosen
    ]
    for metric, samples in zip(chosen, samples_by_metric, strict=True):
        eligible = [sample for sample in samples if sample.moments is None or metric.takes_moments]
        try:
            if not eligible and not isinstance(metric, GeneratorOnly):
                refusal = rows_refusal(metric, samples[0], f"client {federation.names[0]!r}")
                resolved.append((metric, refusal))
                continue
            resolved.append((metric.resolve(eligible), None))
        except InvalidInput as error:
            if is_of_call(error):
                raise
            resolved.append((metric, error.of(metric.name)))
    return resolved


def metric_list(metrics: Any) -> list[Metric[Any]]:
    """Return metrics by name or object, one or several, of different names."""
    is_one = isinstance(metrics, (str, type)) or not isinstance(metrics, Iterable)
    items = [metrics] if is_one else check_list(metrics, "metrics")
    if not items:
        raise InvalidInput("metrics", "is empty", "Give at least one, such as 'fid'")
    chosen = [metric_of(item) for item in items]
    check_names([metric.name for metric in chosen], "metrics")
    for metric in chosen:
        check_names([metric.label], f"metrics, label of {metric.name!r}")
    return chosen


def streaming_mode(metric: Metric[Any], dim: int, design: Any) -> str:
    """Return how a stream is read for a metric, see `Metric.streaming_mode`; intervals need rows."""
    return "rows" if design is not None else metric.streaming_mode(dim)


def check_streams(parties: Iterable[tuple[str, Stream | None]], metrics: Sequence[Metric[Any]], design: Any) -> None:
    """Refuse streams of which some metric needs more than there is, before they are read."""
    for who, stream in ((who, stream) for who, stream in parties if stream is not None):
        stream.who = who
        stream.check_unread()
        demanding = [m for m in metrics if streaming_mode(m, stream.dim, design) != "once"]
        if demanding and not stream.is_repeatable:
            seen = f"is an iterator, which gives its batches once, but {_why(demanding[0], stream.dim, design)}"
            raise InvalidInput(who, seen, AGAIN)
        needy = [m for m in demanding if streaming_mode(m, stream.dim, design) == "rows"]
        if needy:
            try:
                stream.check_fits()
            except BadRows as error:
                raise InvalidInput(who, f"{_why(needy[0], stream.dim, design)}: {error.seen}", error.fix) from None


@contextmanager
def show_reading(streams: Sequence[Stream], progress: str | bool) -> Iterator[None]:
    """Let the passes of streams show a bar meanwhile, see `Stream.progress`."""
    before = [stream.progress for stream in streams]
    try:
        for stream in streams:
            stream.progress = progress
        yield
    finally:
        for stream, old in zip(streams, before, strict=True):
            stream.progress = old


def _why(metric: Metric[Any], dim: int, design: Any) -> str:
    if design is not None:
        return "uncertainty needs all rows together"
    return f"{metric.label} needs " + (
        "them several times" if metric.streaming_mode(dim) == "again" else "all rows together"
    )


class Reading:
    """The summaries of one stream, all that one pass gives by the first pass."""

    def __init__(self, stream: Stream, who: str, metrics: Sequence[Metric[Any]], design: Any = None) -> None:
        self.stream, self._who, self._metrics, self._design = stream, who, tuple(metrics), design
        self._summaries: dict[str, Any] = {}

    def streaming_mode(self, metric: Metric[Any]) -> str:
        """How it is read for a metric; as rows for those that nobody announced."""
        return streaming_mode(metric, self.stream.dim, self._design) if metric in self._metrics else "rows"

    def read(self) -> None:
        """The pass, unless it was made, or no metric is served by one."""
        once = [metric for metric in self._metrics if self.streaming_mode(metric) == "once"]
        if once and not self._summaries:
            summaries = summarized_once(self.stream, once, lambda m, s: summarize(m, s, self._who, is_client=True))
            self._summaries = {metric.name: summary for metric, summary in zip(once, summaries, strict=True)}

    def summary(self, metric: Metric[Any], sample: Sample) -> Any:
        """What `summarize` gives, or why the rows give nothing; raised where a batch is bad."""
        if sample.stream is not None and self.streaming_mode(metric) == "once":
            self.read()
            return self._summaries[metric.name]
        return summarize(metric, sample, self._who, is_client=True)


def _takes(metric: Metric[Any], distribution: Distribution, exact: bool) -> bool:
    """Whether a metric sees a distribution itself: for its closed form, or because only the distribution has a
    density."""
    return metric.has_closed_form(distribution) and (exact or metric.needs_density)


class ClientSamples:
    """The clients as a metric needs them: exact where it can, else rows drawn once for all metrics."""

    def __init__(
        self,
        seed: int,
        samples: int | None,
        federation: Federation,
        metrics: Sequence[Metric[Any]] = (),
        design: Any = None,
    ) -> None:
        self.names = federation.names
        self._clients = federation.clients
        self._federation, self._samples = federation, samples
        self.readings = {
            position: Reading(client.stream, f"client {client.name!r}", metrics, design)
            for position, client in enumerate(federation.clients)
            if client.stream is not None
        }
        for reading in self.readings.values():
            if reading.stream.size is None:  # on which the weights may depend
                reading.read()
        self._exact = samples is None
        self._seed = seed
        self._drawn: dict[int, Sample] = {}

    @cached_property
    def _counts(self) -> list[int]:
        return shares_of(self._federation.weights, ROWS_DRAWN if self._samples is None else self._samples)

    def sample(self, position: int, metric: Metric[Any]) -> Sample:
        client = self._clients[position]
        if (reading := self.readings.get(position)) is not None:
            return client.to_sample(reading.streaming_mode(metric))
        if (
            client.rows is not None
            or client.moments is not None
            or (self._exact and _takes(metric, client.distribution, True))
        ):
            return client.to_sample()
        if position not in self._drawn:
            self._drawn[position] = Sample(rows=self._rows(client, position, 0), test=client.test, is_drawn=True)
        sample = self._drawn[position]
        if sample.test is None and metric.needs_test:
            sample = self._drawn[position] = replace(sample, test=self._rows(client, position, 1))
        return sample

    def _rows(self, client: Client, position: int, part: int) -> Any:
        """Rows of a distribution; part 1 are held-out ones."""
        rng = np.random.default_rng([self._seed, 0, position, part])
        return draw_rows(client.distribution, self._counts[position], rng, f"rows of client {shown(client.name)}")


def shares_of(weights: Sequence[float], n: int) -> list[int]:
    """`n` rows split in proportion to the weights by largest remainders, at least 2 each."""
    exact = np.asarray(weights) * n
    counts = np.floor(exact).astype(int)
    for position in np.argsort(counts - exact)[: n - counts.sum()]:
        counts[position] += 1
    # a client of weight 0 has scores of its own, and no part in the pooled rows
    return [max(2, int(c)) if w else max(2, n // len(counts)) for c, w in zip(counts, weights, strict=True)]


class GeneratorSamples:
    """A generator as a metric needs it: exact where it can, else rows drawn once for all metrics.

    `share` : how many rows, of one that is a part of a generator.

    Beside clients with a condition it answers each of them, once for all metrics, where the metric compares answers
    with their conditions, or the generator is a function, which needs one.
    """

    def __init__(
        self,
        generator: Generator,
        seed: list[int],
        samples: int | None,
        federation: Federation,
        metrics: Sequence[Metric[Any]] = (),
        design: Any = None,
        *,
        share: int | None = None,
    ) -> None:
        self.name = generator.name or ""
        if generator.answers:
            generator = generator.with_columns_of(federation.clients)
        self._generator, self._seed, self._federation = generator, seed, federation
        self._count, self._exact = share or (ROWS_DRAWN if samples is None else samples), samples is None
        self._is_asked = federation.is_conditional
        self._answers: tuple[Sample, ...] | None = None
        is_answer = self._is_asked and generator.answers
        self._source = None if is_answer else generator.draw(self._count, seed, dim=federation.dim)
        self._rows = None if self._source is None or self._source.rows is None else self._source
        stream = None if self._source is None else self._source.stream
        who = f"generator {self.name!r}"
        if stream is not None:
            check_streams([(who, stream)], metrics, design)
        self.reading = None if stream is None else Reading(stream, who, metrics, design)

    def answers(self, metric: Metric[Any]) -> tuple[Sample, ...] | None:
        """One sample for each client; None where `whole` is scored with all of them."""
        if not self._is_asked or not (self._source is None or metric.is_conditional):
            return None
        if self._answers is None:
            clients, dim = self._federation.clients, self._federation.dim
            streams = [[*self._seed, 2, c] for c in range(len(clients))]
            pairs = zip(clients, streams, strict=True)
            self._answers = tuple(self._generator.answer(client.condition, s, dim=dim) for client, s in pairs)
        return self._answers

    def whole(self, metric: Metric[Any]) -> Sample:
        """Its rows or distribution, where `answers` gives none."""
        if self._source is None:
            raise ValueError(f"generator {self.name!r} only answers")
        if self.reading is not None:
            if stream_for(self.reading.stream, self.reading.streaming_mode(metric)) is not None:
                return self._source
            self._rows = self._rows or Sample(rows=self.reading.stream.collect())
            return self._rows
        if self._source.moments is not None:
            return self._source
        if self._source.rows is None and _takes(metric, self._source.exact_distribution, self._exact):
            return self._source
        if self._rows is None:
            rng, who = np.random.default_rng(self._seed), f"rows from generator {self.name!r}"
            self._rows = Sample(rows=draw_rows(self._source.exact_distribution, self._count, rng, who))
        return self._rows


class ByClientSamples:
    """A generator with one distribution for each client, as a metric needs it.

    Attributes
    ----------
    members : what it is for each client
    is_shared : whether that is one and the same
    """

    reading = None

    def __init__(self, name: str, members: Sequence[GeneratorSamples]) -> None:
        self.name, self.members = name, tuple(members)
        self.is_shared = len(set(members)) == 1

    def answers(self, metric: Metric[Any]) -> tuple[Sample, ...]:
        """One sample for each client."""
        return tuple([member.whole(metric) for member in self.members])

    def whole(self, metric: Metric[Any]) -> Sample:
        raise ValueError(f"generator {self.name!r} has one distribution for each client")


def sources_of(generators: Iterable[Generator]) -> Iterator[Any]:
    """Yield the sources of generators, of one with a distribution for each client all of them."""
    for generator in generators:
        source = generator.source
        if not generator.is_by_client:
            yield source
        else:
            yield from (own.source for own in source.members)


def samples_of(
    generator: Generator, seed: list[int], extraction: Any, settings: tuple[Any, ...]
) -> GeneratorSamples | ByClientSamples:
    """Return a generator as metrics need it; `settings` : what `GeneratorSamples` takes beside it and its seed."""
    federation = settings[1]
    if not generator.is_by_client:
        return GeneratorSamples(generator.through(extraction), seed, *settings)
    if federation.is_conditional:
        seen = "has one distribution for each client, and the clients have conditions"
        raise InvalidInput(f"generator {generator.name!r}", seen, "Give a function (x, rng) -> rows, or no conditions")
    members = generator.for_clients(federation.names)
    shares, keys = Counter[int](), [id(member.source) for member in members]
    for key, count in zip(keys, shares_of(federation.weights, settings[0] or ROWS_DRAWN), strict=True):
        shares[key] += count
    samples: dict[int, GeneratorSamples] = {}
    for i, (key, member) in enumerate(zip(keys, members, strict=True)):
        if key not in samples:
            samples[key] = GeneratorSamples(member.through(extraction), [*seed, i], *settings, share=shares[key])
    return ByClientSamples(generator.name or "", [samples[key] for key in keys])


def convention(samples: int | None, seed: int, federation: Federation, generators: Sequence[Generator]) -> str:
    """Return what was drawn and what made the features, for the line under a table."""
    exact = "distributions exact where a closed form exists, else 10,000 rows drawn"
    drawn = exact if samples is None else f"{samples} rows drawn for each distribution"
    generators = [m for g in generators for m in (g.for_clients(federation.names) if g.is_by_client else [g])]
    has_distributions = any(client.distribution is not None for client in federation.clients) or any(
        g.answers or isinstance(g.source, Distribution) for g in generators
    )
    features = "features as given" if federation.extraction is None else _features(federation, generators)
    arrays = [g for g in generators if g.group is not None and getattr(g.source, "ndim", 0) == 2]
    unnamed = Counter(g.group for g in arrays if (g.name or "").removeprefix(f"{g.group} ").isdigit())
    fix = "join batches of one run by np.concatenate"
    runs = [f"the {n} arrays of {model!r} are {n} runs ({fix})" for model, n in unnamed.items() if n > 1]
    return "; ".join([features, *([drawn] if has_distributions else []), *runs, f"seed {seed}"])


def feature_cautions(clients: Sequence[Client], generators: Sequence[Generator]) -> list[str]:
    """Return cautions about the first rows of all: an id or a label is scored, or the bits of half precision."""
    sides: list[tuple[str, Any]] = [(f"client {c.name!r}", c.stream or vars(c).get("rows")) for c in clients]
    sides += [(f"generator {g.name!r}", own.source) for g in generators for own in getattr(g.source, "members", [g])]
    heads: list[tuple[str, np.ndarray]] = []
    for who, rows in sides:
        is_here = getattr(rows, "ndim", 0) == 2 and not isinstance(rows, HashedRows)  # those are on a cluster
        if isinstance(rows, Stream) or (is_here and len(rows) and (isinstance(rows, np.ndarray) or is_on_host(rows))):
            heads.append((who, np.asarray(rows.head if isinstance(rows, Stream) else rows[:HEAD_ROWS])))
    if not heads:
        return []
    whole = [(head == np.round(head)).all(axis=0) for _, head in heads]
    varied = np.logical_or.reduce([(head != heads[0][1][0]).any(axis=0) for _, head in heads])
    grows = [(np.diff(head, axis=0) > 0).all(axis=0) & (len(head) >= MIN_ROWS_COUNTED) for _, head in heads]
    columns = np.logical_and.reduce(whole) & varied
    columns_of = [party.columns for side in (clients, generators) for party in side]
    names = next(filter(None, columns_of), ())
    lines = []
    for k in np.flatnonzero(columns) if len(columns) > 1 else ():
        name = names[k] if len(names) == len(columns) else ""
        is_lone = not names and columns.sum() == 1 < varied.sum() - 1
        if np.logical_and.reduce(grows)[k] or is_lone or NOT_A_FEATURE.search(name):
            which = f"Column {shown(name)}" if name else f"Column {k} (from 0)"
            lines.append(f"{which} holds whole numbers, as an id or a label does. Leave it out if it is no feature.")
    bits = [who for (who, head), is_whole in zip(heads, whole, strict=True) if is_whole.all() and _is_half_bits(head)]
    if bits:
        who = ", ".join(bits[:MAX_PARTIES_NAMED]) + ", …" * (len(bits) > MAX_PARTIES_NAMED)
        fix = "If they are, give the numbers themselves: x.view(torch.bfloat16).float()."
        lines.append(f"The values of {who} look like the bits of bfloat16 or float16, kept as uint16. {fix}")
    return lines


def _is_half_bits(head: np.ndarray) -> bool:
    """Whether whole numbers have 16 bits, and nearly all but 0 are the bits of usual numbers."""
    low, high = HALF_BITS
    if head.min() < 0 or not low <= head.max() < 2**16:
        return False
    size = np.where(head >= 2**15, head - 2**15, head)[head > 0]
    return bool((size < high).all() and (size >= low).mean() >= MIN_HALF_SHARE)


def _features(federation: Federation, generators: Sequence[Generator]) -> str:
    """What made the rows: the extractor, where there is one, and who gave rows of their own beside it."""
    as_given = [f"client {client.name!r}" for client in federation.clients if client.extraction is None]
    as_given += [
        f"generator {g.name!r}"
        for g in generators
        if not (g.extraction or g.answers or g.is_of_images or isinstance(g.source, Distribution))
    ]
    more = f", and {len(as_given) - MAX_PARTIES_NAMED} more" * (len(as_given) > MAX_PARTIES_NAMED)
    own = f"; features of {', '.join(as_given[:MAX_PARTIES_NAMED])}{more} as given" if as_given else ""
    return f"features: {federation.extraction.extractor.convention}{own}"
