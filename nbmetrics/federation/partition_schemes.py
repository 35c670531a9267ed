"""Federations out of one data set: by label, by id, at random, by the schemes that the field knows, or by folders."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from .. import partition
from ..arrays import Array, as_rows, is_array, to_numpy
from ..errors import check_choice
from ..tables import column_names
from .client import Client
from .folder import check_folder, read_folder
from .image_sources import are_images, extraction_of, images_of, is_data_set, rows_of

FEATURES = "inception-v3-compat"


class PartitionSchemes(ABC):
    """The class methods that make a `Federation` of one data set; every seed gives one and the same federation.

    `X` is (n, d) rows, or, with `extractor`, images: an array (n, H, W[, 3]), `nm.images(…)`, a folder, a zip, or a
    data set, such as a torch `Dataset`. `extractor` and further settings are those of `nm.extract`; they stay with the
    federation, so that generators of images can be scored. Beside rows `extractor` says what made them. `y` is (n,)
    labels, by default those of the images; they stay with the rows, for `describe` and `plot`.
    """

    _beside: Any

    @abstractmethod
    def __init__(self, clients: Iterable[Client]) -> None: ...

    @classmethod
    def from_labels(cls, X: Any, y: Any = None, *, extractor: Any = None, **extract: Any) -> Self:
        """One client for each distinct label of `y`, (n,), with its rows of `X`, (n, d).

        >>> nm.Federation.from_labels([[0.0], [1.0], [2.0], [3.0]], ["a", "b", "b", "b"]).weights
        (0.25, 0.75)
        """
        data = _Data.of(X, y, extractor, extract)
        return cls._of_parts(data, partition.by_label(data.y, len(data)))

    @classmethod
    def by_id(cls, X: Any, ids: Any, *, y: Any = None, extractor: Any = None, **extract: Any) -> Self:
        """One client for each distinct id of `ids`, (n,), such as the writer, the patient or the hospital of a row.

        The natural partition, where data come with one (LEAF, Caldas et al. 2018). Clients are in natural order:
        "user 2" before "user 10".

        >>> nm.Federation.by_id([[0.0], [1.0], [2.0]], ["user 10", "user 2", "user 10"]).names
        ('user 2', 'user 10')
        """
        data = _Data.of(X, y, extractor, extract)
        return cls._of_parts(data, partition.by_id(ids, len(data)))

    @classmethod
    def iid(cls, X: Any, clients: int, seed: int = 0, *, y: Any = None, extractor: Any = None, **extract: Any) -> Self:
        """`clients` clients of `X`, (n, d), dealt at random in equal numbers."""
        data = _Data.of(X, y, extractor, extract)
        return cls._of_parts(data, partition.iid(len(data), clients, seed))

    @classmethod
    def power_law(
        cls,
        X: Any,
        clients: int,
        exponent: float,
        seed: int = 0,
        *,
        y: Any = None,
        extractor: Any = None,
        **extract: Any,
    ) -> Self:
        """`clients` clients of `X`, (n, d), dealt at random, whose sizes fall as k^−exponent, k = 1, 2, …

        Clients alike but for their sizes (power laws of sizes: FedProx, Li et al. 2020). Each has 2 rows, and the law
        deals the others; exponent 0 makes them equal, up to one row.

        >>> [len(client.rows) for client in nm.Federation.power_law(np.zeros((28, 1)), 3, exponent=1.0)]
        [14, 8, 6]
        """
        data = _Data.of(X, y, extractor, extract)
        return cls._of_parts(data, partition.power_law(len(data), clients, exponent, seed))

    @classmethod
    def dirichlet(
        cls, X: Any, y: Any, clients: int, alpha: float, seed: int = 0, *, extractor: Any = None, **extract: Any
    ) -> Self:
        """`clients` clients of `X`, (n, d), their shares of each label of `y` Dirichlet(α): small α, unlike clients.

        As Yurochkin et al. (2019) deal; Hsu et al. (2019) draw each client's shares of the labels instead. Each client
        has at least 2 rows. With `extractor`, here and in the other schemes, `X` may be images, such as a torch
        `Dataset`; `y=None` then takes the labels that they have.

        >>> images, labels = np.zeros((40, 8, 8), np.uint8), [0, 1] * 20
        >>> nm.Federation.dirichlet(images, labels, clients=3, alpha=0.5, extractor="pixels")
        Federation(3 clients, dim=64: Client 1, Client 2, Client 3)
        """
        data = _Data.of(X, y, extractor, extract)
        return cls._of_parts(data, partition.dirichlet(data.y, len(data), clients, alpha, seed))

    @classmethod
    def shards(
        cls, X: Any, y: Any, clients: int, per_client: int = 2, seed: int = 0, *, extractor: Any = None, **extract: Any
    ) -> Self:
        """`clients` clients of `X`, (n, d), with `per_client` shards each of the rows sorted by their label `y`.

        As McMahan et al. (2017) deal: the sorted rows are cut into clients × per_client shards of equal size, up to
        one row. Where no label has fewer rows than a shard, a client has at most 2 · per_client labels.

        >>> federation = nm.Federation.shards(np.zeros((8, 1)), [0, 0, 1, 1, 2, 2, 3, 3], clients=2)
        >>> [len(set(client.labels)) for client in federation]
        [2, 2]
        """
        data = _Data.of(X, y, extractor, extract)
        return cls._of_parts(data, partition.shards(data.y, len(data), clients, per_client, seed))

    @classmethod
    def pathological(
        cls, X: Any, y: Any, clients: int, classes: int = 2, seed: int = 0, *, extractor: Any = None, **extract: Any
    ) -> Self:
        """`clients` clients of `X`, (n, d), of exactly `classes` labels of `y` each, drawn at random.

        The rows of a label go in equal numbers, up to one, to the clients that have it (#C = k of Li et al. 2022,
        whose labels are drawn freely; here none is at two clients more than another). All labels need a client.

        >>> federation = nm.Federation.pathological(np.zeros((8, 1)), [0, 0, 1, 1, 2, 2, 3, 3], clients=4, classes=2)
        >>> [len(set(client.labels)) for client in federation]
        [2, 2, 2, 2]
        """
        data = _Data.of(X, y, extractor, extract)
        return cls._of_parts(data, partition.pathological(data.y, len(data), clients, classes, seed))

    @classmethod
    def variance_limited(
        cls, X: Any, y: Any, neighbors: int, seed: int = 0, *, extractor: Any = None, **extract: Any
    ) -> Self:
        """One client for each label of `y`, (n,): a random item of `X`, (n, d), and its `neighbors` nearest of it.

        The other rows are left out, so every client has `neighbors` + 1 rows that look alike. Near is by Euclidean
        distance between rows: of images between their features, and between pixels with `extractor="pixels"`.
        """
        data = _Data.of(X, y, extractor, extract)
        return cls._of_parts(data, partition.variance_limited(to_numpy(data.rows), data.y, neighbors, seed))

    @classmethod
    def from_dataset(
        cls, dataset: Any, *, labels: Any = None, by: Any = None, extractor: Any = None, **extract: Any
    ) -> Self:
        """One client for each label of a data set, or for each id of `by`, (n,).

        Parameters
        ----------
        dataset : what `nm.images` reads, such as a torch `Dataset` (`torchvision.datasets.MNIST("data")`, as it lies on
            your disk); or a tuple (X, y) of images or rows, and labels
        labels : (n,) the labels, in the place of those that the data set has
        by : (n,) the client of each item; by default its label
        extractor, extract : as `nm.extract` takes them; by default "inception-v3-compat" of images; rows are taken
            as they are

        To deal a data set by another scheme: `nm.Federation.dirichlet(dataset, None, clients=10, alpha=0.5,
        extractor=…)`.

        >>> images, labels = np.zeros((6, 8, 8), np.uint8), ["cat", "dog"] * 3
        >>> nm.Federation.from_dataset((images, labels), extractor="pixels")
        Federation(2 clients, dim=64: cat, dog)
        """
        if isinstance(dataset, tuple) and len(dataset) == 2:
            dataset, labels_read = dataset
            labels = labels_read if labels is None else labels
        if getattr(dataset, "ndim", None) != 2:
            extractor = extraction_of(FEATURES if extractor is None else extractor, extract)
            dataset, extract = images_of(dataset, "dataset", extractor), {}
        data = _Data.of(dataset, labels, extractor, extract, "dataset", "labels")
        parts = partition.by_label(data.y, len(data), "labels") if by is None else partition.by_id(by, len(data), "by")
        return cls._of_parts(data, parts)

    @classmethod
    def from_folder(cls, path: Any, extractor: Any = FEATURES, labels: str = "client", **extract: Any) -> Self:
        """A federation of the images below a folder.

        Parameters
        ----------
        path : folder, or zip of one, with one sub-folder for each client; all images below it are its own
        extractor, extract : as `nm.extract` takes them; they stay as `federation.extraction`
        labels : what the sub-folders are. "client": each sub-folder of `path` is a client, and sub-folders within,
            such as `hospital/healthy/`, are classes, kept as `client.labels`. "class": each image's class is the
            folder that it lies in, be it `path/cat/` or `path/hospital/cat/`, and each class is a client

        Clients are in natural order: "ward 2" before "ward 10". Folders whose names begin with a dot are passed over.
        A link counts as what it leads to: an image that is linked under two clients is an image of both.
        Files that were not read are told by a warning with the first reasons, and listed in `federation.report`
        (DataFrame client, file, read, reason).

        Raises InvalidInput for a folder without sub-folders, images beside the sub-folders, which belong to nobody,
        and clients with fewer than 2 images that can be read.

        Examples
        --------
        `federation = nm.Federation.from_folder("hospitals/", extractor="inception-v3-compat")`, then
        `nm.evaluate(federation, {"model a": "samples_a/", "model b": "samples_b/"})`.
        """
        kind = check_choice(labels, ("client", "class"), "labels")
        check_folder(path)
        extraction = extraction_of(FEATURES if extractor is None else extractor, extract)
        images, parts, classes, reports = read_folder(path, kind)
        data = _Data(images, classes, None, extraction, "path")
        federation = cls([data.client(name, index)._with(report=reports.get(name)) for name, index in parts.items()])
        federation._beside = reports.get("")
        return federation

    @classmethod
    def _of_parts(cls, data: _Data, parts: Mapping[str, np.ndarray]) -> Self:
        return cls([data.client(name, index) for name, index in parts.items()])


@dataclass(frozen=True, eq=False)
class _Data:
    """One data set to partition, whose images become rows when somebody asks for rows; refusals come first."""

    source: Any
    y: Any
    columns: tuple[str, ...] | None
    extraction: Any
    argument: str

    @classmethod
    def of(
        cls, X: Any, y: Any, extractor: Any, settings: Mapping[str, Any], argument: str = "X", labels: str = "y"
    ) -> _Data:
        extraction = extraction_of(extractor, settings)
        is_of_images = are_images(X) or is_data_set(X)
        source = images_of(X, argument, extraction) if is_of_images else as_rows(X, argument)
        if y is None and is_of_images:
            y = source.labels
        y = None if y is None else partition.labels_of(y, len(source), labels)[0]
        return cls(source, y, column_names(X), extraction, argument)

    def __len__(self) -> int:
        return len(self.source)

    @cached_property
    def rows(self) -> Array:
        return self.source if is_array(self.source) else rows_of(self.source, self.extraction, self.argument)

    def client(self, name: str, index: np.ndarray) -> Client:
        """Return the client of some of the rows."""
        labels = None if self.y is None else self.y[index]
        images = None if is_array(self.source) else self.source[index]
        held = {"columns": self.columns, "extraction": self.extraction, "labels": labels, "images": images}
        return Client(self.rows[index], name=name)._with(**held)
