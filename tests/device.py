"""A device that is none: torch tensors which compute on the CPU, and refuse what a GPU's would.

Tensors of the device `DEVICE` are wrappers. An operation of such a tensor with one in main memory is an error (but for
scalars), so is NumPy's view of it, and every copy to main memory is counted: `copies()` gives their shapes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

_setup_privateuseone_for_python_backend("mock")
DEVICE = torch.device("mock:0")
_lock = threading.Lock()
_logs: list[list[tuple[int, ...]]] = []


class DeviceTensor(torch.Tensor):
    """A tensor on `DEVICE`; `inner` holds its numbers."""

    inner: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> DeviceTensor:
        layout = {"strides": inner.stride(), "storage_offset": inner.storage_offset()}
        made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, device=DEVICE, **layout)
        made.inner = inner
        return made

    def __repr__(self) -> str:
        return f"DeviceTensor{tuple(self.shape)}"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        is_upload = func is torch.ops.aten.copy_.default and isinstance(args[0], cls)
        is_download = (func is torch.ops.aten.copy_.default and not is_upload) or _is_on_host(kwargs.get("device"))
        if is_download:
            _log(tuple(args[-1 if func is torch.ops.aten.copy_.default else 0].shape))
        elif not is_upload and any(x.ndim and not isinstance(x, cls) for x in tensors):
            raise RuntimeError(f"{func}: expected all tensors to be on the same device, got {tensors}")
        result = func(*tree_map(_inner, args), **tree_map(_inner, kwargs))
        if is_download:
            return args[0] if func is torch.ops.aten.copy_.default else result
        wrapped = tree_map(lambda x: cls(x) if isinstance(x, torch.Tensor) else x, result)
        return return_and_correct_aliasing(func, args, kwargs, wrapped)


def _is_on_host(device: Any) -> bool:
    return device is not None and torch.device(device).type == "cpu"


def _inner(x: Any) -> Any:
    if isinstance(x, torch.device):
        return torch.device("cpu")
    return x.inner if isinstance(x, DeviceTensor) else x


def _log(shape: tuple[int, ...]) -> None:
    with _lock:
        for log in _logs:
            log.append(shape)


@torch.library.impl("aten::empty.memory_format", "privateuseone")
def _empty(size: Any, *, dtype: Any = None, **settings: Any) -> torch.Tensor:
    return DeviceTensor(torch.empty(size, dtype=dtype))


@torch.library.impl("aten::empty_strided", "privateuseone")
def _empty_strided(size: Any, stride: Any, *, dtype: Any = None, **settings: Any) -> torch.Tensor:
    return DeviceTensor(torch.empty_strided(size, stride, dtype=dtype))


@torch.library.impl("aten::_copy_from", "privateuseone")
def _copy_from(source: torch.Tensor, target: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    if not isinstance(target, DeviceTensor):
        _log(tuple(source.shape))
    _inner(target).copy_(_inner(source))
    return target


def on_device(rows: np.ndarray) -> torch.Tensor:
    """Return the rows as a tensor on the device."""
    return torch.from_numpy(np.ascontiguousarray(rows)).to(DEVICE)


@contextmanager
def copies() -> Iterator[list[tuple[int, ...]]]:
    """The shapes of all arrays copied to main memory while the context is open."""
    log: list[tuple[int, ...]] = []
    _logs.append(log)
    try:
        yield log
    finally:
        _logs.remove(log)
