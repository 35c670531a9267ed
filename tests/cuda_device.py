"""A GPU in the place of the mock of device.py: tests/test_device.py runs on it with NBMETRICS_TEST_DEVICE=cuda.

`copies()` counts what the thread that opens it copies to main memory, as the mock does; numbers of one entry are free.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

DEVICE = torch.device("cuda:0")


class HostCopies(TorchDispatchMode):
    """Keeps the shapes of all arrays that come from the GPU to main memory."""

    def __init__(self) -> None:
        super().__init__()
        self.shapes: list[tuple[int, ...]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        is_copy = func in (torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default)
        source = args[-1 if func is torch.ops.aten.copy_.default else 0] if is_copy else None
        if is_copy and source.is_cuda and not result.is_cuda:
            self.shapes.append(tuple(source.shape))
        return result


def on_device(rows: np.ndarray) -> torch.Tensor:
    """Return the rows as a tensor on the GPU."""
    return torch.from_numpy(np.ascontiguousarray(rows)).to(DEVICE)


@contextmanager
def copies() -> Iterator[list[tuple[int, ...]]]:
    """The shapes of all arrays copied to main memory while the context is open."""
    with HostCopies() as mode:
        yield mode.shapes
