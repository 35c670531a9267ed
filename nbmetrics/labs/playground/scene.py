"""Scene: what the Playground shows, as declared in scene.json, which the page reads too.

Twin: labs/plane/view/distributions.js · held by: tests/labs/plane/test_scores_page.py
Twin: labs/playground/view/scene.js · held by: tests/labs/plane/test_scores_page.py

A scene of rows that are wider than the plane has a field `plane` too, see `projection`: all its items are data.
Items are described in `plane.items`. `half` is half the side of the square in view, weights are relative, `samples`
points are drawn of every item (0: exact distributions), and `rev` numbers the edits: the higher one is newer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np

from ...arrays import as_rows, to_numpy
from ...distributions import Distribution, Empirical, Gaussian, Mixture
from ...errors import InvalidInput, check_choice, check_names, check_weights, shown
from ...federation import Client, Federation, Generator, as_generators
from ...metrics.kid.metric import KID
from ..plane.distributions import Bumps, Copycat, Truncated, check_has_points, draw
from ..plane.items import MOST, TYPES, Item, check_reach, fit_half
from ..toolkit.fields import facts
from ..toolkit.schema import DeclaredScene, choices, literal, read
from .projection import argument_of, check_columns

# What can be charted, and where its numbers come from.
METRICS: dict[str, dict[str, Any]] = facts(__package__, "metrics.json")
# Points of an item, where it is drawn at all.
MIN_SAMPLES = 5


@dataclass(frozen=True)
class Scene(DeclaredScene, types=TYPES):
    """Clients and generators in the plane; `data` holds what items of the kind "data" stand for, by name.

    `extracted` holds, by the same name, the `Extraction` that made rows out of images.
    """

    clients: tuple[Item, ...]
    generators: tuple[Item, ...]
    half: float
    samples: int
    seed: int
    view: Mapping[str, Any]
    lesson: Mapping[str, Any] | None
    plane: Mapping[str, Any] | None
    data: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    extracted: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def parse(
        cls, value: Any, data: Mapping[str, Any] | None = None, extracted: Mapping[str, Any] | None = None
    ) -> Scene:
        """Return the scene of a dict (or JSON text); raises `InvalidInput` naming the field that is wrong."""
        return replace(super().parse(value), data=data or {}, extracted=extracted or {})

    @classmethod
    def complete(cls, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the fields with items as objects."""
        return {**fields, **{kind: tuple(map(Item.of_json, fields[kind])) for kind in ("clients", "generators")}}

    def check(self) -> None:
        """Raise `InvalidInput` where items, samples or the plane do not fit one another."""
        check_names([item.name for item in (*self.clients, *self.generators)], "scene names")
        check_weights([item.weight for item in self.clients], len(self.clients), "client weights")
        for item in self.generators:
            if item.kind == "copycat":
                check_choice(item.of, [client.name for client in self.clients], f"{item.name}.of")
        self._check_owners()
        if 0 < self.samples < MIN_SAMPLES:
            most = self.declared["fields"]["samples"]["whole"][1]
            fix = f"Give 0 for exact distributions, or {MIN_SAMPLES} to {most} points an item"
            raise InvalidInput("samples", f"got {self.samples}", fix)
        if self.plane is not None:
            check_columns(self.plane)
            self._check_wide()

    @classmethod
    def of(cls, federation: Any, generators: Any = None, preset: str = "", **settings: Any) -> Scene:
        """The scene of a federation in the plane; the generator defaults to the pooled Gaussian."""
        if not isinstance(federation, Federation):
            federation = Federation(federation)
        check_has_points(federation)
        data: dict[str, Any] = {}
        clients = [
            _item(c.name or "", c.distribution if c.rows is None else c.rows, data, weight)
            for c, weight in zip(federation, _readable(federation.weights), strict=True)
        ]
        if generators is None:
            distribution = federation.pooled().distribution
            distribution = Gaussian.fit(federation.pooled().rows) if distribution is None else distribution
            names = (f"Generator {k}" for k in range(1, MOST["clients"] + 2))
            free = next(name for name in names if name not in federation.names)
            generators = {free: Gaussian(distribution.mean, distribution.cov)}
        seed = settings.get("seed", 0)
        check_has_points(named_generators := as_generators(generators, may_be_by_client=True))
        drawn = [g if g.is_by_client else g.through(federation.extraction) for g in named_generators]
        made = [
            _owned(g, federation) if g.is_by_client else _generator(g.name or "", g.source, data, federation, seed)
            for g in drawn
        ]
        half = fit_half([*clients, *made])
        items = {"clients": clients, "generators": made}
        fields = {kind: [item.to_json() for item in items[kind]] for kind in items}
        scene = {**fields, "half": half, "preset": preset, **settings}
        return cls.parse(scene, data, extracted_of((*federation, *drawn)))

    @classmethod
    def preset_named(cls, name: str) -> Scene:
        """One of the scenes that come with the package."""
        return presets()[check_choice(name, presets(), "preset")]

    def _check_owners(self) -> None:
        """Raise `InvalidInput` where an ellipse per client lacks a client, or the metric has no score of it."""
        names, metric = {client.name for client in self.clients}, self.view["metric"]
        for item in self.generators:
            owners = [part.name for part in item.parts or ()]
            if item.parts and (set(owners) != names or len(owners) != len(names)):
                seen = f"has ellipses for {shown(owners)}"
                raise InvalidInput(f"{item.name}.parts", seen, f"Give one for each client: {shown(sorted(names))}")
            if item.parts and "weighs" not in METRICS[metric]:
                known = ", ".join(name for name, facts in METRICS.items() if "weighs" in facts)
                seen = f"is {metric!r}, which has no avg and all where {item.name!r} has an ellipse for each client"
                raise InvalidInput("metric", seen, f"Give one of {known}")

    def _check_wide(self) -> None:
        """Raise `InvalidInput` where something cannot be of rows wider than the plane."""
        dim = (self.plane or {})["dim"]
        for item in (*self.clients, *self.generators):
            if item.kind != "data":
                seen = f"is a distribution of the plane, and this scene has {dim} features"
                raise InvalidInput(
                    item.name, seen, f"Attach rows (n, {dim}) or a distribution: lab.attach(name, source)"
                )
        for name, given, fix in (("samples", self.samples, "Give 0"), ("lesson", self.lesson, "Leave it out")):
            if given:
                raise InvalidInput(name, f"works with two features, and this scene has {dim}", fix)
        metric = self.view["metric"]
        if "plane_only" in METRICS[metric]:
            known = ", ".join(name for name, facts in METRICS.items() if "plane_only" not in facts)
            raise InvalidInput("metric", f"is {metric!r}: {METRICS[metric]['plane_only']}", f"Give one of {known}")

    def drawn(self, samples: int, seed: int | None = None) -> Scene:
        """The same scene with `samples` points of every item (0: exact distributions), from another seed where one
        is given."""
        count = read(samples, self.declared["fields"]["samples"], "samples")
        scene = replace(self, samples=count, seed=self.seed if seed is None else seed)
        scene.check()
        return scene

    @property
    def dim(self) -> int:
        """Features of what its items stand for: 2, but for a scene with a `plane`."""
        return 2 if self.plane is None else int(self.plane["dim"])

    @cached_property
    def distributions(self) -> Federation:
        """The clients as exact distributions, or the rows they were given as."""
        return Federation([self._client(item, self._distribution(item)) for item in self.clients])

    @property
    def federation(self) -> Federation:
        """The clients, as `evaluate` takes them: distributions, or `samples` points of each."""
        if not self.samples:
            return self.distributions
        distributions = [self._distribution(item) for item in self.clients]
        rows = [
            self._rows(item, distribution, 2 * i)
            for i, (item, distribution) in enumerate(zip(self.clients, distributions, strict=True))
        ]
        return Federation([self._client(item, source) for item, source in zip(self.clients, rows, strict=True)])

    @property
    def sources(self) -> dict[str, Any]:
        """What the generators are: distributions, or `samples` points of each; dicts of them by client."""
        clients = self.distributions
        return {item.name: self._source(item, g, clients) for g, item in enumerate(self.generators)}

    def _source(self, item: Item, g: int, clients: Federation) -> Any:
        """What generator number `g` is; each of its ellipses draws its own points."""
        if item.parts:
            turns = [g + MOST["generators"] * (k + 1) for k in range(len(item.parts))]
            own = {p.name: self._source(p, turn, clients) for p, turn in zip(item.parts, turns, strict=True)}
            return {name: own[name] for name in clients.names}
        return self._rows(item, self._distribution(item, clients), 2 * g + 1)

    @property
    def models(self) -> list[Generator]:
        """The generators, as `evaluate` takes them, with what made rows of their images."""
        made = zip(self.generators, self.sources.values(), strict=True)
        return [Generator(s, name=i.name, extraction=self._extraction_of(i)) for i, s in made]

    @property
    def extraction(self) -> Any:
        """How images become rows here; None in a scene that came to be without images."""
        return next(iter(self.extracted.values()), None)

    def _extraction_of(self, item: Item) -> Any:
        return self.extracted.get(item.key) if item.kind == "data" else None

    def _client(self, item: Item, source: Any) -> Client:
        return Client(source, weight=item.weight, name=item.name, extractor=self._extraction_of(item))

    def _distribution(self, item: Item, clients: Federation | None = None) -> Any:
        if item.kind == "data":
            return self.data_of(item)
        if item.kind == "truncated" and clients is not None:
            return Truncated(clients, item.psi or 0.0)
        if item.kind == "copycat" and clients is not None:
            return Copycat(clients, item.of or "", item.count or 2, seed=self.seed)
        center, *axes = item.ellipse
        return ellipse(item.name, item.kind == "bumps", tuple(center), *axes)

    def data_of(self, item: Item) -> Any:
        """What the lab holds for an item of data; InvalidInput where it holds none, or of another width."""
        if item.key not in self.data:
            fix = "Attach it again: lab.attach(name, source)"
            raise InvalidInput(item.name, "is data that only its own lab has", fix)
        held = self.data[item.key]
        if (dim := held.dim if isinstance(held, Distribution) else held.shape[1]) != self.dim:
            raise InvalidInput(item.name, f"has {dim} features in a scene of {self.dim}", "Use one space")
        return held

    def _rows(self, item: Item, distribution: Any, stream: int) -> Any:
        return (
            distribution
            if not self.samples or item.kind == "data"
            else points(distribution, self.seed, stream, self.samples)
        )

    def to_code(self, making: str = "") -> str:
        """Return Python that rebuilds exactly this scene, its lesson too; rows it was given go by the name `data`."""
        if self.lesson is not None and not any(item.kind == "data" for item in (*self.clients, *self.generators)):
            opened = f"lab = nm.Playground(lesson={literal(self.lesson['name'])})"
            return self.fill_template("lesson_code", making=f"{opened}  # or the dict of a lesson of your own")
        names = [f"{literal(i.name)}: ..." for i in (*self.clients, *self.generators) if i.kind == "data"]
        own = f"data = {{{', '.join(names)}}}  # your own rows (n, {self.dim}) or distributions\n\n" if names else ""
        return self.fill_template(own=own, projection=argument_of(self.plane) if self.plane else "")


PANELS, SWEEPS = (choices(Scene, "view", name) for name in ("panel", "sweep"))


# In a drag one item moves: the distributions of the others, and their points, are the same objects as before, so that
# what is # remembered of them holds.
@lru_cache(maxsize=256)
def points(distribution: Any, seed: int, stream: int, count: int) -> np.ndarray:
    """The points that `draw` gives, which nobody can change."""
    drawn = draw(distribution, seed, stream, count)
    drawn.flags.writeable = False
    return drawn


@lru_cache(maxsize=256)
def ellipse(name: str, is_bumps: bool, center: tuple[float, float], *axes: float) -> Gaussian | Bumps:
    """The distribution of the item of that name: one object as long as it is not moved."""
    return Bumps(center, *axes) if is_bumps else Gaussian.ellipse(center, *axes)


@cache
def presets() -> dict[str, Scene]:
    """The scenes that come with the package, by name.

    Examples
    --------
    >>> list(nm.scene.presets())[:2]
    ['Narrow or wide', 'Two clients']
    """
    return Scene.presets()


def extracted_of(parties: Iterable[Client | Generator]) -> dict[str, Any]:
    """The extractions of those whose rows were images, by name."""
    return {party.name or "": party.extraction for party in parties if party.extraction is not None}


def held(source: Any, who: str) -> Any:
    """What a lab keeps of a source that is no drawable distribution: rows (n, 2), or a distribution with closed
    forms."""
    if isinstance(source, Distribution):
        if source.dim != 2:
            raise InvalidInput(who, f"has {source.dim} dimensions", "The Playground shows the plane: give 2")
        if isinstance(source, Mixture) and KID().has_closed_form(source):
            return source
        return as_rows(source.sample(1000, 0), who, dim=2, min_rows=2)
    if callable(source):
        return as_rows(source(1000, np.random.default_rng(0)), f"rows from {who}", dim=2, min_rows=2)
    return np.array(to_numpy(as_rows(source, who, dim=2, min_rows=2)))  # the user may change theirs


def _item(name: str, source: Any, data: dict[str, Any], weight: float | None = None) -> Item:
    if isinstance(source, (Gaussian, Bumps, Truncated, Copycat)):
        if source.dim != 2:
            raise InvalidInput(name, f"has {source.dim} dimensions", "The Playground shows the plane: give 2")
        return Item.of_source(name, source, weight)
    data[name] = held(source, name)
    is_distribution = isinstance(data[name], Distribution)
    check_reach(name, data[name] if is_distribution else Empirical(to_numpy(data[name])))
    distribution = data[name] if is_distribution else Gaussian.fit(data[name])
    return replace(Item.of_source(name, Gaussian(distribution.mean, distribution.cov), weight), kind="data")


def _owned(generator: Generator, federation: Federation) -> Item:
    """The item of a generator with one distribution for each client, which are Gaussians of the plane."""
    name = generator.name or ""
    parts = dict(zip(federation.names, generator.for_clients(federation.names), strict=True))
    sources = generator.source.sources
    order = federation.names if callable(sources) else sources  # of its dict: each ellipse draws its own points
    for client, part in parts.items():
        if not isinstance(part.source, Gaussian) or part.source.dim != 2:
            own = f"that for {shown(client)} is {shown(part.source)}"
            seen = f"{shown(name)} has one distribution for each client, and {own}"
            fix = "Give nm.Gaussian of two features for each client, or score it with nm.evaluate"
            raise InvalidInput("generators", seen, fix)
    return Item(name, kind="by_client", parts=tuple(Item.of_source(c, parts[c].source) for c in order))


def _generator(name: str, source: Any, data: dict[str, Any], federation: Federation, seed: int) -> Item:
    """The item of a generator; distributions made of other clients, or of another seed, are held as the data they
    are."""
    if isinstance(source, (Truncated, Copycat)):
        same = isinstance(source, Truncated) or (source.client in federation.names and source.seed == seed)
        again = same and (
            Truncated(federation, source.psi)
            if isinstance(source, Truncated)
            else Copycat(federation, source.client, source.count, seed=seed)
        )
        if not again or not np.allclose([*again.mean, *again.cov.flat], [*source.mean, *source.cov.flat], rtol=1e-9):
            distribution = Mixture(source.components, source.weights) if isinstance(source, Truncated) else source
            data[name] = distribution
            return replace(Item.of_source(name, Gaussian(distribution.mean, distribution.cov)), kind="data")
    return _item(name, source, data)


def _readable(weights: tuple[float, ...]) -> list[float]:
    """Equal weights as ones, others as they are: what a person would type."""
    return [1.0] * len(weights) if max(weights) == min(weights) else list(weights)
