"""Rows of the generator at a step, drawn in the training loop without leaving a trace in the training.

Python's, NumPy's and torch's random streams, and whether modules train or evaluate, are as they were, bit for bit; the
rows come of the same seed at every step, so of the same latents. Tensors are copied on their device; nothing waits.
Where a generator has one distribution for each client, each is drawn in proportion to its client's weight, with a seed
of its own.
"""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from ...arrays import is_array, keeping_buffers, module_source
from ...distributions import Distribution
from ...errors import InvalidInput, check_length, shown
from ...evaluation.samples import shares_of
from ...federation import Federation, Generator
from ...federation.by_client import ByClient
from ...tables import check_same_order, column_names, is_table, table_rows

# Images that a function is asked for at once.
MAX_IMAGES_PER_CALL = 64
# Items that are taken of an iterator.
MAX_ITEMS = 1_000_000


@dataclass(frozen=True, eq=False)
class StepSample:
    """Rows or images of the generator at one step, or its distribution.

    Attributes
    ----------
    rows : what a `Generator` takes; where there is one distribution for each client, a dict of these
    count : how many rows, 0 for a distribution
    is_paired : whether they were made of the same latents as those of other steps
    """

    rows: Any
    count: int
    is_paired: bool

    @property
    def is_by_client(self) -> bool:
        """Whether there is one distribution for each client."""
        return isinstance(self.rows, Mapping)


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
    """Draws the same number of rows of the same latents of whatever generator of these clients comes."""

    def __init__(self, samples: int, seed: int, federation: Federation) -> None:
        self.samples, self._seed, self._dim = samples, seed, federation.dim
        self._names, self._weights = tuple(federation.names), tuple(federation.weights)
        # whether a function may give images, and is so asked for a few at a time
        self._of_images = federation.extraction is not None
        self._columns = next((client.columns for client in federation if client.columns), None)

    def check(self, source: Any) -> None:
        """Refuse, without drawing, what cannot be a generator of these clients."""
        if (own := self._sources_by_client(source)) is not None:
            for name, member in zip(self._names, own, strict=True):
                try:
                    self._check_one(member)
                except InvalidInput as error:
                    raise InvalidInput(f"source, client {shown(name)}", error.seen, error.fix) from None
        elif source is not None and not isinstance(source, Generator):
            self._check_one(source)

    def _sources_by_client(self, source: Any) -> list[Any] | None:
        """Return the source for each client, None where there is one for all; InvalidInput where it misses clients."""
        if isinstance(source, Generator) and source.is_by_client:
            own = source.source.for_clients(self._names, "source")
            return [member.source if isinstance(member, Generator) else member for member in own]
        if not isinstance(source, Mapping):
            return None
        own = ByClient.of(source).for_clients(self._names, "source")
        return [m.source if isinstance(m, Generator) and not m.is_by_client else m for m in own]

    def _check_one(self, source: Any) -> None:
        if isinstance(source, Distribution):
            return
        if callable(source):
            Generator(source)  # refuses a module without latent_dim, and a function of other arguments
            return
        if source is None or isinstance(source, (str, os.PathLike, Mapping, Generator)):
            raise InvalidInput("source", f"got {shown(source)}", "Give rows, images, or a function that makes them")
        if is_table(source):  # read, and its columns compared, when it is drawn from
            return
        shape = _shape_of(source)
        if len(shape) == 2 and not self._of_images and (shape[1] != self._dim or shape[0] < 1):
            raise InvalidInput("source", f"has shape {tuple(shape)}", f"Give rows (n, {self._dim}), n of 2 or more")
        if len(shape) != 2 and not self._of_images:
            seen = f"got {shown(source)}" if not shape else f"has shape {tuple(shape)}"
            raise InvalidInput("source", seen, f"Give rows (n, {self._dim}), or a function that makes them")

    def draw(self, source: Any) -> StepSample:
        """Draw from a source as it is now: a module, a function `(n, rng) -> rows`, rows, images or a distribution.

        Of one with a distribution for each client each of these is drawn, what several clients share once.
        """
        if (own := self._sources_by_client(source)) is not None:
            return self._draw_by_client(own)
        if isinstance(source, Generator):
            source = source.source
        rows = self._draw_rows(source, self.samples, self._seed, [self._seed, 1])
        return StepSample(rows, _count_of(rows), _is_drawn(source))

    def _draw_by_client(self, sources: list[Any]) -> StepSample:
        shares = Counter[int]()
        for source, count in zip(sources, shares_of(self._weights, self.samples), strict=True):
            shares[id(source)] += count
        drawn: dict[int, Any] = {}
        for place, source in enumerate(sources):
            if id(source) not in drawn:
                stream = [self._seed, 1, place]
                (seed,) = np.random.SeedSequence(stream).generate_state(1).tolist()  # else all had the same latents
                drawn[id(source)] = self._draw_rows(source, shares[id(source)], seed, stream)
        rows = {name: drawn[id(source)] for name, source in zip(self._names, sources, strict=True)}
        return StepSample(rows, sum(map(_count_of, drawn.values())), all(map(_is_drawn, sources)))

    def _draw_rows(self, source: Any, count: int, seed: int, stream: list[int]) -> Any:
        """Return rows of a source, as many of a function as asked for, with these seeds; or a distribution itself."""
        if isinstance(source, Distribution):
            return source
        if not _is_drawn(source):
            return self._copied(source)
        function = source.func if isinstance(source, partial) else source
        owners = (source, getattr(function, "__self__", None))
        modules = [part for part in owners if hasattr(part, "state_dict") and hasattr(part, "modules")]
        function = module_source(source) if hasattr(source, "state_dict") else source
        with preserve_state(seed, *modules), keeping_buffers(*modules):
            return self._call_in_batches(function, count, np.random.default_rng(stream))

    def _copied(self, rows: Any, most: int = MAX_ITEMS) -> Any:
        """Return a copy of rows, of a table those of the clients' columns."""
        if not is_table(rows):
            return _copy_rows(rows, most)
        check_same_order([("the clients", self._columns), ("source", column_names(rows))])
        return table_rows(rows, "source").copy()

    def _call_in_batches(self, function: Callable[..., Any], samples: int, rng: np.random.Generator) -> Any:
        if not self._of_images:
            return _check_count(self._copied(function(samples, rng), samples), samples)
        parts: list[Any] = []
        for start in range(0, samples, MAX_IMAGES_PER_CALL):
            count = min(MAX_IMAGES_PER_CALL, samples - start)
            parts.append(_check_count(self._copied(function(count, rng.spawn(1)[0]), count), count))
        if all(map(is_array, parts)):
            torch = sys.modules.get("torch")
            whole: Any = torch.cat(parts) if torch and torch.is_tensor(parts[0]) else np.concatenate(parts)
            return whole
        return [item for part in parts for item in part]


def _is_drawn(source: Any) -> bool:
    """Whether it is a function or a module, which makes rows."""
    return callable(source) and not isinstance(source, Distribution)


def _count_of(rows: Any) -> int:
    return 0 if isinstance(rows, Distribution) else len(rows)


def _check_count(rows: Any, count: int) -> Any:
    """Return the rows that a function gave; InvalidInput where they are more than it was asked for."""
    if len(rows) > count:
        raise InvalidInput("source", f"gave more than the {count:,} rows that were asked for", "Return n rows")
    return rows


def _shape_of(source: Any) -> tuple[int, ...]:
    """Return the shape of an array; () where it has none."""
    shape = getattr(source, "shape", None)
    try:
        check_length(source, "source")
        return tuple(np.shape(source) if shape is None else shape)
    except (TypeError, ValueError):  # rows of several lengths
        return ()


def _copy_rows(rows: Any, max_items: int = MAX_ITEMS) -> Any:
    """Copy rows: tensors on their device, without waiting; of an iterator one item more than allowed at most."""
    if rows is None or np.isscalar(rows):
        raise InvalidInput("source", f"returned {shown(rows)}", "Return rows (n, features), or images")
    if hasattr(rows, "detach"):
        return rows.detach().clone()
    if isinstance(rows, np.ndarray):
        return rows.copy()
    check_length(rows, "source")
    return list(islice(rows, max_items + 1))
