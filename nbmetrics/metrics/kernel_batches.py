"""Kernel means of many small parts at once: their rows stacked into one matrix product, sums split by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..arrays import uniform_blocks
from ..summaries import KernelPart

STACK = 1024
SMALL = 512


def remember_means(kernel: Any, parts: Sequence[KernelPart], others: Sequence[KernelPart]) -> None:
    """Compute the means of every small part with every other part and leave them where `mean_with` looks."""
    small = [p for p in parts if _is_rows(p) and p.content.shape[0] <= SMALL]
    if len(small) < 2:
        return
    for stack in _stacks(small):
        for other in others:
            if _is_rows(other) and not all(part.knows(other) for part in stack):
                _remember(kernel, stack, other)


def _is_rows(part: KernelPart) -> bool:
    return isinstance(part.content, np.ndarray)


def _stacks(parts: Sequence[KernelPart]) -> Iterator[list[KernelPart]]:
    stack: list[KernelPart] = []
    for part in parts:
        if stack and sum(p.content.shape[0] for p in stack) + part.content.shape[0] > STACK:
            yield stack
            stack = []
        stack.append(part)
    if stack:
        yield stack


def _remember(kernel: Any, stack: Sequence[KernelPart], other: KernelPart) -> None:
    sizes = [p.content.shape[0] for p in stack]
    x, y = kernel.working_type(np.concatenate([p.content for p in stack]), other.content)
    sums = np.zeros(len(x))
    for block in uniform_blocks(len(y), STACK):
        sums += kernel.block(x, y[block]).sum(axis=1, dtype=np.float64)
    starts = np.cumsum([0, *sizes[:-1]])
    for part, total, size in zip(stack, np.add.reduceat(sums, starts), sizes, strict=True):
        part.remember(other, float(total) / (size * len(y)))
