"""The part of `torchmetrics.Metric` that `Score` uses, for where torchmetrics is not installed.

States are tensors that add up: `add_state` names them with a default, `update`, `compute` and `_sync_dist` are the
subclass's, and `compute` reduces the states over the process group, and gives each process its own back. Names, order
and meaning are those of torchmetrics, so that code and checkpoints serve both.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn


def is_distributed() -> bool:
    """Whether this process is one of a process group."""
    return torch.distributed.is_available() and torch.distributed.is_initialized()


def gather_all(tensor: Tensor, group: Any = None) -> list[Tensor]:
    """The tensors of all processes, by rank; they have the same number of axes, of any lengths."""
    count = torch.distributed.get_world_size(group)
    own = torch.tensor(tensor.shape, device=tensor.device)
    shapes = [torch.zeros_like(own) for _ in range(count)]
    torch.distributed.all_gather(shapes, own, group=group)
    sizes = [int(shape.prod()) for shape in shapes]
    padded = tensor.new_zeros(max(sizes))
    padded[: tensor.numel()] = tensor.reshape(-1)
    parts = [torch.empty_like(padded) for _ in range(count)]
    torch.distributed.all_gather(parts, padded, group=group)
    return [part[:size].reshape(shape.tolist()) for part, size, shape in zip(parts, sizes, shapes, strict=True)]


class Accumulator(nn.Module):
    """A metric of states that add up over batches and processes, with the interface of `torchmetrics.Metric`.

    Parameters
    ----------
    process_group : of the processes whose states are reduced; all of them by default
    dist_sync_fn : gathers a tensor from all processes, (tensor, group) -> list; `gather_all` by default
    distributed_available_fn : returns whether there are other processes
    sync_on_compute : whether `compute` reduces the states of all processes
    compute_with_cache : whether a second `compute` without an `update` returns the same values again
    """

    def __init__(
        self,
        *,
        process_group: Any = None,
        dist_sync_fn: Callable[..., list[Tensor]] | None = None,
        distributed_available_fn: Callable[[], bool] | None = None,
        sync_on_compute: bool = True,
        compute_with_cache: bool = True,
    ) -> None:
        super().__init__()
        self.process_group, self.dist_sync_fn = process_group, dist_sync_fn
        self.distributed_available_fn = distributed_available_fn or is_distributed
        self.sync_on_compute, self.compute_with_cache = sync_on_compute, compute_with_cache
        self.update_count = 0
        self._computed: Any = None
        self._cache: dict[str, Tensor] | None = None
        self._defaults: dict[str, Tensor] = {}
        self._persistent: dict[str, bool] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "update" in vars(cls):
            cls.update = _counted(cls.update)  # type: ignore[method-assign]
        if "compute" in vars(cls):
            cls.compute = _synced(cls.compute)  # type: ignore[method-assign]

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Add a batch to the states."""
        raise NotImplementedError

    def compute(self) -> Any:
        """Return the values of all that was added."""
        raise NotImplementedError

    def add_state(self, name: str, default: Tensor, dist_reduce_fx: Any = None, persistent: bool = False) -> None:
        """Add a state; `dist_reduce_fx` is torchmetrics', and the subclass's `_sync_dist` reduces."""
        self.register_buffer(name, default.clone(), persistent=False)
        self._defaults[name], self._persistent[name] = default, persistent

    @property
    def metric_state(self) -> dict[str, Tensor]:
        """The states by name."""
        return {name: getattr(self, name) for name in self._defaults}

    @property
    def update_called(self) -> bool:
        """Whether anything was added since the last `reset`."""
        return self.update_count > 0

    @property
    def device(self) -> torch.device:
        """The device of the states."""
        return next(self.buffers()).device

    def reset(self) -> None:
        """Set the states to their defaults."""
        self.update_count, self._computed, self._cache = 0, None, None
        for name, default in self._defaults.items():
            setattr(self, name, default.clone().to(self.device))

    def persistent(self, mode: bool = False) -> None:
        """Decide whether `state_dict` has the states."""
        self._persistent = dict.fromkeys(self._persistent, mode)

    def state_dict(self, *args: Any, prefix: str = "", **kwargs: Any) -> Any:
        """Return the states that are persistent, by name."""
        states = super().state_dict(*args, prefix=prefix, **kwargs)
        states.update({prefix + name: getattr(self, name).clone() for name, kept in self._persistent.items() if kept})
        return states

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any, **kwargs: Any) -> None:
        for name in self._defaults:
            if prefix + name in state_dict:
                setattr(self, name, state_dict.pop(prefix + name).to(self.device))
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)

    @property
    def _is_synced(self) -> bool:
        return self._cache is not None

    def _sync_dist(self, dist_sync_fn: Callable[..., list[Tensor]] = gather_all, process_group: Any = None) -> None:
        """Reduce every state over all processes."""
        raise NotImplementedError

    @contextmanager
    def sync_context(self) -> Iterator[None]:
        """States of all processes together; each has its own again afterwards."""
        if self._is_synced or not (self.sync_on_compute and self.distributed_available_fn()):
            yield
            return
        cache: Mapping[str, Tensor] = {name: state.clone() for name, state in self.metric_state.items()}
        try:
            self._cache = dict(cache)
            self._sync_dist(self.dist_sync_fn or gather_all)
            yield
        finally:
            self._cache = None
            for name, state in cache.items():
                setattr(self, name, state)


def _counted(update: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(update)
    def counted(self: Accumulator, *args: Any, **kwargs: Any) -> None:
        self._computed = None
        with torch.no_grad():
            update(self, *args, **kwargs)
        self.update_count += 1

    return counted


def _synced(compute: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(compute)
    def synced(self: Accumulator) -> Any:
        if self._computed is not None:
            return self._computed
        with torch.no_grad(), self.sync_context():
            values = compute(self)
        if self.compute_with_cache:
            self._computed = values
        return values

    return synced
