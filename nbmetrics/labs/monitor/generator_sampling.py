"""Rows of the generator at a step, drawn in the training loop without leaving a trace in the training.

Python's, NumPy's and torch's random streams, and whether modules train or evaluate, are as they were, bit for bit; the
rows come of the same seed at every step, so of the same latents. Tensors are copied on their device; nothing waits.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from ...arrays import is_array, keeping_buffers, module_source
from ...distributions import Distribution
from ...errors import InvalidInput, shown
from ...federation import Generator

# Images that a function is asked for at once.
MAX_IMAGES_PER_CALL = 64
# Items that are taken of an iterator.
MAX_ITEMS = 1_000_000


@dataclass(frozen=True, eq=False)
class StepSample:
    """Rows or images of the generator at one step, or its distribution.

    Attributes
    ----------
    rows : what a `Generator` takes
    count : how many rows, 0 for a distribution
    is_paired : whether they were made of the same latents as those of other steps
    """

    rows: Any
    count: int
    is_paired: bool


@contextmanager
def preserve_state(seed: int, *modules: Any) -> Iterator[None]:
    """Seed random streams and set modules to evaluation mode, without gradients; afterwards all is as it was."""
    torch = sys.modules.get("torch")
    python_state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002
    has_gpu = torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized()
    cpu_state = None if torch is None else torch.get_rng_state()
    gpus = torch.cuda.get_rng_state_all() if torch is not None and has_gpu else []
    modes = {part: part.training for module in modules for part in module.modules()}
    try:
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        if torch is None:
            yield
        else:
            torch.default_generator.manual_seed(seed)
            for place, _ in enumerate(gpus):
                with torch.cuda.device(place):
                    torch.cuda.manual_seed(seed)
            for module in modules:
                module.eval()
            with torch.no_grad():
                yield
    finally:
        for part, mode in modes.items():
            part.training = mode
        random.setstate(python_state)
        np.random.set_state(numpy_state)  # noqa: NPY002
        if torch is not None:
            torch.set_rng_state(cpu_state)
            if gpus:
                torch.cuda.set_rng_state_all(gpus)


class GeneratorSampler:
    """Draws the same number of rows of the same latents of whatever generator comes.

    `of_images` : whether a function may give images, and is so asked for a few at a time
    """

    def __init__(self, samples: int, seed: int, dim: int, of_images: bool) -> None:
        self.samples, self._seed, self._dim, self._of_images = samples, seed, dim, of_images

    def check(self, source: Any) -> None:
        """Refuse, without drawing, what cannot be a generator of these clients."""
        if isinstance(source, Generator) and source.is_by_client:
            seen = "has one distribution for each client, which the Monitor does not score"
            raise InvalidInput("source", seen, "Give a function (n, rng) -> rows, and use nm.evaluate in the end")
        if source is None or isinstance(source, (Distribution, Generator)):
            return
        if callable(source):
            Generator(source)  # refuses a module without latent_dim, and a function of other arguments
            return
        if isinstance(source, (str, os.PathLike)):
            raise InvalidInput("source", f"got {shown(source)}", "Give rows, images, or a function that makes them")
        shape = _shape_of(source)
        if len(shape) == 2 and not self._of_images and (shape[1] != self._dim or shape[0] < 1):
            raise InvalidInput("source", f"has shape {tuple(shape)}", f"Give rows (n, {self._dim}), n of 2 or more")
        if len(shape) != 2 and not self._of_images:
            seen = f"got {shown(source)}" if not shape else f"has shape {tuple(shape)}"
            raise InvalidInput("source", seen, f"Give rows (n, {self._dim}), or a function that makes them")

    def draw(self, source: Any) -> StepSample:
        """Draw from a source as it is now: a module, a function `(n, rng) -> rows`, rows, images or a distribution."""
        if isinstance(source, Generator):
            source = source.source
        if isinstance(source, Distribution):
            return StepSample(source, 0, False)
        if not callable(source):
            rows = _copy_rows(source)
            return StepSample(rows, len(rows), False)
        rows = self._call_source(source)
        return StepSample(rows, len(rows), True)

    def _call_source(self, source: Any) -> Any:
        owners = (source, getattr(source, "__self__", None))
        modules = [part for part in owners if hasattr(part, "state_dict") and hasattr(part, "modules")]
        function = module_source(source) if hasattr(source, "state_dict") else source
        with preserve_state(self._seed, *modules), keeping_buffers(*modules):
            return self._call_in_batches(function, np.random.default_rng([self._seed, 1]))

    def _call_in_batches(self, function: Callable[..., Any], rng: np.random.Generator) -> Any:
        if not self._of_images:
            return _check_count(_copy_rows(function(self.samples, rng), self.samples), self.samples)
        parts: list[Any] = []
        for start in range(0, self.samples, MAX_IMAGES_PER_CALL):
            count = min(MAX_IMAGES_PER_CALL, self.samples - start)
            parts.append(_check_count(_copy_rows(function(count, rng.spawn(1)[0]), count), count))
        if all(map(is_array, parts)):
            torch = sys.modules.get("torch")
            whole: Any = torch.cat(parts) if torch and torch.is_tensor(parts[0]) else np.concatenate(parts)
            return whole
        return [item for part in parts for item in part]


def _check_count(rows: Any, count: int) -> Any:
    """Return the rows that a function gave; InvalidInput where they are more than it was asked for."""
    if len(rows) > count:
        raise InvalidInput("source", f"gave more than the {count:,} rows that were asked for", "Return n rows")
    return rows


def _shape_of(source: Any) -> tuple[int, ...]:
    """Return the shape of an array; () where it has none."""
    shape = getattr(source, "shape", None)
    try:
        return tuple(np.shape(source) if shape is None else shape)
    except (TypeError, ValueError):  # rows of several lengths
        return ()


def _copy_rows(rows: Any, max_items: int = MAX_ITEMS) -> Any:
    """Copy rows: tensors on their device, without waiting; of an iterator one item more than allowed at most."""
    if hasattr(rows, "detach"):
        return rows.detach().clone()
    if isinstance(rows, np.ndarray):
        return rows.copy()
    return rows.copy() if hasattr(rows, "to_numpy") else list(islice(rows, max_items + 1))
