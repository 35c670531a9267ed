"""Summaries of a stream in one pass: all metrics that can do so share it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..arrays import PASSING_BYTES, memory
from ..summaries.stream import Stream
from .base import Metric, Sample
from .capabilities import Fold

# Whatever the batches, blocks of so many bytes are folded; and of no fewer rows than keep summaries of few rows small.
MIN_BLOCK_ROWS = 4096


def summarized_once(
    stream: Stream, metrics: Sequence[Metric[Any]], summarize: Callable[[Metric[Any], Sample], Any] | None = None
) -> list[Any]:
    """The summary of the stream under each metric that reads "once", by one pass.

    A stream that is no longer than a block is summarised as rows in memory are, by `summarize`.
    """
    step = block_rows(stream.dim)
    folds = [metric.fold(stream.dim) for metric in metrics]
    blocks = stream.batches(step)
    first = next(blocks)
    second = next(blocks, None)
    if second is None:
        make = summarize or (lambda metric, sample: metric.summarize(sample))
        return [make(metric, Sample(rows=first)) for metric in metrics]
    take_all(folds, [first, second])
    del first, second
    take_all(folds, blocks)
    return [fold.end() for fold in folds]


def take_all(folds: Sequence[Fold[Any]], blocks: Iterable[Any]) -> None:
    """Let each fold take every block of rows."""
    for block in blocks:
        for fold in folds:
            fold.take(block)


def can_merge(metric: Metric[Any], dim: int) -> bool:
    """Whether the summary of rows is made of those of its parts, by one pass of each."""
    return metric.streaming_mode(dim) == "once" and hasattr(metric.fold(dim), "merge")


def block_rows(dim: int) -> int:
    """Rows of a block: a fixed number for a width and memory limit, so that batches of any size give the same sums."""
    fewest = max(MIN_BLOCK_ROWS, dim + 1, int(PASSING_BYTES // (8 * dim)))
    return max(2, min(fewest, int(memory.block_bytes // (8 * dim))))
