"""Clients and generators that are streams: what their metrics need is said before anything is read, and one pass of a
stream serves all metrics that one pass serves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..errors import InvalidInput
from ..metrics import Metric, Sample
from ..metrics.streaming import summarized_once
from ..summaries.stream import AGAIN, BadRows, Stream
from .standing import client_summary


def reads_of(metric: Metric[Any], dim: int, design: Any) -> str:
    """How a stream is read for a metric, see `Metric.streaming_mode`; intervals need rows."""
    return "rows" if design is not None else metric.streaming_mode(dim)


def check_streams(parties: Iterable[tuple[str, Stream | None]], metrics: Sequence[Metric[Any]], design: Any) -> None:
    """Refuse streams of which some metric needs more than there is, before they are read."""
    for who, stream in ((who, stream) for who, stream in parties if stream is not None):
        stream.who = who
        stream.check_unread()
        demanding = [m for m in metrics if reads_of(m, stream.dim, design) != "once"]
        if demanding and not stream.is_repeatable:
            seen = f"is an iterator, whose batches come once, and {_why(demanding[0], stream.dim, design)}"
            raise InvalidInput(who, seen, AGAIN)
        needy = [m for m in demanding if reads_of(m, stream.dim, design) == "rows"]
        if needy:
            try:
                stream.check_fits()
            except BadRows as error:
                raise InvalidInput(who, f"{_why(needy[0], stream.dim, design)}: {error.seen}", error.fix) from None


@contextmanager
def reading_shown(parties: Sequence[Any], progress: str | bool) -> Iterator[None]:
    """Let the passes of those that are streams show a bar meanwhile, see `Stream.progress`."""
    streams = [party for party in parties if isinstance(party, Stream)]
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
        self._found: dict[str, Any] = {}

    def streaming_mode(self, metric: Metric[Any]) -> str:
        """How it is read for a metric; as rows for those that nobody announced."""
        return reads_of(metric, self.stream.dim, self._design) if metric in self._metrics else "rows"

    def read(self) -> None:
        """The pass, unless it was made, or no metric is served by one."""
        once = [metric for metric in self._metrics if self.streaming_mode(metric) == "once"]
        if once and not self._found:
            found = summarized_once(self.stream, once, lambda m, s: client_summary(m, s, self._who))
            self._found = {metric.name: summary for metric, summary in zip(once, found, strict=True)}

    def summary(self, metric: Metric[Any], sample: Sample) -> Any:
        """What `summarize` gives, or why the rows give nothing; raised where a batch is bad."""
        if sample.stream is not None and self.streaming_mode(metric) == "once":
            self.read()
            return self._found[metric.name]
        return client_summary(metric, sample, self._who)
