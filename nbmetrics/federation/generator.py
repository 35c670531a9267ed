"""A generator: rows, images, a distribution, or a function that gives one of them, with a name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array, as_rows, is_array, module_source
from ..distributions import Distribution, draw_rows
from ..errors import InvalidInput, check_list, check_names, shown
from ..metrics.base import Sample
from ..summaries.reference import Moments
from ..summaries.source_kinds import is_rows_path
from ..summaries.sources import is_batch_function, is_loader
from ..summaries.stream import Stream
from ..tables import check_same_order, column_names, is_table
from .by_client import ByClient, check_call
from .client import distribution_or_rows, open_npy
from .image_sources import (
    are_images,
    batched_rows,
    check_extraction,
    check_one_space,
    describe_images,
    images_of,
    rows_of,
)
from .runs import check_models, check_one_model, is_list_of_runs, run_names

# An iterator that has given so many clients or generators is taken for an endless one.
MAX_PARTIES = 100_000
FIX_FUNCTION = "Give one of (n, rng): n rows, drawn with the NumPy generator rng"
NO_EXTRACTOR = (
    "Make the federation of images too, such as nm.Federation.from_folder(…), or say what made its rows: "
    "nm.Federation(…, extractor=…)"
)


@dataclass(frozen=True, eq=False)
class Generator:
    """A generative model to score.

    Parameters
    ----------
    source : (m, d) rows already generated, rows that are streamed as those of a `Client` may be (a function without
        arguments returns batches), a distribution, `nm.Moments` or the path of its `.npz` file, a function
        `(n, rng) -> rows`, or a `torch.nn.Module` with `latent_dim` (fed standard normal latents in evaluation mode,
        and left as it was; calls from several threads take turns); where the clients carry a condition, a function
        `(x, rng) -> ŷ` that returns one row for each row of x, shape (n, dx).
        Beside a federation with an extractor also images, which `evaluate` puts through it: a folder, a zip,
        `nm.images(…)`, an array (m, H, W[, 3]), or a function or module that gives them. A function of images is
        called for up to 64 at a time, each time with a child of `rng`, and what it gave is thrown away once
        extracted: 64 images are in memory, however many are scored, and a seed means the same rows whatever
        the extractor's `batch_size`. A dict client -> source is a generator with one distribution for each client, see
        `by_client`
    name : how tables and views call it; by default that of the folder or zip
    columns : what its features are called, by default as a data frame says
    extraction : of rows, or of a function that gives rows, what made them out of images, such as
        `federation.extraction`
    group : the model of which this is one run, such as "ddpm" of three trainings; `Scores.models` then says how much
        the runs differ, and `Scores.compare_models` whether models differ by more than that

    Examples
    --------
    >>> shifted = nm.Generator(lambda n, rng: rng.normal(1, 1, size=(n, 2)), name="shifted")
    >>> nm.evaluate([nm.Gaussian([0, 0])], [shifted], "fid", samples=500).generators
    ('shifted',)
    """

    source: Any
    name: str | None = field(default=None, kw_only=True)
    columns: tuple[str, ...] | None = field(default=None, kw_only=True, repr=False)
    extraction: Any = field(default=None, kw_only=True, repr=False)
    group: str | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if self.name is not None:
            check_names([self.name], "name")
        if self.group is not None:
            check_names([self.group], "group")
        if self.extraction is not None:
            check_extraction(self.extraction)
        if type(self.source) is np.ndarray and self.source.ndim == 2:
            object.__setattr__(self, "source", as_rows(self.source, "source"))
            return
        if isinstance(self.source, (Mapping, ByClient)):
            object.__setattr__(self, "source", _sources_by_client(self.source))
            return
        if callable(self.source) and not isinstance(self.source, Distribution) and not is_batch_function(self.source):
            if hasattr(self.source, "state_dict"):
                object.__setattr__(self, "source", module_source(self.source))
            check_call(self.source, 2, FIX_FUNCTION)
            return
        source = open_npy(self.source, "source")
        object.__setattr__(self, "columns", self.columns or column_names(source))
        if is_rows_path(source) or not are_images(source):
            source = distribution_or_rows(source, "source")
            if isinstance(source, Stream):
                object.__setattr__(self, "columns", self.columns or source.columns)
        elif self.name is None and isinstance(source, (str, os.PathLike)):
            object.__setattr__(self, "name", check_names([Path(source).resolve().name], "name")[0])
        object.__setattr__(self, "source", source)

    @classmethod
    def by_client(cls, sources: Any, *, name: str | None = None) -> Generator:
        """A generator with one distribution for each client, such as a class-conditional or a personalised model.

        `evaluate` then gives a third aggregate, **intra** = Σ λ_i D(S_i, S_{G,i}): each client with what was made for
        it (of classes this is intra-FID, Miyato & Koyama 2018). avg and all are of the mixture S_G = Σ λ_i S_{G,i}.

        Parameters
        ----------
        sources : dict client -> source, each as `source` above, in any order; a folder with a sub-folder of images, or
            a .npy file of rows, for each client; or a function `(client, n, rng) -> rows`, given the client's name and
            its share of the rows
        name : how tables and views call it

        Raises
        ------
        InvalidInput
            For anything else; in `evaluate` also where a client is missing or unknown.

        Examples
        --------
        >>> clients = {"cats": nm.Gaussian([-2.0]), "dogs": nm.Gaussian([2.0])}
        >>> right = nm.Generator.by_client({"cats": nm.Gaussian([-2.0]), "dogs": nm.Gaussian([2.0])})
        >>> swapped = nm.Generator.by_client({"cats": nm.Gaussian([2.0]), "dogs": nm.Gaussian([-2.0])})
        >>> nm.evaluate(clients, {"right": right, "swapped": swapped}, "fid").table.round(3)
          generator metric  intra    avg  all    gap
        0     right    fid    0.0  5.528  0.0  5.528
        1   swapped    fid   16.0  5.528  0.0  5.528
        """
        return cls(ByClient.of(sources), name=name)

    @property
    def is_by_client(self) -> bool:
        """Whether it has one distribution for each client."""
        return isinstance(self.source, ByClient)

    def for_clients(self, names: Sequence[str]) -> tuple[Generator, ...]:
        """Return what it is for each of these clients, by client; else itself alone."""
        if not isinstance(self.source, ByClient):
            return (self,)
        who, members = f"generator {self.name!r}", []
        for client, source in zip(names, self.source.for_clients(names, who), strict=True):
            member = _as_generator(source, who)
            changes = {"columns": member.columns or self.columns, "extraction": member.extraction or self.extraction}
            members.append(own := copy(member))  # its rows were checked, which takes as long as to read them
            for attribute, value in {"name": f"{self.name} for {client}", **changes}.items():
                object.__setattr__(own, attribute, value)
        return tuple(members)

    def without_others(self, names: Sequence[str]) -> Generator:
        """Return this generator without what it is for other clients than these."""
        return replace(self, source=self.source.only(names)) if isinstance(self.source, ByClient) else self

    def with_columns_of(self, clients: Iterable[Any]) -> Generator:
        """Return this generator; the frames that its function gives must have columns in the order of the clients'."""
        columns = next((client.columns for client in clients if client.columns is not None), None)
        if columns is None or self.columns is not None or not self.answers:
            return self
        own = copy(self)
        object.__setattr__(own, "columns", columns)
        return own

    def through(self, extraction: Any) -> Generator:
        """Return this generator as one of rows: its images through `extraction`, an `Extraction` or None.

        Raises InvalidInput where it is images and there is no extraction, or its rows were made by another.
        """
        who = f"generator {self.name!r}"
        if extraction is not None and self.extraction is not None:
            check_one_space([("the clients", extraction), (self.name or who, self.extraction)], who)
        if self.answers:
            is_of_rows = extraction is None or self.extraction is not None
            return self if is_of_rows else self._with_source(batched_rows(self.source, extraction, who), extraction)
        if not are_images(self.source):
            return self
        if extraction is None:
            raise InvalidInput(who, f"{describe_images(self.source)}, and the clients have no extractor", NO_EXTRACTOR)
        return self._with_source(rows_of(images_of(self.source, who, extraction), extraction, who), extraction)

    def draw(self, n: int, seed: Any, *, dim: int) -> Sample:
        """What a metric sees: its rows or distribution, or `n` rows drawn from a function, seeded."""
        if isinstance(self.source, Stream):
            if self.source.dim != dim:
                seen = f"has {self.source.dim} features where {dim} were expected"
                raise InvalidInput(f"generator {self.name!r}", seen, "Use the same features")
            return Sample(stream=self.source)
        if not self.answers:
            return Sample.of(self.source, f"generator {self.name!r}", dim=dim)
        rows = self._rows(self._call(n, np.random.default_rng(seed)), dim)
        if len(rows) > n:
            seen = f"has {len(rows):,} where {n:,} were asked for"
            raise InvalidInput(f"rows from generator {self.name!r}", seen, "Return n rows, or give the rows themselves")
        return Sample(rows=rows)

    @property
    def is_of_images(self) -> bool:
        """Whether the source is images, which need an extraction to be scored."""
        return are_images(self.source)

    @property
    def answers(self) -> bool:
        """Whether the source is a function, which is given x where clients carry a condition."""
        return callable(self.source) and not isinstance(self.source, (Distribution, Stream))

    def answer(self, condition: Array, seed: Any, *, dim: int) -> Sample:
        """ŷ for each row x of `condition`, seeded; a distribution is drawn from whatever the x."""
        rng, who = np.random.default_rng(seed), f"rows from generator {self.name!r}"
        if isinstance(self.source, Distribution):
            rows = draw_rows(self.source, len(condition), rng, who)
        elif callable(self.source):
            rows = self._call(condition, rng)
        else:
            kind = "moments" if isinstance(self.source, Moments) else "rows"
            seen = f"{self.name!r} is {kind}, which cannot answer a condition"
            raise InvalidInput("source", seen, "Give a function (x, rng) -> rows, one for each row of x")
        rows = self._rows(rows, dim)
        if len(rows) != len(condition):
            seen = f"has {len(rows)} for {len(condition)} rows of x"
            raise InvalidInput(who, seen, "Return one row for each row of x")
        return Sample(rows=rows, condition=condition)

    def _call(self, *arguments: Any) -> Any:
        """Return what the function gives; an error of its own is told with the generator's name."""
        try:
            return self.source(*arguments)
        except Exception as error:
            error.add_note(f"while generator {self.name!r} was drawn from")
            raise

    def _with_source(self, source: Any, extraction: Any) -> Generator:
        return replace(self, source=source, extraction=extraction)

    def _rows(self, rows: Any, dim: int) -> Array:
        """Return the rows that a function gave, checked."""
        if is_array(rows) and rows.ndim in (3, 4):
            seen = f"gives an array of shape {tuple(rows.shape)}, and the clients have no extractor"
            raise InvalidInput(f"generator {self.name!r}", seen, f"Return rows (n, d). Of images: {NO_EXTRACTOR}")
        who = f"rows from generator {self.name!r}"
        check_same_order([("the clients", self.columns), (who, column_names(rows))], who)
        return as_rows(rows, who, dim=dim)


def _sources_by_client(source: Any) -> ByClient:
    """Return the source of a generator with one distribution for each client, whose own are generators."""
    by_client = ByClient.of(source) if isinstance(source, Mapping) else source
    if callable(by_client.sources):
        return by_client
    own, by_item = {}, dict[Any, Generator]()  # what several clients share stays one generator
    for name, item in by_client.sources.items():
        key = os.path.realpath(item) if isinstance(item, (str, os.PathLike)) else id(item)
        if key not in by_item:
            by_item[key] = _as_generator(item, f"source, client {name!r}")
        own[name] = by_item[key]
    if nested := [name for name, item in own.items() if item.is_by_client]:
        raise InvalidInput(f"source, client {nested[0]!r}", "is a dict of clients again", "Give one source")
    return ByClient(own)


def as_generators(generators: Any, *, may_be_by_client: bool = False) -> tuple[Generator, ...]:
    """Return named generators from a list of them, a dict name -> source or list of runs, or a single one.

    Those with one distribution for each client are refused unless they `may_be_by_client`.
    """
    if isinstance(generators, Mapping):
        check_names(list(generators), "generators")
        items = []
        for name, item in generators.items():
            if isinstance(item, (list, tuple)) and is_list_of_runs(item):
                items += _runs(name, item)
            else:
                items.append(replace(_as_generator(item, f"generator {name!r}"), name=name))
    elif _is_one(generators):
        items = [_as_generator(generators, "generator")]
    elif isinstance(generators, Iterable) and not isinstance(generators, str):
        listed = check_list(generators, "generators", MAX_PARTIES)
        items = [_as_generator(item, f"generator {k}") for k, item in enumerate(listed, 1)]
    else:
        fix = "Give a list of Generator, a dict of sources, or a folder of images"
        raise InvalidInput("generators", f"got {shown(generators)}", fix)
    if not items:
        raise InvalidInput("generators", "is empty", "Give at least one generator")
    if any(item.name is None for item in items):
        items = [*name_items(items, "Generator", lambda item, name: replace(item, name=name))]
    check_names([item.name for item in items], "generators")
    if any(item.group is not None for item in items):
        check_models([item.name or "" for item in items], [item.group for item in items])
    by_client = [item.name for item in items if item.is_by_client]
    if by_client and not may_be_by_client:
        seen = f"{shown(by_client[0])} has one distribution for each client, which is not compared here"
        fix = "Use nm.evaluate or nm.Dashboard, or give one source for all clients"
        raise InvalidInput("generators", seen, fix)
    return tuple(items)


def as_generator(source: Any, name: str, *, may_be_by_client: bool = False) -> Generator:
    """Return one generator of this name; InvalidInput of a list of runs, and as for `as_generators`."""
    if is_list_of_runs(source):
        raise InvalidInput("source", f"is a list of {len(source)} sources", "Give one, or add the runs one by one")
    (generator,) = as_generators({name: source}, may_be_by_client=may_be_by_client)
    return generator


def _runs(model: str, runs: Sequence[Any]) -> list[Generator]:
    """Return the runs of a model, named."""
    check_one_model(model, runs)
    named = zip(run_names(model, runs), runs, strict=True)
    return [replace(_as_generator(run, f"generator {own!r}"), name=own, group=model) for own, run in named]


def _is_one(value: Any) -> bool:
    is_source = isinstance(value, (Generator, Distribution, Moments)) or callable(value) or is_loader(value)
    return is_source or is_array(value) or is_table(value) or are_images(value)


def _as_generator(item: Any, who: str) -> Generator:
    if isinstance(item, Generator):
        return item
    try:
        return Generator(item)
    except InvalidInput as error:
        raise error.of(who) from None


def name_items(items: list[Any], kind: str, rename: Callable[[Any, str], Any]) -> tuple[Any, ...]:
    """Return the items; those without a name are called "Client 1", "Client 2", … by the names that are free."""
    taken = {item.name for item in items}
    free = (name for name in (f"{kind} {k}" for k in range(1, 2 * len(items) + 1)) if name not in taken)
    return tuple(item if item.name is not None else rename(item, next(free)) for item in items)
